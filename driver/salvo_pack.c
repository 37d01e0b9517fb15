// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * salvo_pack.c - packing of batches into DMA packets
 *
 * A packet is one contiguous piece of memory that the GPU fetches at once (B1, B8 of
 * WO2015/123840):
 *
 *	head | set-up commands | the commands of the batch | closing command | arguments
 *
 * The commands keep the order and the indices of the batch, so that a packet can be
 * compared with the human-readable form of its batch. The closing pipe control holds
 * the fence until all work is done (B5).
 *
 * Freestanding C: compiled into salvo.ko, into libsalvo and into the fuzzers.
 * It keeps no state and takes no lock.
 */
#include "salvo_hw.h"
#include "salvo_pack.h"

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#define ALIGN64(x) (((x) + 63u) & ~63u)

static __u32 command_bytes(const struct drm_salvo_command *cmd)
{
	switch (cmd->type) {
	case DRM_SALVO_DISPATCH:
		return sizeof(struct salvo_op_dispatch);
	case DRM_SALVO_PIPE_CONTROL:
		return sizeof(struct salvo_op_pipe_control);
	case DRM_SALVO_COPY:
		return sizeof(struct salvo_op_copy);
	case DRM_SALVO_FILL:
		return sizeof(struct salvo_op_fill);
	case DRM_SALVO_COPY_RECT:
		return sizeof(struct salvo_op_copy_rect);
	case DRM_SALVO_FILL_PATTERN:
		return sizeof(struct salvo_op_fill_pattern);
	default:
		return sizeof(struct salvo_op_timestamp);
	}
}

/* From the head to the end of the closing command. */
static __u32 all_command_bytes(const struct salvo_batch_desc *batch)
{
	__u32 bytes = sizeof(struct salvo_op_setup_state) + sizeof(struct salvo_op_cache) +
		      sizeof(struct salvo_op_close);
	__u32 i;

	if (batch->args_size)
		bytes += sizeof(struct salvo_op_setup_args);
	if (batch->profile)
		bytes += sizeof(struct salvo_op_setup_profile);
	for (i = 0; i < batch->count; i++)
		bytes += command_bytes(&batch->commands[i]);
	return bytes;
}

__u32 salvo_pack_bytes(const struct salvo_batch_desc *batch)
{
	return ALIGN64((__u32)sizeof(struct salvo_packet) + all_command_bytes(batch)) +
	       ALIGN64(batch->args_size);
}

static struct salvo_op op_head(__u16 code, __u16 bytes, __u32 index)
{
	struct salvo_op op = { .code = code, .bytes = bytes, .index = index };

	return op;
}

/* Write one command at @at, and advance @at. */
#define EMIT(at, type, code, number, ...) do { \
	*(struct type *)(at) = (struct type){ \
		.op = op_head((code), sizeof(struct type), (number)), __VA_ARGS__ \
	}; \
	(at) += sizeof(struct type); \
} while (0)

static __u8 *pack_copy_rect(__u8 *at, const struct salvo_batch_desc *batch, __u32 index)
{
	const struct drm_salvo_command *cmd = &batch->commands[index];
	struct drm_salvo_rect rect;

	memcpy(&rect, (const __u8 *)batch->args + cmd->args_offset, sizeof(rect));
	EMIT(at, salvo_op_copy_rect, SALVO_OP_COPY_RECT, index,
	     .dst = cmd->dst, .src = cmd->src,
	     .width = rect.width, .height = rect.height, .depth = rect.depth,
	     .dst_row_pitch = rect.dst_row_pitch, .dst_slice_pitch = rect.dst_slice_pitch,
	     .src_row_pitch = rect.src_row_pitch, .src_slice_pitch = rect.src_slice_pitch);
	return at;
}

