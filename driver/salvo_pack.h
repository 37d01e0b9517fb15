/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * salvo_pack.h - validated commands to one DMA packet
 *
 * Freestanding: the driver, libsalvo and the fuzzers use the same code.
 */
#ifndef SALVO_PACK_H
#define SALVO_PACK_H

#include "salvo_validate.h"

/**
 * struct salvo_packet_target - What a packet carries beside its batch.
 */
struct salvo_packet_target {
	/** @asid: Address space. */
	__u32 asid;
	/** @ctx: Context. */
	__u32 ctx;
	/** @eu_mask: Units of the context; zero means all. */
	__u64 eu_mask;
	/** @result: System address of the struct salvo_packet_result. */
	__u64 result;
};

/**
 * salvo_pack_bytes() - Length of the packet of a batch.
 * @batch: The batch.
 *
 * Return: Bytes, a multiple of 64.
 */
__u32 salvo_pack_bytes(const struct salvo_batch_desc *batch);

/**
 * salvo_pack_batch() - Write the packet of a batch.
 * @batch: A batch that salvo_validate_batch() accepted.
 * @target: Where it goes.
 * @packet: salvo_pack_bytes() bytes, aligned to 64.
 *
 * The fence id is left zero: salvo_pack_set_fence() sets it when the packet's
 * place in the ring is known.
 */
void salvo_pack_batch(const struct salvo_batch_desc *batch,
		      const struct salvo_packet_target *target, void *packet);

/**
 * salvo_pack_commands() - Write some commands of a packet again.
 * @batch: What salvo_pack_batch() was given, but for fields of these commands; not their types.
 * @first: The first of them.
 * @end: The one after the last.
 * @packet: The packet, at least up to its arguments.
 */
void salvo_pack_commands(const struct salvo_batch_desc *batch, __u32 first, __u32 end,
			 void *packet);

/**
 * salvo_pack_set_fence() - Give a packet its fence id, in its head and its closing command.
 * @packet: What salvo_pack_batch() wrote.
 * @fence_id: Seqno of its ring entry.
 */
void salvo_pack_set_fence(void *packet, __u64 fence_id);

/** define SALVO_PACK_SPACE_BYTES - Length of a packet with one address space command. */
#define SALVO_PACK_SPACE_BYTES	128

/**
 * salvo_pack_space() - Write a packet with one BIND, UNBIND or SPACE_END.
 * @code: SALVO_OP_BIND, SALVO_OP_UNBIND or SALVO_OP_SPACE_END.
 * @address: GPU address, page aligned; zero for SPACE_END.
 * @size: Bytes, whole pages; zero for SPACE_END.
 * @access: SALVO_ACCESS_* for BIND, else zero.
 * @result: System address of the struct salvo_packet_result.
 * @packet: SALVO_PACK_SPACE_BYTES bytes, aligned to 64.
 */
void salvo_pack_space(__u16 code, __u64 address, __u64 size, __u32 access,
		      __u64 result, void *packet);

/**
 * struct salvo_pack_run - Pages of system memory that follow each other.
 */
struct salvo_pack_run {
	/** @system: System address of the first byte. */
	__u64 system;
	/** @size: Bytes, whole pages. */
	__u64 size;
};

/**
 * salvo_pack_system_bytes() - Length of a packet that shows runs of system memory.
 * @count: Number of runs.
 *
 * Return: bytes, a multiple of 64.
 */
__u32 salvo_pack_system_bytes(__u32 count);

/**
 * salvo_pack_system() - Write a packet that shows runs of system memory back to back.
 * @address: GPU address of the first run, page aligned.
 * @runs: @count runs.
 * @count: 1 to SALVO_MAX_COMMANDS.
 * @access: SALVO_ACCESS_*, without EXEC.
 * @result: System address of the struct salvo_packet_result.
 * @packet: salvo_pack_system_bytes() bytes, aligned to 64.
 *
 * Return: the GPU address past the last run.
 */
__u64 salvo_pack_system(__u64 address, const struct salvo_pack_run *runs, __u32 count,
			__u32 access, __u64 result, void *packet);

#endif /* SALVO_PACK_H */
