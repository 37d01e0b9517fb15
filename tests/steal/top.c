// SPDX-License-Identifier: MIT
/* top.c - salvo-top shows a pool, its workers, what they stole and their leaves */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_test.h"
#include "steal_test.h"

#define TOP	"build/bin/salvo-top"

FIXTURE(top) {
	struct bench b;
	struct salvo_pool *pool, *idle;
	struct salvo_kernel *kernel;
	pthread_t thread;
	atomic_bool stop;
	int result;
};

static int run_leaves(struct salvo_worker *worker, void *data)
{
	FIXTURE_DATA(top) *self = data;
	int err = 0;

	while (!self->stop && !err)
		err = salvo_worker_leaf(worker, self->kernel, NULL);
	return err;
}

static void *run_pool(void *data)
{
	FIXTURE_DATA(top) *self = data;

	self->result = salvo_pool_run(self->pool, NULL, run_leaves, self);
	return NULL;
}

FIXTURE_SETUP(top)
{
	struct salvo_pool_options options = { .workers = 3, .units = 1, .name = "with leaves" };
	const struct salvo_pool_options idle = { .workers = 2, .name = "id\nle" };
	const uint32_t one = 1, index = 3, value = 77;

	setenv("SALVO_TOPOLOGY", "4", 1);
	if (access(TOP, X_OK))
		SKIP(_exit(255), "there is no " TOP);
	ASSERT_EQ(0, bench_open(&self->b));
	options.device = self->b.device;
	ASSERT_EQ(0, salvo_pool_create(&options, &self->pool));
	ASSERT_EQ(0, salvo_pool_create(&idle, &self->idle));
	self->kernel = bench_kernel(&self->b, "store");
	salvo_kernel_set_bo(self->kernel, 0, self->b.bo, 0);
	salvo_kernel_set_value(self->kernel, 1, &index, sizeof(index));
	salvo_kernel_set_value(self->kernel, 2, &value, sizeof(value));
	salvo_kernel_set_grid(self->kernel, 1, &one, NULL);
	self->stop = false;
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, run_pool, self));
}

FIXTURE_TEARDOWN(top)
{
	self->stop = true;
	pthread_join(self->thread, NULL);
	EXPECT_EQ(0, self->result);
	salvo_kernel_destroy(self->kernel);
	salvo_pool_destroy(self->idle);
	salvo_pool_destroy(self->pool);
	bench_close(&self->b);
}

static bool run_top(const char *options, char *out, size_t room)
{
	char command[128];
	size_t bytes;
	FILE *pipe;

	snprintf(command, sizeof(command), TOP " -n 1 -d 0.3 %s", options);
	pipe = popen(command, "re");
	if (!pipe)
		return false;
	bytes = fread(out, 1, room - 1, pipe);
	out[bytes] = 0;
	return !pclose(pipe) && bytes < room - 1;
}

/* The entry of this process's pool @name in a line of JSON, ended with its workers; or NULL */
static char *find_pool(char *json, const char *name)
{
	char start[128], *at, *end;

	snprintf(start, sizeof(start),
		 "{\"kind\":\"pool\",\"device\":\"pool\",\"pid\":%d,\"command\":\"top\",\"name\":\"%s\",",
		 getpid(), name);
	at = strstr(json, start);
	end = at ? strstr(at, "]}") : NULL;
	if (end)
		*end = 0;
	return end ? at : NULL;
}

/* Sum of a number over all workers */
static double sum_of(const char *pool, const char *key)
{
	double sum = 0;

	for (pool = strstr(pool, "\"workers\""); pool && (pool = strstr(pool, key));) {
		pool += strlen(key);
		sum += strtod(pool, NULL);
	}
	return sum;
}

static unsigned int count_of(const char *text, const char *what)
{
	unsigned int count = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

TEST_F(top, json_has_pools_workers_and_leaves)
{
	static char out[1 << 20];
	struct salvo_pool_stats before, after;
	char *pool;

	while (salvo_pool_get_stats(self->pool, &before), !before.leaves)
		sched_yield();
	ASSERT_TRUE(run_top("--json", out, sizeof(out)));
	salvo_pool_get_stats(self->pool, &after);
	pool = find_pool(out, "with leaves");
	ASSERT_NE(NULL, pool);
	EXPECT_EQ(3, count_of(pool, "\"asleep\":"));
	/* One unit each */
	EXPECT_EQ(1 + 2 + 4, sum_of(pool, "\"units\":"));
	EXPECT_GE(sum_of(pool, "\"leaves\":"), before.leaves);
	EXPECT_LE(sum_of(pool, "\"leaves\":"), after.leaves);
	EXPECT_GE(sum_of(pool, "\"leaf_ns\":"), before.leaf_ns);
	EXPECT_LE(sum_of(pool, "\"leaf_ns\":"), after.leaf_ns);
	EXPECT_GT(sum_of(pool, "\"leaves_per_s\":"), 0);
	EXPECT_GT(sum_of(pool, "\"leaf_percent\":"), 0);
}

TEST_F(top, json_shows_who_sleeps)
{
	static char out[1 << 20];
	struct salvo_pool_stats stats;
	char *pool;

	/* Each sleeps once there is nothing to do. */
	while (salvo_pool_get_stats(self->idle, &stats), stats.sleeps < 2)
		sched_yield();
	ASSERT_TRUE(run_top("--json", out, sizeof(out)));
	/* A name goes to terminals. */
	pool = find_pool(out, "id?le");
	ASSERT_NE(NULL, pool);
	EXPECT_EQ(2, count_of(pool, "\"asleep\":true"));
	EXPECT_EQ(0, sum_of(pool, "\"leaves\":"));
}

TEST_F(top, text_has_a_table_of_pools)
{
	static char out[1 << 20];
	char line[64];

	ASSERT_TRUE(run_top("-b", out, sizeof(out)));
	EXPECT_NE(NULL, strstr(out, "    PID POOL                 WORKERS  AWAKE  STOLEN/s"));
	snprintf(line, sizeof(line), "\n%7d with leaves                3 ", getpid());
	EXPECT_NE(NULL, strstr(out, line));
	snprintf(line, sizeof(line), "\n%7d id?le                      2 ", getpid());
	EXPECT_NE(NULL, strstr(out, line));
	EXPECT_GE(count_of(out, " workers   0: "), 2);
	EXPECT_NE(NULL, strstr(out, " 1: asleep   0.0% "));
	/* The slots of the workers */
	EXPECT_NE(NULL, strstr(out, "QUEUES SLOTS BATCHES"));
}

TEST_HARNESS_MAIN
