// SPDX-License-Identifier: MIT
/*
 * worker.c - the thread of a context that runs callbacks and transfers
 *
 * One thread takes tasks from a list, in order. It runs the application's callbacks, which may hold
 * locks of the application, and transfers that are not blocking: neither may run in a thread that
 * waits for a queue. @lock protects the list.
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

struct salvo_cl_worker *salvo_cl_worker_start(void)
{
	struct salvo_cl_worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->wake, NULL);
	worker->last = &worker->first;
	if (pthread_create(&worker->thread, NULL, work, worker)) {
		destroy(worker);
		return NULL;
	}
	return worker;
}

void salvo_cl_worker_add(struct salvo_cl_worker *worker, struct salvo_cl_task *task)
{
	task->next = NULL;
	pthread_mutex_lock(&worker->lock);
	*worker->last = task;
	worker->last = &task->next;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
}

void salvo_cl_worker_stop(struct salvo_cl_worker *worker)
{
	bool own;

	if (!worker)
		return;
	own = pthread_equal(worker->thread, pthread_self());
	pthread_mutex_lock(&worker->lock);
	worker->stop = true;
	worker->detached = own;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
	if (own) {
		pthread_detach(worker->thread);
		return;
	}
	pthread_join(worker->thread, NULL);
	destroy(worker);
}
