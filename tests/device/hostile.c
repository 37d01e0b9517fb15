// SPDX-License-Identifier: MIT
/*
 * hostile.c - packets, ring entries and registers with one invalid field
 *
 * The device must not trust the driver: an invalid packet fails its own fence, writes a fault
 * record, runs nothing, and the next packet works.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "dma.h"
#include "gpu_fixture.h"
#include "sanitizer.h"

struct touch_args {
	uint64_t *out;
	uint64_t pad;
};

/* Leaves a trace if it ran. */
RIG_KERNEL static void touch(RIG_KERNEL_ARGS)
{
	const struct touch_args *a = args;

	*a->out = 1;
}

/* The valid packet, which has one command of each type, and which the tests modify */
enum { DISPATCH, COPY, FILL, TIMESTAMP, PAIR, ALL, DISPATCH2, RECT, PATTERN, COMMANDS };

/* The shape of the RECT is not in the packet's heap, but in its command. */
struct good_args {
	struct touch_args touch[2];
	struct drm_salvo_rect rect;
};

#define TRACE_BYTES 4096u

static uint32_t pack_good(struct rig *rig, struct good_args *args)
{
	const struct drm_salvo_command commands[COMMANDS] = {
		[DISPATCH] = rig_dispatch(rig, touch, 10, 4, 0, sizeof(args->touch[0])),
		[COPY] = { .type = DRM_SALVO_COPY, .dst = rig->data_address + 64,
			   .src = rig->data_address + 8192, .size = 64 },
		[FILL] = { .type = DRM_SALVO_FILL, .dst = rig->data_address + 128, .size = 64,
			   .pattern = 1 },
		[TIMESTAMP] = { .type = DRM_SALVO_TIMESTAMP, .dst = rig->data_address + 256 },
		[PAIR] = rig_pair(COPY, DISPATCH),
		[ALL] = rig_all(),
		[DISPATCH2] = rig_dispatch(rig, touch, 1, 1, sizeof(args->touch[0]),
					    sizeof(args->touch[0])),
		[RECT] = { .type = DRM_SALVO_COPY_RECT, .dst = rig->data_address + 512,
			   .src = rig->data_address + 8192,
			   .args_offset = offsetof(struct good_args, rect),
			   .args_size = sizeof(args->rect) },
		[PATTERN] = { .type = DRM_SALVO_FILL_PATTERN, .dst = rig->data_address + 768,
			      .size = 16, .args_size = 8 },
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = COMMANDS, .args = args,
		.args_size = sizeof(args->touch), .profile = rig->data_address + 1024,
	};

	args->touch[0].out = (void *)(uintptr_t)rig->data_address;
	args->touch[1].out = args->touch[0].out + 1;
	args->rect = (struct drm_salvo_rect){ 8, 2, 2, 16, 32, 8, 16 };
	memset(rig->data, 0, TRACE_BYTES);
	memset(rig->data + 8192, 1, 64);
	return rig_pack(rig, 1, &batch);
}

/* The n-th command of a packet with @code. */
static void *find_op(void *packet, uint16_t code, unsigned int n)
{
	uint8_t *at = (uint8_t *)packet + sizeof(struct salvo_packet);

	for (;; at += ((struct salvo_op *)at)->bytes)
		if (((struct salvo_op *)at)->code == code && !n--)
			return at;
}

static bool traced(const struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < TRACE_BYTES; i++)
		if (rig->data[i])
			return true;
	return false;
}

struct spoil {
	const char *name;
	uint16_t code;		/* offset in the command, or in the head */
	uint8_t n;		/* which of them */
	uint16_t offset, bytes;
	uint64_t value;
	bool no_result;		/* the packet's result cannot be written */
};

#define HEAD_FIELD(field, value, lost) \
	{ #field " = " #value, 0, 0, offsetof(struct salvo_packet, field), \
	  sizeof(((struct salvo_packet *)0)->field), (uint64_t)(value), lost }
#define HEAD(field, value) HEAD_FIELD(field, value, false)
#define LOST(field, value) HEAD_FIELD(field, value, true)
#define OP(code, n, type, field, value) \
	{ #code "." #field " = " #value, code, n, offsetof(struct type, field), \
	  sizeof(((struct type *)0)->field), (uint64_t)(value), false }
