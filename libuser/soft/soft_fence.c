// SPDX-License-Identifier: MIT
/*
 * soft_fence.c - fences of the embedded GPU
 *
 * A fence is one word, on which waiters sleep (futex); they say so in it, so that a completion
 * without sleepers takes no system call. soft_wait.c waits.
 *
 * An eventfd stands for a fence in poll(). It is created when it is first asked for. Creator and
 * signaller each write their word before they read the other's, so that one of them raises it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "soft_device.h"

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
	struct soft_fence *fence = to_soft_fence(base);
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

	/* It only fails if the eventfd is readable already. */
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

int salvo_soft_fence_get_fd(struct salvo_fence *base, int *out)
{
	struct soft_fence *fence = to_soft_fence(base);
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

void salvo_soft_fence_get_error(struct salvo_fence *base, struct salvo_error *error)
{
	const struct soft_fence *fence = to_soft_fence(base);
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
	error->group = result->group;
	/* Another command may have faulted before. */
	if (fence->hung)
		return;
	error->address = result->address;
	error->access = result->access;
	salvo_error_set_item(error, result->item);
}
