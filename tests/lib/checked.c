// SPDX-License-Identifier: MIT
/*
 * checked.c - the checked mode: accesses outside of buffers, variables and images, to the byte
 *
 * All buffers of a kernel are ranges of one large buffer, so that without checks no access would
 * fault.
 */
#include "kselftest_harness.h"
#include "lib_test.h"

static const char source[] =
	"kernel void put(global int *out, int n)\n"
	"{ int i = get_global_id(0); if (i < n) out[i] = i; }\n"
	"kernel void before(global int *out, global const int *in)\n"
	"{ int i = get_global_id(0); out[i] = in[i - 1]; }\n"
	"kernel void pick(global int *out, global const int *in, constant int *at)\n"
	"{ int i = get_global_id(0); out[i] = in[at[i]]; }\n"
	"kernel void table(global int *out, global const uchar *in, constant int *at)\n"
	"{ int i = get_global_id(0); out[i] = in[at[i]]; }\n"
	"kernel void words(global int *out, global const short *in, constant int *at)\n"
	"{ int i = get_global_id(0); if (at[i] >= 0) out[i] = in[at[i]]; }\n"
	"kernel void one(global int *out, global const int *in, int n)\n"
	"{ int i = get_global_id(0); if (in[i] > 0) out[i] = in[n]; }\n"
	"kernel void some(global int *out, global const int *in)\n"
	"{ int i = get_global_id(0); if (in[i] > 0) out[i] = 1; }\n"
	"kernel void quads(global int *out, global const int4 *in, global const int *at)\n"
	"{ int i = get_global_id(0), j = at[i];\n"
	"  if (j >= 0) { int4 v = in[j]; out[i] = v.x + v.y * v.z - v.w; } }\n"
	"kernel void choose(global int *out, global int *other, int n)\n"
	"{ int i = get_global_id(0); global int *to = i < n ? out : other; to[i] = i; }\n"
	"kernel void turn(global int *out, local int *shared, int n)\n"
	"{ int i = get_local_id(0); shared[i + n] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
	"  out[i] = shared[get_local_size(0) - 1 - i + n]; }\n"
	"kernel void tally(global int *out, local int *shared, global const int *in)\n"
	"{ int i = get_local_id(0); shared[i & 15] = 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
	"  if (in[i] > 0) atomic_add(shared + in[i], i);\n"
	"  barrier(CLK_LOCAL_MEM_FENCE); out[i] = shared[i & 15]; }\n"
	"kernel void count(global int *out, int n)\n"
	"{ atomic_inc(out + get_global_id(0) % 4 * n); }\n"
	"kernel void walk(global int *out, int n)\n"
	"{ global int *p = out + get_global_id(0) * n; for (int i = 0; i < n; i++) *p++ = i; }\n"
	"kernel void vectors(global float *out, int n)\n"
	"{ vstore4((float4)(1), get_global_id(0), out + n); }\n"
	"struct pair { int a[6]; };\n"
	"kernel void whole(global struct pair *out, global struct pair *in)\n"
	"{ out[get_global_id(0)] = in[get_global_id(0)]; }\n"
	"kernel void array(global int *out, global const int *at, int n)\n"
	"{ int a[12], i = get_global_id(0), j;\n"
	"  for (j = 0; j < n; j++) a[j] = i + j;\n"
	"  out[i] = a[at[i]] + a[0]; }\n"
	"kernel void unrolled(global int *out)\n"
	"{ int a[12], i = get_global_id(0), j, sum = 0;\n"
	"  for (j = 0; j <= 12; j++) a[j] = i * j;\n"
	"  for (j = 0; j < 12; j++) sum += a[j];\n"
	"  out[i] = sum; }\n"
	"void fill(int *a, int n, int x) { for (int i = 0; i < n; i++) *a++ = x; }\n"
	"kernel void passed(global int *out, int n)\n"
	"{ int a[12], b[4], i = get_global_id(0);\n"
	"  fill(b, 4, 7); fill(a, n, i); out[i] = a[i & 7] + b[i & 3]; }\n"
	"struct entry { int key; char name[6]; };\n"
	"kernel void members(global char *out, int n)\n"
	"{ struct entry e[3]; int i = get_global_id(0);\n"
	"  for (int j = 0; j < 3; j++) for (int k = 0; k < 6; k++) e[j].name[k] = j + k;\n"
	"  out[i] = e[i % 3].name[n]; }\n"
	"kernel void fixed(global int *out, int n)\n"
	"{ local int t[64]; int i = get_local_id(0); t[i + n] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
	"  out[i] = t[63 - i]; }\n"
	"kernel void two(global int *out, local int *given, int n)\n"
	"{ local int own[16]; int i = get_local_id(0); local int *t = n < 32 ? own : given;\n"
	"  if (i < 16) own[i] = 0;\n"
	"  barrier(CLK_LOCAL_MEM_FENCE); t[n] = i; out[i] = n; }\n"
	"constant short weights[5] = { 1, 2, 3, 4, 5 };\n"
	"kernel void weigh(global int *out, global const int *at)\n"
	"{ int i = get_global_id(0); out[i] = weights[at[i]]; }\n"
	"kernel void connect(global int *out, global ulong *list, global int *other)\n"
	"{ int i = get_global_id(0); list[i] = (ulong)(i % 2 ? out : other); }\n"
	"kernel void indirect(global int *out, global ulong *list, global int *other, int n)\n"
	"{ int i = get_global_id(0); global int *global *p = (global int *global *)list;\n"
	"  p[i][i + n] = i; }\n"
	"kernel void pixels(read_only image2d_t in, global float4 *out, global const int2 *at)\n"
	"{ int i = get_global_id(0); out[i] = read_imagef(in, at[i]); }\n"
	"kernel void sampled(read_only image2d_t in, global float4 *out, global const int2 *at,\n"
	"		     sampler_t how)\n"
	"{ int i = get_global_id(0); out[i] = read_imagef(in, how, convert_float2(at[i])); }\n"
	"kernel void draw(int unused, write_only image2d_t to, global const int2 *at)\n"
	"{ write_imagef(to, at[get_global_id(0)], (float4)(1)); }\n"
	"kernel void layers(write_only image2d_array_t to, global const int2 *at)\n"
	"{ int i = get_global_id(0); write_imageui(to, (int4)(at[i], 2, 0), (uint4)(9)); }\n";