#define STATE(field, value) OP(SALVO_OP_SETUP_STATE, 0, salvo_op_setup_state, field, value)
#define ARGS(field, value) OP(SALVO_OP_SETUP_ARGS, 0, salvo_op_setup_args, field, value)
#define PROFILE(field, value) OP(SALVO_OP_SETUP_PROFILE, 0, salvo_op_setup_profile, field, value)
#define CACHE(field, value) OP(SALVO_OP_CACHE, 0, salvo_op_cache, field, value)
#define DISPATCH(field, value) OP(SALVO_OP_DISPATCH, 0, salvo_op_dispatch, field, value)
#define COPY(field, value) OP(SALVO_OP_COPY, 0, salvo_op_copy, field, value)
#define FILL(field, value) OP(SALVO_OP_FILL, 0, salvo_op_fill, field, value)
#define RECT(field, value) OP(SALVO_OP_COPY_RECT, 0, salvo_op_copy_rect, field, value)
#define PATTERN(field, value) OP(SALVO_OP_FILL_PATTERN, 0, salvo_op_fill_pattern, field, value)
#define TIME(field, value) OP(SALVO_OP_TIMESTAMP, 0, salvo_op_timestamp, field, value)
#define PAIR(field, value) OP(SALVO_OP_PIPE_CONTROL, 0, salvo_op_pipe_control, field, value)
#define ALL(field, value) OP(SALVO_OP_PIPE_CONTROL, 1, salvo_op_pipe_control, field, value)
#define CLOSE(field, value) OP(SALVO_OP_CLOSE, 0, salvo_op_close, field, value)

