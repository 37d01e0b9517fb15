// SPDX-License-Identifier: MIT
// steal_tbb.cc - the programs of steal.c as oneTBB runs them
#include <memory>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

#include "steal.h"

static std::unique_ptr<tbb::global_control> control;

void tbb_threads(unsigned int count)
{
	control = std::make_unique<tbb::global_control>(
		tbb::global_control::max_allowed_parallelism, count);
}

long tbb_fib(long n)
{
	tbb::task_group group;
	long a, b;

	if (n < 2)
		return n;
	group.run([&] { a = tbb_fib(n - 1); });
	b = tbb_fib(n - 2);
	group.wait();
	return a + b;
}

long tbb_queens(int rows, int row, unsigned int columns, unsigned int left, unsigned int right)
{
	unsigned int places = ~(columns | left | right) & ((1u << rows) - 1);
	long solutions[16], sum = 0;
	tbb::task_group group;
	int count = 0;

	if (row == rows)
		return 1;
	for (; places; places &= places - 1) {
		const unsigned int queen = places & -places;
		long *out = &solutions[count++];

		group.run([=] {
			*out = tbb_queens(rows, row + 1, columns | queen, (left | queen) << 1,
					  (right | queen) >> 1);
		});
	}
	group.wait();
	while (count--)
		sum += solutions[count];
	return sum;
}

long tbb_skynet(long first, long count)
{
	tbb::task_group group;
	long sums[10], sum = 0;
	int i;

	if (count == 1)
		return first;
	for (i = 0; i < 10; i++)
		group.run([=, &sums] {
			sums[i] = tbb_skynet(first + i * (count / 10), count / 10);
		});
	group.wait();
	for (i = 0; i < 10; i++)
		sum += sums[i];
	return sum;
}

void tbb_items(unsigned int *items, long count)
{
	tbb::parallel_for(tbb::blocked_range<long>(0, count),
			  [=](const tbb::blocked_range<long> &range) {
		for (long i = range.begin(); i != range.end(); i++)
			items[i] = i;
	});
}
