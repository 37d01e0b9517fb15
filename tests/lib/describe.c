// SPDX-License-Identifier: MIT
/*
 * describe.c - kernels of a program whose code is still being made: salvo_object_describe()
 */
#include <time.h>

#include "kselftest_harness.h"
#include "lib_test.h"
#include "script_compiler.h"

static const char source[] =
	"struct pair { int a, b; };\n"
	"global int calls;\n"
	"kernel void other(global int *out) { out[0] = 1; }\n"
	"kernel void sum(global int *out, const global int *in, struct pair p, local int *l, char c)\n"
	"{\n"
	"	local int fixed[33];\n"
	"	size_t i = get_local_id(0);\n"
	"	fixed[i] = in[i];\n"
	"	l[i] = p.a * p.b + c;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	out[i] = fixed[15 - i] + l[15 - i] + 0 * (N);\n"
	"	if (i == 0)\n"
	"		calls++;\n"
	"}\n";
static const unsigned int items = 16;

FIXTURE(describe) {
	struct bench b;
	struct salvo_object *object;
	/** @described: Of @object, before its code was wanted. */
	struct salvo_program *described;
	struct salvo_kernel *kernel;
};

#define NEED_COMPILER() do { \
	if (!self->object) \
		SKIP(return, "no salvo-cc here, or compiling is slow"); \
} while (0)

FIXTURE_SETUP(describe)
{
	struct timespec now;
	char options[64];

	ASSERT_EQ(0, bench_open(&self->b));
	if (!compiles_fast())
		return;
	/* A program that is in no cache */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(options, sizeof(options), "-cl-std=CL3.0 -DN=%lld+%ld", (long long)now.tv_sec,
		 now.tv_nsec);
	ASSERT_EQ(0, salvo_object_begin(self->b.device, source, 0, options, NULL, &self->object));
	ASSERT_EQ(0, salvo_object_describe(self->object, self->b.device, &self->described));
	ASSERT_EQ(0, salvo_kernel_create(self->described, "sum", &self->kernel));
}

FIXTURE_TEARDOWN(describe)
{
	salvo_kernel_destroy(self->kernel);
	salvo_program_destroy(self->described);
	salvo_object_destroy(self->object);
	bench_close(&self->b);
}

/* The program of @object, when its code is there. */
static struct salvo_program *load(struct bench *b, struct salvo_object *object)
{
	struct salvo_program *program = NULL;
	size_t bytes;
	const void *image = salvo_object_image(object, &bytes);

	if (image)
		salvo_program_load(b->device, image, bytes, &program);
	return program;
}

static int set_arguments(struct bench *b, struct salvo_kernel *kernel)
{
	const int pair[2] = { 5, 7 };
	const char c = 3;

	return salvo_kernel_set_bo_range(kernel, 0, b->bo, 0, 64) ||
	       salvo_kernel_set_bo_range(kernel, 1, b->bo, 4096, 64) ||
	       salvo_kernel_set_value(kernel, 2, pair, sizeof(pair)) ||
	       salvo_kernel_set_local(kernel, 3, 64) || salvo_kernel_set_value(kernel, 4, &c, 1);
}

TEST_F(describe, kernels_get_their_code_with_the_arguments_that_were_set)
{
	struct salvo_kernel_properties properties;
	struct salvo_program *program;
	struct salvo_kernel *clone;
	unsigned int i;

	NEED_COMPILER();
	ASSERT_EQ(2, salvo_program_kernel_count(self->described));
	EXPECT_STREQ("other", salvo_program_kernel_name(self->described, 0));
	EXPECT_STREQ("sum", salvo_program_kernel_name(self->described, 1));
	EXPECT_EQ(0, set_arguments(&self->b, self->kernel));
	ASSERT_EQ(0, salvo_kernel_clone(self->kernel, &clone));
	/* Without code it cannot get as far as a batch. */
	EXPECT_EQ(-EINVAL, salvo_kernel_set_grid(clone, 1, &items, &items));
	EXPECT_NE(NULL, strstr(salvo_kernel_error(clone), "has no code yet"));
	EXPECT_EQ(-EINVAL, salvo_batch_dispatch(self->b.batch, clone));

	program = load(&self->b, self->object);
	ASSERT_NE(NULL, program);
	EXPECT_EQ(0, salvo_kernel_move(clone, program));
	salvo_kernel_get_info(clone, &properties);
	EXPECT_EQ(144, properties.local_bytes);
	for (i = 0; i < items; i++)
		self->b.map[1024 + i] = i;
	ASSERT_EQ(0, salvo_kernel_set_grid(clone, 1, &items, &items));
	EXPECT_EQ(0, salvo_batch_dispatch(self->b.batch, clone));
	EXPECT_EQ(0, bench_run(&self->b));
	for (i = 0; i < items; i++)
		EXPECT_EQ(15 - i + 38, self->b.map[i]);
	salvo_kernel_destroy(clone);
	salvo_program_destroy(program);
}

