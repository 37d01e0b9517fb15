// SPDX-License-Identifier: MIT
/*
 * worker.c - the thread of a context that runs callbacks and transfers
 *
 * One thread takes tasks from a list, in order. It runs the application's callbacks, which may hold
 * locks of the application, and transfers that are not blocking: neither may run in a thread that
 * waits for a queue. @lock protects the list.
 *
 * A child of fork() does not have the thread. The tasks in the list are the parent's: the child
 * drops them, and starts a thread for the first that it adds itself. What the thread was at stays
 * allocated in the child: it may be about to free it.
 */
#include "worker.h"

#include <pthread.h>
#include <stdlib.h>

struct salvo_cl_worker {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct salvo_cl_task *first;
	struct salvo_cl_task **last;
	bool stop;
	/* A task of its own has stopped it: nobody joins the thread. */
	bool detached;
	/* There is a thread. */
	bool running;
	pthread_t thread;
};

static void destroy(struct salvo_cl_worker *worker)
{
	pthread_cond_destroy(&worker->wake);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

static void *work(void *data)
{
	struct salvo_cl_worker *worker = data;
	struct salvo_cl_task *task;

	pthread_mutex_lock(&worker->lock);
	for (;;) {
		while (!worker->first && !worker->stop)
			pthread_cond_wait(&worker->wake, &worker->lock);
		task = worker->first;
		if (!task)
			break;
		worker->first = task->next;
		if (!worker->first)
			worker->last = &worker->first;
		pthread_mutex_unlock(&worker->lock);
		task->run(task);
		pthread_mutex_lock(&worker->lock);
	}
	pthread_mutex_unlock(&worker->lock);
	if (worker->detached)
		destroy(worker);
	return NULL;
}

static bool start(struct salvo_cl_worker *worker)
{
	worker->running = !pthread_create(&worker->thread, NULL, work, worker);
	return worker->running;
}

static bool is_own_thread(const struct salvo_cl_worker *worker)
{
	return worker->running && pthread_equal(worker->thread, pthread_self());
}

struct salvo_cl_worker *salvo_cl_worker_start(void)
{
	struct salvo_cl_worker *worker = calloc(1, sizeof(*worker));
	bool ok;

	if (!worker)
		return NULL;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->wake, NULL);
	worker->last = &worker->first;
	pthread_mutex_lock(&worker->lock);
	ok = start(worker);
	pthread_mutex_unlock(&worker->lock);
	if (ok)
		return worker;
	destroy(worker);
	return NULL;
}

void salvo_cl_worker_add(struct salvo_cl_worker *worker, struct salvo_cl_task *task)
{
	task->next = NULL;
	pthread_mutex_lock(&worker->lock);
	*worker->last = task;
	worker->last = &task->next;
	if (worker->running || !start(worker))
		pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
}

void salvo_cl_worker_stop(struct salvo_cl_worker *worker)
{
	bool own;

	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	own = is_own_thread(worker);
	worker->stop = true;
	worker->detached = own;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
	if (own) {
		pthread_detach(worker->thread);
		return;
	}
	if (worker->running)
		pthread_join(worker->thread, NULL);
	else
		work(worker);
	destroy(worker);
}

void salvo_cl_worker_lock(struct salvo_cl_worker *worker)
{
	pthread_mutex_lock(&worker->lock);
}

void salvo_cl_worker_unlock(struct salvo_cl_worker *worker, bool in_child)
{
	if (in_child && !is_own_thread(worker)) {
		worker->running = false;
		/* The parent's thread waits for it. */
		pthread_cond_init(&worker->wake, NULL);
	}
	pthread_mutex_unlock(&worker->lock);
}

void salvo_cl_worker_drop(struct salvo_cl_worker *worker)
{
	struct salvo_cl_task *task, *next;

	pthread_mutex_lock(&worker->lock);
	task = worker->first;
	worker->first = NULL;
	worker->last = &worker->first;
	pthread_mutex_unlock(&worker->lock);
	for (; task; task = next) {
		next = task->next;
		task->drop(task);
	}
}