FIXTURE(checked) {
	struct bench b;
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	struct salvo_error error;
	struct salvo_error_bounds bounds;
};

FIXTURE_VARIANT(checked) {
	const char *options;
};

FIXTURE_VARIANT_ADD(checked, optimised) {
	.options = "--checked",
};

FIXTURE_VARIANT_ADD(checked, for_debugging) {
	.options = "--checked -O0",
};

FIXTURE_VARIANT_ADD(checked, as_threads) {
	.options = "--checked --fibers",
};

FIXTURE_SETUP(checked)
{
	char *log = NULL;

	ASSERT_EQ(0, bench_open(&self->b));
	EXPECT_EQ(0, salvo_program_build(self->b.device, source, 0, variant->options, &log,
					 &self->program)) {
		TH_LOG("%s", log);
	}
	free(log);
	ASSERT_NE(NULL, self->program);
}

FIXTURE_TEARDOWN(checked)
{
	salvo_kernel_destroy(self->kernel);
	salvo_program_destroy(self->program);
	bench_close(&self->b);
}

static void take(FIXTURE_DATA(checked) *self, const char *name)
{
	salvo_kernel_destroy(self->kernel);
	self->kernel = NULL;
	salvo_kernel_create(self->program, name, &self->kernel);
}

static void set_value(FIXTURE_DATA(checked) *self, unsigned int index, int value)
{
	salvo_kernel_set_value(self->kernel, index, &value, sizeof(value));
}

static int set_range(FIXTURE_DATA(checked) *self, unsigned int index, uint64_t offset,
		     uint64_t size)
{
	return salvo_kernel_set_bo_range(self->kernel, index, self->b.bo, offset, size);
}

