// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_decode.c - packets and faults as text
 *
 * Prints one line for each command of a packet, in the order and with the indices of the
 * batch (B7 of CN105940388). The packet was in memory that the device can write, so
 * it is untrusted: the first malformed command ends the list. Keeps no state and takes
 * no lock.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include <drm/drm_print.h>

#include "salvo_decode.h"
#include "salvo_hw.h"

static const char *salvo_decode_name(const char * const *names, size_t count, u32 index)
{
	return index < count && names[index] ? names[index] : "unknown";
}

/** salvo_decode_fault() - The name of a SALVO_FAULT_*. */
const char *salvo_decode_fault(u32 kind)
{
	static const char * const names[] = {
		[SALVO_FAULT_NONE] = "none",
		[SALVO_FAULT_RING] = "ring",
		[SALVO_FAULT_DMA] = "system address",
		[SALVO_FAULT_PACKET] = "packet",
		[SALVO_FAULT_PAGE] = "page",
		[SALVO_FAULT_KERNEL] = "kernel",
		[SALVO_FAULT_STACK] = "stack",
		[SALVO_FAULT_LOCAL] = "local memory",
		[SALVO_FAULT_ARITHMETIC] = "arithmetic",
		[SALVO_FAULT_INSTRUCTION] = "instruction",
		[SALVO_FAULT_BARRIER] = "barrier",
		[SALVO_FAULT_SYSCALL] = "system call",
	};

	return salvo_decode_name(names, ARRAY_SIZE(names), kind);
}

/** salvo_decode_access() - The name of a combination of SALVO_ACCESS_*. */
const char *salvo_decode_access(u32 access)
{
	static const char * const names[] = {
		[0] = "access",
		[SALVO_ACCESS_READ] = "read",
		[SALVO_ACCESS_WRITE] = "write",
		[SALVO_ACCESS_READ | SALVO_ACCESS_WRITE] = "read and write",
		[SALVO_ACCESS_EXEC] = "execution",
	};

	return salvo_decode_name(names, ARRAY_SIZE(names), access);
}

/** salvo_decode_status() - The name of a SALVO_STATUS_*. */
const char *salvo_decode_status(u32 status)
{
	static const char * const names[] = {
		[SALVO_STATUS_PENDING] = "pending",
		[SALVO_STATUS_DONE] = "done",
		[SALVO_STATUS_BAD_PACKET] = "bad packet",
		[SALVO_STATUS_FAULT] = "fault",
		[SALVO_STATUS_KILLED] = "killed",
	};

	return salvo_decode_name(names, ARRAY_SIZE(names), status);
}

static void salvo_decode_dispatch(struct drm_printer *p, const struct salvo_op_dispatch *op)
{
	drm_printf(p, "dispatch entry %#llx items %u,%u,%u group %u,%u,%u dims %u args %u+%u",
		   op->entry, op->items[0], op->items[1], op->items[2], op->group[0],
		   op->group[1], op->group[2], op->dims, op->args_offset, op->args_size);
	drm_printf(p, " local %u units %#llx%s%s\n", op->local_size, op->eu_mask,
		   op->flags & SALVO_DISPATCH_BARRIERS ? " barriers" : "",
		   op->flags & SALVO_DISPATCH_CONTENDS ? " contends" : "");
}

static void salvo_decode_pipe_control(struct drm_printer *p,
				      const struct salvo_op_pipe_control *op)
{
	if (op->flags & SALVO_PIPE_CONTROL_ALL)
		drm_puts(p, "pipe_control all\n");
	else if (op->flags & SALVO_PIPE_CONTROL_PREVIOUS)
		drm_printf(p, "pipe_control %u %u of the batch before\n", op->consumer,
			   op->producer);
	else
		drm_printf(p, "pipe_control %u %u\n", op->consumer, op->producer);
}

static void salvo_decode_copy_rect(struct drm_printer *p, const struct salvo_op_copy_rect *op)
{
	drm_printf(p, "copy_rect %#llx %#llx %llu rows %llu slices %llu", op->dst, op->src,
		   op->width, op->height, op->depth);
	drm_printf(p, " to_pitch %llu %llu from_pitch %llu %llu\n", op->dst_row_pitch,
		   op->dst_slice_pitch, op->src_row_pitch, op->src_slice_pitch);
}