static __u8 *pack_command(__u8 *at, const struct salvo_batch_desc *batch, __u32 index)
{
	const struct drm_salvo_command *cmd = &batch->commands[index];

	switch (cmd->type) {
	case DRM_SALVO_DISPATCH:
		EMIT(at, salvo_op_dispatch, SALVO_OP_DISPATCH, index,
		     .entry = cmd->entry, .eu_mask = cmd->eu_mask,
		     .items = { cmd->items[0], cmd->items[1], cmd->items[2] },
		     .group = { cmd->group[0], cmd->group[1], cmd->group[2] },
		     .args_offset = cmd->args_offset, .args_size = cmd->args_size,
		     .local_size = cmd->local_size, .dims = cmd->dims, .flags = cmd->flags);
		break;
	case DRM_SALVO_PIPE_CONTROL:
		EMIT(at, salvo_op_pipe_control, SALVO_OP_PIPE_CONTROL, index,
		     .consumer = cmd->consumer, .producer = cmd->producer, .flags = cmd->flags);
		break;
	case DRM_SALVO_COPY:
		EMIT(at, salvo_op_copy, SALVO_OP_COPY, index,
		     .dst = cmd->dst, .src = cmd->src, .size = cmd->size);
		break;
	case DRM_SALVO_FILL:
		EMIT(at, salvo_op_fill, SALVO_OP_FILL, index,
		     .dst = cmd->dst, .size = cmd->size, .pattern = cmd->pattern);
		break;
	case DRM_SALVO_COPY_RECT:
		return pack_copy_rect(at, batch, index);
	case DRM_SALVO_FILL_PATTERN:
		EMIT(at, salvo_op_fill_pattern, SALVO_OP_FILL_PATTERN, index,
		     .dst = cmd->dst, .size = cmd->size,
		     .args_offset = cmd->args_offset, .args_size = cmd->args_size);
		break;
	default:
		EMIT(at, salvo_op_timestamp, SALVO_OP_TIMESTAMP, index, .dst = cmd->dst);
		break;
	}
	return at;
}

/* The two kinds of packet are distinct: with pipe controls and without (B3). */
static __u32 batch_kind(const struct salvo_batch_desc *batch)
{
	__u32 i;

	for (i = 0; i < batch->count; i++)
		if (batch->commands[i].type == DRM_SALVO_PIPE_CONTROL)
			return SALVO_PACKET_BATCH_SYNC;
	return SALVO_PACKET_BATCH;
}

void salvo_pack_batch(const struct salvo_batch_desc *batch,
		      const struct salvo_packet_target *target, void *packet)
{
	const __u32 commands = all_command_bytes(batch);
	const __u32 heap = ALIGN64((__u32)sizeof(struct salvo_packet) + commands);
	struct salvo_packet head = {
		.magic = SALVO_PACKET_MAGIC,
		.bytes = heap + ALIGN64(batch->args_size),
		.kind = batch_kind(batch),
		.command_count = batch->count,
		.command_bytes = commands,
		.result = target->result,
	};
	__u8 *at = packet;
	__u32 i;

	memcpy(at, &head, sizeof(head));
	at += sizeof(head);

	EMIT(at, salvo_op_setup_state, SALVO_OP_SETUP_STATE, 0,
	     .asid = target->asid, .ctx = target->ctx, .eu_mask = target->eu_mask);
	if (batch->args_size)
		EMIT(at, salvo_op_setup_args, SALVO_OP_SETUP_ARGS, 0,
		     .offset = heap, .bytes = batch->args_size);
	if (batch->profile)
		EMIT(at, salvo_op_setup_profile, SALVO_OP_SETUP_PROFILE, 0,
		     .address = batch->profile);
	EMIT(at, salvo_op_cache, SALVO_OP_CACHE, 0,
	     .flags = SALVO_CACHE_INVALIDATE | SALVO_CACHE_FLUSH);

	for (i = 0; i < batch->count; i++)
		at = pack_command(at, batch, i);
	EMIT(at, salvo_op_close, SALVO_OP_CLOSE, 0, .fence_id = 0);

	memset(at, 0, (__u8 *)packet + heap - at);
	if (batch->args_size) {
		at = (__u8 *)packet + heap;
		memcpy(at, batch->args, batch->args_size);
		memset(at + batch->args_size, 0, ALIGN64(batch->args_size) - batch->args_size);
	}
}

