// SPDX-License-Identifier: MIT
/*
 * salvo_kunit.c - KUnit: packing, validation, decoding and ring arithmetic in the kernel
 *
 * The code under test is included, since salvo.ko exports nothing. Memory is allocated to
 * the byte, so that KASAN sees an access past its end.
 */
#include <kunit/test.h>

#include <drm/drm_print.h>

#include "driver/salvo_decode.c"
#include "driver/salvo_pack.c"
#include "driver/salvo_validate.c"
#include "salvo_ring.h"

#define DATA		0x100000ull
#define DATA_BYTES	0x10000ull
#define CODE		0x200000ull
#define CODE_BYTES	0x1000ull
#define TEXT_BYTES	8192u
#define COMMANDS	5u

static int salvo_kunit_covers(void *cookie, __u64 address, __u64 size, __u32 access)
{
	if (address >= CODE && address - CODE < CODE_BYTES)
		return size <= CODE_BYTES - (address - CODE) &&
		       !(access & ~(SALVO_ACCESS_READ | SALVO_ACCESS_EXEC));
	return address >= DATA && address - DATA < DATA_BYTES &&
	       size <= DATA_BYTES - (address - DATA) && !(access & SALVO_ACCESS_EXEC);
}

static const struct salvo_space_view salvo_kunit_space = {
	.covers = salvo_kunit_covers,
	.units = 4,
};

/**
 * struct salvo_kunit_batch - A valid batch of every command; cases change one field.
 */
struct salvo_kunit_batch {
	/** @commands: Its commands. */
	struct drm_salvo_command commands[COMMANDS];
	/** @args: Its arguments. */
	u8 args[64];
	/** @desc: The batch. */
	struct salvo_batch_desc desc;
};

static struct salvo_kunit_batch *salvo_kunit_batch(struct kunit *test)
{
	static const struct drm_salvo_command commands[COMMANDS] = {
		{
			.type = DRM_SALVO_DISPATCH, .entry = CODE + 16, .eu_mask = 3,
			.items = { 20, 2, 1 }, .group = { 8, 1, 1 }, .dims = 2,
			.args_offset = 16, .args_size = 24, .local_size = 128,
		},
		{ .type = DRM_SALVO_FILL, .dst = DATA, .size = 64, .pattern = 0xab },
		{ .type = DRM_SALVO_PIPE_CONTROL, .consumer = 3, .producer = 1 },
		{ .type = DRM_SALVO_COPY, .dst = DATA + 4096, .src = DATA, .size = 64 },
		{ .type = DRM_SALVO_TIMESTAMP, .dst = DATA + 8192 },
	};
	struct salvo_kunit_batch *batch = kunit_kzalloc(test, sizeof(*batch), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, batch);
	memcpy(batch->commands, commands, sizeof(commands));
	memset(batch->args, 0x5a, sizeof(batch->args));
	batch->desc.commands = batch->commands;
	batch->desc.count = COMMANDS;
	batch->desc.args = batch->args;
	batch->desc.args_size = sizeof(batch->args);
	return batch;
}

