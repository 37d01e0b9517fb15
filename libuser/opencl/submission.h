/* SPDX-License-Identifier: MIT */
/*
 * submission.h - what goes to the GPU as one packet, or runs on the host as one
 */
#ifndef SALVO_CL_SUBMISSION_H
#define SALVO_CL_SUBMISSION_H

#include "command.h"
#include "cl_event.h"
#include "worker.h"

/** define SALVO_CL_ATTEMPTS - How often a batch is submitted that others' failures cancel. */
#define SALVO_CL_ATTEMPTS 4

enum salvo_cl_state {
	/** @SALVO_CL_OPEN: It collects commands, or is held back. */
	SALVO_CL_OPEN,
	/** @SALVO_CL_RUNNING: The GPU has it; or a thread runs it. */
	SALVO_CL_RUNNING,
	SALVO_CL_DONE,
};

struct salvo_cl_dependence;

/** struct salvo_cl_use - An object that a submission keeps; @access of a memory object. */
struct salvo_cl_use {
	struct salvo_cl_object *object;
	uint32_t access;
};

/**
 * struct salvo_cl_submission - Commands of a queue. The context's lock protects it.
 */
struct salvo_cl_submission {
	/** @next, @prev: In the queue's list, in the order of enqueueing. */
	struct salvo_cl_submission *next;
	struct salvo_cl_submission *prev;
	/** @queue: With a reference. */
	cl_command_queue queue;
	/** @refs: One of the queue's list, one of each thread that waits for it. */
	unsigned int refs;
	/** @serial: Counts the submissions of the context. */
	uint64_t serial;
	enum salvo_cl_state state;
	/** @host: What to run on the host, or NULL: @batch, which may be empty. */
	struct salvo_cl_host *host;
	struct salvo_batch *batch;
	struct salvo_fence *fence;
	/** @commands: That were enqueued into it; @work: their work-items. */
	unsigned int commands;
	uint64_t work;
	/** @check: At so many commands it is checked whether the GPU runs dry. */
	unsigned int check;
	/**
	 * @recording: It is that of a command buffer: it runs never, and is no use of memory
	 * objects.
	 */
	bool recording;
	/** @wanted: It is to run as soon as it can; else it goes on collecting. */
	bool wanted;
	/** @closed: Nothing may be added. */
	bool closed;
	/** @after_all: Out of order: it waits for all before it; @before_all: all after it wait. */
	bool after_all;
	bool before_all;
	/** @blocking: A thread waits to run it. */
	bool blocking;
	/** @watched: Its fence calls back. */
	bool watched;
	/** @blockers: Events that it waits for on the host. */
	unsigned int blockers;
	/** @error: An event that it waits for has failed, or it has. */
	cl_int error;
	/** @awaited: A batch of another queue was submitted that waits for its fence. */
	bool awaited;
	/** @attempts: How often it was submitted; @stale: fences of earlier attempts. */
	unsigned int attempts;
	struct salvo_fence *stale[SALVO_CL_ATTEMPTS];
	/** @generation: Of the GPU queue that it was submitted to. */
	unsigned int generation;
	/** @dependences: Of its commands on those of other submissions. */
	struct salvo_cl_dependence *dependences;
	unsigned int dependence_count;
	unsigned int dependence_capacity;
	/**
	 * @lost: When it is done with an @error: 1 for each command of @batch that failed or was
	 * not run; NULL: all.
	 */
	uint8_t *lost;
	/**
	 * @completing: complete() is at it, for its @consumer, or NULL; it has seen to
	 * @producers_done of its producers. @end: How it ended on the GPU.
	 */
	bool completing;
	struct salvo_cl_submission *consumer;
	unsigned int producers_done;
	int end;
	/** @waits: Submissions of other queues whose fences it waits for, with references. */
	struct salvo_cl_submission **waits;
	unsigned int wait_count;
	unsigned int wait_capacity;
	cl_event first_event;
	cl_event last_event;
	struct salvo_cl_use *uses;
	unsigned int use_count;
	unsigned int use_capacity;
	struct salvo_cl_task task;
	/** @submitted: Host time in ns, of queues that profile. */
	cl_ulong submitted;
};

/** struct salvo_cl_waiter - A submission that waits for an event on the host. */
struct salvo_cl_waiter {
	struct salvo_cl_waiter *next;
	struct salvo_cl_submission *submission;
	/** @done: For its completion; else for its submission. */
	bool done;
};

