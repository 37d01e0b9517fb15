// SPDX-License-Identifier: MIT
/*
 * soft_wait.c - wait for fences of the embedded GPU
 *
 * A waiter first polls the fence for a few microseconds and yields in between (yield.h): units are
 * pinned, and the waiter may run on the core of one. Then it sleeps on the fence's word. Who waits
 * for any of several fences sleeps on the device's count of completions instead, and counts itself
 * in awaited.
 *
 * An imported fence is signalled by the device's importer thread, which polls the file descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deadline.h"
#include "notifier.h"
#include "soft_device.h"

#define SPIN_POLLS	8
/* Longer than a unit works alone for what takes as long as it expects */
#define ALONE_NS	200000

/* Return: whether the deadline passed. */
static bool futex_sleep(atomic_uint *word, unsigned int value, int64_t deadline)
{
	struct timespec ts = { deadline / 1000000000, deadline % 1000000000 };

	/* FUTEX_WAIT_BITSET takes a point in time on CLOCK_MONOTONIC. */
	return syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
		       deadline == INT64_MAX ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY) &&
	       errno == ETIMEDOUT;
}

/*
 * Sleep while @word is @value, until @deadline. Return: 0 or -ETIME.
 *
 * What a unit does alone, because it is soon done, is done within the first sleep. If not it may
 * wait for work-groups that it has left.
 */
static int futex_wait(struct soft_device *dev, atomic_uint *word, unsigned int value,
		      int64_t deadline)
{
	const int64_t alone = salvo_deadline_ns(ALONE_NS);
	bool late;

	if (alone < deadline && !futex_sleep(word, value, alone))
		return 0;
	salvo_gpu_begin_wait(dev->gpu);
	late = futex_sleep(word, value, deadline);
	salvo_gpu_end_wait(dev->gpu);
	return late ? -ETIME : 0;
}

/* A thread that polls to the end, perhaps of a real-time priority, does not leave its core. */
static void note_wait(struct soft_device *dev)
{
	if (atomic_load_explicit(&dev->base.polling_ns, memory_order_relaxed) >= 0)
		salvo_gpu_note_wait(dev->gpu);
}

/* How long to poll, as a point in time. */
static int64_t poll_until(const struct soft_device *dev, int64_t deadline)
{
	const int64_t polling = atomic_load_explicit(&dev->base.polling_ns,
						     memory_order_relaxed);
	int64_t until;

	if (!polling)
		return 0;
	until = salvo_deadline_ns(polling);
	return until < deadline ? until : deadline;
}

/* Sleep instead, as another program wants the core? Not if asked to poll to the end. */
static bool is_crowded(struct soft_device *dev, int64_t now)
{
	return salvo_yield_is_crowded(&dev->yield, now) &&
	       atomic_load_explicit(&dev->base.polling_ns, memory_order_relaxed) >= 0;
}

/* Poll until the fence is done, or @until, or another program wants the core. */
static bool poll_fence(struct soft_device *dev, struct soft_fence *fence, int64_t until)
{
	int64_t now = until ? salvo_now_ns() : 0;
	unsigned int i;

	if (!until)
		return false;
	do {
		for (i = 0; i < SPIN_POLLS; i++) {
			if (salvo_soft_fence_is_done(fence))
				return true;
			__builtin_ia32_pause();
		}
		if (is_crowded(dev, now))
			break;
		now = salvo_yield(&dev->yield, now);
	} while (now < until);
	return salvo_soft_fence_is_done(fence);
}

/* Sleep until the fence is done or @deadline. Return: 0 or -ETIME. */
static int sleep_on_fence(struct soft_device *dev, struct soft_fence *fence, int64_t deadline)
{
	unsigned int state;

	for (;;) {
		state = SOFT_FENCE_PENDING;
		atomic_compare_exchange_strong(&fence->state, &state, SOFT_FENCE_AWAITED);
		if (state == SOFT_FENCE_DONE)
			return 0;
		if (futex_wait(dev, &fence->state, SOFT_FENCE_AWAITED, deadline))
			return salvo_soft_fence_is_done(fence) ? 0 : -ETIME;
	}
}