static const struct spoil spoils[] = {
	LOST(magic, 0), LOST(bytes, 64), LOST(bytes, ~0),
	LOST(result, 4), LOST(result, RIG_SYSTEM_BYTES),
	LOST(result, RIG_SYSTEM_BYTES - 24), LOST(result, ~0ull << 3),
	HEAD(fence_id, 0), HEAD(fence_id, 99999), HEAD(kind, 0),
	HEAD(kind, SALVO_PACKET_BATCH), HEAD(kind, SALVO_PACKET_SPACE), HEAD(kind, 9),
	HEAD(command_count, 0), HEAD(command_count, COMMANDS - 1),
	HEAD(command_count, COMMANDS + 1), HEAD(command_count, SALVO_MAX_COMMANDS),
	HEAD(command_count, SALVO_MAX_COMMANDS + 1), HEAD(command_count, ~0u),
	HEAD(command_bytes, 0), HEAD(command_bytes, 8), HEAD(command_bytes, 64),
	HEAD(command_bytes, 1u << 20), HEAD(command_bytes, ~0u), HEAD(command_bytes, ~7u),
	HEAD(reserved0, 1), HEAD(reserved[0], 1), HEAD(reserved[1], 1), HEAD(reserved[2], 1),

	STATE(op.code, 0), STATE(op.code, SALVO_OP_CACHE), STATE(op.code, 0xffff),
	STATE(op.bytes, 0), STATE(op.bytes, 8), STATE(op.bytes, 0xfff8), STATE(op.index, 1),
	STATE(asid, 0), STATE(asid, RIG_ASID + 1), STATE(ctx, 0), STATE(ctx, 2),
	STATE(eu_mask, 1ull << 63),

	ARGS(op.bytes, 24), ARGS(offset, 0), ARGS(offset, 64), ARGS(offset, 8),
	ARGS(offset, 1u << 20), ARGS(offset, ~63u), ARGS(bytes, 0), ARGS(bytes, 16),
	ARGS(bytes, 4096), ARGS(bytes, ~0u), ARGS(op.code, SALVO_OP_CACHE),

	PROFILE(address, 0), PROFILE(address, 12), PROFILE(address, ~7ull),
	PROFILE(op.code, SALVO_OP_SETUP_STATE),
	CACHE(flags, 4), CACHE(flags, ~0u), CACHE(reserved, 1),

	DISPATCH(op.code, SALVO_OP_COPY), DISPATCH(op.code, SALVO_OP_CLOSE),
	DISPATCH(op.code, SALVO_OP_BIND), DISPATCH(op.code, SALVO_OP_SETUP_STATE),
	DISPATCH(op.code, 63), DISPATCH(op.code, 64),
	DISPATCH(op.bytes, 0), DISPATCH(op.bytes, 16), DISPATCH(op.bytes, 0xffff),
	DISPATCH(op.index, 1), DISPATCH(op.index, ~0u),
	DISPATCH(entry, 0), DISPATCH(entry, ~0ull), DISPATCH(eu_mask, 1ull << 63),
	DISPATCH(items[0], 0), DISPATCH(items[1], 0), DISPATCH(items[2], 0),
	DISPATCH(items[1], 2), DISPATCH(items[2], 2), DISPATCH(items[0], ~0u),
	DISPATCH(group[0], 0), DISPATCH(group[1], 0), DISPATCH(group[2], 0),
	DISPATCH(group[1], 2), DISPATCH(group[0], SALVO_MAX_GROUP_ITEMS + 1),
	DISPATCH(group[0], ~0u), DISPATCH(args_offset, 8), DISPATCH(args_offset, 32),
	DISPATCH(args_offset, ~15u), DISPATCH(args_size, 33),
	DISPATCH(args_size, ~0u), DISPATCH(local_size, SALVO_MAX_LOCAL_BYTES + 1),
	DISPATCH(dims, 0), DISPATCH(dims, 4), DISPATCH(flags, 4), DISPATCH(flags, ~0u),
	DISPATCH(reserved, 1),

	COPY(dst, 0), COPY(dst, ~0ull), COPY(src, 0), COPY(src, ~0ull), COPY(size, 0),
	COPY(size, RIG_VRAM_BYTES), COPY(size, ~0ull), COPY(op.index, 0),
	FILL(dst, 0), FILL(dst, ~3ull), FILL(size, 0), FILL(size, 2), FILL(size, ~3ull),
	FILL(reserved, 1),
	RECT(dst, 0), RECT(dst, ~0ull), RECT(src, 0), RECT(src, ~0ull), RECT(op.index, 0),
	RECT(width, 0), RECT(width, 9), RECT(width, ~0ull), RECT(height, 0), RECT(height, 3),
	RECT(height, ~0ull), RECT(height, 1ull << 60), RECT(depth, 0), RECT(depth, ~0ull),
	RECT(depth, 1ull << 59), RECT(depth, RIG_VRAM_BYTES / 16),
	RECT(dst_row_pitch, 0), RECT(dst_row_pitch, 7), RECT(dst_row_pitch, ~0ull),
	RECT(dst_slice_pitch, 31), RECT(dst_slice_pitch, ~0ull),
	RECT(dst_slice_pitch, RIG_VRAM_BYTES), RECT(src_row_pitch, 7),
	RECT(src_row_pitch, 1ull << 63), RECT(src_slice_pitch, 15),
	RECT(src_slice_pitch, RIG_VRAM_BYTES),
	PATTERN(dst, 0), PATTERN(dst, ~0ull), PATTERN(size, 0), PATTERN(size, 12),
	PATTERN(size, ~7ull), PATTERN(args_offset, 8), PATTERN(args_offset, 32),
	PATTERN(args_offset, ~15u), PATTERN(args_size, 0), PATTERN(args_size, 129),
	PATTERN(args_size, ~0u), PATTERN(op.bytes, 24),
	TIME(dst, 0), TIME(dst, 4), TIME(dst, ~7ull),
	PAIR(consumer, 0), PAIR(producer, COPY), PAIR(producer, ~0u), PAIR(consumer, COMMANDS),
	PAIR(consumer, ~0u), PAIR(consumer, ALL), PAIR(consumer, PAIR), PAIR(flags, 2),
	PAIR(flags, SALVO_PIPE_CONTROL_ALL), PAIR(reserved, 1),
	ALL(consumer, 1), ALL(producer, 1), ALL(reserved, 1), ALL(flags, 3),
	CLOSE(fence_id, 0), CLOSE(op.index, 1), CLOSE(op.bytes, 8), CLOSE(op.code, SALVO_OP_CACHE),
};

static void spoil_packet(void *packet, const struct spoil *spoil)
{
	uint8_t *at = spoil->code ? find_op(packet, spoil->code, spoil->n) : packet;

	memcpy(at + spoil->offset, &spoil->value, spoil->bytes);
}

