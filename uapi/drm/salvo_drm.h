/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR MIT */
/*
 * salvo_drm.h - the ioctl interface of the Salvo DRM driver
 *
 * A file of the render node is one GPU address space. A buffer object is bound
 * into it when it gets a handle there and keeps one GPU address for its whole
 * life. A context is a queue: batches of one context run one after the other,
 * batches of different contexts may overlap. SUBMIT hands over one batch: an array
 * of commands and a blob that holds the arguments of all its dispatches.
 *
 * Buffers go to other files and drivers, and come from them, through DRM's PRIME
 * ioctls. Synchronization is explicit, by the syncobjs that SUBMIT names; only
 * towards others, for buffers that were exported or imported, a batch also waits
 * for the fences of the dma-buf and adds its own. Documentation/uapi.rst tells the
 * life of each object and has an example.
 *
 * Rules of evolution
 *
 * - Structures only grow at their end; what an older userspace does not pass is
 *   taken as zero, and zero always means the behaviour of before.
 * - A longer structure than the driver knows is taken if what it does not know is
 *   zero, else refused with EINVAL. That holds for the arguments of every ioctl
 *   and for the elements of every array.
 * - Arrays carry the stride of their elements, so that elements can grow too.
 * - Fields and flag bits without a meaning must be zero; the driver checks.
 *   Fields marked "out" are not read.
 * - What is new bumps the driver's minor version and is listed below.
 *
 * Versions:
 *
 * 1.0 the first
 * 1.1 priority of a context; resets and the fault that banned it in CTX_QUERY, with the
 *     work-items that may have faulted; BO_QUERY, BO_SET_LABEL; PRIME; more limits, and
 *     DRM_SALVO_QUERY_MEMORY, in DEV_QUERY;
 *     a longer structure than known must be zero past its known end
 *
 * Errors have one meaning everywhere: EINVAL a field is wrong, ENOENT no such
 * handle or context, E2BIG over a limit that DEV_QUERY tells, ENOSPC no VRAM or no
 * GPU addresses left, EACCES a privilege is missing, EFAULT a bad user pointer,
 * ECANCELED a batch of this context was killed, EIO the context is banned, ENODEV
 * the GPU is gone. ENOMEM is the kernel's own memory. A fence always signals.
 */
#ifndef _SALVO_DRM_H_
#define _SALVO_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_SALVO_DEV_QUERY		0x00
#define DRM_SALVO_BO_CREATE		0x01
#define DRM_SALVO_BO_MMAP_OFFSET	0x02
#define DRM_SALVO_CTX_CREATE		0x03
#define DRM_SALVO_CTX_DESTROY		0x04
#define DRM_SALVO_CTX_QUERY		0x05
#define DRM_SALVO_SUBMIT		0x06
#define DRM_SALVO_BO_QUERY		0x07
#define DRM_SALVO_BO_SET_LABEL		0x08

/**
 * struct drm_salvo_array - An array of structures in user memory.
 */
struct drm_salvo_array {
	/** @stride: Bytes from one element to the next: the size the user compiled with. */
	__u32 stride;

	/** @count: Number of elements. */
	__u32 count;

	/** @pointer: Address of the first element; zero if @count is zero. */
	__u64 pointer;
};

/**
 * enum drm_salvo_query - What DEV_QUERY can tell.
 */
enum drm_salvo_query {
	/** @DRM_SALVO_QUERY_DEVICE: struct drm_salvo_device_info. */
	DRM_SALVO_QUERY_DEVICE = 0,
	/** @DRM_SALVO_QUERY_MEMORY: struct drm_salvo_memory_info. */
	DRM_SALVO_QUERY_MEMORY = 1,
};

/**
 * struct drm_salvo_device_info - The GPU and its limits.
 */
struct drm_salvo_device_info {
	/** @hw_version: Version of the hardware, major << 16 | minor. */
	__u32 hw_version;

