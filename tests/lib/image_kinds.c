// SPDX-License-Identifier: MIT
/*
 * image_kinds.c - every kind of image with every access, and every format that OpenCL 3.0 requires
 *
 * What a format's pixels stand for is worked out here once more, as chapter 8.3 of the OpenCL
 * specification says.
 */
#include <math.h>

#include "kselftest_harness.h"
#include "lib_test.h"

#define PIXELS 256

FIXTURE(kinds) {
	struct bench b;
	struct salvo_program *program;
};

FIXTURE_SETUP(kinds)
{
	ASSERT_EQ(0, bench_open(&self->b));
	ASSERT_EQ(0, salvo_program_load_file(self->b.device, kernel_path("image_kinds.salvo"),
					     &self->program));
}

FIXTURE_TEARDOWN(kinds)
{
	salvo_program_destroy(self->program);
	bench_close(&self->b);
}

static int run(struct bench *b, struct salvo_kernel *kernel)
{
	int err;

	salvo_batch_reset(b->batch);
	err = salvo_batch_dispatch(b->batch, kernel);
	return err < 0 ? err : bench_run(b);
}

static const struct {
	const char *kernel;
	uint32_t size[4];	/* width, height, depth, layers */
	unsigned int dims;	/* of a coordinate */
	uint32_t answer;
} kinds[] = {
	{ "kind_1d", { 19 }, 1, 19 },
	{ "kind_1d_buffer", { 19 }, 1, 19 },
	{ "kind_1d_array", { 19, 0, 0, 5 }, 2, 50019 },
	{ "kind_2d", { 19, 11 }, 2, 1119 },
	{ "kind_2d_array", { 19, 11, 0, 5 }, 3, 51119 },
	{ "kind_3d", { 19, 11, 5 }, 3, 51119 },
};

static uint32_t or_one(uint32_t size)
{
	return size ? size : 1;
}

TEST_F(kinds, read_written_and_both)
{
	unsigned int k, i, n;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const uint32_t *size = kinds[k].size;
		const struct salvo_image_info info = {
			.order = SALVO_IMAGE_RG, .type = SALVO_IMAGE_SIGNED_INT32, .width = size[0],
			.height = size[1], .depth = size[2], .layers = size[3],
		};
		/* The layers of lines are the second coordinate; one more than there is each way */
		const uint32_t layers = or_one(size[2]) * or_one(size[3]);
		const uint32_t grid[3] = {
			size[0] + 1, (size[1] ? size[1] : layers) + 1, layers + 1,
		};
		struct salvo_image *images[3];
		struct salvo_kernel *kernel;
		struct salvo_argument_info arg;
		int32_t *map[3];

		n = size[0] * or_one(size[1]) * layers * 2;
		ASSERT_EQ(0, salvo_kernel_create(self->program, kinds[k].kernel, &kernel));
		for (i = 0; i < 3; i++) {
			ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &images[i]));
			ASSERT_EQ(0, salvo_bo_map(salvo_image_bo(images[i]), (void **)&map[i]));
			ASSERT_EQ(0, salvo_kernel_set_image(kernel, i, images[i]));
		}
		ASSERT_EQ(0, salvo_kernel_get_argument(kernel, 2, &arg));
		EXPECT_EQ(SALVO_ARGUMENT_READ | SALVO_ARGUMENT_WRITE, arg.access);
		for (i = 0; i < n; i++) {
			map[0][i] = 3 * i;
			map[2][i] = -5 * (int)i;
		}
		ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 3, self->b.bo, 0));
		ASSERT_EQ(0, salvo_kernel_set_grid(kernel, kinds[k].dims, grid, NULL));
		memset(self->b.map, 0, 16);
		ASSERT_EQ(0, run(&self->b, kernel));
		for (i = 0; i < n; i++) {
			ASSERT_EQ(3 * (int)i, map[1][i]) TH_LOG("%s %u", kinds[k].kernel, i);
			ASSERT_EQ(1 - 5 * (int)i, map[2][i]) TH_LOG("%s %u", kinds[k].kernel, i);
		}
		for (i = 0; i < 3; i++) {
			EXPECT_EQ(kinds[k].answer, self->b.map[i]) TH_LOG("%s", kinds[k].kernel);
			salvo_image_destroy(images[i]);
		}
		EXPECT_EQ(SALVO_IMAGE_RG << 16 | SALVO_IMAGE_SIGNED_INT32, self->b.map[3]);
		salvo_kernel_destroy(kernel);
	}
}

