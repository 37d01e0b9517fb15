/* SPDX-License-Identifier: MIT */
/*
 * statistics.h - SALVO_OPENCL_STATS: count commands that are enqueued, print what they cost
 */
#ifndef SALVO_CL_STATISTICS_H
#define SALVO_CL_STATISTICS_H

#include <stdatomic.h>
#include <stdbool.h>

/** salvo_cl_counting - Is SALVO_OPENCL_STATS set? Does not change. */
extern bool salvo_cl_counting;
/** salvo_cl_gpu_commands, salvo_cl_host_commands - How many were enqueued, if that is counted. */
extern atomic_ulong salvo_cl_gpu_commands;
extern atomic_ulong salvo_cl_host_commands;

/** salvo_cl_count() - Count a command that was enqueued. Any thread. */
static inline void salvo_cl_count(atomic_ulong *commands)
{
	if (__builtin_expect(salvo_cl_counting, false))
		atomic_fetch_add_explicit(commands, 1, memory_order_relaxed);
}

#endif /* SALVO_CL_STATISTICS_H */
