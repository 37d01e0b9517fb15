// SPDX-License-Identifier: MIT
/*
 * sort.c - an example: merge sort
 *
 * Both halves are sorted at the same time, and a merge is divided too: the middle of the longer run
 * is looked up in the shorter one, so that what is left and right of it can be merged apart.
 */
#include "kselftest_harness.h"
#include "steal_test.h"

#define COUNT	200000
#define CUTOFF	512

struct sort {
	uint32_t *data, *spare;
	size_t count;
};

struct merge {
	const uint32_t *a, *b;
	size_t a_count, b_count;
	uint32_t *out;
};

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Index of the first number that is not below @value. */
static size_t lower_bound(const uint32_t *data, size_t count, uint32_t value)
{
	size_t first = 0;

	while (count) {
		const size_t half = count / 2;

		if (data[first + half] < value) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first;
}

static void serial_merge(const struct merge *m)
{
	size_t a = 0, b = 0;

	while (a < m->a_count || b < m->b_count) {
		const bool take_a = b == m->b_count || (a < m->a_count && m->a[a] <= m->b[b]);

		m->out[a + b] = take_a ? m->a[a] : m->b[b];
		a += take_a;
		b += !take_a;
	}
}

static int merge(struct salvo_worker *worker, void *data)
{
	struct merge *m = data, lower, upper;
	struct salvo_task task;
	size_t a, b;
	int err, other;

	if (m->a_count + m->b_count <= CUTOFF) {
		serial_merge(m);
		return 0;
	}
	if (m->a_count >= m->b_count) {
		a = m->a_count / 2;
		b = lower_bound(m->b, m->b_count, m->a[a]);
	} else {
		b = m->b_count / 2;
		a = lower_bound(m->a, m->a_count, m->b[b]);
	}
	lower = (struct merge){ m->a, m->b, a, b, m->out };
	upper = (struct merge){ m->a + a, m->b + b, m->a_count - a, m->b_count - b,
				m->out + a + b };
	salvo_task_fork(worker, &task, merge, &upper);
	err = merge(worker, &lower);
	other = salvo_task_join(worker, &task);
	return err ? err : other;
}

static int merge_sort(struct salvo_worker *worker, void *data)
{
	struct sort *s = data, lower, upper;
	struct salvo_task task;
	struct merge both;
	int err, other;

	if (s->count <= CUTOFF) {
		qsort(s->data, s->count, sizeof(*s->data), compare);
		return 0;
	}
	lower = (struct sort){ s->data, s->spare, s->count / 2 };
	upper = (struct sort){ s->data + lower.count, s->spare + lower.count,
			       s->count - lower.count };
	salvo_task_fork(worker, &task, merge_sort, &upper);
	err = merge_sort(worker, &lower);
	other = salvo_task_join(worker, &task);
	both = (struct merge){ s->data, upper.data, lower.count, upper.count, s->spare };
	err = err ? err : other;
	other = merge(worker, &both);
	memcpy(s->data, s->spare, s->count * sizeof(*s->data));
	return err ? err : other;
}

TEST(W8_merge_sort_equals_qsort)
{
	uint32_t *serial = malloc(COUNT * sizeof(*serial));
	uint32_t *data = malloc(COUNT * sizeof(*data)), *spare = malloc(COUNT * sizeof(*spare));
	uint64_t state = 1;
	size_t w, i;

	ASSERT_TRUE(serial && data && spare);
	for (w = 0; w < WORKER_COUNTS; w++) {
		struct sort sort = { data, spare, COUNT };

		/* Many of them equal in the second half. */
		for (i = 0; i < COUNT; i++)
			data[i] = next_number(&state) % (i < COUNT / 2 ? 1u << 31 : 100);
		memcpy(serial, data, COUNT * sizeof(*serial));
		qsort(serial, COUNT, sizeof(*serial), compare);
		ASSERT_EQ(0, run_on(worker_counts[w], merge_sort, &sort));
		ASSERT_EQ(0, memcmp(serial, data, COUNT * sizeof(*serial)));
	}
	free(serial);
	free(data);
	free(spare);
}

TEST_HARNESS_MAIN
