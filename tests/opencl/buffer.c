// SPDX-License-Identifier: MIT
/*
 * buffer.c - reads, writes, copies and fills of buffers and their rectangles, in order
 */
#include "ocl.h"
#include "kselftest_harness.h"

#define WORDS	4096
#define BYTES	(WORDS * sizeof(cl_uint))

FIXTURE(buffer) {
	cl_context context;
	cl_command_queue queue;
	cl_mem a, b;
	cl_uint *data, *back;
};

FIXTURE_SETUP(buffer)
{
	cl_int err;
	int i;

	ASSERT_EQ(0, ocl_open(NULL, &self->context, &self->queue));
	self->data = malloc(BYTES);
	self->back = calloc(1, BYTES);
	for (i = 0; i < WORDS; i++)
		self->data[i] = 7 * i;
	self->a = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, BYTES, self->data, &err);
	ASSERT_EQ(0, err);
	self->b = clCreateBuffer(self->context, 0, BYTES, NULL, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(buffer)
{
	EXPECT_EQ(0, clReleaseMemObject(self->a));
	EXPECT_EQ(0, clReleaseMemObject(self->b));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
	free(self->data);
	free(self->back);
}

TEST_F(buffer, there_and_back)
{
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->a, CL_TRUE, 0, BYTES, self->back, 0,
					 NULL, NULL));
	EXPECT_EQ(0, memcmp(self->data, self->back, BYTES));
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->queue, self->b, CL_FALSE, 16, BYTES - 16,
					  self->data, 0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->b, CL_FALSE, 16, BYTES - 16, self->back,
					 0, NULL, NULL));
	ASSERT_EQ(0, clFinish(self->queue));
	EXPECT_EQ(0, memcmp(self->data, self->back, BYTES - 16));
}

/* Each write comes after commands that access the buffer and have not run. */
TEST_F(buffer, writes_behind_copies_keep_their_order)
{
	cl_uint words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, i;

	ASSERT_EQ(0,
		  clEnqueueCopyBuffer(self->queue, self->a, self->b, 0, 0, BYTES, 0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->queue, self->a, CL_FALSE, 0, sizeof(words), words,
					  0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->queue, self->b, CL_TRUE, BYTES - 32, sizeof(words),
					  words, 0, NULL, NULL));
	memset(words, 0xff, sizeof(words));
	ASSERT_EQ(0, clEnqueueCopyBuffer(self->queue, self->a, self->b, 0, 64, 32, 0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->queue, self->a, CL_TRUE, 0, BYTES, self->data, 0,
					  NULL, NULL));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->b, CL_TRUE, 0, BYTES, self->back, 0,
					 NULL, NULL));
	for (i = 0; i < WORDS; i++) {
		cl_uint want = 7 * i;

		if (i >= 16 && i < 24)
			want = i - 15;
		else if (i >= WORDS - 8)
			want = i - (WORDS - 8) + 1;
		ASSERT_EQ(want, self->back[i]) TH_LOG("word %u", i);
	}
}