/* Orders with their channels in memory: r, g, b, a by number; and what is read without it */
static const struct {
	uint32_t order;
	unsigned int count;
	int channels[4];	/* of r, g, b, a; -1: 0, -2: 1 */
} orders[] = {
	{ SALVO_IMAGE_R, 1, { 0, -1, -1, -2 } },
	{ SALVO_IMAGE_A, 1, { -1, -1, -1, 0 } },
	{ SALVO_IMAGE_RG, 2, { 0, 1, -1, -2 } },
	{ SALVO_IMAGE_RA, 2, { 0, -1, -1, 1 } },
	{ SALVO_IMAGE_RGBA, 4, { 0, 1, 2, 3 } },
	{ SALVO_IMAGE_BGRA, 4, { 2, 1, 0, 3 } },
	{ SALVO_IMAGE_ARGB, 4, { 1, 2, 3, 0 } },
	{ SALVO_IMAGE_INTENSITY, 1, { 0, 0, 0, 0 } },
	{ SALVO_IMAGE_LUMINANCE, 1, { 0, 0, 0, -2 } },
};

static const struct {
	uint32_t type;
	unsigned int bytes;
	const char *kernel;
} types[] = {
	{ SALVO_IMAGE_SNORM_INT8, 1, "format_f" },
	{ SALVO_IMAGE_SNORM_INT16, 2, "format_f" },
	{ SALVO_IMAGE_UNORM_INT8, 1, "format_f" },
	{ SALVO_IMAGE_UNORM_INT16, 2, "format_f" },
	{ SALVO_IMAGE_SIGNED_INT8, 1, "format_i" },
	{ SALVO_IMAGE_SIGNED_INT16, 2, "format_i" },
	{ SALVO_IMAGE_SIGNED_INT32, 4, "format_i" },
	{ SALVO_IMAGE_UNSIGNED_INT8, 1, "format_ui" },
	{ SALVO_IMAGE_UNSIGNED_INT16, 2, "format_ui" },
	{ SALVO_IMAGE_UNSIGNED_INT32, 4, "format_ui" },
	{ SALVO_IMAGE_HALF_FLOAT, 2, "format_f" },
	{ SALVO_IMAGE_FLOAT, 4, "format_f" },
};

union channel {
	float f;
	int32_t i;
};

static float half_value(uint16_t bits)
{
	const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
	const float size = exponent == 31 ? INFINITY :
			   exponent ? ldexpf(1024 + mantissa, exponent - 25) :
				      ldexpf(mantissa, -24);

	return bits >> 15 ? -size : size;
}

/* A channel in memory as a kernel reads it. */
static union channel decode(const void *at, uint32_t type)
{
	switch (type) {
	case SALVO_IMAGE_SNORM_INT8:
		return (union channel){ .f = fmaxf(*(const int8_t *)at / 127.0f, -1) };
	case SALVO_IMAGE_SNORM_INT16:
		return (union channel){ .f = fmaxf(*(const int16_t *)at / 32767.0f, -1) };
	case SALVO_IMAGE_UNORM_INT8:
		return (union channel){ .f = *(const uint8_t *)at / 255.0f };
	case SALVO_IMAGE_UNORM_INT16:
		return (union channel){ .f = *(const uint16_t *)at / 65535.0f };
	case SALVO_IMAGE_SIGNED_INT8:
		return (union channel){ .i = *(const int8_t *)at };
	case SALVO_IMAGE_SIGNED_INT16:
		return (union channel){ .i = *(const int16_t *)at };
	case SALVO_IMAGE_UNSIGNED_INT8:
		return (union channel){ .i = *(const uint8_t *)at };
	case SALVO_IMAGE_UNSIGNED_INT16:
		return (union channel){ .i = *(const uint16_t *)at };
	case SALVO_IMAGE_HALF_FLOAT:
		return (union channel){ .f = half_value(*(const uint16_t *)at) };
	default:
		return *(const union channel *)at;
	}
}