/* Runs the kernel; the error, if it is one of bounds, is in @self->bounds. */
static int run(FIXTURE_DATA(checked) *self, uint32_t items)
{
	struct salvo_fence *fence = NULL;
	int err;

	salvo_queue_destroy(self->b.queue);
	self->b.queue = NULL;
	salvo_batch_reset(self->b.batch);
	err = salvo_queue_create(self->b.device, 0, &self->b.queue);
	if (!err)
		err = salvo_kernel_set_grid(self->kernel, 1, &items, &items);
	if (!err)
		err = salvo_batch_dispatch(self->b.batch, self->kernel);
	if (err >= 0)
		err = salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence);
	if (!err)
		err = salvo_fence_wait(fence, 10 * SECOND_NS);
	if (fence)
		salvo_fence_get_error(fence, &self->error);
	salvo_error_get_bounds(&self->error, &self->bounds);
	salvo_fence_destroy(fence);
	return err;
}

#define EXPECT_BOUNDS(argument_, low, high, access_) do { \
	EXPECT_EQ(SALVO_ERROR_BOUNDS, self->error.kind); \
	EXPECT_EQ(argument_, self->bounds.argument); \
	EXPECT_LE(low, self->bounds.offset); \
	EXPECT_GE(high, self->bounds.offset); \
	EXPECT_EQ(access_, self->error.access); \
} while (0)

TEST_F(checked, the_end_of_a_buffer_counts_to_the_byte)
{
	take(self, "put");
	ASSERT_EQ(0, set_range(self, 0, 4096, 100));
	set_value(self, 1, 25);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(24, self->b.map[1024 + 24]);
	set_value(self, 1, 26);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 64, 100, SALVO_ERROR_WRITE);
	EXPECT_EQ(0, self->b.map[1024 + 25]);
	/* 1,024 ints into a buffer of 100 bytes */
	set_value(self, 1, 1024);
	EXPECT_EQ(-ECANCELED, run(self, 1024));
	EXPECT_BOUNDS(0, 64, 100, SALVO_ERROR_WRITE);
	EXPECT_STREQ("put", self->error.kernel);
	/* Not even one byte less */
	ASSERT_EQ(0, set_range(self, 0, 4096, 99));
	set_value(self, 1, 25);
	EXPECT_EQ(-ECANCELED, run(self, 25));
	EXPECT_BOUNDS(0, 64, 96, SALVO_ERROR_WRITE);
}

TEST_F(checked, a_buffer_object_ends_where_it_ends)
{
	struct salvo_bo *bo;

	take(self, "put");
	ASSERT_EQ(0, salvo_bo_create(self->b.device, 100, 0, &bo));
	ASSERT_EQ(0, salvo_kernel_set_bo(self->kernel, 0, bo, 40));
	set_value(self, 1, 15);
	EXPECT_EQ(0, run(self, 64));
	set_value(self, 1, 16);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 0, 60, SALVO_ERROR_WRITE);
	salvo_bo_destroy(bo);
}

TEST_F(checked, an_access_before_the_buffer_is_caught)
{
	take(self, "before");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 512, 256));
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, -4, -4, SALVO_ERROR_READ);
}

TEST_F(checked, a_null_pointer_has_no_bytes)
{
	take(self, "put");
	ASSERT_EQ(0, salvo_kernel_set_bo(self->kernel, 0, NULL, 0));
	set_value(self, 1, 64);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 0, 0, SALVO_ERROR_WRITE);
}

TEST_F(checked, an_index_out_of_a_table_is_caught)
{
	int i;

	take(self, "pick");
	for (i = 0; i < 64; i++)
		self->b.map[256 + i] = 63 - i;
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 512, 256));
	ASSERT_EQ(0, set_range(self, 2, 1024, 256));
	EXPECT_EQ(0, run(self, 64));
	self->b.map[256 + 37] = 1000;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, 4000, 4000, SALVO_ERROR_READ);
	EXPECT_EQ(4, self->bounds.size);
}