	/** @units: Number of execution units. */
	__u32 units;

	/** @nodes: Number of nodes the units belong to. */
	__u32 nodes;

	/** @isa_level: x86-64 microarchitecture level the units execute: 2, 3 or 4. */
	__u32 isa_level;

	/** @vram_bytes: Size of video memory. */
	__u64 vram_bytes;

	/** @clock_hz: Rate of the GPU's timestamps. */
	__u64 clock_hz;

	/** @max_commands: Commands in one batch. */
	__u32 max_commands;

	/** @max_argument_bytes: Arguments of all dispatches of one batch together. */
	__u32 max_argument_bytes;

	/** @max_dispatch_argument_bytes: Arguments of one dispatch. */
	__u32 max_dispatch_argument_bytes;

	/** @max_group_items: Work-items in one work-group. */
	__u32 max_group_items;

	/** @max_local_bytes: Local memory of one work-group. */
	__u32 max_local_bytes;

	/** @max_syncs: Elements in each of a submission's syncobj arrays. */
	__u32 max_syncs;

	/** @max_items: Work-items in one dimension of a dispatch. */
	__u64 max_items;

	/** @resets: Times the GPU was reset since the driver was bound. */
	__u64 resets;

	/** @faults: Faults that the GPU reported since then. */
	__u64 faults;

	/** @max_groups: Work-groups of one dispatch. */
	__u64 max_groups;

	/** @max_dispatches: Dispatches in one batch. */
	__u32 max_dispatches;

	/** @max_contexts: Contexts of one file. */
	__u32 max_contexts;

	/** @max_label_bytes: Label of a buffer, with the zero at its end. */
	__u32 max_label_bytes;

	/** @page_bytes: Sizes and GPU addresses of buffers are multiples of it. */
	__u32 page_bytes;
};

/**
 * struct drm_salvo_memory_info - How full memory is at this moment.
 *
 * Buffers that were closed count until the batches that may use them are done.
 */
struct drm_salvo_memory_info {
	/** @vram_bytes: Size of video memory. */
	__u64 vram_bytes;

	/** @vram_free: Bytes of it that no buffer has. */
	__u64 vram_free;

	/** @vram_largest: Largest buffer that fits between the others. */
	__u64 vram_largest;

	/** @system_bytes: GPU addresses for imported buffers; zero if the GPU takes none. */
	__u64 system_bytes;

	/** @system_free: Bytes of them that no buffer has. */
	__u64 system_free;
};

/**
 * struct drm_salvo_dev_query - DEV_QUERY: ask for a structure of information.
 *
 * With a zero @pointer only @size is returned. Else at most @size bytes are
 * written and @size becomes the number of bytes that the driver knows; bytes of
 * the user's structure past that are zeroed.
 */
struct drm_salvo_dev_query {
	/** @type: One of enum drm_salvo_query. */
	__u32 type;

	/** @size: Size of the structure at @pointer, in and out. */
	__u32 size;

	/** @pointer: User address of the structure, or zero to ask for its size. */
	__u64 pointer;
};

/** define DRM_SALVO_BO_EXEC - The GPU may execute code from the buffer, and not write to it. */
#define DRM_SALVO_BO_EXEC	(1 << 0)
/** define DRM_SALVO_BO_READONLY - The GPU may not write to the buffer. */
#define DRM_SALVO_BO_READONLY	(1 << 1)
/** define DRM_SALVO_BO_IMPORTED - The memory is another driver's; only BO_QUERY tells it. */
#define DRM_SALVO_BO_IMPORTED	(1 << 2)

/**
 * struct drm_salvo_bo_create - BO_CREATE: a buffer in VRAM, filled with zeros.
 *
 * The buffer is bound into the file's address space. It is freed by GEM_CLOSE;
 * its memory and its GPU address come free when the batches that were submitted
 * before are done.
 */
struct drm_salvo_bo_create {
	/** @size: Bytes, not zero; rounded up to whole pages, out. */
	__u64 size;

