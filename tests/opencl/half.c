// SPDX-License-Identifier: MIT
/*
 * half.c - cl_khr_fp16: arithmetic, conversions and functions on half, against the host's
 */
#include "ocl.h"
#include <math.h>
#include "kselftest_harness.h"

/* All halves, once as they are and once in another order */
#define HALVES 65536u

static const char source[] =
	"#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
	"#pragma OPENCL FP_CONTRACT OFF\n"
	"kernel void arithmetic(global const half *a, global const half *b, global half *out) {\n"
	"	size_t i = get_global_id(0), n = get_global_size(0);\n"
	"	half x = a[i], y = b[i];\n"
	"	out[i] = x + y;\n"
	"	out[n + i] = x - y;\n"
	"	out[2 * n + i] = x * y;\n"
	"	out[3 * n + i] = x / y;\n"
	"	out[4 * n + i] = sqrt(x);\n"
	"	out[5 * n + i] = fma(x, y, x);\n"
	"	out[6 * n + i] = x < 3 ? x : (half)3;\n"
	"	out[7 * n + i] = x > y ? x : y;\n"
	"}\n"
	"kernel void from_float(global const float *a, global half *out) {\n"
	"	size_t i = get_global_id(0), n = get_global_size(0);\n"
	"	out[i] = convert_half_rte(a[i]);\n"
	"	out[n + i] = convert_half_rtz(a[i]);\n"
	"	out[2 * n + i] = convert_half_rtp(a[i]);\n"
	"	out[3 * n + i] = convert_half_rtn(a[i]);\n"
	"}\n"
	"kernel void from_double(global const float *a, global half *out, double tiny) {\n"
	"	size_t i = get_global_id(0), n = get_global_size(0);\n"
	"	double d = a[i] + (double)a[i] * tiny;\n"
	"	out[i] = (half)d;\n"
	"	out[n + i] = convert_half_rtz(d);\n"
	"	out[2 * n + i] = convert_half_rtp(d);\n"
	"	out[3 * n + i] = convert_half_rtn(d);\n"
	"}\n"
	"kernel void from_int(global const int *a, global half *out) {\n"
	"	size_t i = get_global_id(0), n = get_global_size(0);\n"
	"	out[i] = a[i];\n"
	"	out[n + i] = convert_half_rtz(a[i]);\n"
	"	out[2 * n + i] = convert_half_rtp((long)a[i]);\n"
	"	out[3 * n + i] = convert_half_rtn(a[i]);\n"
	"}\n"
	"kernel void to_int(global const half *a, global int *out) {\n"
	"	size_t i = get_global_id(0), n = get_global_size(0);\n"
	"	out[i] = convert_int_sat_rtz(a[i]);\n"
	"	out[n + i] = convert_int_sat_rte(a[i]);\n"
	"	out[2 * n + i] = convert_uchar_sat(a[i]);\n"
	"	out[3 * n + i] = convert_long_rtp(isfinite(a[i]) ? a[i] : (half)0);\n"
	"}\n"
	"kernel void functions(global const half4 *a, global const half4 *b, global half4 *out,\n"
	"		       half scale) {\n"
	"	size_t i = get_global_id(0), n = get_global_size(0);\n"
	"	half4 x = a[i], y = b[i], whole;\n"
	"	short4 less = isless(x, y);\n"
	"	int4 e;\n"
	"	out[i] = nextafter(x, y);\n"
	"	out[n + i] = select(x, y, less);\n"
	"	out[2 * n + i] = convert_half4(isnormal(x));\n"
	"	out[3 * n + i] = fract(x, &whole);\n"
	"	out[4 * n + i] = whole;\n"
	"	out[5 * n + i] = modf(x, &whole) + whole;\n"
	"	out[6 * n + i] = ldexp(frexp(x, &e), e);\n"
	"	out[7 * n + i] = clamp(x, (half)-1, scale);\n"
	"	out[8 * n + i] = exp2(x);\n"
	"	out[9 * n + i] = bitselect(x, y, (half4)-0.0h);\n"
	"	out[10 * n + i] = (half4)dot(x, (half4)scale);\n"
	"	out[12 * n + i] = fmin(x, fmax(y, (half)-4)) + trunc(x) + rint(y) + maxmag(x, y);\n"
	"	out[11 * n + i] = vload4(i, (global const half *)b);\n"
	"}\n"
	"kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
	"void copied(global const half *a, global half *out, local half *mine) {\n"
	"	size_t base = get_group_id(0) * get_local_size(0);\n"
	"	event_t done = async_work_group_copy(mine, a + base, get_local_size(0), 0);\n"
	"	wait_group_events(1, &done);\n"
	"	out[get_global_id(0)] = -mine[get_local_size(0) - 1 - get_local_id(0)];\n"
	"}\n"
	"kernel void pixels(read_only image2d_t from, write_only image2d_t to) {\n"
	"	int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
	"	write_imageh(to, at, read_imageh(from, at) * 2.0h);\n"
	"}\n";

