// SPDX-License-Identifier: MIT
/*
 * args.c - argument blocks, local memory and what a program's notes say (M7)
 */
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

FIXTURE(args) {
	struct cc_program *program;
};

FIXTURE_SETUP(args)
{
	self->program = cc_program_open(cc_build_path("kernels/cc_args.salvo"));
	ASSERT_NE(NULL, self->program);
}

FIXTURE_TEARDOWN(args)
{
	cc_program_close(self->program);
}

TEST_F(args, every_kind_at_its_offset)
{
	const struct salvo_note_kernel *note = cc_note(self->program, "every_kind");
	const struct salvo_note_arg *arg;
	struct cc_range range = { .global = { 3 }, .local = { 2 }, .dims = 1, .local_bytes = 4 };
	uint8_t block[512] __attribute__((aligned(16))) = { 0 };
	int32_t out[14] = { 0 }, table[2] = { 4, 5 };
	float v3[3] = { 1, 2, 3 }, v16[16] = { 40, [15] = 2 };
	struct {
		int8_t small;
		double large[4] __attribute__((aligned(32)));
		int32_t list[3];
	} pair = { .small = 7, .large = { [3] = 8 }, .list = { 100, 0, 20 } };
	uint8_t v4[4] = { 3, 0, 0, 200 };
	void *pointers[] = { out, table };
	double d = -2.75;
	int16_t s = -300;
	uint64_t l = 0x123456789abcull;
	static const uint32_t offsets[] = { 0, 8, 16, 24, 32, 48, 64, 128, 224, 232, 240 };
	static const uint32_t sizes[] = { 1, 8, 8, 2, 16, 4, 64, 96, 8, 8, 8 };
	unsigned int i;

	ASSERT_NE(NULL, note);
	ASSERT_EQ(11, note->arg_count);
	EXPECT_EQ(248, note->args_bytes);
	arg = cc_note_args(note);
	for (i = 0; i < 11; i++) {
		EXPECT_EQ(offsets[i], arg[i].offset);
		EXPECT_EQ(sizes[i], arg[i].size);
	}
	EXPECT_EQ(SALVO_ARG_VALUE, arg[0].kind);
	EXPECT_EQ(SALVO_ARG_GLOBAL, arg[1].kind);
	EXPECT_EQ(SALVO_ARG_VALUE, arg[7].kind);
	EXPECT_EQ(SALVO_ARG_CONSTANT, arg[8].kind);
	EXPECT_EQ(SALVO_ARG_LOCAL, arg[9].kind);
	EXPECT_STREQ("v3", cc_note_string(note, arg[4].name));
	EXPECT_STREQ("float3", cc_note_string(note, arg[4].type));
	EXPECT_STREQ("struct pair", cc_note_string(note, arg[7].type));

	block[0] = (uint8_t)-5;
	memcpy(block + 8, &pointers[0], 8);
	memcpy(block + 16, &d, 8);
	memcpy(block + 24, &s, 2);
	memcpy(block + 32, v3, sizeof(v3));
	memcpy(block + 48, v4, 4);
	memcpy(block + 64, v16, 64);
	memcpy(block + 128, &pair, sizeof(pair));
	memcpy(block + 224, &pointers[1], 8);
	memcpy(block + 240, &l, 8);
	ASSERT_EQ(0, cc_run(self->program, "every_kind", block, &range));
	EXPECT_EQ(-5, out[0]);
	EXPECT_EQ(-2, out[1]);
	EXPECT_EQ(-300, out[2]);
	EXPECT_EQ(321, out[3]);
	EXPECT_EQ(203, out[4]);
	EXPECT_EQ(42, out[5]);
	EXPECT_EQ(7, out[6]);
	EXPECT_EQ(8, out[7]);
	/* Each work-item changed a copy of its own. */
	EXPECT_EQ(120, out[8]);
	EXPECT_EQ(121, out[9]);
	EXPECT_EQ(122, out[10]);
	EXPECT_EQ(5, out[12]);
	EXPECT_EQ(0x1234, out[13]);
}

TEST_F(args, M7_access_comes_from_the_code)
{
	const struct salvo_note_kernel *note = cc_note(self->program, "accesses");
	/* read, write, both, const, atomic, constant, two of a choice, unused */
	static const uint32_t access[] = { 1, 2, 3, 1, 3, 1, 1, 1, 1 };
	unsigned int i;

	ASSERT_NE(NULL, note);
	ASSERT_EQ(9, note->arg_count);
	for (i = 0; i < 9; i++)
		EXPECT_EQ(access[i], cc_note_args(note)[i].access) {
			TH_LOG("argument %u", i);
		}
}

