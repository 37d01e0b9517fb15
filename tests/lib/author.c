// SPDX-License-Identifier: MIT
/* author.c - common mistakes of applications: messages, cancelled threads, fork() */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "lib_test.h"
#include "sanitizer.h"

FIXTURE(author) {
	struct bench b;
};

FIXTURE_SETUP(author)
{
	ASSERT_EQ(0, bench_open(&self->b));
}

FIXTURE_TEARDOWN(author)
{
	bench_close(&self->b);
}

static bool is_embedded(const struct bench *b)
{
	return !strcmp(b->info.name, "soft");
}

/* Runs one work-item of a kernel. Returns the result of the submission; @error is the batch's. */
static int run_one(struct bench *b, struct salvo_kernel *kernel, struct salvo_error *error)
{
	const uint32_t one = 1;
	struct salvo_fence *fence;
	int err;

	salvo_batch_reset(b->batch);
	salvo_kernel_set_grid(kernel, 1, &one, NULL);
	err = salvo_batch_dispatch(b->batch, kernel);
	if (err >= 0)
		err = salvo_queue_submit(b->queue, b->batch, NULL, 0, &fence);
	if (err)
		return err;
	salvo_fence_wait(fence, 20 * SECOND_NS);
	err = salvo_fence_get_error(fence, error);
	salvo_fence_destroy(fence);
	return err;
}

TEST_F(author, a_write_to_a_readonly_buffer_is_not_called_outside_alone)
{
	struct salvo_kernel *store = bench_kernel(&self->b, "store");
	const uint32_t zero = 0;
	struct salvo_error error;
	struct salvo_bo *bo;

	ASSERT_NE(NULL, store);
	ASSERT_EQ(0, salvo_bo_create(self->b.device, 4096, SALVO_BO_READONLY, &bo));
	salvo_kernel_set_bo(store, 0, bo, 0);
	salvo_kernel_set_value(store, 1, &zero, 4);
	salvo_kernel_set_value(store, 2, &zero, 4);
	ASSERT_EQ(0, run_one(&self->b, store, &error));
	EXPECT_EQ(SALVO_ERROR_PAGE, error.kind);
	EXPECT_EQ(SALVO_ERROR_WRITE, error.access);
	EXPECT_NE(NULL, strstr(salvo_error_name(error.kind), "not allowed"));
	salvo_bo_destroy(bo);
	salvo_kernel_destroy(store);
}

/* In checked mode; else it does not fault. */
static const char divide[] = "kernel void divide(global int *a) { a[0] /= a[1]; }\n";

TEST_F_TIMEOUT(author, a_division_by_zero_has_no_address, 200)
{
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	struct salvo_error error;
	int err;

	err = salvo_program_build(self->b.device, divide, 0, "--checked", NULL, &program);
	if (err == -ENOENT)
		SKIP(return, "no compiler");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, salvo_kernel_create(program, "divide", &kernel));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	ASSERT_EQ(0, run_one(&self->b, kernel, &error));
	EXPECT_EQ(SALVO_ERROR_ARITHMETIC, error.kind);
	EXPECT_EQ(0, error.access);
	EXPECT_EQ(0, error.address);
	salvo_kernel_destroy(kernel);
	salvo_program_destroy(program);
}

TEST_F(author, a_banned_queue_names_the_batch_that_banned_it)
{
	struct salvo_kernel *store = bench_kernel(&self->b, "store");
	struct salvo_kernel *wild = bench_kernel(&self->b, "wild");
	struct salvo_error error;
	unsigned int i;

	ASSERT_NE(NULL, store);
	ASSERT_NE(NULL, wild);
	ASSERT_EQ(0, bench_store(&self->b, store, 0, 1));
	for (i = 0; i < 40; i++)
		ASSERT_EQ(0, bench_run(&self->b));
	salvo_kernel_set_bo(wild, 0, NULL, 0);
	ASSERT_EQ(0, run_one(&self->b, wild, &error));
	ASSERT_EQ(-ECANCELED, error.error);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-EIO, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
		EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), "batch 41"))
			TH_LOG("%s", salvo_batch_error(self->b.batch));
		EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), "wild"));
		/* The queue drops fences that are done, but not this one. */
		salvo_queue_completed(self->b.queue);
	}
	salvo_kernel_destroy(store);
	salvo_kernel_destroy(wild);
}

/* Returns what salvo_device_open() writes to standard error with SALVO_TIMEOUT_MS=@value. */
static bool timeout_is_reported(const char *value)
{
	char text[512] = "";
	int fd = memfd_create("stderr", 0), old = dup(2);
	struct salvo_device *device;
	ssize_t got;

	setenv("SALVO_TIMEOUT_MS", value, 1);
	dup2(fd, 2);
	if (!salvo_device_open("soft", &device))
		salvo_device_close(device);
	dup2(old, 2);
	unsetenv("SALVO_TIMEOUT_MS");
	got = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	close(old);
	return got > 0 && strstr(text, "SALVO_TIMEOUT_MS") && strstr(text, value);
}

TEST(a_wrong_time_limit_is_reported)
{
	EXPECT_TRUE(timeout_is_reported("soon"));
	EXPECT_TRUE(timeout_is_reported("10s"));
	EXPECT_TRUE(timeout_is_reported("-5"));
	EXPECT_TRUE(timeout_is_reported("99999999999999999999"));
	EXPECT_FALSE(timeout_is_reported("1000"));
	EXPECT_FALSE(timeout_is_reported("0"));
}

