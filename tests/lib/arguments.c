// SPDX-License-Identifier: MIT
/* arguments.c - arguments at run time: descriptions, error messages, patches of every kind */
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "lib_test.h"

FIXTURE(arguments) {
	struct bench b;
	struct salvo_program *images;
};

FIXTURE_SETUP(arguments)
{
	ASSERT_EQ(0, bench_open(&self->b));
	ASSERT_EQ(0, salvo_program_load_file(self->b.device, kernel_path("image.salvo"),
					     &self->images));
}

FIXTURE_TEARDOWN(arguments)
{
	salvo_program_destroy(self->images);
	bench_close(&self->b);
}

static struct salvo_kernel *find(struct salvo_program *program, const char *name)
{
	struct salvo_kernel *kernel;

	return salvo_kernel_create(program, name, &kernel) ? NULL : kernel;
}

TEST_F(arguments, kernels_and_arguments_can_be_asked_for)
{
	static const struct {
		const char *name, *type;
		uint32_t kind, access, size;
	} expected[] = {
		{ "out", "uint*", SALVO_ARGUMENT_GLOBAL, SALVO_ARGUMENT_WRITE, 0 },
		{ "c", "char", SALVO_ARGUMENT_VALUE, 0, 1 },
		{ "v", "float4", SALVO_ARGUMENT_VALUE, 0, 16 },
		{ "l", "ulong", SALVO_ARGUMENT_VALUE, 0, 8 },
		{ "a", "uint*", SALVO_ARGUMENT_LOCAL, 0, 0 },
		{ "s", "short", SALVO_ARGUMENT_VALUE, 0, 2 },
		{ "b", "uint*", SALVO_ARGUMENT_LOCAL, 0, 0 },
		{ "k", "uint*", SALVO_ARGUMENT_CONSTANT, SALVO_ARGUMENT_READ, 0 },
	};
	struct salvo_kernel *mixed = find(self->b.program, "mixed");
	struct salvo_kernel *required = find(self->b.program, "required");
	struct salvo_kernel_properties properties;
	struct salvo_argument_info argument;
	bool found = false;
	unsigned int i;

	for (i = 0; i < salvo_program_kernel_count(self->b.program); i++)
		found |= !strcmp("mixed", salvo_program_kernel_name(self->b.program, i));
	EXPECT_TRUE(found);
	EXPECT_EQ(NULL, salvo_program_kernel_name(self->b.program, i));

	salvo_kernel_get_info(mixed, &properties);
	EXPECT_STREQ("mixed", properties.name);
	EXPECT_EQ(8, properties.argument_count);
	EXPECT_EQ(SALVO_KERNEL_HAS_BARRIERS, properties.flags);
	EXPECT_EQ(0, properties.required_group[0]);
	for (i = 0; i < properties.argument_count; i++) {
		ASSERT_EQ(0, salvo_kernel_get_argument(mixed, i, &argument));
		EXPECT_STREQ(expected[i].name, argument.name);
		EXPECT_STREQ(expected[i].type, argument.type);
		EXPECT_EQ(expected[i].kind, argument.kind);
		EXPECT_EQ(expected[i].access, argument.access);
		EXPECT_EQ(expected[i].size, argument.size);
	}
	EXPECT_EQ(-ENOENT, salvo_kernel_get_argument(mixed, i, &argument));
	salvo_kernel_get_info(required, &properties);
	EXPECT_GT(properties.required_group[0], 0);
	salvo_kernel_destroy(mixed);
	salvo_kernel_destroy(required);
}

TEST_F(arguments, devices_are_enumerated)
{
	char name[64], last[64] = "";
	struct salvo_device *device;
	unsigned int i;

	for (i = 0; !salvo_device_enumerate(i, name, sizeof(name)); i++) {
		EXPECT_EQ(0, salvo_device_open(name, &device));
		salvo_device_close(device);
		strcpy(last, name);
	}
	EXPECT_GE(i, 1);
	EXPECT_STREQ("soft", last);
	EXPECT_EQ(-ENOENT, salvo_device_enumerate(i, name, sizeof(name)));
	EXPECT_EQ(-ENOENT, salvo_device_enumerate(i + 5, name, sizeof(name)));
	EXPECT_EQ(-ENOSPC, salvo_device_enumerate(i - 1, name, 4));
}