TEST_F(args, M7_required_group_barriers_and_memory)
{
	const struct salvo_note_kernel *note = cc_note(self->program, "required");

	ASSERT_NE(NULL, note);
	EXPECT_EQ(8, note->required_group[0]);
	EXPECT_EQ(2, note->required_group[1]);
	EXPECT_EQ(1, note->required_group[2]);
	EXPECT_EQ(0, note->flags);
	EXPECT_EQ(3, note->isa_level);
	EXPECT_EQ(0, note->local_bytes);

	note = cc_note(self->program, "two_locals");
	ASSERT_NE(NULL, note);
	EXPECT_EQ(SALVO_KERNEL_SPLIT, note->flags);
	EXPECT_EQ(0, note->required_group[0]);
	EXPECT_EQ(32, note->local_bytes);

	note = cc_note(self->program, "big_private");
	ASSERT_NE(NULL, note);
	EXPECT_LE(4000, note->private_bytes);
	EXPECT_GE(4600, note->private_bytes);
	EXPECT_EQ(NULL, cc_note(self->program, "no_such_kernel"));
}

TEST_F(args, local_arguments_follow_static_variables)
{
	struct {
		int32_t *out;
		uint64_t a, b;
	} args;
	struct cc_range range = { .global = { 10 }, .local = { 4 }, .dims = 1, .local_bytes = 64 };
	int32_t out[10] = { 0 };
	int i;

	args.out = out;
	args.a = 32;
	args.b = 48;
	ASSERT_EQ(0, cc_run(self->program, "two_locals", &args, &range));
	for (i = 0; i < 10; i++) {
		int l = i % 4, n = i < 8 ? 4 : 2;

		EXPECT_EQ(n - 1 - l + 10 * l + 1 + 1, out[i]);
	}
}

TEST_F(args, private_array_survives_a_barrier)
{
	struct {
		int32_t *out;
		int32_t at;
	} args;
	struct cc_range range = { .global = { 64 }, .local = { 64 }, .dims = 1 };
	int32_t out[64];
	int i;

	args.out = out;
	args.at = 970;
	ASSERT_EQ(0, cc_run(self->program, "big_private", &args, &range));
	for (i = 0; i < 64; i++)
		EXPECT_EQ((970 + i) % 1000 * 970, out[i]);
}

TEST_F(args, structures_by_value)
{
	struct shape {
		int32_t sizes[3];
		int64_t steps[2];
		uint8_t bytes[4];
	};
	struct {
		int32_t *out;
		struct shape a, b;
	} args = {
		.a = { { 50, 7, 1 }, { 1, 3 }, { 1, 2, 3, 4 } },
		.b = { { 10, 20, 30 }, { 5, 6 }, { 9, 8, 7, 6 } },
	};
	struct cc_range range = { .global = { 64 }, .local = { 64 }, .dims = 1 };
	int32_t out[192];
	int i, step;

	args.out = out;
	for (step = 1; step < 4; step++) {
		memset(out, 0, sizeof(out));
		args.a.steps[0] = step;
		ASSERT_EQ(0, cc_run(self->program, "members_read", &args, &range));
		for (i = 0; i < 64 * step; i++)
			EXPECT_EQ(i % step || i >= 50 * step ? 0 :
				  10 * (i / step % 3 + 1) + 6 * 3 + 9, out[i]);
	}
	ASSERT_EQ(0, cc_run(self->program, "members_written", &args, &range));
	for (i = 0; i < 64; i++)
		EXPECT_EQ(7 + i + (i % 2 ? 5 : i) * 1000 + (i % 2 ? i : 6) * 100, out[i]);
}

TEST_F(args, kernel_calls_kernel)
{
	struct {
		int32_t *out;
	} args;
	struct cc_range range = { .global = { 5 }, .local = { 5 }, .dims = 1 };
	int32_t out[5] = { 0, 1, 2, 3, 4 };
	int i;

	args.out = out;
	ASSERT_EQ(0, cc_run(self->program, "outer", &args, &range));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(i + 12, out[i]);
	EXPECT_NE(NULL, cc_note(self->program, "inner"));
}

TEST_HARNESS_MAIN
