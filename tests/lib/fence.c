// SPDX-License-Identifier: MIT
/* fence.c - every way to wait for batches and to read their status */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "kselftest_harness.h"
#include "lib_test.h"

#define QUEUES 3

FIXTURE(fence) {
	struct bench b;
	struct salvo_kernel *store;
	struct salvo_queue *queues[QUEUES];
	bool soft;
};

FIXTURE_SETUP(fence)
{
	int i;

	ASSERT_EQ(0, bench_open(&self->b));
	self->store = bench_kernel(&self->b, "store");
	ASSERT_NE(NULL, self->store);
	for (i = 0; i < QUEUES; i++)
		ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &self->queues[i]));
	self->soft = !strcmp(self->b.info.name, "soft");
}

FIXTURE_TEARDOWN(fence)
{
	int i;

	for (i = 0; i < QUEUES; i++)
		salvo_queue_destroy(self->queues[i]);
	salvo_kernel_destroy(self->store);
	bench_close(&self->b);
}

/* One dispatch that touches address 0 between two that store. */
static struct salvo_fence *submit_wild(struct bench *b, struct salvo_kernel *store,
				       struct salvo_queue *queue)
{
	struct salvo_kernel *wild = bench_kernel(b, "wild");
	struct salvo_fence *fence = NULL;
	const uint32_t items[2] = { 40, 3 }, group[2] = { 8, 1 };

	salvo_batch_reset(b->batch);
	bench_store(b, store, 9, 1);
	salvo_kernel_set_bo(wild, 0, NULL, 0);
	salvo_kernel_set_grid(wild, 2, items, group);
	salvo_batch_dispatch(b->batch, wild);
	bench_store(b, store, 10, 1);
	salvo_batch_pipe_control(b->batch, 1, 0);
	salvo_batch_pipe_control(b->batch, 2, 1);
	if (salvo_queue_submit(queue, b->batch, NULL, 0, &fence))
		fence = NULL;
	salvo_kernel_destroy(wild);
	return fence;
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, timeout_ms) == 1 && poll_fd.revents & POLLIN;
}

TEST_F(fence, wait_any_and_all)
{
	struct salvo_fence *fences[QUEUES];
	unsigned int index = 99;
	int i;

	/* The first one is submitted last: fences retire in the order of the ring. */
	for (i = QUEUES; i--; ) {
		fences[i] = submit_gate(&self->b, self->queues[i], i, 8 + i);
		ASSERT_NE(NULL, fences[i]);
		/* There may be only two units: do not keep all of them busy. */
		if (i)
			open_gate(&self->b, i);
	}
	EXPECT_EQ(0, salvo_fence_wait_any(fences, QUEUES, 20 * SECOND_NS, &index));
	EXPECT_NE(0, index);
	EXPECT_GT(QUEUES, index);
	EXPECT_EQ(0, salvo_fence_wait_all(fences + 1, QUEUES - 1, 20 * SECOND_NS));
	EXPECT_EQ(-ETIME, salvo_fence_wait_any(fences, 1, 0, &index));
	EXPECT_EQ(-ETIME, salvo_fence_wait_any(fences, 1, SECOND_NS / 50, NULL));
	EXPECT_EQ(-ETIME, salvo_fence_wait_all(fences, QUEUES, 0));
	EXPECT_EQ(-ETIME, salvo_fence_wait_all(fences, QUEUES, SECOND_NS / 50));
	EXPECT_EQ(0, salvo_fence_wait_any(fences, QUEUES, 0, &index));
	EXPECT_EQ(1, index);
	open_gate(&self->b, 0);
	EXPECT_EQ(0, salvo_fence_wait_any(fences, 1, 20 * SECOND_NS, &index));
	EXPECT_EQ(0, index);
	EXPECT_EQ(0, salvo_fence_wait_all(fences, QUEUES, -1));
	for (i = 0; i < QUEUES; i++)
		salvo_fence_destroy(fences[i]);
}

TEST_F(fence, wrong_sets)
{
	struct salvo_fence *fences[2] = { NULL, NULL };
	unsigned int index;

	EXPECT_EQ(-EINVAL, salvo_fence_wait_any(NULL, 1, 0, &index));
	EXPECT_EQ(-EINVAL, salvo_fence_wait_any(fences, 0, 0, &index));
	EXPECT_EQ(-EINVAL, salvo_fence_wait_any(fences, 2, 0, &index));
	EXPECT_EQ(-EINVAL, salvo_fence_wait_all(fences, 2, 0));
	EXPECT_EQ(-EINVAL, salvo_fence_wait_all(NULL, 2, 0));
}