FIXTURE(half) {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	bool skipped;
	_Float16 a[HALVES], b[HALVES];
	/* Aligned for what is not half, too. */
	_Float16 out[13 * HALVES] __attribute__((aligned(8)));
};

static bool has_half(void)
{
	char names[4096] = "";

	clGetDeviceInfo(ocl_device(), CL_DEVICE_EXTENSIONS, sizeof(names), names, NULL);
	return strstr(names, "cl_khr_fp16");
}

FIXTURE_SETUP(half)
{
	unsigned int i;
	uint16_t bits;

	if (!has_half()) {
		self->skipped = true;
		return;
	}
	ASSERT_EQ(0, ocl_open(NULL, &self->context, &self->queue));
	self->program = ocl_build(self->context, source, "-cl-std=CL3.0");
	ASSERT_NE(NULL, self->program);
	for (i = 0; i < HALVES; i++) {
		bits = i;
		memcpy(&self->a[i], &bits, sizeof(bits));
		bits = i * 40503u + (i >> 3);
		memcpy(&self->b[i], &bits, sizeof(bits));
	}
}

FIXTURE_TEARDOWN(half)
{
	if (self->skipped)
		return;
	EXPECT_EQ(0, clReleaseProgram(self->program));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static cl_mem upload(FIXTURE_DATA(half) *self, const void *data, size_t bytes)
{
	return clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, bytes, (void *)data, NULL);
}

/* Run a kernel on @items items whose arguments are @a, @b if there is one, and the results. */
static cl_int run(FIXTURE_DATA(half) *self, const char *name, const void *a, size_t a_bytes,
		  const void *b, size_t out_bytes, size_t items, const void *last,
		  size_t last_bytes)
{
	cl_kernel kernel = clCreateKernel(self->program, name, NULL);
	cl_mem mems[3] = { upload(self, a, a_bytes), b ? upload(self, b, a_bytes) : NULL,
			   clCreateBuffer(self->context, 0, out_bytes, NULL, NULL) };
	unsigned int i, index = 0;
	cl_int err = 0;

	for (i = 0; i < 3; i++)
		if (mems[i])
			err |= clSetKernelArg(kernel, index++, sizeof(mems[i]), &mems[i]);
	if (last_bytes)
		err |= clSetKernelArg(kernel, index, last_bytes, last);
	err |= clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
	err |= clEnqueueReadBuffer(self->queue, mems[2], CL_TRUE, 0, out_bytes, self->out, 0, NULL,
				   NULL);
	for (i = 0; i < 3; i++)
		if (mems[i])
			clReleaseMemObject(mems[i]);
	clReleaseKernel(kernel);
	return err;
}

/* The same bits, or both not a number */
static bool same(_Float16 a, _Float16 b)
{
	return (a != a && b != b) || !memcmp(&a, &b, sizeof(a));
}

