// SPDX-License-Identifier: MIT
/*
 * parts.c - kernels whose code is wanted before that of the whole program: salvo_object_part()
 */
#include <time.h>

#include "compiler_turns.h"
#include "kselftest_harness.h"
#include "lib_test.h"
#include "many_parts.h"
#include "script_compiler.h"

static const char source[] = MANY_PARTS_SOURCE;
static const unsigned int items = 16;

FIXTURE(parts) {
	struct bench b;
	/** @options: So that a program is in no cache */
	char options[64];
};

#define NEED_COMPILER() do { \
	if (!compiles_fast()) \
		SKIP(return, "no salvo-cc here, or compiling is slow"); \
} while (0)

FIXTURE_SETUP(parts)
{
	struct timespec now;

	ASSERT_EQ(0, bench_open(&self->b));
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(self->options, sizeof(self->options), "-cl-std=CL3.0 -DN=%lld+%ld",
		 (long long)now.tv_sec, now.tv_nsec);
}

FIXTURE_TEARDOWN(parts)
{
	bench_close(&self->b);
}

/* Runs the kernel number @n of @from, with the code of @part. Return: 0 if the result is right. */
static int run_moved(struct bench *b, struct salvo_program *from, struct salvo_program *part, int n)
{
	struct salvo_kernel *kernel;
	unsigned int i, wrong = 0;
	const int x = 100;
	char name[8];
	int err;

	snprintf(name, sizeof(name), "k%d", n);
	err = salvo_kernel_create(from, name, &kernel);
	if (err)
		return err;
	err = salvo_kernel_set_bo_range(kernel, 0, b->bo, 0, 64);
	if (!err)
		err = salvo_kernel_set_value(kernel, 1, &x, sizeof(x));
	if (!err)
		err = salvo_kernel_move(kernel, part);
	if (!err)
		err = salvo_kernel_set_grid(kernel, 1, &items, &items);
	memset(b->map, 0, 64);
	salvo_batch_reset(b->batch);
	if (!err)
		err = salvo_batch_dispatch(b->batch, kernel);
	if (!err)
		err = bench_run(b);
	for (i = 0; i < items; i++)
		wrong += b->map[i] != (uint32_t)x + i + n;
	salvo_batch_reset(b->batch);
	salvo_kernel_destroy(kernel);
	return err ? err : (int)wrong;
}

TEST_F(parts, a_kernel_that_is_wanted_comes_before_the_rest)
{
	struct salvo_program *described, *part, *whole;
	struct salvo_object *object;
	int turns[CPU_SETSIZE], turn_count, n;
	unsigned int count, loaded = 0;
	const void *all;
	size_t bytes;
	void *image;
	char name[8];

	NEED_COMPILER();
	/* Nothing is made before it is wanted. */
	turn_count = take_all_turns(turns);
	ASSERT_EQ(0, salvo_object_begin(self->b.device, source, 0, self->options, NULL, &object));
	ASSERT_EQ(0, salvo_object_describe(object, self->b.device, &described));
	/* From the last one on: the compiler begins with the first of those that are equal. */
	for (n = MANY_PARTS_KERNELS - 1; n >= 0; n -= 5) {
		snprintf(name, sizeof(name), "k%d", n);
		if (salvo_object_part(object, name, &image, &bytes))
			break;
		loaded++;
		ASSERT_EQ(0, salvo_program_load(self->b.device, image, bytes, &part));
		free(image);
		count = salvo_program_kernel_count(part);
		EXPECT_LE(1, count);
		EXPECT_GT(MANY_PARTS_KERNELS, count);
		EXPECT_EQ(0, run_moved(&self->b, described, part, n));
		salvo_program_destroy(part);
	}
	give_turns(turns, turn_count);
	/* The whole program may have been there when a later one was asked for. */
	EXPECT_LE(1, loaded);
	EXPECT_EQ(-ENODATA, salvo_object_part(object, "absent", &image, &bytes));
	EXPECT_EQ(NULL, image);
	all = salvo_object_image(object, &bytes);
	ASSERT_NE(NULL, all);
	EXPECT_EQ(-ENODATA, salvo_object_part(object, "k0", &image, &bytes));
	all = salvo_object_image(object, &bytes);
	ASSERT_EQ(0, salvo_program_load(self->b.device, all, bytes, &whole));
	EXPECT_EQ(MANY_PARTS_KERNELS, salvo_program_kernel_count(whole));
	for (n = 0; n < MANY_PARTS_KERNELS; n++)
		EXPECT_EQ(0, run_moved(&self->b, described, whole, n));
	salvo_program_destroy(whole);
	salvo_program_destroy(described);
	salvo_object_destroy(object);
}

