// SPDX-License-Identifier: MIT
/*
 * nomem.c - failure of every single allocation of each call
 *
 * The allocator is replaced by one that can fail the nth allocation of this thread. A call that
 * fails must return -ENOMEM (or its equivalent), leak nothing, and succeed when it is called again.
 */
#include "failing_alloc.h"
#include "kselftest_harness.h"
#include "lib_test.h"
#include "salvo_steal.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Steps in which the heap is filled, until the C library has to ask for more */
#define USED_BYTES	1000u
#define USED_STEPS	140u

static _Thread_local int fail_aligned = -1;

#if REPLACED
void *__libc_memalign(size_t alignment, size_t bytes);

/* Allocates packets for the library, but also for the GPU, where a failure ends the batch. */
void *aligned_alloc(size_t alignment, size_t bytes)
{
	return fail_aligned >= 0 && fail_aligned-- == 0 ? NULL : __libc_memalign(alignment, bytes);
}
#endif

#define NEED_ALLOCATOR() do { \
	if (!REPLACED) \
		SKIP(return, "a sanitizer has the allocator"); \
} while (0)

FIXTURE(nomem) {
	struct bench b;
	struct salvo_kernel *store;
};

FIXTURE_SETUP(nomem)
{
	ASSERT_EQ(0, bench_open(&self->b));
	self->store = bench_kernel(&self->b, "store");
	ASSERT_NE(NULL, self->store);
}

FIXTURE_TEARDOWN(nomem)
{
	salvo_kernel_destroy(self->store);
	bench_close(&self->b);
}

/*
 * Calls with the 1st, 2nd, ... allocation failing, until none fails. Counts the failures, each of
 * which must return @err. @result is that of the call that succeeded.
 */
#define FAIL_EACH(err, call) ({ \
	int failures_ = 0, result_; \
	for (;; failures_++) { \
		fail_after = failures_; \
		result_ = (call); \
		fail_after = -1; \
		if (result_ >= 0) \
			break; \
		ASSERT_EQ(err, result_) TH_LOG("%s", #call); \
		ASSERT_GT(100, failures_); \
	} \
	failures_; \
})

TEST_F(nomem, objects)
{
	struct salvo_device *device;
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	struct salvo_batch *batch;
	struct salvo_queue *queue;
	struct salvo_bo *bo;

	NEED_ALLOCATOR();
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_device_open("soft", &device)));
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_program_load_file(device, kernel_path("lib.salvo"),
							       &program)));
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_kernel_create(program, "chain", &kernel)));
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_batch_create(device, &batch)));
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_queue_create(device, 0, &queue)));
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_bo_create(device, 4096, 0, &bo)));
	salvo_bo_destroy(bo);
	salvo_queue_destroy(queue);
	salvo_batch_destroy(batch);
	salvo_kernel_destroy(kernel);
	salvo_program_destroy(program);
	salvo_device_close(device);
}

/* Data of this process, in bytes */
static unsigned long data_bytes(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmData: %lu", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib << 10;
}

static int open_soft(void)
{
	struct salvo_device *device;

	return salvo_device_open("soft", &device);
}

static int create_pool(void)
{
	const struct salvo_pool_options options = { .workers = 1 };
	struct salvo_pool *pool;

	return salvo_pool_create(&options, &pool);
}

/* In a process whose data cannot grow, and that has used some of what it has */
static int call_at_limit(int (*function)(void), unsigned int used)
{
	struct rlimit limit = { .rlim_cur = data_bytes(), .rlim_max = RLIM_INFINITY };
	int err;

	if (setrlimit(RLIMIT_DATA, &limit))
		return 1;
	for (; used; used--)
		/* Volatile, or the compiler removes it. */
		*(void *volatile *)&(void *){ NULL } = malloc(USED_BYTES);
	err = function();
	/* EAGAIN: a thread has no stack. */
	return err && err != -ENOMEM && err != -EAGAIN;
}

static void call_with_less(struct __test_metadata *_metadata, int (*function)(void))
{
	unsigned int used;

	for (used = 0; used < USED_STEPS; used++) {
		const pid_t pid = fork();
		int status;

		ASSERT_LE(0, pid);
		if (!pid)
			_exit(call_at_limit(function, used));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFEXITED(status)) {
			TH_LOG("signal %d after %u bytes", WTERMSIG(status), used * USED_BYTES);
		}
		ASSERT_EQ(0, WEXITSTATUS(status));
	}
}

/* hwloc, which describes the machine, does not survive it wherever it happens. */
TEST(memory_ends_while_the_machine_is_described)
{
	NEED_ALLOCATOR();
	call_with_less(_metadata, open_soft);
	call_with_less(_metadata, create_pool);
}

TEST_F(nomem, batches)
{
	struct salvo_batch *batch = self->b.batch, *large;
	struct salvo_hazard hazard;
	unsigned int i;

	NEED_ALLOCATOR();
	ASSERT_EQ(0, salvo_batch_create(self->b.device, &large));
	/* Each of the arrays grows now and then. */
	for (i = 0; i < 300; i++) {
		unsigned int count = salvo_batch_count(batch);

		FAIL_EACH(-ENOMEM, bench_store(&self->b, self->store, i % 50, i));
		EXPECT_EQ(count + 1, salvo_batch_count(batch));
	}
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_batch_enable_hazards(batch)));
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_batch_get_hazard(batch, 0, &hazard)));
	EXPECT_EQ(1, hazard.consumer);
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_batch_append(large, batch)));
	/* Each writes to the buffer, so each waits for the previous one. */
	EXPECT_EQ(599, salvo_batch_count(large));
	EXPECT_LT(0, FAIL_EACH(-ENOMEM, salvo_batch_enable_profile(batch)));
	EXPECT_EQ(0, bench_run(&self->b));
	for (i = 0; i < 50; i++)
		EXPECT_EQ(250 + i, self->b.map[i]);
	salvo_batch_destroy(large);
}