TEST_F(gpu, every_field_of_a_packet_is_checked_and_nothing_of_it_runs)
{
	struct rig *rig = self->rig;
	struct good_args args = { 0 };
	unsigned int i;

	for (i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
		const uint64_t faults = rig->regs->fault.sequence;
		const uint32_t bytes = pack_good(rig, &args);
		const struct salvo_ring_entry entry = rig_next_entry(rig, 1, bytes);
		const struct salvo_packet_result *result = rig_result(rig, entry.seqno);

		spoil_packet(rig_next_packet(rig), &spoils[i]);
		rig_push(rig, &entry);
		rig_ring(rig);
		ASSERT_TRUE(rig_wait(rig, entry.seqno))
			TH_LOG("%s", spoils[i].name);
		ASSERT_EQ(spoils[i].no_result ? SALVO_STATUS_PENDING : SALVO_STATUS_BAD_PACKET,
			  result->status)
			TH_LOG("%s", spoils[i].name);
		ASSERT_EQ(faults + 1, rig->regs->fault.sequence)
			TH_LOG("%s", spoils[i].name);
		EXPECT_EQ(entry.seqno, rig->regs->fault.seqno);
		EXPECT_EQ(RIG_ASID, rig->regs->fault.asid);
		ASSERT_FALSE(traced(rig))
			TH_LOG("%s", spoils[i].name);

		/* The same packet unmodified */
		pack_good(rig, &args);
		{
			const struct salvo_ring_entry good = rig_next_entry(rig, 1, bytes);

			rig_push(rig, &good);
			rig_ring(rig);
			ASSERT_TRUE(rig_wait(rig, good.seqno));
			ASSERT_EQ(SALVO_STATUS_DONE, rig_result(rig, good.seqno)->status);
			ASSERT_TRUE(traced(rig));
		}
	}
}

TEST_F(gpu, fault_record_names_the_command_and_the_address)
{
	struct rig *rig = self->rig;
	struct good_args args = { 0 };
	const uint32_t bytes = pack_good(rig, &args);
	const struct salvo_ring_entry entry = rig_next_entry(rig, 1, bytes);
	struct salvo_op_fill *fill = find_op(rig_next_packet(rig), SALVO_OP_FILL, 0);

	fill->dst = rig->code_address;
	rig_push(rig, &entry);
	rig_ring(rig);
	ASSERT_TRUE(rig_wait(rig, entry.seqno));
	EXPECT_EQ(FILL, rig_result(rig, entry.seqno)->command);
	EXPECT_EQ(FILL, rig->regs->fault.command);
	EXPECT_EQ(SALVO_FAULT_PACKET, rig->regs->fault.kind);
	EXPECT_EQ(rig->code_address, rig->regs->fault.address);
	EXPECT_EQ(SALVO_ACCESS_WRITE, rig->regs->fault.access);
	EXPECT_EQ(1, rig->regs->fault.ctx);
}

/* Blocks are copied in any order, so source and destination may be adjacent but not overlap. */
TEST_F(gpu, copies_that_overlap_are_refused_and_adjacent_ones_are_not)
{
	static const struct { int64_t distance; bool good; } cases[] = {
		{ 0, false }, { 1, false }, { -1, false }, { 255, false }, { -255, false },
		{ 256, true }, { -256, true }, { 257, true }, { -257, true },
	};
	struct rig *rig = self->rig;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct drm_salvo_command copy = {
			.type = DRM_SALVO_COPY, .src = rig->data_address + 4096,
			.dst = rig->data_address + 4096 + cases[i].distance, .size = 256,
		};

		EXPECT_EQ(cases[i].good ? SALVO_STATUS_DONE : SALVO_STATUS_BAD_PACKET,
			  rig_run(rig, &copy, 1, NULL, 0))
			TH_LOG("distance %lld", (long long)cases[i].distance);
		if (!cases[i].good)
			EXPECT_EQ(copy.src, rig->regs->fault.address);
	}
}

TEST_F(gpu, addresses_count_in_their_own_address_space_only)
{
	struct rig *rig = self->rig;
	struct good_args args = { 0 };
	const uint32_t bytes = pack_good(rig, &args);
	struct salvo_ring_entry entry = rig_next_entry(rig, 1, bytes);
	struct salvo_op_setup_state *state = find_op(rig_next_packet(rig), SALVO_OP_SETUP_STATE, 0);

	entry.asid = RIG_ASID + 1;
	state->asid = RIG_ASID + 1;
	rig_push(rig, &entry);
	rig_ring(rig);
	ASSERT_TRUE(rig_wait(rig, entry.seqno));
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, rig_result(rig, entry.seqno)->status);
	EXPECT_FALSE(traced(rig));
}

TEST_F(gpu, packet_is_parsed_from_a_copy)
{
	struct rig *rig = self->rig;
	struct good_args args = { 0 };
	struct salvo_ring_entry entry;
	unsigned int i;
	void *packet;

	/* The packet is overwritten as soon as the doorbell call returns. */
	for (i = 0; i < 500; i++) {
		entry = rig_next_entry(rig, 1, pack_good(rig, &args));
		packet = rig_next_packet(rig);
		rig_push(rig, &entry);
		rig_ring(rig);
		memset(packet, 0xff, entry.packet_bytes);
		ASSERT_TRUE(rig_wait(rig, entry.seqno));
		ASSERT_EQ(SALVO_STATUS_DONE, rig_result(rig, entry.seqno)->status);
		ASSERT_EQ(1, ((uint64_t *)rig->data)[1]);
	}
}

