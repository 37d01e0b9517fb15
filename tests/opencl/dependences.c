// SPDX-License-Identifier: MIT
/*
 * dependences.c - events of commands that fail: what waits for them fails, and nothing else does
 *
 * The commands that wait are in the same batch, in another batch of the queue, or in another queue,
 * while the first ones run: these wait at a gate that the test opens when all are submitted.
 */
#include <pthread.h>

#include "ocl.h"
#include "kselftest_harness.h"
#include "sanitizer.h"
#include "steps.h"

static const char source[] =
	"kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }\n"
	"kernel void gate(global volatile uint *go) { while (!*go); }\n"
	"kernel void stray(global uint *out, ulong far) { out[far + get_global_id(0)] = 1; }\n";

/* How the consumers come to be separate from the producers */
enum place { SAME_BATCH, NEXT_BATCH, OTHER_QUEUE };

FIXTURE(dependences) {
	cl_context context;
	cl_command_queue producers;
	cl_command_queue consumers;
	cl_kernel add;
	cl_kernel gate;
	cl_kernel stray;
	cl_mem stop;
	cl_mem bad;
	cl_mem good;
	cl_mem words[4];
	volatile cl_uint *go;
};

FIXTURE_VARIANT(dependences) {
	cl_command_queue_properties properties;
	enum place place;
};

FIXTURE_VARIANT_ADD(dependences, in_order) { .place = SAME_BATCH };
FIXTURE_VARIANT_ADD(dependences, in_order_running) { .place = NEXT_BATCH };
FIXTURE_VARIANT_ADD(dependences, in_order_queues) { .place = OTHER_QUEUE };
FIXTURE_VARIANT_ADD(dependences, out_of_order) {
	.properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, .place = SAME_BATCH,
};
FIXTURE_VARIANT_ADD(dependences, out_of_order_running) {
	.properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, .place = NEXT_BATCH,
};
FIXTURE_VARIANT_ADD(dependences, out_of_order_queues) {
	.properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, .place = OTHER_QUEUE,
};
FIXTURE_VARIANT_ADD(dependences, profiled_queues) {
	.properties = CL_QUEUE_PROFILING_ENABLE, .place = OTHER_QUEUE,
};

static cl_mem make_word(cl_context context)
{
	cl_uint zero = 0;

	return clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(zero), &zero, NULL);
}