static void salvo_decode_op(struct drm_printer *p, const void *op)
{
	const struct salvo_op *head = op;
	const struct salvo_op_setup_state *state = op;
	const struct salvo_op_setup_args *args = op;
	const struct salvo_op_setup_profile *profile = op;
	const struct salvo_op_copy *copy = op;
	const struct salvo_op_fill *fill = op;
	const struct salvo_op_fill_pattern *pattern = op;
	const struct salvo_op_timestamp *timestamp = op;
	const struct salvo_op_cache *cache = op;
	const struct salvo_op_close *close = op;

	switch (head->code) {
	case SALVO_OP_SETUP_STATE:
		drm_printf(p, "  setup state space %u context %u units %#llx\n", state->asid,
			   state->ctx, state->eu_mask);
		break;
	case SALVO_OP_SETUP_ARGS:
		drm_printf(p, "  setup args at %u bytes %u\n", args->offset, args->bytes);
		break;
	case SALVO_OP_SETUP_PROFILE:
		drm_printf(p, "  setup profile %#llx\n", profile->address);
		break;
	case SALVO_OP_CACHE:
		drm_printf(p, "  setup cache%s%s\n",
			   cache->flags & SALVO_CACHE_INVALIDATE ? " invalidate" : "",
			   cache->flags & SALVO_CACHE_FLUSH ? " flush" : "");
		break;
	case SALVO_OP_CLOSE:
		drm_printf(p, "  close fence %llu\n", close->fence_id);
		break;
	default:
		drm_printf(p, "  %u: ", head->index);
		break;
	}
	switch (head->code) {
	case SALVO_OP_DISPATCH:
		salvo_decode_dispatch(p, op);
		break;
	case SALVO_OP_PIPE_CONTROL:
		salvo_decode_pipe_control(p, op);
		break;
	case SALVO_OP_COPY:
		drm_printf(p, "copy %#llx %#llx %llu\n", copy->dst, copy->src, copy->size);
		break;
	case SALVO_OP_FILL:
		drm_printf(p, "fill %#llx %llu %#x\n", fill->dst, fill->size, fill->pattern);
		break;
	case SALVO_OP_COPY_RECT:
		salvo_decode_copy_rect(p, op);
		break;
	case SALVO_OP_FILL_PATTERN:
		drm_printf(p, "fill_pattern %#llx %llu args %u bytes %u\n", pattern->dst,
			   pattern->size, pattern->args_offset, pattern->args_size);
		break;
	case SALVO_OP_TIMESTAMP:
		drm_printf(p, "timestamp %#llx\n", timestamp->dst);
		break;
	}
}

/* The length of a command, or 0 if the code is not one of a batch. */
static size_t salvo_decode_op_bytes(u16 code)
{
	switch (code) {
	case SALVO_OP_SETUP_STATE:
		return sizeof(struct salvo_op_setup_state);
	case SALVO_OP_SETUP_ARGS:
		return sizeof(struct salvo_op_setup_args);
	case SALVO_OP_SETUP_PROFILE:
		return sizeof(struct salvo_op_setup_profile);
	case SALVO_OP_CACHE:
		return sizeof(struct salvo_op_cache);
	case SALVO_OP_DISPATCH:
		return sizeof(struct salvo_op_dispatch);
	case SALVO_OP_PIPE_CONTROL:
		return sizeof(struct salvo_op_pipe_control);
	case SALVO_OP_COPY:
		return sizeof(struct salvo_op_copy);
	case SALVO_OP_FILL:
		return sizeof(struct salvo_op_fill);
	case SALVO_OP_COPY_RECT:
		return sizeof(struct salvo_op_copy_rect);
	case SALVO_OP_FILL_PATTERN:
		return sizeof(struct salvo_op_fill_pattern);
	case SALVO_OP_TIMESTAMP:
		return sizeof(struct salvo_op_timestamp);
	case SALVO_OP_CLOSE:
		return sizeof(struct salvo_op_close);
	default:
		return 0;
	}
}

/**
 * salvo_decode_packet() - Print the commands of a packet, one a line.
 * @p: Printer.
 * @packet: A private copy of the packet, or of its beginning.
 * @bytes: Size of the copy.
 */
void salvo_decode_packet(struct drm_printer *p, const void *packet, size_t bytes)
{
	const struct salvo_packet *head = packet;
	const u8 *at = packet, *end;

	if (bytes < sizeof(*head) || head->magic != SALVO_PACKET_MAGIC) {
		drm_puts(p, "packet: none\n");
		return;
	}
	drm_printf(p, "packet: kind %s fence %llu bytes %u commands %u\n",
		   head->kind == SALVO_PACKET_BATCH ? "batch" :
		   head->kind == SALVO_PACKET_BATCH_SYNC ? "batch-sync" : "unknown",
		   head->fence_id, head->bytes, head->command_count);
	end = at + sizeof(*head) + min_t(size_t, head->command_bytes, bytes - sizeof(*head));
	for (at += sizeof(*head); at < end; ) {
		const struct salvo_op *op = (const void *)at;
		size_t left = end - at;

		if (left < sizeof(*op) || !salvo_decode_op_bytes(op->code) ||
		    op->bytes != salvo_decode_op_bytes(op->code) || op->bytes > left) {
			drm_printf(p, "  malformed command at byte %zu\n", at - (const u8 *)packet);
			return;
		}
		salvo_decode_op(p, op);
		at += op->bytes;
	}
}