#define EXPECT_MESSAGE(kernel, err, call, text) do { \
	EXPECT_EQ(err, call); \
	EXPECT_STREQ(text, salvo_kernel_error(kernel)); \
} while (0)

TEST_F(arguments, errors_name_argument_kind_and_size)
{
	struct salvo_kernel *mixed = find(self->b.program, "mixed");
	struct salvo_kernel *sample = find(self->images, "sample");
	struct salvo_kernel *required = find(self->b.program, "required");
	const uint32_t items = 64, group = 63;
	const uint64_t value = 0;

	EXPECT_STREQ("", salvo_kernel_error(mixed));
	EXPECT_MESSAGE(mixed, -EINVAL, salvo_kernel_set_value(mixed, 1, &value, 8),
		       "argument 1 'c' is char, 1 bytes; a value of 8 bytes given");
	EXPECT_MESSAGE(mixed, -EINVAL, salvo_kernel_set_value(mixed, 0, &value, 8),
		       "argument 0 'out' is a global pointer (uint*); a value of 8 bytes given");
	EXPECT_MESSAGE(mixed, -EINVAL, salvo_kernel_set_value(mixed, 8, &value, 8),
		       "there is no argument 8, only 8");
	EXPECT_MESSAGE(mixed, -EINVAL, salvo_kernel_set_bo(mixed, 2, self->b.bo, 0),
		       "argument 2 'v' is float4, 16 bytes; a buffer given");
	EXPECT_MESSAGE(mixed, -EINVAL, salvo_kernel_set_bo_range(mixed, 7, self->b.bo, 65532, 8),
		       "argument 7 'k' is a constant pointer (uint*); offset 65532 and size 8 are outside 65536 bytes");
	EXPECT_MESSAGE(mixed, -EINVAL, salvo_kernel_set_bo(mixed, 7, NULL, 4),
		       "argument 7 'k' is a constant pointer (uint*); a null pointer has no offset or size");
	EXPECT_MESSAGE(mixed, -EINVAL, salvo_kernel_set_local(mixed, 0, 16),
		       "argument 0 'out' is a global pointer (uint*); 16 bytes of local memory given");
	EXPECT_MESSAGE(sample, -EINVAL, salvo_kernel_set_sampler(sample, 1, 0x40),
		       "argument 1 's' is a sampler (sampler_t); sampler 0x40 given");
	EXPECT_MESSAGE(sample, -EINVAL, salvo_kernel_set_image(sample, 0, NULL),
		       "argument 0 'image' is an image (image2d_t); NULL given");
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(required, 1, &items, &group));
	EXPECT_NE(NULL, strstr(salvo_kernel_error(required), "requires a work-group of"));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(mixed, 0, &items, NULL));
	EXPECT_NE(NULL, strstr(salvo_kernel_error(mixed), "1 to 3 dimensions"));
	salvo_kernel_destroy(mixed);
	salvo_kernel_destroy(sample);
	salvo_kernel_destroy(required);
}

/* --- images over buffers --------------------------------------------------------- */

static const struct salvo_image_info four = {
	.order = SALVO_IMAGE_RGBA, .type = SALVO_IMAGE_FLOAT, .width = 4, .height = 4,
	.row_pitch = 80,
};

TEST_F(arguments, an_image_over_a_buffer)
{
	struct salvo_image_info info = four;
	struct salvo_image *image;

	/* 3 rows of 80 bytes, and 64 bytes of the last row */
	EXPECT_EQ(-EINVAL, salvo_image_create_from_bo(self->b.bo, 8, &info, &image));
	EXPECT_EQ(NULL, image);
	EXPECT_EQ(-EINVAL, salvo_image_create_from_bo(self->b.bo, 65536 - 304 + 16, &info, &image));
	EXPECT_EQ(-EINVAL, salvo_image_create_from_bo(self->b.bo, 1 << 20, &info, &image));
	EXPECT_EQ(0, salvo_image_create_from_bo(self->b.bo, 65536 - 304, &info, &image));
	EXPECT_EQ(self->b.bo, salvo_image_bo(image));
	EXPECT_EQ(80, salvo_image_row_pitch(image));
	salvo_image_destroy(image);
	info.width = 0;
	EXPECT_EQ(-EINVAL, salvo_image_create_from_bo(self->b.bo, 0, &info, &image));
	/* The buffer still exists. */
	self->b.map[0] = 1;
}