TEST_F(author, a_pipe_control_needs_a_consumer_that_is_there)
{
	struct salvo_kernel *store = bench_kernel(&self->b, "store");

	ASSERT_EQ(0, bench_store(&self->b, store, 0, 1));
	EXPECT_EQ(-EINVAL, salvo_batch_pipe_control(self->b.batch, 1, 0));
	EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), "consumer 1"));
	EXPECT_EQ(1, salvo_batch_count(self->b.batch));
	ASSERT_EQ(1, bench_store(&self->b, store, 1, 1));
	EXPECT_EQ(2, salvo_batch_pipe_control(self->b.batch, 1, 0));
	salvo_kernel_destroy(store);
}

/* --- fork --------------------------------------------------------------------- */

/* Runs @child in a child process, for 10 s at most. Returns its exit code, or -1. */
static int in_child(int (*child)(void *data), void *data)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(10);
		_exit(child(data));
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int use_parents_objects(void *data)
{
	struct bench *b = data;
	struct salvo_fence *fence;
	struct salvo_bo *bo;

	if (salvo_queue_submit(b->queue, b->batch, NULL, 0, &fence) != -ENODEV)
		return 1;
	if (!strstr(salvo_batch_error(b->batch), "fork"))
		return 2;
	if (salvo_bo_create(b->device, 4096, 0, &bo) != -ENODEV)
		return 3;
	salvo_device_close(b->device);
	return 0;
}

static int wait_for_parents_fence(void *data)
{
	if (salvo_fence_wait(data, 0) != -ENODEV)
		return 1;
	return salvo_fence_wait(data, -1) == -ENODEV ? 0 : 2;
}

TEST_F(author, a_child_gets_an_error_from_its_parents_objects)
{
	struct salvo_kernel *store = bench_kernel(&self->b, "store");
	struct salvo_fence *fence;

	if (!is_embedded(&self->b))
		SKIP(return, "the driver's files work in a child, too");
	ASSERT_EQ(0, bench_store(&self->b, store, 0, 1));
	EXPECT_EQ(0, in_child(use_parents_objects, &self->b));
	EXPECT_EQ(0, bench_run(&self->b));
	fence = submit_gate(&self->b, self->b.queue, 4, 5);
	ASSERT_NE(NULL, fence);
	EXPECT_EQ(0, in_child(wait_for_parents_fence, fence));
	open_gate(&self->b, 4);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	salvo_fence_destroy(fence);
	salvo_kernel_destroy(store);
}

/*
 * Overrides the library's weak symbol for gdb; holds the lock of the list of programs for a while.
 */
void __jit_debug_register_code(void)
{
	usleep(1000);
}

struct loader {
	struct salvo_device *device;
	bool stop;
};

static void *load_again_and_again(void *data)
{
	struct loader *loader = data;
	struct salvo_program *program;

	while (!__atomic_load_n(&loader->stop, __ATOMIC_RELAXED))
		if (!salvo_program_load_file(loader->device, kernel_path("lib.salvo"), &program))
			salvo_program_destroy(program);
	return NULL;
}

static int load_in_a_device_of_its_own(void *data)
{
	struct salvo_program *program;
	struct salvo_device *device;

	if (salvo_device_open("soft", &device) ||
	    salvo_program_load_file(device, kernel_path("lib.salvo"), &program))
		return 1;
	salvo_program_destroy(program);
	salvo_device_close(device);
	return 0;
}

TEST_F_TIMEOUT(author, a_child_loads_programs_while_its_parent_did, 120)
{
	struct loader loader = { .device = self->b.device };
	unsigned int i, failed = 0;
	pthread_t threads[2];

	if (!is_embedded(&self->b))
		SKIP(return, "programs are registered with the debugger on the embedded GPU alone");
	NEED_MALLOC_AFTER_FORK();
	kernel_path("lib.salvo");
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, load_again_and_again, &loader));
	for (i = 0; i < 50 && !failed; i++)
		failed += in_child(load_in_a_device_of_its_own, NULL) != 0;
	__atomic_store_n(&loader.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, failed);
}

/* --- threads that are cancelled -------------------------------------------------- */

static void *submit_again_and_again(void *data)
{
	struct bench *b = data;
	struct salvo_fence *fence;
	int fd;

	for (;;) {
		if (salvo_queue_submit(b->queue, b->batch, NULL, 0, &fence))
			return NULL;
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		/* With an eventfd a write() signals the fence. */
		if (!salvo_fence_get_fd(fence, &fd))
			close(fd);
		salvo_fence_destroy(fence);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		pthread_testcancel();
	}
}

TEST_F_TIMEOUT(author, a_cancelled_thread_leaves_the_device_usable, 60)
{
	struct salvo_kernel *store = bench_kernel(&self->b, "store");
	unsigned int i, j, rounds;
	pthread_t thread;

	NEED_CANCEL();
	ASSERT_EQ(0, bench_store(&self->b, store, 0, 1));
	for (j = 0; j < 20; j++)
		ASSERT_LT(0, bench_store(&self->b, store, j, 1));
	/* A virtual machine is slow, and through the driver this process holds no such state. */
	rounds = is_embedded(&self->b) ? 200 : 20;
	for (i = 0; i < rounds; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, submit_again_and_again, &self->b));
		usleep(200 + i * 7);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		ASSERT_EQ(0, bench_run(&self->b));
	}
	salvo_kernel_destroy(store);
}

TEST_HARNESS_MAIN
