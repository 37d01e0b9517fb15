// SPDX-License-Identifier: MIT
/*
 * image.c - images of every kind: creation, infos, transfers, maps, and samplers
 */
#include "ocl.h"
#include "kselftest_harness.h"

#define WIDTH	13
#define HEIGHT	7
#define DEPTH	5

FIXTURE(image) {
	cl_context context;
	cl_command_queue queue;
};

FIXTURE_SETUP(image)
{
	ASSERT_EQ(0, ocl_open(NULL, &self->context, &self->queue));
}

FIXTURE_TEARDOWN(image)
{
	EXPECT_EQ(0, clReleaseCommandQueue(self->queue));
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static const cl_image_format rg = { CL_RG, CL_UNSIGNED_INT16 };

static const struct kind {
	cl_image_desc desc;
	size_t size[3];
	size_t slice_pitch;
} kinds[] = {
	{ { .image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = WIDTH }, { WIDTH, 1, 1 }, 0 },
	{ { .image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = WIDTH,
	    .image_array_size = HEIGHT }, { WIDTH, HEIGHT, 1 }, WIDTH * 4 },
	{ { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT },
	  { WIDTH, HEIGHT, 1 }, 0 },
	{ { .image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = WIDTH, .image_height = HEIGHT,
	    .image_array_size = DEPTH }, { WIDTH, HEIGHT, DEPTH }, WIDTH * HEIGHT * 4 },
	{ { .image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = WIDTH, .image_height = HEIGHT,
	    .image_depth = DEPTH }, { WIDTH, HEIGHT, DEPTH }, WIDTH * HEIGHT * 4 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t index_of(const size_t *size, size_t x, size_t y, size_t z)
{
	return (z * size[1] + y) * size[0] + x;
}

/* A part of the image: all but the first of each coordinate that has more than one */
static void part_of(const size_t *size, size_t *origin, size_t *region)
{
	int i;

	for (i = 0; i < 3; i++) {
		origin[i] = size[i] > 1;
		region[i] = size[i] > 1 ? size[i] - 1 : 1;
	}
}

/* Write all, read a part with pitches, copy a part, fill a part, through a buffer, by a map. */
TEST_F(image, transfers_of_every_kind)
{
	const size_t zero[3] = { 0 };
	size_t k, x, y, z;

	for (k = 0; k < KINDS; k++) {
		const size_t *size = kinds[k].size;
		const size_t count = size[0] * size[1] * size[2];
		const cl_uint color[4] = { 70000, 5, 0, 0 };
		cl_uint *data = malloc(4 * count), *back = calloc(4, 4 * count), *map;
		size_t origin[3], region[3], row, slice = 1;
		cl_mem a, b, buffer;
		cl_int err;

		part_of(size, origin, region);
		for (x = 0; x < count; x++)
			data[x] = 3 * x;
		a = clCreateImage(self->context, CL_MEM_COPY_HOST_PTR, &rg, &kinds[k].desc, data,
				  &err);
		ASSERT_EQ(0, err) TH_LOG("kind %zu", k);
		b = clCreateImage(self->context, 0, &rg, &kinds[k].desc, NULL, &err);
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, clEnqueueReadImage(self->queue, a, CL_TRUE, zero, size, 0, 0, back, 0,
						NULL, NULL));
		EXPECT_EQ(0, memcmp(data, back, 4 * count));
		/* b = part of a at the origin; the rest is filled before */
		ASSERT_EQ(0, clEnqueueFillImage(self->queue, b, color, zero, size, 0, NULL, NULL));
		ASSERT_EQ(0, clEnqueueCopyImage(self->queue, a, b, origin, zero, region, 0, NULL,
						NULL));
		map = clEnqueueMapImage(self->queue, b, CL_TRUE, CL_MAP_READ, zero, size, &row,
					&slice, 0, NULL, NULL, &err);
		ASSERT_EQ(0, err);
		EXPECT_EQ(4 * size[0], row);
		EXPECT_EQ(kinds[k].slice_pitch, slice);
		for (z = 0; z < size[2]; z++)
			for (y = 0; y < size[1]; y++)
				for (x = 0; x < size[0]; x++) {
					const bool copied = x < region[0] && y < region[1] &&
							    z < region[2];
					const cl_uint want = copied ?
						data[index_of(size, x + origin[0], y + origin[1],
							      z + origin[2])] : 0x5ffff;

					ASSERT_EQ(want, map[index_of(size, x, y, z)])
						TH_LOG("kind %zu at %zu %zu %zu", k, x, y, z);
				}
		ASSERT_EQ(0, clEnqueueUnmapMemObject(self->queue, b, map, 0, NULL, NULL));
		EXPECT_EQ(CL_INVALID_VALUE,
			  clEnqueueUnmapMemObject(self->queue, b, map, 0, NULL, NULL));
		/* Fill a part, and through a buffer to the other image */
		ASSERT_EQ(0,
			  clEnqueueFillImage(self->queue, a, color, origin, region, 0, NULL, NULL));
		buffer = clCreateBuffer(self->context, 0, 4 * count + 8, NULL, &err);
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, clEnqueueCopyImageToBuffer(self->queue, a, buffer, zero, size, 8, 0,
							NULL, NULL));
		ASSERT_EQ(0, clEnqueueCopyBufferToImage(self->queue, buffer, b, 8, zero, size, 0,
							NULL, NULL));
		/* Behind commands that have not run, with pitches */
		ASSERT_EQ(0,
			  clEnqueueWriteImage(self->queue, a, CL_TRUE, origin, region, 4 * size[0],
					      kinds[k].slice_pitch, data, 0, NULL, NULL));
		ASSERT_EQ(0, clEnqueueReadImage(self->queue, b, CL_TRUE, zero, size, 0, 0, back, 0,
						NULL, NULL));
		for (z = 0; z < size[2]; z++)
			for (y = 0; y < size[1]; y++)
				for (x = 0; x < size[0]; x++) {
					const bool filled = x >= origin[0] && y >= origin[1] &&
							    z >= origin[2];

					ASSERT_EQ(filled ? 0x5ffff : data[index_of(size, x, y, z)],
						  back[index_of(size, x, y, z)]);
				}
		memset(back, 0, 4 * count);
		ASSERT_EQ(0,
			  clEnqueueReadImage(self->queue, a, CL_TRUE, origin, region, 4 * size[0],
					     kinds[k].slice_pitch, back, 0, NULL, NULL));
		for (z = 0; z < region[2]; z++)
			for (y = 0; y < region[1]; y++)
				for (x = 0; x < region[0]; x++)
					ASSERT_EQ(data[index_of(size, x, y, z)],
						  back[index_of(size, x, y, z)]);
		EXPECT_EQ(CL_INVALID_VALUE, clEnqueueReadImage(self->queue, a, CL_TRUE, origin,
							       size, 0, 0, back, 0, NULL, NULL));
		EXPECT_EQ(CL_MEM_COPY_OVERLAP, clEnqueueCopyImage(self->queue, a, a, origin, zero,
								  region, 0, NULL, NULL));
		EXPECT_EQ(0, clReleaseMemObject(a));
		EXPECT_EQ(0, clReleaseMemObject(b));
		EXPECT_EQ(0, clReleaseMemObject(buffer));
		free(data);
		free(back);
	}
}

TEST_F(image, over_a_buffer)
{
	cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 64 };
	const size_t zero[3] = { 0 }, line[3] = { 64, 1, 1 }, plane[3] = { 5, 4, 1 };
	const cl_uint color[4] = { 1, 2, 0, 0 };
	cl_mem buffer, image, parent;
	cl_uint words[64], i;
	cl_int err;

	buffer = clCreateBuffer(self->context, 0, 256, NULL, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(NULL, clCreateImage(self->context, 0, &rg, &desc, NULL, &err));
	EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, err);
	desc.buffer = buffer;
	image = clCreateImage(self->context, 0, &rg, &desc, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clGetImageInfo(image, CL_IMAGE_BUFFER, sizeof(parent), &parent, NULL));
	EXPECT_EQ(buffer, parent);
	ASSERT_EQ(0, clEnqueueFillImage(self->queue, image, color, zero, line, 0, NULL, NULL));
	EXPECT_EQ(0, clReleaseMemObject(image));
	desc.image_width = 65;
	EXPECT_EQ(NULL, clCreateImage(self->context, 0, &rg, &desc, NULL, &err));
	EXPECT_EQ(CL_INVALID_IMAGE_SIZE, err);
	desc = (cl_image_desc){
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 5, .image_height = 4,
		.image_row_pitch = 64, .buffer = buffer,
	};
	image = clCreateImage(self->context, 0, &rg, &desc, NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clEnqueueFillImage(self->queue, image, zero, zero, plane, 0, NULL, NULL));
	ASSERT_EQ(0,
		  clEnqueueReadBuffer(self->queue, buffer, CL_TRUE, 0, 256, words, 0, NULL, NULL));
	for (i = 0; i < 64; i++)
		EXPECT_EQ(i % 16 < 5 ? 0 : 0x20001, words[i]) TH_LOG("word %u", i);
	EXPECT_EQ(0, clReleaseMemObject(image));
	desc.image_height = 5;
	EXPECT_EQ(NULL, clCreateImage(self->context, 0, &rg, &desc, NULL, &err));
	EXPECT_EQ(CL_INVALID_IMAGE_SIZE, err);
	EXPECT_EQ(0, clReleaseMemObject(buffer));
}