/*
 * Dispatches "sample" at the middle of pixel 1, 2; the buffer holds the points, then the results.
 */
static int add_sample(struct bench *b, struct salvo_kernel *sample, const struct salvo_image *image,
		      unsigned int result)
{
	const uint32_t one = 1;
	float *at = (float *)b->map;

	at[0] = 1.5;
	at[1] = 2.5;
	salvo_kernel_set_image(sample, 0, image);
	salvo_kernel_set_sampler(sample, 1, SALVO_SAMPLER_CLAMP | SALVO_SAMPLER_NEAREST);
	salvo_kernel_set_bo(sample, 2, b->bo, 0);
	salvo_kernel_set_bo(sample, 3, b->bo, 64 + 16 * result);
	salvo_kernel_set_grid(sample, 1, &one, NULL);
	return salvo_batch_dispatch(b->batch, sample);
}

static float *result_of(struct bench *b, unsigned int result)
{
	return (float *)b->map + 16 + 4 * result;
}

TEST_F(arguments, images_and_samplers_of_a_dispatch_are_patched)
{
	struct salvo_kernel *sample = find(self->images, "sample");
	struct salvo_image *first, *second, *line;
	struct salvo_image_info info = four;
	float *frames;

	/* Two frames in one buffer, as in a camera's ring */
	frames = (float *)self->b.map + 4096;
	ASSERT_EQ(0, salvo_image_create_from_bo(self->b.bo, 16384, &info, &first));
	ASSERT_EQ(0, salvo_image_create_from_bo(self->b.bo, 16384 + 1024, &info, &second));
	info.height = 1;
	info.row_pitch = 0;
	ASSERT_EQ(0, salvo_image_create_from_bo(self->b.bo, 32768, &info, &line));
	frames[2 * 20 + 4] = 11;
	frames[256 + 2 * 20 + 4] = 22;
	ASSERT_EQ(0, add_sample(&self->b, sample, first, 0));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(11, result_of(&self->b, 0)[0]);
	ASSERT_EQ(0, salvo_batch_patch_image(self->b.batch, 0, 0, second));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(22, result_of(&self->b, 0)[0]);
	/* The point 1.5, 2.5 is now outside of the image of 1 x 1: the border colour. */
	ASSERT_EQ(0, salvo_batch_patch_sampler(self->b.batch, 0, 1, SALVO_SAMPLER_NORMALIZED |
					       SALVO_SAMPLER_CLAMP | SALVO_SAMPLER_NEAREST));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(0, result_of(&self->b, 0)[0]);

	EXPECT_EQ(-EINVAL, salvo_batch_patch_image(self->b.batch, 0, 1, first));
	EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), "argument 1 's' is a sampler"));
	EXPECT_EQ(-EINVAL, salvo_batch_patch_image(self->b.batch, 0, 0, NULL));
	EXPECT_EQ(-EINVAL, salvo_batch_patch_image(self->b.batch, 1, 0, first));
	EXPECT_EQ(-EINVAL, salvo_batch_patch_sampler(self->b.batch, 0, 0, 0));
	EXPECT_EQ(-EINVAL, salvo_batch_patch_sampler(self->b.batch, 0, 1, 0x40));
	EXPECT_EQ(-EINVAL, salvo_batch_patch_sampler(self->b.batch, 0, 9, 0));
	salvo_image_destroy(first);
	salvo_image_destroy(second);
	salvo_image_destroy(line);
	salvo_kernel_destroy(sample);
}

