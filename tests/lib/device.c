// SPDX-License-Identifier: MIT
/* device.c - open a device, its information and counters, and its use from many threads */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_test.h"

TEST(open_by_name)
{
	struct salvo_device_info info;
	struct salvo_device *device;

	ASSERT_EQ(0, salvo_device_open("soft", &device));
	salvo_device_get_info(device, &info);
	EXPECT_STREQ("soft", info.name);
	salvo_device_close(device);
}

TEST(open_wrong_names)
{
	struct salvo_device *device = (void *)1;

	EXPECT_EQ(-ENOENT, salvo_device_open("/dev/dri/there-is-no-such-node", &device));
	EXPECT_EQ(NULL, device);
	EXPECT_EQ(-ENODEV, salvo_device_open("/dev/null", &device));
	EXPECT_EQ(-ENOENT, salvo_device_open("", &device));
}

/* SALVO_MARCH names a level of x86-64 up to the processor's. */
TEST(march_lowers_the_level)
{
	static const char *const wrong[] = { "", "3", "x86-64-v1", "x86-64-v5", "x86-64-v22" };
	struct salvo_device_info info;
	struct salvo_device *device;
	unsigned int i;

	ASSERT_EQ(0, setenv("SALVO_MARCH", "x86-64-v2", 1));
	ASSERT_EQ(0, salvo_device_open("soft", &device));
	salvo_device_get_info(device, &info);
	EXPECT_EQ(2, info.isa_level);
	salvo_device_close(device);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("SALVO_MARCH", wrong[i], 1);
		EXPECT_EQ(-EINVAL, salvo_device_open("soft", &device));
	}
	unsetenv("SALVO_MARCH");
}

TEST(close_nothing)
{
	salvo_device_close(NULL);
	salvo_bo_destroy(NULL);
	salvo_program_destroy(NULL);
	salvo_kernel_destroy(NULL);
	salvo_batch_destroy(NULL);
	salvo_queue_destroy(NULL);
	salvo_fence_destroy(NULL);
}

/* Returns the lowest free file descriptor. */
static int next_file(void)
{
	const int fd = dup(0);

	close(fd);
	return fd;
}

/* Also after a buffer was created and destroyed. */
TEST(close_leaves_no_files_open)
{
	const int before = next_file();
	struct salvo_device *device;
	struct salvo_bo *bo;
	int i;

	ASSERT_EQ(0, salvo_device_open("soft", &device));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, salvo_bo_create(device, 1 << 20, 0, &bo));
		salvo_bo_destroy(bo);
	}
	salvo_device_close(device);
	EXPECT_EQ(before, next_file());
}

TEST(B10_limits_can_be_queried)
{
	struct salvo_device_info info;
	struct salvo_device *device;

	ASSERT_EQ(0, open_device(&device));
	salvo_device_get_info(device, &info);
	EXPECT_GE(info.max_commands, 1024);
	EXPECT_GE(info.max_argument_bytes, 64 << 10);
	EXPECT_GE(info.max_dispatch_argument_bytes, 256);
	EXPECT_GE(info.max_group_items, 256);
	EXPECT_GE(info.max_local_bytes, 16 << 10);
	EXPECT_GE(info.max_items, 1 << 20);
	EXPECT_GE(info.units, 1);
	EXPECT_GE(info.nodes, 1);
	EXPECT_GE(info.isa_level, 2);
	EXPECT_LE(info.isa_level, 5);
	EXPECT_GT(info.vram_bytes, 1 << 20);
	EXPECT_GT(info.clock_hz, 1000000);
	salvo_device_close(device);
}

TEST(counters_count_batches)
{
	struct salvo_device_stats before, after;
	struct salvo_kernel *store;
	struct bench b;
	int i, j;

	ASSERT_EQ(0, bench_open(&b));
	store = bench_kernel(&b, "store");
	ASSERT_NE(NULL, store);
	ASSERT_EQ(0, salvo_device_get_stats(b.device, &before));
	for (i = 0; i < 5; i++) {
		salvo_batch_reset(b.batch);
		for (j = 0; j < 7; j++)
			ASSERT_EQ(j, bench_store(&b, store, j, i));
		ASSERT_EQ(0, bench_run(&b));
	}
	ASSERT_EQ(0, salvo_device_get_stats(b.device, &after));
	EXPECT_EQ(5, after.packets - before.packets);
	EXPECT_EQ(5, after.doorbells - before.doorbells);
	EXPECT_EQ(5, after.interrupts - before.interrupts);
	EXPECT_EQ(5, after.completions - before.completions);
	EXPECT_GT(after.busy_ns, before.busy_ns);
	salvo_kernel_destroy(store);
	bench_close(&b);
}