/*
 * Fields that the table above covers, or that the test needs: the kernel's entry, the number of
 * groups, its pointers.
 */
static bool may_damage(const void *packet, const uint8_t *at)
{
	unsigned int n;

	for (n = 0; n < 2; n++) {
		const struct salvo_op_dispatch *op = find_op((void *)packet, SALVO_OP_DISPATCH, n);

		if (at >= (uint8_t *)&op->entry && at < (uint8_t *)&op->args_offset)
			return false;
	}
	return true;
}

TEST_F(gpu, random_damage_never_hurts_the_device)
{
	struct rig *rig = self->rig;
	struct good_args args = { 0 };
	unsigned int i, j, seed = 7, done = 0, bad = 0;

	for (i = 0; i < 20000; i++) {
		const struct salvo_ring_entry entry = rig_next_entry(rig, 1, pack_good(rig, &args));
		struct salvo_packet *packet = rig_next_packet(rig), copy[20];
		const uint32_t end = sizeof(*packet) + packet->command_bytes;

		ASSERT_LE(end, sizeof(copy));
		memcpy(copy, packet, end);
		for (j = 0; j < 1 + i % 4; j++) {
			const uint32_t at = rand_r(&seed) % end;

			if (may_damage(copy, (uint8_t *)copy + at))
				((uint8_t *)packet)[at] ^= 1u << rand_r(&seed) % 8;
		}
		rig_push(rig, &entry);
		rig_ring(rig);
		ASSERT_TRUE(rig_wait(rig, entry.seqno));
		done += rig_result(rig, entry.seqno)->status == SALVO_STATUS_DONE;
		bad += rig_result(rig, entry.seqno)->status == SALVO_STATUS_BAD_PACKET;
	}
	EXPECT_LT(0, done);
	EXPECT_LT(10000, bad);
}

/* --- address space packets ---------------------------------------------------------- */

TEST_F(gpu, bindings_are_checked)
{
	struct rig *rig = self->rig;
	const uint64_t base = rig->regs->va_base, data = rig->data_address;
	const uint32_t rw = SALVO_ACCESS_READ | SALVO_ACCESS_WRITE;
	const uint32_t rx = SALVO_ACCESS_READ | SALVO_ACCESS_EXEC;
	const struct {
		uint32_t asid;
		uint16_t code;
		uint64_t address, size;
		uint32_t access;
	} bad[] = {
		{ 9, SALVO_OP_BIND, data, 4096, 0 },
		{ 9, SALVO_OP_BIND, data, 4096, 8 },
		{ 9, SALVO_OP_BIND, data, 4096, SALVO_ACCESS_WRITE | SALVO_ACCESS_EXEC },
		{ 9, SALVO_OP_BIND, data, 0, rw }, { 9, SALVO_OP_BIND, data, 100, rw },
		{ 9, SALVO_OP_BIND, data + 8, 4096, rw },
		{ 9, SALVO_OP_BIND, base - 4096, 4096, rw },
		{ 9, SALVO_OP_BIND, 0, 4096, rw }, { 9, SALVO_OP_BIND, base, ~4095ull, rw },
		{ 9, SALVO_OP_BIND, base + RIG_VRAM_BYTES, 4096, rw },
		{ 9, SALVO_OP_BIND, base + RIG_VRAM_BYTES - 4096, 8192, rw },
		{ 9, SALVO_OP_BIND, ~4095ull, 4096, rw },
		/* Overlaps a range of another address space in part, or is bound twice. */
		{ 9, SALVO_OP_BIND, data, 4096, rw }, { 9, SALVO_OP_BIND, data + 4096, 4096, rw },
		{ RIG_ASID, SALVO_OP_BIND, data, RIG_DATA_BYTES, rw },
		/* Code that another address space can write. */
		{ 9, SALVO_OP_BIND, data, RIG_DATA_BYTES, rx },
		{ 9, SALVO_OP_BIND, base, RIG_CODE_BYTES, rw },
		{ 9, SALVO_OP_UNBIND, data, RIG_DATA_BYTES, 0 },
		{ RIG_ASID, SALVO_OP_UNBIND, data, 4096, 0 },
		{ RIG_ASID, SALVO_OP_UNBIND, data + 4096, 4096, 0 },
		{ RIG_ASID, SALVO_OP_UNBIND, data, RIG_DATA_BYTES, rw },
		{ 0, SALVO_OP_BIND, data, RIG_DATA_BYTES, rw },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_EQ(SALVO_STATUS_BAD_PACKET,
			  rig_space(rig, bad[i].asid, bad[i].code, bad[i].address, bad[i].size,
				    bad[i].access))
			TH_LOG("case %u", i);

	/* A shared buffer: the same range bound in two address spaces. */
	EXPECT_EQ(SALVO_STATUS_DONE, rig_space(rig, 9, SALVO_OP_BIND, data, RIG_DATA_BYTES,
					       SALVO_ACCESS_READ));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_UNBIND, data,
					       RIG_DATA_BYTES, 0));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_space(rig, 9, SALVO_OP_SPACE_END, 0, 0, 0));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_space(rig, 9, SALVO_OP_BIND, data, 4096, rw));
}

