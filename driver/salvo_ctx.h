/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_ctx.h - contexts: queues of batches
 */
#ifndef SALVO_CTX_H
#define SALVO_CTX_H

#include <linux/kref.h>
#include <linux/mutex.h>

#include <drm/drm.h>
#include <drm/gpu_scheduler.h>

#include "uapi/drm/salvo_drm.h"

/* Ids that one file may have. */
#define SALVO_MAX_CONTEXTS	4096u

struct drm_device;
struct drm_file;
struct salvo_file;
struct salvo_ring;
struct salvo_vm;

/**
 * struct salvo_ctx - A queue of batches.
 */
struct salvo_ctx {
	/** @ref: Of the file's table and of each job. */
	struct kref ref;
	/** @vm: Address space; a reference. */
	struct salvo_vm *vm;
	/** @hw_id: Number on the ring, unique in the device. */
	u32 hw_id;
	/** @ring: That its batches come by. */
	struct salvo_ring *ring;
	/** @hw_priority: SALVO_PRIORITY_* on the ring. */
	s32 hw_priority;
	/** @eu_mask: Execution units its batches may use; zero means all. */
	u64 eu_mask;
	/** @lock: Batches are armed and pushed under it, so that their order is one. */
	struct mutex lock;
	/** @entity: Of the scheduler. */
	struct drm_sched_entity entity;
	/** @banned: A batch of it hung or faulted; set once. */
	bool banned;
	/** @fault_lock: Protects @fault and @guilty. */
	spinlock_t fault_lock;
	/** @fault: The first one. */
	struct drm_salvo_fault fault;
	/** @guilty: Batches that hung or faulted. */
	u64 guilty;
	/** @innocent: Resets for another's hang while a batch of it was on the ring. */
	atomic64_t innocent;
	/** @last_reset: The newest of them; of who resets only. */
	u64 last_reset;
	/** @newest: Hardware fence of the last batch put on the ring, or NULL; of the scheduler. */
	struct dma_fence *newest;
	/** @queued: Batches accepted that have not ended. */
	atomic_t queued;
	/** @submitted: Batches accepted. */
	atomic64_t submitted;
	/** @completed: Batches that ended. */
	atomic64_t completed;
	/** @failed: Batches that ended with an error. */
	atomic64_t failed;
};

static inline struct salvo_ctx *salvo_ctx_get(struct salvo_ctx *ctx)
{
	kref_get(&ctx->ref);
	return ctx;
}

static inline bool salvo_ctx_is_banned(const struct salvo_ctx *ctx)
{
	return READ_ONCE(ctx->banned);
}

void salvo_ctx_ban(struct salvo_ctx *ctx, const struct drm_salvo_fault *fault);
void salvo_ctx_note_reset(struct salvo_ctx *ctx, u64 reset);

struct salvo_ctx *salvo_ctx_find(struct salvo_file *file, u32 id);
void salvo_ctx_put(struct salvo_ctx *ctx);
void salvo_ctx_put_all(struct salvo_file *file);

int salvo_ctx_create_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_ctx_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_ctx_query_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);

#endif /* SALVO_CTX_H */