struct opener {
	struct bench *b;
	uint32_t gate;
	unsigned int delay_us;
};

static void *open_later(void *cookie)
{
	const struct opener *opener = cookie;

	usleep(opener->delay_us);
	open_gate(opener->b, opener->gate);
	return NULL;
}

static int64_t thread_cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ll +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* Every kind of wait sleeps during the 300 ms that a batch takes. */
TEST_F(fence, waiting_takes_no_processor)
{
	struct salvo_fence *fence;
	unsigned int way, index;
	pthread_t thread;
	int64_t cpu;

	for (way = 0; way < 4; way++) {
		struct opener opener = { &self->b, way, 300000 };

		fence = submit_gate(&self->b, self->queues[0], way, 8);
		ASSERT_NE(NULL, fence);
		ASSERT_EQ(0, pthread_create(&thread, NULL, open_later, &opener));
		cpu = thread_cpu_us();
		switch (way) {
		case 0:
			EXPECT_EQ(0, salvo_fence_wait(fence, -1));
			break;
		case 1:
			EXPECT_EQ(0, salvo_fence_wait_any(&fence, 1, -1, &index));
			break;
		case 2:
			EXPECT_EQ(0, salvo_fence_wait_all(&fence, 1, 20 * SECOND_NS));
			break;
		case 3:
			EXPECT_EQ(0, salvo_queue_wait(self->queues[0], 0, -1));
			break;
		}
		EXPECT_GT(100000, thread_cpu_us() - cpu);
		pthread_join(thread, NULL);
		salvo_fence_destroy(fence);
	}
}

/* Number of voluntary context switches of this thread */
static long sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

TEST_F(fence, polling_is_for_those_who_ask_for_it)
{
	struct opener opener = { &self->b, 0, 200000 };
	struct salvo_fence *fence;
	pthread_t thread;
	long before;

	salvo_device_set_polling(self->b.device, -1);
	fence = submit_gate(&self->b, self->queues[0], 0, 8);
	ASSERT_NE(NULL, fence);
	ASSERT_EQ(0, pthread_create(&thread, NULL, open_later, &opener));
	before = sleeps();
	EXPECT_EQ(0, salvo_fence_wait(fence, -1));
	EXPECT_EQ(before, sleeps());
	pthread_join(thread, NULL);
	salvo_fence_destroy(fence);

	salvo_device_set_polling(self->b.device, 0);
	opener.gate = 1;
	fence = submit_gate(&self->b, self->queues[0], 1, 8);
	ASSERT_NE(NULL, fence);
	ASSERT_EQ(0, pthread_create(&thread, NULL, open_later, &opener));
	before = sleeps();
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	EXPECT_LT(before, sleeps());
	pthread_join(thread, NULL);
	salvo_fence_destroy(fence);
}

/*
 * It never leaves its core to the unit there. The kernel gives that a twentieth of each second, so
 * that a wait for it takes one: some six in this test.
 */
TEST_F(fence, a_real_time_thread_may_poll_to_the_end)
{
	const struct sched_param real_time = { 1 }, other = { 0 };
	const time_t start = time(NULL);
	struct salvo_fence *fence;
	unsigned int i;

	if (!self->soft || sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "not the embedded GPU, or a single core");
	if (sched_setscheduler(0, SCHED_FIFO, &real_time))
		SKIP(return, "no permission for a real-time priority");
	salvo_device_set_polling(self->b.device, -1);
	for (i = 0; i < 60; i++) {
		usleep(2000);
		salvo_batch_reset(self->b.batch);
		bench_store(&self->b, self->store, 9, 1);
		ASSERT_EQ(0, salvo_queue_submit(self->queues[0], self->b.batch, NULL, 0, &fence));
		EXPECT_EQ(0, salvo_fence_wait(fence, -1));
		salvo_fence_destroy(fence);
	}
	sched_setscheduler(0, SCHED_OTHER, &other);
	EXPECT_GT(start + 4, time(NULL));
}

