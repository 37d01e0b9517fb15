/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * salvo_pack.h - packing of batches into DMA packets
 *
 * Freestanding: the driver, libsalvo and the fuzzers use the same code.
 */
#ifndef SALVO_PACK_H
#define SALVO_PACK_H

#include "salvo_validate.h"

/**
 * struct salvo_packet_target - Fields of a packet that are not part of the batch.
 */
struct salvo_packet_target {
	/** @asid: Address space identifier. */
	__u32 asid;
	/** @ctx: Hardware context. */
	__u32 ctx;
	/** @eu_mask: Execution units of the context; zero means all. */
	__u64 eu_mask;
	/** @result: DMA address of the struct salvo_packet_result. */
	__u64 result;
};

/**
 * salvo_pack_bytes() - Length of the packet of a batch.
 * @batch: The batch.
 *
 * Return: the length in bytes, a multiple of 64.
 */
__u32 salvo_pack_bytes(const struct salvo_batch_desc *batch);

/**
 * salvo_pack_batch() - Pack a batch.
 * @batch: A batch that salvo_validate_batch() accepted.
 * @target: Further fields of the packet.
 * @packet: Memory of salvo_pack_bytes() bytes, aligned to 64.
 *
 * The fence id is zero until salvo_pack_set_fence() is called with the seqno of the
 * ring entry.
 */
void salvo_pack_batch(const struct salvo_batch_desc *batch,
		      const struct salvo_packet_target *target, void *packet);

/**
 * salvo_pack_commands() - Pack some commands of a packed batch again.
 * @batch: The batch that was packed; other fields than the type of these commands may differ.
 * @first: Index of the first command.
 * @end: Index after the last command.
 * @packet: The packet, at least up to its arguments.
 */
void salvo_pack_commands(const struct salvo_batch_desc *batch, __u32 first, __u32 end,
			 void *packet);

/**
 * salvo_pack_set_fence() - Set the fence id of a packet, in its head and its closing command.
 * @packet: A packet of any kind.
 * @fence_id: Seqno of the ring entry.
 */
void salvo_pack_set_fence(void *packet, __u64 fence_id);

/** define SALVO_PACK_SPACE_BYTES - Length of a packet with one address space command. */
#define SALVO_PACK_SPACE_BYTES	128

/**
 * salvo_pack_space() - Pack one BIND, UNBIND or SPACE_END.
 * @code: SALVO_OP_BIND, SALVO_OP_UNBIND or SALVO_OP_SPACE_END.
 * @address: GPU address, page aligned; zero for SPACE_END.
 * @size: Bytes, a multiple of the page size; zero for SPACE_END.
 * @access: SALVO_ACCESS_* for BIND, else zero.
 * @result: DMA address of the struct salvo_packet_result.
 * @packet: SALVO_PACK_SPACE_BYTES bytes, aligned to 64.
 */
void salvo_pack_space(__u16 code, __u64 address, __u64 size, __u32 access,
		      __u64 result, void *packet);

/**
 * struct salvo_pack_slot - A slot to attach units to.
 */
struct salvo_pack_slot {
	/** @number: Number of the slot on the device. */
	__u32 number;
	/** @ctx: Hardware context. */
	__u32 ctx;
	/** @priority: SALVO_PRIORITY_*. */
	__s32 priority;
	/** @units: Execution units. */
	__u64 units;
	/** @address: GPU address of the slot. */
	__u64 address;
};

/**
 * salvo_pack_attach() - Pack one ATTACH.
 * @slot: The slot.
 * @result: DMA address of the struct salvo_packet_result.
 * @packet: SALVO_PACK_SPACE_BYTES bytes, aligned to 64.
 */
void salvo_pack_attach(const struct salvo_pack_slot *slot, __u64 result, void *packet);

/**
 * salvo_pack_detach() - Pack one DETACH.
 * @number: Number of the slot on the device.
 * @result: DMA address of the struct salvo_packet_result.
 * @packet: SALVO_PACK_SPACE_BYTES bytes, aligned to 64.
 */
void salvo_pack_detach(__u32 number, __u64 result, void *packet);

/**
 * struct salvo_pack_run - A contiguous range of system memory.
 */
struct salvo_pack_run {
	/** @system: DMA address of the first byte. */
	__u64 system;
	/** @size: Bytes, a multiple of the page size. */
	__u64 size;
};

/**
 * salvo_pack_system_bytes() - Length of a packet that binds runs of system memory.
 * @count: Number of runs.
 *
 * Return: the length in bytes, a multiple of 64.
 */
__u32 salvo_pack_system_bytes(__u32 count);

/**
 * salvo_pack_system() - Pack BIND_SYSTEM commands for runs at consecutive GPU addresses.
 * @address: GPU address of the first run, page aligned.
 * @runs: The runs.
 * @count: Number of runs, 1 to SALVO_MAX_COMMANDS.
 * @access: SALVO_ACCESS_*, without EXEC.
 * @result: DMA address of the struct salvo_packet_result.
 * @packet: salvo_pack_system_bytes() bytes, aligned to 64.
 *
 * Return: the GPU address past the last run.
 */
__u64 salvo_pack_system(__u64 address, const struct salvo_pack_run *runs, __u32 count,
			__u32 access, __u64 result, void *packet);

#endif /* SALVO_PACK_H */