	/** @flags: DRM_SALVO_BO_EXEC, DRM_SALVO_BO_READONLY. */
	__u32 flags;

	/** @handle: GEM handle, out. */
	__u32 handle;

	/** @address: GPU address, out. */
	__u64 address;
};

/**
 * struct drm_salvo_bo_mmap_offset - BO_MMAP_OFFSET: the offset to map a buffer at.
 */
struct drm_salvo_bo_mmap_offset {
	/** @handle: GEM handle. */
	__u32 handle;

	/** @pad: Must be zero. */
	__u32 pad;

	/** @offset: Offset for mmap() of the render node, out. */
	__u64 offset;
};

/**
 * struct drm_salvo_bo_query - BO_QUERY: what a buffer is; the way to learn it of an imported one.
 */
struct drm_salvo_bo_query {
	/** @handle: GEM handle. */
	__u32 handle;

	/** @flags: DRM_SALVO_BO_*, out. */
	__u32 flags;

	/** @size: Bytes, out. */
	__u64 size;

	/** @address: GPU address in this file's address space, out. */
	__u64 address;
};

/**
 * struct drm_salvo_bo_set_label - BO_SET_LABEL: name a buffer, for people who debug.
 *
 * The label is the buffer's: who shares it sees and sets the same one.
 */
struct drm_salvo_bo_set_label {
	/** @handle: GEM handle. */
	__u32 handle;

	/** @pad: Must be zero. */
	__u32 pad;

	/**
	 * @label: User address of a string that ends with a zero, at most
	 * @max_label_bytes of struct drm_salvo_device_info with it, else E2BIG. A
	 * zero address takes the label away.
	 */
	__u64 label;
};

/**
 * enum drm_salvo_priority - Which context's batches go first.
 *
 * Batches that wait for room on the GPU go there in the order of their contexts'
 * priorities, and in turns between contexts of the same priority. A work-group that runs
 * is not interrupted, but whenever a unit has ended some, within about 2 ms if they are
 * short, it goes on with the highest priority that is on the GPU, of whatever file. Fences
 * signal in the order in which their batches went to the GPU, so that of a batch waits for
 * those that were there before; but those of high priority and all others do not wait for
 * each other, on a GPU with two rings.
 */
enum drm_salvo_priority {
	/** @DRM_SALVO_PRIORITY_NORMAL: What a context has that asks for nothing. */
	DRM_SALVO_PRIORITY_NORMAL = 0,
	/** @DRM_SALVO_PRIORITY_LOW: After all others. */
	DRM_SALVO_PRIORITY_LOW = 1,
	/** @DRM_SALVO_PRIORITY_HIGH: Before all others; needs CAP_SYS_NICE, else EACCES. */
	DRM_SALVO_PRIORITY_HIGH = 2,
};

/**
 * struct drm_salvo_ctx_create - CTX_CREATE: a queue for batches.
 *
 * A file has at most @max_contexts of struct drm_salvo_device_info, else E2BIG.
 */
struct drm_salvo_ctx_create {
	/** @flags: Must be zero. */
	__u32 flags;

	/** @id: Identifier of the context, never zero, out. */
	__u32 id;

	/** @eu_mask: Execution units its batches may use, bit 0 is unit 0; zero means all. */
	__u64 eu_mask;

	/** @priority: One of enum drm_salvo_priority. */
	__u32 priority;

	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * struct drm_salvo_ctx_destroy - CTX_DESTROY: end a context; its batches in flight complete.
 */
struct drm_salvo_ctx_destroy {
	/** @id: The context. */
	__u32 id;