TEST_F(fence, timeline)
{
	struct salvo_queue *queue = self->queues[0];
	struct salvo_fence *fence, *gate;
	int i;

	EXPECT_EQ(0, salvo_queue_submitted(queue));
	EXPECT_EQ(0, salvo_queue_completed(queue));
	EXPECT_EQ(0, salvo_queue_wait(queue, 0, 0));
	EXPECT_EQ(-EINVAL, salvo_queue_wait(queue, 1, 0));
	for (i = 1; i <= 40; i++) {
		fence = submit_store(&self->b, self->store, queue, 0, i, NULL, 0);
		ASSERT_NE(NULL, fence);
		EXPECT_EQ(i, salvo_fence_value(fence));
		salvo_fence_destroy(fence);
		EXPECT_EQ(i, salvo_queue_submitted(queue));
	}
	EXPECT_EQ(0, salvo_queue_wait(queue, 17, 20 * SECOND_NS));
	EXPECT_LE(17, salvo_queue_completed(queue));
	EXPECT_EQ(0, salvo_queue_wait(queue, 0, 20 * SECOND_NS));
	EXPECT_EQ(40, salvo_queue_completed(queue));
	EXPECT_EQ(40, self->b.map[0]);
	EXPECT_EQ(0, salvo_queue_wait(queue, 1, 0));

	gate = submit_gate(&self->b, queue, 4, 5);
	ASSERT_NE(NULL, gate);
	fence = submit_store(&self->b, self->store, queue, 0, 1, NULL, 0);
	EXPECT_EQ(40, salvo_queue_completed(queue));
	EXPECT_EQ(-ETIME, salvo_queue_wait(queue, 41, 0));
	EXPECT_EQ(-ETIME, salvo_queue_wait(queue, 42, SECOND_NS / 50));
	EXPECT_EQ(0, salvo_queue_wait(queue, 40, 0));
	open_gate(&self->b, 4);
	EXPECT_EQ(0, salvo_queue_wait(queue, 42, 20 * SECOND_NS));
	EXPECT_EQ(42, salvo_queue_completed(queue));
	salvo_fence_destroy(gate);
	salvo_fence_destroy(fence);
}

TEST_F(fence, priorities)
{
	static const int priorities[] = { SALVO_QUEUE_LOW, SALVO_QUEUE_NORMAL, SALVO_QUEUE_HIGH };
	struct salvo_fence *fence;
	struct salvo_queue *queue;
	int i;

	EXPECT_EQ(-EINVAL, salvo_queue_create_priority(self->b.device, 0, -2, &queue));
	EXPECT_EQ(-EINVAL, salvo_queue_create_priority(self->b.device, 0, 2, &queue));
	EXPECT_EQ(NULL, queue);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, salvo_queue_create_priority(self->b.device, 0, priorities[i], &queue));
		fence = submit_store(&self->b, self->store, queue, i, 5, NULL, 0);
		ASSERT_NE(NULL, fence);
		EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
		EXPECT_EQ(5, self->b.map[i]);
		salvo_fence_destroy(fence);
		salvo_queue_destroy(queue);
	}
}

/* Fences signal in the order of their ring, and high priority has its own ring. */
TEST_F(fence, high_priority_waits_for_no_fences_of_others)
{
	struct salvo_fence *gate, *behind, *high[2];
	struct salvo_queue *queue;
	int i;

	ASSERT_EQ(0, salvo_queue_create_priority(self->b.device, 0, SALVO_QUEUE_HIGH, &queue));
	gate = submit_gate(&self->b, self->queues[0], 4, 5);
	ASSERT_NE(NULL, gate);
	/*
	 * More than the GPU fetches from a ring at once; the driver's timeout limits the gate's
	 * time.
	 */
	for (i = 0; i < (self->soft ? 150 : 3); i++) {
		behind = submit_store(&self->b, self->store, self->queues[1], 0, 1, NULL, 0);
		ASSERT_NE(NULL, behind);
		salvo_fence_destroy(behind);
	}
	behind = submit_store(&self->b, self->store, self->queues[1], 0, 1, NULL, 0);
	ASSERT_NE(NULL, behind);
	for (i = 0; i < 2; i++) {
		high[i] = submit_store(&self->b, self->store, queue, 1 + i, 2 + i, NULL, 0);
		ASSERT_NE(NULL, high[i]);
		EXPECT_EQ(0, salvo_fence_wait(high[i], 20 * SECOND_NS));
		EXPECT_EQ(2 + i, self->b.map[1 + i]);
		salvo_fence_destroy(high[i]);
	}
	EXPECT_EQ(-ETIME, salvo_fence_wait(behind, 0));
	/* A batch that waits for one on another ring runs after it. */
	high[0] = submit_store(&self->b, self->store, queue, 0, 4, &behind, 1);
	ASSERT_NE(NULL, high[0]);
	EXPECT_EQ(-ETIME, salvo_fence_wait(high[0], SECOND_NS / 50));
	open_gate(&self->b, 4);
	EXPECT_EQ(0, salvo_fence_wait(high[0], 20 * SECOND_NS));
	EXPECT_EQ(4, self->b.map[0]);
	salvo_fence_destroy(high[0]);
	salvo_fence_destroy(behind);
	salvo_fence_destroy(gate);
	salvo_queue_destroy(queue);
}

