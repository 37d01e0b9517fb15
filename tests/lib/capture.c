// SPDX-License-Identifier: MIT
/* capture.c - fences of captured submissions */
#include <poll.h>
#include <pthread.h>

#include "kselftest_harness.h"
#include "lib_test.h"

FIXTURE(capture) {
	struct bench b;
	struct salvo_batch *into;
	struct salvo_kernel *store, *wild;
};

FIXTURE_SETUP(capture)
{
	ASSERT_EQ(0, bench_open(&self->b));
	ASSERT_EQ(0, salvo_batch_create(self->b.device, &self->into));
	self->store = bench_kernel(&self->b, "store");
	self->wild = bench_kernel(&self->b, "wild");
	ASSERT_NE(NULL, self->store);
	ASSERT_NE(NULL, self->wild);
	ASSERT_EQ(0, salvo_queue_capture(self->b.queue, self->into));
}

FIXTURE_TEARDOWN(capture)
{
	salvo_batch_destroy(self->into);
	salvo_kernel_destroy(self->store);
	salvo_kernel_destroy(self->wild);
	bench_close(&self->b);
}

static int submit_captured(struct _test_data_capture *self, struct salvo_fence **fence)
{
	salvo_queue_capture(self->b.queue, NULL);
	return salvo_queue_submit(self->b.queue, self->into, NULL, 0, fence);
}

TEST_F(capture, a_fence_is_done_when_its_batch_was_submitted)
{
	struct salvo_fence *first, *second, *fence, *fences[2];
	struct salvo_error error;
	unsigned int index;
	struct pollfd fd;

	first = submit_store(&self->b, self->store, self->b.queue, 1, 10, NULL, 0);
	ASSERT_NE(NULL, first);
	/* Waits for batches that were captured before are allowed: the capture has the barrier. */
	second = submit_store(&self->b, self->store, self->b.queue, 2, 20, &first, 1);
	ASSERT_NE(NULL, second);
	EXPECT_EQ(-ETIME, salvo_fence_wait(first, 0));
	EXPECT_EQ(-ETIME, salvo_fence_wait(first, 1000000));
	EXPECT_EQ(-ETIME, salvo_fence_wait_any(&first, 1, 1000000, &index));
	EXPECT_EQ(-EBUSY, salvo_fence_get_error(first, &error));
	EXPECT_EQ(-EBUSY, salvo_fence_get_fd(first, &fd.fd));
	EXPECT_EQ(0, salvo_fence_value(first));
	EXPECT_EQ(0, self->b.map[1]);

	ASSERT_EQ(0, submit_captured(self, &fence));
	EXPECT_EQ(0, salvo_fence_wait(first, 20 * SECOND_NS));
	EXPECT_EQ(0, salvo_fence_wait(second, 20 * SECOND_NS));
	EXPECT_EQ(10, self->b.map[1]);
	EXPECT_EQ(20, self->b.map[2]);
	fences[0] = fence;
	fences[1] = second;
	EXPECT_EQ(0, salvo_fence_wait_any(fences, 2, -1, &index));
	EXPECT_EQ(0, salvo_fence_wait_all(fences, 2, -1));
	EXPECT_EQ(0, salvo_fence_get_error(first, &error));
	EXPECT_EQ(0, error.error);
	fd.events = POLLIN;
	ASSERT_EQ(0, salvo_fence_get_fd(first, &fd.fd));
	EXPECT_EQ(1, poll(&fd, 1, 20000));
	close(fd.fd);
	salvo_fence_destroy(first);
	salvo_fence_destroy(second);
	salvo_fence_destroy(fence);
}

TEST_F(capture, another_queue_waits_for_it_once_it_is_submitted)
{
	struct salvo_fence *fence, *next;
	struct salvo_queue *other;

	ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &other));
	fence = submit_store(&self->b, self->store, self->b.queue, 1, 10, NULL, 0);
	ASSERT_NE(NULL, fence);
	EXPECT_EQ(NULL, submit_store(&self->b, self->store, other, 2, 20, &fence, 1));
	EXPECT_EQ(-EBUSY, salvo_queue_submit(other, self->b.batch, &fence, 1, NULL));
	EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), "waits[0]"));
	ASSERT_EQ(0, submit_captured(self, NULL));
	next = submit_store(&self->b, self->store, other, 2, 20, &fence, 1);
	ASSERT_NE(NULL, next);
	EXPECT_EQ(0, salvo_fence_wait(next, 20 * SECOND_NS));
	EXPECT_EQ(10, self->b.map[1]);
	EXPECT_EQ(20, self->b.map[2]);
	salvo_fence_destroy(fence);
	salvo_fence_destroy(next);
	salvo_queue_destroy(other);
}