RIG_KERNEL static void poke(RIG_KERNEL_ARGS)
{
	const struct touch_args *a = args;

	*(volatile uint64_t *)a->out = 1;
}

TEST_F(gpu, what_was_unbound_is_out_of_reach)
{
	struct rig *rig = self->rig;
	const struct touch_args args = { (void *)(uintptr_t)rig->data_address, 0 };
	const struct drm_salvo_command kernel = rig_dispatch(rig, poke, 1, 1, 0, sizeof(args));
	const struct drm_salvo_command fill = {
		.type = DRM_SALVO_FILL, .dst = rig->data_address, .size = 4,
	};

	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, &kernel, 1, &args, sizeof(args)));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, &fill, 1, NULL, 0));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_UNBIND, rig->data_address,
					       RIG_DATA_BYTES, 0));
	EXPECT_EQ(SALVO_STATUS_FAULT, rig_run(rig, &kernel, 1, &args, sizeof(args)));
	EXPECT_EQ(rig->data_address, rig->regs->fault.address);
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, rig_run(rig, &fill, 1, NULL, 0));
}

TEST(dma_is_bounded_by_the_window)
{
	uint8_t memory[64] = { 0 }, copy[64];
	struct salvo_regs regs = { .bus_master = 1 };
	struct salvo_dma dma = { .regs = &regs, .base = memory, .bytes = sizeof(memory) };
	const struct {
		uint64_t address, size;
		bool ok;
	} cases[] = {
		{ 0, 64, true }, { 63, 1, true }, { 64, 0, true }, { 0, 65, false },
		{ 1, 64, false }, { 64, 1, false }, { ~0ull, 1, false }, { ~0ull, 2, false },
		{ 1, ~0ull, false }, { 0, ~0ull, false }, { ~0ull, ~0ull, false },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EXPECT_EQ(cases[i].ok, salvo_dma_covers(&dma, cases[i].address, cases[i].size));
		if (!cases[i].ok) {
			EXPECT_FALSE(salvo_dma_read(&dma, copy, cases[i].address, cases[i].size));
			EXPECT_FALSE(salvo_dma_write(&dma, cases[i].address, copy, cases[i].size));
		}
	}
	EXPECT_TRUE(salvo_dma_read(&dma, copy, 0, 64));
	regs.bus_master = 0;
	EXPECT_FALSE(salvo_dma_read(&dma, copy, 0, 64));
	EXPECT_FALSE(salvo_dma_write(&dma, 0, copy, 64));

	/* System addresses are pointers here: only null and those that wrap are invalid. */
	dma.base = NULL;
	dma.bytes = 0;
	EXPECT_TRUE(salvo_dma_covers(&dma, (uintptr_t)memory, 64));
	EXPECT_FALSE(salvo_dma_covers(&dma, 0, 8));
	EXPECT_FALSE(salvo_dma_covers(&dma, ~0ull, 8));
}

/* --- ring and reset ------------------------------------------------------------------ */