TEST_F(fence, file_descriptors)
{
	struct salvo_fence *gate, *second;
	int early, late, other;

	second = submit_store(&self->b, self->store, self->queues[1], 2, 7, NULL, 0);
	ASSERT_NE(NULL, second);
	gate = submit_gate(&self->b, self->queues[0], 0, 1);
	ASSERT_NE(NULL, gate);
	ASSERT_EQ(0, salvo_fence_get_fd(gate, &early));
	ASSERT_EQ(0, salvo_fence_get_fd(gate, &other));
	EXPECT_NE(early, other);
	EXPECT_FALSE(is_readable(early, 20));
	/* The file descriptor outlives the fence. */
	salvo_fence_destroy(gate);
	EXPECT_EQ(0, salvo_fence_wait(second, 20 * SECOND_NS));
	ASSERT_EQ(0, salvo_fence_get_fd(second, &late));
	EXPECT_TRUE(is_readable(late, 0));
	EXPECT_FALSE(is_readable(early, 0));
	open_gate(&self->b, 0);
	EXPECT_TRUE(is_readable(early, 20000));
	EXPECT_TRUE(is_readable(other, 0));
	EXPECT_TRUE(is_readable(early, 0));
	salvo_fence_destroy(second);
	close(early);
	close(other);
	close(late);
}

TEST_F(fence, many_file_descriptors_race_with_completion)
{
	struct salvo_fence *fence;
	int i, fd;

	for (i = 0; i < 300; i++) {
		fence = submit_store(&self->b, self->store, self->queues[0], 0, i, NULL, 0);
		ASSERT_NE(NULL, fence);
		ASSERT_EQ(0, salvo_fence_get_fd(fence, &fd));
		salvo_fence_destroy(fence);
		ASSERT_TRUE(is_readable(fd, 20000));
		close(fd);
	}
}

TEST_F(fence, a_batch_waits_for_an_imported_file_descriptor)
{
	struct salvo_fence *gate, *imported, *held;
	int fd;

	gate = submit_gate(&self->b, self->queues[0], 0, 1);
	ASSERT_NE(NULL, gate);
	ASSERT_EQ(0, salvo_fence_get_fd(gate, &fd));
	EXPECT_EQ(-EBADF, salvo_fence_import_fd(self->b.device, -1, &imported));
	EXPECT_EQ(NULL, imported);
	ASSERT_EQ(0, salvo_fence_import_fd(self->b.device, fd, &imported));
	close(fd);
	EXPECT_EQ(0, salvo_fence_value(imported));
	EXPECT_EQ(-ETIME, salvo_fence_wait(imported, 0));
	held = submit_store(&self->b, self->store, self->queues[1], 2, 7, &imported, 1);
	ASSERT_NE(NULL, held);
	EXPECT_EQ(-ETIME, salvo_fence_wait(held, SECOND_NS / 50));
	open_gate(&self->b, 0);
	EXPECT_EQ(0, salvo_fence_wait(held, 20 * SECOND_NS));
	EXPECT_EQ(0, salvo_fence_wait(imported, 20 * SECOND_NS));
	EXPECT_EQ(7, self->b.map[2]);
	salvo_fence_destroy(gate);
	salvo_fence_destroy(imported);
	salvo_fence_destroy(held);
}

TEST_F(fence, an_imported_fence_may_be_left_behind)
{
	struct salvo_fence *imported, *held;
	int fd;

	if (!self->soft)
		SKIP(return, "the driver takes sync_files only, and these end by themselves");
	fd = eventfd(0, EFD_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, salvo_fence_import_fd(self->b.device, fd, &imported));
	held = submit_store(&self->b, self->store, self->queues[1], 2, 7, &imported, 1);
	ASSERT_NE(NULL, held);
	salvo_fence_destroy(held);
	salvo_fence_destroy(imported);
	close(fd);
	/* The device is closed with all of them in flight. */
}

