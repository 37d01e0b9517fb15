// SPDX-License-Identifier: MIT
/*
 * pack.c - salvo_pack.c: layout of packets
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "salvo_hw.h"
#include "salvo_pack.h"

#define MAX_OPS 64

static const struct salvo_packet_target target = {
	.asid = 3, .ctx = 5, .eu_mask = 3, .result = 0x7000,
};

/* A packet taken apart. */
struct parsed {
	_Alignas(64) uint8_t packet[16384];
	const struct salvo_packet *head;
	const struct salvo_op *op[MAX_OPS];
	unsigned int count;
};

static void pack(struct parsed *p, const struct salvo_batch_desc *batch)
{
	const uint8_t *at, *end;

	/* Not zero, so that what is not written shows. */
	memset(p->packet, 0xaa, sizeof(p->packet));
	salvo_pack_batch(batch, &target, p->packet);
	p->head = (void *)p->packet;
	p->count = 0;
	at = (const uint8_t *)(p->head + 1);
	end = at + p->head->command_bytes;
	while (at < end && p->count < MAX_OPS) {
		p->op[p->count++] = (const void *)at;
		at += ((const struct salvo_op *)at)->bytes;
	}
}

static unsigned int first_op(const struct parsed *p, unsigned int code)
{
	unsigned int i = 0;

	while (i < p->count && p->op[i]->code != code)
		i++;
	return i;
}

static const struct drm_salvo_command every_command[] = {
	{ .type = DRM_SALVO_DISPATCH, .entry = 0x1000,
	  .flags = DRM_SALVO_DISPATCH_BARRIERS | DRM_SALVO_DISPATCH_CONTENDS, .eu_mask = 2,
	  .items = { 9, 8, 7 }, .group = { 3, 2, 1 }, .args_offset = 16,
	  .args_size = 24, .local_size = 48, .dims = 3 },
	{ .type = DRM_SALVO_COPY, .dst = 0x2000, .src = 0x3000, .size = 77 },
	{ .type = DRM_SALVO_FILL, .dst = 0x4000, .size = 16, .pattern = 0xdead },
	{ .type = DRM_SALVO_TIMESTAMP, .dst = 0x5000 },
	{ .type = DRM_SALVO_PIPE_CONTROL, .consumer = 2, .producer = 0 },
	{ .type = DRM_SALVO_PIPE_CONTROL, .flags = DRM_SALVO_PIPE_CONTROL_ALL },
	{ .type = DRM_SALVO_COPY_RECT, .dst = 0x8000, .src = 0x9000, .args_offset = 48,
	  .args_size = sizeof(struct drm_salvo_rect) },
	{ .type = DRM_SALVO_FILL_PATTERN, .dst = 0xa001, .size = 21, .args_offset = 16,
	  .args_size = 7 },
};

static const struct {
	uint8_t bytes[48];
	struct drm_salvo_rect rect;
} blob = { { 1, 2, 3, [39] = 4 }, { 11, 12, 13, 14, 15, 16, 17 } };

static const struct salvo_batch_desc every = {
	.commands = every_command, .count = 8, .args = &blob, .args_size = sizeof(blob),
	.profile = 0x6000,
};

TEST(B1_one_packet_holds_a_command_for_each_workload)
{
	static const unsigned int code[] = {
		SALVO_OP_DISPATCH, SALVO_OP_COPY, SALVO_OP_FILL, SALVO_OP_TIMESTAMP,
		SALVO_OP_PIPE_CONTROL, SALVO_OP_PIPE_CONTROL, SALVO_OP_COPY_RECT,
		SALVO_OP_FILL_PATTERN,
	};
	static struct parsed p;
	unsigned int first;

	pack(&p, &every);
	EXPECT_EQ(SALVO_PACKET_MAGIC, p.head->magic);
	EXPECT_EQ(salvo_pack_bytes(&every), p.head->bytes);
	EXPECT_EQ(every.count, p.head->command_count);
	first = first_op(&p, SALVO_OP_DISPATCH);
	ASSERT_EQ(p.count, first + every.count + 1);
	for (unsigned int i = 0; i < every.count; i++) {
		EXPECT_EQ(code[i], p.op[first + i]->code);
		EXPECT_EQ(i, p.op[first + i]->index);
	}
}

