// SPDX-License-Identifier: MIT
/*
 * semaphore.c - semaphores: signals and waits in any order, in and across queues; sync fds
 */
#include <poll.h>
#include <pthread.h>

#include "ocl.h"
#include "kselftest_harness.h"

#ifndef CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR
#define CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR	0x2053
#define CL_SEMAPHORE_EXPORTABLE_KHR		0x2054
#endif

#define WORDS	4096
#define BYTES	(WORDS * sizeof(cl_uint))

typedef cl_int reimport_fn(cl_semaphore_khr semaphore, cl_properties *properties, int fd);

FIXTURE(semaphore) {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_command_queue other;
	cl_mem buffer;
	cl_uint words[WORDS];
	clCreateSemaphoreWithPropertiesKHR_fn create;
	clRetainSemaphoreKHR_fn retain;
	clReleaseSemaphoreKHR_fn release;
	clGetSemaphoreInfoKHR_fn info;
	clEnqueueSignalSemaphoresKHR_fn signal;
	clEnqueueWaitSemaphoresKHR_fn wait;
	clGetSemaphoreHandleForTypeKHR_fn handle;
	reimport_fn *reimport;
};

FIXTURE_VARIANT(semaphore) {
	cl_command_queue_properties properties;
};

FIXTURE_VARIANT_ADD(semaphore, in_order) { .properties = 0 };
FIXTURE_VARIANT_ADD(semaphore, out_of_order) {
	.properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
};

FIXTURE_SETUP(semaphore)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, variant->properties, 0 };
	cl_platform_id platform;
	cl_int err;

	self->device = ocl_device();
	ASSERT_NE(NULL, self->device);
	ASSERT_EQ(0, ocl_open(properties, &self->context, &self->queue));
	self->other = clCreateCommandQueueWithProperties(self->context, self->device, properties,
							 &err);
	ASSERT_EQ(0, err);
	self->buffer = clCreateBuffer(self->context, 0, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clGetPlatformIDs(1, &platform, NULL));
#define GET(member, name) \
	self->member = clGetExtensionFunctionAddressForPlatform(platform, name); \
	ASSERT_NE(NULL, self->member)
	GET(create, "clCreateSemaphoreWithPropertiesKHR");
	GET(retain, "clRetainSemaphoreKHR");
	GET(release, "clReleaseSemaphoreKHR");
	GET(info, "clGetSemaphoreInfoKHR");
	GET(signal, "clEnqueueSignalSemaphoresKHR");
	GET(wait, "clEnqueueWaitSemaphoresKHR");
	GET(handle, "clGetSemaphoreHandleForTypeKHR");
	GET(reimport, "clReImportSemaphoreSyncFdKHR");
}

FIXTURE_TEARDOWN(semaphore)
{
	EXPECT_EQ(0, clReleaseMemObject(self->buffer));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseCommandQueue(self->other));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static const cl_semaphore_properties_khr binary[] = {
	CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, 0,
};

static const cl_semaphore_properties_khr exportable[] = {
	CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
	CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
	CL_SEMAPHORE_EXPORT_HANDLE_TYPES_LIST_END_KHR, 0,
};

static cl_semaphore_payload_khr payload_of(FIXTURE_DATA(semaphore) *self,
					   cl_semaphore_khr semaphore)
{
	cl_semaphore_payload_khr payload = ~0ull;

	self->info(semaphore, CL_SEMAPHORE_PAYLOAD_KHR, sizeof(payload), &payload, NULL);
	return payload;
}

static cl_int status_of(cl_event event)
{
	cl_int status = 99;

	clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
	return status;
}

TEST_F(semaphore, says_what_it_is)
{
	cl_external_semaphore_handle_type_khr types[2] = { 0 };
	cl_semaphore_properties_khr back[8];
	cl_semaphore_type_khr type = 0;
	cl_semaphore_khr semaphore;
	cl_device_id device = NULL;
	cl_bool may = CL_FALSE;
	cl_context context;
	cl_uint refs;
	size_t size;
	cl_int err;

	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_SEMAPHORE_TYPES_KHR, sizeof(type),
				     &type, NULL));
	EXPECT_EQ(CL_SEMAPHORE_TYPE_BINARY_KHR, type);
	semaphore = self->create(self->context, exportable, &err);
	ASSERT_EQ(0, err);