struct called {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int count;
	int error;
	struct bench *b;
	struct salvo_batch *batch;
	struct salvo_queue *queue;
	int rounds;
};

static void count_call(void *data, int error)
{
	struct called *called = data;

	pthread_mutex_lock(&called->lock);
	called->count++;
	called->error = error;
	pthread_cond_signal(&called->cond);
	pthread_mutex_unlock(&called->lock);
}

static void await_calls(struct called *called, int count)
{
	pthread_mutex_lock(&called->lock);
	while (called->count < count)
		pthread_cond_wait(&called->cond, &called->lock);
	pthread_mutex_unlock(&called->lock);
}

#define CALLED { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER }

TEST_F(fence, callbacks)
{
	struct called called = CALLED;
	struct salvo_fence *fence;
	int i;

	fence = submit_gate(&self->b, self->queues[0], 0, 1);
	ASSERT_NE(NULL, fence);
	EXPECT_EQ(-EINVAL, salvo_fence_set_callback(fence, NULL, NULL));
	ASSERT_EQ(0, salvo_fence_set_callback(fence, count_call, &called));
	salvo_fence_destroy(fence);
	usleep(20000);
	EXPECT_EQ(0, called.count);
	open_gate(&self->b, 0);
	await_calls(&called, 1);
	for (i = 0; i < 50; i++) {
		fence = submit_store(&self->b, self->store, self->queues[i % QUEUES], 1, 1, NULL,
				     0);
		ASSERT_NE(NULL, fence);
		ASSERT_EQ(0, salvo_fence_set_callback(fence, count_call, &called));
		salvo_fence_destroy(fence);
	}
	await_calls(&called, 51);
	EXPECT_EQ(0, called.error);
	EXPECT_EQ(51, called.count);
}

/* Each completion submits the next batch. */
static void submit_next(void *data, int error)
{
	struct called *called = data;
	struct salvo_fence *fence;

	if (!error && called->rounds-- > 0 &&
	    !salvo_queue_submit(called->queue, called->batch, NULL, 0, &fence)) {
		salvo_fence_set_callback(fence, submit_next, called);
		salvo_fence_destroy(fence);
		return;
	}
	count_call(called, error);
}

TEST_F(fence, callbacks_may_submit)
{
	struct called called = CALLED;
	const uint32_t items = 4, value = 1;
	struct salvo_kernel *add = bench_kernel(&self->b, "add");

	salvo_kernel_set_bo(add, 0, self->b.bo, 0);
	salvo_kernel_set_value(add, 1, &value, sizeof(value));
	salvo_kernel_set_grid(add, 1, &items, NULL);
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, add));
	called.batch = self->b.batch;
	called.queue = self->queues[0];
	called.rounds = 100;
	submit_next(&called, 0);
	await_calls(&called, 1);
	EXPECT_EQ(0, called.error);
	EXPECT_EQ(100, self->b.map[3]);
	salvo_kernel_destroy(add);
}

/* Waits for a batch that waits for a file descriptor, then destroys all objects involved. */
static void wait_and_destroy(void *data, int error)
{
	const int64_t second = 1000000000;
	struct called *called = data;
	struct salvo_fence *file, *fence;
	int fd = eventfd(1, EFD_CLOEXEC);

	if (!error)
		error = salvo_fence_import_fd(called->b->device, fd, &file);
	close(fd);
	if (!error) {
		error = salvo_queue_submit(called->queue, called->batch, &file, 1, &fence);
		salvo_fence_destroy(file);
	}
	if (!error) {
		error = salvo_fence_wait(fence, 10 * second);
		salvo_fence_destroy(fence);
	}
	salvo_batch_destroy(called->batch);
	salvo_queue_destroy(called->queue);
	count_call(called, error);
}