TEST_F(nomem, submissions)
{
	struct salvo_fence *fences[20], *imported;
	struct salvo_queue *second;
	unsigned int i, index;
	int fd;

	NEED_ALLOCATOR();
	ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &second));
	ASSERT_EQ(0, bench_store(&self->b, self->store, 0, 7));
	for (i = 0; i < 20; i++) {
		struct salvo_queue *queue = i % 2 ? self->b.queue : second;

		FAIL_EACH(-ENOMEM, salvo_queue_submit(queue, self->b.batch, fences, i, &fences[i]));
	}
	FAIL_EACH(-ENOMEM, salvo_fence_wait_any(fences, 20, 20 * SECOND_NS, &index));
	FAIL_EACH(-ENOMEM, salvo_fence_wait_all(fences, 20, 20 * SECOND_NS));
	FAIL_EACH(-ENOMEM, salvo_fence_get_fd(fences[0], &fd));
	FAIL_EACH(-ENOMEM, salvo_fence_import_fd(self->b.device, fd, &imported));
	EXPECT_EQ(0, salvo_fence_wait(imported, 20 * SECOND_NS));
	close(fd);
	salvo_fence_destroy(imported);
	for (i = 0; i < 20; i++)
		salvo_fence_destroy(fences[i]);
	salvo_queue_destroy(second);
	EXPECT_EQ(7, self->b.map[0]);
}

/* Without memory to find out what has to wait, a batch waits for all of the one before. */
TEST_F(nomem, batches_that_overlap)
{
	struct salvo_batch *batch[2] = { self->b.batch };
	struct salvo_queue *queue;
	struct salvo_fence *fence;
	unsigned int i, j;
	int err;

	NEED_ALLOCATOR();
	ASSERT_EQ(0, salvo_batch_create(self->b.device, &batch[1]));
	for (j = 0; j < 2; j++)
		ASSERT_EQ(0, salvo_batch_enable_hazards(batch[j]));
	for (i = 0; i < 30; i++) {
		ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &queue));
		ASSERT_LT(0, FAIL_EACH(-ENOMEM, salvo_queue_enable_overlap(queue)));
		ASSERT_LE(0, bench_store(&self->b, self->store, i, i + 1));
		ASSERT_LE(0, salvo_batch_fill(batch[1], self->b.bo, 4 * i, 4, i + 100));
		for (j = 0; j < 4; j++) {
			fail_after = i;
			err = salvo_queue_submit(queue, batch[j % 2], NULL, 0, &fence);
			fail_after = -1;
			if (err) {
				ASSERT_EQ(-ENOMEM, err);
				err = salvo_queue_submit(queue, batch[j % 2], NULL, 0, &fence);
			}
			ASSERT_EQ(0, err);
			ASSERT_EQ(j + 1 < 4 ? 0 : salvo_fence_wait(fence, 20 * SECOND_NS), 0);
			salvo_fence_destroy(fence);
		}
		EXPECT_EQ(i + 100, self->b.map[i]);
		salvo_queue_destroy(queue);
	}
	salvo_batch_destroy(batch[1]);
}

/* A batch keeps its packet from the second submission on, but not that of a longer batch. */
TEST_F(nomem, a_packet_that_is_kept_does_not_outlive_a_failure)
{
	struct salvo_fence *fence;
	unsigned int i;

	NEED_ALLOCATOR();
	if (strcmp(self->b.info.name, "soft"))
		SKIP(return, "the driver makes the packet");
	ASSERT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	ASSERT_EQ(0, bench_run(&self->b));
	ASSERT_EQ(0, bench_run(&self->b));
	for (i = 1; i < 1000; i++)
		ASSERT_EQ(i, bench_store(&self->b, self->store, i, i + 1));
	fail_aligned = 0;
	EXPECT_EQ(-ENOMEM, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	ASSERT_EQ(0, bench_run(&self->b));
	for (i = 0; i < 1000; i++)
		EXPECT_EQ(i + 1, self->b.map[i]);
}

/*
 * The GPU parses in this thread; it has no memory for the packet's copy, then elements, then edges.
 */
TEST_F(nomem, a_batch_that_the_gpu_has_no_memory_for_costs_nothing_else)
{
	struct salvo_fence *fence;
	struct salvo_error error;
	unsigned int i;

	NEED_ALLOCATOR();
	if (strcmp(self->b.info.name, "soft"))
		SKIP(return, "the GPU is another process");
	for (i = 0; i < 2000; i++)
		ASSERT_EQ(i, bench_store(&self->b, self->store, i, i + 1));
	fail_aligned = 0;
	EXPECT_EQ(-ENOMEM, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	/* Earlier allocations are kept, so each time the second one is another one. */
	for (i = 0; i < 3; i++) {
		fail_aligned = 1;
		ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
		EXPECT_EQ(-1, fail_aligned);
		EXPECT_EQ(-ECANCELED, salvo_fence_wait(fence, 20 * SECOND_NS));
		ASSERT_EQ(0, salvo_fence_get_error(fence, &error));
		EXPECT_EQ(SALVO_ERROR_NONE, error.kind);
		EXPECT_EQ(0, self->b.map[1999]);
		salvo_fence_destroy(fence);
	}
	ASSERT_EQ(0, bench_run(&self->b));
	for (i = 0; i < 2000; i++)
		EXPECT_EQ(i + 1, self->b.map[i]);
}

TEST_HARNESS_MAIN