TEST(every_field_of_a_command_arrives)
{
	static struct parsed p;
	const struct salvo_op *const *op;
	const struct salvo_op_dispatch *dispatch;
	const struct salvo_op_copy *copy;
	const struct salvo_op_fill *fill;
	const struct salvo_op_pipe_control *pair, *all;
	const struct salvo_op_copy_rect *rect;
	const struct salvo_op_fill_pattern *pattern;

	pack(&p, &every);
	op = &p.op[first_op(&p, SALVO_OP_DISPATCH)];

	dispatch = (const void *)op[0];
	EXPECT_EQ(0x1000, dispatch->entry);
	EXPECT_EQ(2, dispatch->eu_mask);
	EXPECT_EQ(0, memcmp(dispatch->items, every_command[0].items, sizeof(dispatch->items)));
	EXPECT_EQ(0, memcmp(dispatch->group, every_command[0].group, sizeof(dispatch->group)));
	EXPECT_EQ(16, dispatch->args_offset);
	EXPECT_EQ(24, dispatch->args_size);
	EXPECT_EQ(48, dispatch->local_size);
	EXPECT_EQ(3, dispatch->dims);
	EXPECT_EQ(SALVO_DISPATCH_BARRIERS | SALVO_DISPATCH_CONTENDS, dispatch->flags);
	EXPECT_EQ(0, dispatch->reserved);

	copy = (const void *)op[1];
	EXPECT_EQ(0x2000, copy->dst);
	EXPECT_EQ(0x3000, copy->src);
	EXPECT_EQ(77, copy->size);

	fill = (const void *)op[2];
	EXPECT_EQ(0x4000, fill->dst);
	EXPECT_EQ(16, fill->size);
	EXPECT_EQ(0xdead, fill->pattern);

	EXPECT_EQ(0x5000, ((const struct salvo_op_timestamp *)op[3])->dst);

	rect = (const void *)op[6];
	EXPECT_EQ(0x8000, rect->dst);
	EXPECT_EQ(0x9000, rect->src);
	EXPECT_EQ(11, rect->width);
	EXPECT_EQ(12, rect->height);
	EXPECT_EQ(13, rect->depth);
	EXPECT_EQ(14, rect->dst_row_pitch);
	EXPECT_EQ(15, rect->dst_slice_pitch);
	EXPECT_EQ(16, rect->src_row_pitch);
	EXPECT_EQ(17, rect->src_slice_pitch);

	pattern = (const void *)op[7];
	EXPECT_EQ(0xa001, pattern->dst);
	EXPECT_EQ(21, pattern->size);
	EXPECT_EQ(16, pattern->args_offset);
	EXPECT_EQ(7, pattern->args_size);

	pair = (const void *)op[4];
	EXPECT_EQ(2, pair->consumer);
	EXPECT_EQ(0, pair->producer);
	EXPECT_EQ(0, pair->flags);
	all = (const void *)op[5];
	EXPECT_EQ(SALVO_PIPE_CONTROL_ALL, all->flags);
}

TEST(B3_packets_with_and_without_pipe_controls_are_distinct)
{
	static struct parsed p;
	struct salvo_batch_desc independent = every;

	pack(&p, &every);
	EXPECT_EQ(SALVO_PACKET_BATCH_SYNC, p.head->kind);
	independent.count = 4;
	pack(&p, &independent);
	EXPECT_EQ(SALVO_PACKET_BATCH, p.head->kind);
}

TEST(B5_the_last_command_is_the_closing_pipe_control)
{
	static struct parsed p;
	const struct salvo_op_close *close;

	pack(&p, &every);
	salvo_pack_set_fence(p.packet, 0x123456789aull);
	ASSERT_EQ(SALVO_OP_CLOSE, p.op[p.count - 1]->code);
	EXPECT_EQ(p.count - 1, first_op(&p, SALVO_OP_CLOSE));
	close = (const void *)p.op[p.count - 1];
	EXPECT_EQ(0x123456789aull, close->fence_id);
	EXPECT_EQ(0x123456789aull, p.head->fence_id);
}