TEST_F(fence, callbacks_may_wait_and_destroy)
{
	struct called called = CALLED;
	struct salvo_fence *fence;
	int round;

	if (!self->soft)
		SKIP(return, "the driver takes sync_files only, and these end by themselves");
	called.b = &self->b;
	for (round = 0; round < 20; round++) {
		ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &called.queue));
		ASSERT_EQ(0, salvo_batch_create(self->b.device, &called.batch));
		ASSERT_EQ(0, salvo_batch_fill(called.batch, self->b.bo, 0, 4, round));
		ASSERT_EQ(0, salvo_queue_submit(called.queue, called.batch, NULL, 0, &fence));
		ASSERT_EQ(0, salvo_fence_set_callback(fence, wait_and_destroy, &called));
		salvo_fence_destroy(fence);
		await_calls(&called, round + 1);
		ASSERT_EQ(0, called.error);
		ASSERT_EQ(round, self->b.map[0]);
	}
}

TEST_F(fence, callbacks_that_are_left_are_called_when_the_device_is_closed)
{
	struct called called = CALLED;
	struct salvo_device *device;
	struct salvo_fence *fence;
	int fd;

	if (!self->soft)
		SKIP(return, "the driver takes sync_files only, and these end by themselves");
	ASSERT_EQ(0, open_device(&device));
	fd = eventfd(0, EFD_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, salvo_fence_import_fd(device, fd, &fence));
	ASSERT_EQ(0, salvo_fence_set_callback(fence, count_call, &called));
	salvo_fence_destroy(fence);
	salvo_device_close(device);
	EXPECT_EQ(1, called.count);
	EXPECT_EQ(-ENODEV, called.error);
	close(fd);
}

TEST_F(fence, errors_say_which_dispatch_where_and_why)
{
	struct salvo_fence *gate, *bad, *behind, *good;
	struct salvo_error error;

	gate = submit_gate(&self->b, self->queues[0], 0, 1);
	bad = submit_wild(&self->b, self->store, self->queues[0]);
	ASSERT_NE(NULL, bad);
	behind = submit_store(&self->b, self->store, self->queues[0], 2, 7, NULL, 0);
	good = submit_store(&self->b, self->store, self->queues[1], 3, 8, NULL, 0);
	ASSERT_NE(NULL, gate);
	ASSERT_NE(NULL, behind);
	ASSERT_NE(NULL, good);
	EXPECT_EQ(-EBUSY, salvo_fence_get_error(bad, &error));
	/* The error report describes the batch even after that was reset. */
	salvo_batch_reset(self->b.batch);
	open_gate(&self->b, 0);
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(bad, 20 * SECOND_NS));
	ASSERT_EQ(0, salvo_fence_get_error(bad, &error));
	EXPECT_EQ(-ECANCELED, error.error);
	EXPECT_EQ(SALVO_ERROR_PAGE, error.kind);
	EXPECT_EQ(1, error.command);
	EXPECT_STREQ("wild", error.kernel);
	EXPECT_EQ(1, error.done);
	EXPECT_EQ(5, error.count);
	EXPECT_EQ(SALVO_ERROR_WRITE, error.access);
	EXPECT_GT(4096, error.address);
	EXPECT_GT(15, error.group);
	EXPECT_EQ(error.group % 5, error.group_id[0]);
	EXPECT_EQ(error.group / 5, error.group_id[1]);
	EXPECT_EQ(0, error.group_id[2]);
	EXPECT_NE(NULL, salvo_error_name(error.kind));

	EXPECT_EQ(-ECANCELED, salvo_fence_wait(behind, 20 * SECOND_NS));
	ASSERT_EQ(0, salvo_fence_get_error(behind, &error));
	EXPECT_EQ(-ECANCELED, error.error);
	EXPECT_EQ(SALVO_ERROR_NONE, error.kind);
	EXPECT_EQ(1, error.count);
	EXPECT_EQ(0, salvo_fence_wait(good, 20 * SECOND_NS));
	ASSERT_EQ(0, salvo_fence_get_error(good, &error));
	EXPECT_EQ(0, error.error);
	EXPECT_EQ(1, error.done);
	EXPECT_EQ(~0u, error.command);
	EXPECT_EQ(NULL, error.kernel);
	salvo_fence_destroy(gate);
	salvo_fence_destroy(bad);
	salvo_fence_destroy(behind);
	salvo_fence_destroy(good);
	EXPECT_STRNE("", salvo_error_name(SALVO_ERROR_HANG));
	EXPECT_STRNE("", salvo_error_name(12345));
}

struct waiter {
	pthread_t thread;
	struct bench *b;
	struct salvo_fence *fence;
	struct salvo_queue *queue;
	unsigned int number;
	int failed;
};