/* What it does with its memory is known then: without that no hazard would be found. */
TEST_F(describe, accesses_and_variables_are_those_of_the_code)
{
	struct salvo_argument_info argument;
	struct salvo_program *program;
	struct salvo_hazard hazard;
	struct salvo_kernel *clone;
	unsigned int i;

	NEED_COMPILER();
	EXPECT_EQ(0, set_arguments(&self->b, self->kernel));
	program = load(&self->b, self->object);
	ASSERT_NE(NULL, program);
	EXPECT_LT(0, salvo_program_variable_bytes(program));
	EXPECT_EQ(0, salvo_program_variable_bytes(self->described));
	ASSERT_EQ(0, salvo_kernel_clone(self->kernel, &clone));
	EXPECT_EQ(0, salvo_kernel_move(clone, program));
	ASSERT_EQ(0, salvo_kernel_get_argument(clone, 0, &argument));
	EXPECT_EQ(SALVO_ARGUMENT_WRITE, argument.access);
	ASSERT_EQ(0, salvo_kernel_set_grid(clone, 1, &items, &items));
	/* The second one has to wait for the first one for the variable: it writes elsewhere. */
	EXPECT_EQ(0, salvo_batch_dispatch(self->b.batch, clone));
	EXPECT_EQ(0, salvo_kernel_set_bo_range(clone, 0, self->b.bo, 8192, 64));
	EXPECT_EQ(1, salvo_batch_dispatch(self->b.batch, clone));
	for (i = 0; !salvo_batch_get_hazard(self->b.batch, i, &hazard); i++)
		EXPECT_EQ(SALVO_HAZARD_VARIABLES, hazard.consumer_argument) {
			TH_LOG("%u: kind %u, argument %u", i, hazard.kind,
			       hazard.producer_argument);
		}
	EXPECT_LT(0, i);
	salvo_batch_reset(self->b.batch);
	salvo_kernel_destroy(clone);
	salvo_program_destroy(program);
}

TEST_F(describe, a_kernel_is_not_moved_to_one_with_other_arguments)
{
	static const struct {
		const char *source, *message;
		int err;
	} wrong[] = {
		{ "kernel void mus(global int *out) { out[0] = 1; }\n", "no kernel sum", -ENOENT },
		{ "kernel void sum(global int *out) { out[0] = 1; }\n", "other arguments", -EINVAL },
		/* The same bytes, but memory of another kind */
		{ "kernel void sum(global int *o, const global int *i, local long *p, local int *l,\n"
		  "                char c) { o[0] = i[0] + p[0] + l[0] + c; }\n",
		  "other arguments", -EINVAL },
	};
	struct salvo_program *program;
	unsigned int i;

	NEED_COMPILER();
	EXPECT_EQ(0, set_arguments(&self->b, self->kernel));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ASSERT_EQ(0, salvo_program_build(self->b.device, wrong[i].source, 0, NULL, NULL,
						 &program));
		EXPECT_EQ(wrong[i].err, salvo_kernel_move(self->kernel, program));
		EXPECT_NE(NULL, strstr(salvo_kernel_error(self->kernel), wrong[i].message)) {
			TH_LOG("%s", salvo_kernel_error(self->kernel));
		}
		salvo_program_destroy(program);
	}
	/* It is as it was. */
	program = load(&self->b, self->object);
	ASSERT_NE(NULL, program);
	EXPECT_EQ(0, salvo_kernel_move(self->kernel, program));
	EXPECT_EQ(0, salvo_kernel_set_grid(self->kernel, 1, &items, &items));
	salvo_kernel_destroy(self->kernel);
	self->kernel = NULL;
	salvo_program_destroy(program);
}

/* An object that was not begun, or whose code was in the cache, has nothing to describe. */
TEST_F(describe, what_is_there_is_not_described)
{
	static const char options[] = "-cl-std=CL3.0 -DN=0";
	struct salvo_program *program;
	struct salvo_object *object;
	unsigned int i;

	NEED_COMPILER();
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, i ? salvo_object_begin(self->b.device, source, 0, options, NULL,
						    &object) :
				 salvo_object_build(self->b.device, source, 0, options, NULL,
						    &object));
		EXPECT_EQ(-ENODATA, salvo_object_describe(object, self->b.device, &program));
		EXPECT_EQ(NULL, program);
		salvo_object_destroy(object);
	}
}

/* A compiler's words are checked as an image is. */
TEST_F(describe, damaged_notes_are_refused)
{
	static const struct {
		const char *announced;
		int begun, err;
	} damaged[] = {
		/* None; a note of a kernel of no bytes; of another owner; its end is missing. */
		{ "\\0\\0\\0\\0", 0, -ENOEXEC },
		{ "\\024\\0\\0\\0\\6\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0Salvo\\0\\0\\0", 0, -ENOEXEC },
		{ "\\024\\0\\0\\0\\6\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0Selva\\0\\0\\0", 0, -ENOEXEC },
		{ "\\024\\0\\0\\0\\6\\0\\0\\0\\377\\377\\377\\377\\1\\0\\0\\0Salvo\\0\\0\\0", 0,
		  -ENOEXEC },
		/* A program without kernels */
		{ "\\024\\0\\0\\0\\6\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0Salvo\\0\\0\\0", 0, 0 },
		/* Fewer bytes than announced, and more than there may be: no announcement. */
		{ "\\024\\0\\0\\0\\6\\0\\0\\0\\0", -ENOEXEC, 0 },
		{ "\\377\\377\\377\\377\\6\\0\\0\\0", -ENOEXEC, 0 },
	};
	struct salvo_program *program;
	struct salvo_object *object;
	char options[48], commands[200];
	unsigned int i;

	NEED_COMPILER();
	for (i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		char path[] = "/tmp/salvo-notes-XXXXXX";

		snprintf(commands, sizeof(commands), "printf '%s' >&3\nexec 3>&-\nexit 1",
			 damaged[i].announced);
		ASSERT_TRUE(use_script(path, commands));
		snprintf(options, sizeof(options), "-DN=%u+%u", (unsigned int)getpid(), i);
		EXPECT_EQ(damaged[i].begun, salvo_object_begin(self->b.device, source, 0, options,
							       NULL, &object)) {
			TH_LOG("%u", i);
		}
		forget_script(path);
		if (damaged[i].begun)
			continue;
		EXPECT_EQ(damaged[i].err, salvo_object_describe(object, self->b.device, &program)) {
			TH_LOG("%u", i);
		}
		salvo_program_destroy(program);
		salvo_object_destroy(object);
	}
}

TEST_HARNESS_MAIN
