// SPDX-License-Identifier: MIT
/*
 * platform.c - platform, devices and contexts of the OpenCL driver
 */
#include "ocl.h"
#include "kselftest_harness.h"

TEST(the_loader_finds_one_platform_of_opencl_3)
{
	cl_platform_id platforms[4];
	char version[64];
	cl_uint count;

	ASSERT_EQ(0, clGetPlatformIDs(4, platforms, &count));
	ASSERT_EQ(1, count);
	ASSERT_EQ(0, clGetPlatformInfo(platforms[0], CL_PLATFORM_VERSION, sizeof(version), version,
				       NULL));
	EXPECT_EQ(0, strncmp(version, "OpenCL 3.0 ", 11));
}

TEST(the_gpu_is_a_device)
{
	cl_device_id device = ocl_device();
	cl_device_id standard = NULL;
	cl_bool available = CL_FALSE;
	cl_platform_id platform;
	cl_device_type type = 0;
	cl_uint units = 0;
	char name[64];

	ASSERT_NE(NULL, device);
	ASSERT_EQ(0, clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL));
	if (getenv("SALVO_DEVICE")) {
		EXPECT_EQ(0, strncmp(name, "Salvo GPU renderD", 17));
	} else {
		EXPECT_STREQ("Salvo embedded GPU", name);
	}
	ASSERT_EQ(0, clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof(available), &available,
				     NULL));
	EXPECT_EQ(CL_TRUE, available);
	ASSERT_EQ(0, clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units,
				     NULL));
	EXPECT_LT(0, units);
	/* One type; that it is the default, clGetDeviceIDs() says. */
	ASSERT_EQ(0, clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL));
	EXPECT_EQ(CL_DEVICE_TYPE_GPU, type);
	ASSERT_EQ(0, clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform,
				     NULL));
	ASSERT_EQ(0, clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &standard, NULL));
	EXPECT_EQ(device, standard);	/* render nodes come first */
}

TEST(info_refuses_what_does_not_fit)
{
	cl_device_id device = ocl_device();
	cl_ulong number;
	size_t size;

	ASSERT_NE(NULL, device);
	EXPECT_EQ(CL_INVALID_VALUE, clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, 7, &number,
						    NULL));
	EXPECT_EQ(CL_INVALID_VALUE, clGetDeviceInfo(device, 0x9999, 8, &number, NULL));
	EXPECT_EQ(0, clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, 0, NULL, &size));
	EXPECT_EQ(sizeof(number), size);
	EXPECT_EQ(CL_INVALID_DEVICE_TYPE,
		  clGetDeviceIDs(NULL, 1u << 20, 0, NULL, (cl_uint *)&size));
}

static void CL_CALLBACK note(cl_context context, void *data)
{
	char **end = data;

	*(*end)++ = 'a';
}

static void CL_CALLBACK note_b(cl_context context, void *data)
{
	char **end = data;

	*(*end)++ = 'b';
}

TEST(an_extension_is_listed_once)
{
	cl_name_version list[64];
	unsigned int i, j, count;
	size_t bytes;

	ASSERT_EQ(0, clGetDeviceInfo(ocl_device(), CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof(list),
				     list, &bytes));
	count = bytes / sizeof(list[0]);
	ASSERT_LE(10, count);
	for (i = 0; i < count; i++)
		for (j = 0; j < i; j++)
			EXPECT_STRNE(list[i].name, list[j].name);
}

TEST(context_destructors_run_in_reverse_order_with_the_last_reference)
{
	cl_device_id device = ocl_device();
	char calls[4] = "", *end = calls;
	cl_context context;
	cl_uint count;
	cl_int err;

	ASSERT_NE(NULL, device);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, clSetContextDestructorCallback(context, note, &end));
	EXPECT_EQ(0, clSetContextDestructorCallback(context, note_b, &end));
	EXPECT_EQ(CL_INVALID_VALUE, clSetContextDestructorCallback(context, NULL, &end));
	EXPECT_EQ(0, clRetainContext(context));
	EXPECT_EQ(0, clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, 4, &count, NULL));
	EXPECT_EQ(2, count);
	EXPECT_EQ(0, clReleaseContext(context));
	EXPECT_STREQ("", calls);
	EXPECT_EQ(0, clReleaseContext(context));
	EXPECT_STREQ("ba", calls);
}

TEST(contexts_refuse_bad_properties)
{
	const cl_context_properties unknown[] = { 0x7777, 1, 0 };
	const cl_context_properties platform[] = { CL_CONTEXT_PLATFORM, 0, 0 };
	cl_device_id device = ocl_device();
	cl_int err;

	ASSERT_NE(NULL, device);
	EXPECT_EQ(NULL, clCreateContext(unknown, 1, &device, NULL, NULL, &err));
	EXPECT_EQ(CL_INVALID_PROPERTY, err);
	EXPECT_EQ(NULL, clCreateContext(platform, 1, &device, NULL, NULL, &err));
	EXPECT_EQ(CL_INVALID_PLATFORM, err);
	EXPECT_EQ(NULL, clCreateContext(NULL, 0, &device, NULL, NULL, &err));
	EXPECT_EQ(CL_INVALID_VALUE, err);
	EXPECT_EQ(NULL, clCreateContext(NULL, 1, &device, NULL, &err, &err));
	EXPECT_EQ(CL_INVALID_VALUE, err);
}

TEST_HARNESS_MAIN
