/* SPDX-License-Identifier: MIT */
/*
 * salvo_leaf.h - the slot that a worker and its execution unit share
 *
 * A leaf task goes from a worker of a work-stealing scheduler to an execution unit through memory
 * that both see (W4, W5 of US11340942), without a system call. A unit may be several cores of the
 * GPU; the first of them is the primary one.
 *
 *	worker						primary core
 *	stores task
 *	(release) stores 1 in doorbell
 *	fence, reads sleeping: 1: wakes the unit	(acquire) loads 1 from doorbell
 *							copies task, checks it
 *							divides it, runs its part
 *							meets the other cores
 *							stores completion, parts
 *	(acquire) loads 0 from doorbell			(release) stores 0 in doorbell
 *	reads completion, parts				fence, reads waiting: 1: notifies
 *
 * Plain loads and stores hand the task over: neither side uses a locked instruction. A side that is
 * going to sleep stores 1 in its word (sleeping, waiting), issues a fence and reads the doorbell
 * once more.
 *
 * The unit does not trust the worker: it reads each word of a task once, into its own memory, and
 * checks it there. An invalid task is refused, as a batch would be.
 */
#ifndef SALVO_LEAF_HW_H
#define SALVO_LEAF_HW_H

#include "salvo_hw.h"

/* struct salvo_slot_regs.opcode */
#define SALVO_SLOT_RUN		1u	/* run @dispatch */
#define SALVO_SLOT_DISCONNECT	2u	/* detach the unit from the slot (W7) */

/* struct salvo_slot_regs.status */
#define SALVO_SLOT_DONE		1u	/* every core has done its part */
#define SALVO_SLOT_FAILED	2u	/* parts with a clear bit in @completion have failed */
#define SALVO_SLOT_REFUSED	3u	/* the task is not valid; nothing ran */
#define SALVO_SLOT_DETACHED	4u	/* the unit has left the slot */

/**
 * struct salvo_slot_part - How a core's part of a task failed; fields as struct salvo_fault_regs.
 */
struct salvo_slot_part {
	/** @kind: SALVO_FAULT_*; SALVO_FAULT_NONE if it was stopped. */
	__u32 kind;
	/** @access: SALVO_ACCESS_* that was tried, or 0. */
	__u32 access;
	/** @item: Number of the work-item in the work-group. */
	__u32 item;
	/** @group: Number of the work-group, x fastest. */
	__u32 group;
	/** @address: That was touched, or of the instruction. */
	__u64 address;
};

/**
 * struct salvo_slot_regs - A slot, in a buffer of the address space.
 */
struct salvo_slot_regs {
	/** @doorbell: 1: the task is the unit's; 0: it is the worker's. */
	__u32 doorbell;
	/** @pad0: Unused, so that what follows has its own cache line. */
	__u32 pad0[15];
	/** @sleeping: 1: the unit must be woken after the doorbell was rung. Written by it. */
	__u32 sleeping;
	/** @pad1: Unused, so that what follows has its own cache line. */
	__u32 pad1[15];
	/** @waiting: 1: the worker must be notified when the doorbell is 0. Both write it. */
	__u32 waiting;
	/** @pad2: Unused, so that what follows has its own cache line. */
	__u32 pad2[15];
	/** @completion: Bit i: core i of the unit has done its part (W6). */
	__u64 completion;
	/** @status: SALVO_SLOT_DONE, ... */
	__u32 status;
	/** @pad3: Unused. */
	__u32 pad3;
	/** @started: When the primary core took the task, in ticks of the GPU's clock, or 0. */
	__u64 started;
	/** @ended: When all cores had done their parts. */
	__u64 ended;
	/** @pad7: Unused, so that what follows has its own cache line. */
	__u32 pad7[8];
	/** @opcode: SALVO_SLOT_RUN or SALVO_SLOT_DISCONNECT. */
	__u32 opcode;
	/** @pad4: Unused. */
	__u32 pad4[3];
	/** @dispatch: The task. Its head, eu_mask and args_offset are 0. */
	struct salvo_op_dispatch dispatch;
	/** @pad5: Unused. */
	__u32 pad5[4];
	/** @parts: Of the cores whose part failed. */
	struct salvo_slot_part parts[SALVO_MAX_UNITS];
	/** @pad6: Unused. */
	__u32 pad6[6];
	/** @args: Arguments, dispatch.args_size bytes; aligned to 64 bytes. */
	__u8 args[SALVO_MAX_DISPATCH_ARGUMENT_BYTES];
};

/* Bytes of a slot's buffer, whole pages */
#define SALVO_SLOT_BYTES	20480u

#ifndef __KERNEL__
/* The order of a store before a load, without a locked instruction */
static inline void salvo_slot_fence(void)
{
	__builtin_ia32_mfence();
}
#endif

#endif /* SALVO_LEAF_HW_H */