TEST_F(image, an_image_over_a_sub_buffer_stays_inside_it)
{
	const cl_buffer_region region = { 0, 256 };
	cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 64 };
	cl_mem buffer, part, image;
	cl_int err;

	buffer = clCreateBuffer(self->context, 0, 4096, NULL, &err);
	ASSERT_EQ(0, err);
	part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
	ASSERT_EQ(0, err);
	desc.mem_object = part;
	image = clCreateImage(self->context, 0, &rg, &desc, NULL, &err);
	EXPECT_EQ(0, err);
	EXPECT_EQ(0, clReleaseMemObject(image));
	desc.image_width = 65;
	EXPECT_EQ(NULL, clCreateImage(self->context, 0, &rg, &desc, NULL, &err));
	EXPECT_EQ(CL_INVALID_IMAGE_SIZE, err);
	desc.image_type = CL_MEM_OBJECT_IMAGE2D;
	desc.image_width = 8;
	desc.image_height = 9;
	EXPECT_EQ(NULL, clCreateImage(self->context, 0, &rg, &desc, NULL, &err));
	EXPECT_EQ(CL_INVALID_IMAGE_SIZE, err);
	EXPECT_EQ(0, clReleaseMemObject(part));
	EXPECT_EQ(0, clReleaseMemObject(buffer));
}

