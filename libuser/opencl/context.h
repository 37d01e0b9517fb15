/* SPDX-License-Identifier: MIT */
/*
 * context.h - contexts
 */
#ifndef SALVO_CL_CONTEXT_H
#define SALVO_CL_CONTEXT_H

#include <pthread.h>

#include "device.h"

struct salvo_cl_pool;
struct salvo_cl_submission;
struct salvo_cl_worker;

/** struct salvo_cl_notify - A callback of clSet*DestructorCallback(), the last one first. */
struct salvo_cl_notify {
	struct salvo_cl_notify *next;
	void (CL_CALLBACK *function)(void *object, void *data);
	void *data;
};

/**
 * salvo_cl_notify_add() - Add a destructor callback to a list.
 * Return: CL_SUCCESS, CL_OUT_OF_HOST_MEMORY. The caller holds what protects @list.
 */
cl_int salvo_cl_notify_add(struct salvo_cl_notify **list,
			   void (CL_CALLBACK *function)(void *object, void *data), void *data);
/** salvo_cl_notify_run() - Call them all with @object, and free them. */
void salvo_cl_notify_run(struct salvo_cl_notify *list, void *object);

/**
 * struct _cl_context - A context.
 */
struct _cl_context {
	struct salvo_cl_object base;
	cl_device_id *devices;
	unsigned int device_count;
	/** @gpus: The open GPUs of the devices, each once; most contexts have one. */
	struct salvo_device **gpus;
	unsigned int gpu_count;
	/** @pools: Memory of each of @gpus to use again. */
	struct salvo_cl_pool **pools;
	/** @starts: Counts objects whose places in a page alternate: see memory.c. */
	atomic_uint starts;
	/** @properties: As they were given, with the 0 at the end, or NULL. */
	cl_context_properties *properties;
	size_t property_count;
	void (CL_CALLBACK *notify)(const char *message, const void *data, size_t size, void *user);
	void *notify_data;
	/** @lock: Protects what follows, and queues and events of the context: see submission.c. */
	pthread_mutex_t lock;
	struct salvo_cl_notify *destructors;
	/** @worker: The thread for callbacks and transfers, or NULL before it is needed. */
	struct salvo_cl_worker *worker;
	/** @serial: Of the submission that was made last. */
	uint64_t serial;
	/** @ready: Queues in which something may have become ready. */
	cl_command_queue ready;
	/** @busy: Queues that have submissions. */
	cl_command_queue busy;
	/** @finished: Submissions whose references are dropped once the lock is free. */
	struct salvo_cl_submission *finished;
	/** @changed: Signalled for the @sleepers when a submission or event changes. */
	pthread_cond_t changed;
	unsigned int sleepers;
	/** @inherited: In a child of fork(), before its first use there. */
	bool inherited;
	/** @next: In the list of all contexts: see inherit.c. */
	cl_context next;
};

/** salvo_cl_context_gpu() - Which of @gpus a device of the context is. */
unsigned int salvo_cl_context_gpu(cl_context context, cl_device_id device);
/** salvo_cl_context_has() - Is the device one of the context's? */
bool salvo_cl_context_has(cl_context context, cl_device_id device);
/** salvo_cl_context_worker() - Start the worker, if it is not there. The lock is held. */
cl_int salvo_cl_context_worker(cl_context context);
/**
 * salvo_cl_context_tell() - CL_CONTEXT_NOTIFY: call the application's function, if there is one.
 */
void salvo_cl_context_tell(cl_context context, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* SALVO_CL_CONTEXT_H */
