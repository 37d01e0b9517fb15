// SPDX-License-Identifier: MIT
/*
 * board.c - what the units of each process run, for those of the others to see
 *
 * Address spaces are processes with queues of their own, but unit n of each is a thread on
 * the same core. The host shares the core among them, fairly; a priority is to be more
 * than that. So each unit shows which lane it works for, in a page that only its process
 * can write; and before a unit takes a chunk of a lower lane it looks whether unit n of
 * another process works for a higher one. Then it leaves the core until that has no more
 * to do. So priorities hold over all address spaces as they do within one: at the end
 * of chunks, unit by unit, and a unit that has nothing of a higher priority to do holds nobody.
 *
 * A process shows what it likes, but the others look only at places that the device
 * names: those whose process has batches of that lane now. To pretend to work for one gains no
 * more than to work for it. What can be read here is how busy the units of others are.
 *
 * Nothing is locked: all words are written by one side only. A unit that looks just before
 * another begins takes one chunk more.
 */
#include "board.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

struct salvo_board *salvo_board_create(void)
{
	struct salvo_board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return board == MAP_FAILED ? NULL : board;
}

void salvo_board_destroy(struct salvo_board *board)
{
	munmap(board, sizeof(*board));
}

bool salvo_board_sit_down(const struct salvo_seat *seat)
{
	struct salvo_board *board = seat->board;

	return !mprotect(board, sizeof(*board), PROT_READ) &&
	       (seat->place >= SALVO_BOARD_PLACES ||
		!mprotect(&board->place[seat->place], sizeof(board->place[0]),
			  PROT_READ | PROT_WRITE));
}

static uint64_t bit_of(uint32_t place)
{
	return place < SALVO_BOARD_PLACES ? 1ull << place : 0;
}

void salvo_board_want(struct salvo_board *board, uint32_t place, unsigned int lane, uint32_t count)
{
	const uint64_t bit = bit_of(place);
	const uint64_t wants = atomic_load_explicit(&board->wants[lane], memory_order_relaxed);

	if (count && !(wants & bit))
		atomic_fetch_or(&board->wants[lane], bit);
	else if (!count && wants & bit)
		atomic_fetch_and(&board->wants[lane], ~bit);
}

void salvo_board_clear(struct salvo_board *board, uint32_t place)
{
	if (place < SALVO_BOARD_PLACES)
		memset(&board->place[place], 0, sizeof(board->place[place]));
}

void salvo_board_show(const struct salvo_seat *seat, unsigned int unit, unsigned int lane)
{
	const uint8_t value = lane < SALVO_LANES ? lane + 1 : 0;
	_Atomic uint8_t *shown;

	if (!seat->board || seat->place >= SALVO_BOARD_PLACES)
		return;
	shown = &seat->board->place[seat->place].lane[unit];
	if (atomic_load_explicit(shown, memory_order_relaxed) != value)
		atomic_store_explicit(shown, value, memory_order_relaxed);
}

static bool is_run(const struct salvo_board *board, uint64_t places, unsigned int unit,
		   unsigned int lane)
{
	for (; places; places &= places - 1) {
		const struct salvo_board_place *place = &board->place[__builtin_ctzll(places)];

		if (atomic_load_explicit(&place->lane[unit], memory_order_relaxed) == lane + 1)
			return true;
	}
	return false;
}

bool salvo_board_is_held(const struct salvo_seat *seat, unsigned int unit, unsigned int lane)
{
	const struct salvo_board *board = seat->board;
	unsigned int above;

	for (above = 0; above < lane; above++) {
		const uint64_t others = salvo_board_wanted(seat, above);

		if (!others)
			continue;
		if (is_run(board, others, unit, above))
			return true;
		/* It may have been woken and wait for the core. */
		sched_yield();
		if (is_run(board, others, unit, above))
			return true;
	}
	return false;
}
