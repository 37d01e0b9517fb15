/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_sched.h - a batch on its way
 */
#ifndef SALVO_SCHED_H
#define SALVO_SCHED_H

#include <linux/kref.h>

#include <drm/gpu_scheduler.h>

#include "salvo_hang.h"
#include "salvo_vm.h"

struct salvo_ctx;
struct salvo_dev;
struct salvo_hw_fence;
struct salvo_packet_result;

/**
 * struct salvo_sched - The scheduler of a ring.
 *
 * Its fences name it as their timeline for as long as a user keeps them, so it
 * may outlive the device.
 */
struct salvo_sched {
	/** @base: Of drm_sched. */
	struct drm_gpu_scheduler base;
	/** @ref: Of the ring and of each hardware fence. */
	struct kref ref;
	/** @name: Of its thread, and of the ring's timeline. */
	char name[16];
};

static inline struct salvo_sched *salvo_sched_get(struct salvo_sched *sched)
{
	kref_get(&sched->ref);
	return sched;
}

/**
 * struct salvo_job - One batch from SUBMIT until its fence has signalled.
 *
 * All of it is allocated in the ioctl. It belongs to the ioctl until it is
 * pushed, then to the scheduler.
 */
struct salvo_job {
	/** @base: Of the scheduler. */
	struct drm_sched_job base;
	/** @ctx: Its context; a reference. */
	struct salvo_ctx *ctx;
	/** @number: Counts the context's batches from 1. */
	u64 number;
	/** @use: Keeps what the batch may access. */
	struct salvo_vm_use use;
	/** @fence: Hardware fence. */
	struct salvo_hw_fence *fence;
	/** @commands: Of the batch. */
	u32 commands;
	/** @packet: DMA packet, then its result, in coherent memory. */
	void *packet;
	/** @packet_address: System address of @packet. */
	dma_addr_t packet_address;
	/** @packet_bytes: Length of the packet without the result. */
	u32 packet_bytes;
	/** @result: What the device says about the batch. */
	struct salvo_packet_result *result;
	/** @hang: How long it has run, from when it is on the ring; ring's lock. */
	struct salvo_hang hang;
};

static inline struct salvo_job *to_salvo_job(struct drm_sched_job *base)
{
	return container_of(base, struct salvo_job, base);
}

struct salvo_job *salvo_job_create(struct salvo_ctx *ctx);
int salvo_job_alloc_packet(struct salvo_job *job, u32 bytes);
void salvo_job_destroy(struct salvo_job *job);
void salvo_job_complete(struct salvo_job *job, int error);
void salvo_job_count_begin(struct salvo_job *job);
int salvo_job_result(struct salvo_job *job);

int salvo_sched_init_all(struct salvo_dev *sdev);
void salvo_sched_fini_all(struct salvo_dev *sdev);
void salvo_sched_stop_all(struct salvo_dev *sdev);
void salvo_sched_start_all(struct salvo_dev *sdev);
void salvo_sched_park_all(struct salvo_dev *sdev);
void salvo_sched_unpark_all(struct salvo_dev *sdev);
bool salvo_sched_is_ours(struct salvo_dev *sdev, const struct drm_gpu_scheduler *base);
void salvo_sched_put(struct salvo_sched *sched);

#endif /* SALVO_SCHED_H */