/** salvo_cl_lock(), salvo_cl_unlock() - The context's lock; unlocking runs what became ready. */
void salvo_cl_lock(cl_context context);
void salvo_cl_unlock(cl_context context);
/** salvo_cl_run_ready() - Submit what can be; the lock is held. */
void salvo_cl_run_ready(cl_context context);
/** salvo_cl_sleep() - Wait for a change of any submission or event; the lock is held. */
void salvo_cl_sleep(cl_context context);
/** salvo_cl_host_time() - CLOCK_MONOTONIC in ns. */
cl_ulong salvo_cl_host_time(void);

/** salvo_cl_submission_create() - A new one at the end of a queue's list, or NULL. */
struct salvo_cl_submission *salvo_cl_submission_create(cl_command_queue queue);
/** salvo_cl_recording_create() - One on no list, which a command buffer records into, or NULL. */
struct salvo_cl_submission *salvo_cl_recording_create(cl_command_queue queue);
void salvo_cl_recording_destroy(struct salvo_cl_submission *recording);
void salvo_cl_submission_put(struct salvo_cl_submission *submission);
/** salvo_cl_submission_use() - Keep an object until it is done; @access: of a memory object. */
int salvo_cl_submission_use(struct salvo_cl_submission *submission,
			    struct salvo_cl_object *object, uint32_t access);
/** salvo_cl_submission_wait_for() - Wait for the fence of one of another queue. */
int salvo_cl_submission_wait_for(struct salvo_cl_submission *submission,
				 struct salvo_cl_submission *producer);
/** salvo_cl_submission_is_ready() - May it run now, as far as others are concerned? */
bool salvo_cl_submission_is_ready(const struct salvo_cl_submission *submission);
/** salvo_cl_submission_finish() - It is done: complete its events with @status. */
void salvo_cl_submission_finish(struct salvo_cl_submission *submission, cl_int status);
/** salvo_cl_submission_watch() - Make its completion known without a thread that waits. */
void salvo_cl_submission_watch(struct salvo_cl_submission *submission);
/** salvo_cl_submission_run_host() - Run it on the host; unlocks for it. Return: its status. */
cl_int salvo_cl_submission_run_host(struct salvo_cl_submission *submission);
/** salvo_cl_submission_discard() - Remove an empty one again. */
void salvo_cl_submission_discard(struct salvo_cl_submission *submission);
/** salvo_cl_submission_destroy() - Free one that is on no list. */
void salvo_cl_submission_destroy(struct salvo_cl_submission *submission);

/** salvo_cl_queue_examine() - Something in the queue may have become ready. */
void salvo_cl_queue_examine(cl_command_queue queue);
/** salvo_cl_wake() - Wake those in salvo_cl_sleep(). */
void salvo_cl_wake(cl_context context);
/** salvo_cl_queue_flush() - Submit all that the queue has collected; the lock is held. */
void salvo_cl_queue_flush(cl_command_queue queue);
/** salvo_cl_queue_retire() - Find out which of its submissions are done; the lock is held. */
void salvo_cl_queue_retire(cl_command_queue queue);
/** salvo_cl_queue_wait() - Wait until a submission is done; unlocks while it sleeps. */
void salvo_cl_queue_wait(struct salvo_cl_submission *submission);

/** salvo_cl_event_create() - The event of a command, with a reference of @submission or NULL. */
cl_event salvo_cl_event_create(cl_command_queue queue, cl_command_type type,
			       struct salvo_cl_submission *submission);
/** salvo_cl_event_change() - A new status: callbacks, waiters; the lock is held. */
void salvo_cl_event_change(cl_event event, cl_int status);
/** salvo_cl_event_times() - Set the times of a batch's events; it is done. */
void salvo_cl_event_times(struct salvo_cl_submission *submission);
/** salvo_cl_event_stamp() - Set times that are not known yet, of queues that profile, to now. */
void salvo_cl_event_stamp(cl_event event);
/** salvo_cl_event_add_waiter() - Count @event among the blockers of @submission. */
int salvo_cl_event_add_waiter(cl_event event, struct salvo_cl_submission *submission, bool done);

#endif /* SALVO_CL_SUBMISSION_H */
