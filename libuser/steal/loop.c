// SPDX-License-Identifier: MIT
/*
 * loop.c - ranges of indices in parallel: for and reduce
 *
 * A range above the cutoff is halved: the upper half is forked, the lower one is done at once, so
 * that a thief takes the largest part that is left (W2 of US11340942). Where the halves meet
 * depends on the range alone, and so does what is combined with what.
 */
#include <errno.h>
#include <stddef.h>
#include "worker.h"

/* Leaves of a range without a cutoff, at most */
#define LEAVES	1024u

static uint64_t cutoff_of(const struct salvo_worker *worker, uint64_t count, uint64_t cutoff)
{
	if (!cutoff)
		cutoff = worker->pool->cutoff;
	if (!cutoff)
		cutoff = count / LEAVES + !!(count % LEAVES);
	return cutoff ? cutoff : 1;
}

struct loop {
	uint64_t cutoff;
	salvo_range_function function;
	void *data;
};

struct loop_part {
	const struct loop *loop;
	uint64_t begin, end;
};

static int run_part(struct salvo_worker *worker, void *data)
{
	const struct loop_part *part = data;
	const struct loop *loop = part->loop;
	const uint64_t count = part->end - part->begin;
	struct loop_part lower, upper;
	struct salvo_task task;
	int ret, other;

	if (count <= loop->cutoff)
		return loop->function(worker, loop->data, part->begin, part->end);
	lower = (struct loop_part){ loop, part->begin, part->begin + count / 2 };
	upper = (struct loop_part){ loop, lower.end, part->end };
	salvo_task_fork(worker, &task, run_part, &upper);
	ret = run_part(worker, &lower);
	other = salvo_task_join(worker, &task);
	return ret ? ret : other;
}

int salvo_worker_for(struct salvo_worker *worker, uint64_t count, uint64_t cutoff,
		     salvo_range_function function, void *data)
{
	const struct loop loop = { cutoff_of(worker, count, cutoff), function, data };
	struct loop_part all = { &loop, 0, count };

	return count ? run_part(worker, &all) : 0;
}

struct reduce {
	uint64_t cutoff;
	const struct salvo_reduction *reduction;
	void *data;
};

struct reduce_part {
	const struct reduce *reduce;
	uint64_t begin, end;
	unsigned char result[SALVO_REDUCE_BYTES] __attribute__((aligned(64)));
};

static int reduce_part(struct salvo_worker *worker, void *data)
{
	struct reduce_part *part = data, upper;
	const struct reduce *reduce = part->reduce;
	const struct salvo_reduction *reduction = reduce->reduction;
	const uint64_t count = part->end - part->begin, end = part->end;
	struct salvo_task task;
	int ret, other;

	if (count <= reduce->cutoff) {
		reduction->identity(reduce->data, part->result);
		return reduction->leaf(worker, reduce->data, part->begin, part->end, part->result);
	}
	upper.reduce = reduce;
	upper.begin = part->begin + count / 2;
	upper.end = end;
	part->end = upper.begin;
	salvo_task_fork(worker, &task, reduce_part, &upper);
	ret = reduce_part(worker, part);
	other = salvo_task_join(worker, &task);
	reduction->combine(reduce->data, part->result, upper.result);
	return ret ? ret : other;
}

int salvo_worker_reduce(struct salvo_worker *worker, uint64_t count, uint64_t cutoff,
			const struct salvo_reduction *reduction, void *data, void *result)
{
	const struct reduce reduce = { cutoff_of(worker, count, cutoff), reduction, data };
	struct reduce_part all = { .reduce = &reduce, .end = count };
	int ret;

	if (!reduction->bytes || reduction->bytes > SALVO_REDUCE_BYTES || !reduction->identity ||
	    !reduction->leaf || !reduction->combine)
		return -EINVAL;
	if (count) {
		ret = reduce_part(worker, &all);
	} else {
		reduction->identity(data, all.result);
		ret = 0;
	}
	__builtin_memcpy(result, all.result, reduction->bytes);
	return ret;
}