static bool is_near(union channel want, union channel got, bool is_float)
{
	if (!is_float)
		return want.i == got.i;
	return want.f == got.f || fabsf(want.f - got.f) <= fabsf(want.f) * 0x1.8p-23f;
}

static void fill(uint8_t *at, unsigned int bytes, uint32_t type)
{
	uint32_t state = 1;
	unsigned int i;

	for (i = 0; i < bytes; i++) {
		state = state * 1664525 + 1013904223;
		at[i] = i < 256 && type != SALVO_IMAGE_FLOAT && type != SALVO_IMAGE_HALF_FLOAT ?
			i : state >> 24;
	}
	/* No number that is not one: what is written of it need not be the same. */
	for (i = 0; i < bytes / 4 && type == SALVO_IMAGE_FLOAT; i++)
		((uint32_t *)at)[i] &= 0xbfffffff;
	for (i = 0; i < bytes / 2 && type == SALVO_IMAGE_HALF_FLOAT; i++)
		((uint16_t *)at)[i] &= 0xbfff;
}

static void check_format(struct __test_metadata *_metadata, FIXTURE_DATA(kinds) *self,
			 unsigned int o, unsigned int t)
{
	const struct salvo_image_info info = {
		.order = orders[o].order, .type = types[t].type, .width = PIXELS,
	};
	const uint32_t items = PIXELS;
	const bool is_float = !strcmp(types[t].kernel, "format_f");
	const unsigned int bytes = PIXELS * orders[o].count * types[t].bytes;
	const union channel *out = (const void *)self->b.map;
	struct salvo_image *from, *to;
	struct salvo_kernel *kernel;
	uint8_t *source, *result;
	unsigned int i;

	ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &from));
	ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &to));
	ASSERT_EQ(0, salvo_bo_map(salvo_image_bo(from), (void **)&source));
	ASSERT_EQ(0, salvo_bo_map(salvo_image_bo(to), (void **)&result));
	ASSERT_EQ(bytes, salvo_image_row_pitch(from));
	fill(source, bytes, info.type);
	ASSERT_EQ(0, salvo_kernel_create(self->program, types[t].kernel, &kernel));
	ASSERT_EQ(0, salvo_kernel_set_image(kernel, 0, from));
	ASSERT_EQ(0, salvo_kernel_set_image(kernel, 1, to));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 2, self->b.bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &items, NULL));
	ASSERT_EQ(0, run(&self->b, kernel));
	for (i = 0; i < 4 * PIXELS; i++) {
		const int channel = orders[o].channels[i % 4];
		union channel want = { .i = 0 };

		if (channel == -2 && is_float)
			want.f = 1;
		else if (channel == -2)
			want.i = 1;
		else if (channel >= 0)
			want = decode(source + (i / 4 * orders[o].count + channel) * types[t].bytes,
				      info.type);
		ASSERT_TRUE(is_near(want, out[i], is_float)) {
			TH_LOG("order %#x type %#x channel %u: %f (%d), not %f (%d)", info.order,
			       info.type, i, out[i].f, out[i].i, want.f, want.i);
		}
		ASSERT_EQ(out[i].i, out[i + 4 * PIXELS].i) {
			TH_LOG("order %#x type %#x channel %u, written and read", info.order,
			       info.type, i);
		}
	}
	salvo_kernel_destroy(kernel);
	salvo_image_destroy(from);
	salvo_image_destroy(to);
}

