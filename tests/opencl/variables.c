// SPDX-License-Identifier: MIT
/*
 * variables.c - variables of a program in global memory: first values, and what kernels leave in
 * them for others and for later launches
 */
#include <unistd.h>

#include "ocl.h"
#include "kselftest_harness.h"

#define ITEMS	1000u
#define BINS	256u

static const char source[] =
	"global int count = 5;\n"
	"global uint bins[256];\n"
	"global uchar letters[7] = { 'v', 'a', 'r', 's' };\n"
	"struct node { global struct node *next; int value; double weight; };\n"
	"extern global struct node second;\n"
	"global struct node first = { &second, 3, 0.5 };\n"
	"global struct node second = { &first, 4, 0.25 };\n"
	"global int *global where = &count;\n"
	"constant int fixed[3] = { 7, 8, 9 };\n"
	"constant int *global middle = &fixed[1];\n"
	"global int *constant list[2] = { &count, &first.value };\n"
	"global char large[3 << 20];\n"
	"global atomic_int arrived = ATOMIC_VAR_INIT(2);\n"
	"int next(void) { static global int calls = 100; return ++calls; }\n"
	"kernel void add(int n) { count += n; }\n"
	"kernel void twice(void) { count *= 2; }\n"
	"kernel void read(global double *out) {\n"
	"	out[0] = count;\n"
	"	out[1] = letters[0] + letters[3] + letters[4];\n"
	"	out[2] = first.next->value + first.next->next->weight;\n"
	"	out[3] = *where;\n"
	"	out[4] = *middle;\n"
	"	out[5] = *list[0] + *list[1];\n"
	"	out[6] = large[sizeof(large) - 1];\n"
	"	out[7] = next();\n"
	"	large[sizeof(large) - 1]++;\n"
	"	first.next = &first;\n"
	"	where = &second.value;\n"
	"}\n"
	"kernel void histogram(global const uchar *in) {\n"
	"	atomic_inc(&bins[in[get_global_id(0)]]);\n"
	"	atomic_fetch_add(&arrived, 1);\n"
	"}\n"
	"kernel void take(global uint *out) {\n"
	"	size_t i = get_global_id(0);\n"
	"	out[i] = bins[i];\n"
	"	bins[i] = 0;\n"
	"	if (!i) out[256] = atomic_load(&arrived);\n"
	"}\n"
	"global uint squares[1000];\n"
	"kernel void square(void) { int i = get_global_id(0); squares[i] = i * i; }\n"
	"kernel void sums(global uint *out) {\n"
	"	local uint part;\n"
	"	if (!get_local_id(0)) part = 0;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	atomic_add(&part, squares[get_global_id(0)]);\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	squares[get_global_id(0)] += part;\n"
	"	barrier(CLK_GLOBAL_MEM_FENCE);\n"
	"	size_t n = get_local_size(0);\n"
	"	out[get_global_id(0)] = squares[get_group_id(0) * get_enqueued_local_size(0) +\n"
	"					(get_local_id(0) + 1) % n];\n"
	"}\n";

FIXTURE(variables) {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_mem out;
};

FIXTURE_VARIANT(variables) {
	const char *options;
	bool checked;
};

FIXTURE_VARIANT_ADD(variables, optimised) { .options = "-cl-std=CL3.0" };
FIXTURE_VARIANT_ADD(variables, not_optimised) { .options = "-cl-std=CL3.0 -cl-opt-disable" };
FIXTURE_VARIANT_ADD(variables, for_gdb) { .options = "-cl-std=CL3.0 -O0 -g" };
FIXTURE_VARIANT_ADD(variables, checked) { .options = "-cl-std=CL3.0", .checked = true };

