// SPDX-License-Identifier: MIT
/*
 * image.c - images: samplers against a reference, format conversion both ways, arguments
 *
 * The reference follows 8.2 of the OpenCL specification in double; float arithmetic in the kernel
 * may differ by rounding alone, so coordinates where a rounding error selects another pixel are
 * avoided.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "lib_test.h"

#define WIDTH	13
#define HEIGHT	7
#define DEPTH	4
#define POINTS	2000

FIXTURE(image) {
	struct bench b;
	struct salvo_program *program;
};

FIXTURE_SETUP(image)
{
	ASSERT_EQ(0, bench_open(&self->b));
	ASSERT_EQ(0, salvo_program_load_file(self->b.device, kernel_path("image.salvo"), &self->program));
}

FIXTURE_TEARDOWN(image)
{
	salvo_program_destroy(self->program);
	bench_close(&self->b);
}

static struct salvo_kernel *find(struct salvo_program *program, const char *name)
{
	struct salvo_kernel *kernel;

	return salvo_kernel_create(program, name, &kernel) ? NULL : kernel;
}

static void *pixels(const struct salvo_image *image)
{
	void *map;

	return salvo_bo_map(salvo_image_bo(image), &map) ? NULL : map;
}

/* Returns the pixel for index @i of @size, or -1 for the border. */
static int wrap(int i, int size, uint32_t sampler)
{
	switch (sampler & 0xe) {
	case SALVO_SAMPLER_CLAMP:
		return i < 0 || i >= size ? -1 : i;
	case SALVO_SAMPLER_REPEAT:
		return ((i % size) + size) % size;
	default:
		return i < 0 ? 0 : i >= size ? size - 1 : i;
	}
}

static double in_pixels(double s, int size, uint32_t sampler)
{
	if (!(sampler & SALVO_SAMPLER_NORMALIZED))
		return s;
	if ((sampler & 0xe) == SALVO_SAMPLER_REPEAT)
		s -= floor(s);
	if ((sampler & 0xe) == SALVO_SAMPLER_MIRRORED_REPEAT)
		s = fabs(s - 2 * rint(0.5 * s));
	return s * size;
}

struct volume {
	const float *pixels;
	int channels;		/* 4: RGBA, 1: R */
	int size[3];
	int dims;
};

static float pixel(const struct volume *v, const int at[3], int channel)
{
	if (channel >= v->channels)
		return channel == 3;
	if (at[0] < 0 || at[1] < 0 || at[2] < 0)
		return 0;
	return v->pixels[v->channels * ((at[2] * v->size[1] + at[1]) * v->size[0] + at[0]) +
			 channel];
}

static double reference(const struct volume *v, const float *s, uint32_t sampler, int channel)
{
	int low[3] = { 0 }, high[3] = { 0 }, at[3], d, corner;
	double part[3] = { 0 }, sum = 0;

	for (d = 0; d < v->dims; d++) {
		double u = in_pixels(s[d], v->size[d], sampler);

		if (!(sampler & SALVO_SAMPLER_LINEAR)) {
			low[d] = wrap(floor(u), v->size[d], sampler);
			continue;
		}
		u -= 0.5;
		part[d] = u - floor(u);
		low[d] = wrap(floor(u), v->size[d], sampler);
		high[d] = wrap(floor(u) + 1, v->size[d], sampler);
	}
	for (corner = 0; corner < 1 << v->dims; corner++) {
		double weight = 1;

		for (d = 0; d < 3; d++) {
			at[d] = corner >> d & 1 ? high[d] : low[d];
			weight *= corner >> d & 1 ? part[d] : 1 - part[d];
		}
		if (weight)
			sum += weight * pixel(v, at, channel);
	}
	return sum;
}

static uint32_t random_state = 7;

static float random_unit(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) * 0x1p-24f;
}

/* A coordinate from -1.5 to 2.5 sizes, at least a hundredth away from every pixel boundary */
static float coordinate(int size, bool normalized)
{
	float pixels = (random_unit() * 4 - 1.5f) * size, part = pixels - floorf(pixels);

	if (fabsf(part - 0.5f) < 0.01f || part < 0.01f || part > 0.99f)
		pixels = floorf(pixels) + 0.25f;
	return normalized ? pixels / size : pixels;
}

