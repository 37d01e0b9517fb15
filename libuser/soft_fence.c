// SPDX-License-Identifier: MIT
/*
 * soft_fence.c - fences of the embedded GPU
 *
 * A fence is one word. A waiter first polls it for a few microseconds, giving
 * its core to anyone who wants it in between: units are pinned, and the waiter may
 * sit on the core of one. Then it sleeps on the word (futex) and says so in it, so
 * that completions without sleepers cost no system call.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "soft.h"

#define SPIN_NS		30000
#define SPIN_POLLS	8

struct soft_fence *salvo_soft_fence_create(struct soft_device *dev, uint32_t ctx)
{
	struct soft_fence *fence = malloc(sizeof(*fence));

	if (!fence)
		return NULL;
	fence->base.device = &dev->base;
	atomic_init(&fence->refs, 1);
	atomic_init(&fence->state, SOFT_FENCE_PENDING);
	fence->error = 0;
	fence->ctx = ctx;
	return fence;
}

void salvo_soft_fence_put(struct soft_fence *fence)
{
	if (fence && atomic_fetch_sub(&fence->refs, 1) == 1)
		free(fence);
}

void salvo_soft_fence_destroy(struct salvo_fence *fence)
{
	salvo_soft_fence_put((struct soft_fence *)fence);
}

bool salvo_soft_fence_is_done(struct soft_fence *fence)
{
	return atomic_load_explicit(&fence->state, memory_order_acquire) == SOFT_FENCE_DONE;
}

void salvo_soft_fence_signal(struct soft_fence *fence, int error)
{
	fence->error = error;
	if (atomic_exchange(&fence->state, SOFT_FENCE_DONE) == SOFT_FENCE_AWAITED)
		syscall(SYS_futex, &fence->state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Poll until the fence is done or @until. */
static bool poll_fence(struct soft_fence *fence, int64_t until)
{
	unsigned int i;

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
	struct timespec ts, *timeout = NULL;
	unsigned int state;

	if (deadline != INT64_MAX) {
		ts.tv_sec = deadline / 1000000000;
		ts.tv_nsec = deadline % 1000000000;
		timeout = &ts;
	}
	for (;;) {
		state = SOFT_FENCE_PENDING;
		atomic_compare_exchange_strong(&fence->state, &state, SOFT_FENCE_AWAITED);
		if (state == SOFT_FENCE_DONE)
			return 0;
		/* FUTEX_WAIT_BITSET takes a point in time on CLOCK_MONOTONIC. */
		if (syscall(SYS_futex, &fence->state, FUTEX_WAIT_BITSET_PRIVATE, SOFT_FENCE_AWAITED,
			    timeout, NULL, FUTEX_BITSET_MATCH_ANY) &&
		    errno == ETIMEDOUT)
			return salvo_soft_fence_is_done(fence) ? 0 : -ETIME;
	}
}

int salvo_soft_fence_wait(struct salvo_fence *base, int64_t timeout_ns)
{
	struct soft_fence *fence = (struct soft_fence *)base;
	struct soft_device *dev = to_soft_device(base->device);
	int64_t now, deadline;

	if (!salvo_soft_fence_is_done(fence)) {
		if (!timeout_ns)
			return -ETIME;
		now = salvo_now_ns();
		deadline = salvo_deadline_ns(timeout_ns);
		if (!poll_fence(fence, deadline - now < SPIN_NS ? deadline : now + SPIN_NS) &&
		    sleep_on_fence(fence, deadline))
			return -ETIME;
	}
	salvo_soft_reap(dev);
	return fence->error;
}
