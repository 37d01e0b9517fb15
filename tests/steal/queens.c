// SPDX-License-Identifier: MIT
/* queens.c - an example of an irregular graph: how many ways are there to place n queens? */
#include "kselftest_harness.h"
#include "steal_test.h"

#define ROWS_MAX 16

struct board {
	int rows, row;
	/* Bits of columns and diagonals that are attacked in this row */
	uint32_t columns, left, right;
	uint64_t solutions;
};

static struct board place(const struct board *b, uint32_t queen)
{
	return (struct board){
		.rows = b->rows, .row = b->row + 1, .columns = b->columns | queen,
		.left = (b->left | queen) << 1, .right = (b->right | queen) >> 1,
	};
}

static uint32_t free_places(const struct board *b)
{
	return ~(b->columns | b->left | b->right) & ((1u << b->rows) - 1);
}

static uint64_t serial_queens(const struct board *b)
{
	uint32_t left = free_places(b);
	uint64_t solutions = 0;

	if (b->row == b->rows)
		return 1;
	for (; left; left &= left - 1) {
		const struct board next = place(b, left & -left);

		solutions += serial_queens(&next);
	}
	return solutions;
}

/* A task for each place in the row; boards without a place are dead ends. */
static int queens(struct salvo_worker *worker, void *data)
{
	struct board *b = data, next[ROWS_MAX];
	struct salvo_task tasks[ROWS_MAX];
	uint32_t left = free_places(b);
	int i, count = 0, err = 0;

	if (b->row == b->rows) {
		b->solutions = 1;
		return 0;
	}
	for (; left; left &= left - 1, count++) {
		next[count] = place(b, left & -left);
		salvo_task_fork(worker, &tasks[count], queens, &next[count]);
	}
	for (i = count; i--;) {
		err |= salvo_task_join(worker, &tasks[i]);
		b->solutions += next[i].solutions;
	}
	return err;
}

TEST(W8_queens_equal_serial_code)
{
	/* OEIS A000170 */
	static const uint64_t known[] = { 1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724 };
	size_t w;
	int n;

	for (n = 1; n <= 10; n++) {
		struct board empty = { .rows = n };

		EXPECT_EQ(known[n], serial_queens(&empty));
		for (w = 0; w < WORKER_COUNTS; w++) {
			struct board board = empty;

			ASSERT_EQ(0, run_on(worker_counts[w], queens, &board));
			ASSERT_EQ(known[n], board.solutions);
		}
	}
}

TEST_HARNESS_MAIN