TEST_F(buffer, fills_with_patterns_of_any_size)
{
	cl_uchar pattern[128], *bytes = (cl_uchar *)self->back;
	size_t size, i;

	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = 3 * i + 1;
	for (size = 1; size <= 128; size *= 2) {
		ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, self->b, pattern, size, 256, 1024, 0,
						 NULL, NULL));
		ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->b, CL_TRUE, 0, BYTES,
						 self->back, 0, NULL, NULL));
		for (i = 0; i < 1024; i++)
			ASSERT_EQ(pattern[i % size], bytes[256 + i]);
		EXPECT_EQ(0, bytes[255]);
		EXPECT_EQ(0, bytes[256 + 1024]);
	}
	EXPECT_EQ(CL_INVALID_VALUE,
		  clEnqueueFillBuffer(self->queue, self->b, pattern, 3, 0, 9, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_VALUE,
		  clEnqueueFillBuffer(self->queue, self->b, pattern, 256, 0, 512, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_VALUE,
		  clEnqueueFillBuffer(self->queue, self->b, pattern, 8, 4, 16, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, clEnqueueFillBuffer(self->queue, self->b, pattern, 8, 0,
							BYTES + 8, 0, NULL, NULL));
}

/* A box of 3 x 2 x 2 words, in a buffer of rows of 16 and slices of 4 rows; packed on the host */
TEST_F(buffer, rectangles)
{
	const size_t at[3] = { 8, 1, 2 }, zero[3] = { 0 }, region[3] = { 12, 2, 2 };
	const size_t to[3] = { 20, 0, 1 };
	cl_uint words[12], x, y, z;

	ASSERT_EQ(0, clEnqueueReadBufferRect(self->queue, self->a, CL_TRUE, at, zero, region, 64,
					     256, 0, 0, words, 0, NULL, NULL));
	for (z = 0; z < 2; z++)
		for (y = 0; y < 2; y++)
			for (x = 0; x < 3; x++)
				EXPECT_EQ(7 * ((z + 2) * 64 + (y + 1) * 16 + x + 2),
					  words[(z * 2 + y) * 3 + x]);
	ASSERT_EQ(0, clEnqueueWriteBufferRect(self->queue, self->b, CL_TRUE, to, zero, region, 32,
					      128, 0, 0, words, 0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueCopyBufferRect(self->queue, self->b, self->b, to, at, region, 32, 128,
					     32, 128, 0, NULL, NULL));
	/* Behind a command that has not run */
	ASSERT_EQ(0, clEnqueueWriteBufferRect(self->queue, self->b, CL_TRUE, zero, zero, region, 64,
					      1024, 0, 0, words, 0, NULL, NULL));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->b, CL_TRUE, 0, BYTES, self->back, 0,
					 NULL, NULL));
	for (z = 0; z < 2; z++)
		for (y = 0; y < 2; y++)
			for (x = 0; x < 3; x++) {
				const cl_uint want = words[(z * 2 + y) * 3 + x];

				EXPECT_EQ(want, self->back[(z + 2) * 32 + (y + 1) * 8 + x + 2]);
				EXPECT_EQ(want, self->back[z * 256 + y * 16 + x]);
			}
}

TEST_F(buffer, rectangles_are_checked)
{
	const size_t zero[3] = { 0 }, region[3] = { 16, 4, 2 }, flat[3] = { 16, 4, 0 };
	const size_t up[3] = { 8, 1, 0 }, beside[3] = { 16, 0, 0 };
	void *host = self->back;

#define READ_RECT(origin, region, row, slice, pointer) \
	clEnqueueReadBufferRect(self->queue, self->a, CL_TRUE, origin, zero, region, row, slice, \
				0, 0, pointer, 0, NULL, NULL)
	EXPECT_EQ(CL_SUCCESS, READ_RECT(zero, region, 0, 0, host));
	EXPECT_EQ(CL_INVALID_VALUE, READ_RECT(zero, region, 0, 0, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, READ_RECT(zero, flat, 0, 0, host));
	EXPECT_EQ(CL_INVALID_VALUE, READ_RECT(zero, region, 15, 0, host));
	EXPECT_EQ(CL_INVALID_VALUE, READ_RECT(zero, region, 32, 64, host));
	EXPECT_EQ(CL_INVALID_VALUE, READ_RECT(zero, region, 32, 130, host));
	EXPECT_EQ(CL_INVALID_VALUE, READ_RECT(zero, region, 8192, 0, host));
	EXPECT_EQ(CL_INVALID_VALUE, READ_RECT(zero, region, SIZE_MAX / 2, 0, host));
	EXPECT_EQ(CL_MEM_COPY_OVERLAP,
		  clEnqueueCopyBufferRect(self->queue, self->a, self->a, zero, up, region, 32, 128,
					  32, 128, 0, NULL, NULL));
	EXPECT_EQ(CL_SUCCESS, clEnqueueCopyBufferRect(self->queue, self->a, self->a, zero, beside,
						      region, 32, 128, 32, 128, 0, NULL, NULL));
	EXPECT_EQ(CL_MEM_COPY_OVERLAP,
		  clEnqueueCopyBuffer(self->queue, self->a, self->a, 0, 8, 16, 0, NULL, NULL));
	EXPECT_EQ(CL_SUCCESS, clEnqueueCopyBuffer(self->queue, self->a, self->a, 0, 16, 16, 0, NULL,
						  NULL));
	EXPECT_EQ(CL_SUCCESS, clFinish(self->queue));
}

TEST_F(buffer, the_host_may_do_what_the_flags_say)
{
	static const struct {
		cl_mem_flags flags;
		cl_int read, write;
	} cases[] = {
		{ CL_MEM_HOST_READ_ONLY, CL_SUCCESS, CL_INVALID_OPERATION },
		{ CL_MEM_HOST_WRITE_ONLY, CL_INVALID_OPERATION, CL_SUCCESS },
		{ CL_MEM_HOST_NO_ACCESS, CL_INVALID_OPERATION, CL_INVALID_OPERATION },
	};
	cl_uint word = 0;
	cl_int err;
	int i;

	for (i = 0; i < 3; i++) {
		cl_mem mem = clCreateBuffer(self->context, cases[i].flags, BYTES, NULL, &err);

		ASSERT_EQ(0, err);
		EXPECT_EQ(cases[i].read, clEnqueueReadBuffer(self->queue, mem, CL_TRUE, 0, 4, &word,
							     0, NULL, NULL));
		EXPECT_EQ(cases[i].write, clEnqueueWriteBuffer(self->queue, mem, CL_TRUE, 0, 4,
							       &word, 0, NULL, NULL));
		EXPECT_EQ(0, clReleaseMemObject(mem));
	}
	EXPECT_EQ(CL_INVALID_VALUE, clEnqueueReadBuffer(self->queue, self->a, CL_TRUE, BYTES, 1,
							&word, 0, NULL, NULL));
	EXPECT_EQ(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(self->queue, (cl_mem)self->queue,
							     CL_TRUE, 0, 1, &word, 0, NULL, NULL));
}

/* The data of a write that waits is read when it runs, which is after the user event. */
TEST_F(buffer, a_write_behind_a_user_event)
{
	cl_event user, done;
	cl_uint word = 1;
	cl_int err;

	user = clCreateUserEvent(self->context, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->queue, self->b, CL_FALSE, 0, 4, &word, 1, &user,
					  &done));
	word = 2;
	ASSERT_EQ(0, clSetUserEventStatus(user, CL_COMPLETE));
	ASSERT_EQ(0, clWaitForEvents(1, &done));
	word = 3;
	ASSERT_EQ(0,
		  clEnqueueReadBuffer(self->queue, self->b, CL_TRUE, 0, 4, &word, 0, NULL, NULL));
	EXPECT_EQ(2, word);
	EXPECT_EQ(0, clReleaseEvent(user));
	EXPECT_EQ(0, clReleaseEvent(done));
}

/* A write that waits for commands is not one of the host, but ordered as well. */
TEST_F(buffer, a_write_behind_events_of_commands)
{
	const cl_uint pattern = 9;
	cl_uint words[64], i;
	cl_event filled;

	memset(words, 0x11, sizeof(words));
	ASSERT_EQ(0, clEnqueueFillBuffer(self->queue, self->b, &pattern, 4, 0, BYTES, 0, NULL,
					 &filled));
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->queue, self->b, CL_TRUE, 0, sizeof(words), words, 1,
					  &filled, NULL));
	memset(words, 0x22, sizeof(words));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->b, CL_TRUE, 0, BYTES, self->back, 0,
					 NULL, NULL));
	for (i = 0; i < WORDS; i++)
		ASSERT_EQ(i < 64 ? 0x11111111 : 9, self->back[i]);
	EXPECT_EQ(0, clReleaseEvent(filled));
}

TEST_HARNESS_MAIN