TEST_F(gpu, fields_of_ring_entries_are_checked)
{
	struct rig *rig = self->rig;
	struct good_args args = { 0 };
	unsigned int i;

	for (i = 0; i < 16; i++) {
		struct salvo_ring_entry entry = rig_next_entry(rig, 1, pack_good(rig, &args));
		const uint64_t faults = rig->regs->fault.sequence;

		switch (i) {
		case 0: entry.packet = RIG_SYSTEM_BYTES; break;
		case 1: entry.packet = RIG_SYSTEM_BYTES - 64; break;
		case 2: entry.packet = ~63ull; break;
		case 3: entry.packet += 8; break;
		case 4: entry.packet_bytes = 0; break;
		case 5: entry.packet_bytes = ~0u; break;
		case 6: entry.packet_bytes -= 64; break;
		case 7: entry.flags |= 8; break;
		case 8: entry.asid = 0; break;
		case 9: entry.ctx = 0; break;
		case 10: entry.eu_mask = 1ull << 63; break;
		case 11: entry.reserved[0] = 1; break;
		case 12: entry.reserved[1] = 1; break;
		case 13: entry.reserved0 = 1; break;
		case 14: entry.priority = SALVO_PRIORITY_LOW - 1; break;
		case 15: entry.priority = SALVO_PRIORITY_HIGH + 1; break;
		}
		rig_push(rig, &entry);
		rig_ring(rig);
		ASSERT_TRUE(rig_wait(rig, entry.seqno));
		/* From the eighth case on the packet can be found, so its result is written. */
		EXPECT_EQ(i < 7 ? SALVO_STATUS_PENDING : SALVO_STATUS_BAD_PACKET,
			  rig_result(rig, entry.seqno)->status)
			TH_LOG("case %u", i);
		EXPECT_EQ(faults + 1, rig->regs->fault.sequence);
		EXPECT_FALSE(traced(rig));
	}
}

/* The ring is halted: nothing runs until a reset. */
static void expect_halted(struct __test_metadata *_metadata, struct rig *rig)
{
	struct good_args args = { 0 };
	const struct salvo_ring_entry entry = rig_next_entry(rig, 1, pack_good(rig, &args));
	const uint64_t head = rig_head(rig, 0);

	EXPECT_EQ(SALVO_FAULT_RING, rig->regs->fault.kind);
	rig_push(rig, &entry);
	rig_ring(rig);
	EXPECT_EQ(head, rig_head(rig, 0));
	EXPECT_FALSE(traced(rig));
	rig_reset(rig);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->data_address,
					       RIG_DATA_BYTES, SALVO_ACCESS_READ));
}

TEST_F(gpu, wrong_seqno_halts_the_ring)
{
	struct good_args args = { 0 };
	struct salvo_ring_entry entry = rig_next_entry(self->rig, 1, pack_good(self->rig, &args));

	entry.seqno++;
	rig_push(self->rig, &entry);
	rig_ring(self->rig);
	expect_halted(_metadata, self->rig);
}

TEST_F(gpu, tail_too_far_ahead_halts_the_ring)
{
	struct rig *rig = self->rig;

	rig->regs->ring[0].tail = rig->tail + RIG_SLOTS + 1;
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_RING(0));
	expect_halted(_metadata, rig);
}

TEST_F(gpu, ring_registers_are_checked_when_it_is_enabled)
{
	struct rig *rig = self->rig;
	struct salvo_ring_regs *ring = &rig->regs->ring[1];
	unsigned int i;

	for (i = 0; i < 7; i++) {
		const uint64_t faults = rig->regs->fault.sequence;

		rig_reset(rig);
		ring->base = 4096;
		ring->entries = 64;
		switch (i) {
		case 0: ring->base = 8; break;
		case 1: ring->base = RIG_SYSTEM_BYTES - 64; break;
		case 2: ring->base = ~63ull; break;
		case 3: ring->entries = 0; break;
		case 4: ring->entries = 8; break;
		case 5: ring->entries = 65; break;
		case 6: ring->entries = 8192; break;
		}
		ring->enable = 1;
		ring->tail = 1;
		salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_RING(1));
		EXPECT_EQ(faults + 1, rig->regs->fault.sequence)
			TH_LOG("case %u", i);
		EXPECT_EQ(0, ring->head);
	}
	salvo_gpu_doorbell(rig->gpu, 2);
	salvo_gpu_doorbell(rig->gpu, ~0u);
}

TEST_F(gpu, no_dma_without_handshake_and_bus_master)
{
	struct rig *rig = self->rig;
	const uint64_t head = rig_head(rig, 0);
	struct good_args args = { 0 };
	struct salvo_ring_entry entry = rig_next_entry(rig, 1, pack_good(rig, &args));

	rig->regs->bus_master = 0;
	rig_push(rig, &entry);
	rig_ring(rig);
	EXPECT_EQ(head, rig_head(rig, 0));
	EXPECT_FALSE(traced(rig));
	EXPECT_EQ(SALVO_STATUS_PENDING, rig_result(rig, entry.seqno)->status);

	/* A new GPU whose driver enables a ring right after the handshake. */
	rig_stop(rig);
	memset(rig->regs, 0, SALVO_REGS_BYTES);
	ASSERT_EQ(0, salvo_gpu_create(&rig->config, &rig->gpu));
	rig->regs->bus_master = 1;
	rig->regs->ring[0].base = 4096;
	rig->regs->ring[0].entries = RIG_SLOTS;
	rig->regs->ring[0].enable = 1;
	rig->regs->ring[0].tail = 1;
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_RING(0));
	EXPECT_EQ(0, rig_head(rig, 0));
	EXPECT_EQ(SALVO_FAULT_RING, rig->regs->fault.kind);
}

