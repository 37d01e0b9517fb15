/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_job.h - a batch in the driver
 */
#ifndef SALVO_JOB_H
#define SALVO_JOB_H

#include <linux/list.h>
#include <linux/types.h>

#include <drm/gpu_scheduler.h>

#include "salvo_hang.h"
#include "salvo_vm.h"

struct salvo_ctx;
struct salvo_hw_fence;
struct salvo_packet_result;

/**
 * struct salvo_job - A batch, from SUBMIT until its fence has signalled.
 *
 * Everything in it is allocated by the ioctl. The ioctl owns it until it is pushed
 * to the scheduler entity; from then on the scheduler does.
 */
struct salvo_job {
	/** @base: Base of drm_sched. */
	struct drm_sched_job base;
	/** @ctx: Context of the batch; holds a reference. */
	struct salvo_ctx *ctx;
	/** @number: Position among the context's batches, starting at 1. */
	u64 number;
	/** @use: Keeps the buffers of the address space bound until the batch is freed. */
	struct salvo_vm_use use;
	/** @waits: Waits for foreign fences; protected by sdev->waits_lock. */
	struct list_head waits;
	/** @fence: Hardware fence. */
	struct salvo_hw_fence *fence;
	/** @commands: Number of commands in the batch. */
	u32 commands;
	/** @packet: DMA packet, followed by its result. */
	void *packet;
	/** @coherent: @packet is coherent DMA memory, not streaming. */
	bool coherent;
	/** @overlaps: It may start before the batch before it in the context is done. */
	bool overlaps;
	/** @packet_address: DMA address of @packet. */
	dma_addr_t packet_address;
	/** @packet_bytes: Length of the packet without the result. */
	u32 packet_bytes;
	/** @alloc_bytes: Size of the memory at @packet. */
	size_t alloc_bytes;
	/** @result: Result that the device writes. */
	struct salvo_packet_result *result;
	/** @ring_number: Position among all batches of the ring; set when it is put there. */
	u64 ring_number;
	/** @samples: Watchdog samples since the batch was put on the ring; ring's lock. */
	u32 samples;
	/** @shared: Samples in a row that did not count, as it shared the units; ring's lock. */
	u32 shared;
	/** @hang: Run time since the batch was put on the ring; protected by the ring's lock. */
	struct salvo_hang hang;
};

static inline struct salvo_job *to_salvo_job(struct drm_sched_job *base)
{
	return container_of(base, struct salvo_job, base);
}

struct salvo_job *salvo_job_create(struct salvo_ctx *ctx);
int salvo_job_alloc_packet(struct salvo_job *job, u32 bytes);
void salvo_job_destroy(struct salvo_job *job);

void salvo_job_begin(struct salvo_job *job);
void salvo_job_end(struct salvo_job *job, int error);
void salvo_job_complete(struct salvo_job *job, int error);
bool salvo_job_is_reported(struct salvo_job *job);
void salvo_job_sync_packet(struct salvo_job *job);
void salvo_job_copy_result(struct salvo_job *job, struct salvo_packet_result *result);
int salvo_job_read_result(struct salvo_job *job);

#endif /* SALVO_JOB_H */