	/** @pad: Must be zero. */
	__u32 pad;
};

/** define DRM_SALVO_CTX_BANNED - A batch of the context hung or faulted; SUBMIT gives EIO. */
#define DRM_SALVO_CTX_BANNED	(1 << 0)

/**
 * enum drm_salvo_fault_kind - Why a batch could not go on.
 */
enum drm_salvo_fault_kind {
	/** @DRM_SALVO_FAULT_NONE: Nothing has happened. */
	DRM_SALVO_FAULT_NONE = 0,
	/** @DRM_SALVO_FAULT_RING: The GPU could not read what the driver gave it. */
	DRM_SALVO_FAULT_RING = 1,
	/** @DRM_SALVO_FAULT_DMA: An access to system memory failed. */
	DRM_SALVO_FAULT_DMA = 2,
	/** @DRM_SALVO_FAULT_PACKET: The GPU refused the batch as a whole. */
	DRM_SALVO_FAULT_PACKET = 3,
	/** @DRM_SALVO_FAULT_PAGE: No buffer of the file is there, or it forbids the access. */
	DRM_SALVO_FAULT_PAGE = 4,
	/** @DRM_SALVO_FAULT_KERNEL: Any other way that a kernel cannot go on. */
	DRM_SALVO_FAULT_KERNEL = 5,
	/** @DRM_SALVO_FAULT_STACK: A work-item ran over its private memory. */
	DRM_SALVO_FAULT_STACK = 6,
	/** @DRM_SALVO_FAULT_LOCAL: A work-item ran out of local memory. */
	DRM_SALVO_FAULT_LOCAL = 7,
	/** @DRM_SALVO_FAULT_ARITHMETIC: Division by zero, or overflow of one. */
	DRM_SALVO_FAULT_ARITHMETIC = 8,
	/** @DRM_SALVO_FAULT_INSTRUCTION: Illegal or privileged instruction. */
	DRM_SALVO_FAULT_INSTRUCTION = 9,
	/** @DRM_SALVO_FAULT_BARRIER: Not all work-items of a group reached a barrier. */
	DRM_SALVO_FAULT_BARRIER = 10,
	/** @DRM_SALVO_FAULT_SYSCALL: A kernel called the operating system. */
	DRM_SALVO_FAULT_SYSCALL = 11,
	/** @DRM_SALVO_FAULT_HANG: The batch ran longer than the driver's time limit. */
	DRM_SALVO_FAULT_HANG = 256,
};

/** define DRM_SALVO_ACCESS_READ - The fault was a read. */
#define DRM_SALVO_ACCESS_READ	(1 << 0)
/** define DRM_SALVO_ACCESS_WRITE - The fault was a write. */
#define DRM_SALVO_ACCESS_WRITE	(1 << 1)
/** define DRM_SALVO_ACCESS_EXEC - The fault was the fetch of an instruction. */
#define DRM_SALVO_ACCESS_EXEC	(1 << 2)

/**
 * struct drm_salvo_fault - What went wrong with a batch, as far as is known.
 */
struct drm_salvo_fault {
	/** @kind: One of enum drm_salvo_fault_kind; a number not listed is a newer GPU's. */
	__u32 kind;

	/** @access: DRM_SALVO_ACCESS_* that was tried, or zero. */
	__u32 access;

	/** @address: GPU address of the access, or zero. */
	__u64 address;

	/** @batch: The batch: what @submitted was when it had been accepted, so the first is 1. */
	__u64 batch;

	/** @command: Index of the command in the batch, or ~0. */
	__u32 command;

	/** @done: Commands of the batch that ended well before. */
	__u32 done;

	/** @group: Linear number of the work-group, x fastest. */
	__u64 group;

	/** @item: Linear number of the work-item in its group, or ~0 if it is not known. */
	__u32 item;

	/**
	 * @items: If @item is ~0: zero, or bits 0 to 15 are the number of the first, and bits 16 to
	 * 31 how many follow it in the row, of the work-items of which it was one.
	 */
	__u32 items;
};

/**
 * struct drm_salvo_ctx_query - CTX_QUERY: the state of a context.
 */
struct drm_salvo_ctx_query {
	/** @id: The context. */
	__u32 id;

