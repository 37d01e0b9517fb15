// SPDX-License-Identifier: MIT
/*
 * events.c - events, user events, callbacks, markers and barriers of the OpenCL driver
 */
#include "ocl.h"
#include <pthread.h>
#include <stdatomic.h>
#include "kselftest_harness.h"

FIXTURE(events) {
	cl_context context;
	cl_command_queue queue;
	cl_command_queue other;
};

FIXTURE_VARIANT(events) {
	cl_command_queue_properties properties;
};

FIXTURE_VARIANT_ADD(events, in_order) { .properties = 0 };
FIXTURE_VARIANT_ADD(events, out_of_order) {
	.properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
};
FIXTURE_VARIANT_ADD(events, profiled) { .properties = CL_QUEUE_PROFILING_ENABLE };

FIXTURE_SETUP(events)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, variant->properties, 0 };
	cl_int err;

	ASSERT_EQ(0, ocl_open(properties, &self->context, &self->queue));
	self->other = clCreateCommandQueueWithProperties(self->context, ocl_device(), NULL, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(events)
{
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseCommandQueue(self->other));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static cl_int status_of(cl_event event)
{
	cl_int status = 99;

	clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
	return status;
}

TEST_F(events, a_marker_without_work_before_it_completes)
{
	cl_event marker;

	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 0, NULL, &marker));
	EXPECT_EQ(0, clWaitForEvents(1, &marker));
	EXPECT_EQ(CL_COMPLETE, status_of(marker));
	EXPECT_EQ(0, clReleaseEvent(marker));
	EXPECT_EQ(0, clFinish(self->queue));
}

TEST_F(events, a_user_event_holds_back_what_waits_for_it)
{
	cl_event user, marker, across;
	cl_int err;

	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(CL_SUBMITTED, status_of(user));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 1, &user, &marker));
	ASSERT_EQ(0, clEnqueueBarrierWithWaitList(self->other, 1, &marker, &across));
	EXPECT_EQ(0, clFlush(self->queue));
	EXPECT_EQ(0, clFlush(self->other));
	EXPECT_LT(CL_COMPLETE, status_of(marker));
	EXPECT_LT(CL_COMPLETE, status_of(across));
	EXPECT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	EXPECT_EQ(CL_INVALID_OPERATION, clSetUserEventStatus(user, CL_COMPLETE));
	EXPECT_EQ(0, clWaitForEvents(1, &across));
	EXPECT_EQ(CL_COMPLETE, status_of(marker));
	EXPECT_EQ(CL_COMPLETE, status_of(across));
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseEvent(marker));
	EXPECT_EQ(0, clReleaseEvent(across));
}

TEST_F(events, a_user_event_that_fails_takes_along_what_waits_for_it)
{
	cl_event user, marker, across;
	cl_int err;

	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 1, &user, &marker));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->other, 1, &marker, &across));
	EXPECT_EQ(0, clSetUserEventStatus(user, -42));
	EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &across));
	EXPECT_GT(0, status_of(marker));
	EXPECT_GT(0, status_of(across));
	EXPECT_EQ(-42, status_of(user));
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseEvent(marker));
	EXPECT_EQ(0, clReleaseEvent(across));
}

struct calls {
	atomic_uint count;
	cl_int status[4];
};

static void CL_CALLBACK note(cl_event event, cl_int status, void *data)
{
	struct calls *calls = data;
	const unsigned int i = atomic_load(&calls->count);

	calls->status[i] = status;
	atomic_store(&calls->count, i + 1);
}

static bool wait_calls(struct calls *calls, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < 10000 && atomic_load(&calls->count) < count; i++)
		usleep(1000);
	return atomic_load(&calls->count) == count;
}

TEST_F(events, callbacks_are_called_in_the_order_of_the_states)
{
	static struct calls calls;
	cl_event user, marker;
	cl_int err;

	memset(&calls, 0, sizeof(calls));
	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 1, &user, &marker));
	EXPECT_EQ(0, clSetEventCallback(marker, CL_COMPLETE, note, &calls));
	EXPECT_EQ(0, clSetEventCallback(marker, CL_RUNNING, note, &calls));
	EXPECT_EQ(0, clSetEventCallback(marker, CL_SUBMITTED, note, &calls));
	EXPECT_EQ(CL_INVALID_VALUE, clSetEventCallback(marker, CL_QUEUED, note, &calls));
	EXPECT_EQ(CL_INVALID_VALUE, clSetEventCallback(marker, CL_COMPLETE, NULL, &calls));
	EXPECT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	ASSERT_TRUE(wait_calls(&calls, 3));
	EXPECT_EQ(CL_SUBMITTED, calls.status[0]);
	EXPECT_EQ(CL_RUNNING, calls.status[1]);
	EXPECT_EQ(CL_COMPLETE, calls.status[2]);
	EXPECT_EQ(0, clSetEventCallback(marker, CL_COMPLETE, note, &calls));
	EXPECT_TRUE(wait_calls(&calls, 4));
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseEvent(marker));
}