FIXTURE_SETUP(variables)
{
	cl_int err;

	setenv("SALVO_CHECKED", variant->checked ? "1" : "0", 1);
	ASSERT_EQ(0, ocl_open(NULL, &self->context, &self->queue));
	self->program = ocl_build(self->context, source, variant->options);
	ASSERT_NE(NULL, self->program);
	self->out = clCreateBuffer(self->context, 0, ITEMS * 8, NULL, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(variables)
{
	EXPECT_EQ(0, clReleaseMemObject(self->out));
	EXPECT_EQ(0, clReleaseProgram(self->program));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

/* Enqueues @name, whose argument is @arg, if that is not NULL. */
static int run(FIXTURE_DATA(variables) *self, cl_program program, const char *name, size_t items,
	       const void *arg, size_t bytes)
{
	const size_t group = items < 64 ? items : 64;
	cl_int err;
	cl_kernel kernel = clCreateKernel(program, name, &err);

	if (!err && arg)
		err = clSetKernelArg(kernel, 0, bytes, arg);
	if (!err)
		err = clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL, &items, &group, 0, NULL,
					     NULL);
	clReleaseKernel(kernel);
	return err;
}

static int get(FIXTURE_DATA(variables) *self, void *to, size_t bytes)
{
	return clEnqueueReadBuffer(self->queue, self->out, CL_TRUE, 0, bytes, to, 0, NULL, NULL);
}

static int run_read(FIXTURE_DATA(variables) *self, cl_program program, cl_double *to)
{
	int err = run(self, program, "read", 1, &self->out, sizeof(self->out));

	return err ? err : get(self, to, 8 * sizeof(*to));
}

TEST_F(variables, have_first_values_and_keep_others)
{
	static const cl_double first[] = { 5, 'v' + 's', 4.5, 5, 8, 5 + 3, 0, 101 };
	static const cl_double later[] = { 5, 'v' + 's', 3.5, 4, 8, 5 + 3, 1, 102 };
	cl_double out[8];
	unsigned int i;

	ASSERT_EQ(0, run_read(self, self->program, out));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(first[i], out[i]);
	ASSERT_EQ(0, run_read(self, self->program, out));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(later[i], out[i]);
}

/* Without arguments nothing but the variables orders them. */
TEST_F(variables, order_the_kernels_that_use_them)
{
	cl_double out[8];
	cl_int n, i, expected = 5;

	for (i = 0; i < 300; i++) {
		n = i * 7 % 11 - 3;
		if (i % 25 == 24) {
			ASSERT_EQ(0, run(self, self->program, "twice", 1, NULL, 0));
			expected *= 2;
		} else {
			ASSERT_EQ(0, run(self, self->program, "add", 1, &n, sizeof(n)));
			expected += n;
		}
		if (i % 100 == 50)
			ASSERT_EQ(0, clFlush(self->queue));
	}
	ASSERT_EQ(0, run_read(self, self->program, out));
	EXPECT_EQ(expected, out[0]);
}

TEST_F(variables, pass_numbers_from_kernel_to_kernel)
{
	cl_uint bins[BINS + 1], expected[BINS] = { 0 };
	unsigned char in[ITEMS];
	unsigned int round, i;
	cl_mem from;
	cl_int err;

	for (round = 1; round < 4; round++) {
		memset(expected, 0, sizeof(expected));
		for (i = 0; i < ITEMS; i++)
			expected[in[i] = i * i * round >> 3] += 1;
		from = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, sizeof(in), in, &err);
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, run(self, self->program, "histogram", ITEMS, &from, sizeof(from)));
		ASSERT_EQ(0, run(self, self->program, "take", BINS, &self->out, sizeof(self->out)));
		ASSERT_EQ(0, get(self, bins, sizeof(bins)));
		EXPECT_EQ(0, memcmp(expected, bins, sizeof(expected)));
		EXPECT_EQ(2 + round * ITEMS, bins[BINS]);
		EXPECT_EQ(0, clReleaseMemObject(from));
	}
}

TEST_F(variables, across_barriers)
{
	cl_uint out[ITEMS], expected[ITEMS];
	unsigned int first, i, n;

	for (first = 0; first < ITEMS; first += 64) {
		cl_uint sum = 0;

		n = first + 64 < ITEMS ? 64 : ITEMS - first;
		for (i = first; i < first + n; i++)
			sum += i * i;
		for (i = 0; i < n; i++)
			expected[first + i] = sum + (first + (i + 1) % n) * (first + (i + 1) % n);
	}
	ASSERT_EQ(0, run(self, self->program, "square", ITEMS, NULL, 0));
	ASSERT_EQ(0, run(self, self->program, "sums", ITEMS, &self->out, sizeof(self->out)));
	ASSERT_EQ(0, get(self, out, sizeof(out)));
	EXPECT_EQ(0, memcmp(expected, out, sizeof(out)));
}

TEST_F(variables, each_program_has_its_own)
{
	cl_program other = ocl_build(self->context, source, variant->options);
	const cl_int n = 10;
	cl_double out[8];

	ASSERT_NE(NULL, other);
	ASSERT_EQ(0, run(self, self->program, "add", 1, &n, sizeof(n)));
	ASSERT_EQ(0, run_read(self, other, out));
	EXPECT_EQ(5, out[0]);
	ASSERT_EQ(0, run_read(self, self->program, out));
	EXPECT_EQ(15, out[0]);
	EXPECT_EQ(0, clReleaseProgram(other));
}

/* What the compiler names the block of variables is no other one of the source. */
TEST_F(variables, with_names_of_the_compiler)
{
	cl_program program = ocl_build(self->context,
		"global int salvo_variables = 11, salvo_variables_init[2] = { 12, 13 };\n"
		"int salvo_scratch(int n) { return n + 1; }\n"
		"kernel void read(global double *out) {\n"
		"	out[0] = salvo_scratch(salvo_variables++);\n"
		"	out[1] = work_group_reduce_add(salvo_variables_init[1]);\n"
		"}\n", variant->options);
	cl_double out[8];

	ASSERT_NE(NULL, program);
	ASSERT_EQ(0, run_read(self, program, out));
	EXPECT_EQ(12, out[0]);
	EXPECT_EQ(13, out[1]);
	ASSERT_EQ(0, run_read(self, program, out));
	EXPECT_EQ(13, out[0]);
	EXPECT_EQ(0, clReleaseProgram(program));
}

