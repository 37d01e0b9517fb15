// SPDX-License-Identifier: MIT
/*
 * speeds.c - nodes of unequal speed share the tasks of a statement (A8)
 *
 * Real GPUs run the tasks, but when they end is said by a clock of this test: a node takes for
 * each task as long as its speed says, and the statement's poll() returns the node that is ready
 * first by that clock, after its GPU is done indeed. So who gets which task does not
 * depend on the machine.
 */
#include "kselftest_harness.h"

#include <poll.h>
#include <sys/syscall.h>

#include "agile_test.h"

#define SIDE	128u
#define BLOCK	4u
#define TASKS	(SIDE / BLOCK * (SIDE / BLOCK))

static const struct salvo_agile_grid square = { 2, { 0, 0 }, { SIDE, SIDE } };

/* The clock; @speeds is NULL outside of the statement. */
static struct {
	const struct salvo_agile *agile;
	const double *speeds;
	double now;
	/* When each node is ready, and how many tasks it had then. */
	double ready[NODES];
	uint64_t tasks[NODES];
} model;

static int wait_first(struct pollfd *fds)
{
	unsigned int n, first = NODES;
	struct salvo_agile_stats stats;

	for (n = 0; n < NODES; n++) {
		fds[n].revents = 0;
		if (fds[n].fd < 0)
			continue;
		salvo_agile_get_stats(model.agile, n, &stats);
		if (stats.tasks > model.tasks[n])
			model.ready[n] = model.now + (stats.tasks - model.tasks[n]) /
					 model.speeds[n];
		model.tasks[n] = stats.tasks;
		if (first == NODES || model.ready[n] < model.ready[first])
			first = n;
	}
	if (first == NODES)
		return 0;
	model.now = model.ready[first];
	return syscall(SYS_poll, &fds[first], 1, -1);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	return model.speeds && count == NODES ? wait_first(fds) :
						(int)syscall(SYS_poll, fds, count, timeout);
}

FIXTURE(speeds) {
	struct cluster c;
	struct salvo_agile_map *map;
	struct salvo_agile_field *a, *b, *sum;
	struct salvo_agile_kernel *kernel;
	float in[2][SIDE * SIDE], out[SIDE * SIDE];
	struct salvo_agile_stats before[NODES], now[NODES];
};

FIXTURE_SETUP(speeds)
{
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_field_info info = { 4, { BLOCK, BLOCK }, { BLOCK, BLOCK } };
	struct salvo_agile_field **fields[] = { &self->a, &self->b, &self->sum };
	unsigned int i;

	ASSERT_EQ(0, cluster_open(&self->c, NODES));
	ASSERT_EQ(0, salvo_agile_map_create(self->c.agile, "bands", &square, &how, &self->map));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, salvo_agile_field_create(self->c.agile, "f", self->map, &info,
						      fields[i]));
	self->kernel = cluster_kernel(&self->c, "add_transposed");
	for (i = 0; i < SIDE * SIDE; i++) {
		self->in[0][i] = i;
		self->in[1][i] = i % 1000;
	}
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, field_access(self->c.agile, *fields[i], &square, self->in[i], 4,
					  SALVO_AGILE_WRITE));
}

FIXTURE_TEARDOWN(speeds)
{
	salvo_agile_kernel_destroy(self->kernel);
	salvo_agile_field_destroy(self->a);
	salvo_agile_field_destroy(self->b);
	salvo_agile_field_destroy(self->sum);
	salvo_agile_map_destroy(self->map);
	cluster_close(&self->c);
}

/* C = A + transpose(B) on nodes of these speeds, against serial C. */
static int run(FIXTURE_DATA(speeds) *self, const double *speeds)
{
	struct salvo_agile_operand both[] = {
		{ self->a, NULL, NULL }, { self->b, salvo_agile_transposed, NULL } };
	const struct salvo_agile_statement add = {
		self->kernel, self->sum, both, NULL, 2, 0, SALVO_AGILE_STEAL };
	unsigned int n, i, wrong = 0;
	int err;

	memset(&model, 0, sizeof(model));
	model.agile = self->c.agile;
	for (n = 0; n < NODES; n++) {
		salvo_agile_get_stats(self->c.agile, n, &self->before[n]);
		model.tasks[n] = self->before[n].tasks;
	}
	model.speeds = speeds;
	err = salvo_agile_forall(self->c.agile, &add);
	model.speeds = NULL;
	for (n = 0; n < NODES; n++)
		salvo_agile_get_stats(self->c.agile, n, &self->now[n]);
	if (!err)
		err = field_access(self->c.agile, self->sum, &square, self->out, 4,
				   SALVO_AGILE_READ);
	for (i = 0; i < SIDE * SIDE; i++)
		wrong += self->out[i] != self->in[0][i] +
			 self->in[1][i % SIDE * SIDE + i / SIDE];
	return err ? err : (int)wrong;
}

TEST_F(speeds, A8_nodes_of_unequal_speed_finish_within_a_tenth_of_each_other)
{
	static const double speeds[][NODES] = {
		{ 1, 1, 1, 1 }, { 1, 2, 3, 4 }, { 4, 3, 2, 1 }, { 1, 10, 1, 1 },
		{ 0.25, 1, 1, 1 }, { 7, 1, 5, 2.5 },
	};
	unsigned int i, n;

	for (i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		double first = 1e9, last = 0, sum = 0;
		uint64_t tasks = 0, stolen = 0;

		ASSERT_EQ(0, run(self, speeds[i])) TH_LOG("%s",
			salvo_agile_error(self->c.agile));
		for (n = 0; n < NODES; n++) {
			const uint64_t done = self->now[n].tasks - self->before[n].tasks;
			const double end = done / speeds[i][n];

			first = end < first ? end : first;
			last = end > last ? end : last;
			sum += speeds[i][n];
			tasks += done;
			stolen += self->now[n].stolen - self->before[n].stolen;
		}
		TH_LOG("speeds %g %g %g %g: the first ends %.1f%% before the last, %u of %u tasks stolen",
		       speeds[i][0], speeds[i][1], speeds[i][2], speeds[i][3],
		       100 * (last - first) / last, (unsigned int)stolen, TASKS);
		EXPECT_EQ(TASKS, tasks);
		EXPECT_LE(last - first, last / 10);
		/* Nobody waits while there are tasks: the end is that of an equal division. */
		EXPECT_LE(last, 1.05 * TASKS / sum + 2);
		/* Equal nodes have equal queues and take nothing from each other. */
		EXPECT_EQ(i > 0, stolen > 0);
	}
}

TEST_HARNESS_MAIN
