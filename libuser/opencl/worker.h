/* SPDX-License-Identifier: MIT */
/*
 * worker.h - the thread of a context that runs callbacks and transfers
 */
#ifndef SALVO_CL_WORKER_H
#define SALVO_CL_WORKER_H

#include "object.h"

struct salvo_cl_worker;

/** struct salvo_cl_task - A function to call, embedded in what it is about. */
struct salvo_cl_task {
	struct salvo_cl_task *next;
	void (*run)(struct salvo_cl_task *task);
	/** @drop: Instead of @run, in a child of fork(): the parent runs it. */
	void (*drop)(struct salvo_cl_task *task);
};

/** salvo_cl_worker_start() - Start the thread. Return: it, or NULL. */
struct salvo_cl_worker *salvo_cl_worker_start(void);
/** salvo_cl_worker_add() - Run a task after all that were added before. Any thread. */
void salvo_cl_worker_add(struct salvo_cl_worker *worker, struct salvo_cl_task *task);
/**
 * salvo_cl_worker_stop() - End the thread when its tasks are done, and free it.
 * @worker: May be NULL. A task may stop its own worker.
 */
void salvo_cl_worker_stop(struct salvo_cl_worker *worker);
/** salvo_cl_worker_lock() - Before fork(): nobody changes the list meanwhile. */
void salvo_cl_worker_lock(struct salvo_cl_worker *worker);
/** salvo_cl_worker_unlock() - After fork(). @in_child: Its thread is not there. */
void salvo_cl_worker_unlock(struct salvo_cl_worker *worker, bool in_child);
/** salvo_cl_worker_drop() - In a child of fork(): drop the tasks of the parent. */
void salvo_cl_worker_drop(struct salvo_cl_worker *worker);

#endif /* SALVO_CL_WORKER_H */