static int run(FIXTURE_DATA(image) *self, struct salvo_kernel *kernel)
{
	int err;

	salvo_batch_reset(self->b.batch);
	err = salvo_batch_dispatch(self->b.batch, kernel);
	return err < 0 ? err : bench_run(&self->b);
}

static const uint32_t addresses[] = {
	SALVO_SAMPLER_CLAMP_TO_EDGE, SALVO_SAMPLER_CLAMP,
	SALVO_SAMPLER_NORMALIZED | SALVO_SAMPLER_CLAMP_TO_EDGE,
	SALVO_SAMPLER_NORMALIZED | SALVO_SAMPLER_CLAMP,
	SALVO_SAMPLER_NORMALIZED | SALVO_SAMPLER_REPEAT,
	SALVO_SAMPLER_NORMALIZED | SALVO_SAMPLER_MIRRORED_REPEAT,
};

/* Undefined where the image is repeated, but no reason to leave it. */
static const float wild[] = { NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 3e9f, -3e9f, 0.5f };

/* Fills @count channels in @raw with noise. @data: their values */
static void fill_noise(void *raw, float *data, unsigned int count, uint32_t type)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		const uint32_t noise = random_unit() * 65536;

		switch (type) {
		case SALVO_IMAGE_UNORM_INT8:
			((uint8_t *)raw)[i] = noise;
			data[i] = (uint8_t)noise / 255.0f;
			break;
		case SALVO_IMAGE_UNORM_INT16:
			((uint16_t *)raw)[i] = noise;
			data[i] = noise / 65535.0f;
			break;
		default:
			((float *)raw)[i] = data[i] = random_unit();
		}
	}
}

/* Every addressing mode with both filters, in @dims dimensions */
static void check_samplers(struct __test_metadata *_metadata, FIXTURE_DATA(image) *self,
			   const char *name, int dims, uint32_t order, uint32_t type)
{
	const struct salvo_image_info info = {
		.order = order, .type = type, .width = WIDTH,
		.height = HEIGHT, .depth = dims > 2 ? DEPTH : 0,
	};
	struct volume v = { .channels = order == SALVO_IMAGE_R ? 1 : 4,
			    .size = { WIDTH, HEIGHT, dims > 2 ? DEPTH : 1 }, .dims = dims };
	struct salvo_kernel *kernel = find(self->program, name);
	const uint32_t count = POINTS;
	struct salvo_bo *at_bo, *out_bo;
	struct salvo_image *image;
	float *at, *out, *data;
	unsigned int m, i, c, channels;
	const int stride = dims > 2 ? 4 : 2;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &image));
	ASSERT_EQ(0, salvo_bo_create(self->b.device, POINTS * 16, 0, &at_bo));
	ASSERT_EQ(0, salvo_bo_create(self->b.device, POINTS * 16, 0, &out_bo));
	ASSERT_EQ(0, salvo_bo_map(at_bo, (void **)&at));
	ASSERT_EQ(0, salvo_bo_map(out_bo, (void **)&out));
	channels = WIDTH * HEIGHT * v.size[2] * v.channels;
	data = malloc(channels * sizeof(*data));
	ASSERT_NE(NULL, data);
	v.pixels = data;
	fill_noise(pixels(image), data, channels, type);
	ASSERT_EQ(0, salvo_kernel_set_image(kernel, 0, image));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 2, at_bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 3, out_bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &count, NULL));
	for (m = 0; m < 2 * sizeof(addresses) / sizeof(addresses[0]); m++) {
		uint32_t sampler = addresses[m / 2] |
				   (m & 1 ? SALVO_SAMPLER_LINEAR : SALVO_SAMPLER_NEAREST);

		for (i = 0; i < POINTS * stride; i++)
			at[i] = coordinate(i % stride < 3 ? v.size[i % stride] : 1, sampler & 1);
		ASSERT_EQ(0, salvo_kernel_set_sampler(kernel, 1, sampler));
		ASSERT_EQ(0, run(self, kernel));
		for (i = 0; i < POINTS; i++)
			for (c = 0; c < 4; c++) {
				double want = reference(&v, at + i * stride, sampler, c);

				ASSERT_GT(1e-4, fabs(want - out[4 * i + c])) {
					TH_LOG("sampler %#x at (%f, %f): %f, not %f", sampler,
					       at[i * stride], at[i * stride + 1],
					       out[4 * i + c], want);
				}
			}
		for (i = 0; i < POINTS * stride; i++)
			at[i] = wild[(int)(random_unit() * sizeof(wild) / sizeof(wild[0]))];
		ASSERT_EQ(0, run(self, kernel)) {
			TH_LOG("sampler %#x", sampler);
		}
	}
	free(data);
	salvo_bo_destroy(at_bo);
	salvo_bo_destroy(out_bo);
	salvo_image_destroy(image);
	salvo_kernel_destroy(kernel);
}

