/* SPDX-License-Identifier: MIT */
/*
 * space_block.h - the memory that the device shares with the process of one address space
 *
 * To the process it is its system memory and the registers of its GPU. The
 * device acts as the driver: it writes packets and ring entries, rings the doorbell, and reads
 * fences and results. The process can write all of it, so the device trusts nothing
 * that it reads here.
 */
#ifndef SALVO_SPACE_BLOCK_H
#define SALVO_SPACE_BLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include "jobs.h"
#include "parking.h"
#include "salvo_hw.h"

/* As many as a ring may have jobs, so it is never full. */
#define SALVO_BLOCK_ENTRIES	SALVO_RING_JOBS
/* Bytes for the packets of one ring, each of which is contiguous */
#define SALVO_BLOCK_PACKETS	(4u << 20)

/**
 * struct salvo_block_slot - A slot that the process serves from its start.
 */
struct salvo_block_slot {
	/** @ctx: Its context; 0 if there is no slot of this number. */
	uint32_t ctx;
	int32_t priority;
	uint64_t units;
	uint64_t address;
	/** @running: Number of the leaf that runs, or 0; written by the process. */
	_Atomic uint32_t running;
} __attribute__((aligned(64)));

/**
 * struct salvo_space_block - The memory; offsets are the process's system addresses.
 */
struct salvo_space_block {
	/** @regs: Of the process's GPU. */
	struct salvo_regs regs __attribute__((aligned(4096)));
	/** @doorbell_seq: Futex: incremented after every new tail or request to kill. */
	_Atomic uint32_t doorbell_seq __attribute__((aligned(4096)));
	/** @prio_slot: Of the process; written before it is forked, as is @asid. */
	uint32_t prio_slot;
	/** @asid: The address space. */
	uint32_t asid;
	/** @parking: Which units of the process poll @doorbell_seq, and which sleep. */
	struct salvo_parking parking;
	/** @completion_seq: Futex: the process increments it after a fence has moved. */
	_Atomic uint32_t completion_seq __attribute__((aligned(64)));
	/** @wants_wake: The device sleeps on @completion_seq instead of polling it. */
	_Atomic uint32_t wants_wake;
	/** @draining: Not 0: no leaf may begin, as the process will be replaced. */
	_Atomic uint32_t draining;
	/** @slot_events: Set by the process: a leaf has ended whose worker is to be notified. */
	_Atomic uint32_t slot_events;
	/** @leaf_ns: Time that units spent in leaves. */
	__u64 leaf_ns;
	/** @slots: By number; but for @running written before the process is forked. */
	struct salvo_block_slot slots[SALVO_MAX_SLOTS];
	/** @entries: The rings. */
	struct salvo_ring_entry entries[SALVO_MAX_RINGS][SALVO_BLOCK_ENTRIES]
		__attribute__((aligned(4096)));
	/** @results: How packets ended, by ring slot. */
	struct salvo_packet_result results[SALVO_MAX_RINGS][SALVO_BLOCK_ENTRIES];
	/** @packets: A ring buffer for each ring. */
	uint8_t packets[SALVO_MAX_RINGS][SALVO_BLOCK_PACKETS] __attribute__((aligned(4096)));
};

#endif /* SALVO_SPACE_BLOCK_H */
