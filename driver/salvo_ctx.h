/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_ctx.h - contexts
 */
#ifndef SALVO_CTX_H
#define SALVO_CTX_H

#include <linux/kref.h>
#include <linux/mutex.h>

#include <drm/drm.h>
#include <drm/gpu_scheduler.h>

#include "uapi/drm/salvo_drm.h"

/* Maximum number of contexts of a file. */
#define SALVO_MAX_CONTEXTS	4096u

struct drm_device;
struct drm_file;
struct salvo_file;
struct salvo_ring;
struct salvo_vm;

/**
 * struct salvo_ctx - A context: a queue of batches that run in order.
 */
struct salvo_ctx {
	/** @ref: Held by file->ctxs and by each job. */
	struct kref ref;
	/** @vm: Address space; holds a reference. */
	struct salvo_vm *vm;
	/** @hw_id: Hardware context identifier, unique in the device. */
	u32 hw_id;
	/** @ring: Ring of its batches. */
	struct salvo_ring *ring;
	/** @hw_priority: SALVO_PRIORITY_* in its ring entries. */
	s32 hw_priority;
	/** @eu_mask: Execution units that its batches may use; zero means all. */
	u64 eu_mask;
	/** @lock: Held from arming a job to publishing its fence, so that both orders agree. */
	struct mutex lock;
	/** @entity: Entity of drm_sched. */
	struct drm_sched_entity entity;
	/** @banned: A batch hung or faulted; later ones are refused. Set once. */
	bool banned;
	/** @destroyed: No slot may be attached; protected by sdev->space_lock. */
	bool destroyed;
	/** @banned_from: Number of the first batch that it is banned for; 0: a task in a slot. */
	u64 banned_from;
	/** @fault_lock: Protects @banned_from, @fault and @guilty. */
	spinlock_t fault_lock;
	/** @fault: The first fault. */
	struct drm_salvo_fault fault;
	/** @guilty: Number of batches that hung or faulted. */
	u64 guilty;
	/** @innocent: Number of resets, for another context's hang, that ended batches of it. */
	atomic64_t innocent;
	/** @last_reset: Number of the last such reset; owned by the reset. */
	u64 last_reset;
	/** @fence_context: dma_fence context of its hardware fences. */
	u64 fence_context;
	/** @fences: Seqno of its last hardware fence; protected by the ring's lock. */
	u64 fences;
	/** @held: Last scan of the ring that has seen a pending batch of it; ring's lock. */
	u64 held;
	/** @newest: Hardware fence of the last batch put on the ring, or NULL; owned by run_job. */
	struct dma_fence *newest;
	/** @waiting: Entry in its scheduler's list; protected by that one's lock. */
	struct list_head waiting;
	/** @next: Scheduled fence of its next batch, while that waits for its turn; likewise. */
	struct dma_fence *next;
	/** @until: The fence that this batch waits for at the moment, or NULL; likewise. */
	struct dma_fence *until;
	/** @queued: Number of batches submitted that have not ended. */
	atomic_t queued;
	/** @submitted: Number of batches submitted. */
	atomic64_t submitted;
	/** @completed: Number of batches that ended. */
	atomic64_t completed;
	/** @failed: Number of batches that ended with an error. */
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

/* Is a batch the one for which the context is banned, or a later one? */
static inline bool salvo_ctx_bans(const struct salvo_ctx *ctx, u64 number)
{
	/* Pairs with salvo_ctx_ban(): @banned_from was stored before. */
	return smp_load_acquire(&ctx->banned) && number >= READ_ONCE(ctx->banned_from);
}

void salvo_ctx_ban(struct salvo_ctx *ctx, const struct drm_salvo_fault *fault);
void salvo_ctx_count_innocent(struct salvo_ctx *ctx, u64 reset);

struct salvo_ctx *salvo_ctx_find(struct salvo_file *file, u32 id);
void salvo_ctx_put(struct salvo_ctx *ctx);
void salvo_ctx_put_all(struct salvo_file *file);

int salvo_ctx_create_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_ctx_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);
int salvo_ctx_query_ioctl(struct drm_device *drm, void *data, struct drm_file *filp);

#endif /* SALVO_CTX_H */
