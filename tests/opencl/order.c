// SPDX-License-Identifier: MIT
/*
 * order.c - random fills, copies, reads and writes give what one after the other would give
 *
 * In an in-order queue without events; in out-of-order queues, and across several queues, with
 * events between the commands that access the same buffer. Some wait for a user event that the test
 * completes later, by another thread or after some more commands.
 */
#include "ocl.h"
#include <pthread.h>
#include "kselftest_harness.h"

#define BUFFERS		6
#define WORDS		256
#define COMMANDS	300
#define QUEUES		3

FIXTURE(order) {
	cl_context context;
	cl_command_queue queues[QUEUES];
	cl_mem buffers[BUFFERS];
	cl_uint model[BUFFERS][WORDS];
	/* The last writer of each buffer and the readers since, as indices of @events */
	int writer[BUFFERS];
	int readers[BUFFERS][COMMANDS];
	int reader_count[BUFFERS];
	cl_event events[COMMANDS];
	unsigned int seed;
};

FIXTURE_VARIANT(order) {
	cl_command_queue_properties properties;
	unsigned int queues;
};

FIXTURE_VARIANT_ADD(order, in_order) { .queues = 1 };
FIXTURE_VARIANT_ADD(order, in_order_profiled) {
	.properties = CL_QUEUE_PROFILING_ENABLE, .queues = 1,
};
FIXTURE_VARIANT_ADD(order, out_of_order) {
	.properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, .queues = 1,
};
FIXTURE_VARIANT_ADD(order, in_order_queues) { .queues = QUEUES };
FIXTURE_VARIANT_ADD(order, out_of_order_queues) {
	.properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, .queues = QUEUES,
};

/* What fails shows itself by its results, too; this says why. */
static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	(void)data;
	printf("# %s\n", text);
}

FIXTURE_SETUP(order)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, variant->properties, 0 };
	cl_device_id device = ocl_device();
	const char *seed = getenv("SEED");
	unsigned int i;
	cl_int err;

	ASSERT_NE(NULL, device);
	self->seed = seed ? atoi(seed) : 1;
	self->context = clCreateContext(NULL, 1, &device, tell, NULL, &err);
	ASSERT_EQ(0, err);
	for (i = 0; i < variant->queues; i++) {
		self->queues[i] = clCreateCommandQueueWithProperties(self->context, device,
								     properties, &err);
		ASSERT_EQ(0, err);
	}
}