void salvo_pack_commands(const struct salvo_batch_desc *batch, __u32 first, __u32 end,
			 void *packet)
{
	const struct salvo_packet *head = packet;
	__u8 *at = (__u8 *)(head + 1) + head->command_bytes - sizeof(struct salvo_op_close);
	__u32 i;

	/* The number of set-up commands varies, so count back from the closing command. */
	for (i = first; i < batch->count; i++)
		at -= command_bytes(&batch->commands[i]);
	for (i = first; i < end; i++)
		at = pack_command(at, batch, i);
}

void salvo_pack_set_fence(void *packet, __u64 fence_id)
{
	struct salvo_packet *head = packet;
	__u8 *end = (__u8 *)(head + 1) + head->command_bytes;
	struct salvo_op_close *close = (void *)(end - sizeof(*close));

	head->fence_id = fence_id;
	close->fence_id = fence_id;
}

/* The head of a packet with one address space command of @bytes. Returns where that goes. */
static __u8 *begin_space(__u32 bytes, __u64 result, void *packet)
{
	const struct salvo_packet head = {
		.magic = SALVO_PACKET_MAGIC,
		.bytes = SALVO_PACK_SPACE_BYTES,
		.kind = SALVO_PACKET_SPACE,
		.command_count = 1,
		.command_bytes = bytes + sizeof(struct salvo_op_close),
		.result = result,
	};

	memcpy(packet, &head, sizeof(head));
	return (__u8 *)packet + sizeof(head);
}

static void end_space(__u8 *at, void *packet)
{
	EMIT(at, salvo_op_close, SALVO_OP_CLOSE, 0, .fence_id = 0);
	memset(at, 0, (__u8 *)packet + SALVO_PACK_SPACE_BYTES - at);
}

void salvo_pack_space(__u16 code, __u64 address, __u64 size, __u32 access, __u64 result,
		      void *packet)
{
	__u8 *at;

	if (code == SALVO_OP_SPACE_END) {
		at = begin_space(sizeof(struct salvo_op_space_end), result, packet);
		EMIT(at, salvo_op_space_end, code, 0);
	} else {
		at = begin_space(sizeof(struct salvo_op_bind), result, packet);
		EMIT(at, salvo_op_bind, code, 0,
		     .address = address, .size = size, .access = access);
	}
	end_space(at, packet);
}

void salvo_pack_attach(const struct salvo_pack_slot *slot, __u64 result, void *packet)
{
	__u8 *at = begin_space(sizeof(struct salvo_op_attach), result, packet);

	EMIT(at, salvo_op_attach, SALVO_OP_ATTACH, 0,
	     .address = slot->address, .units = slot->units, .slot = slot->number,
	     .ctx = slot->ctx, .priority = slot->priority);
	end_space(at, packet);
}

void salvo_pack_detach(__u32 number, __u64 result, void *packet)
{
	__u8 *at = begin_space(sizeof(struct salvo_op_detach), result, packet);

	EMIT(at, salvo_op_detach, SALVO_OP_DETACH, 0, .slot = number);
	end_space(at, packet);
}

__u32 salvo_pack_system_bytes(__u32 count)
{
	return ALIGN64((__u32)(sizeof(struct salvo_packet) + sizeof(struct salvo_op_close)) +
		       count * (__u32)sizeof(struct salvo_op_bind_system));
}

__u64 salvo_pack_system(__u64 address, const struct salvo_pack_run *runs, __u32 count,
			__u32 access, __u64 result, void *packet)
{
	struct salvo_packet head = {
		.magic = SALVO_PACKET_MAGIC,
		.bytes = salvo_pack_system_bytes(count),
		.kind = SALVO_PACKET_SPACE,
		.command_count = count,
		.command_bytes = count * (__u32)sizeof(struct salvo_op_bind_system) +
				 sizeof(struct salvo_op_close),
		.result = result,
	};
	__u8 *at = packet;
	__u32 i;

	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	for (i = 0; i < count; i++) {
		EMIT(at, salvo_op_bind_system, SALVO_OP_BIND_SYSTEM, 0,
		     .address = address, .size = runs[i].size, .system = runs[i].system,
		     .access = access);
		address += runs[i].size;
	}
	EMIT(at, salvo_op_close, SALVO_OP_CLOSE, 0, .fence_id = 0);
	memset(at, 0, (__u8 *)packet + head.bytes - at);
	return address;
}