TEST_F(kinds, every_format_read_and_written)
{
	unsigned int o, t;

	for (o = 0; o < sizeof(orders) / sizeof(orders[0]); o++)
		for (t = 0; t < sizeof(types) / sizeof(types[0]); t++)
			check_format(_metadata, self, o, t);
}

/* Channel @c of pixel @x of an image of floats, which has a border of zeros */
static float channel_at(const uint8_t *pixels, int x, unsigned int c, unsigned int o,
			unsigned int t)
{
	const int channel = orders[o].channels[c];

	if (channel < 0 || x < 0 || x >= PIXELS)
		return channel == -2;
	return decode(pixels + (x * orders[o].count + channel) * types[t].bytes, types[t].type).f;
}

static void check_filter(struct __test_metadata *_metadata, FIXTURE_DATA(kinds) *self,
			 unsigned int o, unsigned int t)
{
	const struct salvo_image_info info = {
		.order = orders[o].order, .type = types[t].type, .width = PIXELS,
	};
	const float *out = (const float *)self->b.map;
	const uint32_t items = PIXELS + 1;
	struct salvo_kernel *kernel;
	struct salvo_image *image;
	uint8_t *pixels;
	unsigned int i;

	ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &image));
	ASSERT_EQ(0, salvo_bo_map(salvo_image_bo(image), (void **)&pixels));
	fill(pixels, PIXELS * orders[o].count * types[t].bytes, info.type);
	ASSERT_EQ(0, salvo_kernel_create(self->program, "filter", &kernel));
	ASSERT_EQ(0, salvo_kernel_set_image(kernel, 0, image));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 1, self->b.bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &items, NULL));
	ASSERT_EQ(0, run(&self->b, kernel));
	for (i = 0; i < 4 * items; i++) {
		const int x = i / 4;
		const float want = 0.75f * channel_at(pixels, x - 1, i % 4, o, t) +
				   0.25f * channel_at(pixels, x, i % 4, o, t);

		ASSERT_GT(1e-6, fabsf(want - out[i])) {
			TH_LOG("order %#x type %#x channel %u: %f, not %f", info.order, info.type,
			       i, out[i], want);
		}
	}
	salvo_kernel_destroy(kernel);
	salvo_image_destroy(image);
}

TEST_F(kinds, every_format_filtered)
{
	unsigned int o, t;

	for (o = 0; o < sizeof(orders) / sizeof(orders[0]); o++)
		for (t = 0; t < sizeof(types) / sizeof(types[0]); t++)
			if (!strcmp(types[t].kernel, "format_f"))
				check_filter(_metadata, self, o, t);
}

/* Of 8 and 16 bits, and of one channel and four: those that lanes write at the same time, too */
TEST_F(kinds, integers_beyond_a_format_become_its_largest)
{
	static const uint32_t formats[][3] = {
		{ SALVO_IMAGE_R, SALVO_IMAGE_UNSIGNED_INT8, 1 },
		{ SALVO_IMAGE_RGBA, SALVO_IMAGE_UNSIGNED_INT8, 4 },
		{ SALVO_IMAGE_R, SALVO_IMAGE_UNSIGNED_INT16, 1 },
		{ SALVO_IMAGE_RGBA, SALVO_IMAGE_UNSIGNED_INT16, 4 },
	};
	const uint32_t items = PIXELS;
	unsigned int f, i;

	for (f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		const struct salvo_image_info info = {
			.order = formats[f][0], .type = formats[f][1], .width = PIXELS,
		};
		const bool bytes = info.type == SALVO_IMAGE_UNSIGNED_INT8;
		const uint32_t count = formats[f][2], most = bytes ? 0xff : 0xffff;
		struct salvo_kernel *kernel;
		struct salvo_image *image;
		void *pixels;

		ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &image));
		ASSERT_EQ(0, salvo_bo_map(salvo_image_bo(image), &pixels));
		ASSERT_EQ(0, salvo_kernel_create(self->program, "beyond", &kernel));
		ASSERT_EQ(0, salvo_kernel_set_image(kernel, 0, image));
		ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &items, NULL));
		ASSERT_EQ(0, run(&self->b, kernel));
		for (i = 0; i < count * PIXELS; i++) {
			const uint32_t x = i / count;
			const uint32_t color[] = { x << 9, x << 12, ~x, x };
			const uint32_t value = color[i % count];

			ASSERT_EQ(value < most ? value : most, bytes ?
				  ((uint8_t *)pixels)[i] : ((uint16_t *)pixels)[i]) {
				TH_LOG("format %u, channel %u", f, i);
			}
		}
		salvo_kernel_destroy(kernel);
		salvo_image_destroy(image);
	}
}

