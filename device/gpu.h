/* SPDX-License-Identifier: MIT */
/*
 * gpu.h - one GPU: its parts, and what connects them
 *
 * A part knows those below it only: queue <- exec <- job <- {cp, eu} <- gpu <- space.
 */
#ifndef SALVO_GPU_PRIVATE_H
#define SALVO_GPU_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "aspace.h"
#include "cp.h"
#include "dma.h"
#include "eu.h"
#include "fault.h"
#include "irq.h"
#include "jobs.h"
#include "leaf.h"
#include "prio_table.h"
#include "queues.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"

/**
 * struct salvo_gpu_ring - The device's state of a ring.
 */
struct salvo_gpu_ring {
	/** @live: Enabled by the driver, with valid registers. */
	bool live;
	/** @halted: Its registers or entries were invalid: ignored until a reset. */
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
	/** @doorbell_seq: Word that each doorbell increments; NULL if doorbells are calls. */
	_Atomic uint32_t *_Atomic doorbell_seq;
	/** @doorbell_seen: Its value when doorbells were handled last. */
	_Atomic uint32_t doorbell_seen;
	/** @prio_slot: In the process of an address space, else zero. */
	struct salvo_prio_slot prio_slot;
	/** @spaces: Of @config.isolation, or NULL. */
	struct salvo_spaces *spaces;
	struct salvo_regs *regs;
	struct salvo_dma dma;
	struct salvo_faults faults;
	struct salvo_irqs irqs;
	struct salvo_queues queues;
	struct salvo_eus eus;
	struct salvo_gpu_jobs jobs;
	struct salvo_leaf_slots slots;

	/** @rung: Mask of rings whose doorbell was rung. */
	_Atomic uint32_t rung;

	/** @cp_lock: Protects all below, and the parsing of packets. */
	pthread_mutex_t cp_lock;
	struct salvo_cp cp;
	struct salvo_gpu_ring ring[SALVO_MAX_RINGS];
	struct salvo_aspaces aspaces;
	/** @kill_tail: Tails of the rings when the current kill was requested. */
	uint64_t kill_tail[SALVO_MAX_RINGS];
	/** @kill_request: The current kill, or the last one. */
	uint32_t kill_request;
	/** @was_reset: The driver has made the reset handshake. */
	bool was_reset;
};

/**
 * salvo_gpu_beat() - Increment the heartbeat, while a thread waits on behalf of the driver.
 */
void salvo_gpu_beat(struct salvo_gpu *gpu);

/**
 * salvo_gpu_run_rings() - Read new entries of the rings in @mask.
 *
 * Never waits: if another thread does it already, that one sees the new entries too.
 */
void salvo_gpu_run_rings(struct salvo_gpu *gpu, uint32_t mask);

/**
 * struct salvo_inside - What a GPU in the process of an address space gets from its creator.
 */
struct salvo_inside {
	const struct salvo_topology *topology;
	/** @parking: Shared with the device, which wakes units for new packets. */
	struct salvo_parking *parking;
	/** @prio_slot: Where units publish the priority that they run. */
	struct salvo_prio_slot prio_slot;
	/** @asid: The address space, with @count @ranges that are mapped. */
	uint32_t asid;
	uint32_t count;
	const struct salvo_space_range *ranges;
};

/**
 * salvo_gpu_create_inside() - As salvo_gpu_create(), in the process of an address space.
 * @config: @va_base says where everything is mapped already.
 * @inside: May be freed afterwards.
 *
 * The rings are as the registers say, without a handshake. Returns when the units have
 * started and need only the system calls to wait and to wake. Nothing
 * runs before salvo_gpu_enable_doorbell().
 */
int salvo_gpu_create_inside(const struct salvo_gpu_config *config,
			    const struct salvo_inside *inside, struct salvo_gpu **out);

/**
 * salvo_gpu_enable_doorbell() - From now on doorbells come as increments of a word.
 */
void salvo_gpu_enable_doorbell(struct salvo_gpu *gpu, _Atomic uint32_t *seq);

/**
 * salvo_gpu_poll_doorbell() - Handle doorbells that have come since the last call.
 *
 * Return: whether one had.
 */
bool salvo_gpu_poll_doorbell(struct salvo_gpu *gpu);

#endif /* SALVO_GPU_PRIVATE_H */