FIXTURE_SETUP(dependences)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, variant->properties, 0 };
	cl_program program;
	unsigned int i;
	cl_int err;

	ASSERT_EQ(0, ocl_open(properties, &self->context, &self->producers));
	self->consumers = self->producers;
	if (variant->place == OTHER_QUEUE)
		self->consumers = clCreateCommandQueueWithProperties(self->context, ocl_device(),
								     properties, &err);
	program = ocl_build(self->context, source, NULL);
	ASSERT_NE(NULL, program);
	self->add = clCreateKernel(program, "add", &err);
	self->gate = clCreateKernel(program, "gate", &err);
	self->stray = clCreateKernel(program, "stray", &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, clReleaseProgram(program));
	self->stop = make_word(self->context);
	self->bad = make_word(self->context);
	self->good = make_word(self->context);
	for (i = 0; i < 4; i++)
		self->words[i] = make_word(self->context);
	ASSERT_NE(NULL, self->words[3]);
	self->go = clEnqueueMapBuffer(self->producers, self->stop, CL_TRUE, CL_MAP_WRITE, 0, 4, 0,
				      NULL, NULL, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(dependences)
{
	unsigned int i;

	EXPECT_EQ(0, clEnqueueUnmapMemObject(self->producers, self->stop, (void *)self->go, 0, NULL,
					     NULL));
	EXPECT_EQ(0, clReleaseKernel(self->add));
	EXPECT_EQ(0, clReleaseKernel(self->gate));
	EXPECT_EQ(0, clReleaseKernel(self->stray));
	EXPECT_EQ(0, clReleaseMemObject(self->stop));
	EXPECT_EQ(0, clReleaseMemObject(self->bad));
	EXPECT_EQ(0, clReleaseMemObject(self->good));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, clReleaseMemObject(self->words[i]));
	EXPECT_EQ(0, clReleaseCommandQueue(self->producers));
	if (self->consumers != self->producers)
		EXPECT_EQ(0, clReleaseCommandQueue(self->consumers));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static cl_int add(FIXTURE_DATA(dependences) *self, cl_command_queue queue, cl_mem word,
		  cl_uint waits, const cl_event *wait, cl_event *event)
{
	const cl_uint value = 1;
	const size_t one = 1;

	clSetKernelArg(self->add, 0, sizeof(word), &word);
	clSetKernelArg(self->add, 1, sizeof(value), &value);
	return clEnqueueNDRangeKernel(queue, self->add, 1, NULL, &one, NULL, waits,
				      waits ? wait : NULL, event);
}

/* At the gate: a command that will fail, and one that will not. */
static cl_int produce(FIXTURE_DATA(dependences) *self, cl_event *bad, cl_event *good)
{
	const cl_ulong far = 1ull << 45;
	const size_t one = 1;
	cl_event passed;
	cl_int err;

	clSetKernelArg(self->gate, 0, sizeof(self->stop), &self->stop);
	clSetKernelArg(self->stray, 0, sizeof(self->bad), &self->bad);
	clSetKernelArg(self->stray, 1, sizeof(far), &far);
	err = clEnqueueNDRangeKernel(self->producers, self->gate, 1, NULL, &one, NULL, 0, NULL,
				     &passed);
	if (!err)
		err = clEnqueueNDRangeKernel(self->producers, self->stray, 1, NULL, &one, NULL, 1,
					     &passed, bad);
	if (!err)
		err = add(self, self->producers, self->good, 1, &passed, good);
	clReleaseEvent(passed);
	return err;
}

static cl_int read_word(cl_command_queue queue, cl_mem word, cl_uint *value)
{
	return clEnqueueReadBuffer(queue, word, CL_TRUE, 0, sizeof(*value), value, 0, NULL, NULL);
}

/* The kernel's driver cancels what was submitted after a failed batch in its queue. */
static bool is_cancelled(enum place place)
{
	return getenv("SALVO_DEVICE") && place == NEXT_BATCH;
}

TEST_F(dependences, what_waits_for_a_failed_command_fails_alone)
{
	const bool cancelled = is_cancelled(variant->place);
	const cl_int lost = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
	cl_event bad, good, behind[4];
	cl_uint value, i;
	cl_int status;

	ASSERT_EQ(0, produce(self, &bad, &good));
	if (variant->place != SAME_BATCH)
		ASSERT_EQ(0, clFlush(self->producers));
	/* The first wait decides which submission the other ones join. */
	ASSERT_EQ(0, add(self, self->consumers, self->words[0], 1, &good, &behind[0]));
	ASSERT_EQ(0, add(self, self->consumers, self->words[1], 1, &bad, &behind[1]));
	ASSERT_EQ(0, add(self, self->consumers, self->words[2], 1, &behind[1], &behind[2]));
	ASSERT_EQ(0, add(self, self->consumers, self->words[3], 0, NULL, &behind[3]));
	ASSERT_EQ(0, clFlush(self->consumers));
	*self->go = 1;
	EXPECT_EQ(CL_OUT_OF_RESOURCES, ocl_end_status(bad));
	for (i = 1; i <= 2; i++) {
		status = ocl_end_status(behind[i]);
		EXPECT_TRUE(status == lost || (cancelled && status == CL_OUT_OF_RESOURCES)) {
			TH_LOG("%u: %d", i, status);
		}
	}
	EXPECT_EQ(CL_COMPLETE, ocl_end_status(good));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, read_word(self->consumers, self->words[1], &value));
	EXPECT_EQ(CL_OUT_OF_RESOURCES, read_word(self->consumers, self->words[2], &value));
	EXPECT_EQ(0, read_word(self->consumers, self->good, &value));
	EXPECT_EQ(1, value);
	if (!cancelled) {
		EXPECT_EQ(CL_COMPLETE, ocl_end_status(behind[0]));
		EXPECT_EQ(CL_COMPLETE, ocl_end_status(behind[3]));
		EXPECT_EQ(0, read_word(self->consumers, self->words[0], &value));
		EXPECT_EQ(0, read_word(self->consumers, self->words[3], &value));
		EXPECT_EQ(1, value);
	} else {
		clReleaseEvent(behind[0]);
		clReleaseEvent(behind[3]);
	}
	clFinish(self->producers);
	EXPECT_EQ(0, clFinish(self->producers));
}