/* Waits for a fence in one of the ways, then submits batches to its own queue. */
static void *wait_and_submit(void *cookie)
{
	struct waiter *w = cookie;
	struct bench own = *w->b;
	struct salvo_kernel *store;
	struct salvo_fence *fence;
	unsigned int index, i;
	int fd = -1;

	switch (w->number % 4) {
	case 0:
		w->failed |= salvo_fence_wait(w->fence, 20 * SECOND_NS);
		break;
	case 1:
		w->failed |= salvo_fence_wait_any(&w->fence, 1, 20 * SECOND_NS, &index);
		break;
	case 2:
		w->failed |= salvo_fence_wait_all(&w->fence, 1, 20 * SECOND_NS);
		break;
	case 3:
		w->failed |= salvo_fence_get_fd(w->fence, &fd) || !is_readable(fd, 20000);
		close(fd);
		break;
	}
	if (salvo_batch_create(own.device, &own.batch))
		w->failed = 1;
	store = bench_kernel(&own, "store");
	for (i = 0; i < 50 && !w->failed; i++) {
		fence = submit_store(&own, store, w->queue, 100 + w->number, i, NULL, 0);
		w->failed |= !fence || salvo_fence_wait(fence, 20 * SECOND_NS);
		salvo_fence_destroy(fence);
	}
	salvo_kernel_destroy(store);
	salvo_batch_destroy(own.batch);
	return NULL;
}

TEST_F(fence, one_fence_and_many_threads)
{
	enum { COUNT = 8 };
	struct waiter waiters[COUNT] = { 0 };
	struct salvo_fence *gate;
	int i;

	gate = submit_gate(&self->b, self->queues[0], 0, 1);
	ASSERT_NE(NULL, gate);
	for (i = 0; i < COUNT; i++) {
		waiters[i].b = &self->b;
		waiters[i].fence = gate;
		waiters[i].number = i;
		ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &waiters[i].queue));
		ASSERT_EQ(0, pthread_create(&waiters[i].thread, NULL, wait_and_submit,
					    &waiters[i]));
	}
	usleep(20000);
	open_gate(&self->b, 0);
	for (i = 0; i < COUNT; i++) {
		pthread_join(waiters[i].thread, NULL);
		EXPECT_EQ(0, waiters[i].failed);
		EXPECT_EQ(49, self->b.map[100 + i]);
		salvo_queue_destroy(waiters[i].queue);
	}
	salvo_fence_destroy(gate);
}

/* Every object that a batch in flight uses is destroyed; only the device remains. */
TEST_F(fence, destroying_what_is_in_flight)
{
	const uint32_t one = 1, value = 5;
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	struct salvo_batch *batch;
	struct salvo_queue *queue;
	struct salvo_fence *fence;
	struct salvo_bo *bo;
	int i, fd;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, salvo_program_load_file(self->b.device, kernel_path("lib.salvo"), &program));
		ASSERT_EQ(0, salvo_kernel_create(program, "wait_for_host", &kernel));
		ASSERT_EQ(0, salvo_bo_create(self->b.device, 4096, 0, &bo));
		ASSERT_EQ(0, salvo_batch_create(self->b.device, &batch));
		ASSERT_EQ(0, salvo_queue_create(self->b.device, 0, &queue));
		ASSERT_EQ(0, salvo_batch_enable_profile(batch));
		salvo_kernel_set_bo(kernel, 0, self->b.bo, i * 4);
		salvo_kernel_set_bo(kernel, 1, bo, 0);
		salvo_kernel_set_value(kernel, 2, &value, sizeof(value));
		salvo_kernel_set_grid(kernel, 1, &one, NULL);
		ASSERT_EQ(0, salvo_batch_dispatch(batch, kernel));
		ASSERT_EQ(0, salvo_queue_submit(queue, batch, NULL, 0, &fence));
		ASSERT_EQ(0, salvo_queue_submit(queue, batch, &fence, 1, NULL));
		ASSERT_EQ(0, salvo_fence_get_fd(fence, &fd));
		salvo_batch_destroy(batch);
		salvo_bo_destroy(bo);
		salvo_kernel_destroy(kernel);
		salvo_program_destroy(program);
		salvo_queue_destroy(queue);
		salvo_fence_destroy(fence);
		open_gate(&self->b, i);
		EXPECT_TRUE(is_readable(fd, 20000));
		close(fd);
	}
}

TEST_HARNESS_MAIN
