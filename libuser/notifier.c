// SPDX-License-Identifier: MIT
/*
 * notifier.c - call back when fences are done
 *
 * One thread for each device that has ever had a callback, and one for each that has ever
 * imported a fence, since a callback may wait for such a fence. A thread sleeps in poll() on
 * the file descriptors of the fences it watches and on an eventfd that says that there is a
 * new one, so it costs nothing until something happens, on either back end. A
 * callback runs there, without any lock held: it may use the library, and submit.
 *
 * lock protects the list of new watches and the order to stop; the watches at work are
 * the thread's own.
 */
#include "notifier.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "device.h"
#include "fence.h"

struct watch {
	struct watch *next;
	struct salvo_fence *fence;
	int fd;
	void (*function)(void *data, int error);
	void *data;
};

struct salvo_notifier {
	pthread_t thread;
	pthread_mutex_t lock;
	struct watch *fresh;
	bool stop;
	int wake;
	/* The thread's own: */
	struct watch **watches;
	struct pollfd *fds;
	unsigned int count;
	unsigned int capacity;
};

/* It has become readable, or the device goes (-ENODEV). */
static void finish(struct watch *watch, int error)
{
	if (!error && watch->fence)
		error = salvo_fence_wait(watch->fence, -1);
	close(watch->fd);
	watch->function(watch->data, error);
	salvo_fence_put(watch->fence);
	free(watch);
}

static void wait_and_finish(struct watch *watch)
{
	struct pollfd fd = { .fd = watch->fd, .events = POLLIN };

	while (poll(&fd, 1, -1) < 0 && errno == EINTR)
		;
	finish(watch, 0);
}

/* Room for one more; fds[0] is the eventfd. */
static bool reserve(struct salvo_notifier *n)
{
	unsigned int capacity = n->capacity ? n->capacity * 2 : 16;
	struct watch **watches;
	struct pollfd *fds;

	if (n->count < n->capacity)
		return true;
	watches = realloc(n->watches, capacity * sizeof(*watches));
	if (watches)
		n->watches = watches;
	fds = realloc(n->fds, (capacity + 1) * sizeof(*fds));
	if (fds)
		n->fds = fds;
	if (!watches || !fds)
		return false;
	n->capacity = capacity;
	return true;
}

/* Take over what is new. Without memory a fence is waited for at once. */
static bool take_fresh(struct salvo_notifier *n)
{
	struct watch *watch, *next;
	uint64_t ignored;
	bool stop;

	if (read(n->wake, &ignored, sizeof(ignored)) < 0 && errno != EAGAIN)
		return false;
	pthread_mutex_lock(&n->lock);
	watch = n->fresh;
	n->fresh = NULL;
	stop = n->stop;
	pthread_mutex_unlock(&n->lock);
	for (; watch; watch = next) {
		next = watch->next;
		if (reserve(n))
			n->watches[n->count++] = watch;
		else
			wait_and_finish(watch);
	}
	return !stop;
}

static void *notify(void *cookie)
{
	struct salvo_notifier *n = cookie;
	unsigned int i, kept;

	while (take_fresh(n)) {
		n->fds[0] = (struct pollfd){ .fd = n->wake, .events = POLLIN };
		for (i = 0; i < n->count; i++)
			n->fds[i + 1] = (struct pollfd){ .fd = n->watches[i]->fd,
							 .events = POLLIN };
		if (poll(n->fds, n->count + 1, -1) < 0)
			continue;
		for (i = 0, kept = 0; i < n->count; i++) {
			if (n->fds[i + 1].revents)
				finish(n->watches[i], 0);
			else
				n->watches[kept++] = n->watches[i];
		}
		n->count = kept;
	}
	for (i = 0; i < n->count; i++)
		finish(n->watches[i], -ENODEV);
	return NULL;
}

static struct salvo_notifier *create(void)
{
	struct salvo_notifier *n = calloc(1, sizeof(*n));
	sigset_t all, old;
	int err;

	if (!n)
		return NULL;
	n->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (n->wake < 0 || !reserve(n))
		goto err_free;
	pthread_mutex_init(&n->lock, NULL);
	/* Signals are for the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&n->thread, NULL, notify, n);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return n;
	pthread_mutex_destroy(&n->lock);

err_free:
	if (n->wake >= 0)
		close(n->wake);
	free(n->watches);
	free(n->fds);
	free(n);
	return NULL;
}

static void wake(struct salvo_notifier *n)
{
	const uint64_t one = 1;

	/* It can only fail when it is readable already. */
	if (write(n->wake, &one, sizeof(one)) < 0)
		return;
}

void salvo_notifier_destroy(struct salvo_notifier *n)
{
	struct watch *watch;

	if (!n)
		return;
	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_mutex_unlock(&n->lock);
	wake(n);
	pthread_join(n->thread, NULL);
	while ((watch = n->fresh)) {
		n->fresh = watch->next;
		finish(watch, -ENODEV);
	}
	pthread_mutex_destroy(&n->lock);
	close(n->wake);
	free(n->watches);
	free(n->fds);
	free(n);
}

int salvo_notifier_add(struct salvo_device *device, struct salvo_notifier **which,
		       struct salvo_fence *fence, int fd,
		       void (*function)(void *data, int error), void *data)
{
	struct watch *watch = malloc(sizeof(*watch));
	struct salvo_notifier *n;

	pthread_mutex_lock(&device->lock);
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
	pthread_mutex_lock(&n->lock);
	watch->next = n->fresh;
	n->fresh = watch;
	pthread_mutex_unlock(&n->lock);
	wake(n);
	return 0;
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