#define INFO(name, value) self->info(semaphore, name, sizeof(value), &(value), &size)
	EXPECT_EQ(0, INFO(CL_SEMAPHORE_CONTEXT_KHR, context));
	EXPECT_EQ(self->context, context);
	EXPECT_EQ(0, self->retain(semaphore));
	EXPECT_EQ(0, INFO(CL_SEMAPHORE_REFERENCE_COUNT_KHR, refs));
	EXPECT_EQ(2, refs);
	EXPECT_EQ(0, self->release(semaphore));
	EXPECT_EQ(0, INFO(CL_SEMAPHORE_PROPERTIES_KHR, back));
	ASSERT_EQ(sizeof(exportable), size);
	EXPECT_EQ(0, memcmp(back, exportable, size));
	EXPECT_EQ(0, INFO(CL_SEMAPHORE_TYPE_KHR, type));
	EXPECT_EQ(CL_SEMAPHORE_TYPE_BINARY_KHR, type);
	EXPECT_EQ(0, INFO(CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, device));
	EXPECT_EQ(self->device, device);
	EXPECT_EQ(0, INFO(CL_SEMAPHORE_EXPORTABLE_KHR, may));
	EXPECT_EQ(CL_TRUE, may);
	EXPECT_EQ(0, INFO(CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, types));
	EXPECT_EQ(sizeof(types[0]), size);
	EXPECT_EQ(CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, types[0]);
	EXPECT_EQ(CL_INVALID_VALUE, self->info(semaphore, 0x1234, sizeof(refs), &refs, NULL));
	EXPECT_EQ(0, payload_of(self, semaphore));
	EXPECT_EQ(0, self->release(semaphore));
}

TEST_F(semaphore, properties_are_checked)
{
	const cl_semaphore_properties_khr none[] = { 0 };
	const cl_semaphore_properties_khr wrong_type[] = { CL_SEMAPHORE_TYPE_KHR, 99, 0 };
	const cl_semaphore_properties_khr twice[] = {
		CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
		CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, 0,
	};
	const cl_semaphore_properties_khr unknown[] = { 0x1234, 1, 0 };
	const cl_semaphore_properties_khr stranger[] = {
		CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
		CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR,
		(cl_semaphore_properties_khr)(uintptr_t)self->context, 0, 0,
	};
	const cl_semaphore_properties_khr two[] = {
		CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
		CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR,
		(cl_semaphore_properties_khr)(uintptr_t)self->device,
		(cl_semaphore_properties_khr)(uintptr_t)self->device, 0, 0,
	};
	const cl_semaphore_properties_khr opaque[] = {
		CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
		CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, 0, 0,
	};
	const cl_semaphore_properties_khr both_ways[] = {
		CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
		CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, (cl_semaphore_properties_khr)-1,
		CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, 0, 0,
	};
	const cl_semaphore_properties_khr closed[] = {
		CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
		CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, 9999, 0,
	};
	cl_int err;

#define CREATE(properties) (self->create(self->context, properties, &err), err)
	EXPECT_EQ(CL_INVALID_VALUE, CREATE(NULL));
	EXPECT_EQ(CL_INVALID_VALUE, CREATE(none));
	EXPECT_EQ(CL_INVALID_PROPERTY, CREATE(wrong_type));
	EXPECT_EQ(CL_INVALID_PROPERTY, CREATE(twice));
	EXPECT_EQ(CL_INVALID_PROPERTY, CREATE(unknown));
	EXPECT_EQ(CL_INVALID_DEVICE, CREATE(stranger));
	EXPECT_EQ(CL_INVALID_DEVICE, CREATE(two));
	EXPECT_EQ(CL_INVALID_VALUE, CREATE(opaque));
	EXPECT_EQ(CL_INVALID_OPERATION, CREATE(both_ways));
	EXPECT_EQ(CL_INVALID_VALUE, CREATE(closed));
	self->create((cl_context)self->queue, binary, &err);
	EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(semaphore, commands_are_checked)
{
	cl_semaphore_khr semaphore, none = NULL;
	cl_context context;
	cl_command_queue elsewhere;
	cl_event failed;
	cl_int err;

	semaphore = self->create(self->context, binary, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, ocl_open(NULL, &context, &elsewhere));
	failed = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, clSetUserEventStatus(failed, -5));
#define SIGNAL(queue, count, list, events, waits) \
	self->signal(queue, count, list, NULL, events, waits, NULL)
	EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, SIGNAL(NULL, 1, &semaphore, 0, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, SIGNAL(self->queue, 0, &semaphore, 0, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, SIGNAL(self->queue, 1, NULL, 0, NULL));
	EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, SIGNAL(self->queue, 1, &none, 0, NULL));
	EXPECT_EQ(CL_INVALID_CONTEXT, SIGNAL(elsewhere, 1, &semaphore, 0, NULL));
	EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, SIGNAL(self->queue, 1, &semaphore, 1, NULL));
	EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
		  SIGNAL(self->queue, 1, &semaphore, 1, &failed));
	EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, self->release((cl_semaphore_khr)self->queue));
	EXPECT_EQ(0, payload_of(self, semaphore));
	EXPECT_EQ(0, self->release(semaphore));
	EXPECT_EQ(0, clReleaseEvent(failed));
	EXPECT_EQ(0, clReleaseCommandQueue(elsewhere));
	EXPECT_EQ(0, clReleaseContext(context));
}

