// SPDX-License-Identifier: MIT
/*
 * generic.c - pointers without a named address space, to each kind of memory, chosen when the
 * kernel runs
 */
#include "ocl.h"
#include "kselftest_harness.h"

#define ITEMS	200u
#define GROUP	32u
#define RESULTS	8u

/* Values of CLK_LOCAL_MEM_FENCE and CLK_GLOBAL_MEM_FENCE */
#define CLK_LOCAL	1
#define CLK_GLOBAL	2

static const char source[] =
	"global int variable[8] = { 70, 71, 72, 73, 74, 75, 76, 77 };\n"
	"int sum(const int *p, int n) {\n"
	"	int s = 0;\n"
	"	for (int i = 0; i < n; i++) s += p[i];\n"
	"	return s;\n"
	"}\n"
	"int kind(int *p) { return to_global(p) ? 1 : to_local(p) ? 2 : to_private(p) ? 3 : 0; }\n"
	"struct holder { int *p; float f; };\n"
	"kernel void choose(global int *in, global int *out, global float *real, int how) {\n"
	"	local int shared[64];\n"
	"	local float shared_real[32];\n"
	"	int own[8];\n"
	"	size_t i = get_global_id(0), l = get_local_id(0);\n"
	"	float w;\n"
	"	for (int k = 0; k < 8; k++) own[k] = in[i] * 3 + k;\n"
	"	shared[l] = in[i] * 2;\n"
	"	if (l < 32) shared[32 + l] = 0;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	int *p = own, n = 4;\n"
	"	float *q = &w;\n"
	"	int which = how < 4 ? how : (i * 7 + how) % 4;\n"
	"	if (which == 1) { p = in + i; n = 1; q = real + i; }\n"
	"	if (which == 2) { p = shared + l; n = 1; q = shared_real + l; }\n"
	"	if (which == 3) p = variable;\n"
	"	struct holder h = { p, 1 };\n"
	"	struct holder *address = &h;\n"
	"	out[i * 8] = sum(address->p, n);\n"
	"	out[i * 8 + 1] = kind(p);\n"
	"	out[i * 8 + 2] = get_fence(p);\n"
	"	out[i * 8 + 3] = (int)(fract(in[i] + 0.25f, q) * 100) + 1000 * (int)*q;\n"
	"	int e, *at = &e;\n"
	"	if (which == 1) at = out + i * 8 + 7;\n"
	"	out[i * 8 + 4] = (int)(frexp((float)in[i], at) * 1024);\n"
	"	out[i * 8 + 5] = *at;\n"
	"	vstore2((float2)(w = in[i], 5), 0, (float *)own);\n"
	"	out[i * 8 + 6] = (int)vload2(0, (float *)own).x;\n"
	"}\n"
	"void add(atomic_int *to, int n) { atomic_fetch_add(to, n); }\n"
	"kernel void count(volatile global atomic_int *out, global const int *in) {\n"
	"	local atomic_int part;\n"
	"	if (!get_local_id(0)) atomic_init(&part, 0);\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	atomic_int *to = &part;\n"
	"	if (in[get_global_id(0)] & 1) to = (global atomic_int *)out;\n"
	"	add(to, in[get_global_id(0)]);\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	if (!get_local_id(0)) atomic_fetch_add(out + 1, atomic_load(&part));\n"
	"}\n";

FIXTURE(generic) {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_int in[ITEMS];
	cl_mem from, out, real;
};

FIXTURE_VARIANT(generic) {
	const char *options;
	bool checked;
};

FIXTURE_VARIANT_ADD(generic, optimised) { .options = "-cl-std=CL3.0" };
FIXTURE_VARIANT_ADD(generic, not_optimised) { .options = "-cl-std=CL3.0 -cl-opt-disable" };
FIXTURE_VARIANT_ADD(generic, for_gdb) { .options = "-cl-std=CL3.0 -O0 -g" };
FIXTURE_VARIANT_ADD(generic, checked) { .options = "-cl-std=CL3.0", .checked = true };

