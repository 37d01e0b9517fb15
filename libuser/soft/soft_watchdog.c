// SPDX-License-Identifier: MIT
/*
 * soft_watchdog.c - kill batches on the embedded GPU that exceed the time limit
 *
 * Off until a time limit is set. Then a thread samples the state of the units several times per
 * limit, and the code that the driver uses (driver/salvo_hang.c) counts the samples for which each
 * batch in a ring has run. A batch on which no unit works is not counted: on a loaded machine its
 * units may not have been scheduled. The guilty queue is banned, as after a fault, and the
 * GPU kills only the batch and later ones of its context.
 *
 * lock protects the time limit and the stop flag; it and the device's lock are never held
 * together.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "deadline.h"
#include "soft_device.h"

/* Samples in one time limit, and nanoseconds between polls for the end of a kill */
#define SAMPLES		4
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

/* Sample the units, each word read once. Return: their number. */
static uint32_t read_units(const struct soft_device *dev, struct salvo_unit_regs *units)
{
	const uint32_t count = dev->regs->units < SALVO_MAX_UNITS ? dev->regs->units :
								    SALVO_MAX_UNITS;
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct salvo_unit_regs *unit = &dev->regs->unit[i];

		units[i] = (struct salvo_unit_regs){
			.state = __atomic_load_n(&unit->state, __ATOMIC_RELAXED),
			.ctx = __atomic_load_n(&unit->ctx, __ATOMIC_RELAXED),
			.seqno = __atomic_load_n(&unit->seqno, __ATOMIC_RELAXED),
			.command = __atomic_load_n(&unit->command, __ATOMIC_RELAXED),
			.group = __atomic_load_n(&unit->group, __ATOMIC_RELAXED),
		};
	}
	return count;
}

/* A unit that works on the job, or NULL. */
static const struct salvo_unit_regs *unit_of(const struct soft_job *job,
					     const struct salvo_unit_regs *units, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (units[i].state == SALVO_UNIT_BUSY && units[i].ctx == job->hang.ctx &&
		    units[i].seqno == job->hang.seqno)
			return &units[i];
	return NULL;
}

/* Find a hung batch in a ring, and ban its queue. */
static bool ban_hung_locked(const struct soft_ring *ring, const struct salvo_unit_regs *units,
			    uint32_t count, struct salvo_hang *guilty)
{
	uint64_t seqno;

	for (seqno = ring->retired; seqno < ring->seqno; seqno++) {
		struct soft_job *job = ring->slots[seqno % SOFT_RING_ENTRIES];
		const struct salvo_unit_regs *unit;

		if (!job->queue ||
		    salvo_hang_sample(&job->hang, seqno == ring->retired, units, count) < SAMPLES)
			continue;
		unit = unit_of(job, units, count);
		if (!unit)
			continue;
		job->hung = true;
		job->hung_command = unit->command;
		job->hung_group = unit->group;
		salvo_soft_queue_ban_locked(job->queue, job);
		*guilty = job->hang;
		return true;
	}
	return false;
}

/* Return: whether a batch hangs. */
static bool ban_hung(struct soft_device *dev, struct salvo_hang *guilty)
{
	struct salvo_unit_regs units[SALVO_MAX_UNITS];
	const uint32_t count = read_units(dev, units);
	bool found = false;
	unsigned int r;

	pthread_mutex_lock(&dev->lock);
	for (r = 0; r < SALVO_MAX_RINGS && !found; r++)
		found = ban_hung_locked(&dev->ring[r], units, count, guilty);
	pthread_mutex_unlock(&dev->lock);
	return found;
}

/* Kills the batch and later ones of its context; one before that it overlaps goes on. */
static void kill_from(struct soft_watchdog *dog, const struct salvo_hang *guilty)
{
	struct salvo_regs *regs = dog->dev->regs;
	const uint32_t request = regs->kill_request + 1;

	regs->kill_ctx = guilty->ctx;
	regs->kill_seqno = guilty->seqno;
	__atomic_store_n(&regs->kill_request, request, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(dog->dev->gpu, SALVO_DOORBELL_KILL);
	while (__atomic_load_n(&regs->kill_ack, __ATOMIC_ACQUIRE) != request &&
	       sleep_ns(dog, STEP_NS))
		salvo_gpu_heartbeat(dog->dev->gpu);
}

static void *watch(void *cookie)
{
	struct soft_watchdog *dog = cookie;
	int64_t timeout, now, sampled = 0;
	struct salvo_hang guilty;

	do {
		pthread_mutex_lock(&dog->lock);
		timeout = dog->timeout_ns;
		pthread_mutex_unlock(&dog->lock);
		now = salvo_now_ns();
		/* The time limit is counted in samples: not more of them when it is set again. */
		if (!timeout || now - sampled < timeout / SAMPLES)
			continue;
		sampled = now;
		if (ban_hung(dog->dev, &guilty))
			kill_from(dog, &guilty);
		salvo_gpu_slot_sample(dog->dev->gpu, SAMPLES);
	} while (sleep_ns(dog, timeout ? timeout / SAMPLES + 1 : -1));
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