	/** @state: DRM_SALVO_CTX_BANNED or zero, out. */
	__u32 state;

	/** @submitted: Batches that SUBMIT accepted, out. */
	__u64 submitted;

	/** @completed: Batches that ended, well or not, out. */
	__u64 completed;

	/** @failed: Batches that ended with an error, out. */
	__u64 failed;

	/** @guilty: Batches of the context that hung or faulted, out. */
	__u64 guilty;

	/** @innocent: Resets for another's hang with a batch of this context on the GPU, out. */
	__u64 innocent;

	/** @fault: The first fault, which banned the context; zeros if there was none, out. */
	struct drm_salvo_fault fault;
};

/**
 * enum drm_salvo_command_type - The commands of a batch.
 *
 * DISPATCH, COPY, FILL and TIMESTAMP are work. Without pipe controls all work of
 * a batch may run at the same time, in any order.
 */
enum drm_salvo_command_type {
	/** @DRM_SALVO_DISPATCH: Run a kernel over a range of work-items. */
	DRM_SALVO_DISPATCH = 1,
	/** @DRM_SALVO_PIPE_CONTROL: Order work within the batch. */
	DRM_SALVO_PIPE_CONTROL = 2,
	/** @DRM_SALVO_COPY: Copy bytes between buffers. */
	DRM_SALVO_COPY = 3,
	/** @DRM_SALVO_FILL: Fill a buffer with a 32-bit pattern. */
	DRM_SALVO_FILL = 4,
	/** @DRM_SALVO_TIMESTAMP: Store the GPU's clock. */
	DRM_SALVO_TIMESTAMP = 5,
};

/** define DRM_SALVO_DISPATCH_BARRIERS - The kernel has barriers: each work-item is a thread. */
#define DRM_SALVO_DISPATCH_BARRIERS	(1 << 0)
/** define DRM_SALVO_PIPE_CONTROL_ALL - All work after the command waits for all work before it. */
#define DRM_SALVO_PIPE_CONTROL_ALL	(1 << 0)

/**
 * struct drm_salvo_command - One command of a batch.
 *
 * Fields that the @type does not use must be zero. GPU addresses must lie in
 * buffers of the submitting file.
 */
struct drm_salvo_command {
	/** @type: One of enum drm_salvo_command_type. */
	__u32 type;

	/** @flags: DRM_SALVO_DISPATCH_* or DRM_SALVO_PIPE_CONTROL_*. */
	__u32 flags;

	/** @entry: DISPATCH: GPU address of the kernel's entry in an executable buffer. */
	__u64 entry;

	/** @eu_mask: DISPATCH: units that may run it, within the context's; zero means those. */
	__u64 eu_mask;

	/** @items: DISPATCH: work-items in x, y and z; at least 1 each. */
	__u32 items[3];

	/**
	 * @group: DISPATCH: work-items of a work-group in x, y and z; at least 1 each.
	 * Where @items is no multiple of it the last work-groups are smaller.
	 */
	__u32 group[3];

	/** @args_offset: DISPATCH: start of its arguments in the blob, a multiple of 16. */
	__u32 args_offset;

	/** @args_size: DISPATCH: bytes of its arguments. */
	__u32 args_size;

	/** @local_size: DISPATCH: bytes of local memory for each work-group. */
	__u32 local_size;

	/** @dims: DISPATCH: dimensions of the range, 1 to 3, as the kernel sees it. */
	__u32 dims;

	/** @consumer: PIPE_CONTROL: index of the command that waits. */
	__u32 consumer;

	/** @producer: PIPE_CONTROL: index of the command that it waits for, less than @consumer. */
	__u32 producer;

	/** @dst: COPY, FILL: GPU address written; TIMESTAMP: of 8 bytes, aligned to 8. */
	__u64 dst;

	/** @src: COPY: GPU address read. The two ranges must not overlap. */
	__u64 src;