TEST(B8_set_up_commands_precede_the_dispatches)
{
	static const unsigned int code[] = {
		SALVO_OP_SETUP_STATE, SALVO_OP_SETUP_ARGS, SALVO_OP_SETUP_PROFILE, SALVO_OP_CACHE,
	};
	static struct parsed p;
	const struct salvo_op_setup_state *state;
	const struct salvo_op_setup_args *args;

	pack(&p, &every);
	ASSERT_EQ(4, first_op(&p, SALVO_OP_DISPATCH));
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_EQ(code[i], p.op[i]->code);

	state = (const void *)p.op[0];
	EXPECT_EQ(target.asid, state->asid);
	EXPECT_EQ(target.ctx, state->ctx);
	EXPECT_EQ(target.eu_mask, state->eu_mask);
	args = (const void *)p.op[1];
	EXPECT_EQ(0, args->offset % 64);
	EXPECT_EQ(sizeof(blob), args->bytes);
	EXPECT_EQ(0, memcmp(p.packet + args->offset, &blob, sizeof(blob)));
	EXPECT_EQ(every.profile, ((const struct salvo_op_setup_profile *)p.op[2])->address);
	EXPECT_EQ(target.result, p.head->result);
}

TEST(every_byte_of_a_packet_is_written)
{
	static struct parsed p;
	const struct salvo_op_setup_args *args;
	const uint8_t *at;

	pack(&p, &every);
	args = (const void *)p.op[1];
	at = (const uint8_t *)(p.head + 1) + p.head->command_bytes;
	for (; at < p.packet + args->offset; at++)
		ASSERT_EQ(0, *at);
	for (at += args->bytes; at < p.packet + p.head->bytes; at++)
		ASSERT_EQ(0, *at);
	EXPECT_EQ(0xaa, *at);
}

TEST(some_commands_are_written_again_and_no_byte_beside_them)
{
	struct drm_salvo_command changed[8];
	struct salvo_batch_desc batch = every;
	static struct parsed p, whole;
	unsigned int first, end, i;

	batch.commands = changed;
	for (first = 0; first < every.count; first++)
		for (end = first + 1; end <= every.count; end++) {
			memcpy(changed, every_command, sizeof(changed));
			for (i = first; i < end; i++) {
				changed[i].items[0] += changed[i].type == DRM_SALVO_DISPATCH;
				changed[i].dst += 64 * (changed[i].type >= DRM_SALVO_COPY);
			}
			pack(&whole, &batch);
			pack(&p, &every);
			salvo_pack_commands(&batch, first, end, p.packet);
			ASSERT_EQ(0, memcmp(whole.packet, p.packet, p.head->bytes));
		}
}

TEST(a_batch_without_arguments_and_profile_has_no_set_up_for_them)
{
	static struct parsed p;
	const struct salvo_batch_desc bare = { .commands = &every_command[3], .count = 1 };

	pack(&p, &bare);
	EXPECT_EQ(p.count, first_op(&p, SALVO_OP_SETUP_ARGS));
	EXPECT_EQ(p.count, first_op(&p, SALVO_OP_SETUP_PROFILE));
	EXPECT_EQ(salvo_pack_bytes(&bare), p.head->bytes);
}