/* With AVX-512 the optimiser may load them as parts of words. */
TEST_F(checked, tables_of_bytes_and_shorts_are_checked_to_the_byte)
{
	const char *bytes = (const char *)self->b.map + 2050;
	int *at = (int *)self->b.map + 1024;
	int i;

	take(self, "table");
	for (i = 0; i < 64; i++)
		at[i] = i * 41 % 99;
	at[40] = 98;
	self->b.map[(2050 + 98) / 4] = 0x04030201;
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 2050, 99));
	ASSERT_EQ(0, set_range(self, 2, 4096, 256));
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ((unsigned char)bytes[98], self->b.map[40]);
	at[37] = 99;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, 99, 99, SALVO_ERROR_READ);
	at[37] = -1;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, -1, -1, SALVO_ERROR_READ);

	take(self, "words");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 2050, 198));
	ASSERT_EQ(0, set_range(self, 2, 4096, 256));
	EXPECT_EQ(0, run(self, 64));
	at[50] = 99;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, 198, 198, SALVO_ERROR_READ);
}

TEST_F(checked, items_that_do_not_access_memory_are_not_checked)
{
	int i;

	take(self, "some");
	for (i = 0; i < 64; i++)
		self->b.map[512 + i] = i < 20 && i % 3;
	ASSERT_EQ(0, set_range(self, 0, 0, 80));
	ASSERT_EQ(0, set_range(self, 1, 2048, 256));
	EXPECT_EQ(0, run(self, 64));
	self->b.map[512 + 22] = 1;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 64, 88, SALVO_ERROR_WRITE);
}

/* One word for all work-items, that only some of them read */
TEST_F(checked, an_access_of_some_work_items_to_one_address_is_checked)
{
	int i;

	take(self, "one");
	for (i = 0; i < 64; i++)
		self->b.map[512 + i] = i == 20;
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 2048, 256));
	set_value(self, 2, 20);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(1, self->b.map[20]);
	set_value(self, 2, 64);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, 256, 256, SALVO_ERROR_READ);
	self->b.map[512 + 20] = 0;
	EXPECT_EQ(0, run(self, 64));
}

TEST_F(checked, vectors_that_some_work_items_load_are_checked)
{
	int i;

	take(self, "quads");
	for (i = 0; i < 64; i++) {
		self->b.map[512 + i] = i;
		self->b.map[1024 + i] = i % 3 ? i % 16 : -1 - i;
	}
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 2048, 256));
	ASSERT_EQ(0, set_range(self, 2, 4096, 256));
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(20 + 21 * 22 - 23, self->b.map[5]);
	self->b.map[1024 + 37] = 16;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, 256, 256, SALVO_ERROR_READ);
}

TEST_F(checked, a_pointer_may_be_of_several_arguments)
{
	take(self, "choose");
	ASSERT_EQ(0, set_range(self, 0, 0, 128));
	ASSERT_EQ(0, set_range(self, 1, 1024, 256));
	set_value(self, 2, 32);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(63, self->b.map[256 + 63]);
	ASSERT_EQ(0, set_range(self, 1, 1024, 252));
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_EQ(SALVO_ERROR_BOUNDS, self->error.kind);
}

TEST_F(checked, local_memory_is_checked_too)
{
	take(self, "turn");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, salvo_kernel_set_local(self->kernel, 1, 256));
	set_value(self, 2, 0);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(63, self->b.map[0]);
	set_value(self, 2, 1);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, 196, 256, SALVO_ERROR_WRITE);
}

/* Atomic operations on local memory are a load and a store in the end. */
TEST_F(checked, local_atomics_of_some_work_items_are_checked)
{
	int i;

	take(self, "tally");
	for (i = 0; i < 64; i++)
		self->b.map[512 + i] = i % 3 * 7;
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, salvo_kernel_set_local(self->kernel, 1, 64));
	ASSERT_EQ(0, set_range(self, 2, 2048, 256));
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(651, self->b.map[7]);
	self->b.map[512 + 37] = 16;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_EQ(SALVO_ERROR_BOUNDS, self->error.kind);
	EXPECT_EQ(1, self->bounds.argument);
	EXPECT_EQ(64, self->bounds.offset);
}

