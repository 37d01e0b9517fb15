// SPDX-License-Identifier: MIT
/*
 * graph.c - random graphs of tasks give what serial code gives
 *
 * A graph is made from a number: each node has children that are forked, loops or reductions over
 * its own indices, or a graph on another pool, joined in any order. Its value depends on all
 * below it and on its place.
 */
#include "kselftest_harness.h"
#include "steal_test.h"

#define CHILDREN 6

enum kind { LEAF, FORK, LOOP, REDUCE, OTHER_POOL, KINDS };

struct node {
	/* What the graph below is made from */
	uint64_t seed;
	int depth;
	/* The other pool, or NULL for serial code */
	struct salvo_pool *other;
	uint64_t value;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

static int run_node(struct salvo_worker *worker, void *data);

static struct node child_of(const struct node *node, unsigned int i)
{
	return (struct node){ .seed = mix(node->seed, i + 1), .depth = node->depth - 1,
			       .other = node->other };
}

/* Children in pairs of (fork, join) that are nested, or in any order if @worker is NULL. */
static int run_children(struct salvo_worker *worker, struct node *node, unsigned int count,
			uint64_t *state)
{
	struct salvo_task tasks[CHILDREN];
	struct node children[CHILDREN];
	const unsigned int step = next_number(state) % 2 ? 1 : count - 1;
	unsigned int i;
	int err = 0;

	for (i = 0; i < count; i++) {
		children[i] = child_of(node, i);
		if (worker)
			salvo_task_fork(worker, &tasks[i], run_node, &children[i]);
		else
			err |= run_node(NULL, &children[i]);
	}
	/* In the order of forks, or in reverse. */
	for (i = 0; worker && i < count; i++)
		err |= salvo_task_join(worker, &tasks[(step * (i + (step > 1))) % count]);
	for (i = 0; i < count; i++)
		node->value = mix(node->value, children[i].value);
	return err;
}

static int sum_leaf(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end,
		    void *result)
{
	int err = 0;

	for (; begin < end; begin++) {
		struct node child = child_of(data, begin);

		err |= run_node(worker, &child);
		*(uint64_t *)result = mix(*(uint64_t *)result, child.value);
	}
	return err;
}

static void zero(void *data, void *result)
{
	*(uint64_t *)result = 0;
}

static void combine(void *data, void *left, const void *right)
{
	*(uint64_t *)left = mix(*(uint64_t *)left, *(const uint64_t *)right);
}

/* The documented result of salvo_worker_reduce(), computed serially */
static int serial_reduce(struct node *node, uint64_t begin, uint64_t end, uint64_t cutoff,
			 uint64_t *result)
{
	uint64_t right, middle;
	int err;

	if (end - begin <= cutoff) {
		*result = 0;
		return sum_leaf(NULL, node, begin, end, result);
	}
	/* Half of the leaves, each of which but the last is as long as the cutoff */
	middle = begin + (end - begin + cutoff - 1) / cutoff / 2 * cutoff;
	err = serial_reduce(node, begin, middle, cutoff, result);
	err |= serial_reduce(node, middle, end, cutoff, &right);
	combine(NULL, result, &right);
	return err;
}

static int run_reduce(struct salvo_worker *worker, struct node *node, uint64_t count,
		      uint64_t cutoff)
{
	static const struct salvo_reduction reduction = { 8, zero, sum_leaf, combine };

	if (!worker)
		return serial_reduce(node, 0, count, cutoff, &node->value);
	return salvo_worker_reduce(worker, count, cutoff, &reduction, node, &node->value);
}

struct loop {
	const struct node *node;
	uint64_t values[64];
};

static int loop_leaf(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct loop *loop = data;
	int err = 0;

	for (; begin < end; begin++) {
		struct node child = child_of(loop->node, begin);

		err |= run_node(worker, &child);
		loop->values[begin] = child.value;
	}
	return err;
}

static int run_loop(struct salvo_worker *worker, struct node *node, uint64_t count,
		    uint64_t cutoff)
{
	struct loop loop = { .node = node };
	uint64_t i;
	int err;

	err = worker ? salvo_worker_for(worker, count, cutoff, loop_leaf, &loop) :
		       loop_leaf(NULL, &loop, 0, count);
	for (i = 0; i < count; i++)
		node->value = mix(node->value, loop.values[i]);
	return err;
}

static int run_node(struct salvo_worker *worker, void *data)
{
	struct node *node = data;
	uint64_t state = node->seed;
	enum kind kind = next_number(&state) % KINDS;
	const unsigned int count = 2 + next_number(&state) % (CHILDREN - 1);
	struct node below;
	int err;

	node->value = mix(node->seed, node->depth);
	if (!node->depth || kind == LEAF)
		return 0;
	switch (kind) {
	case FORK:
		return run_children(worker, node, count, &state);
	case LOOP:
		return run_loop(worker, node, count * 4, 1 + next_number(&state) % 5);
	case REDUCE:
		return run_reduce(worker, node, count * 2, 1 + next_number(&state) % 3);
	default:
		below = child_of(node, 0);
		if (worker)
			below.other = salvo_worker_pool(worker);
		err = worker ? salvo_pool_run(node->other, worker, run_node, &below) :
			       run_node(NULL, &below);
		node->value = mix(node->value, below.value);
		return err;
	}
}

#define GRAPHS 1000

FIXTURE(graph) {
	struct salvo_pool *pools[4][2];
};

FIXTURE_SETUP(graph)
{
	int i;

	for (i = 0; i < 4; i++) {
		self->pools[i][0] = pool_of(i + 1, 0);
		self->pools[i][1] = pool_of(1 + i % 2, 0);
		ASSERT_TRUE(self->pools[i][0] && self->pools[i][1]);
	}
}

FIXTURE_TEARDOWN(graph)
{
	int i;

	for (i = 0; i < 4; i++) {
		salvo_pool_destroy(self->pools[i][0]);
		salvo_pool_destroy(self->pools[i][1]);
	}
}

/* Under ThreadSanitizer it takes a while. */
TEST_F_TIMEOUT(graph, W2_random_graphs_of_tasks_equal_serial_code, 240)
{
	int i;

	for (i = 0; i < GRAPHS; i++) {
		struct node serial = { .seed = mix(i, 7), .depth = 4 }, parallel = serial;

		parallel.other = self->pools[i % 4][1];
		ASSERT_EQ(0, run_node(NULL, &serial));
		ASSERT_EQ(0, salvo_pool_run(self->pools[i % 4][0], NULL, run_node, &parallel));
		ASSERT_EQ(serial.value, parallel.value) {
			TH_LOG("graph %d", i);
		}
	}
}

TEST_HARNESS_MAIN