	/** @size: COPY, FILL: bytes, not zero; for FILL a multiple of 4, as @dst. */
	__u64 size;

	/** @pattern: FILL: the value. */
	__u32 pattern;

	/** @pad: Must be zero. */
	__u32 pad;
};

/** define DRM_SALVO_SYNC_TIMELINE - @point of a timeline syncobj; else it is binary. */
#define DRM_SALVO_SYNC_TIMELINE	(1 << 0)

/**
 * struct drm_salvo_sync - A syncobj to wait for or to signal.
 */
struct drm_salvo_sync {
	/** @handle: Handle of the syncobj. */
	__u32 handle;

	/** @flags: DRM_SALVO_SYNC_TIMELINE or zero. */
	__u32 flags;

	/** @point: Point of a timeline, not zero; zero for a binary syncobj. */
	__u64 point;
};

/**
 * struct drm_salvo_profile - When a command of a batch ran, in ticks of the GPU's clock.
 *
 * A pipe control leaves its element zero.
 */
struct drm_salvo_profile {
	/** @queued: The command processor read the command. */
	__u64 queued;

	/** @ready: Its last producer was done. */
	__u64 ready;

	/** @started: A unit took its first work-group. */
	__u64 started;

	/** @ended: A unit finished its last work-group. */
	__u64 ended;
};

/**
 * struct drm_salvo_submit - SUBMIT: one batch, one packet, one interrupt.
 *
 * Beside @waits the batch waits for the fences that others have put on the buffers
 * which this file has exported or imported, all of them, and its own fence is put
 * there. Batches of the same file wait for each other only where @waits says so.
 */
struct drm_salvo_submit {
	/** @ctx_id: The context. */
	__u32 ctx_id;

	/** @flags: Must be zero. */
	__u32 flags;

	/** @commands: Array of struct drm_salvo_command, at least one. */
	struct drm_salvo_array commands;

	/** @waits: Array of struct drm_salvo_sync to wait for before the batch starts. */
	struct drm_salvo_array waits;

	/** @signals: Array of struct drm_salvo_sync to signal when all of the batch is done. */
	struct drm_salvo_array signals;

	/** @args: User address of the argument blob; zero if @args_size is zero. */
	__u64 args;

	/** @args_size: Bytes of the argument blob. */
	__u32 args_size;

	/** @pad: Must be zero. */
	__u32 pad;

	/**
	 * @profile: GPU address in VRAM, aligned to 8, where the GPU writes one struct
	 * drm_salvo_profile for each command; zero for none.
	 */
	__u64 profile;
};

#define DRM_IOCTL_SALVO_DEV_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_SALVO_DEV_QUERY, struct drm_salvo_dev_query)
#define DRM_IOCTL_SALVO_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_SALVO_BO_CREATE, struct drm_salvo_bo_create)
#define DRM_IOCTL_SALVO_BO_MMAP_OFFSET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_SALVO_BO_MMAP_OFFSET, struct drm_salvo_bo_mmap_offset)
#define DRM_IOCTL_SALVO_CTX_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_SALVO_CTX_CREATE, struct drm_salvo_ctx_create)
#define DRM_IOCTL_SALVO_CTX_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_SALVO_CTX_DESTROY, struct drm_salvo_ctx_destroy)
#define DRM_IOCTL_SALVO_CTX_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_SALVO_CTX_QUERY, struct drm_salvo_ctx_query)
#define DRM_IOCTL_SALVO_SUBMIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_SALVO_SUBMIT, struct drm_salvo_submit)
#define DRM_IOCTL_SALVO_BO_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_SALVO_BO_QUERY, struct drm_salvo_bo_query)
#define DRM_IOCTL_SALVO_BO_SET_LABEL \
	DRM_IOW(DRM_COMMAND_BASE + DRM_SALVO_BO_SET_LABEL, struct drm_salvo_bo_set_label)

#if defined(__cplusplus)
}
#endif

#endif /* _SALVO_DRM_H_ */