TEST_F(checked, atomics_loops_vectors_and_structures_are_checked)
{
	take(self, "count");
	ASSERT_EQ(0, set_range(self, 0, 0, 16));
	set_value(self, 1, 1);
	EXPECT_EQ(0, run(self, 64));
	set_value(self, 1, 2);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 16, 24, SALVO_ERROR_WRITE);
	take(self, "walk");
	ASSERT_EQ(0, set_range(self, 0, 0, 4 * 64 * 5));
	set_value(self, 1, 5);
	EXPECT_EQ(0, run(self, 64));
	ASSERT_EQ(0, set_range(self, 0, 0, 4 * 64 * 5 - 4));
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 4 * 64 * 5 - 64, 4 * 64 * 5 - 4, SALVO_ERROR_WRITE);
	take(self, "vectors");
	ASSERT_EQ(0, set_range(self, 0, 0, 64 * 16));
	set_value(self, 1, 0);
	EXPECT_EQ(0, run(self, 64));
	set_value(self, 1, 1);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 64 * 16 - 256, 64 * 16, SALVO_ERROR_WRITE);
	take(self, "whole");
	ASSERT_EQ(0, set_range(self, 0, 0, 64 * 24));
	ASSERT_EQ(0, set_range(self, 1, 4096, 64 * 24));
	EXPECT_EQ(0, run(self, 64));
	ASSERT_EQ(0, set_range(self, 1, 4096, 64 * 24 - 1));
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, 0, 64 * 24 - 1, SALVO_ERROR_READ);
}

TEST_F(checked, private_arrays_end_at_their_last_byte)
{
	int *at = (int *)self->b.map + 512;
	int i;

	for (i = 0; i < 64; i++)
		at[i] = i % 12;
	take(self, "array");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 2048, 256));
	set_value(self, 2, 12);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(13 + 1 + 13, self->b.map[13]);
	set_value(self, 2, 13);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(SALVO_BOUNDS_PRIVATE, 48, 48, SALVO_ERROR_WRITE);
	EXPECT_EQ(4, self->bounds.size);
	set_value(self, 2, 12);
	at[37] = -2;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(SALVO_BOUNDS_PRIVATE, -8, -8, SALVO_ERROR_READ);
	EXPECT_GE(37, self->error.item);
}

/* The compiler may not use that such an access is undefined. */
TEST_F(checked, constant_loops_and_functions_are_checked)
{
	take(self, "unrolled");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(SALVO_BOUNDS_PRIVATE, 48, 48, SALVO_ERROR_WRITE);
	take(self, "passed");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	set_value(self, 1, 12);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(20, self->b.map[13]);
	set_value(self, 1, 13);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(SALVO_BOUNDS_PRIVATE, 48, 48, SALVO_ERROR_WRITE);
	take(self, "members");
	ASSERT_EQ(0, set_range(self, 0, 0, 64));
	set_value(self, 1, 5);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(0x05070605, self->b.map[0]);
	set_value(self, 1, 40);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(SALVO_BOUNDS_PRIVATE, 44, 68, SALVO_ERROR_READ);
}

TEST_F(checked, local_variables_and_constants_are_checked)
{
	int i;

	take(self, "fixed");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	set_value(self, 1, 0);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(63, self->b.map[0]);
	set_value(self, 1, 1);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(SALVO_BOUNDS_LOCAL, 256, 256, SALVO_ERROR_WRITE);
	take(self, "two");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, salvo_kernel_set_local(self->kernel, 1, 256));
	set_value(self, 2, 15);
	EXPECT_EQ(0, run(self, 64));
	set_value(self, 2, 63);
	EXPECT_EQ(0, run(self, 64));
	set_value(self, 2, 1000);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_EQ(SALVO_ERROR_BOUNDS, self->error.kind);
	take(self, "weigh");
	for (i = 0; i < 64; i++)
		self->b.map[512 + i] = i % 5;
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 2048, 256));
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(5, self->b.map[4]);
	self->b.map[512 + 50] = 5;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(SALVO_BOUNDS_CONSTANT, 10, 10, SALVO_ERROR_READ);
	EXPECT_EQ(2, self->bounds.size);
}

