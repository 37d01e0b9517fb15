// SPDX-License-Identifier: MIT
/*
 * notifier.c - call back when fences are done
 *
 * One thread for each device that has ever had a callback, and one for each that has ever
 * imported a fence, since a callback may wait for such a fence. The thread sleeps in epoll_wait()
 * on the file descriptors of the fences, so it costs nothing until one is done, on either back
 * end. A callback runs there without any lock held: it may use the library, and submit.
 *
 * A child of fork() has the file descriptors, but not the thread: they are the parent's epoll
 * instance, which the child must not change. It has a notifier of its own, if it needs one.
 *
 * lock protects the list of watches.
 */
#include "notifier.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "device.h"
#include "fence.h"
#include "fork.h"

#define MAX_EVENTS 16

struct watch {
	struct watch *next;
	struct watch *previous;
	struct salvo_fence *fence;
	int fd;
	void (*function)(void *data, int error);
	void *data;
};

struct salvo_notifier {
	pthread_t thread;
	/** @generation: salvo_fork_generation() when it was created. */
	unsigned int generation;
	int epoll;
	/** @stop: An eventfd that is readable when the thread is to end. */
	int stop;
	pthread_mutex_t lock;
	struct watch *watches;
};

static void link_watch(struct salvo_notifier *n, struct watch *watch)
{
	pthread_mutex_lock(&n->lock);
	watch->previous = NULL;
	watch->next = n->watches;
	if (watch->next)
		watch->next->previous = watch;
	n->watches = watch;
	pthread_mutex_unlock(&n->lock);
}

static void unlink_watch(struct salvo_notifier *n, struct watch *watch)
{
	pthread_mutex_lock(&n->lock);
	if (watch->next)
		watch->next->previous = watch->previous;
	if (watch->previous)
		watch->previous->next = watch->next;
	else
		n->watches = watch->next;
	pthread_mutex_unlock(&n->lock);
}

static void free_watch(struct watch *watch)
{
	close(watch->fd);
	salvo_fence_put(watch->fence);
	free(watch);
}

/* Its file descriptor has become readable, or the device is closed (-ENODEV). */
static void finish(struct salvo_notifier *n, struct watch *watch, int error)
{
	unlink_watch(n, watch);
	/* close() is not enough: other descriptors may refer to the same file. */
	epoll_ctl(n->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	if (!error && watch->fence)
		error = salvo_fence_wait(watch->fence, -1);
	watch->function(watch->data, error);
	free_watch(watch);
}

static void *notify(void *cookie)
{
	struct epoll_event events[MAX_EVENTS];
	struct salvo_notifier *n = cookie;
	bool stop = false;
	int count, i;

	while (!stop) {
		count = epoll_wait(n->epoll, events, MAX_EVENTS, -1);
		for (i = 0; i < count; i++) {
			if (events[i].data.ptr)
				finish(n, events[i].data.ptr, 0);
			else
				stop = true;
		}
	}
	while (n->watches)
		finish(n, n->watches, -ENODEV);
	return NULL;
}

static int add_event(struct salvo_notifier *n, int fd, struct watch *watch)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };

	return epoll_ctl(n->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void free_notifier(struct salvo_notifier *n)
{
	if (n->stop >= 0)
		close(n->stop);
	if (n->epoll >= 0)
		close(n->epoll);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

static struct salvo_notifier *create(void)
{
	struct salvo_notifier *n = calloc(1, sizeof(*n));
	sigset_t all, old;
	int err;

	if (!n)
		return NULL;
	pthread_mutex_init(&n->lock, NULL);
	n->generation = salvo_fork_generation();
	n->epoll = epoll_create1(EPOLL_CLOEXEC);
	n->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (n->epoll < 0 || n->stop < 0 || add_event(n, n->stop, NULL))
		goto err_free;
	/* Signals are for the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&n->thread, NULL, notify, n);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return n;

err_free:
	free_notifier(n);
	return NULL;
}

static bool is_inherited(const struct salvo_notifier *n)
{
	return n->generation != salvo_fork_generation();
}

void salvo_notifier_destroy(struct salvo_notifier *n)
{
	if (!n)
		return;
	if (is_inherited(n)) {
		free_notifier(n);
		return;
	}
	eventfd_write(n->stop, 1);
	pthread_join(n->thread, NULL);
	free_notifier(n);
}

/* A file that epoll does not take, a regular one, is always readable. */
static int make_readable(struct watch *watch)
{
	close(watch->fd);
	watch->fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	return watch->fd < 0 ? -errno : 0;
}

static int add_watch(struct salvo_notifier *n, struct watch *watch)
{
	int err;

	link_watch(n, watch);
	err = add_event(n, watch->fd, watch);
	if (err == -EPERM) {
		err = make_readable(watch);
		if (!err)
			err = add_event(n, watch->fd, watch);
	}
	if (err)
		unlink_watch(n, watch);
	return err == -ENOSPC ? -ENOMEM : err;
}

int salvo_notifier_add(struct salvo_device *device, struct salvo_notifier **which,
		       struct salvo_fence *fence, int fd,
		       void (*function)(void *data, int error), void *data)
{
	struct watch *watch = malloc(sizeof(*watch));
	struct salvo_notifier *n;
	int err;

	if (salvo_device_is_inherited(device)) {
		free(watch);
		close(fd);
		return -ENODEV;
	}
	pthread_mutex_lock(&device->lock);
	if (*which && is_inherited(*which)) {
		salvo_notifier_destroy(*which);
		*which = NULL;
	}
	if (!*which)
		*which = create();
	n = *which;
	pthread_mutex_unlock(&device->lock);
	if (!watch || !n) {
		free(watch);
		close(fd);
		return watch ? -EAGAIN : -ENOMEM;
	}
	*watch = (struct watch){
		.fence = fence ? salvo_fence_get(fence) : NULL,
		.fd = fd,
		.function = function,
		.data = data,
	};
	err = add_watch(n, watch);
	if (err)
		free_watch(watch);
	return err;
}

int salvo_fence_set_callback(struct salvo_fence *fence, void (*function)(void *data, int error),
			     void *data)
{
	int fd, err;

	if (!function)
		return -EINVAL;
	err = salvo_fence_get_fd(fence, &fd);
	return err ? err : salvo_notifier_add(fence->device, &fence->device->notifier, fence, fd,
					      function, data);
}
