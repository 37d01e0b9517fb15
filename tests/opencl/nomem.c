// SPDX-License-Identifier: MIT
/*
 * nomem.c - commands for which there is no memory, and what they leave behind
 */
#include "ocl.h"
#include "failing_alloc.h"
#include "kselftest_harness.h"

/* More than any command here allocates */
#define MOST 64

FIXTURE(nomem) {
	cl_context context;
	cl_command_queue queue;
	cl_command_queue other;
	cl_semaphore_khr semaphore;
	clReleaseSemaphoreKHR_fn release;
	clGetSemaphoreInfoKHR_fn info;
	clEnqueueSignalSemaphoresKHR_fn signal;
	clEnqueueWaitSemaphoresKHR_fn wait;
};

FIXTURE_SETUP(nomem)
{
	static const cl_semaphore_properties_khr binary[] = {
		CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, 0,
	};
	clCreateSemaphoreWithPropertiesKHR_fn create;
	cl_platform_id platform;
	cl_int err;

	ASSERT_EQ(0, ocl_open(NULL, &self->context, &self->queue));
	self->other = clCreateCommandQueue(self->context, ocl_device(), 0, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clGetPlatformIDs(1, &platform, NULL));
#define GET(name) clGetExtensionFunctionAddressForPlatform(platform, name)
	create = GET("clCreateSemaphoreWithPropertiesKHR");
	self->release = GET("clReleaseSemaphoreKHR");
	self->info = GET("clGetSemaphoreInfoKHR");
	self->signal = GET("clEnqueueSignalSemaphoresKHR");
	self->wait = GET("clEnqueueWaitSemaphoresKHR");
	ASSERT_NE(NULL, create);
	self->semaphore = create(self->context, binary, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(nomem)
{
	EXPECT_EQ(0, clFinish(self->queue));
	EXPECT_EQ(0, self->release(self->semaphore));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseCommandQueue(self->other));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static bool is_signalled(FIXTURE_DATA(nomem) *self)
{
	cl_semaphore_payload_khr payload = ~0ull;

	self->info(self->semaphore, CL_SEMAPHORE_PAYLOAD_KHR, sizeof(payload), &payload, NULL);
	return payload == 1;
}

static cl_int give(FIXTURE_DATA(nomem) *self)
{
	cl_int err = self->signal(self->other, 1, &self->semaphore, NULL, 0, NULL, NULL);

	return err ? err : clFinish(self->other);
}

static cl_int take(FIXTURE_DATA(nomem) *self, int allocations)
{
	cl_event event = NULL;
	cl_int err;

	fail_after = allocations;
	err = self->wait(self->queue, 1, &self->semaphore, NULL, 0, NULL, &event);
	fail_after = -1;
	if (event)
		clReleaseEvent(event);
	return err;
}

TEST_F(nomem, a_wait_that_fails_leaves_the_signal)
{
	int n;

	if (!REPLACED)
		SKIP(return, "a sanitizer has the allocator");
	for (n = 0; n < MOST; n++) {
		ASSERT_EQ(0, give(self));
		if (!take(self, n))
			break;
		ASSERT_TRUE(is_signalled(self));
		ASSERT_EQ(0, take(self, -1));
		ASSERT_EQ(0, clFinish(self->queue));
		ASSERT_FALSE(is_signalled(self));
	}
	EXPECT_LT(0, n);
	EXPECT_GT(MOST, n);
}

TEST_F(nomem, a_wait_that_fails_takes_no_later_signal)
{
	int n;

	if (!REPLACED)
		SKIP(return, "a sanitizer has the allocator");
	for (n = 0; n < MOST; n++) {
		if (!take(self, n))
			break;
		ASSERT_EQ(0, give(self));
		ASSERT_TRUE(is_signalled(self));
		ASSERT_EQ(0, take(self, -1));
		ASSERT_EQ(0, clFinish(self->queue));
	}
	EXPECT_LT(0, n);
	EXPECT_GT(MOST, n);
	/* The last one waits. */
	EXPECT_EQ(0, give(self));
}

TEST_HARNESS_MAIN