FIXTURE_SETUP(generic)
{
	unsigned int i;
	cl_int err;

	setenv("SALVO_CHECKED", variant->checked ? "1" : "0", 1);
	ASSERT_EQ(0, ocl_open(NULL, &self->context, &self->queue));
	self->program = ocl_build(self->context, source, variant->options);
	ASSERT_NE(NULL, self->program);
	for (i = 0; i < ITEMS; i++)
		self->in[i] = 3 + i * 37 % 101;
	self->from = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, sizeof(self->in), self->in,
				    &err);
	ASSERT_EQ(0, err);
	self->out = clCreateBuffer(self->context, 0, ITEMS * RESULTS * 4, NULL, &err);
	ASSERT_EQ(0, err);
	self->real = clCreateBuffer(self->context, 0, ITEMS * 4, NULL, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(generic)
{
	EXPECT_EQ(0, clReleaseMemObject(self->from));
	EXPECT_EQ(0, clReleaseMemObject(self->out));
	EXPECT_EQ(0, clReleaseMemObject(self->real));
	EXPECT_EQ(0, clReleaseProgram(self->program));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

/* What the kernel writes for work-item @i; @which kind of memory it chose */
static void expect(const cl_int *in, unsigned int i, unsigned int which, cl_int *to)
{
	static const cl_int kinds[] = { 3, 1, 2, 1 };
	static const cl_int fences[] = { 0, CLK_GLOBAL, CLK_LOCAL, CLK_GLOBAL };
	const cl_int x = in[i];
	unsigned int exponent = 0;

	while (x >> exponent)
		exponent++;
	to[0] = which == 0 ? 12 * x + 6 : which == 1 ? x : which == 2 ? 2 * x : 70 + 71 + 72 + 73;
	to[1] = kinds[which];
	to[2] = fences[which];
	to[3] = 25 + 1000 * x;
	to[4] = x * 1024 >> exponent;
	to[5] = exponent;
	to[6] = x;
}

TEST_F(generic, memory_of_each_kind)
{
	static cl_int out[ITEMS * RESULTS];
	const size_t items = ITEMS, group = GROUP;
	unsigned int i, r, wrong;
	cl_int err, how;
	cl_kernel choose = clCreateKernel(self->program, "choose", &err);

	ASSERT_EQ(0, err);
	for (how = 0; how < 8; how++) {
		ASSERT_EQ(0, clSetKernelArg(choose, 0, sizeof(cl_mem), &self->from));
		ASSERT_EQ(0, clSetKernelArg(choose, 1, sizeof(cl_mem), &self->out));
		ASSERT_EQ(0, clSetKernelArg(choose, 2, sizeof(cl_mem), &self->real));
		ASSERT_EQ(0, clSetKernelArg(choose, 3, sizeof(how), &how));
		ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, choose, 1, NULL, &items, &group,
						    0, NULL, NULL));
		ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->out, CL_TRUE, 0, sizeof(out),
						 out, 0, NULL, NULL));
		for (i = wrong = 0; i < ITEMS; i++) {
			cl_int expected[RESULTS];

			expect(self->in, i, how < 4 ? how : (i * 7 + how) % 4, expected);
			for (r = 0; r < RESULTS - 1 && !wrong; r++)
				if (out[i * RESULTS + r] != expected[r]) {
					fprintf(stderr, "# how %d, item %u: result %u is %d, not %d\n",
						how, i, r, out[i * RESULTS + r], expected[r]);
					wrong++;
				}
		}
		EXPECT_EQ(0u, wrong);
	}
	EXPECT_EQ(0, clReleaseKernel(choose));
}

TEST_F(generic, atomic_operations)
{
	const size_t items = ITEMS, group = GROUP;
	cl_int sums[2] = { 0, 0 }, expected[2] = { 0, 0 }, err;
	unsigned int i;
	cl_kernel count = clCreateKernel(self->program, "count", &err);

	ASSERT_EQ(0, err);
	for (i = 0; i < ITEMS; i++)
		expected[!(self->in[i] & 1)] += self->in[i];
	ASSERT_EQ(0, clEnqueueWriteBuffer(self->queue, self->out, CL_TRUE, 0, sizeof(sums), sums, 0,
					  NULL, NULL));
	ASSERT_EQ(0, clSetKernelArg(count, 0, sizeof(cl_mem), &self->out));
	ASSERT_EQ(0, clSetKernelArg(count, 1, sizeof(cl_mem), &self->from));
	ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, count, 1, NULL, &items, &group, 0, NULL,
					    NULL));
	ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, self->out, CL_TRUE, 0, sizeof(sums), sums, 0,
					 NULL, NULL));
	EXPECT_EQ(expected[0], sums[0]);
	EXPECT_EQ(expected[1], sums[1]);
	EXPECT_EQ(0, clReleaseKernel(count));
}

TEST_F(generic, the_device_has_them)
{
	cl_bool yes = CL_FALSE;

	EXPECT_EQ(0, clGetDeviceInfo(ocl_device(), CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT,
				     sizeof(yes), &yes, NULL));
	EXPECT_EQ(CL_TRUE, yes);
}

TEST_HARNESS_MAIN