FIXTURE_TEARDOWN(order)
{
	unsigned int i;

	for (i = 0; i < variant->queues; i++)
		EXPECT_EQ(0, clReleaseCommandQueue(self->queues[i]));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static unsigned int pick(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % below;
}

/* What command @n must wait for, if it reads @from and writes @to; -1: none. */
static cl_uint gather(FIXTURE_DATA(order) *self, int from, int to, cl_event *waits)
{
	cl_uint count = 0;
	int i;

	if (from >= 0 && self->writer[from] >= 0)
		waits[count++] = self->events[self->writer[from]];
	if (to >= 0 && self->writer[to] >= 0)
		waits[count++] = self->events[self->writer[to]];
	for (i = 0; to >= 0 && i < self->reader_count[to]; i++)
		waits[count++] = self->events[self->readers[to][i]];
	return count;
}

static void account(FIXTURE_DATA(order) *self, int n, int from, int to)
{
	if (from >= 0)
		self->readers[from][self->reader_count[from]++] = n;
	if (to >= 0) {
		self->writer[to] = n;
		self->reader_count[to] = 0;
	}
}

static void *complete_later(void *data)
{
	usleep(2000);
	clSetUserEventStatus(data, CL_COMPLETE);
	return NULL;
}

/* Reads in flight, with what they must give. */
struct read {
	cl_uint got[WORDS];
	cl_uint want[WORDS];
};

static cl_int enqueue(FIXTURE_DATA(order) *self, cl_command_queue queue, unsigned int kind,
		      int from, int to, struct read *read, cl_uint count, const cl_event *waits,
		      cl_event *event)
{
	const size_t at = pick(&self->seed, WORDS), n = 1 + pick(&self->seed, WORDS - at);
	cl_uint value = pick(&self->seed, 1 << 15), data[WORDS];
	size_t i, src = pick(&self->seed, WORDS - n + 1);

	switch (kind) {
	case 0:
		for (i = 0; i < n; i++)
			self->model[to][at + i] = value;
		return clEnqueueFillBuffer(queue, self->buffers[to], &value, 4, at * 4, n * 4,
					   count, waits, event);
	case 1:
		memmove(&self->model[to][at], &self->model[from][src], n * 4);
		return clEnqueueCopyBuffer(queue, self->buffers[from], self->buffers[to], src * 4,
					   at * 4, n * 4, count, waits, event);
	case 2:
		memcpy(read->want, self->model[from], sizeof(read->want));
		return clEnqueueReadBuffer(queue, self->buffers[from], value % 4 == 0, 0,
					   sizeof(read->got), read->got, count, waits, event);
	default:
		for (i = 0; i < n; i++) {
			data[i] = value + i;
			self->model[to][at + i] = data[i];
		}
		return clEnqueueWriteBuffer(queue, self->buffers[to], CL_TRUE, at * 4, n * 4, data,
					    count, waits, event);
	}
}

static int run(FIXTURE_DATA(order) *self, unsigned int queues, bool use_events)
{
	static struct read reads[COMMANDS];
	cl_event waits[COMMANDS * 2 + 1], user = NULL;
	cl_uint count, n, b;
	pthread_t thread;
	bool running = false;
	int bad = 0;

	memset(reads, 0, sizeof(reads));
	for (n = 0; n < COMMANDS; n++) {
		const unsigned int kind = pick(&self->seed, 4);
		const int from = pick(&self->seed, BUFFERS);
		const int to = (from + 1 + pick(&self->seed, BUFFERS - 1)) % BUFFERS;
		const int reads_from = kind == 1 || kind == 2 ? from : -1;
		const int writes_to = kind == 2 ? -1 : to;

		if (!user && pick(&self->seed, 40) == 0)
			user = clCreateUserEvent(self->context, NULL);
		count = use_events ? gather(self, reads_from, writes_to, waits) : 0;
		if (user && pick(&self->seed, 10) == 0) {
			waits[count++] = user;
			if (!running)
				running = !pthread_create(&thread, NULL, complete_later, user);
		}
		bad += !!enqueue(self, self->queues[pick(&self->seed, queues)], kind, reads_from,
				 writes_to, &reads[n], count, count ? waits : NULL,
				 &self->events[n]);
		account(self, n, reads_from, writes_to);
		if (pick(&self->seed, 30) == 0)
			clFlush(self->queues[pick(&self->seed, queues)]);
		if (running && pick(&self->seed, 60) == 0) {
			pthread_join(thread, NULL);
			running = false;
			clReleaseEvent(user);
			user = NULL;
		}
	}
	if (running)
		pthread_join(thread, NULL);
	if (user)
		clReleaseEvent(user);
	for (b = 0; b < queues; b++)
		bad += !!clFinish(self->queues[b]);
	for (n = 0; n < COMMANDS; n++) {
		bad += memcmp(reads[n].got, reads[n].want, sizeof(reads[n].got)) != 0;
		clReleaseEvent(self->events[n]);
	}
	return bad;
}

TEST_F(order, as_one_after_the_other)
{
	const bool events = variant->queues > 1 || variant->properties &
						   CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	cl_uint got[WORDS];
	/* The virtual machine is slow. */
	const unsigned int rounds = getenv("SALVO_DEVICE") ? 3 : 20;
	unsigned int round, b;
	cl_int err;

	for (round = 0; round < rounds; round++) {
		for (b = 0; b < BUFFERS; b++) {
			self->buffers[b] =
				clCreateBuffer(self->context, 0, sizeof(got), NULL, &err);
			ASSERT_EQ(0, err);
			memset(self->model[b], 0, sizeof(self->model[b]));
			ASSERT_EQ(0, clEnqueueWriteBuffer(self->queues[0], self->buffers[b],
							  CL_TRUE, 0, sizeof(got), self->model[b],
							  0, NULL, NULL));
			self->writer[b] = -1;
			self->reader_count[b] = 0;
		}
		ASSERT_EQ(0, run(self, variant->queues, events)) {
			TH_LOG("round %u", round);
		}
		for (b = 0; b < BUFFERS; b++) {
			ASSERT_EQ(0, clEnqueueReadBuffer(self->queues[0], self->buffers[b], CL_TRUE,
							 0, sizeof(got), got, 0, NULL, NULL));
			ASSERT_EQ(0, memcmp(got, self->model[b], sizeof(got))) {
				TH_LOG("round %u buffer %u", round, b);
			}
			clReleaseMemObject(self->buffers[b]);
		}
	}
}

/* n producers and n consumers of all their results: n * n dependences in one batch. */
TEST_F(order, many_dependences)
{
	enum { N = 100 };
	static cl_uint result[(N + 1) * N];
	unsigned int i;
	cl_mem buffer;
	cl_int err;

	if (variant->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
		SKIP(return, "nothing is ordered without events");
	buffer = clCreateBuffer(self->context, 0, sizeof(result), NULL, &err);
	ASSERT_EQ(0, err);
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, clEnqueueFillBuffer(self->queues[0], buffer, &i, 4, 4 * i, 4, 0, NULL,
						 NULL));
	for (i = 1; i <= N; i++)
		ASSERT_EQ(0, clEnqueueCopyBuffer(self->queues[0], buffer, buffer, 0, 4 * N * i,
						 4 * N, 0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queues[0], buffer, CL_TRUE, 0, sizeof(result),
					 result, 0, NULL, NULL));
	/* A batch that failed before the read */
	ASSERT_EQ(0, clFinish(self->queues[0]));
	for (i = 0; i < (N + 1) * N; i++)
		ASSERT_EQ(i % N, result[i]) {
			TH_LOG("copy %u, word %u", i / N, i % N);
		}
	EXPECT_EQ(0, clReleaseMemObject(buffer));
}

TEST_HARNESS_MAIN
