/* SPDX-License-Identifier: MIT */
/*
 * salvo_slot.h - hand tasks to execution units without a system call
 *
 * A slot is memory that a thread and execution units share (W3 to W7 of US11340942). The thread
 * stores a task there, a unit that is awake finds it between the work-groups of batches, divides
 * it among the cores of the slot, and stores how each core's part ended. A slot holds one
 * task at a time. Work-stealing pools have a slot for each worker: see salvo_worker_leaf() in
 * salvo_steal.h, which most programs want instead of this.
 *
 * The driver detaches a slot by itself when a task exceeds its time limit, when a batch of the
 * queue faults, and when the GPU is reset or lost.
 *
 * A slot belongs to one thread at a time. In a child of fork() the
 * slots of the parent give -ENODEV, and to detach one does nothing.
 */
#ifndef SALVO_SLOT_H
#define SALVO_SLOT_H

#include "salvo.h"

#if defined(__cplusplus)
extern "C" {
#endif

struct salvo_slot;

/**
 * salvo_slot_attach() - Attach execution units to a slot.
 * @queue: Whose units and priority count. It must outlive the slot.
 * @units: Cores that each task is divided among, bit 0 is unit 0. The lowest polls the slot.
 * @ended: For salvo_slot_notify(): called with @data by a unit when a task has ended, and not after
 *         salvo_slot_detach(). It must not wait, nor use slots. May be NULL.
 * @data: For @ended.
 * @out: The slot.
 *
 * A unit may serve several slots. Their tasks are not ordered with batches, and one that fails
 * does not ban the queue. An awake unit polls slots between chunks of work-groups of batches:
 * those of a queue of high priority first, those of low priority when there are no batches. A
 * unit without work sleeps after 50 us.
 *
 * Return: 0, -EINVAL (units that the queue may not use, or none), -ENOSPC (the GPU has no more
 * slots, or as many are left to other processes as this one has, or no video memory is left),
 * -ENOTSUP (the GPU or its driver has no slots), -EIO (the queue is banned), -ENODEV, -ENOMEM.
 */
int salvo_slot_attach(struct salvo_queue *queue, uint64_t units, void (*ended)(void *data),
		      void *data, struct salvo_slot **out);
/**
 * salvo_slot_detach() - Disconnect the units (W7 of US11340942), and destroy the slot.
 * @slot: A task that runs ends before. May be NULL.
 */
void salvo_slot_detach(struct salvo_slot *slot);
/**
 * salvo_slot_start() - Hand a task to the units (W5 of US11340942).
 * @kernel: With its arguments and grid as set now; work-groups are divided among the cores.
 *
 * Enters the operating system only to wake a unit that sleeps. The program and the buffers must
 * live until the task has ended.
 *
 * Return: 0, -EBUSY (the task before has not ended), -EINVAL (an argument or the grid is not
 * set, or a kernel of another device), -E2BIG (too much local memory), -ENOTSUP (it prints),
 * -ENOTCONN (the driver has detached the slot; a task that is started meanwhile may have run, and
 * has failed with -ECANCELED).
 */
int salvo_slot_start(struct salvo_slot *slot, const struct salvo_kernel *kernel);
/**
 * salvo_slot_poll() - Has the task ended?
 *
 * Return: 0 (it ended well, or there was none), -EBUSY (not yet), -ECANCELED (a part failed, see
 * salvo_slot_get_error()).
 */
int salvo_slot_poll(const struct salvo_slot *slot);
/**
 * salvo_slot_notify() - Have the function of salvo_slot_attach() called when the task has ended.
 *
 * Once for each call. If the task ends at about the same time it may be called or not, or for
 * the next task: poll afterwards.
 */
void salvo_slot_notify(struct salvo_slot *slot);
/** salvo_slot_completion() - Bit i: core i of the units has done its part of the last task (W6). */
uint64_t salvo_slot_completion(const struct salvo_slot *slot);
/**
 * salvo_slot_get_profile() - When the last task ran, in ticks of the device's clock.
 * @profile: As of a command of a batch; units take a task and start it at the same time.
 *
 * Return: 0, -EBUSY (the task has not ended), -ENOENT (no task ran), -ENODEV.
 */
int salvo_slot_get_profile(const struct salvo_slot *slot, struct salvo_profile *profile);
/**
 * salvo_slot_get_error() - How a part of the last task failed, on the first core whose part did.
 * @error: As of a batch of one command.
 *
 * Return: 0, -EBUSY (the task has not ended).
 */
int salvo_slot_get_error(const struct salvo_slot *slot, struct salvo_error *error);

#if defined(__cplusplus)
}
#endif

#endif /* SALVO_SLOT_H */