static const uint32_t types[] = {
	SALVO_IMAGE_FLOAT, SALVO_IMAGE_UNORM_INT8, SALVO_IMAGE_UNORM_INT16,
};

TEST_F(image, samplers_in_two_dimensions)
{
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		check_samplers(_metadata, self, "sample", 2, SALVO_IMAGE_RGBA, types[i]);
}

TEST_F(image, samplers_in_three_dimensions)
{
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		check_samplers(_metadata, self, "sample_3d", 3, SALVO_IMAGE_RGBA, types[i]);
}

TEST_F(image, samplers_of_one_channel)
{
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		check_samplers(_metadata, self, "sample", 2, SALVO_IMAGE_R, types[i]);
		check_samplers(_metadata, self, "sample_3d", 3, SALVO_IMAGE_R, types[i]);
	}
}

/* Rows that are shorter than vectors, and work-items that skip the function of all formats */
TEST_F(image, samplers_in_short_rows)
{
	static const char *const names[] = { "sample_rows_of_8", "sample_rows_of_4" };

	for (unsigned int i = 0; i < 2; i++) {
		check_samplers(_metadata, self, names[i], 2, SALVO_IMAGE_R, SALVO_IMAGE_FLOAT);
		check_samplers(_metadata, self, names[i], 2, SALVO_IMAGE_R, SALVO_IMAGE_UNORM_INT8);
		check_samplers(_metadata, self, names[i], 2, SALVO_IMAGE_RGBA, SALVO_IMAGE_FLOAT);
	}
}

static const struct {
	uint32_t order, type;
	const char *kernel;
	unsigned int bytes;		/* of a pixel */
} formats[] = {
	{ SALVO_IMAGE_RGBA, SALVO_IMAGE_UNORM_INT8, "copy_f", 4 },
	{ SALVO_IMAGE_BGRA, SALVO_IMAGE_UNORM_INT8, "copy_f", 4 },
	{ SALVO_IMAGE_ARGB, SALVO_IMAGE_SNORM_INT8, "copy_f", 4 },
	{ SALVO_IMAGE_RG, SALVO_IMAGE_UNORM_INT16, "copy_f", 4 },
	{ SALVO_IMAGE_RA, SALVO_IMAGE_SNORM_INT16, "copy_f", 4 },
	{ SALVO_IMAGE_R, SALVO_IMAGE_FLOAT, "copy_f", 4 },
	{ SALVO_IMAGE_A, SALVO_IMAGE_HALF_FLOAT, "copy_f", 2 },
	{ SALVO_IMAGE_INTENSITY, SALVO_IMAGE_UNORM_INT8, "copy_f", 1 },
	{ SALVO_IMAGE_LUMINANCE, SALVO_IMAGE_UNORM_INT16, "copy_f", 2 },
	{ SALVO_IMAGE_RGBA, SALVO_IMAGE_FLOAT, "copy_f", 16 },
	{ SALVO_IMAGE_RGBA, SALVO_IMAGE_SIGNED_INT8, "copy_i", 4 },
	{ SALVO_IMAGE_RG, SALVO_IMAGE_SIGNED_INT16, "copy_i", 4 },
	{ SALVO_IMAGE_R, SALVO_IMAGE_SIGNED_INT32, "copy_i", 4 },
	{ SALVO_IMAGE_RGBA, SALVO_IMAGE_UNSIGNED_INT8, "copy_ui", 4 },
	{ SALVO_IMAGE_R, SALVO_IMAGE_UNSIGNED_INT8, "copy_ui", 1 },
	{ SALVO_IMAGE_R, SALVO_IMAGE_UNSIGNED_INT16, "copy_ui", 2 },
	{ SALVO_IMAGE_RGBA, SALVO_IMAGE_UNSIGNED_INT32, "copy_ui", 16 },
};