static void *salvo_kunit_packet(struct kunit *test, const struct salvo_batch_desc *desc)
{
	const struct salvo_packet_target target = {
		.asid = 7, .ctx = 9, .eu_mask = 15, .result = 0x5000,
	};
	void *packet = kunit_kzalloc(test, salvo_pack_bytes(desc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, packet);
	salvo_pack_batch(desc, &target, packet);
	salvo_pack_set_fence(packet, 42);
	return packet;
}

static void salvo_kunit_pack(struct kunit *test)
{
	struct salvo_kunit_batch *batch = salvo_kunit_batch(test);
	const struct salvo_packet *head = salvo_kunit_packet(test, &batch->desc);
	const u8 *end = (const u8 *)(head + 1) + head->command_bytes;
	const struct salvo_op_close *close = (const void *)(end - sizeof(*close));

	KUNIT_EXPECT_EQ(test, head->magic, SALVO_PACKET_MAGIC);
	KUNIT_EXPECT_EQ(test, head->bytes, salvo_pack_bytes(&batch->desc));
	KUNIT_EXPECT_EQ(test, head->bytes % 64, 0);
	KUNIT_EXPECT_EQ(test, head->kind, SALVO_PACKET_BATCH_SYNC);
	KUNIT_EXPECT_EQ(test, head->command_count, COMMANDS);
	KUNIT_EXPECT_EQ(test, head->result, 0x5000);
	KUNIT_EXPECT_EQ(test, head->fence_id, 42);
	KUNIT_EXPECT_EQ(test, close->op.code, SALVO_OP_CLOSE);
	KUNIT_EXPECT_EQ(test, close->fence_id, 42);
	/* The heap of arguments is last, and whole. */
	KUNIT_EXPECT_EQ(test, memcmp((const u8 *)head + head->bytes - 64, batch->args, 64), 0);
}

static void salvo_kunit_pack_without_pipe_controls(struct kunit *test)
{
	struct salvo_kunit_batch *batch = salvo_kunit_batch(test);
	const struct salvo_packet *head;

	batch->desc.count = 2;
	head = salvo_kunit_packet(test, &batch->desc);
	KUNIT_EXPECT_EQ(test, head->kind, SALVO_PACKET_BATCH);
}

static void salvo_kunit_printfn(struct drm_printer *p, struct va_format *vaf)
{
	char *text = p->arg;
	size_t used = strlen(text);

	scnprintf(text + used, TEXT_BYTES - used, "%pV", vaf);
}

static char *salvo_kunit_decode(struct kunit *test, const void *packet, size_t bytes)
{
	char *text = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	struct drm_printer p = { .printfn = salvo_kunit_printfn, .arg = text };

	KUNIT_ASSERT_NOT_NULL(test, text);
	salvo_decode_packet(&p, packet, bytes);
	return text;
}

static void salvo_kunit_decode_lines(struct kunit *test)
{
	static const char expected[] =
		"packet: kind batch-sync fence 42 bytes 384 commands 5\n"
		"  setup state space 7 context 9 units 0xf\n"
		"  setup args at 320 bytes 64\n"
		"  setup cache invalidate flush\n"
		"  0: dispatch entry 0x200010 items 20,2,1 group 8,1,1 dims 2 args 16+24 local 128 units 0x3\n"
		"  1: fill 0x100000 64 0xab\n"
		"  2: pipe_control 3 1\n"
		"  3: copy 0x101000 0x100000 64\n"
		"  4: timestamp 0x102000\n"
		"  close fence 42\n";
	struct salvo_kunit_batch *batch = salvo_kunit_batch(test);
	const struct salvo_packet *packet = salvo_kunit_packet(test, &batch->desc);

	KUNIT_EXPECT_STREQ(test, salvo_kunit_decode(test, packet, packet->bytes), expected);
}

/* Every prefix of a packet, each in an allocation of exactly its size */
static void salvo_kunit_decode_cut_off(struct kunit *test)
{
	struct salvo_kunit_batch *batch = salvo_kunit_batch(test);
	const struct salvo_packet *packet = salvo_kunit_packet(test, &batch->desc);
	char *text = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	struct drm_printer p = { .printfn = salvo_kunit_printfn, .arg = text };
	u32 bytes;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (bytes = 1; bytes < packet->bytes; bytes++) {
		void *part = kmemdup(packet, bytes, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, part);
		*text = 0;
		salvo_decode_packet(&p, part, bytes);
		kfree(part);
		KUNIT_EXPECT_GT(test, strlen(text), 0);
	}
}

/* One byte of the packet is another. */
static void salvo_kunit_decode_damaged(struct kunit *test)
{
	struct salvo_kunit_batch *batch = salvo_kunit_batch(test);
	struct salvo_packet *packet = salvo_kunit_packet(test, &batch->desc);
	char *text = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	struct drm_printer p = { .printfn = salvo_kunit_printfn, .arg = text };
	u32 at, bytes = packet->bytes;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (at = 0; at < bytes; at++) {
		((u8 *)packet)[at] ^= 0xff;
		*text = 0;
		salvo_decode_packet(&p, packet, bytes);
		((u8 *)packet)[at] ^= 0xff;
	}
}

static void salvo_kunit_validate(struct kunit *test)
{
	struct salvo_kunit_batch *batch = salvo_kunit_batch(test);
	struct salvo_reject why = {};

	KUNIT_EXPECT_EQ(test, salvo_validate_batch(&batch->desc, &salvo_kunit_space, &why), 0);
}

/* One wrong field in each case. */
static void salvo_kunit_validate_rejects(struct kunit *test)
{
	static const struct {
		size_t offset;
		size_t bytes;
		u32 command;
		u64 value;
	} cases[] = {
#define CASE(number, field, wrong) \
		{ offsetof(struct drm_salvo_command, field), \
		  sizeof_field(struct drm_salvo_command, field), number, wrong }
		CASE(0, type, 99),
		CASE(0, flags, 1u << 31),
		CASE(0, entry, DATA),
		CASE(0, eu_mask, 1 << 4),
		CASE(0, items[0], 0),
		CASE(0, group[0], 0),
		CASE(0, args_offset, 8),
		CASE(0, args_offset, 1 << 20),
		CASE(0, args_size, 65),
		CASE(0, local_size, SALVO_MAX_LOCAL_BYTES + 1),
		CASE(0, dims, 4),
		CASE(0, pad, 1),
		CASE(1, dst, DATA + 2),
		CASE(1, dst, CODE),
		CASE(1, size, 0),
		CASE(1, size, DATA_BYTES + 4),
		CASE(2, consumer, COMMANDS),
		CASE(2, producer, 3),
		CASE(3, src, DATA + 4097),
		CASE(3, dst, ~0ull),
		CASE(4, dst, DATA + 4),
		CASE(4, entry, 1),
#undef CASE
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct salvo_kunit_batch *batch = salvo_kunit_batch(test);
		struct salvo_reject why = {};
		int ret;

		memcpy((u8 *)&batch->commands[cases[i].command] + cases[i].offset,
		       &cases[i].value, cases[i].bytes);
		ret = salvo_validate_batch(&batch->desc, &salvo_kunit_space, &why);
		KUNIT_EXPECT_TRUE_MSG(test, ret == -EINVAL || ret == -E2BIG, "case %zu: %d", i,
				      ret);
		KUNIT_EXPECT_NOT_NULL(test, why.field);
	}
}

static void salvo_kunit_ring_slots(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, salvo_ring_slot(1), 0);
	KUNIT_EXPECT_EQ(test, salvo_ring_slot(2), 1);
	KUNIT_EXPECT_EQ(test, salvo_ring_slot(SALVO_RING_ENTRIES), SALVO_RING_ENTRIES - 1);
	KUNIT_EXPECT_EQ(test, salvo_ring_slot(SALVO_RING_ENTRIES + 1ull), 0);
	KUNIT_EXPECT_EQ(test, salvo_ring_slot(0), SALVO_RING_ENTRIES - 1);
	KUNIT_EXPECT_EQ(test, salvo_ring_slot(1ull << 32), SALVO_RING_ENTRIES - 1);

	KUNIT_EXPECT_EQ(test, salvo_ring_free_slots(0, 0), SALVO_RING_ENTRIES);
	KUNIT_EXPECT_EQ(test, salvo_ring_free_slots(5, 3), SALVO_RING_ENTRIES - 2);
	KUNIT_EXPECT_EQ(test, salvo_ring_free_slots(SALVO_RING_ENTRIES, 0), 0);
}

