// SPDX-License-Identifier: MIT
/*
 * slot.c - slots: hand a task to execution units through shared memory
 *
 * salvo_leaf.h in device/include describes the memory and the order of loads and stores (W5 of
 * US11340942). Here is the worker's side: there is no locked instruction in this file
 * (tests/steal/instructions.sh), and no system call but to wake a unit that sleeps, and to
 * be notified by the driver.
 */
#include "salvo_slot.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bo.h"
#include "device.h"
#include "fence.h"
#include "fork.h"
#include "kernel.h"
#include "labels.h"
#include "queue.h"
#include "salvo_leaf.h"
#include "winsys.h"

struct salvo_slot {
	struct salvo_winsys_slot base;
	struct salvo_device *device;
	struct salvo_slot_regs *regs;
	/** @fork_generation: Of the process that attached it. */
	unsigned int fork_generation;
	/** @label: Of the last task, for its error. */
	struct salvo_label label;
};

/* A child of fork() must not use the parent's slots, on either back end. */
static bool is_inherited(const struct salvo_slot *slot)
{
	return slot->fork_generation != salvo_fork_generation();
}

static void ignore(void *data)
{
	(void)data;
}

int salvo_slot_attach(struct salvo_queue *queue, uint64_t units, void (*ended)(void *data),
		      void *data, struct salvo_slot **out)
{
	const struct salvo_winsys *winsys = queue->device->winsys;
	struct salvo_slot *slot;
	void *map;
	int err;

	*out = NULL;
	if (salvo_device_is_inherited(queue->device))
		return -ENODEV;
	if (!units)
		return -EINVAL;
	slot = calloc(1, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	slot->device = queue->device;
	slot->fork_generation = salvo_fork_generation();
	slot->base.queue = queue;
	slot->base.units = units;
	slot->base.ended = ended ? ended : ignore;
	slot->base.cookie = data;
	err = salvo_bo_create(queue->device, SALVO_SLOT_BYTES, 0, &slot->base.bo);
	if (err)
		goto err_free;
	err = salvo_bo_map(slot->base.bo, &map);
	if (err)
		goto err_bo;
	slot->regs = map;
	slot->regs->status = SALVO_SLOT_DONE;
	err = winsys->slot_attach(&slot->base);
	if (err)
		goto err_bo;
	*out = slot;
	return 0;

err_bo:
	salvo_bo_destroy(slot->base.bo);
err_free:
	free(slot);
	return err;
}

/* The task is the unit's from here on. */
static void ring(struct salvo_slot *slot)
{
	struct salvo_slot_regs *regs = slot->regs;

	__atomic_store_n(&regs->doorbell, 1, __ATOMIC_RELEASE);
	salvo_slot_fence();
	if (__atomic_load_n(&regs->sleeping, __ATOMIC_RELAXED))
		slot->device->winsys->slot_wake(&slot->base);
}

static bool is_busy(const struct salvo_slot *slot)
{
	return __atomic_load_n(&slot->regs->doorbell, __ATOMIC_ACQUIRE);
}

/*
 * The driver stores the status and then 0 in the doorbell. So a task that is stored at the same
 * time is taken back here or there, and poll then says that it is lost: the units may have run it
 * before they left, so nobody may run it again (tests/spin/slot.pml).
 */
static bool is_detached(const struct salvo_slot *slot)
{
	return __atomic_load_n(&slot->regs->status, __ATOMIC_RELAXED) == SALVO_SLOT_DETACHED;
}

void salvo_slot_detach(struct salvo_slot *slot)
{
	if (!slot || is_inherited(slot))
		return;
	while (is_busy(slot))
		sched_yield();
	if (!is_detached(slot)) {
		slot->regs->opcode = SALVO_SLOT_DISCONNECT;
		ring(slot);
	}
	slot->device->winsys->slot_detach(&slot->base);
	salvo_bo_destroy(slot->base.bo);
	free(slot);
}

static int check_kernel(const struct salvo_slot *slot, const struct salvo_kernel *kernel)
{
	if (is_inherited(slot))
		return -ENODEV;
	if (kernel->device != slot->device || kernel->unset || !kernel->grid.dims)
		return -EINVAL;
	if (kernel->local_size > slot->device->info.max_local_bytes)
		return -E2BIG;
	return kernel->info->note.flags & SALVO_KERNEL_PRINTS ? -ENOTSUP : 0;
}

int salvo_slot_start(struct salvo_slot *slot, const struct salvo_kernel *kernel)
{
	const struct salvo_note_kernel *note = &kernel->info->note;
	struct salvo_slot_regs *regs = slot->regs;
	const int err = check_kernel(slot, kernel);

	if (err)
		return err;
	if (is_busy(slot))
		return -EBUSY;
	if (is_detached(slot))
		return -ENOTCONN;
	slot->label.kernel = kernel->name;
	memcpy(slot->label.items, kernel->grid.items, sizeof(slot->label.items));
	memcpy(slot->label.group, kernel->grid.group, sizeof(slot->label.group));
	memcpy(regs->args, kernel->args, note->args_bytes);
	memcpy(regs->dispatch.items, kernel->grid.items, sizeof(regs->dispatch.items));
	memcpy(regs->dispatch.group, kernel->grid.group, sizeof(regs->dispatch.group));
	regs->dispatch.entry = kernel->info->entry;
	regs->dispatch.args_size = note->args_bytes;
	regs->dispatch.local_size = kernel->local_size;
	regs->dispatch.dims = kernel->grid.dims;
	regs->dispatch.flags = note->flags & SALVO_KERNEL_BARRIERS ? SALVO_DISPATCH_BARRIERS : 0;
	regs->opcode = SALVO_SLOT_RUN;
	ring(slot);
	if (is_detached(slot))
		__atomic_store_n(&regs->doorbell, 0, __ATOMIC_RELAXED);
	return 0;
}

int salvo_slot_poll(const struct salvo_slot *slot)
{
	if (is_inherited(slot))
		return -ENODEV;
	if (is_busy(slot))
		return -EBUSY;
	return slot->regs->status == SALVO_SLOT_DONE ? 0 : -ECANCELED;
}

void salvo_slot_notify(struct salvo_slot *slot)
{
	const struct salvo_winsys *winsys = slot->device->winsys;

	__atomic_store_n(&slot->regs->waiting, 1, __ATOMIC_RELEASE);
	salvo_slot_fence();
	if (winsys->slot_notify && is_busy(slot))
		winsys->slot_notify(&slot->base);
}

uint64_t salvo_slot_completion(const struct salvo_slot *slot)
{
	return is_busy(slot) ? 0 : slot->regs->completion;
}

int salvo_slot_get_profile(const struct salvo_slot *slot, struct salvo_profile *profile)
{
	const struct salvo_slot_regs *regs = slot->regs;
	uint32_t status;

	memset(profile, 0, sizeof(*profile));
	if (is_inherited(slot))
		return -ENODEV;
	if (is_busy(slot))
		return -EBUSY;
	status = regs->status;
	if ((status != SALVO_SLOT_DONE && status != SALVO_SLOT_FAILED) || !regs->started)
		return -ENOENT;
	profile->queued = regs->started;
	profile->ready = regs->started;
	profile->started = regs->started;
	profile->ended = regs->ended;
	return 0;
}

int salvo_slot_get_error(const struct salvo_slot *slot, struct salvo_error *error)
{
	const struct salvo_slot_regs *regs = slot->regs;
	const struct salvo_slot_part *part;

	memset(error, 0, sizeof(*error));
	error->command = ~0u;
	error->item = ~0u;
	error->count = 1;
	if (is_busy(slot))
		return -EBUSY;
	error->error = salvo_slot_poll(slot);
	error->done = !error->error;
	if (!error->error)
		return 0;
	if (is_detached(slot) && slot->device->winsys->slot_why)
		error->kind = slot->device->winsys->slot_why(&slot->base);
	else if (regs->status != SALVO_SLOT_FAILED)
		error->kind = SALVO_ERROR_PACKET;
	if (regs->status != SALVO_SLOT_FAILED)
		return 0;
	part = &regs->parts[__builtin_ctzll(~regs->completion)];
	error->command = 0;
	error->kind = part->kind == SALVO_FAULT_NONE ? SALVO_ERROR_HANG : part->kind;
	error->address = part->address;
	error->access = part->access;
	error->group = part->group;
	salvo_error_find_bounds(error);
	salvo_error_set_item(error, part->item);
	salvo_error_set_label(error, &slot->label);
	if (error->items > 1)
		error->item = ~0u;
	return 0;
}
