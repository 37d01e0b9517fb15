// SPDX-License-Identifier: MIT
/*
 * soft_watchdog.c - end batches on the embedded GPU that run too long
 *
 * Off until someone sets a time limit. Then a thread looks, several times in that time,
 * how long the oldest packet has been in the ring. Fences retire in the order of the ring, so
 * whatever hangs comes to be the oldest, or keeps the units from working for
 * the oldest. The guilty context is that of the oldest packet if a unit works for it, else
 * the one that a unit works for. Its queue is banned, as after a fault, and the GPU kills
 * the context alone; all others go on.
 *
 * lock protects the time limit and the order to stop; it and the device's lock are never
 * held together.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "soft.h"

/* Looks in one time limit, and nanoseconds between the steps of a kill */
#define LOOKS		4
#define STEP_NS		1000000

struct soft_watchdog {
	struct soft_device *dev;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int64_t timeout_ns;
	bool stop;
};

/* Sleep, or until the time limit changes. Return: false when the thread is to end. */
static bool sleep_ns(struct soft_watchdog *dog, int64_t ns)
{
	const int64_t deadline = salvo_deadline_ns(ns);
	const struct timespec ts = { deadline / 1000000000, deadline % 1000000000 };
	bool stop;

	pthread_mutex_lock(&dog->lock);
	if (!dog->stop)
		pthread_cond_timedwait(&dog->cond, &dog->lock, &ts);
	stop = dog->stop;
	pthread_mutex_unlock(&dog->lock);
	return !stop;
}

/* A unit that is at work, if there is one for the context. */
static const struct salvo_unit_regs *busy_unit(const struct soft_device *dev, uint32_t ctx)
{
	const struct salvo_unit_regs *any = NULL;
	unsigned int i;

	for (i = 0; i < dev->regs->units && i < SALVO_MAX_UNITS; i++) {
		const struct salvo_unit_regs *unit = &dev->regs->unit[i];

		if (__atomic_load_n(&unit->state, __ATOMIC_RELAXED) != SALVO_UNIT_BUSY)
			continue;
		if (__atomic_load_n(&unit->ctx, __ATOMIC_RELAXED) == ctx)
			return unit;
		any = unit;
	}
	return any;
}

/* The first packet of a context in the ring. */
static struct soft_job *first_of_locked(const struct soft_device *dev, uint32_t ctx)
{
	uint64_t seqno;

	for (seqno = dev->retired; seqno < dev->seqno; seqno++) {
		struct soft_job *job = dev->slots[seqno % SOFT_RING_ENTRIES];

		if (job->queue && job->queue->ctx == ctx)
			return job;
	}
	return NULL;
}

/* Ban the queue of what hangs. Return: its context, or 0 if nothing does. */
static uint32_t condemn(struct soft_device *dev, int64_t timeout_ns)
{
	const struct salvo_unit_regs *unit = NULL;
	struct soft_job *job = NULL;
	uint32_t ctx = 0;

	pthread_mutex_lock(&dev->lock);
	if (dev->retired < dev->seqno && salvo_now_ns() - dev->head_since > timeout_ns)
		job = dev->slots[dev->retired % SOFT_RING_ENTRIES];
	if (job && job->queue)
		unit = busy_unit(dev, job->queue->ctx);
	job = unit ? first_of_locked(dev, __atomic_load_n(&unit->ctx, __ATOMIC_RELAXED)) : NULL;
	if (job) {
		job->hung = true;
		job->hung_command = __atomic_load_n(&unit->command, __ATOMIC_RELAXED);
		job->hung_group = __atomic_load_n(&unit->group, __ATOMIC_RELAXED);
		job->queue->banned = true;
		ctx = job->queue->ctx;
	}
	pthread_mutex_unlock(&dev->lock);
	return ctx;
}

static void kill_context(struct soft_watchdog *dog, uint32_t ctx)
{
	struct salvo_regs *regs = dog->dev->regs;
	const uint32_t request = regs->kill_request + 1;

	regs->kill_ctx = ctx;
	__atomic_store_n(&regs->kill_request, request, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(dog->dev->gpu, SALVO_DOORBELL_KILL);
	while (__atomic_load_n(&regs->kill_ack, __ATOMIC_ACQUIRE) != request &&
	       sleep_ns(dog, STEP_NS))
		salvo_gpu_heartbeat(dog->dev->gpu);
	pthread_mutex_lock(&dog->dev->lock);
	dog->dev->head_since = salvo_now_ns();
	pthread_mutex_unlock(&dog->dev->lock);
}

static void *watch(void *cookie)
{
	struct soft_watchdog *dog = cookie;
	int64_t timeout;
	uint32_t ctx;

	do {
		pthread_mutex_lock(&dog->lock);
		timeout = dog->timeout_ns;
		pthread_mutex_unlock(&dog->lock);
		ctx = timeout ? condemn(dog->dev, timeout) : 0;
		if (ctx)
			kill_context(dog, ctx);
	} while (sleep_ns(dog, timeout ? timeout / LOOKS + 1 : -1));
	return NULL;
}

static struct soft_watchdog *create(struct soft_device *dev)
{
	struct soft_watchdog *dog = calloc(1, sizeof(*dog));
	pthread_condattr_t attr;
	sigset_t all, old;
	int err;

	if (!dog)
		return NULL;
	dog->dev = dev;
	pthread_mutex_init(&dog->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&dog->cond, &attr);
	pthread_condattr_destroy(&attr);
	/* Signals are for the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&dog->thread, NULL, watch, dog);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return dog;
	pthread_cond_destroy(&dog->cond);
	pthread_mutex_destroy(&dog->lock);
	free(dog);
	return NULL;
}

void salvo_soft_watchdog_destroy(struct soft_watchdog *dog)
{
	if (!dog)
		return;
	pthread_mutex_lock(&dog->lock);
	dog->stop = true;
	pthread_cond_signal(&dog->cond);
	pthread_mutex_unlock(&dog->lock);
	pthread_join(dog->thread, NULL);
	pthread_cond_destroy(&dog->cond);
	pthread_mutex_destroy(&dog->lock);
	free(dog);
}

int salvo_soft_set_timeout(struct salvo_device *device, int64_t timeout_ns)
{
	struct soft_device *dev = to_soft_device(device);
	struct soft_watchdog *dog = NULL;

	pthread_mutex_lock(&device->lock);
	if (!dev->watchdog && timeout_ns) {
		dog = create(dev);
		pthread_mutex_lock(&dev->lock);
		dev->watchdog = dog;
		dev->head_since = salvo_now_ns();
		pthread_mutex_unlock(&dev->lock);
	}
	dog = dev->watchdog;
	pthread_mutex_unlock(&device->lock);
	if (!dog)
		return timeout_ns ? -EAGAIN : 0;
	pthread_mutex_lock(&dog->lock);
	dog->timeout_ns = timeout_ns;
	pthread_cond_signal(&dog->cond);
	pthread_mutex_unlock(&dog->lock);
	return 0;
}