/* The failure is known before the batch with the command that waits for it is submitted. */
TEST_F(dependences, a_command_that_waits_for_what_has_failed_is_not_run)
{
	cl_event bad, good, behind, user, held;
	cl_uint value = 0;
	cl_int err;

	if (variant->place == SAME_BATCH)
		SKIP(return, "one batch");
	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, produce(self, &bad, &good));
	ASSERT_EQ(0, clFlush(self->producers));
	ASSERT_EQ(0, add(self, self->consumers, self->words[0], 2, (cl_event[]){ bad, user },
			 &behind));
	ASSERT_EQ(0, add(self, self->consumers, self->words[1], 1, &good, &held));
	ASSERT_EQ(0, clFlush(self->consumers));
	*self->go = 1;
	EXPECT_EQ(CL_OUT_OF_RESOURCES, ocl_end_status(bad));
	ASSERT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ocl_end_status(behind));
	EXPECT_EQ(CL_COMPLETE, ocl_end_status(good));
	if (!is_cancelled(variant->place)) {
		EXPECT_EQ(CL_COMPLETE, ocl_end_status(held));
		EXPECT_EQ(0, read_word(self->consumers, self->words[1], &value));
		EXPECT_EQ(1, value);
	} else {
		clReleaseEvent(held);
	}
	/* It fails, but shows what is there. */
	EXPECT_EQ(CL_OUT_OF_RESOURCES, read_word(self->consumers, self->words[0], &value));
	EXPECT_EQ(0, value);
	EXPECT_EQ(0, clReleaseEvent(user));
	clFinish(self->producers);
}

/* Two queues that wait for each other in turn: a chain that fails at its beginning. */
TEST_F(dependences, a_chain_through_two_queues_fails_to_its_end)
{
	enum { LENGTH = 40 };
	cl_event links[LENGTH + 1], free_link, good;
	unsigned int i;

	ASSERT_EQ(0, produce(self, &links[0], &good));
	ASSERT_EQ(0, clFlush(self->producers));
	for (i = 0; i < LENGTH; i++) {
		cl_command_queue queue = i % 2 ? self->producers : self->consumers;

		ASSERT_EQ(0, add(self, queue, self->words[i % 2], 1, &links[i], &links[i + 1]));
		ASSERT_EQ(0, clFlush(queue));
	}
	ASSERT_EQ(0, add(self, self->consumers, self->words[2], 1, &good, &free_link));
	ASSERT_EQ(0, clFlush(self->consumers));
	*self->go = 1;
	/* Those behind the failed batch in its queue may be cancelled first. */
	for (i = LENGTH; i > 0; i--)
		EXPECT_GT(0, ocl_end_status(links[i])) {
			TH_LOG("link %u", i);
		}
	EXPECT_EQ(CL_OUT_OF_RESOURCES, ocl_end_status(links[0]));
	EXPECT_EQ(CL_COMPLETE, ocl_end_status(good));
	if (!getenv("SALVO_DEVICE"))
		EXPECT_EQ(CL_COMPLETE, ocl_end_status(free_link));
	clFinish(self->producers);
	clFinish(self->consumers);
}

/* The marker fails: what is before it in the queue has nothing to do with that. */
TEST_F(dependences, a_marker_fails_alone)
{
	cl_event bad, good, done, marker;
	cl_uint value = 7;

	ASSERT_EQ(0, produce(self, &bad, &good));
	ASSERT_EQ(0, clFlush(self->producers));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->producers, self->good, CL_FALSE, 0, sizeof(value),
					 &value, 1, &good, &done));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(self->producers, 1, &bad, &marker));
	ASSERT_EQ(0, clFlush(self->producers));
	*self->go = 1;
	EXPECT_EQ(CL_OUT_OF_RESOURCES, ocl_end_status(bad));
	EXPECT_EQ(CL_COMPLETE, ocl_end_status(good));
	EXPECT_EQ(CL_COMPLETE, ocl_end_status(done));
	EXPECT_EQ(1, value);
	EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ocl_end_status(marker));
	clFinish(self->producers);
}

static void *wait_for_link(void *data)
{
	cl_event *last = data;

	return clWaitForEvents(1, last) ? data : NULL;
}