static cl_int create(cl_context context, cl_mem_flags flags, const cl_image_format *format,
		     const cl_image_desc *desc, void *pointer)
{
	cl_int err = 1;
	cl_mem mem = clCreateImage(context, flags, format, desc, pointer, &err);

	if (mem)
		clReleaseMemObject(mem);
	return err;
}

TEST_F(image, creation_is_checked)
{
	const cl_image_format packed = { CL_RGB, CL_UNORM_INT_101010 };
	const cl_image_format intensity = { CL_INTENSITY, CL_SIGNED_INT8 };
	cl_image_desc desc = kinds[2].desc;
	char data[WIDTH * HEIGHT * 8];

	EXPECT_EQ(CL_SUCCESS, create(self->context, 0, &rg, &desc, NULL));
	EXPECT_EQ(CL_INVALID_CONTEXT, create(NULL, 0, &rg, &desc, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, create(self->context, 1u << 30, &rg, &desc, NULL));
	EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, create(self->context, 0, NULL, &desc, NULL));
	EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(self->context, 0, &rg, NULL, NULL));
	EXPECT_EQ(CL_INVALID_HOST_PTR, create(self->context, 0, &rg, &desc, data));
	EXPECT_EQ(CL_IMAGE_FORMAT_NOT_SUPPORTED, create(self->context, 0, &packed, &desc, NULL));
	EXPECT_EQ(CL_IMAGE_FORMAT_NOT_SUPPORTED, create(self->context, 0, &intensity, &desc, NULL));
	desc.image_width = 16385;
	EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create(self->context, 0, &rg, &desc, NULL));
	desc = kinds[2].desc;
	desc.image_row_pitch = WIDTH * 8;
	EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(self->context, 0, &rg, &desc, NULL));
	EXPECT_EQ(CL_SUCCESS, create(self->context, CL_MEM_USE_HOST_PTR, &rg, &desc, data));
	desc.image_row_pitch = WIDTH * 4 - 4;
	EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR,
		  create(self->context, CL_MEM_COPY_HOST_PTR, &rg, &desc, data));
	desc = kinds[2].desc;
	desc.num_samples = 1;
	EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(self->context, 0, &rg, &desc, NULL));
	desc.num_samples = 0;
	desc.image_type = CL_MEM_OBJECT_BUFFER;
	EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(self->context, 0, &rg, &desc, NULL));
}

