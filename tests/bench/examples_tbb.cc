// SPDX-License-Identifier: MIT
// examples_tbb.cc - oneTBB as a system of examples.c
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

#include "examples.h"

static void run(part_function function, void *data)
{
	function(nullptr, data);
}

static void many(void *, part_function function, void *objects, long bytes, long count)
{
	char *first = static_cast<char *>(objects);
	tbb::task_group group;

	for (long i = 1; i < count; i++)
		group.run([=] { function(nullptr, first + i * bytes); });
	function(nullptr, first);
	group.wait();
}

static void range(void *, range_function function, void *data, long count, long grain)
{
	tbb::parallel_for(tbb::blocked_range<long>(0, count, grain),
			  [=](const tbb::blocked_range<long> &part) {
		function(nullptr, data, part.begin(), part.end());
	});
}

const struct fork_join tbb_system = { "oneTBB", run, many, range };