/* Also through a pointer that a variable holds */
TEST_F(checked, variables_of_the_program_are_checked)
{
	static const char text[] =
		"global int squares[24];\n"
		"global int *global where = squares;\n"
		"kernel void set(global int *out, int n)\n"
		"{ int i = get_global_id(0); squares[i + n] = i * i; out[i] = squares[0]; }\n"
		"kernel void follow(global int *out, int n)\n"
		"{ int i = get_global_id(0); out[i] = where[i + n]; }\n";
	char options[100], *log = NULL;

	salvo_program_destroy(self->program);
	snprintf(options, sizeof(options), "-cl-std=CL3.0 %s", variant->options);
	EXPECT_EQ(0, salvo_program_build(self->b.device, text, 0, options, &log, &self->program)) {
		TH_LOG("%s", log);
	}
	free(log);
	take(self, "set");
	ASSERT_EQ(0, set_range(self, 0, 0, 4096));
	set_value(self, 1, 0);
	EXPECT_EQ(0, run(self, 24));
	set_value(self, 1, 1);
	EXPECT_EQ(-ECANCELED, run(self, 24));
	EXPECT_BOUNDS(SALVO_BOUNDS_CONSTANT, 32, 96, SALVO_ERROR_WRITE);
	set_value(self, 1, 0);
	EXPECT_EQ(0, run(self, 24));
	take(self, "follow");
	ASSERT_EQ(0, set_range(self, 0, 0, 4096));
	set_value(self, 1, 0);
	EXPECT_EQ(0, run(self, 24));
	EXPECT_EQ(23 * 23, self->b.map[23]);
	set_value(self, 1, 1 << 20);
	EXPECT_EQ(-ECANCELED, run(self, 24));
	EXPECT_EQ(SALVO_BOUNDS_POINTER, self->bounds.argument);
}

TEST_F(checked, a_pointer_from_memory_is_of_some_argument)
{
	take(self, "connect");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 1024, 512));
	ASSERT_EQ(0, set_range(self, 2, 2048, 256));
	EXPECT_EQ(0, run(self, 64));
	take(self, "indirect");
	ASSERT_EQ(0, set_range(self, 0, 0, 256));
	ASSERT_EQ(0, set_range(self, 1, 1024, 512));
	ASSERT_EQ(0, set_range(self, 2, 2048, 256));
	set_value(self, 3, 0);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(31, self->b.map[31]);
	EXPECT_EQ(32, self->b.map[512 + 32]);
	set_value(self, 3, 1);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_EQ(SALVO_ERROR_BOUNDS, self->error.kind);
	EXPECT_EQ(SALVO_BOUNDS_POINTER, self->bounds.argument);
	EXPECT_EQ(SALVO_ERROR_WRITE, self->error.access);
}

static struct salvo_image *make_image(FIXTURE_DATA(checked) *self, uint32_t type, uint32_t layers)
{
	const struct salvo_image_info info = {
		.order = SALVO_IMAGE_RGBA, .type = type, .width = 8, .height = 8, .layers = layers,
		.row_pitch = 4 * 16,
	};
	struct salvo_image *image = NULL;

	/* In the middle of a larger buffer, with room between rows */
	salvo_image_create_from_bo(self->b.bo, 8192, &info, &image);
	return image;
}

TEST_F(checked, reads_outside_of_an_image_are_caught)
{
	struct salvo_image *image = make_image(self, SALVO_IMAGE_UNORM_INT8, 0);
	int *at = (int *)self->b.map + 1024;
	int i;

	ASSERT_NE(NULL, image);
	for (i = 0; i < 64; i++) {
		at[2 * i] = i % 8;
		at[2 * i + 1] = i / 8;
	}
	take(self, "pixels");
	ASSERT_EQ(0, salvo_kernel_set_image(self->kernel, 0, image));
	ASSERT_EQ(0, set_range(self, 1, 0, 1024));
	ASSERT_EQ(0, set_range(self, 2, 4096, 512));
	EXPECT_EQ(0, run(self, 64));
	at[2 * 37] = 8;
	at[2 * 37 + 1] = 4;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 4 * 64 + 32, 4 * 64 + 32, SALVO_ERROR_READ);
	EXPECT_EQ(4, self->bounds.size);
	take(self, "sampled");
	ASSERT_EQ(0, salvo_kernel_set_image(self->kernel, 0, image));
	ASSERT_EQ(0, set_range(self, 1, 0, 1024));
	ASSERT_EQ(0, set_range(self, 2, 4096, 512));
	ASSERT_EQ(0, salvo_kernel_set_sampler(self->kernel, 3, SALVO_SAMPLER_NEAREST |
					      SALVO_SAMPLER_CLAMP_TO_EDGE));
	EXPECT_EQ(0, run(self, 64));
	ASSERT_EQ(0, salvo_kernel_set_sampler(self->kernel, 3, SALVO_SAMPLER_NEAREST));
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 4 * 64 + 32, 4 * 64 + 32, SALVO_ERROR_READ);
	at[2 * 37] = 7;
	EXPECT_EQ(0, run(self, 64));
	salvo_image_destroy(image);
}