/* The 4 bytes that a compiler answers for a kernel of a program that is never done, or 0. */
static uint32_t answer_for(struct bench *b, const char *options, const char *kernel)
{
	struct salvo_object *object;
	uint32_t answer = 0;
	size_t bytes;
	void *image;

	if (salvo_object_begin(b->device, source, 0, options, NULL, &object))
		return 0;
	if (!salvo_object_part(object, kernel, &image, &bytes) && bytes == sizeof(answer))
		memcpy(&answer, image, bytes);
	free(image);
	salvo_object_destroy(object);
	return answer;
}

/* A process may end long before the compiler of its program does. */
TEST_F(parts, a_kernel_that_was_wanted_once_is_in_the_cache)
{
	/* Something else each time it is asked */
	static const char commands[] =
		ANNOUNCE_NOTHING "head -c 3 <&3 >&2\nprintf '\\004\\0\\0\\0' >&3\n"
		"head -c 4 /dev/urandom >&3\nexec sleep 600";
	char path[] = "/tmp/salvo-parts-XXXXXX";
	uint32_t first;

	ASSERT_TRUE(use_script(path, commands));
	first = answer_for(&self->b, self->options, "k0");
	EXPECT_NE(0, first);
	EXPECT_EQ(first, answer_for(&self->b, self->options, "k0"));
	EXPECT_NE(first, answer_for(&self->b, self->options, "k1"));
	self->options[strlen(self->options) - 1] = 'x';
	EXPECT_NE(first, answer_for(&self->b, self->options, "k0"));
	forget_script(path);
}

/* A program with variables of its own is one part. */
TEST_F(parts, a_program_in_one_piece_has_none)
{
	static const char one[] =
		"global int n;\n"
		"kernel void k(global int *out) { out[0] = n++ + 0 * (N); }\n";
	struct salvo_object *object;
	size_t bytes = 1;
	void *image;

	NEED_COMPILER();
	ASSERT_EQ(0, salvo_object_begin(self->b.device, one, 0, self->options, NULL, &object));
	EXPECT_EQ(-ENODATA, salvo_object_part(object, "k", &image, &bytes));
	EXPECT_EQ(NULL, image);
	EXPECT_EQ(0, bytes);
	EXPECT_EQ(0, salvo_object_finish(object, NULL));
	EXPECT_NE(NULL, salvo_object_image(object, &bytes));
	salvo_object_destroy(object);
}

/* What a compiler answers is checked as an image is, and the whole program is as it was. */
TEST_F(parts, damaged_answers_are_refused)
{
	static const struct {
		const char *answer;
		int err;
	} damaged[] = {
		/* A part that is none; none; it ends too early; more bytes than there may be. */
		{ "\\004\\0\\0\\0\\177ELF", 0 },
		{ "\\0\\0\\0\\0", -ENODATA },
		{ "\\005\\0\\0\\0\\177ELF", -ENODATA },
		{ "\\377\\377\\377\\377\\177ELF", -ENODATA },
	};
	struct salvo_program *program;
	struct salvo_object *object;
	char commands[160];
	unsigned int i;
	size_t bytes;
	void *image;

	NEED_COMPILER();
	for (i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		char path[] = "/tmp/salvo-parts-XXXXXX";

		/* Another program each time, or the cache had what the script gives in the end. */
		self->options[strlen(self->options) - 1] = 'a' + i;
		snprintf(commands, sizeof(commands),
			 ANNOUNCE_NOTHING "head -c 3 <&3 >&2\nprintf '%s' >&3\n"
			 "exec 3>&-\nprintf '\\177ELF'",
			 damaged[i].answer);
		ASSERT_TRUE(use_script(path, commands));
		ASSERT_EQ(0, salvo_object_begin(self->b.device, source, 0, self->options, NULL,
						&object));
		EXPECT_EQ(damaged[i].err, salvo_object_part(object, "k0", &image, &bytes)) {
			TH_LOG("%u", i);
		}
		if (image)
			EXPECT_EQ(-ENOEXEC, salvo_program_load(self->b.device, image, bytes,
							       &program));
		free(image);
		EXPECT_EQ(0, salvo_object_finish(object, NULL));
		EXPECT_NE(NULL, salvo_object_image(object, &bytes));
		EXPECT_EQ(4, bytes);
		salvo_object_destroy(object);
		forget_script(path);
	}
}

TEST_HARNESS_MAIN
