/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_sched.h - the scheduler of a ring
 */
#ifndef SALVO_SCHED_H
#define SALVO_SCHED_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include <drm/gpu_scheduler.h>

struct salvo_ctx;
struct salvo_dev;

/**
 * struct salvo_sched - The scheduler of a ring.
 *
 * Fences of drm_sched take their timeline's name from it, and userspace can hold
 * such a fence for longer than the device exists. Hence the reference count.
 */
struct salvo_sched {
	/** @base: Base of drm_sched. */
	struct drm_gpu_scheduler base;
	/** @ref: Held by the ring and by each hardware fence. */
	struct kref ref;
	/** @name: Name of its thread and of the fences' timeline. */
	char name[16];
	/** @lock: Protects @waiting and @turns. */
	spinlock_t lock;
	/** @waiting: Contexts that wait for their turn, since the longest first. */
	struct list_head waiting;
	/** @turns: Of each priority the one of them that others wait for, or NULL. */
	struct salvo_ctx *turns[DRM_SCHED_PRIORITY_COUNT];
};

static inline struct salvo_sched *salvo_sched_get(struct salvo_sched *sched)
{
	kref_get(&sched->ref);
	return sched;
}

int salvo_sched_init_all(struct salvo_dev *sdev);
void salvo_sched_fini_all(struct salvo_dev *sdev);
void salvo_sched_stop_all(struct salvo_dev *sdev);
void salvo_sched_start_all(struct salvo_dev *sdev);
void salvo_sched_forget_ctx(struct salvo_ctx *ctx);
bool salvo_sched_is_ours(struct salvo_dev *sdev, const struct drm_gpu_scheduler *base);
void salvo_sched_put(struct salvo_sched *sched);

#endif /* SALVO_SCHED_H */