/* Of a source, or stored by a kernel: the checked mode knows where these point to. */
TEST_F(variables, pointers_to_constants)
{
	cl_program program = ocl_build(self->context,
		"global const int six = 6, seven = 7;\n"
		"global const int *global first = &six;\n"
		"global const int *global second;\n"
		"kernel void put(int n) { second = n ? &seven : &six; }\n"
		"kernel void read(global double *out) { out[0] = *first; out[1] = *second; }\n",
		variant->options);
	const cl_int n = 1;
	cl_double out[8];

	ASSERT_NE(NULL, program);
	ASSERT_EQ(0, run(self, program, "put", 1, &n, sizeof(n)));
	ASSERT_EQ(0, run_read(self, program, out));
	EXPECT_EQ(6, out[0]);
	EXPECT_EQ(7, out[1]);
	EXPECT_EQ(0, clReleaseProgram(program));
}

TEST_F(variables, of_several_objects)
{
	static const char *const texts[2] = {
		"extern global int shared[3];\n"
		"kernel void put(int n) { shared[1] += n; }\n",
		"global int shared[3] = { 1, 20, 3 };\n"
		"kernel void read(global double *out) { out[0] = shared[1]; }\n",
	};
	cl_program parts[2], linked;
	const cl_int n = 4;
	cl_double out[8];
	cl_int err;
	int i;

	for (i = 0; i < 2; i++) {
		parts[i] = clCreateProgramWithSource(self->context, 1, (const char **)&texts[i],
						     NULL, &err);
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, clCompileProgram(parts[i], 0, NULL, variant->options, 0, NULL, NULL,
					      NULL, NULL));
	}
	linked = clLinkProgram(self->context, 0, NULL, NULL, 2, parts, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, run(self, linked, "put", 1, &n, sizeof(n)));
	ASSERT_EQ(0, run_read(self, linked, out));
	EXPECT_EQ(24, out[0]);
	EXPECT_EQ(0, clReleaseProgram(linked));
	linked = clLinkProgram(self->context, 0, NULL, NULL, 1, parts, NULL, NULL, &err);
	EXPECT_EQ(CL_LINK_PROGRAM_FAILURE, err);
	if (linked)
		EXPECT_EQ(0, clReleaseProgram(linked));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, clReleaseProgram(parts[i]));
}

TEST_F(variables, sizes)
{
	cl_device_id device = ocl_device();
	size_t total, most, preferred;
	cl_program large;

	ASSERT_EQ(0, clGetProgramBuildInfo(self->program, device,
					   CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
					   sizeof(total), &total, NULL));
	EXPECT_LE((3u << 20) + 4 * BINS + 4000, total);
	EXPECT_GE((3u << 20) + 8192, total);
	ASSERT_EQ(0, clGetDeviceInfo(device, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, sizeof(most),
				     &most, NULL));
	EXPECT_LE(65536u, most);
	ASSERT_EQ(0, clGetDeviceInfo(device, CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE,
				     sizeof(preferred), &preferred, NULL));
	EXPECT_LE(65536u, preferred);
	large = ocl_build(self->context, "global char large[63 << 20];\n"
			  "kernel void use(global int *out) { out[0] = large[out[1]]; }\n",
			  variant->options);
	EXPECT_NE(NULL, large);
	EXPECT_EQ((size_t)63 << 20, most);
	clReleaseProgram(large);
	EXPECT_EQ(NULL, ocl_build(self->context, "global char large[65 << 20];\n"
				  "kernel void use(global int *out) { out[0] = large[out[1]]; }\n",
				  variant->options));
}

/* While the compiler is at work on a program that is in no cache. */
TEST_F(variables, size_is_known_when_the_build_is_done)
{
	cl_device_id device = ocl_device();
	size_t total = 0;
	char source[160];
	cl_program fresh;

	snprintf(source, sizeof(source), "global char some[%u];\n"
		 "kernel void use(global int *out) { out[0] = some[out[1]] + %u; }\n",
		 10000, (unsigned int)getpid());
	fresh = ocl_build(self->context, source, variant->options);
	ASSERT_NE(NULL, fresh);
	EXPECT_EQ(0, clGetProgramBuildInfo(fresh, device,
					   CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
					   sizeof(total), &total, NULL));
	EXPECT_LE(10000, total);
	clReleaseProgram(fresh);
}

TEST_HARNESS_MAIN
