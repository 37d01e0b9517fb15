// SPDX-License-Identifier: MIT
/*
 * soft_fence.c - fences of the embedded GPU
 *
 * A fence is one word. A waiter first polls it for a few microseconds, giving
 * its core to anyone who wants it in between: units are pinned, and the waiter may
 * sit on the core of one. Then it sleeps on the word (futex) and says so in it, so
 * that completions without sleepers cost no system call. Who waits for any of several
 * fences sleeps on the device's count of completions instead, and says so in awaited.
 *
 * An eventfd stands for a fence in poll(). It is made when it is first asked for; maker and
 * signaller each write their word before they read the other's, so one of them
 * raises it. The other way round, a file descriptor is watched by the device's importer,
 * which signals the fence that stands for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deadline.h"
#include "notifier.h"
#include "soft.h"

#define SPIN_POLLS	8

struct soft_fence *salvo_soft_fence_create(struct soft_device *dev, uint32_t ctx)
{
	struct soft_fence *fence = malloc(sizeof(*fence));

	if (!fence)
		return NULL;
	salvo_fence_init(&fence->base, &dev->base);
	atomic_init(&fence->eventfd, -1);
	atomic_init(&fence->state, SOFT_FENCE_PENDING);
	fence->error = 0;
	fence->ctx = ctx;
	fence->hung = false;
	return fence;
}

void salvo_soft_fence_free(struct salvo_fence *base)
{
	struct soft_fence *fence = (struct soft_fence *)base;
	const int fd = atomic_load(&fence->eventfd);

	if (fd >= 0)
		close(fd);
	free(fence);
}

bool salvo_soft_fence_is_done(struct soft_fence *fence)
{
	return atomic_load_explicit(&fence->state, memory_order_acquire) == SOFT_FENCE_DONE;
}

static void raise_eventfd(int fd)
{
	const uint64_t one = 1;

	/* It can only fail when it is readable already. */
	if (fd >= 0 && write(fd, &one, sizeof(one)) < 0)
		return;
}

static void futex_wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void salvo_soft_fence_signal(struct soft_fence *fence, int error)
{
	struct soft_device *dev = to_soft_device(fence->base.device);

	fence->error = error;
	if (atomic_exchange(&fence->state, SOFT_FENCE_DONE) == SOFT_FENCE_AWAITED)
		futex_wake(&fence->state);
	raise_eventfd(atomic_load(&fence->eventfd));
	atomic_fetch_add(&dev->completed, 1);
	if (atomic_load(&dev->awaited))
		futex_wake(&dev->completed);
}

/* Sleep while @word is @value, until @deadline. Return: 0 or -ETIME. */
static int futex_wait(atomic_uint *word, unsigned int value, int64_t deadline)
{
	struct timespec ts = { deadline / 1000000000, deadline % 1000000000 };

	/* FUTEX_WAIT_BITSET takes a point in time on CLOCK_MONOTONIC. */
	if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
		    deadline == INT64_MAX ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY) &&
	    errno == ETIMEDOUT)
		return -ETIME;
	return 0;
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

/* Poll until the fence is done or @until. */
static bool poll_fence(struct soft_fence *fence, int64_t until)
{
	unsigned int i;

	if (!until)
		return false;
	do {
		for (i = 0; i < SPIN_POLLS; i++) {
			if (salvo_soft_fence_is_done(fence))
				return true;
			__builtin_ia32_pause();
		}
		sched_yield();
	} while (salvo_now_ns() < until);
	return salvo_soft_fence_is_done(fence);
}

/* Sleep until the fence is done or @deadline. Return: 0 or -ETIME. */
static int sleep_on_fence(struct soft_fence *fence, int64_t deadline)
{
	unsigned int state;

	for (;;) {
		state = SOFT_FENCE_PENDING;
		atomic_compare_exchange_strong(&fence->state, &state, SOFT_FENCE_AWAITED);
		if (state == SOFT_FENCE_DONE)
			return 0;
		if (futex_wait(&fence->state, SOFT_FENCE_AWAITED, deadline))
			return salvo_soft_fence_is_done(fence) ? 0 : -ETIME;
	}
}

int salvo_soft_fence_wait(struct salvo_fence *base, int64_t timeout_ns)
{
	struct soft_fence *fence = (struct soft_fence *)base;
	struct soft_device *dev = to_soft_device(base->device);
	int64_t deadline;

	if (!salvo_soft_fence_is_done(fence)) {
		if (!timeout_ns)
			return -ETIME;
		deadline = salvo_deadline_ns(timeout_ns);
		if (!poll_fence(fence, poll_until(dev, deadline)) &&
		    sleep_on_fence(fence, deadline))
			return -ETIME;
	}
	salvo_soft_reap(dev);
	return fence->error;
}

static bool find_done(struct salvo_fence *const *fences, unsigned int count, unsigned int *first)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!salvo_soft_fence_is_done((struct soft_fence *)fences[i]))
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
	unsigned int completed;
	int err = 0;

	while (until && salvo_now_ns() < until) {
		if (find_done(fences, count, first))
			return 0;
		sched_yield();
	}
	atomic_fetch_add(&dev->awaited, 1);
	for (;;) {
		completed = atomic_load(&dev->completed);
		if (find_done(fences, count, first))
			break;
		err = futex_wait(&dev->completed, completed, deadline);
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
		if (find_done(fences, count, first))
			return 0;
		return timeout_ns ? wait_any(dev, fences, count, deadline, first) : -ETIME;
	}
	for (i = 0; i < count; i++)
		if (salvo_soft_fence_wait(fences[i], timeout_ns ? salvo_remaining_ns(deadline) :
								  0) == -ETIME)
			return -ETIME;
	return 0;
}

int salvo_soft_fence_get_fd(struct salvo_fence *base, int *out)
{
	struct soft_fence *fence = (struct soft_fence *)base;
	int fd = atomic_load(&fence->eventfd), none = -1;

	if (fd < 0) {
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (fd < 0)
			return -errno;
		if (!atomic_compare_exchange_strong(&fence->eventfd, &none, fd)) {
			close(fd);
			fd = none;
		} else if (salvo_soft_fence_is_done(fence)) {
			raise_eventfd(fd);
		}
	}
	*out = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return *out < 0 ? -errno : 0;
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

void salvo_soft_fence_get_error(struct salvo_fence *base, struct salvo_error *error)
{
	const struct soft_fence *fence = (struct soft_fence *)base;
	const struct salvo_packet_result *result = &fence->result;

	if (!fence->ctx)
		return;
	error->done = result->done;
	if (fence->hung)
		error->kind = SALVO_ERROR_HANG;
	else if (result->status == SALVO_STATUS_BAD_PACKET)
		error->kind = SALVO_ERROR_PACKET;
	else if (result->status != SALVO_STATUS_FAULT)
		return;
	else
		error->kind = result->fault;
	error->command = result->command;
	error->address = result->address;
	error->access = result->access;
	error->group = result->group;
	if (!fence->hung)
		salvo_error_set_item(error, result->item);
}
