/* SPDX-License-Identifier: MIT */
/*
 * queue.h - command queues
 */
#ifndef SALVO_CL_QUEUE_H
#define SALVO_CL_QUEUE_H

#include "context.h"

struct salvo_cl_submission;

/** define SALVO_CL_PATIENCE - The first value of a queue's patience, and that after a flush. */
#define SALVO_CL_PATIENCE 64u

/**
 * struct _cl_command_queue - A command queue.
 */
struct _cl_command_queue {
	struct salvo_cl_object base;
	cl_context context;
	cl_device_id device;
	/** @gpu: Which of the context's GPUs it is, an index. */
	unsigned int gpu;
	cl_command_queue_properties flags;
	/** @properties: As they were given, with the 0 at the end, or NULL. */
	cl_queue_properties *properties;
	size_t property_count;
	/** @priority: SALVO_QUEUE_*. */
	int priority;
	/**
	 * @salvo: A new one after a batch of it has failed. The context's lock protects the rest.
	 */
	struct salvo_queue *salvo;
	/** @generation: Counts these. */
	unsigned int generation;
	/** @failed: A command has failed since the last clFinish(). */
	bool failed;
	/** @first: Submissions that are not done, in the order of enqueueing. */
	struct salvo_cl_submission *first;
	struct salvo_cl_submission *last;
	/** @spare: Submissions to use again. */
	struct salvo_cl_submission *spare;
	/** @flushed: Submissions with a serial of at most this are wanted. */
	uint64_t flushed;
	/** @patience: Commands of a batch before it is checked whether the GPU runs dry. */
	unsigned int patience;
	/**
	 * @recording: Of the queue through which a command buffer is recorded: it gets all
	 * commands.
	 */
	struct salvo_cl_submission *recording;
	/** @next_ready, @is_ready: In the context's list of queues to examine. */
	cl_command_queue next_ready;
	bool is_ready;
	/** @next_busy, @prev_busy: In the context's list of queues that have submissions. */
	cl_command_queue next_busy;
	cl_command_queue prev_busy;
};

/** salvo_cl_queue_is_ordered() - Is it an in-order queue? */
static inline bool salvo_cl_queue_is_ordered(const struct _cl_command_queue *queue)
{
	return !(queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/**
 * salvo_cl_queue_create_recording() - A queue that records what is enqueued, and runs nothing.
 * @like: The queue for which it records: context, device, order.
 *
 * Return: it, or NULL.
 */
cl_command_queue salvo_cl_queue_create_recording(cl_command_queue like);
/**
 * salvo_cl_queue_set_busy(), salvo_cl_queue_set_idle() - It has a first submission, or none any
 * more. The lock is held.
 */
void salvo_cl_queue_set_busy(cl_command_queue queue);
void salvo_cl_queue_set_idle(cl_command_queue queue);

#endif /* SALVO_CL_QUEUE_H */