int salvo_soft_fence_wait(struct salvo_fence *base, int64_t timeout_ns)
{
	struct soft_fence *fence = to_soft_fence(base);
	struct soft_device *dev = to_soft_device(base->device);
	int64_t deadline;

	/* Also if the unit on this core was so fast. */
	if (timeout_ns)
		note_wait(dev);
	if (!salvo_soft_fence_is_done(fence)) {
		if (salvo_device_is_inherited(&dev->base))
			return -ENODEV;
		if (!timeout_ns)
			return -ETIME;
		deadline = salvo_deadline_ns(timeout_ns);
		if (!poll_fence(dev, fence, poll_until(dev, deadline)) &&
		    sleep_on_fence(dev, fence, deadline))
			return -ETIME;
	}
	salvo_soft_reap(dev);
	return fence->error;
}

static bool find_done(struct salvo_fence *const *fences, unsigned int count, unsigned int *first)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!salvo_soft_fence_is_done(to_soft_fence(fences[i])))
			continue;
		*first = i;
		return true;
	}
	return false;
}

static int wait_any(struct soft_device *dev, struct salvo_fence *const *fences,
		    unsigned int count, int64_t deadline, unsigned int *first)
{
	const int64_t until = poll_until(dev, deadline);
	int64_t now = until ? salvo_now_ns() : 0;
	unsigned int completed;
	int err = 0;

	while (now < until && !is_crowded(dev, now)) {
		if (find_done(fences, count, first))
			return 0;
		now = salvo_yield(&dev->yield, now);
	}
	atomic_fetch_add(&dev->awaited, 1);
	for (;;) {
		completed = atomic_load(&dev->completed);
		if (find_done(fences, count, first))
			break;
		err = futex_wait(dev, &dev->completed, completed, deadline);
		if (err) {
			err = find_done(fences, count, first) ? 0 : -ETIME;
			break;
		}
	}
	atomic_fetch_sub(&dev->awaited, 1);
	return err;
}

int salvo_soft_fence_wait_many(struct salvo_device *device, struct salvo_fence *const *fences,
			       unsigned int count, bool all, int64_t timeout_ns,
			       unsigned int *first)
{
	struct soft_device *dev = to_soft_device(device);
	const int64_t deadline = salvo_deadline_ns(timeout_ns);
	unsigned int i;

	if (!all) {
		if (timeout_ns)
			note_wait(dev);
		if (find_done(fences, count, first))
			return 0;
		if (salvo_device_is_inherited(device))
			return -ENODEV;
		return timeout_ns ? wait_any(dev, fences, count, deadline, first) : -ETIME;
	}
	for (i = 0; i < count; i++)
		if (salvo_soft_fence_wait(fences[i], timeout_ns ? salvo_remaining_ns(deadline) :
								  0) == -ETIME)
			return -ETIME;
	return 0;
}

/* The importer: what stands behind an imported fence has happened. */
static void signal_imported(void *data, int error)
{
	struct soft_fence *fence = data;

	salvo_soft_fence_signal(fence, error);
	salvo_soft_drain(to_soft_device(fence->base.device));
	salvo_soft_fence_put(fence);
}

int salvo_soft_fence_import_fd(struct salvo_device *device, int fd, struct salvo_fence **out)
{
	struct soft_fence *fence;
	int err, own;

	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return -errno;
	fence = salvo_soft_fence_create(to_soft_device(device), 0);
	if (!fence) {
		close(own);
		return -ENOMEM;
	}
	salvo_fence_get(&fence->base);
	err = salvo_notifier_add(device, &device->importer, NULL, own, signal_imported, fence);
	if (err) {
		salvo_soft_fence_free(&fence->base);
		return err;
	}
	*out = &fence->base;
	return 0;
}
