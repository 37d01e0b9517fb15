/* SPDX-License-Identifier: MIT */
/*
 * gpu.h - one GPU: the parts and what joins them
 */
#ifndef SALVO_GPU_PRIVATE_H
#define SALVO_GPU_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "aspace.h"
#include "prio_table.h"
#include "dma.h"
#include "eu.h"
#include "fault.h"
#include "job.h"
#include "queues.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"

/**
 * struct salvo_gpu_ring - What the device knows of a ring.
 */
struct salvo_gpu_ring {
	/** @live: Enabled by the driver, and its registers made sense. */
	bool live;
	/** @halted: It made no sense; it stays so until a reset. */
	bool halted;
	uint64_t base;
	uint32_t entries;
	/** @head: Entries consumed. */
	uint64_t head;
	/** @seqno: Of the last entry; 0 before the first. */
	uint64_t seqno;
};

struct salvo_gpu {
	struct salvo_gpu_config config;
	/** @doorbell_seq: Word that is counted up with every doorbell; NULL if doorbells are calls. */
	_Atomic uint32_t *_Atomic doorbell_seq;
	/** @doorbell_seen: What it was when it was last heard. */
	_Atomic uint32_t doorbell_seen;
	/** @prio_slot: In the process of an address space. */
	struct salvo_prio_slot prio_slot;
	/** @spaces: Of @config.isolation, or NULL. */
	struct salvo_spaces *spaces;
	struct salvo_regs *regs;
	struct salvo_dma dma;
	struct salvo_faults faults;
	struct salvo_queues queues;
	struct salvo_eus eus;
	struct salvo_gpu_jobs jobs;

	/** @rung: Bits of rings whose doorbell was rung. */
	_Atomic uint32_t rung;
	/** @fence_irqs, @fault_irqs: Interrupts to raise when no lock is held. */
	_Atomic uint32_t fence_irqs;
	_Atomic uint32_t fault_irqs;

	/** @recording: Where the units write what they run, or NULL. */
	struct salvo_gpu_recording *_Atomic recording;

	/** @cp_lock: Protects the command processor: rings and address spaces. */
	pthread_mutex_t cp_lock;
	struct salvo_gpu_ring ring[SALVO_MAX_RINGS];
	struct salvo_aspaces aspaces;
	/** @kill_tail: Tails of the rings when the kill under way was asked for. */
	uint64_t kill_tail[SALVO_MAX_RINGS];
	/** @kill_request: The kill under way or the last one. */
	uint32_t kill_request;
	/** @was_reset: The driver has made the reset handshake. */
	bool was_reset;
};

/**
 * salvo_gpu_raise() - Raise the interrupts that are due. The caller holds no lock.
 */
void salvo_gpu_raise(struct salvo_gpu *gpu);

/**
 * salvo_gpu_beat() - Move the heartbeat. Who waits on behalf of the driver does it too.
 */
void salvo_gpu_beat(struct salvo_gpu *gpu);

/**
 * salvo_gpu_run_rings() - Read new entries of the rings in @mask, unless another thread does.
 */
void salvo_gpu_run_rings(struct salvo_gpu *gpu, uint32_t mask);

/**
 * struct salvo_inside - What a GPU in the process of an address space gets from who made it.
 */
struct salvo_inside {
	const struct salvo_topology *topology;
	/** @parking: Where to show which units look at the bell, and which sleep. */
	struct salvo_parking *parking;
	/** @prio_slot: Where they show what they run. */
	struct salvo_prio_slot prio_slot;
	/** @asid: The address space, with @count @ranges that are mapped. */
	uint32_t asid;
	uint32_t count;
	const struct salvo_space_range *ranges;
};

/**
 * salvo_gpu_create_inside() - As salvo_gpu_create(), in the process of an address space.
 * @config: @va_base says where all is mapped already.
 * @inside: Not needed any more afterwards.
 *
 * The rings are as the registers say, without a handshake. Returns when the units are
 * ready and need no more from the operating system than to wait and to wake. Nothing
 * runs before salvo_gpu_enable_doorbell().
 */
int salvo_gpu_create_inside(const struct salvo_gpu_config *config,
			    const struct salvo_inside *inside, struct salvo_gpu **out);

/**
 * salvo_gpu_enable_doorbell() - From now on doorbells come as a word that is counted up.
 */
void salvo_gpu_enable_doorbell(struct salvo_gpu *gpu, _Atomic uint32_t *seq);

/**
 * salvo_gpu_poll_doorbell() - Do what the bell asks for, if it was rung. Returns whether it was.
 */
bool salvo_gpu_poll_doorbell(struct salvo_gpu *gpu);

#endif /* SALVO_GPU_PRIVATE_H */
