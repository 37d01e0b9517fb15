// SPDX-License-Identifier: MIT
/*
 * drm_slot.c - slots of the kernel driver's back end
 *
 * A slot has a thread that sleeps in SLOT_WAIT and calls the worker back. It starts when the worker
 * asks to be notified for the first time; while there is no request it sleeps on its condition.
 *
 * The lock of a slot protects the requests to its thread.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "drm_device.h"
#include "queue.h"
#include "salvo_error.h"

struct drm_slot {
	struct salvo_winsys_slot *base;
	struct drm_device *dev;
	uint32_t ctx;
	uint32_t id;
	pthread_t thread;
	/** @lock: Protects all below. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/** @started: There is a thread. */
	bool started;
	/** @asked: The worker is to be notified once more. */
	bool asked;
	/** @stop: The thread is to end. */
	bool stop;
};

static struct drm_slot *to_drm_slot(const struct salvo_winsys_slot *slot)
{
	return slot->private;
}

int salvo_drm_slot_attach(struct salvo_winsys_slot *base)
{
	struct drm_salvo_slot_attach attach = {
		.ctx_id = salvo_drm_queue_context(base->queue),
		.handle = salvo_drm_bo_handle(base->bo),
		.units = base->units,
	};
	struct drm_slot *slot;
	int err;

	/* An older driver does not know the ioctl. */
	if (!to_drm(base->queue->device)->max_slots)
		return -ENOTSUP;
	slot = calloc(1, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	slot->base = base;
	slot->dev = to_drm(base->queue->device);
	err = salvo_drm_call(slot->dev, DRM_IOCTL_SALVO_SLOT_ATTACH, &attach);
	if (err) {
		free(slot);
		return err;
	}
	slot->ctx = attach.ctx_id;
	slot->id = attach.id;
	pthread_mutex_init(&slot->lock, NULL);
	pthread_cond_init(&slot->changed, NULL);
	base->private = slot;
	return 0;
}

/* Returns when the task has ended, or the slot is gone. */
static void wait_for_end(struct drm_slot *slot)
{
	struct drm_salvo_slot_wait wait = { .id = slot->id, .timeout_ns = INT64_MAX };

	salvo_drm_call(slot->dev, DRM_IOCTL_SALVO_SLOT_WAIT, &wait);
}

static void *notify(void *cookie)
{
	struct drm_slot *slot = cookie;

	pthread_mutex_lock(&slot->lock);
	while (!slot->stop) {
		if (!slot->asked) {
			pthread_cond_wait(&slot->changed, &slot->lock);
			continue;
		}
		slot->asked = false;
		pthread_mutex_unlock(&slot->lock);
		wait_for_end(slot);
		slot->base->ended(slot->base->cookie);
		pthread_mutex_lock(&slot->lock);
	}
	pthread_mutex_unlock(&slot->lock);
	return NULL;
}

static bool start_thread(struct drm_slot *slot)
{
	sigset_t all, old;

	/* Signals are for the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	slot->started = !pthread_create(&slot->thread, NULL, notify, slot);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return slot->started;
}

void salvo_drm_slot_notify(struct salvo_winsys_slot *base)
{
	struct drm_slot *slot = to_drm_slot(base);
	bool started;

	pthread_mutex_lock(&slot->lock);
	slot->asked = true;
	started = slot->started || start_thread(slot);
	pthread_cond_signal(&slot->changed);
	pthread_mutex_unlock(&slot->lock);
	if (started)
		return;
	/* Without a thread it blocks. */
	wait_for_end(slot);
	base->ended(base->cookie);
}

void salvo_drm_slot_detach(struct salvo_winsys_slot *base)
{
	struct drm_slot *slot = to_drm_slot(base);
	struct drm_salvo_slot_detach detach = { .id = slot->id };

	pthread_mutex_lock(&slot->lock);
	slot->stop = true;
	pthread_cond_signal(&slot->changed);
	pthread_mutex_unlock(&slot->lock);
	/* It ends a wait of the thread, too. */
	salvo_drm_call(slot->dev, DRM_IOCTL_SALVO_SLOT_DETACH, &detach);
	if (slot->started)
		pthread_join(slot->thread, NULL);
	pthread_cond_destroy(&slot->changed);
	pthread_mutex_destroy(&slot->lock);
	free(slot);
}

void salvo_drm_slot_wake(struct salvo_winsys_slot *base)
{
	struct drm_salvo_slot_wake wake = { .id = to_drm_slot(base)->id };

	salvo_drm_call(to_drm(base->queue->device), DRM_IOCTL_SALVO_SLOT_WAKE, &wake);
}

unsigned int salvo_drm_slot_why(const struct salvo_winsys_slot *base)
{
	struct drm_salvo_ctx_query query = { .id = to_drm_slot(base)->ctx };

	if (salvo_drm_call(to_drm(base->queue->device), DRM_IOCTL_SALVO_CTX_QUERY, &query))
		return SALVO_ERROR_NONE;
	return query.state & DRM_SALVO_CTX_BANNED ? query.fault.kind : SALVO_ERROR_NONE;
}