/* A queue fills the buffer and signals; another waits and reads. */
TEST_F(semaphore, orders_commands_of_two_queues)
{
	cl_event filled, waited;
	cl_semaphore_khr semaphore;
	cl_uint round, i, bad = 0;
	cl_int err;

	semaphore = self->create(self->context, binary, &err);
	ASSERT_EQ(0, err);
	for (round = 1; round < 20; round++) {
		ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, self->buffer, &round, 4, 0, BYTES, 0,
						 NULL, &filled));
		ASSERT_EQ(0, self->signal(self->queue, 1, &semaphore, NULL, 1, &filled, NULL));
		ASSERT_EQ(0, self->wait(self->other, 1, &semaphore, NULL, 0, NULL, &waited));
		ASSERT_EQ(0, clEnqueueReadBuffer(self->other, self->buffer, CL_TRUE, 0, BYTES,
						 self->words, 1, &waited, NULL));
		for (i = 0; i < WORDS; i++)
			bad += self->words[i] != round;
		EXPECT_EQ(0, payload_of(self, semaphore));
		EXPECT_EQ(0, clReleaseEvent(filled));
		EXPECT_EQ(0, clReleaseEvent(waited));
	}
	EXPECT_EQ(0, bad);
	EXPECT_EQ(0, self->release(semaphore));
}

TEST_F(semaphore, a_wait_may_come_before_its_signal)
{
	cl_semaphore_khr both[2];
	cl_event first, second, user;
	cl_int err;

	both[0] = self->create(self->context, binary, &err);
	ASSERT_EQ(0, err);
	both[1] = self->create(self->context, binary, &err);
	ASSERT_EQ(0, err);
	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, self->wait(self->other, 2, both, NULL, 0, NULL, &first));
	ASSERT_EQ(0, self->wait(self->other, 1, both, NULL, 0, NULL, &second));
	EXPECT_LT(CL_COMPLETE, status_of(first));
	ASSERT_EQ(0, self->signal(self->queue, 2, both, NULL, 0, NULL, NULL));
	EXPECT_EQ(0, clWaitForEvents(1, &first));
	EXPECT_LT(CL_COMPLETE, status_of(second));
	ASSERT_EQ(0, self->signal(self->queue, 1, both, NULL, 1, &user, NULL));
	EXPECT_LT(CL_COMPLETE, status_of(second));
	ASSERT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	EXPECT_EQ(0, clWaitForEvents(1, &second));
	EXPECT_EQ(0, payload_of(self, both[0]));
	EXPECT_EQ(0, clReleaseEvent(first));
	EXPECT_EQ(0, clReleaseEvent(second));
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, self->release(both[0]));
	EXPECT_EQ(0, self->release(both[1]));
}

