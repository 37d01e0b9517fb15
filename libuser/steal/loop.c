// SPDX-License-Identifier: MIT
/*
 * loop.c - ranges of indices in parallel: for and reduce
 *
 * A range is leaves of as many indices as the cutoff says, the last one of what is left. Half
 * of the leaves, the upper ones, are forked, the lower ones are done at once, so that a thief takes
 * the largest part that is left (W2 of US11340942). Where the halves meet depends on the range
 * alone, and so does what is combined with what. Leaves begin at multiples of the cutoff: if
 * that is a multiple of a cache line no two leaves share one.
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

struct range {
	uint64_t count, cutoff, leaves;
};

static struct range range_of(const struct salvo_worker *worker, uint64_t count, uint64_t cutoff)
{
	struct range range = { .count = count, .cutoff = cutoff_of(worker, count, cutoff) };

	range.leaves = count / range.cutoff + !!(count % range.cutoff);
	return range;
}

/* Where the leaf before leaf @last ends */
static uint64_t end_of(const struct range *range, uint64_t last)
{
	return last == range->leaves ? range->count : last * range->cutoff;
}

struct loop {
	struct range range;
	salvo_range_function function;
	void *data;
};

/* Leaves from @first up to, not including, @last */
struct loop_part {
	const struct loop *loop;
	uint64_t first, last;
};

static int run_part(struct salvo_worker *worker, void *data)
{
	const struct loop_part *part = data;
	const struct loop *loop = part->loop;
	const uint64_t leaves = part->last - part->first;
	struct loop_part lower, upper;
	struct salvo_task task;
	int ret, other;

	if (leaves == 1)
		return loop->function(worker, loop->data, part->first * loop->range.cutoff,
				      end_of(&loop->range, part->last));
	lower = (struct loop_part){ loop, part->first, part->first + leaves / 2 };
	upper = (struct loop_part){ loop, lower.last, part->last };
	salvo_task_fork(worker, &task, run_part, &upper);
	ret = run_part(worker, &lower);
	other = salvo_task_join(worker, &task);
	return ret ? ret : other;
}

int salvo_worker_for(struct salvo_worker *worker, uint64_t count, uint64_t cutoff,
		     salvo_range_function function, void *data)
{
	const struct loop loop = { range_of(worker, count, cutoff), function, data };
	struct loop_part all = { &loop, 0, loop.range.leaves };

	return count ? run_part(worker, &all) : 0;
}

struct reduce {
	struct range range;
	const struct salvo_reduction *reduction;
	void *data;
};

struct reduce_part {
	const struct reduce *reduce;
	uint64_t first, last;
	unsigned char result[SALVO_REDUCE_BYTES] __attribute__((aligned(64)));
};

static int reduce_part(struct salvo_worker *worker, void *data)
{
	struct reduce_part *part = data, upper;
	const struct reduce *reduce = part->reduce;
	const struct salvo_reduction *reduction = reduce->reduction;
	const uint64_t leaves = part->last - part->first;
	struct salvo_task task;
	int ret, other;

	if (leaves == 1) {
		reduction->identity(reduce->data, part->result);
		return reduction->leaf(worker, reduce->data, part->first * reduce->range.cutoff,
				       end_of(&reduce->range, part->last), part->result);
	}
	upper.reduce = reduce;
	upper.first = part->first + leaves / 2;
	upper.last = part->last;
	part->last = upper.first;
	salvo_task_fork(worker, &task, reduce_part, &upper);
	ret = reduce_part(worker, part);
	other = salvo_task_join(worker, &task);
	reduction->combine(reduce->data, part->result, upper.result);
	return ret ? ret : other;
}

int salvo_worker_reduce(struct salvo_worker *worker, uint64_t count, uint64_t cutoff,
			const struct salvo_reduction *reduction, void *data, void *result)
{
	const struct reduce reduce = { range_of(worker, count, cutoff), reduction, data };
	struct reduce_part all = { .reduce = &reduce, .last = reduce.range.leaves };
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
