/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_vm.h - GPU address spaces
 */
#ifndef SALVO_VM_H
#define SALVO_VM_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "salvo_device.h"

struct dma_fence;
struct salvo_client;

/**
 * struct salvo_vm_use - A batch that may access the buffers of an address space.
 */
struct salvo_vm_use {
	/** @node: Entry in vm->uses; protected by vm->lock. */
	struct list_head node;
	/** @number: Sequence number within the address space. */
	u64 number;
	/** @charged: Packet memory of the batch in bytes. */
	size_t charged;
	/** @fence: Finished fence of the batch, once it is armed; protected by vm->lock. */
	struct dma_fence *fence;
};

/**
 * struct salvo_vm - The GPU address space of an open file.
 */
struct salvo_vm {
	/** @ref: Held by the file, sdev->spaces, each context, and each job while it is freed. */
	struct kref ref;
	/** @sdev: The device. */
	struct salvo_dev *sdev;
	/** @client: Process that opened the file; holds a reference. */
	struct salvo_client *client;
	/** @asid: Address space identifier on the device; not zero. */
	u32 asid;
	/** @pid: Process that opened the file. */
	pid_t pid;
	/** @comm: Name of that process. */
	char comm[TASK_COMM_LEN];

	/** @node: Entry in sdev->spaces; protected by sdev->space_lock. */
	struct list_head node;
	/** @closed: The file was closed; protected by sdev->space_lock. */
	bool closed;
	/** @hw_known: A BIND was put on the ring; protected by sdev->space_lock. */
	bool hw_known;
	/** @end_seqno: Ring seqno of SPACE_END, or 0; protected by sdev->space_lock. */
	u64 end_seqno;
	/** @end: SPACE_END packet; protected by sdev->space_lock. */
	struct salvo_space_packet end;
	/** @slots: Number of its slots; written under sdev->space_lock. */
	unsigned int slots;
	/** @retiring: Vmas that wait for UNBIND; protected by sdev->space_lock. */
	struct list_head retiring;

	/**
	 * @lock: Protects @uses, @last_use and @charged. Writers of @vmas and @shared hold
	 * this and sdev->space_lock, readers either.
	 */
	spinlock_t lock;
	/** @vmas: Buffers that batches may access, by GPU address. */
	struct rb_root vmas;
	/** @shared: Vmas of buffers that were exported or imported. */
	struct list_head shared;
	/** @uses: Batches that are being validated, queued or running, oldest first. */
	struct list_head uses;
	/** @last_use: Sequence number of the newest batch. */
	u64 last_use;
	/** @charged: Packet memory of all batches in bytes. */
	size_t charged;

	/**
	 * @share_lock: Held for reading by SUBMIT from collecting the shared buffers to
	 * setting the batch's fence, for writing while a buffer becomes shared. So each
	 * batch either finds the buffer in @shared, or has its fence in @uses. Taken before
	 * reservation locks.
	 */
	struct rw_semaphore share_lock;
	/** @bytes: Bound VRAM in bytes. */
	atomic64_t bytes;
	/** @counters: Cost of the file's batches. */
	struct salvo_counters counters;
	/** @last_interrupt: Last interrupt counted; owned by the hard interrupt handler. */
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

void salvo_vm_queue_reclaim(struct salvo_dev *sdev);

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