TEST_F(arguments, a_patched_image_moves_the_hazards)
{
	struct salvo_kernel *copy = find(self->images, "copy_f");
	const uint32_t items[2] = { 4, 4 };
	struct salvo_image *images[3];
	struct salvo_hazard hazard;
	unsigned int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, salvo_image_create_from_bo(self->b.bo, 4096 * i, &four, &images[i]));
	ASSERT_EQ(0, salvo_kernel_set_grid(copy, 2, items, NULL));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, salvo_kernel_set_image(copy, 0, images[i]));
		ASSERT_EQ(0, salvo_kernel_set_image(copy, 1, images[i + 1]));
		ASSERT_EQ(i, salvo_batch_dispatch(self->b.batch, copy));
	}
	EXPECT_EQ(0, salvo_batch_get_hazard(self->b.batch, 0, &hazard));
	EXPECT_EQ(SALVO_HAZARD_RAW, hazard.kind);
	ASSERT_EQ(0, salvo_batch_patch_image(self->b.batch, 1, 0, images[0]));
	EXPECT_EQ(-ENOENT, salvo_batch_get_hazard(self->b.batch, 0, &hazard));
	for (i = 0; i < 3; i++)
		salvo_image_destroy(images[i]);
	salvo_kernel_destroy(copy);
}

TEST_F(arguments, local_sizes_of_a_dispatch_are_patched)
{
	struct salvo_kernel *mixed = find(self->b.program, "mixed");
	const uint32_t items = 4, groups[] = { 4 };
	const uint64_t zeros[2] = { 0 };
	unsigned int round;

	salvo_kernel_set_bo(mixed, 0, self->b.bo, 1024);
	salvo_kernel_set_value(mixed, 1, zeros, 1);
	salvo_kernel_set_value(mixed, 2, zeros, 16);
	salvo_kernel_set_value(mixed, 3, zeros, 8);
	salvo_kernel_set_local(mixed, 4, 16);
	salvo_kernel_set_value(mixed, 5, zeros, 2);
	salvo_kernel_set_local(mixed, 6, 16);
	salvo_kernel_set_bo(mixed, 7, self->b.bo, 0);
	salvo_kernel_set_grid(mixed, 1, &items, groups);
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, mixed));
	for (round = 0; round < 3; round++) {
		/* a[0] + b[1] + k[1] = 0 + 101 + 0, wherever the buffers are */
		self->b.map[256] = 0;
		ASSERT_EQ(0, bench_run(&self->b));
		EXPECT_EQ(101, self->b.map[256]);
		ASSERT_EQ(0, salvo_batch_patch_local(self->b.batch, 0, 4, 4096 << round));
	}
	EXPECT_EQ(-EINVAL, salvo_batch_patch_local(self->b.batch, 0, 4, 0));
	EXPECT_EQ(-EINVAL, salvo_batch_patch_local(self->b.batch, 0, 0, 16));
	EXPECT_EQ(-E2BIG, salvo_batch_patch_local(self->b.batch, 0, 4, SIZE_MAX));
	EXPECT_EQ(-E2BIG, salvo_batch_patch_local(self->b.batch, 0, 6,
						  self->b.info.max_local_bytes));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(101, self->b.map[256]);
	salvo_kernel_destroy(mixed);
}

static const char where[] =
	"kernel void where(global uint *out) { out[get_global_id(0) % 16] = get_global_id(0); }\n";

TEST_F_TIMEOUT(arguments, the_offset_of_a_dispatch_is_patched, 200)
{
	const uint32_t items = 16, offset[3] = { 160, 0, 0 }, far[3] = { ~0u, 0, 0 };
	struct salvo_kernel *store = find(self->b.program, "store"), *kernel;
	struct salvo_program *program;
	int err;

	err = salvo_program_build(self->b.device, where, 0, "--global-offset", NULL, &program);
	if (err == -ENOENT)
		SKIP(return, "no compiler");
	ASSERT_EQ(0, err);
	kernel = find(program, "where");
	salvo_kernel_set_bo(kernel, 0, self->b.bo, 0);
	salvo_kernel_set_grid(kernel, 1, &items, NULL);
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
	ASSERT_EQ(1, bench_store(&self->b, store, 100, 1));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(3, self->b.map[3]);
	ASSERT_EQ(0, salvo_batch_patch_offset(self->b.batch, 0, offset));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(163, self->b.map[3]);
	EXPECT_EQ(-E2BIG, salvo_batch_patch_offset(self->b.batch, 0, far));
	EXPECT_EQ(-EINVAL, salvo_batch_patch_offset(self->b.batch, 0, NULL));
	EXPECT_EQ(-EINVAL, salvo_batch_patch_offset(self->b.batch, 1, offset));
	salvo_kernel_destroy(store);
	salvo_kernel_destroy(kernel);
	salvo_program_destroy(program);
}

TEST_HARNESS_MAIN
