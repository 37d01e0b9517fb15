// SPDX-License-Identifier: MIT
/*
 * groups.c - work-group and sub-group functions: what the device says of them, and a sum by them
 */
#include "ocl.h"
#include "kselftest_harness.h"

#define ITEMS	1000u	/* not a multiple of the work-group's size */
#define GROUP	64u

static const char source[] =
	"kernel void sums(global const int *in, global int *out, uint rounds) {\n"
	"	int x = in[get_global_id(0)];\n"
	"	for (uint i = 0; i < rounds; i++)\n"
	"		x += work_group_reduce_add(x) + sub_group_scan_exclusive_max(x);\n"
	"	out[get_global_id(0)] = x;\n"
	"}\n"
	"kernel void plain(global int *out) {\n"
	"	out[get_global_id(0)] = work_group_reduce_add((int)get_local_id(0));\n"
	"}\n"
	"kernel __attribute__((reqd_work_group_size(8, 4, 2)))\n"
	"void sized(global uint *out) { *out = get_max_sub_group_size(); }\n";

FIXTURE(groups) {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_device_id device;
};

FIXTURE_SETUP(groups)
{
	self->device = ocl_device();
	ASSERT_EQ(0, ocl_open(NULL, &self->context, &self->queue));
	self->program = ocl_build(self->context, source, "-cl-std=CL3.0");
	ASSERT_NE(NULL, self->program);
}

FIXTURE_TEARDOWN(groups)
{
	EXPECT_EQ(0, clReleaseProgram(self->program));
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

TEST_F(groups, the_device_has_them)
{
	cl_name_version features[64];
	char names[4096];
	size_t bytes, i;
	int found = 0;
	cl_bool yes;
	cl_uint most;

	ASSERT_EQ(0, clGetDeviceInfo(self->device,
				     CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT,
				     sizeof(yes), &yes, NULL));
	EXPECT_EQ(CL_TRUE, yes);
	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS,
				     sizeof(yes), &yes, NULL));
	EXPECT_EQ(CL_TRUE, yes);
	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof(most),
				     &most, NULL));
	EXPECT_EQ(1u, most);
	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_EXTENSIONS, sizeof(names), names,
				     NULL));
	EXPECT_NE(NULL, strstr(names, "cl_khr_subgroups"));
	ASSERT_EQ(0, clGetDeviceInfo(self->device, CL_DEVICE_OPENCL_C_FEATURES, sizeof(features),
				     features, &bytes));
	for (i = 0; i < bytes / sizeof(*features); i++)
		found += !strcmp(features[i].name, "__opencl_c_subgroups") ||
			 !strcmp(features[i].name, "__opencl_c_work_group_collective_functions");
	EXPECT_EQ(2, found);
}

static void reference(const cl_int *in, cl_int *out, cl_uint rounds)
{
	size_t first, i, end;
	cl_uint round;

	memcpy(out, in, ITEMS * sizeof(*in));
	for (first = 0; first < ITEMS; first += GROUP)
		for (round = 0; round < rounds; round++) {
			cl_int sum = 0, before = CL_INT_MIN, x;

			end = first + GROUP < ITEMS ? first + GROUP : ITEMS;
			for (i = first; i < end; i++)
				sum = (cl_int)((cl_uint)sum + out[i]);
			for (i = first; i < end; i++, before = x > before ? x : before) {
				x = out[i];
				out[i] = (cl_int)((cl_uint)x + sum + before);
			}
		}
}

TEST_F(groups, sums_of_ragged_groups)
{
	const size_t items = ITEMS, group = GROUP;
	cl_int in[ITEMS], out[ITEMS], expected[ITEMS], err;
	cl_uint i, rounds;
	cl_mem from, to;
	cl_kernel sums;

	for (i = 0; i < ITEMS; i++)
		in[i] = i * 2654435761u >> 3;
	from = clCreateBuffer(self->context, CL_MEM_COPY_HOST_PTR, sizeof(in), in, &err);
	ASSERT_EQ(0, err);
	to = clCreateBuffer(self->context, 0, sizeof(out), NULL, &err);
	ASSERT_EQ(0, err);
	sums = clCreateKernel(self->program, "sums", &err);
	ASSERT_EQ(0, err);
	for (rounds = 0; rounds < 5; rounds++) {
		ASSERT_EQ(0, clSetKernelArg(sums, 0, sizeof(from), &from));
		ASSERT_EQ(0, clSetKernelArg(sums, 1, sizeof(to), &to));
		ASSERT_EQ(0, clSetKernelArg(sums, 2, sizeof(rounds), &rounds));
		ASSERT_EQ(0, clEnqueueNDRangeKernel(self->queue, sums, 1, NULL, &items, &group, 0,
						    NULL, NULL));
		ASSERT_EQ(0, clEnqueueReadBuffer(self->queue, to, CL_TRUE, 0, sizeof(out), out, 0,
						 NULL, NULL));
		reference(in, expected, rounds);
		EXPECT_EQ(0, memcmp(out, expected, sizeof(out)));
	}
	EXPECT_EQ(0, clReleaseKernel(sums));
	EXPECT_EQ(0, clReleaseMemObject(from));
	EXPECT_EQ(0, clReleaseMemObject(to));
}