/* Small numbers of the type: 1 is 1 as an integer, 1/255 as UNORM_INT8 and so on */
static void fill(void *data, uint32_t type, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		switch (type) {
		case SALVO_IMAGE_SNORM_INT8:
		case SALVO_IMAGE_UNORM_INT8:
		case SALVO_IMAGE_SIGNED_INT8:
		case SALVO_IMAGE_UNSIGNED_INT8:
			((uint8_t *)data)[i] = i % 100;
			break;
		case SALVO_IMAGE_HALF_FLOAT:
			((uint16_t *)data)[i] = 0x3c00 + i;
			break;
		case SALVO_IMAGE_FLOAT:
			((float *)data)[i] = i * 0.5f;
			break;
		case SALVO_IMAGE_SIGNED_INT32:
		case SALVO_IMAGE_UNSIGNED_INT32:
			((uint32_t *)data)[i] = i;
			break;
		default:
			((uint16_t *)data)[i] = i;
		}
	}
}

TEST_F(image, formats_there_and_back)
{
	unsigned int f, i;

	for (f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		const bool plus_one = strcmp(formats[f].kernel, "copy_f");
		struct salvo_image_info info = {
			.order = formats[f].order, .type = formats[f].type, .width = WIDTH,
			.height = HEIGHT,
		};
		/* Two more than the image has: writes outside are dropped. */
		const uint32_t grid[2] = { WIDTH + 2, HEIGHT + 2 };
		struct salvo_kernel *kernel = find(self->program, formats[f].kernel);
		struct salvo_image *from, *to;
		unsigned int row = WIDTH * formats[f].bytes;
		uint8_t *a, *b;

		ASSERT_NE(NULL, kernel);
		ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &from));
		ASSERT_EQ(row, salvo_image_row_pitch(from));
		ASSERT_EQ(row * HEIGHT, salvo_image_slice_pitch(from));
		info.row_pitch = row + 4 * formats[f].bytes;
		ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &to));
		a = pixels(from);
		b = pixels(to);
		memset(a, 0, row * HEIGHT);
		for (i = 0; i < HEIGHT; i++)
			fill(a + i * row, info.type, WIDTH);
		ASSERT_EQ(0, salvo_kernel_set_image(kernel, 0, from));
		ASSERT_EQ(0, salvo_kernel_set_image(kernel, 1, to));
		ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 2, grid, NULL));
		ASSERT_EQ(0, run(self, kernel));
		for (i = 0; i < HEIGHT && !plus_one; i++) {
			EXPECT_EQ(0, memcmp(a + i * row, b + i * info.row_pitch, row)) {
				TH_LOG("order %#x type %#x row %u", info.order, info.type, i);
			}
			EXPECT_EQ(0, b[i * info.row_pitch + row]);
		}
		for (i = 0; i < HEIGHT && plus_one; i++)
			EXPECT_EQ(a[i * row] + 1, b[i * info.row_pitch]) {
				TH_LOG("order %#x type %#x row %u", info.order, info.type, i);
			}
		salvo_image_destroy(from);
		salvo_image_destroy(to);
		salvo_kernel_destroy(kernel);
	}
}