TEST(space_packets)
{
	_Alignas(64) uint8_t packet[SALVO_PACK_SPACE_BYTES];
	const struct salvo_packet *head = (void *)packet;
	const struct salvo_op_bind *bind = (void *)(head + 1);
	const struct salvo_op_close *close = (void *)(bind + 1);

	memset(packet, 0xaa, sizeof(packet));
	salvo_pack_space(SALVO_OP_BIND, 0x10000, 0x2000, SALVO_ACCESS_READ, 0x7000, packet);
	salvo_pack_set_fence(packet, 9);
	EXPECT_EQ(SALVO_PACKET_SPACE, head->kind);
	EXPECT_EQ(1, head->command_count);
	EXPECT_EQ(9, head->fence_id);
	EXPECT_EQ(0x7000, head->result);
	EXPECT_EQ(SALVO_OP_BIND, bind->op.code);
	EXPECT_EQ(0x10000, bind->address);
	EXPECT_EQ(0x2000, bind->size);
	EXPECT_EQ(SALVO_ACCESS_READ, bind->access);
	EXPECT_EQ(SALVO_OP_CLOSE, close->op.code);
	EXPECT_EQ(9, close->fence_id);

	salvo_pack_space(SALVO_OP_SPACE_END, 0, 0, 0, 0x7000, packet);
	EXPECT_EQ(SALVO_OP_SPACE_END, bind->op.code);
	EXPECT_EQ(sizeof(struct salvo_op_space_end) + sizeof(*close), head->command_bytes);
}

TEST(packets_for_system_memory)
{
	static const struct salvo_pack_run runs[3] = {
		{ 0x5000, 0x1000 }, { 0x100000, 0x3000 }, { 0x9000, 0x2000 },
	};
	static _Alignas(64) uint8_t packet[512];
	const struct salvo_packet *head = (void *)packet;
	const struct salvo_op_bind_system *bind = (void *)(head + 1);
	const struct salvo_op_close *close = (void *)(bind + 3);
	uint32_t i;

	memset(packet, 0xaa, sizeof(packet));
	ASSERT_LT(salvo_pack_system_bytes(3), sizeof(packet));
	EXPECT_EQ(0x40000 + 0x6000, salvo_pack_system(0x40000, runs, 3, SALVO_ACCESS_READ, 0x7000,
						      packet));
	salvo_pack_set_fence(packet, 12);
	EXPECT_EQ(SALVO_PACKET_SPACE, head->kind);
	EXPECT_EQ(salvo_pack_system_bytes(3), head->bytes);
	EXPECT_EQ(0, head->bytes % 64);
	EXPECT_EQ(3, head->command_count);
	EXPECT_EQ(3 * sizeof(*bind) + sizeof(*close), head->command_bytes);
	EXPECT_EQ(12, head->fence_id);
	EXPECT_EQ(0x7000, head->result);
	/* Back to back, whatever the order of the pages. */
	EXPECT_EQ(0x40000, bind[0].address);
	EXPECT_EQ(0x41000, bind[1].address);
	EXPECT_EQ(0x44000, bind[2].address);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(SALVO_OP_BIND_SYSTEM, bind[i].op.code);
		EXPECT_EQ(sizeof(*bind), bind[i].op.bytes);
		EXPECT_EQ(0, bind[i].op.index);
		EXPECT_EQ(runs[i].system, bind[i].system);
		EXPECT_EQ(runs[i].size, bind[i].size);
		EXPECT_EQ(SALVO_ACCESS_READ, bind[i].access);
		EXPECT_EQ(0, bind[i].reserved);
	}
	EXPECT_EQ(SALVO_OP_CLOSE, close->op.code);
	EXPECT_EQ(12, close->fence_id);
	EXPECT_EQ(0xaa, packet[head->bytes]);
}

TEST(longest_packet_for_system_memory)
{
	const uint32_t bytes = salvo_pack_system_bytes(SALVO_MAX_COMMANDS);
	struct salvo_pack_run *runs = calloc(SALVO_MAX_COMMANDS, sizeof(*runs));
	uint8_t *packet = aligned_alloc(64, bytes + 64);
	uint32_t i;

	ASSERT_NE(NULL, runs);
	ASSERT_NE(NULL, packet);
	for (i = 0; i < SALVO_MAX_COMMANDS; i++)
		runs[i] = (struct salvo_pack_run){ 0x2000 * (i + 1), 0x1000 };
	packet[bytes] = 0x55;
	EXPECT_EQ(0x1000ull * SALVO_MAX_COMMANDS,
		  salvo_pack_system(0, runs, SALVO_MAX_COMMANDS, SALVO_ACCESS_READ, 0, packet));
	EXPECT_EQ(0x55, packet[bytes]);
	free(packet);
	free(runs);
}

TEST_HARNESS_MAIN
