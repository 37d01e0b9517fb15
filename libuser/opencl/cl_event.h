/* SPDX-License-Identifier: MIT */
/*
 * cl_event.h - events: the state of a command as the application sees it
 */
#ifndef SALVO_CL_EVENT_H
#define SALVO_CL_EVENT_H

#include "queue.h"

struct salvo_cl_callback;
struct salvo_cl_waiter;

/**
 * struct _cl_event - An event of a command, or a user event. The context's lock protects it.
 */
struct _cl_event {
	struct salvo_cl_object base;
	cl_context context;
	/** @queue: NULL for a user event. */
	cl_command_queue queue;
	cl_command_type type;
	/** @status: CL_QUEUED to CL_COMPLETE, or the negative code of an error. */
	cl_int status;
	/**
	 * @judged: It failed, or not, whatever the others of its batch; @result: its last status.
	 */
	bool judged;
	cl_int result;
	/** @submission: Of its command while that is not done. */
	struct salvo_cl_submission *submission;
	/** @next: In the list of the submission. */
	cl_event next;
	/** @first, @count: Commands of the submission's batch. */
	unsigned int first;
	unsigned int count;
	struct salvo_cl_callback *callbacks;
	struct salvo_cl_waiter *waiters;
	/** @queued, ...: Times of CL_PROFILING_COMMAND_*, in ns; 0: not known. */
	cl_ulong queued;
	cl_ulong submitted;
	cl_ulong started;
	cl_ulong ended;
};

#endif /* SALVO_CL_EVENT_H */