/* Without sub-group functions a work-group may be larger. */
TEST_F(groups, no_more_items_than_a_sub_group)
{
	const size_t items = 512, large = 256;
	size_t most;
	cl_kernel plain, sums;
	cl_mem buffer;
	cl_int err;

	sums = clCreateKernel(self->program, "sums", &err);
	ASSERT_EQ(0, err);
	plain = clCreateKernel(self->program, "plain", &err);
	ASSERT_EQ(0, err);
	buffer = clCreateBuffer(self->context, 0, items * 4, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clSetKernelArg(plain, 0, sizeof(buffer), &buffer));
	ASSERT_EQ(0, clSetKernelArg(sums, 0, sizeof(buffer), &buffer));
	ASSERT_EQ(0, clSetKernelArg(sums, 1, sizeof(buffer), &buffer));
	ASSERT_EQ(0, clSetKernelArg(sums, 2, 4, &(cl_uint){ 0 }));
	EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE,
		  clEnqueueNDRangeKernel(self->queue, sums, 1, NULL, &items, &large, 0, NULL,
					 NULL));
	EXPECT_EQ(0, clEnqueueNDRangeKernel(self->queue, sums, 1, NULL, &items, NULL, 0, NULL,
					    NULL));
	EXPECT_EQ(0, clEnqueueNDRangeKernel(self->queue, plain, 1, NULL, &items, &large, 0, NULL,
					    NULL));
	EXPECT_EQ(0, clGetKernelWorkGroupInfo(plain, self->device, CL_KERNEL_WORK_GROUP_SIZE,
					      sizeof(most), &most, NULL));
	EXPECT_LT(large, most);
	EXPECT_EQ(0, clFinish(self->queue));
	EXPECT_EQ(0, clReleaseKernel(sums));
	EXPECT_EQ(0, clReleaseKernel(plain));
	EXPECT_EQ(0, clReleaseMemObject(buffer));
}

TEST_F(groups, a_work_group_is_one_sub_group)
{
	const size_t group[3] = { 16, 4, 2 }, one = 1, two = 2;
	size_t value, sizes[3], bytes;
	cl_kernel sums, sized;
	cl_int err;

	sums = clCreateKernel(self->program, "sums", &err);
	ASSERT_EQ(0, err);
	sized = clCreateKernel(self->program, "sized", &err);
	ASSERT_EQ(0, err);

#define ASK(kernel, name, input_size, input, size, to) \
	clGetKernelSubGroupInfo(kernel, self->device, name, input_size, input, size, to, &bytes)
	EXPECT_EQ(0, ASK(sums, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof(group), group,
			 sizeof(value), &value));
	EXPECT_EQ(128u, value);
	EXPECT_EQ(0, ASK(sums, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, 8, group, sizeof(value),
			 &value));
	EXPECT_EQ(16u, value);
	EXPECT_EQ(0, ASK(sums, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof(group), group,
			 sizeof(value), &value));
	EXPECT_EQ(1u, value);
	EXPECT_EQ(0, ASK(sums, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, sizeof(value), &value));
	EXPECT_EQ(1u, value);
	EXPECT_EQ(0, ASK(sums, CL_KERNEL_COMPILE_NUM_SUB_GROUPS, 0, NULL, sizeof(value), &value));
	EXPECT_EQ(0u, value);
	EXPECT_EQ(0, ASK(sums, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof(one), &one,
			 sizeof(sizes), sizes));
	EXPECT_EQ(sizeof(sizes), bytes);
	EXPECT_EQ(0, clGetKernelWorkGroupInfo(sums, self->device, CL_KERNEL_WORK_GROUP_SIZE,
					      sizeof(value), &value, NULL));
	EXPECT_EQ(128u, value);
	EXPECT_EQ(128u, sizes[0]);
	EXPECT_EQ(1u, sizes[1]);
	EXPECT_EQ(1u, sizes[2]);
	EXPECT_EQ(0, ASK(sized, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof(one), &one,
			 sizeof(sizes), sizes));
	EXPECT_EQ(8u, sizes[0]);
	EXPECT_EQ(4u, sizes[1]);
	EXPECT_EQ(2u, sizes[2]);
	EXPECT_EQ(0, ASK(sized, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof(two), &two, 8,
			 sizes));
	EXPECT_EQ(0u, sizes[0]);

	EXPECT_EQ(CL_INVALID_VALUE, ASK(sums, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, 7, group,
					sizeof(value), &value));
	EXPECT_EQ(CL_INVALID_VALUE, ASK(sums, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, 8, NULL,
					sizeof(value), &value));
	EXPECT_EQ(CL_INVALID_VALUE, ASK(sums, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, 1, &value));
	EXPECT_EQ(CL_INVALID_VALUE, ASK(sums, 12345, 0, NULL, sizeof(value), &value));
	EXPECT_EQ(0, clReleaseKernel(sums));
	EXPECT_EQ(0, clReleaseKernel(sized));
}

TEST_HARNESS_MAIN