/* All of it is done before anyone asks for its last link, in a thread of a small stack. */
TEST_F(dependences, a_long_chain_is_completed_with_little_stack)
{
	enum { LENGTH = 3000 };
	cl_event links[2] = { NULL };
	pthread_attr_t attributes;
	pthread_t thread;
	cl_uint value = 0;
	unsigned int i;
	void *failed;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "the driver ends kernels that wait");
	/* It opens when all links are submitted; the last one is in another queue. */
	clSetKernelArg(self->gate, 0, sizeof(self->stop), &self->stop);
	ASSERT_EQ(0, clEnqueueNDRangeKernel(self->producers, self->gate, 1, NULL, (size_t[]){ 1 },
					    NULL, 0, NULL, &links[0]));
	ASSERT_EQ(0, clFlush(self->producers));
	for (i = 0; i < LENGTH; i++) {
		cl_command_queue queue = i == LENGTH - 1 ? self->consumers : self->producers;

		ASSERT_EQ(0, add(self, queue, self->words[0], 1, &links[0], &links[1]));
		ASSERT_EQ(0, clFlush(queue));
		clReleaseEvent(links[0]);
		links[0] = links[1];
	}
	*self->go = 1;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	ASSERT_EQ(0, pthread_create(&thread, &attributes, wait_for_link, &links[0]));
	pthread_attr_destroy(&attributes);
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(NULL, failed);
	clReleaseEvent(links[0]);
	EXPECT_EQ(0, read_word(self->consumers, self->words[0], &value));
	EXPECT_EQ(LENGTH, value);
}

static void CL_CALLBACK context_gone(cl_context context, void *data)
{
	(void)context;
	*(bool *)data = true;
}

/* A barrier that waits for an event of its queue, and a marker behind it that needs no packet. */
TEST(a_barrier_that_is_dropped_keeps_nothing)
{
	cl_event user, behind, last;
	cl_command_queue queue;
	cl_context context;
	bool gone = false;
	cl_int err;

	ASSERT_EQ(0, ocl_open(NULL, &context, &queue));
	ASSERT_EQ(0, clSetContextDestructorCallback(context, context_gone, &gone));
	user = clCreateUserEvent(context, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueBarrierWithWaitList(queue, 1, &user, NULL));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(queue, 0, NULL, &behind));
	ASSERT_EQ(0, clEnqueueBarrierWithWaitList(queue, 1, &behind, NULL));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(queue, 0, NULL, &last));
	ASSERT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	EXPECT_EQ(CL_COMPLETE, ocl_end_status(last));
	EXPECT_EQ(CL_COMPLETE, ocl_end_status(behind));
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseCommandQueue(queue));
	EXPECT_EQ(0, clReleaseContext(context));
	EXPECT_TRUE(gone);
}

/* Steps to complete a batch of commands that fail, each of which writes a buffer of its own. */
static unsigned long count_steps(FIXTURE_DATA(dependences) *self, cl_uint count)
{
	cl_mem *words = calloc(count, sizeof(cl_mem));
	cl_event bad, good;
	unsigned long steps;
	cl_uint i, failed = 0;

	*self->go = 0;
	produce(self, &bad, &good);
	clFlush(self->producers);
	for (i = 0; i < count; i++) {
		words[i] = make_word(self->context);
		add(self, self->consumers, words[i], 1, &bad, NULL);
	}
	clFlush(self->consumers);
	*self->go = 1;
	clFinish(self->producers);
	steps_begin();
	clFinish(self->consumers);
	steps = steps_end();
	for (i = 0; i < count; i++) {
		cl_uint value;

		failed += read_word(self->consumers, words[i], &value) == CL_OUT_OF_RESOURCES;
		clReleaseMemObject(words[i]);
	}
	clReleaseEvent(bad);
	clReleaseEvent(good);
	free(words);
	return failed == count ? steps : 0;
}

TEST_F(dependences, many_commands_fail_in_few_steps)
{
	unsigned long few, many;

	NEED_SIGNALS();
	if (variant->place != OTHER_QUEUE || getenv("SALVO_DEVICE"))
		SKIP(return, "one batch of the embedded GPU is enough");
	few = count_steps(self, 40);
	many = count_steps(self, 200);
	ASSERT_NE(0, few);
	ASSERT_NE(0, many);
	EXPECT_LT(many, 9 * few) {
		TH_LOG("%lu steps for 40 commands, %lu for 200", few, many);
	}
}

TEST_HARNESS_MAIN
