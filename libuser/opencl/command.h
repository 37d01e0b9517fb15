/* SPDX-License-Identifier: MIT */
/*
 * command.h - enqueue a command: of the GPU, or of the host
 *
 * An entry point checks its arguments, then:
 *
 *	err = salvo_cl_command_check(queue, wait_count, waits);
 *	...
 *	err = salvo_cl_command_begin(&command, queue, CL_COMMAND_COPY_BUFFER, wait_count, waits,
 *				     event);
 *	if (err)
 *		return err;
 *	do {
 *		index = salvo_batch_copy(command.batch, ...);
 *	} while (salvo_cl_command_again(&command, index));
 *	salvo_cl_command_use(&command, src, SALVO_ARGUMENT_READ);
 *	salvo_cl_command_use(&command, dst, SALVO_ARGUMENT_WRITE);
 *	return salvo_cl_command_end(&command, salvo_cl_error(index));
 *
 * From begin to end the context's lock is held. What is recorded in the batch runs after the
 * commands that it has to wait for; when, is the queue's business. A command that records nothing
 * is complete when those are that it waits for.
 */
#ifndef SALVO_CL_COMMAND_H
#define SALVO_CL_COMMAND_H

#include "queue.h"

/**
 * struct salvo_cl_command - A command while it is enqueued, on the stack.
 */
struct salvo_cl_command {
	cl_command_queue queue;
	cl_command_type type;
	cl_uint wait_count;
	const cl_event *waits;
	/** @event: Where the application wants its event, or NULL. */
	cl_event *event;
	/** @batch: To record into. */
	struct salvo_batch *batch;
	struct salvo_cl_submission *submission;
	/** @start: Number of commands in @batch before this one. */
	unsigned int start;
	/**
	 * @before: The part of the command in the submission before, or NULL: @before_count
	 * commands from @before_start.
	 */
	struct salvo_cl_submission *before;
	unsigned int before_start;
	unsigned int before_count;
	/** @ordered: A barrier before it does what pipe controls for @waits would do. */
	bool ordered;
	/** @err: Of salvo_cl_command_use() and salvo_cl_command_hold(). */
	cl_int err;
};

/**
 * salvo_cl_command_check() - Check the arguments that all clEnqueue*() have.
 * Return: CL_SUCCESS, CL_INVALID_COMMAND_QUEUE, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT.
 */
cl_int salvo_cl_command_check(cl_command_queue queue, cl_uint wait_count, const cl_event *waits);
/**
 * salvo_cl_command_begin() - Begin a command of the GPU, and lock the context.
 * @queue, @waits: As salvo_cl_command_check() accepts them.
 *
 * Return: CL_SUCCESS; on CL_OUT_OF_HOST_MEMORY and such nothing is locked.
 */
cl_int salvo_cl_command_begin(struct salvo_cl_command *command, cl_command_queue queue,
			      cl_command_type type, cl_uint wait_count, const cl_event *waits,
			      cl_event *event);
/**
 * salvo_cl_command_begin_locked() - The same, where the caller has locked the context.
 * Return: as salvo_cl_command_begin(), which unlocks on an error.
 */
cl_int salvo_cl_command_begin_locked(struct salvo_cl_command *command, cl_command_queue queue,
				     cl_command_type type, cl_uint wait_count,
				     const cl_event *waits, cl_event *event);
/**
 * salvo_cl_command_again() - Was there no room in the batch, and is there now?
 * @result: What recording gave. On -E2BIG the batch is submitted, unless it is empty, and @batch is
 *          another one.
 */
bool salvo_cl_command_again(struct salvo_cl_command *command, int result);
/**
 * salvo_cl_command_split() - What is recorded from now on goes into another batch.
 *
 * It waits for the one so far and fails with it; the command's event is that of the last batch.
 *
 * Return: 0 or a negative errno.
 */
int salvo_cl_command_split(struct salvo_cl_command *command);
/** salvo_cl_command_hold() - Keep an object until the command is done. */
void salvo_cl_command_hold(struct salvo_cl_command *command, struct salvo_cl_object *object);
/**
 * salvo_cl_command_use() - Keep a memory object that the command accesses.
 * @access: SALVO_ARGUMENT_READ, _WRITE. In a context of several GPUs the contents move to the
 *          queue's GPU before the command runs, as salvo_cl_mem_migrate() does.
 */
void salvo_cl_command_use(struct salvo_cl_command *command, cl_mem mem, uint32_t access);
/**
 * salvo_cl_command_end() - End it, unlock the context.
 * @err: Of recording: not CL_SUCCESS leaves out the command; what it has recorded must be nothing.
 *
 * Return: @err, or CL_OUT_OF_HOST_MEMORY.
 */
cl_int salvo_cl_command_end(struct salvo_cl_command *command, cl_int err);

/**
 * struct salvo_cl_host - A command of the host: a transfer; begins the struct of its owner.
 */
struct salvo_cl_host {
	/**
	 * @run: Called once when all is done that it waits for, by the thread that enqueued it or
	 *       the context's worker, without locks. Return: CL_COMPLETE or a negative code.
	 */
	cl_int (*run)(struct salvo_cl_host *host);
	/** @release: Frees it; called in any case, even if it was not run. May be NULL. */
	void (*release)(struct salvo_cl_host *host);
	/** @mems: What it accesses, with references of their own until it is done; NULL: none. */
	cl_mem mems[2];
};

/**
 * salvo_cl_host_enqueue() - Enqueue a command of the host.
 * @blocking: Wait until it has run.
 *
 * If nothing is left to wait for it runs at once in the calling thread.
 *
 * Return: CL_SUCCESS, CL_OUT_OF_HOST_MEMORY; of a blocking one also
 * CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, or what @run has returned.
 */
cl_int salvo_cl_host_enqueue(struct salvo_cl_host *host, cl_command_queue queue,
			     cl_command_type type, bool blocking, cl_uint wait_count,
			     const cl_event *waits, cl_event *event);

/**
 * salvo_cl_command_is_ready() - Are all of @waits complete, successfully?
 *
 * With salvo_cl_mem_is_idle() it tells whether a write to a buffer may be done at once, by the CPU:
 * then a command that records nothing stands for it in the queue.
 */
bool salvo_cl_command_is_ready(cl_uint wait_count, const cl_event *waits);

#endif /* SALVO_CL_COMMAND_H */
