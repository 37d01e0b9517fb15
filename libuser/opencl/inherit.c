// SPDX-License-Identifier: MIT
/*
 * inherit.c - contexts in a child of fork()
 *
 * A child has only the thread that called fork(): not the worker of a context, not the threads that
 * watch fences, and none of an embedded GPU. Handlers of fork() hold the locks of all contexts, so
 * that the child finds none locked and nothing half changed. They only mark a context in the child;
 * its first use there ends what the other threads would have ended: commands that ran on the host,
 * or that a thread was about to run, fail, and batches end as the fence tells, on an embedded GPU
 * with an error. Events and callbacks follow, the latter in a worker of the child. Callbacks that
 * were due in the parent are called there alone.
 *
 * list_lock protects the list of contexts. The locks of contexts, of workers and of pools are taken
 * below it, in this order.
 */
#include "inherit.h"

#include "pool.h"
#include "submission.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static cl_context all_contexts;
static unsigned int generation;

static void before_fork(void)
{
	cl_context context;

	pthread_mutex_lock(&list_lock);
	for (context = all_contexts; context; context = context->next) {
		pthread_mutex_lock(&context->lock);
		if (context->worker)
			salvo_cl_worker_lock(context->worker);
	}
	salvo_cl_pools_lock();
}

static void after_fork(bool in_child)
{
	cl_context context;

	salvo_cl_pools_unlock();
	for (context = all_contexts; context; context = context->next) {
		if (context->worker)
			salvo_cl_worker_unlock(context->worker, in_child);
		if (in_child) {
			context->inherited = true;
			/* Threads of the parent sleep in it. */
			context->sleepers = 0;
			pthread_cond_init(&context->changed, NULL);
		}
		pthread_mutex_unlock(&context->lock);
	}
	pthread_mutex_unlock(&list_lock);
}

static void in_parent(void)
{
	after_fork(false);
}

static void in_child(void)
{
	generation++;
	after_fork(true);
}

static void install(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

unsigned int salvo_cl_inherit_generation(void)
{
	pthread_once(&once, install);
	return generation;
}

void salvo_cl_inherit_add(cl_context context)
{
	pthread_once(&once, install);
	pthread_mutex_lock(&list_lock);
	context->next = all_contexts;
	all_contexts = context;
	pthread_mutex_unlock(&list_lock);
}

void salvo_cl_inherit_remove(cl_context context)
{
	cl_context *link = &all_contexts;

	pthread_mutex_lock(&list_lock);
	while (*link && *link != context)
		link = &(*link)->next;
	if (*link)
		*link = context->next;
	pthread_mutex_unlock(&list_lock);
}

/* --- adoption --------------------------------------------------------------------------- */

/* Is it a command of the host that a thread of the parent runs, or waits to run? */
static bool is_of_parent(const struct salvo_cl_submission *submission)
{
	return submission->state == SALVO_CL_OPEN ? submission->blocking :
	       submission->state == SALVO_CL_RUNNING && submission->host;
}

static struct salvo_cl_submission *find_of_parent(cl_context context)
{
	struct salvo_cl_submission *submission;
	cl_command_queue queue;

	for (queue = context->busy; queue; queue = queue->next_busy)
		for (submission = queue->first; submission; submission = submission->next)
			if (is_of_parent(submission))
				return submission;
	return NULL;
}

/* The parent's thread that would have called back for their fences is not there. */
static void watch_again(cl_command_queue queue)
{
	struct salvo_cl_submission *submission;

	for (submission = queue->first; submission; submission = submission->next) {
		if (!submission->watched)
			continue;
		submission->watched = false;
		submission->refs--;
		salvo_cl_submission_watch(submission);
	}
}

void salvo_cl_inherit_adopt(cl_context context)
{
	struct salvo_cl_submission *submission;
	cl_command_queue queue, next;

	context->inherited = false;
	if (context->worker)
		salvo_cl_worker_drop(context->worker);
	while ((submission = find_of_parent(context)))
		salvo_cl_submission_finish(submission, CL_OUT_OF_RESOURCES);
	for (queue = context->busy; queue; queue = queue->next_busy)
		watch_again(queue);
	for (queue = context->busy; queue; queue = next) {
		next = queue->next_busy;
		salvo_cl_queue_retire(queue);
	}
}
