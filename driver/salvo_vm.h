/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_vm.h - a file's GPU address space
 */
#ifndef SALVO_VM_H
#define SALVO_VM_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "salvo_device.h"

struct dma_fence;

/**
 * struct salvo_vm_use - A batch that may access the space's buffers.
 */
struct salvo_vm_use {
	/** @node: In vm->uses; vm's lock. */
	struct list_head node;
	/** @number: Counts up within the space. */
	u64 number;
	/** @charged: Bytes of packet memory. */
	size_t charged;
	/** @fence: Of the batch, once it is pushed; vm's lock. */
	struct dma_fence *fence;
};

/**
 * struct salvo_vm - A GPU address space, of one file.
 */
struct salvo_vm {
	/** @ref: Of the file, the device's list, each context and each job being freed. */
	struct kref ref;
	/** @sdev: The device. */
	struct salvo_dev *sdev;
	/** @asid: Number of the space; not zero. */
	u32 asid;
	/** @pid: Process that opened the file. */
	pid_t pid;
	/** @comm: Its name. */
	char comm[TASK_COMM_LEN];

	/** @node: In sdev->spaces; sdev->space_lock. */
	struct list_head node;
	/** @closed: The file is gone; sdev->space_lock. */
	bool closed;
	/** @known: The device was told of the space; sdev->space_lock. */
	bool known;
	/** @end_seqno: Of SPACE_END, or 0; sdev->space_lock. */
	u64 end_seqno;
	/** @end: For SPACE_END; sdev->space_lock. */
	struct salvo_space_packet end;
	/** @retiring: Bindings on their way out; sdev->space_lock. */
	struct list_head retiring;

	/**
	 * @lock: Protects @uses, @last_use, @charged; with space_lock, writes to @bindings
	 * and @shared.
	 */
	spinlock_t lock;
	/** @bindings: What batches may access, by address; readers hold either lock. */
	struct rb_root bindings;
	/** @shared: Those of buffers that others have too; readers hold either lock. */
	struct list_head shared;
	/** @uses: Batches being checked, waiting or running, oldest first. */
	struct list_head uses;
	/** @last_use: Number of the newest. */
	u64 last_use;
	/** @charged: Packet memory of all of them. */
	size_t charged;

	/** @bytes: Bound VRAM. */
	atomic64_t bytes;
	/** @counters: What the file's batches cost. */
	struct salvo_counters counters;
	/** @last_interrupt: Number of the last one counted; of the hard handler. */
	u64 last_interrupt;
};

struct salvo_vm *salvo_vm_create(struct salvo_dev *sdev);
void salvo_vm_close(struct salvo_vm *vm);
void salvo_vm_put(struct salvo_vm *vm);

static inline struct salvo_vm *salvo_vm_get(struct salvo_vm *vm)
{
	kref_get(&vm->ref);
	return vm;
}

void salvo_vm_kick(struct salvo_dev *sdev);

void salvo_vm_begin_use(struct salvo_vm *vm, struct salvo_vm_use *use);
int salvo_vm_charge(struct salvo_vm *vm, struct salvo_vm_use *use, size_t bytes);
void salvo_vm_set_fence(struct salvo_vm *vm, struct salvo_vm_use *use, struct dma_fence *fence);
unsigned int salvo_vm_get_fences(struct salvo_vm *vm, struct dma_fence **fences,
				 unsigned int limit);
void salvo_vm_end_use(struct salvo_vm *vm, struct salvo_vm_use *use);
void salvo_vm_count_interrupt(struct salvo_vm *vm, u64 interrupt);

void salvo_vm_reclaim_work(struct work_struct *work);
void salvo_vm_reclaim_gone(struct salvo_dev *sdev);
int salvo_vm_restore(struct salvo_dev *sdev);
void salvo_vm_detach_all(struct salvo_dev *sdev);

#endif /* SALVO_VM_H */