TEST(close_while_a_batch_runs_that_never_ends)
{
	struct bench b;
	int err;

#ifdef __SANITIZE_THREAD__
	SKIP(return, "ThreadSanitizer holds back signals, and a kernel is left by one");
#endif
	ASSERT_EQ(0, bench_open(&b));
	ASSERT_EQ(0, bench_gate(&b, 0, 1, 5));
	ASSERT_EQ(0, salvo_queue_submit(b.queue, b.batch, NULL, 0, NULL));
	bench_close(&b);
	/* The next device handle finds a working GPU. */
	ASSERT_EQ(0, bench_open(&b));
	ASSERT_EQ(0, salvo_batch_fill(b.batch, b.bo, 0, 4, 7));
	err = bench_run(&b);
	/* The driver resets the GPU after a while, which kills all batches on it. */
	if (err == -ECANCELED)
		err = bench_run(&b);
	EXPECT_EQ(0, err);
	EXPECT_EQ(7, b.map[0]);
	bench_close(&b);
}

TEST(a_child_may_open_a_device_of_its_own)
{
	struct bench b, own;
	int status;
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	SKIP(return, "ThreadSanitizer allows the child no threads");
#endif
	ASSERT_EQ(0, bench_open(&b));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (bench_open(&own) || salvo_batch_fill(own.batch, own.bo, 0, 4, 9) ||
		    bench_run(&own) || own.map[0] != 9)
			_exit(1);
		bench_close(&own);
		_exit(0);
	}
	ASSERT_EQ(0, salvo_batch_fill(b.batch, b.bo, 0, 4, 8));
	EXPECT_EQ(0, bench_run(&b));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(8, b.map[0]);
	bench_close(&b);
}

/* It would wait for the lock of the GPU, which a thread of the parent may have held at fork(). */
TEST(a_child_gets_no_queue_of_an_embedded_gpu_of_the_parent)
{
	struct salvo_queue *queue;
	struct bench b;
	int status;
	pid_t pid;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "for the embedded GPU");
	ASSERT_EQ(0, bench_open(&b));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(salvo_queue_create(b.device, 0, &queue) != -ENODEV || queue);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	bench_close(&b);
}

/* All threads use one device; all other objects belong to one thread each. */
#define THREADS 4
#define ROUNDS 200

struct worker {
	struct salvo_device *device;
	struct salvo_program *program;
	unsigned int number;
	unsigned int wrong;
};

static int one_round(struct worker *w, struct salvo_queue *queue, struct salvo_batch *batch,
		     struct salvo_kernel *kernel, unsigned int round)
{
	const uint32_t items = 64, value = w->number * 1000 + round;
	struct salvo_fence *fence;
	struct salvo_bo *bo;
	uint32_t *map;
	unsigned int i;
	int bad;

	if (salvo_bo_create(w->device, items * 4, 0, &bo) || salvo_bo_map(bo, (void **)&map))
		return 1;
	salvo_batch_reset(batch);
	salvo_kernel_set_bo(kernel, 0, bo, 0);
	salvo_kernel_set_value(kernel, 1, &value, sizeof(value));
	salvo_kernel_set_grid(kernel, 1, &items, NULL);
	bad = salvo_batch_dispatch(batch, kernel) != 0;
	bad |= salvo_queue_submit(queue, batch, NULL, 0, &fence) ||
	       salvo_fence_wait(fence, 20 * SECOND_NS);
	for (i = 0; !bad && i < items; i++)
		bad = map[i] != value;
	salvo_fence_destroy(fence);
	salvo_bo_destroy(bo);
	return bad;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct salvo_kernel *kernel;
	struct salvo_queue *queue;
	struct salvo_batch *batch;
	unsigned int i;

	if (salvo_queue_create(w->device, 0, &queue) || salvo_batch_create(w->device, &batch) ||
	    salvo_kernel_create(w->program, "add", &kernel)) {
		w->wrong = ROUNDS;
		return NULL;
	}
	for (i = 0; i < ROUNDS; i++)
		w->wrong += one_round(w, queue, batch, kernel, i);
	salvo_kernel_destroy(kernel);
	salvo_batch_destroy(batch);
	salvo_queue_destroy(queue);
	return NULL;
}

TEST(device_is_used_from_many_threads)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	struct bench b;
	int i;

	ASSERT_EQ(0, bench_open(&b));
	for (i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ b.device, b.program, i, 0 };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, work, &workers[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, workers[i].wrong);
	}
	bench_close(&b);
}

TEST_HARNESS_MAIN