TEST_F(events, a_callback_lets_nothing_run_that_waits_for_its_event)
{
	const cl_uint zero = 0, seven = 7;
	static struct calls calls;
	cl_event user, filled, copied;
	cl_mem from, to;
	cl_uint value;
	cl_int err;

	memset(&calls, 0, sizeof(calls));
	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	from = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, 4, (void *)&zero, &err);
	ASSERT_EQ(0, err);
	to = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, 4, (void *)&zero, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, from, &seven, 4, 0, 4, 1, &user, &filled));
	ASSERT_EQ(0, clEnqueueCopyBuffer(self->other, from, to, 0, 0, 4, 1, &filled, &copied));
	ASSERT_EQ(0, clSetEventCallback(filled, CL_COMPLETE, note, &calls));
	EXPECT_EQ(0, clFlush(self->other));
	usleep(10000);
	EXPECT_EQ(CL_QUEUED, status_of(copied));
	EXPECT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->other, to, CL_TRUE, 0, 4, &value, 0, NULL, NULL));
	EXPECT_EQ(7, value);
	EXPECT_TRUE(wait_calls(&calls, 1));
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseEvent(filled));
	EXPECT_EQ(0, clReleaseEvent(copied));
	EXPECT_EQ(0, clReleaseMemObject(from));
	EXPECT_EQ(0, clReleaseMemObject(to));
}

TEST_F(events, a_write_takes_what_a_read_before_it_stores)
{
	const cl_uint zero = 0, seven = 7;
	cl_uint value = 0, result = 0;
	cl_event user, read;
	cl_mem from, to;
	cl_int err;

	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	from = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, 4, (void *)&seven, &err);
	ASSERT_EQ(0, err);
	to = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, 4, (void *)&zero, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, from, CL_FALSE, 0, 4, &value, 1, &user,
					 &read));
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->other, to, CL_FALSE, 0, 4, &value, 1, &read,
					  NULL));
	EXPECT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->other, to, CL_TRUE, 0, 4, &result, 0, NULL, NULL));
	EXPECT_EQ(7, result);
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseEvent(read));
	EXPECT_EQ(0, clReleaseMemObject(from));
	EXPECT_EQ(0, clReleaseMemObject(to));
}

TEST_F(events, a_write_takes_what_its_queue_reads_before)
{
	const cl_uint zero = 0, seven = 7;
	const bool ordered = !(variant->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	const cl_command_queue queue = ordered ? self->queue : self->other;
	cl_uint value = 0, result = 0;
	cl_event user;
	cl_mem from, to;
	cl_int err;

	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	from = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, 4, (void *)&seven, &err);
	ASSERT_EQ(0, err);
	to = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, 4, (void *)&zero, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueReadBuffer(queue, from, CL_FALSE, 0, 4, &value, 1, &user, NULL));
	ASSERT_EQ(0, clEnqueueWriteBuffer(queue, to, CL_FALSE, 0, 4, &value, 0, NULL, NULL));
	EXPECT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	ASSERT_EQ(0, clEnqueueReadBuffer(queue, to, CL_TRUE, 0, 4, &result, 0, NULL, NULL));
	EXPECT_EQ(7, result);
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseMemObject(from));
	EXPECT_EQ(0, clReleaseMemObject(to));
}

TEST_F(events, a_marker_behind_what_runs_has_times_in_order)
{
	static const cl_profiling_info names[] = {
		CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
		CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END,
	};
	const size_t bytes = 64 << 20;
	const cl_uint seven = 7;
	cl_ulong times[4] = { 0 };
	unsigned int i;
	cl_event marker;
	cl_mem mem;
	cl_int err;

	if (!(variant->properties & CL_QUEUE_PROFILING_ENABLE))
		return;
	mem = clCreateBuffer(self->context, 0, bytes, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, mem, &seven, 4, 0, bytes, 0, NULL, NULL));
	EXPECT_EQ(0, clFlush(self->queue));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 0, NULL, &marker));
	ASSERT_EQ(0, clWaitForEvents(1, &marker));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, clGetEventProfilingInfo(marker, names[i], sizeof(times[i]), &times[i],
						     NULL));
		if (i)
			EXPECT_LE(times[i - 1], times[i]);
	}
	EXPECT_EQ(0, clReleaseEvent(marker));
	EXPECT_EQ(0, clReleaseMemObject(mem));
}