/* A full-profile device takes 128 images that a kernel reads, and 64 that it writes. */
static void check_many(struct __test_metadata *_metadata, FIXTURE_DATA(kinds) *self,
		       const char *name, unsigned int count)
{
	const struct salvo_image_info info = {
		.order = SALVO_IMAGE_R, .type = SALVO_IMAGE_SIGNED_INT32, .width = 1,
	};
	struct salvo_image *images[128];
	struct salvo_kernel *kernel;
	const uint32_t one = 1;
	unsigned int i, sum = 0;
	uint32_t *map;

	ASSERT_EQ(0, salvo_kernel_create(self->program, name, &kernel));
	for (i = 0; i < count; i++) {
		ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &images[i]));
		ASSERT_EQ(0, salvo_bo_map(salvo_image_bo(images[i]), (void **)&map));
		*map = i * i + 1;
		sum += *map;
		ASSERT_EQ(0, salvo_kernel_set_image(kernel, i, images[i]));
	}
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, count, self->b.bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &one, NULL));
	ASSERT_EQ(0, run(&self->b, kernel));
	EXPECT_EQ(sum, self->b.map[0]);
	for (i = 0; i < count; i++) {
		ASSERT_EQ(0, salvo_bo_map(salvo_image_bo(images[i]), (void **)&map));
		if (count < 128)
			EXPECT_EQ(i * i + 2, *map);
		salvo_image_destroy(images[i]);
	}
	salvo_kernel_destroy(kernel);
}

TEST_F(kinds, an_image_of_one_row_may_be_longer_than_a_side)
{
	struct salvo_image_info info = {
		.order = SALVO_IMAGE_R, .type = SALVO_IMAGE_UNSIGNED_INT8, .width = 1u << 27,
	};
	struct salvo_image *image;

	ASSERT_EQ(0, salvo_image_create(self->b.device, &info, 0, &image));
	salvo_image_destroy(image);
	info.width++;
	EXPECT_EQ(-EINVAL, salvo_image_create(self->b.device, &info, 0, &image));
	info.width = 65537;
	info.layers = 1;
	EXPECT_EQ(-EINVAL, salvo_image_create(self->b.device, &info, 0, &image));
}

TEST_F(kinds, a_pointer_to_a_structure_called_image_is_a_pointer)
{
	struct salvo_argument_info arg;
	struct salvo_kernel *kernel;

	ASSERT_EQ(0, salvo_kernel_create(self->program, "no_image", &kernel));
	ASSERT_EQ(0, salvo_kernel_get_argument(kernel, 0, &arg));
	EXPECT_EQ(SALVO_ARGUMENT_GLOBAL, arg.kind);
	salvo_kernel_destroy(kernel);
}

TEST_F(kinds, as_many_arguments_as_full_profile_takes)
{
	check_many(_metadata, self, "many_read", 128);
	check_many(_metadata, self, "many_both", 64);
}

TEST_HARNESS_MAIN