TEST_F(checked, writes_outside_of_an_image_are_caught)
{
	struct salvo_image *image = make_image(self, SALVO_IMAGE_UNORM_INT8, 0);
	struct salvo_image *array = make_image(self, SALVO_IMAGE_UNSIGNED_INT16, 2);
	int *at = (int *)self->b.map + 1024;
	int i;

	ASSERT_NE(NULL, image);
	ASSERT_NE(NULL, array);
	for (i = 0; i < 64; i++)
		at[2 * i] = at[2 * i + 1] = i % 8;
	take(self, "draw");
	set_value(self, 0, 0);
	ASSERT_EQ(0, salvo_kernel_set_image(self->kernel, 1, image));
	ASSERT_EQ(0, set_range(self, 2, 4096, 512));
	EXPECT_EQ(0, run(self, 64));
	at[2 * 60 + 1] = -1;
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(1, 16 - 64, 16 - 64, SALVO_ERROR_WRITE);
	at[2 * 60 + 1] = 0;
	take(self, "layers");
	ASSERT_EQ(0, salvo_kernel_set_image(self->kernel, 0, array));
	ASSERT_EQ(0, set_range(self, 1, 4096, 512));
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_BOUNDS(0, 2 * 8 * 64, 2 * 8 * 64 + 7 * 72, SALVO_ERROR_WRITE);
	EXPECT_EQ(8, self->bounds.size);
	salvo_image_destroy(array);
	salvo_image_destroy(image);
}

TEST_F(checked, a_patch_changes_the_size)
{
	struct salvo_fence *fence;
	const uint32_t items = 64;

	take(self, "put");
	ASSERT_EQ(0, set_range(self, 0, 0, 100));
	set_value(self, 1, 64);
	ASSERT_EQ(0, salvo_kernel_set_grid(self->kernel, 1, &items, NULL));
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, self->kernel));
	ASSERT_EQ(0, salvo_batch_patch_bo(self->b.batch, 0, 0, self->b.bo, 0, 256));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	EXPECT_EQ(0, salvo_fence_wait(fence, 10 * SECOND_NS));
	salvo_fence_destroy(fence);
}

TEST(the_environment_asks_for_checks)
{
	FIXTURE_DATA(checked) data = { .kernel = NULL }, *self = &data;

	ASSERT_EQ(0, bench_open(&self->b));
	setenv("SALVO_CHECKED", "1", 1);
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &self->program));
	take(self, "put");
	ASSERT_EQ(0, set_range(self, 0, 0, 100));
	set_value(self, 1, 64);
	EXPECT_EQ(-ECANCELED, run(self, 64));
	EXPECT_EQ(SALVO_ERROR_BOUNDS, self->error.kind);
	salvo_program_destroy(self->program);
	setenv("SALVO_CHECKED", "0", 1);
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &self->program));
	take(self, "put");
	ASSERT_EQ(0, set_range(self, 0, 0, 100));
	set_value(self, 1, 64);
	EXPECT_EQ(0, run(self, 64));
	EXPECT_EQ(-EINVAL, salvo_error_get_bounds(&self->error, &self->bounds));
	salvo_kernel_destroy(self->kernel);
	salvo_program_destroy(self->program);
	bench_close(&self->b);
}

TEST_HARNESS_MAIN