static void *complete_later(void *data)
{
	usleep(20000);
	clSetUserEventStatus(data, CL_COMPLETE);
	return NULL;
}

TEST_F(events, finish_waits_for_a_user_event_of_another_thread)
{
	cl_event user, marker;
	pthread_t thread;
	cl_int err;

	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 1, &user, &marker));
	ASSERT_EQ(0, pthread_create(&thread, NULL, complete_later, user));
	EXPECT_EQ(0, clFinish(self->queue));
	EXPECT_EQ(CL_COMPLETE, status_of(marker));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseEvent(marker));
}

TEST_F(events, a_queue_may_be_released_before_its_commands_are_done)
{
	cl_device_id device = ocl_device();
	cl_command_queue queue;
	cl_event user, marker;
	cl_int err;

	queue = clCreateCommandQueueWithProperties(self->context, device, NULL, &err);
	ASSERT_EQ(0, err);
	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(queue, 1, &user, &marker));
	EXPECT_EQ(0, clReleaseCommandQueue(queue));
	EXPECT_LT(CL_COMPLETE, status_of(marker));
	EXPECT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	EXPECT_EQ(0, clWaitForEvents(1, &marker));
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseEvent(marker));
}

TEST_F(events, bad_wait_lists_are_refused)
{
	cl_event event = NULL;
	cl_event wrong = (cl_event)self->queue;

	EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
		  clEnqueueMarkerWithWaitList((cl_command_queue)self->context, 0, NULL, &event));
	EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST,
		  clEnqueueMarkerWithWaitList(self->queue, 1, NULL, &event));
	EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST,
		  clEnqueueMarkerWithWaitList(self->queue, 0, &wrong, &event));
	EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST,
		  clEnqueueMarkerWithWaitList(self->queue, 1, &wrong, &event));
	EXPECT_EQ(CL_INVALID_VALUE, clWaitForEvents(0, NULL));
	EXPECT_EQ(CL_INVALID_EVENT, clWaitForEvents(1, &wrong));
}

FIXTURE(out_of_order) {
	cl_context context;
	cl_command_queue queue;
	cl_command_queue other;
};

FIXTURE_SETUP(out_of_order)
{
	const cl_queue_properties properties[] = {
		CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0,
	};
	cl_int err;

	ASSERT_EQ(0, ocl_open(properties, &self->context, &self->queue));
	self->other = clCreateCommandQueueWithProperties(self->context, ocl_device(), NULL, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(out_of_order)
{
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseCommandQueue(self->other));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

TEST_F(out_of_order, a_marker_waits_for_all_and_holds_back_nothing)
{
	cl_event user, held, all, elsewhere, follows;
	cl_int err;

	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 1, &user, &held));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 0, NULL, &all));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->other, 0, NULL, &elsewhere));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->queue, 1, &elsewhere, &follows));
	EXPECT_EQ(0, clWaitForEvents(1, &follows));
	EXPECT_LT(CL_COMPLETE, status_of(held));
	EXPECT_LT(CL_COMPLETE, status_of(all));
	EXPECT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	EXPECT_EQ(0, clFinish(self->queue));
	EXPECT_EQ(CL_COMPLETE, status_of(all));
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseEvent(held));
	EXPECT_EQ(0, clReleaseEvent(all));
	EXPECT_EQ(0, clReleaseEvent(elsewhere));
	EXPECT_EQ(0, clReleaseEvent(follows));
}

/* More pipe controls than a batch has room for */
TEST_F(out_of_order, a_command_may_wait_for_all_commands_before_it)
{
	static cl_event events[700];
	const cl_uint count = sizeof(events) / sizeof(events[0]);
	cl_uint i, word = 0;
	cl_mem buffer;
	cl_int err;

	buffer = clCreateBuffer(self->context, 0, 65536, NULL, &err);
	ASSERT_EQ(0, err);
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, buffer, &i, sizeof(i), 0, 65536, i,
						 i ? events : NULL, &events[i]));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, buffer, CL_TRUE, 32768, sizeof(word), &word,
					 count, events, NULL));
	EXPECT_EQ(count - 1, word);
	for (i = 0; i < count; i++)
		EXPECT_EQ(0, clReleaseEvent(events[i]));
	EXPECT_EQ(0, clReleaseMemObject(buffer));
}

TEST_HARNESS_MAIN