/* A buffer, or an image of more dimensions, is no memory object of the argument's type. */
TEST_F(image, arguments_are_checked)
{
	static const char *const types[KINDS] = {
		"image1d_t", "image1d_array_t", "image2d_t", "image2d_array_t", "image3d_t",
	};
	cl_mem buffer, images[KINDS], only_written;
	cl_program program;
	cl_kernel kernel;
	char source[160];
	size_t k;
	cl_int err;

	buffer = clCreateBuffer(self->context, 0, 4096, NULL, &err);
	ASSERT_EQ(0, err);
	for (k = 0; k < KINDS; k++) {
		images[k] = clCreateImage(self->context, 0, &rg, &kinds[k].desc, NULL, &err);
		ASSERT_EQ(0, err);
	}
	only_written = clCreateImage(self->context, CL_MEM_WRITE_ONLY, &rg, &kinds[2].desc, NULL,
				     &err);
	ASSERT_EQ(0, err);
	for (k = 0; k < KINDS; k++) {
		snprintf(source, sizeof(source),
			 "kernel void k(read_only %s image, global int *out) { "
			 "out[0] = get_image_width(image); }\n", types[k]);
		program = ocl_build(self->context, source, NULL);
		ASSERT_NE(NULL, program);
		kernel = clCreateKernel(program, "k", &err);
		ASSERT_EQ(0, err);
		EXPECT_EQ(CL_INVALID_MEM_OBJECT,
			  clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer));
		EXPECT_EQ(k == KINDS - 1 ? 0 : CL_INVALID_MEM_OBJECT,
			  clSetKernelArg(kernel, 0, sizeof(cl_mem), &images[KINDS - 1]));
		EXPECT_EQ(0, clSetKernelArg(kernel, 0, sizeof(cl_mem), &images[k]));
		if (kinds[k].desc.image_type == CL_MEM_OBJECT_IMAGE2D)
			EXPECT_EQ(CL_INVALID_ARG_VALUE,
				  clSetKernelArg(kernel, 0, sizeof(cl_mem), &only_written));
		EXPECT_EQ(CL_INVALID_MEM_OBJECT,
			  clSetKernelArg(kernel, 1, sizeof(cl_mem), &images[k]));
		EXPECT_EQ(0, clSetKernelArg(kernel, 1, sizeof(cl_mem), &buffer));
		clReleaseKernel(kernel);
		clReleaseProgram(program);
	}
	clReleaseMemObject(only_written);
	for (k = 0; k < KINDS; k++)
		clReleaseMemObject(images[k]);
	clReleaseMemObject(buffer);
}

TEST_F(image, pitches_that_wrap_are_refused)
{
	const cl_image_format format = { CL_RGBA, CL_UNORM_INT8 };
	cl_image_desc desc = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4,
		.image_row_pitch = (size_t)1 << 62,
	};
	static char data[4096];
	cl_int err;

	EXPECT_EQ(NULL, clCreateImage(self->context, CL_MEM_USE_HOST_PTR, &format, &desc, data,
				      &err));
	EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, err);
	desc.image_type = CL_MEM_OBJECT_IMAGE3D;
	desc.image_depth = 4;
	desc.image_row_pitch = 16;
	desc.image_slice_pitch = (size_t)1 << 62;
	EXPECT_EQ(NULL, clCreateImage(self->context, CL_MEM_USE_HOST_PTR, &format, &desc, data,
				      &err));
	EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, err);
	desc.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY;
	desc.image_array_size = 4;
	EXPECT_EQ(NULL, clCreateImage(self->context, CL_MEM_COPY_HOST_PTR, &format, &desc, data,
				      &err));
	EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, err);
}