struct spin_args {
	uint64_t *count;
	uint64_t loops;
};

RIG_KERNEL static void spin(RIG_KERNEL_ARGS)
{
	const struct spin_args *a = args;
	uint64_t i;

	__atomic_fetch_add(a->count, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < a->loops; i++)
		__builtin_ia32_pause();
}

static void reset_in_flight(struct __test_metadata *_metadata, struct rig *rig, uint32_t groups,
			    uint64_t loops)
{
	const struct spin_args args = { (void *)(uintptr_t)rig->data_address, loops };
	const struct drm_salvo_command command = rig_dispatch(rig, spin, groups, 1, 0,
							      sizeof(args));
	const struct salvo_batch_desc batch = {
		.commands = &command, .count = 1, .args = &args, .args_size = sizeof(args),
	};
	volatile uint64_t *count = (void *)rig->data;
	uint64_t seqno[10];
	unsigned int i;

	*count = 0;
	for (i = 0; i < 10; i++)
		seqno[i] = rig_submit(rig, 1 + i % 2, &batch);
	while (!*count)
		sched_yield();
	rig_reset(rig);
	EXPECT_LT(*count, groups);
	EXPECT_EQ(0, rig_fence(rig, 0));
	EXPECT_EQ(0, rig_head(rig, 0));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(SALVO_STATUS_KILLED, rig_result(rig, seqno[i])->status);

	/* The initial state: nothing is bound, and binding works again. */
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, rig_run(rig, &command, 1, &args, sizeof(args)));
	EXPECT_EQ(SALVO_STATUS_DONE,
		  rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->code_address, RIG_CODE_BYTES,
			    SALVO_ACCESS_READ | SALVO_ACCESS_EXEC));
	EXPECT_EQ(SALVO_STATUS_DONE,
		  rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->data_address, RIG_DATA_BYTES,
			    SALVO_ACCESS_READ | SALVO_ACCESS_WRITE));
}

TEST_F(gpu, reset_gives_up_work_in_flight_between_work_groups)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		reset_in_flight(_metadata, self->rig, 1u << 28, 100);
}

TEST_F(gpu, reset_leaves_a_kernel_that_never_ends)
{
	unsigned int i;

	NEED_SIGNALS();
	for (i = 0; i < 5; i++)
		reset_in_flight(_metadata, self->rig, 64, ~0ull);
}

TEST_F(gpu, destroy_with_work_in_flight)
{
	const struct spin_args args = { (void *)(uintptr_t)self->rig->data_address, ~0ull };
	const struct drm_salvo_command command = rig_dispatch(self->rig, spin, 64, 1, 0,
							      sizeof(args));
	const struct salvo_batch_desc batch = {
		.commands = &command, .count = 1, .args = &args, .args_size = sizeof(args),
	};
	uint64_t seqno;

	/* A unit may have begun with it. */
	NEED_SIGNALS();
	seqno = rig_submit(self->rig, 1, &batch);
	rig_stop(self->rig);
	EXPECT_EQ(SALVO_STATUS_KILLED, rig_result(self->rig, seqno)->status);
}

TEST_F(gpu, nonsense_configurations_are_refused)
{
	struct salvo_gpu_config config;
	struct salvo_gpu *gpu;
	unsigned int i;

	for (i = 0; i < 9; i++) {
		config = self->rig->config;
		switch (i) {
		case 0: config.regs = NULL; break;
		case 1: config.vram_fd = -1; break;
		case 2: config.vram_bytes = 0; break;
		case 3: config.vram_bytes = 100; break;
		case 4: config.units = SALVO_MAX_UNITS + 1; break;
		case 5: config.system_bytes = 0; break;
		case 6: config.system_base = NULL; break;
		case 7: config.vram_bytes += 4096; break;
		case 8: config.vram_offset = ~4095ull; break;
		}
		EXPECT_EQ(-EINVAL, salvo_gpu_create(&config, &gpu));
	}
	salvo_gpu_destroy(NULL);
}

TEST_HARNESS_MAIN