static _Float16 neighbor(_Float16 x, bool away)
{
	uint16_t bits;

	memcpy(&bits, &x, sizeof(bits));
	bits += away ? 1 : -1;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* @exact in the rounding mode that the results' part @mode has: nearest, to zero, up, down. */
static _Float16 rounded(double exact, unsigned int mode)
{
	const _Float16 near = exact;
	const double got = near;

	if (!mode || got == exact || exact != exact)
		return near;
	if (mode == 1)
		return fabs(got) > fabs(exact) ? neighbor(near, false) : near;
	if (mode == 2)
		return got < exact ? neighbor(near, exact > 0) : near;
	return got > exact ? neighbor(near, exact < 0) : near;
}

TEST_F(half, the_device_says_what_it_can)
{
	cl_device_fp_config config = 0;
	cl_uint width = 7;

	EXPECT_EQ(0, clGetDeviceInfo(ocl_device(), CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
				     sizeof(width), &width, NULL));
	EXPECT_EQ(!self->skipped, width);
	EXPECT_EQ(self->skipped ? CL_INVALID_VALUE : 0,
		  clGetDeviceInfo(ocl_device(), CL_DEVICE_HALF_FP_CONFIG, sizeof(config), &config,
				  NULL));
	EXPECT_EQ(!self->skipped, !!(config & CL_FP_ROUND_TO_NEAREST));
	if (!getenv("SALVO_DEVICE"))
		EXPECT_EQ(!__builtin_cpu_supports("f16c") || !__builtin_cpu_supports("avx2"),
			  self->skipped);
}

TEST_F(half, arithmetic_rounds_each_result_once)
{
	unsigned int i;
	double x, y;

	if (self->skipped)
		SKIP(return, "the processor does not convert half");
	ASSERT_EQ(0, run(self, "arithmetic", self->a, sizeof(self->a), self->b,
			 8 * sizeof(self->a), HALVES, NULL, 0));
	for (i = 0; i < HALVES; i++) {
		x = self->a[i];
		y = self->b[i];
		ASSERT_TRUE(same((_Float16)(x + y), self->out[i]));
		ASSERT_TRUE(same((_Float16)(x - y), self->out[HALVES + i]));
		ASSERT_TRUE(same((_Float16)(x * y), self->out[2 * HALVES + i]));
		ASSERT_TRUE(same((_Float16)(x / y), self->out[3 * HALVES + i]));
		ASSERT_TRUE(same((_Float16)sqrt(x), self->out[4 * HALVES + i]));
		ASSERT_TRUE(same((_Float16)(x * y + x), self->out[5 * HALVES + i]));
		ASSERT_TRUE(same(x < 3 ? self->a[i] : 3, self->out[6 * HALVES + i]));
		ASSERT_TRUE(same(x > y ? self->a[i] : self->b[i], self->out[7 * HALVES + i]));
	}
}

TEST_F(half, conversions_round_as_they_say)
{
	static float floats[HALVES];
	static int ints[HALVES];
	const double tiny = 0x1p-40;
	unsigned int i, mode;

	if (self->skipped)
		SKIP(return, "the processor does not convert half");
	for (i = 0; i < HALVES; i++) {
		/* Halves, the middle between two, and what lies just beside them */
		floats[i] = (float)self->a[i] + (i & 1 ? (float)self->a[i] * 0x1p-11f : 0);
		floats[i] = nextafterf(floats[i], i & 2 ? INFINITY : i & 4 ? 0 : floats[i]);
		ints[i] = (int)(i * 2654435761u) >> (i % 32);
	}
	ASSERT_EQ(0, run(self, "from_float", floats, sizeof(floats), NULL, 4 * sizeof(self->a),
			 HALVES, NULL, 0));
	for (i = 0; i < 4 * HALVES; i++)
		ASSERT_TRUE(same(rounded(floats[i % HALVES], i / HALVES), self->out[i]));
	ASSERT_EQ(0, run(self, "from_double", floats, sizeof(floats), NULL, 4 * sizeof(self->a),
			 HALVES, &tiny, sizeof(tiny)));
	for (i = 0; i < 4 * HALVES; i++) {
		const double exact = floats[i % HALVES] + (double)floats[i % HALVES] * tiny;

		mode = i / HALVES;
		ASSERT_TRUE(same(rounded(exact, mode), self->out[i]));
	}
	ASSERT_EQ(0, run(self, "from_int", ints, sizeof(ints), NULL, 4 * sizeof(self->a), HALVES,
			 NULL, 0));
	for (i = 0; i < 4 * HALVES; i++)
		ASSERT_TRUE(same(rounded(ints[i % HALVES], i / HALVES), self->out[i]));
}

TEST_F(half, conversions_to_integers_saturate)
{
	const int *out = (const int *)self->out;
	unsigned int i;
	double x;

	if (self->skipped)
		SKIP(return, "the processor does not convert half");
	ASSERT_EQ(0, run(self, "to_int", self->a, sizeof(self->a), NULL, 4 * HALVES * sizeof(int),
			 HALVES, NULL, 0));
	for (i = 0; i < HALVES; i++) {
		x = self->a[i];
		x = x != x ? 0 : fmin(fmax(x, INT32_MIN), INT32_MAX);
		ASSERT_EQ((int)x, out[i]);
		ASSERT_EQ((int)rint(x), out[HALVES + i]);
		ASSERT_EQ((int)fmin(fmax(x, 0), 255), out[2 * HALVES + i]);
		ASSERT_EQ(isfinite((float)self->a[i]) ? (int)ceil(x) : 0, out[3 * HALVES + i]);
	}
}

/* From @x to the next half in the direction of @y */
static _Float16 next_after(_Float16 x, _Float16 y)
{
	if (x != x || y != y)
		return x + y;
	if (x == y)
		return y;
	if (x == 0)
		return y > 0 ? 0x1p-24f : -0x1p-24f;
	return neighbor(x, (y > x) == (x > 0));
}

static double fraction(double x)
{
	return isinf(x) ? copysign(0, x) : x - floor(x);
}

static _Float16 limits(_Float16 a, _Float16 b)
{
	const float x = a, y = b;
	const float larger = fabsf(x) > fabsf(y) ? x : fabsf(y) > fabsf(x) ? y : fmaxf(x, y);

	return (_Float16)((_Float16)((_Float16)(fminf(x, fmaxf(y, -4)) + truncf(x)) + rintf(y)) +
			  larger);
}

TEST_F(half, functions_of_vectors)
{
	const _Float16 scale = 3.5f, *out = self->out;
	unsigned int i;

	if (self->skipped)
		SKIP(return, "the processor does not convert half");
	ASSERT_EQ(0, run(self, "functions", self->a, sizeof(self->a), self->b,
			 13 * sizeof(self->a), HALVES / 4, &scale, sizeof(scale)));
	for (i = 0; i < HALVES; i++) {
		const _Float16 a = self->a[i], b = self->b[i];
		const double x = a, y = b;
		_Float16 part = fraction(x);

		ASSERT_TRUE(same(next_after(a, b), out[i]));
		ASSERT_TRUE(same(x < y ? b : a, out[HALVES + i]));
		ASSERT_EQ(fabs(x) >= 0x1p-14 && isfinite(x) ? -1 : 0, (int)out[2 * HALVES + i]);
		part = part >= 1 ? (_Float16)0x1.ffcp-1f : part;
		ASSERT_TRUE(part == out[3 * HALVES + i] || same(part, out[3 * HALVES + i]));
		ASSERT_TRUE(same((_Float16)floor(x), out[4 * HALVES + i]));
		ASSERT_TRUE(x == out[5 * HALVES + i] || x != x);
		ASSERT_TRUE(same(a, out[6 * HALVES + i]));
		ASSERT_TRUE(x != x || out[7 * HALVES + i] == fmin(fmax(x, -1), scale));
		ASSERT_TRUE(x != x || fabs(out[8 * HALVES + i] - exp2(x)) <= exp2(x) * 0x1p-10 ||
			    exp2(x) < 0x1p-14 || exp2(x) > 65504);
		ASSERT_TRUE(same(copysign(1, y) < 0 ? -(_Float16)fabs(x) : (_Float16)fabs(x),
				 out[9 * HALVES + i]));
		ASSERT_TRUE(same(b, out[11 * HALVES + i]));
		ASSERT_TRUE(same(limits(a, b), out[12 * HALVES + i]));
	}
	for (i = 0; i < HALVES; i += 4) {
		float sum = 0;
		unsigned int e;

		for (e = 0; e < 4; e++)
			sum += (float)self->a[i + e] * (float)scale;
		ASSERT_TRUE(sum != sum || isinf(out[10 * HALVES + i]) ||
			    fabsf((float)out[10 * HALVES + i] - sum) <=
			    fabsf(sum) * 0x1p-10f + 0x1p-24f);
	}
}

TEST_F(half, local_memory_takes_copies)
{
	const unsigned int group = 64, count = 16384;
	unsigned int i;

	if (self->skipped)
		SKIP(return, "the processor does not convert half");
	ASSERT_EQ(0, run(self, "copied", self->a, 2 * count, NULL, 2 * count, count, NULL,
			 2 * group));
	for (i = 0; i < count; i++)
		ASSERT_TRUE(same(-self->a[i / group * group + group - 1 - i % group],
				 self->out[i]));
}

TEST_F(half, images_are_read_and_written)
{
	const cl_image_format format = { CL_RGBA, CL_HALF_FLOAT };
	const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 64,
				     .image_height = 16 };
	const size_t origin[3] = { 0 }, region[3] = { 64, 16, 1 };
	cl_kernel kernel;
	cl_mem images[2];
	unsigned int i;
	cl_int err;

	if (self->skipped)
		SKIP(return, "the processor does not convert half");
	images[0] = clCreateImage(self->context, CL_MEM_COPY_HOST_PTR, &format, &desc,
				  self->a + 8192, &err);
	ASSERT_EQ(0, err);
	images[1] = clCreateImage(self->context, 0, &format, &desc, NULL, &err);
	ASSERT_EQ(0, err);
	kernel = clCreateKernel(self->program, "pixels", &err);
	ASSERT_EQ(0, err);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, clSetKernelArg(kernel, i, sizeof(images[i]), &images[i]));
	ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, kernel, 2, NULL, region, NULL, 0, NULL,
					    NULL));
	ASSERT_EQ(0, clEnqueueReadImage(self->queue, images[1], CL_TRUE, origin, region, 0, 0,
					self->out, 0, NULL, NULL));
	for (i = 0; i < 64 * 16 * 4; i++)
		ASSERT_TRUE(same(self->a[8192 + i] * 2, self->out[i]));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, clReleaseMemObject(images[i]));
	EXPECT_EQ(0, clReleaseKernel(kernel));
}

TEST_HARNESS_MAIN
