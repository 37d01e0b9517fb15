/* SPDX-License-Identifier: MIT */
/*
 * board.h - what the units of each process run, for those of the others to see
 */
#ifndef SALVO_BOARD_H
#define SALVO_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "queues.h"
#include "salvo_hw.h"

/* Bits of a word; a process without a place sees the others but is not seen. */
#define SALVO_BOARD_PLACES	64u
#define SALVO_BOARD_NO_PLACE	SALVO_BOARD_PLACES

/**
 * struct salvo_board_place - A page that one process writes and the others read.
 */
struct salvo_board_place {
	/** @lane: What each unit runs: its lane + 1, or 0 for nothing. */
	_Atomic uint8_t lane[SALVO_MAX_UNITS];
} __attribute__((aligned(4096)));

/**
 * struct salvo_board - Memory that the device shares with all processes.
 */
struct salvo_board {
	/** @wants: Written by the device: places whose process has batches of a lane. */
	_Atomic uint64_t wants[SALVO_LANES];
	struct salvo_board_place place[SALVO_BOARD_PLACES];
};

/**
 * struct salvo_seat - A process at the board.
 */
struct salvo_seat {
	/** @board: NULL where units are threads of the device. */
	struct salvo_board *board;
	/** @place: Its own, or SALVO_BOARD_NO_PLACE. */
	uint32_t place;
};

/**
 * salvo_board_create() - An empty one, which processes forked from now on have too.
 *
 * Return: NULL if there is no memory.
 */
struct salvo_board *salvo_board_create(void);
void salvo_board_destroy(struct salvo_board *board);

/**
 * salvo_board_sit_down() - In the process: keep no right to write but to the own place.
 */
bool salvo_board_sit_down(const struct salvo_seat *seat);

/**
 * salvo_board_want() - In the device: the process has @count batches of a lane.
 */
void salvo_board_want(struct salvo_board *board, uint32_t place, unsigned int lane, uint32_t count);

/**
 * salvo_board_clear() - In the device: a new process gets the place.
 */
void salvo_board_clear(struct salvo_board *board, uint32_t place);

/**
 * salvo_board_show() - A unit begins with a lane, or with SALVO_LANES: nothing.
 */
void salvo_board_show(const struct salvo_seat *seat, unsigned int unit, unsigned int lane);

/**
 * salvo_board_wanted() - Places of other processes that have batches of a lane.
 */
static inline uint64_t salvo_board_wanted(const struct salvo_seat *seat, unsigned int lane)
{
	const uint64_t own = seat->place < SALVO_BOARD_PLACES ? 1ull << seat->place : 0;

	return atomic_load_explicit(&seat->board->wants[lane], memory_order_relaxed) & ~own;
}

/**
 * salvo_board_may_hold() - Has another process batches of a higher lane at all? A quick look.
 */
static inline bool salvo_board_may_hold(const struct salvo_seat *seat, unsigned int lane)
{
	unsigned int above;

	for (above = 0; above < lane; above++)
		if (salvo_board_wanted(seat, above))
			return true;
	return false;
}

/**
 * salvo_board_is_held() - Does another process run a higher lane on this unit?
 *
 * May yield the core, to let it begin.
 */
bool salvo_board_is_held(const struct salvo_seat *seat, unsigned int unit, unsigned int lane);

#endif /* SALVO_BOARD_H */
