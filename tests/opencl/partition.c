// SPDX-License-Identifier: MIT
/*
 * partition.c - sub-devices: by counts, equally, by NUMA nodes
 */
#include "ocl.h"
#include "kselftest_harness.h"

/* Before the GPU is opened: 2 nodes of 2 units. */
static cl_device_id open_2x2(void)
{
	setenv("SALVO_TOPOLOGY", "2x2", 1);
	return ocl_device();
}

static cl_uint units_of(cl_device_id device)
{
	cl_uint units = 0;

	clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
	return units;
}

TEST(equally_leaves_out_the_rest)
{
	const cl_device_partition_property threes[] = { CL_DEVICE_PARTITION_EQUALLY, 3, 0 };
	const cl_device_partition_property fours[] = { CL_DEVICE_PARTITION_EQUALLY, 4, 0 };
	const cl_device_partition_property fives[] = { CL_DEVICE_PARTITION_EQUALLY, 5, 0 };
	cl_device_id device = open_2x2(), part, parent;
	cl_uint count;

	ASSERT_NE(NULL, device);
	ASSERT_EQ(4, units_of(device));
	ASSERT_EQ(0, clCreateSubDevices(device, threes, 1, &part, &count));
	EXPECT_EQ(1, count);
	EXPECT_EQ(3, units_of(part));
	EXPECT_EQ(0, clGetDeviceInfo(part, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent, NULL));
	EXPECT_EQ(device, parent);
	EXPECT_EQ(0, clReleaseDevice(part));
	EXPECT_EQ(CL_DEVICE_PARTITION_FAILED, clCreateSubDevices(device, fours, 1, &part, NULL));
	EXPECT_EQ(CL_INVALID_DEVICE_PARTITION_COUNT,
		  clCreateSubDevices(device, fives, 1, &part, NULL));
}

TEST(counts_give_each_part_its_units)
{
	const cl_device_partition_property good[] = { CL_DEVICE_PARTITION_BY_COUNTS, 1, 3, 0, 0 };
	const cl_device_partition_property many[] = { CL_DEVICE_PARTITION_BY_COUNTS, 3, 2, 0, 0 };
	cl_device_id device = open_2x2(), parts[2];
	cl_device_partition_property kind[8];
	cl_uint count;
	size_t size;

	ASSERT_NE(NULL, device);
	ASSERT_EQ(0, clCreateSubDevices(device, good, 0, NULL, &count));
	ASSERT_EQ(2, count);
	EXPECT_EQ(CL_INVALID_VALUE, clCreateSubDevices(device, good, 1, parts, NULL));
	ASSERT_EQ(0, clCreateSubDevices(device, good, 2, parts, NULL));
	EXPECT_EQ(1, units_of(parts[0]));
	EXPECT_EQ(3, units_of(parts[1]));
	EXPECT_EQ(0,
		  clGetDeviceInfo(parts[1], CL_DEVICE_PARTITION_TYPE, sizeof(kind), kind, &size));
	EXPECT_EQ(sizeof(good), size);
	EXPECT_EQ(0, memcmp(kind, good, sizeof(good)));
	EXPECT_EQ(0, clReleaseDevice(parts[0]));
	EXPECT_EQ(0, clReleaseDevice(parts[1]));
	EXPECT_EQ(CL_INVALID_DEVICE_PARTITION_COUNT,
		  clCreateSubDevices(device, many, 2, parts, NULL));
}

TEST(a_part_can_be_divided_again_and_has_queues_of_its_own)
{
	const cl_device_partition_property numa[] = {
		CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0,
	};
	const cl_device_partition_property ones[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };
	cl_device_id device = open_2x2(), nodes[2], units[2];
	cl_command_queue queue;
	cl_context context;
	cl_uint count;
	cl_int err;

	ASSERT_NE(NULL, device);
	ASSERT_EQ(0, clCreateSubDevices(device, numa, 2, nodes, &count));
	ASSERT_EQ(2, count);
	EXPECT_EQ(2, units_of(nodes[1]));
	ASSERT_EQ(0, clCreateSubDevices(nodes[1], ones, 2, units, &count));
	ASSERT_EQ(2, count);
	EXPECT_EQ(0, clReleaseDevice(nodes[0]));
	EXPECT_EQ(0, clReleaseDevice(nodes[1]));
	context = clCreateContext(NULL, 2, units, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	queue = clCreateCommandQueueWithProperties(context, units[1], NULL, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, clReleaseDevice(units[0]));
	EXPECT_EQ(0, clReleaseDevice(units[1]));
	EXPECT_EQ(0, clFinish(queue));
	EXPECT_EQ(0, clReleaseCommandQueue(queue));
	EXPECT_EQ(0, clReleaseContext(context));
}

TEST(bad_properties_are_refused)
{
	const cl_device_partition_property unknown[] = { 0x1234, 1, 0 };
	const cl_device_partition_property zero[] = { CL_DEVICE_PARTITION_EQUALLY, 0, 0 };
	const cl_device_partition_property l1[] = {
		CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, 0,
	};
	cl_device_id device = open_2x2(), part;

	ASSERT_NE(NULL, device);
	EXPECT_EQ(CL_INVALID_VALUE, clCreateSubDevices(device, NULL, 1, &part, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, clCreateSubDevices(device, unknown, 1, &part, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, clCreateSubDevices(device, zero, 1, &part, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, clCreateSubDevices(device, l1, 1, &part, NULL));
	EXPECT_EQ(CL_INVALID_DEVICE, clCreateSubDevices(NULL, l1, 1, &part, NULL));
}

TEST_HARNESS_MAIN