TEST_F(image, formats_and_infos)
{
	static const cl_image_format wanted[] = {
		{ CL_R, CL_UNORM_INT8 }, { CL_R, CL_SNORM_INT16 }, { CL_RG, CL_HALF_FLOAT },
		{ CL_RGBA, CL_UNSIGNED_INT32 }, { CL_RGBA, CL_FLOAT }, { CL_BGRA, CL_UNORM_INT8 },
	};
	cl_image_format formats[256];
	cl_uint count, f, w;
	size_t k, value;
	cl_mem mem;
	cl_int err;

	ASSERT_EQ(0, clGetSupportedImageFormats(self->context, CL_MEM_KERNEL_READ_AND_WRITE,
						CL_MEM_OBJECT_IMAGE3D, 256, formats, &count));
	ASSERT_LT(count, 256);
	for (w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++) {
		for (f = 0; f < count && memcmp(&formats[f], &wanted[w], sizeof(wanted[w])); f++)
			;
		EXPECT_LT(f, count) TH_LOG("format %u", w);
	}
	EXPECT_EQ(CL_INVALID_VALUE,
		  clGetSupportedImageFormats(self->context, 0, CL_MEM_OBJECT_BUFFER, 256, formats,
					     &count));
	EXPECT_EQ(CL_INVALID_VALUE,
		  clGetSupportedImageFormats(self->context, 0, CL_MEM_OBJECT_IMAGE2D, 0, formats,
					     &count));
	for (k = 0; k < KINDS; k++) {
		const cl_image_desc *desc = &kinds[k].desc;
		const struct {
			cl_image_info name;
			size_t value;
		} infos[] = {
			{ CL_IMAGE_ELEMENT_SIZE, 4 },
			{ CL_IMAGE_ROW_PITCH, WIDTH * 4 },
			{ CL_IMAGE_SLICE_PITCH, kinds[k].slice_pitch },
			{ CL_IMAGE_WIDTH, desc->image_width },
			{ CL_IMAGE_HEIGHT, desc->image_height },
			{ CL_IMAGE_DEPTH, desc->image_depth },
			{ CL_IMAGE_ARRAY_SIZE, desc->image_array_size },
		};

		mem = clCreateImage(self->context, 0, &rg, desc, NULL, &err);
		ASSERT_EQ(0, err);
		for (f = 0; f < sizeof(infos) / sizeof(infos[0]); f++) {
			ASSERT_EQ(0,
				  clGetImageInfo(mem, infos[f].name, sizeof(value), &value, NULL));
			EXPECT_EQ(infos[f].value, value) TH_LOG("kind %zu info %u", k, f);
		}
		EXPECT_EQ(0, clReleaseMemObject(mem));
	}
}

TEST_F(image, samplers)
{
	const cl_sampler_properties twice[] = { CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR,
						CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0 };
	const cl_sampler_properties wrong[] = { CL_SAMPLER_FILTER_MODE, 0, 0 };
	const cl_sampler_properties good[] = { CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0 };
	cl_sampler_properties back[8];
	cl_addressing_mode mode;
	cl_sampler sampler;
	size_t size;
	cl_int err;

	sampler = clCreateSamplerWithProperties(self->context, good, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0,
		  clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof(mode), &mode, NULL));
	EXPECT_EQ(CL_ADDRESS_CLAMP, mode);
	ASSERT_EQ(0, clGetSamplerInfo(sampler, CL_SAMPLER_PROPERTIES, sizeof(back), back, &size));
	EXPECT_EQ(sizeof(good), size);
	EXPECT_EQ(0, memcmp(good, back, sizeof(good)));
	EXPECT_EQ(0, clReleaseSampler(sampler));
	sampler =
		clCreateSampler(self->context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, clReleaseSampler(sampler));
	EXPECT_EQ(NULL, clCreateSamplerWithProperties(self->context, twice, &err));
	EXPECT_EQ(CL_INVALID_VALUE, err);
	EXPECT_EQ(NULL, clCreateSamplerWithProperties(self->context, wrong, &err));
	EXPECT_EQ(CL_INVALID_VALUE, err);
	EXPECT_EQ(NULL,
		  clCreateSampler(self->context, 2, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, &err));
	EXPECT_EQ(CL_INVALID_VALUE, err);
	EXPECT_EQ(NULL, clCreateSampler(NULL, 0, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &err));
	EXPECT_EQ(CL_INVALID_CONTEXT, err);
	EXPECT_EQ(CL_INVALID_SAMPLER, clReleaseSampler((cl_sampler)self->queue));
}

TEST_HARNESS_MAIN