TEST_F(image, arrays_lines_and_questions)
{
	const struct salvo_image_info array = {
		.order = SALVO_IMAGE_RGBA, .type = SALVO_IMAGE_FLOAT, .width = 5, .height = 4,
		.layers = 3,
	};
	const struct salvo_image_info line = {
		.order = SALVO_IMAGE_R, .type = SALVO_IMAGE_FLOAT, .width = 5,
	};
	const int32_t answers[8] = { 5, 4, 3, 5, 4, SALVO_IMAGE_R, SALVO_IMAGE_FLOAT, 5 };
	const uint32_t grid[3] = { 5, 4, 3 };
	struct salvo_kernel *kernel = find(self->program, "layers");
	struct salvo_image *from, *to, *one;
	float *a, *b, *l;
	void *out;
	unsigned int i;

	ASSERT_NE(NULL, kernel);
	ASSERT_EQ(0, salvo_image_create(self->b.device, &array, 0, &from));
	ASSERT_EQ(0, salvo_image_create(self->b.device, &array, 0, &to));
	ASSERT_EQ(0, salvo_image_create(self->b.device, &line, 0, &one));
	ASSERT_EQ(-EINVAL, salvo_kernel_set_image(kernel, 0, one));
	ASSERT_EQ(-EINVAL, salvo_kernel_set_image(kernel, 2, from));
	ASSERT_EQ(-EINVAL, salvo_kernel_set_image(kernel, 3, from));
	ASSERT_EQ(-EINVAL, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_image(kernel, 0, from));
	ASSERT_EQ(0, salvo_kernel_set_image(kernel, 1, to));
	ASSERT_EQ(0, salvo_kernel_set_image(kernel, 2, one));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 3, self->b.bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 3, grid, NULL));
	a = pixels(from);
	b = pixels(to);
	l = pixels(one);
	for (i = 0; i < 5 * 4 * 3 * 4; i++)
		a[i] = i;
	for (i = 0; i < 5; i++)
		l[i] = 1000 * i;
	ASSERT_EQ(0, run(self, kernel));
	for (i = 0; i < 5 * 4 * 3 * 4; i++) {
		float more = i % 4 == 0 ? l[i / 4 % 5] : i % 4 == 3;

		ASSERT_EQ(a[i] + more, b[i]) TH_LOG("element %u", i);
	}
	ASSERT_EQ(0, salvo_bo_map(self->b.bo, &out));
	EXPECT_EQ(0, memcmp(answers, out, sizeof(answers)));
	salvo_image_destroy(from);
	salvo_image_destroy(to);
	salvo_image_destroy(one);
	salvo_kernel_destroy(kernel);
}

TEST_F(image, wrong_shapes)
{
	const struct salvo_image_info good = {
		.order = SALVO_IMAGE_RGBA, .type = SALVO_IMAGE_FLOAT, .width = 4, .height = 4,
	};
	struct salvo_image_info info;
	struct salvo_image *image;

#define WRONG(FIELD, VALUE) do { \
		info = good; \
		info.FIELD = VALUE; \
		EXPECT_EQ(-EINVAL, salvo_image_create(self->b.device, &info, 0, &image)) \
			TH_LOG(#FIELD " " #VALUE); \
		EXPECT_EQ(NULL, image); \
	} while (0)
	WRONG(order, 0);
	WRONG(order, 0x10b4);		/* RGB needs packed types */
	WRONG(type, 0);
	WRONG(type, 0x10df);
	WRONG(width, 0);
	WRONG(width, 65537);
	WRONG(height, ~0u);
	WRONG(row_pitch, 63);
	WRONG(row_pitch, 72);
	WRONG(row_pitch, ~0ull << 4);
	WRONG(slice_pitch, 255);
	WRONG(slice_pitch, ~0ull << 6);
	info = good;
	info.layers = 2;
	info.depth = 2;
	EXPECT_EQ(-EINVAL, salvo_image_create(self->b.device, &info, 0, &image));
	info = good;
	info.width = info.height = info.depth = 65536;
	EXPECT_EQ(-ENOSPC, salvo_image_create(self->b.device, &info, 0, &image));
	salvo_image_destroy(NULL);
}

TEST_F(image, wrong_samplers)
{
	struct salvo_kernel *kernel = find(self->program, "sample");
	const uint32_t word = 0;

	ASSERT_NE(NULL, kernel);
	EXPECT_EQ(-EINVAL, salvo_kernel_set_sampler(kernel, 0, 0));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_sampler(kernel, 9, 0));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_sampler(kernel, 1, 0x40));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_value(kernel, 1, &word, 4));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_image(kernel, 0, NULL));
	EXPECT_EQ(0, salvo_kernel_set_sampler(kernel, 1, 0));
	salvo_kernel_destroy(kernel);
}

TEST_HARNESS_MAIN