TEST_F(capture, fences_of_others_are_refused_unless_they_are_done)
{
	struct salvo_fence *fence, *captured;
	struct salvo_queue *other;

	ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &other));
	fence = submit_gate(&self->b, other, 4, 5);
	ASSERT_NE(NULL, fence);
	EXPECT_EQ(NULL, submit_store(&self->b, self->store, self->b.queue, 1, 10, &fence, 1));
	EXPECT_EQ(0, salvo_batch_count(self->into));
	open_gate(&self->b, 4);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	captured = submit_store(&self->b, self->store, self->b.queue, 1, 10, &fence, 1);
	EXPECT_NE(NULL, captured);
	salvo_fence_destroy(fence);
	salvo_fence_destroy(captured);
	salvo_queue_destroy(other);
}

TEST_F(capture, a_batch_that_is_never_submitted_cancels_its_fences)
{
	struct salvo_fence *first, *second;
	struct salvo_error error;
	struct pollfd fd;

	first = submit_store(&self->b, self->store, self->b.queue, 1, 10, NULL, 0);
	salvo_batch_reset(self->into);
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(first, -1));
	EXPECT_EQ(0, salvo_fence_get_error(first, &error));
	EXPECT_EQ(-ECANCELED, error.error);
	EXPECT_EQ(SALVO_ERROR_NONE, error.kind);
	ASSERT_EQ(0, salvo_fence_get_fd(first, &fd.fd));
	fd.events = POLLIN;
	EXPECT_EQ(1, poll(&fd, 1, 0));
	close(fd.fd);
	second = submit_store(&self->b, self->store, self->b.queue, 1, 10, NULL, 0);
	salvo_queue_capture(self->b.queue, NULL);
	salvo_batch_destroy(self->into);
	self->into = NULL;
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(second, -1));
	salvo_fence_destroy(first);
	salvo_fence_destroy(second);
}

TEST_F(capture, errors_count_commands_of_the_captured_batch)
{
	struct salvo_fence *first, *second;
	struct salvo_error error;
	const uint32_t one = 1;

	first = submit_store(&self->b, self->store, self->b.queue, 1, 10, NULL, 0);
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, bench_store(&self->b, self->store, 2, 20));
	salvo_kernel_set_bo(self->wild, 0, NULL, 0);
	salvo_kernel_set_grid(self->wild, 1, &one, NULL);
	ASSERT_EQ(1, salvo_batch_dispatch(self->b.batch, self->wild));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &second));
	ASSERT_EQ(0, submit_captured(self, NULL));
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(second, 20 * SECOND_NS));
	EXPECT_EQ(0, salvo_fence_get_error(second, &error));
	EXPECT_EQ(1, error.command);
	EXPECT_EQ(2, error.count);
	EXPECT_STREQ("wild", error.kernel);
	EXPECT_EQ(SALVO_ERROR_PAGE, error.kind);
	EXPECT_EQ(0, salvo_fence_get_error(first, &error));
	EXPECT_EQ(~0u, error.command);
	salvo_fence_destroy(first);
	salvo_fence_destroy(second);
}

static void *wait_for_it(void *data)
{
	return (void *)(intptr_t)salvo_fence_wait(data, 20 * SECOND_NS);
}

TEST_F(capture, a_thread_sleeps_until_the_submission)
{
	struct salvo_fence *fence;
	pthread_t thread;
	void *result;

	fence = submit_store(&self->b, self->store, self->b.queue, 1, 10, NULL, 0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_it, fence));
	usleep(20000);
	ASSERT_EQ(0, submit_captured(self, NULL));
	pthread_join(thread, &result);
	EXPECT_EQ(NULL, result);
	EXPECT_EQ(10, self->b.map[1]);
	salvo_fence_destroy(fence);
}

TEST_HARNESS_MAIN