static void salvo_kunit_ring_claims(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, salvo_ring_fence_is_valid(3, 5, 3));
	KUNIT_EXPECT_TRUE(test, salvo_ring_fence_is_valid(5, 5, 3));
	KUNIT_EXPECT_TRUE(test, salvo_ring_fence_is_valid(4, 5, 3));
	KUNIT_EXPECT_FALSE(test, salvo_ring_fence_is_valid(2, 5, 3));
	KUNIT_EXPECT_FALSE(test, salvo_ring_fence_is_valid(6, 5, 3));
	KUNIT_EXPECT_FALSE(test, salvo_ring_fence_is_valid(~0ull, 5, 3));
	KUNIT_EXPECT_FALSE(test, salvo_ring_fence_is_valid(0, 5, 3));
	KUNIT_EXPECT_TRUE(test, salvo_ring_fence_is_valid(0, 0, 0));
}

static struct kunit_case salvo_kunit_cases[] = {
	KUNIT_CASE(salvo_kunit_pack),
	KUNIT_CASE(salvo_kunit_pack_without_pipe_controls),
	KUNIT_CASE(salvo_kunit_decode_lines),
	KUNIT_CASE(salvo_kunit_decode_cut_off),
	KUNIT_CASE(salvo_kunit_decode_damaged),
	KUNIT_CASE(salvo_kunit_validate),
	KUNIT_CASE(salvo_kunit_validate_rejects),
	KUNIT_CASE(salvo_kunit_ring_slots),
	KUNIT_CASE(salvo_kunit_ring_claims),
	{}
};

static struct kunit_suite salvo_kunit_suite = {
	.name = "salvo",
	.test_cases = salvo_kunit_cases,
};

kunit_test_suite(salvo_kunit_suite);

MODULE_DESCRIPTION("KUnit tests of salvo.ko");
MODULE_LICENSE("GPL");