TEST_F(semaphore, a_wait_fails_with_the_semaphore)
{
	cl_semaphore_khr semaphore;
	cl_event waited;
	cl_int err;

	semaphore = self->create(self->context, binary, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, self->wait(self->queue, 1, &semaphore, NULL, 0, NULL, &waited));
	EXPECT_EQ(0, self->release(semaphore));
	EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &waited));
	EXPECT_EQ(0, clReleaseEvent(waited));
}

static bool is_readable(int fd, int milliseconds)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, milliseconds) == 1;
}

TEST_F(semaphore, a_sync_fd_is_that_of_the_signal)
{
	cl_semaphore_khr semaphore;
	cl_event filled;
	cl_uint round, pattern = 3;
	size_t size = 0;
	cl_int err;
	int fd = -1;

	semaphore = self->create(self->context, exportable, &err);
	ASSERT_EQ(0, err);
#define HANDLE(device, type) \
	self->handle(semaphore, device, CL_SEMAPHORE_HANDLE_##type##_KHR, sizeof(fd), &fd, &size)
	EXPECT_EQ(CL_INVALID_OPERATION, HANDLE(self->device, SYNC_FD));
	for (round = 0; round < 4; round++) {
		ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, self->buffer, &pattern, 4, 0, BYTES,
						 0, NULL, &filled));
		ASSERT_EQ(0, self->signal(self->queue, 1, &semaphore, NULL, 1, &filled, NULL));
		EXPECT_EQ(CL_INVALID_DEVICE, HANDLE(NULL, SYNC_FD));
		EXPECT_EQ(CL_INVALID_VALUE, HANDLE(self->device, OPAQUE_FD));
		/* Also of what is complete */
		if (round % 2)
			ASSERT_EQ(0, clFinish(self->queue));
		ASSERT_EQ(0, HANDLE(self->device, SYNC_FD));
		EXPECT_EQ(sizeof(fd), size);
		ASSERT_LE(0, fd);
		EXPECT_TRUE(is_readable(fd, 30000));
		EXPECT_EQ(0, clWaitForEvents(1, &filled));
		EXPECT_EQ(0, payload_of(self, semaphore));
		EXPECT_EQ(0, close(fd));
		EXPECT_EQ(0, clReleaseEvent(filled));
	}
	EXPECT_EQ(0, self->release(semaphore));
}

TEST_F(semaphore, a_sync_fd_goes_from_one_context_to_another)
{
	cl_semaphore_properties_khr import[] = {
		CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
		CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, 0, 0,
	};
	cl_semaphore_khr from, to;
	cl_command_queue queue;
	cl_context context;
	cl_event waited;
	cl_int err;
	int fd;

	ASSERT_EQ(0, ocl_open(NULL, &context, &queue));
	from = self->create(self->context, exportable, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, self->signal(self->queue, 1, &from, NULL, 0, NULL, NULL));
	ASSERT_EQ(0, self->handle(from, self->device, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, sizeof(fd),
				  &fd, NULL));
	import[3] = fd;
	to = self->create(context, import, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, self->wait(queue, 1, &to, NULL, 0, NULL, &waited));
	EXPECT_EQ(0, clWaitForEvents(1, &waited));
	EXPECT_EQ(0, clReleaseEvent(waited));
	/* -1 has signalled. */
	EXPECT_EQ(0, payload_of(self, to));
	EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, self->reimport(from, NULL, -1));
	EXPECT_EQ(CL_INVALID_VALUE, self->reimport(to, NULL, 9999));
	ASSERT_EQ(0, self->reimport(to, NULL, -1));
	EXPECT_EQ(1, payload_of(self, to));
	EXPECT_EQ(0, self->wait(queue, 1, &to, NULL, 0, NULL, NULL));
	EXPECT_EQ(0, clFinish(queue));
	EXPECT_EQ(0, self->release(from));
	EXPECT_EQ(0, self->release(to));
	EXPECT_EQ(0, clReleaseCommandQueue(queue));
	EXPECT_EQ(0, clReleaseContext(context));
}

TEST_HARNESS_MAIN
