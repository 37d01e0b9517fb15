// SPDX-License-Identifier: MIT
/*
 * group.c - run work-groups on a core
 *
 * A unit runs one work-group at a time, from its start to its end (M1 of
 * CN102576314). A kernel without barriers runs the whole group in one call; one
 * with barriers has a user-level thread for each item (M2, fiber.c).
 *
 * Memory is allocated once, when the unit is created (M5): one block of local memory that all
 * groups of the core use one after the other, so that it stays in the core's cache, and one series
 * of private stacks. Inaccessible guards lie before, between and behind them, so that a stray
 * access faults at once (M6), and its address identifies the allocation that was overrun:
 *
 *	guard | margin, local | guard, guard | private | guard | signal stack | guard
 *
 * A vector whose first lanes are inactive, as of t[local_id - 1], begins before local memory. A
 * processor takes 100 ns to find that these lanes do not fault if their page is inaccessible: so
 * the margin, as long as such a vector, may be accessed.
 *
 * No locks: a runner belongs to one unit.
 */
#include "group.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "asan.h"
#include "element.h"
#include "salvo_hw.h"
#include "transfer.h"

#define PAGE			4096u
#define PAGES(bytes)		(((bytes) + PAGE - 1) / PAGE * PAGE)
#define GUARD			SALVO_GUARD_BYTES
#define LOCAL_BYTES		PAGES(SALVO_LOCAL_MARGIN + SALVO_MAX_LOCAL_BYTES)
#define LOCAL_AT		(GUARD + SALVO_LOCAL_MARGIN)
#define PRIVATE_AT		(GUARD + LOCAL_BYTES + 2 * GUARD)
#define PRIVATE_BYTES		PAGES(SALVO_FIBER_BYTES)
#define SIGNAL_STACK_AT		(PRIVATE_AT + PRIVATE_BYTES + GUARD)
#define SIGNAL_STACK_BYTES	(64u << 10)
#define MEMORY_BYTES		(SIGNAL_STACK_AT + SIGNAL_STACK_BYTES + GUARD)

#define runner_of(g) \
	((struct salvo_runner *)((char *)(g) - offsetof(struct salvo_runner, group)))

#define runner_of_trap(t) \
	((struct salvo_runner *)((char *)(t) - offsetof(struct salvo_runner, trap)))

static void locate(struct salvo_trap *trap);

static bool open_memory(struct salvo_runner *runner, size_t at, size_t bytes)
{
	return !mprotect(runner->memory + at, bytes, PROT_READ | PROT_WRITE);
}

int salvo_runner_init(struct salvo_runner *runner)
{
	memset(runner, 0, sizeof(*runner));
	runner->memory = mmap(NULL, MEMORY_BYTES, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (runner->memory == MAP_FAILED)
		return -ENOMEM;
	if (!open_memory(runner, GUARD, LOCAL_BYTES) ||
	    !open_memory(runner, PRIVATE_AT, PRIVATE_BYTES) ||
	    !open_memory(runner, SIGNAL_STACK_AT, SIGNAL_STACK_BYTES)) {
		salvo_runner_fini(runner);
		return -ENOMEM;
	}
	runner->fibers.stacks = runner->memory + PRIVATE_AT;
	runner->signal_stack = runner->memory + SIGNAL_STACK_AT;
	runner->trap.locate = locate;
	return 0;
}

void salvo_runner_fini(struct salvo_runner *runner)
{
	munmap(runner->memory, MEMORY_BYTES);
}

void salvo_runner_attach(struct salvo_runner *runner)
{
	pthread_attr_t attr;
	void *stack;

	if (!pthread_getattr_np(pthread_self(), &attr)) {
		if (!pthread_attr_getstack(&attr, &stack, &runner->stack_bytes))
			runner->stack = stack;
		pthread_attr_destroy(&attr);
	}
	salvo_trap_attach(&runner->trap, runner->signal_stack, SIGNAL_STACK_BYTES);
}

static void misuse(struct salvo_runner *runner, uint32_t kind)
{
	runner->trap.kind = kind;
	runner->trap.access = 0;
	runner->trap.address = 0;
	runner->trap.armed = false;
	salvo_fiber_escape(runner->trap.saved, 1);
}

/*
 * A kernel that runs a whole work-group in a call has no use for this barrier, unless it found that
 * not all work-items of the group come to the same one of its own.
 */
static void barrier_missed(struct salvo_group *group)
{
	misuse(runner_of(group), SALVO_FAULT_BARRIER);
}

static void barrier_fibers(struct salvo_group *group)
{
	salvo_fibers_barrier(&runner_of(group)->fibers);
}

/* Aborts a group with barriers because of one of its items. */
static void abort_items(struct salvo_runner *runner, enum salvo_fibers_end end)
{
	misuse(runner, end == SALVO_FIBERS_SPLIT ? SALVO_FAULT_BARRIER : SALVO_FAULT_STACK);
}

static void run_item(void *arg, uint32_t number)
{
	struct salvo_runner *runner = arg;
	const struct salvo_element *element = runner->chunk.element;
	const struct salvo_op_dispatch *op = element->op;
	const struct salvo_group *group = &runner->group;
	const uint64_t row = group->extent[0], plane = row * group->extent[1];
	const struct salvo_item item = {
		.local_id = { number % plane % row, number % plane / row, number / plane },
	};

	((salvo_kernel_fn)(uintptr_t)op->entry)(element->args, &runner->group, &item);
}

static uint32_t ran_before(const struct salvo_runner *runner)
{
	return 1 | (runner->excludes ? SALVO_GROUP_EXCLUDES : 0);
}

/*
 * Calls a kernel without barriers for up to @length work-groups of a row, or of up to @rows rows of
 * one. Returns how many it ran.
 */
static uint32_t run_strip(struct salvo_runner *runner, uint32_t length, uint32_t rows)
{
	const struct salvo_element *element = runner->chunk.element;
	const struct salvo_op_dispatch *op = element->op;
	const uint32_t most = length > rows ? length : rows;
	struct salvo_group *group = &runner->group;
	uint32_t ran;

	group->run = length;
	group->rows = rows;
	group->ran = ran_before(runner);
	((salvo_kernel_fn)(uintptr_t)op->entry)(element->args, group, NULL);
	ran = group->ran & ~SALVO_GROUP_EXCLUDES;
	return ran >= 1 && ran <= most ? ran : most;
}

static bool is_stopped(const struct salvo_element *element, const _Atomic uint32_t *stop)
{
	return atomic_load_explicit(stop, memory_order_relaxed) ||
	       atomic_load_explicit(&element->failed, memory_order_relaxed);
}

/*
 * Runs the work-groups from @at to before @end, in one row; @x is the position of the first of them
 * in it. The group has the position and extent in the other dimensions. Returns false if stopped.
 */
static bool run_groups(struct salvo_runner *runner, uint32_t at, uint32_t end, uint32_t x,
		       const _Atomic uint32_t *stop)
{
	const struct salvo_element *element = runner->chunk.element;
	const struct salvo_op_dispatch *op = element->op;
	struct salvo_group *group = &runner->group;
	enum salvo_fibers_end how;
	uint32_t ran;

	for (; at != end; at += ran, x += ran) {
		if (is_stopped(element, stop))
			return false;
		runner->at = at;
		ran = 1;
		group->group_id[0] = x;
		group->extent[0] = salvo_element_extent(op->items[0], op->group[0], x);
		if (!(op->flags & SALVO_DISPATCH_BARRIERS)) {
			ran = run_strip(runner, end - at, 1);
		} else {
			how = salvo_fibers_run(&runner->fibers, group->extent[0] *
					       group->extent[1] * group->extent[2],
					       run_item, runner);
			if (how)
				abort_items(runner, how);
		}
	}
	return true;
}

/* Makes the group one at @position in dimension @d. */
static void place_group(struct salvo_runner *runner, unsigned int d, uint32_t position)
{
	const struct salvo_op_dispatch *op = runner->chunk.element->op;
	struct salvo_group *group = &runner->group;

	group->group_id[d] = position;
	group->extent[d] = salvo_element_extent(op->items[d], op->group[d], position);
}

/*
 * Runs what is from @low to before @high of the rows that the chunk has a part of. Their positions
 * are counted: many ranges have short rows, and divisions are slow.
 */
static bool run_rows(struct salvo_runner *runner, uint32_t low, uint32_t high,
		     const _Atomic uint32_t *stop)
{
	const struct salvo_element *element = runner->chunk.element;
	const uint32_t first = runner->chunk.first, end = first + runner->chunk.count;
	uint32_t position[3], start;

	salvo_element_position(element, first, position);
	place_group(runner, 1, position[1]);
	place_group(runner, 2, position[2]);
	for (start = first - position[0];; ) {
		const uint32_t from = start + low > first ? start + low : first;
		const uint32_t to = start + high < end ? start + high : end;

		if (from < to && !run_groups(runner, from, to, from - start, stop))
			return false;
		/* The last row may end with the largest number. */
		if (end - start <= element->size[0])
			return true;
		start += element->size[0];
		if (++position[1] == element->size[1]) {
			position[1] = 0;
			place_group(runner, 2, ++position[2]);
		}
		place_group(runner, 1, position[1]);
	}
}

/* Work-groups of a row in a band */
#define BAND 16u

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Runs a chunk whose rows have one work-group each, of a kernel without barriers. */
static void run_column(struct salvo_runner *runner, const _Atomic uint32_t *stop)
{
	const struct salvo_element *element = runner->chunk.element;
	const struct salvo_op_dispatch *op = element->op;
	const uint32_t end = runner->chunk.first + runner->chunk.count;
	const uint32_t most = SALVO_MAX_GROUP_ITEMS / op->group[1];
	uint32_t at = runner->chunk.first, position[3], ran;

	salvo_element_position(element, at, position);
	place_group(runner, 0, 0);
	place_group(runner, 2, position[2]);
	for (; at != end && !is_stopped(element, stop); at += ran) {
		if (position[1] == element->size[1]) {
			position[1] = 0;
			place_group(runner, 2, ++position[2]);
		}
		place_group(runner, 1, position[1]);
		runner->at = at;
		ran = run_strip(runner, 1,
				lesser(most, lesser(end - at, element->size[1] - position[1])));
		position[1] += ran;
	}
}

/*
 * Work-groups with local memory often share a tile of an image, each row of which is in
 * another page. A chunk of several rows runs in bands of columns, each from the first row
 * of the chunk to its last, so that the pages and cache lines of the previous row
 * are still in the TLB and cache. After a whole row they would be evicted.
 */
static void run_dispatch(struct salvo_runner *runner, const _Atomic uint32_t *stop)
{
	const struct salvo_element *element = runner->chunk.element;
	const struct salvo_op_dispatch *op = element->op;
	const uint32_t length = element->size[0];
	struct salvo_group *group = &runner->group;
	uint32_t low, band = length;
	unsigned int d;

	for (d = 0; d < 3; d++) {
		group->global_size[d] = op->items[d];
		group->local_size[d] = op->group[d];
		group->num_groups[d] = element->size[d];
	}
	group->local = runner->memory + LOCAL_AT;
	group->barrier = op->flags & SALVO_DISPATCH_BARRIERS ? barrier_fibers : barrier_missed;
	group->dims = op->dims;
	group->ran = ran_before(runner);

	if (length == 1 && !(op->flags & SALVO_DISPATCH_BARRIERS)) {
		run_column(runner, stop);
		return;
	}
	if (op->local_size && runner->chunk.count / length >= 2)
		band = BAND;
	for (low = 0; low < length; low += band)
		if (!run_rows(runner, low, lesser(low + band, length), stop))
			return;
}

static void run_blocks(struct salvo_runner *runner, const _Atomic uint32_t *stop)
{
	const struct salvo_element *element = runner->chunk.element;
	const uint32_t end = runner->chunk.first + runner->chunk.count;
	uint32_t at;

	for (at = runner->chunk.first; at != end; at++) {
		if (is_stopped(element, stop))
			return;
		runner->at = at;
		salvo_transfer_run(element, at);
	}
}

struct run {
	struct salvo_runner *runner;
	const _Atomic uint32_t *stop;
};

static void run_chunk(void *arg)
{
	const struct run *run = arg;

	run->runner->trap.armed = true;
	if (run->runner->chunk.element->kind == SALVO_ELEMENT_DISPATCH)
		run_dispatch(run->runner, run->stop);
	else
		run_blocks(run->runner, run->stop);
	run->runner->trap.armed = false;
}

static bool is_near(uint64_t address, const uint8_t *start, size_t bytes)
{
	return address >= (uintptr_t)start - GUARD && address < (uintptr_t)start + bytes + GUARD;
}

/* On the signal stack; see trap.c. */
static void locate(struct salvo_trap *trap)
{
	struct salvo_runner *runner = runner_of_trap(trap);
	const struct salvo_element *element = runner->chunk.element;
	const struct salvo_op_dispatch *op = element->op;

	if (element->kind == SALVO_ELEMENT_DISPATCH && !(op->flags & SALVO_DISPATCH_BARRIERS))
		salvo_items_find((const void *)(uintptr_t)op->entry, &trap->machine,
				 trap->kind == SALVO_FAULT_PAGE ? trap->address : 0,
				 &runner->found);
}

/* Work-items that a call ran in dimension @d, for up to @run work-groups */
static uint64_t items_of_run(const struct salvo_group *group, unsigned int d, uint32_t run)
{
	const uint64_t most = run * group->local_size[d];
	const uint64_t rest = group->global_size[d] - group->group_id[d] * group->local_size[d];

	return most < rest ? most : rest;
}

/* Size in dimension @d of the work-group that begins with the item @first of those @items */
static uint64_t extent_at(const struct salvo_group *group, unsigned int d, uint64_t first,
			  uint64_t items)
{
	return group->local_size[d] < items - first ? group->local_size[d] : items - first;
}

/* Finds which work-group it is of those that the call runs one after the other. */
static void place_group_of_series(struct salvo_runner *runner)
{
	const struct salvo_group *group = &runner->group;
	uint32_t position[3];
	uint64_t behind;

	salvo_element_position(runner->chunk.element, runner->at, position);
	behind = group->group_id[0] - position[0];
	if (behind < group->run)
		runner->at += behind;
}

/*
 * Converts the indices that were found to a work-group and item. In a strip that may be a later
 * work-group. The program's table is untrusted, and so is what it keeps of the group.
 */
static void place_items(struct salvo_runner *runner)
{
	const struct salvo_group *group = &runner->group;
	const uint64_t *at = runner->found.at, *local = group->local_size;
	const uint64_t length = items_of_run(group, 0, group->run);
	const uint64_t height = items_of_run(group, 1, group->rows);
	uint64_t x, y, row, column, count = runner->found.count;

	if (!count || at[0] >= length || at[1] >= height || at[2] >= group->extent[2])
		return;
	x = at[0] / local[0] * local[0];
	y = at[1] / local[1] * local[1];
	row = extent_at(group, 0, x, length);
	column = extent_at(group, 1, y, height);
	count = count < length - at[0] ? count : length - at[0];
	count = count < SALVO_MAX_GROUP_ITEMS ? count : SALVO_MAX_GROUP_ITEMS;
	runner->at += x / local[0] + y / local[1];
	runner->item = at[0] - x + row * (at[1] - y + at[2] * column);
	runner->item |= (count - 1) << SALVO_FAULT_MORE_SHIFT;
}

/*
 * Adds what the trap cannot know. In a group without barriers only the program's table identifies
 * the item, unless it is a group of one.
 */
static void complete_fault(struct salvo_runner *runner)
{
	const struct salvo_op_dispatch *op = runner->chunk.element->op;
	const struct salvo_group *group = &runner->group;
	const uint64_t *extent = group->extent;
	struct salvo_trap *trap = &runner->trap;
	uint8_t *local = runner->memory + GUARD, *private = runner->memory + PRIVATE_AT;

	runner->item = SALVO_FAULT_NO_ITEM;
	if (runner->chunk.element->kind != SALVO_ELEMENT_DISPATCH)
		return;
	if (op->flags & SALVO_DISPATCH_BARRIERS) {
		runner->item = runner->fibers.current;
	} else {
		place_group_of_series(runner);
		if (extent[0] * extent[1] * extent[2] == 1 &&
		    ((group->run == 1 && group->rows == 1) || !runner->found.table))
			runner->item = 0;
		else
			place_items(runner);
	}
	if (trap->kind != SALVO_FAULT_PAGE || !trap->address)
		return;
	if (is_near(trap->address, private, PRIVATE_BYTES) ||
	    (runner->stack && is_near(trap->address, runner->stack, 0)))
		trap->kind = SALVO_FAULT_STACK;
	if (is_near(trap->address, local, LOCAL_BYTES))
		trap->kind = SALVO_FAULT_LOCAL;
}

bool salvo_runner_run(struct salvo_runner *runner, const struct salvo_gcq_chunk *chunk,
		      const _Atomic uint32_t *stop)
{
	struct run run = { .runner = runner, .stop = stop };

	runner->chunk = *chunk;
	runner->at = chunk->first;
	runner->trap.given_up = stop;
	runner->found = (struct salvo_items_found){ .count = 0 };
	if (!salvo_fiber_call(&runner->trap.saved, run_chunk, &run))
		return true;
	salvo_asan_frames_were_left();
	salvo_fiber_reset_fpu();
	complete_fault(runner);
	return false;
}
