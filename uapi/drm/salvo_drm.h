/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR MIT */
/*
 * salvo_drm.h - the ioctl interface of the Salvo DRM driver
 *
 * An open file of the render node is one GPU address space. A buffer object is bound
 * in it while the file has a handle of it; its GPU address never changes. A context
 * is a queue: batches of one context run in order, batches of different contexts may
 * overlap. SUBMIT submits one batch: an array of commands, and a blob with the
 * arguments of all dispatches.
 *
 * Buffers are shared with other files and drivers through DRM's PRIME ioctls.
 * Synchronization is explicit, by the syncobjs that SUBMIT names. In addition a batch
 * waits for the implicit fences of buffers that its file has exported or imported, and
 * adds its own. Documentation/uapi.rst describes the lifetime of each object and has an
 * example.
 *
 * Rules of evolution
 *
 * - Structures only grow at their end. Fields that an older userspace does not pass
 *   are zero, and zero always selects the previous behaviour.
 * - A structure that is longer than the driver's is accepted if the fields unknown to
 *   the driver are zero, else it fails with EINVAL. This applies to the argument of
 *   every ioctl and to the elements of every array.
 * - Arrays carry the stride of their elements, so that elements can grow as well.
 * - Unused fields and flag bits must be zero; the driver checks them. Fields marked
 *   "out" are not read.
 * - An addition increments the driver's minor version and is listed below.
 *
 * Versions:
 *
 * 1.0 Initial version.
 * 1.1 Priority of a context. CTX_QUERY returns resets and the fault that banned the
 *     context, with the work-items that may have faulted. BO_QUERY, BO_SET_LABEL. PRIME.
 *     DEV_QUERY returns more limits, and DRM_SALVO_QUERY_MEMORY. The tail of a structure
 *     that is longer than the driver's must be zero.
 * 1.2 COPY_RECT, FILL_PATTERN.
 * 1.3 SLOT_ATTACH, SLOT_DETACH, SLOT_WAKE, SLOT_WAIT; @max_slots of DEV_QUERY.
 * 1.4 DRM_SALVO_SUBMIT_OVERLAP, DRM_SALVO_PIPE_CONTROL_PREVIOUS; @features of DEV_QUERY.
 * 1.5 DRM_SALVO_DISPATCH_CONTENDS.
 *
 * Each errno has one meaning: EINVAL a field is invalid, ENOENT no such handle, context or slot,
 * E2BIG a limit of DEV_QUERY is exceeded, ENOSPC no VRAM, GPU addresses or slots left,
 * EOPNOTSUPP the GPU cannot, ETIME a timeout has passed, EACCES a privilege is missing,
 * EFAULT an invalid user pointer, ECANCELED a batch of this context was killed, EIO the
 * context is banned, ENODEV the GPU is gone, ENOMEM no kernel memory. A fence always
 * signals.
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
#define DRM_SALVO_SLOT_ATTACH		0x09
#define DRM_SALVO_SLOT_DETACH		0x0a
#define DRM_SALVO_SLOT_WAKE		0x0b
#define DRM_SALVO_SLOT_WAIT		0x0c

/**
 * struct drm_salvo_array - An array of structures in user memory.
 */
struct drm_salvo_array {
	/** @stride: Size of an element in the version that userspace was compiled with. */
	__u32 stride;

	/** @count: Number of elements. */
	__u32 count;

	/** @pointer: Address of the first element; zero if @count is zero. */
	__u64 pointer;
};

/**
 * enum drm_salvo_query - Structures that DEV_QUERY returns.
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

	/** @nodes: Number of NUMA nodes of the units. */
	__u32 nodes;

	/** @isa_level: x86-64 level of the units, 2 to 4; 5 with AVX512_{VPOPCNTDQ,BITALG}. */
	__u32 isa_level;

	/** @vram_bytes: Size of video memory. */
	__u64 vram_bytes;

	/** @clock_hz: Frequency of the GPU's timestamps. */
	__u64 clock_hz;

	/** @max_commands: Maximum number of commands in one batch. */
	__u32 max_commands;

	/** @max_argument_bytes: Maximum size of the argument blob of one batch. */
	__u32 max_argument_bytes;

	/** @max_dispatch_argument_bytes: Maximum size of the arguments of one dispatch. */
	__u32 max_dispatch_argument_bytes;

	/** @max_group_items: Maximum number of work-items in one work-group. */
	__u32 max_group_items;

	/** @max_local_bytes: Maximum local memory of one work-group. */
	__u32 max_local_bytes;

	/** @max_syncs: Maximum length of each syncobj array of a submission. */
	__u32 max_syncs;

	/** @max_items: Maximum number of work-items in one dimension of a dispatch. */
	__u64 max_items;

	/** @resets: Number of GPU resets since the driver was bound. */
	__u64 resets;

	/** @faults: Number of faults that the GPU reported since then. */
	__u64 faults;

	/** @max_groups: Maximum number of work-groups of one dispatch. */
	__u64 max_groups;

	/** @max_dispatches: Maximum number of dispatches in one batch. */
	__u32 max_dispatches;

	/** @max_contexts: Maximum number of contexts of one file. */
	__u32 max_contexts;

	/** @max_label_bytes: Maximum size of a label, including the terminating zero. */
	__u32 max_label_bytes;

	/** @page_bytes: Page size: sizes and GPU addresses of buffers are multiples of it. */
	__u32 page_bytes;

	/** @max_slots: Number of slots of the GPU, of all processes; zero if it has none. */
	__u32 max_slots;

	/** @features: DRM_SALVO_FEATURE_*; other bits may be set by newer drivers. */
	__u32 features;
};

/** define DRM_SALVO_FEATURE_OVERLAP - SUBMIT accepts DRM_SALVO_SUBMIT_OVERLAP. */
#define DRM_SALVO_FEATURE_OVERLAP	(1 << 0)
/** define DRM_SALVO_FEATURE_CONTENDS - A DISPATCH accepts DRM_SALVO_DISPATCH_CONTENDS. */
#define DRM_SALVO_FEATURE_CONTENDS	(1 << 1)

/**
 * struct drm_salvo_memory_info - Current use of memory.
 *
 * Closed buffers count until the batches that may use them are done.
 */
struct drm_salvo_memory_info {
	/** @vram_bytes: Size of video memory. */
	__u64 vram_bytes;

	/** @vram_free: Free bytes of video memory. */
	__u64 vram_free;

	/** @vram_largest: Largest contiguous free range of video memory. */
	__u64 vram_largest;

	/** @system_bytes: Size of the GPU address range for imports; zero if there is none. */
	__u64 system_bytes;

	/** @system_free: Free bytes of that range. */
	__u64 system_free;
};

/**
 * struct drm_salvo_dev_query - DEV_QUERY: read a structure of information.
 *
 * If @pointer is zero only @size is returned. Otherwise at most @size bytes are written,
 * @size is set to the size of the driver's structure, and the tail of a longer structure
 * in userspace is zeroed.
 */
struct drm_salvo_dev_query {
	/** @type: One of enum drm_salvo_query. */
	__u32 type;

	/** @size: Size of the structure at @pointer, in and out. */
	__u32 size;

	/** @pointer: User address of the structure, or zero to query its size. */
	__u64 pointer;
};

/** define DRM_SALVO_BO_EXEC - The GPU may execute code from the buffer, and not write to it. */
#define DRM_SALVO_BO_EXEC	(1 << 0)
/** define DRM_SALVO_BO_READONLY - The GPU may not write to the buffer. */
#define DRM_SALVO_BO_READONLY	(1 << 1)
/** define DRM_SALVO_BO_IMPORTED - The memory is another driver's; returned by BO_QUERY only. */
#define DRM_SALVO_BO_IMPORTED	(1 << 2)

/**
 * struct drm_salvo_bo_create - BO_CREATE: a buffer in VRAM, filled with zeros.
 *
 * The buffer is bound in the file's address space. GEM_CLOSE closes the handle; memory
 * and GPU address are freed when all batches submitted before that are done.
 */
struct drm_salvo_bo_create {
	/** @size: Size in bytes, not zero. Out: rounded up to whole pages. */
	__u64 size;

	/** @flags: DRM_SALVO_BO_EXEC, DRM_SALVO_BO_READONLY. */
	__u32 flags;

	/** @handle: GEM handle, out. */
	__u32 handle;

	/** @address: GPU address, out. */
	__u64 address;
};

/**
 * struct drm_salvo_bo_mmap_offset - BO_MMAP_OFFSET: get the offset for mmap().
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
 * struct drm_salvo_bo_query - BO_QUERY: size, GPU address and flags, also of imported buffers.
 */
struct drm_salvo_bo_query {
	/** @handle: GEM handle. */
	__u32 handle;

	/** @flags: DRM_SALVO_BO_*, out. */
	__u32 flags;

	/** @size: Size in bytes, out. */
	__u64 size;

	/** @address: GPU address, out. */
	__u64 address;
};

/**
 * struct drm_salvo_bo_set_label - BO_SET_LABEL: set the label of a buffer, for debugging.
 *
 * A shared buffer has one label, which each file that has it can set.
 */
struct drm_salvo_bo_set_label {
	/** @handle: GEM handle. */
	__u32 handle;

	/** @pad: Must be zero. */
	__u32 pad;

	/**
	 * @label: User address of a zero-terminated string of at most @max_label_bytes
	 * (struct drm_salvo_device_info) including the zero, else E2BIG. A zero address
	 * removes the label.
	 */
	__u64 label;
};

/**
 * enum drm_salvo_priority - Priority of a context.
 *
 * Queued batches are put on the GPU in the order of their contexts' priorities, and
 * round-robin between contexts of the same priority. A running work-group is not
 * preempted; but after each chunk of work-groups, which takes about 2 ms if they are short,
 * a unit continues with the highest priority on the GPU, of any file. Fences of one context
 * signal in the order of its batches, and those of other files do not wait for them. On a GPU
 * that cannot report batches out of order, fences signal in the order in which the batches
 * were put on it; with two rings, those of high priority and others do not wait for each other.
 */
enum drm_salvo_priority {
	/** @DRM_SALVO_PRIORITY_NORMAL: Default. */
	DRM_SALVO_PRIORITY_NORMAL = 0,
	/** @DRM_SALVO_PRIORITY_LOW: After all others. */
	DRM_SALVO_PRIORITY_LOW = 1,
	/** @DRM_SALVO_PRIORITY_HIGH: Before all others; needs CAP_SYS_NICE, else EACCES. */
	DRM_SALVO_PRIORITY_HIGH = 2,
};

/**
 * struct drm_salvo_ctx_create - CTX_CREATE: create a context.
 *
 * A file has at most @max_contexts of struct drm_salvo_device_info, else E2BIG.
 */
struct drm_salvo_ctx_create {
	/** @flags: Must be zero. */
	__u32 flags;

	/** @id: Identifier of the context, never zero, out. */
	__u32 id;

	/** @eu_mask: Execution units that its batches may use; bit 0 is unit 0, zero means all. */
	__u64 eu_mask;

	/** @priority: One of enum drm_salvo_priority. */
	__u32 priority;

	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * struct drm_salvo_ctx_destroy - CTX_DESTROY: destroy a context; its batches in flight complete.
 */
struct drm_salvo_ctx_destroy {
	/** @id: The context. */
	__u32 id;

	/** @pad: Must be zero. */
	__u32 pad;
};

/** define DRM_SALVO_CTX_BANNED - A batch hung or faulted; SUBMIT fails with EIO. */
#define DRM_SALVO_CTX_BANNED	(1 << 0)

/**
 * enum drm_salvo_fault_kind - Why a batch failed.
 */
enum drm_salvo_fault_kind {
	/** @DRM_SALVO_FAULT_NONE: No fault. */
	DRM_SALVO_FAULT_NONE = 0,
	/** @DRM_SALVO_FAULT_RING: The GPU could not read the ring entry or the packet. */
	DRM_SALVO_FAULT_RING = 1,
	/** @DRM_SALVO_FAULT_DMA: An access to system memory failed. */
	DRM_SALVO_FAULT_DMA = 2,
	/** @DRM_SALVO_FAULT_PACKET: The GPU rejected the packet. */
	DRM_SALVO_FAULT_PACKET = 3,
	/** @DRM_SALVO_FAULT_PAGE: The address is in no buffer that allows the access. */
	DRM_SALVO_FAULT_PAGE = 4,
	/** @DRM_SALVO_FAULT_KERNEL: Any other fault of a kernel. */
	DRM_SALVO_FAULT_KERNEL = 5,
	/** @DRM_SALVO_FAULT_STACK: A work-item overflowed its private memory. */
	DRM_SALVO_FAULT_STACK = 6,
	/** @DRM_SALVO_FAULT_LOCAL: An access outside of the local memory. */
	DRM_SALVO_FAULT_LOCAL = 7,
	/** @DRM_SALVO_FAULT_ARITHMETIC: Division by zero, or overflow of a division. */
	DRM_SALVO_FAULT_ARITHMETIC = 8,
	/** @DRM_SALVO_FAULT_INSTRUCTION: Illegal or privileged instruction. */
	DRM_SALVO_FAULT_INSTRUCTION = 9,
	/** @DRM_SALVO_FAULT_BARRIER: Not all work-items of a work-group reached a barrier. */
	DRM_SALVO_FAULT_BARRIER = 10,
	/** @DRM_SALVO_FAULT_SYSCALL: A kernel made a system call. */
	DRM_SALVO_FAULT_SYSCALL = 11,
	/** @DRM_SALVO_FAULT_HANG: The batch ran longer than the driver's timeout. */
	DRM_SALVO_FAULT_HANG = 256,
};

/** define DRM_SALVO_ACCESS_READ - The fault was a read. */
#define DRM_SALVO_ACCESS_READ	(1 << 0)
/** define DRM_SALVO_ACCESS_WRITE - The fault was a write. */
#define DRM_SALVO_ACCESS_WRITE	(1 << 1)
/** define DRM_SALVO_ACCESS_EXEC - The fault was the fetch of an instruction. */
#define DRM_SALVO_ACCESS_EXEC	(1 << 2)

/**
 * struct drm_salvo_fault - Fault of a batch.
 */
struct drm_salvo_fault {
	/** @kind: One of enum drm_salvo_fault_kind; newer GPUs may report others. */
	__u32 kind;

	/** @access: DRM_SALVO_ACCESS_* of the access, or zero. */
	__u32 access;

	/** @address: GPU address of the access, or zero. */
	__u64 address;

	/** @batch: Position of the batch in the context; the first batch is 1. */
	__u64 batch;

	/** @command: Index of the command in the batch, or ~0. */
	__u32 command;

	/**
	 * @done: Number of commands of the batch that were done: after a fault all but those that
	 * fault and those that wait for them.
	 */
	__u32 done;

	/** @group: Linear index of the work-group, x fastest. */
	__u64 group;

	/** @item: Linear index of the work-item in its work-group, or ~0 if it is not known. */
	__u32 item;

	/**
	 * @items: If @item is ~0, zero or the range of work-items that it is in: bits 0 to 15 are
	 * the index of the first one, bits 16 to 31 the number of those that follow it.
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

	/** @submitted: Number of batches submitted, out. */
	__u64 submitted;

	/** @completed: Number of batches that ended, including failed ones, out. */
	__u64 completed;

	/** @failed: Number of batches that ended with an error, out. */
	__u64 failed;

	/** @guilty: Number of batches that hung or faulted, out. */
	__u64 guilty;

	/** @innocent: Number of resets, for other contexts' hangs, that ended its batches, out. */
	__u64 innocent;

	/** @fault: The first fault, which banned the context; zero if there was none, out. */
	struct drm_salvo_fault fault;
};

/**
 * enum drm_salvo_command_type - The commands of a batch.
 *
 * All commands but PIPE_CONTROL are work. Without pipe controls all work of a batch
 * may run concurrently and in any order.
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
	/** @DRM_SALVO_COPY_RECT: Copy a box of rows and slices; its arguments are its shape. */
	DRM_SALVO_COPY_RECT = 6,
	/** @DRM_SALVO_FILL_PATTERN: Fill a buffer with its arguments, over and over. */
	DRM_SALVO_FILL_PATTERN = 7,
};

/**
 * struct drm_salvo_rect - Shape of a COPY_RECT, in the argument blob.
 *
 * @width, @height and @depth are not zero. A row pitch is at least @width, a slice pitch at
 * least @height times the row pitch. Either box, from its first byte to its last, lies in one
 * buffer. Where one begins before the other ends the pitches of both must be the same, and no
 * byte may be in both.
 */
struct drm_salvo_rect {
	/** @width: Bytes of a row. */
	__u64 width;

	/** @height: Rows of a slice. */
	__u64 height;

	/** @depth: Slices. */
	__u64 depth;

	/** @dst_row_pitch: Bytes from one row to the next, where it is written. */
	__u64 dst_row_pitch;

	/** @dst_slice_pitch: Bytes from one slice to the next, where it is written. */
	__u64 dst_slice_pitch;

	/** @src_row_pitch: Bytes from one row to the next, where it is read. */
	__u64 src_row_pitch;

	/** @src_slice_pitch: Bytes from one slice to the next, where it is read. */
	__u64 src_slice_pitch;
};

/** define DRM_SALVO_MAX_PATTERN_BYTES - Longest pattern of a FILL_PATTERN. */
#define DRM_SALVO_MAX_PATTERN_BYTES	128

/** define DRM_SALVO_DISPATCH_BARRIERS - The kernel needs a user-level thread per work-item. */
#define DRM_SALVO_DISPATCH_BARRIERS	(1 << 0)
/**
 * define DRM_SALVO_DISPATCH_CONTENDS - Units may contend for the cache lines that it writes.
 *
 * No work-group waits for another one: the GPU may let one unit run all of them if that takes
 * less time. Needs DRM_SALVO_FEATURE_CONTENDS, else EOPNOTSUPP.
 */
#define DRM_SALVO_DISPATCH_CONTENDS	(1 << 1)
/** define DRM_SALVO_PIPE_CONTROL_ALL - All work after the command waits for all work before it. */
#define DRM_SALVO_PIPE_CONTROL_ALL	(1 << 0)
/** define DRM_SALVO_PIPE_CONTROL_PREVIOUS - The producer is of the batch before in the context. */
#define DRM_SALVO_PIPE_CONTROL_PREVIOUS	(1 << 1)

/**
 * struct drm_salvo_command - One command of a batch.
 *
 * Fields that the @type does not use must be zero. GPU addresses must lie in
 * buffers of the submitting file.
 */
struct drm_salvo_command {
	/** @type: One of enum drm_salvo_command_type. */
	__u32 type;

	/** @flags: DRM_SALVO_DISPATCH_*, or one of DRM_SALVO_PIPE_CONTROL_*. */
	__u32 flags;

	/** @entry: DISPATCH: GPU address of the kernel's entry in an executable buffer. */
	__u64 entry;

	/** @eu_mask: DISPATCH: subset of the context's units that may run it; zero means all. */
	__u64 eu_mask;

	/** @items: DISPATCH: work-items in x, y and z; at least 1 each. */
	__u32 items[3];

	/**
	 * @group: DISPATCH: work-items of a work-group in x, y and z; at least 1 each.
	 * The last work-groups are smaller if @items is not a multiple of it.
	 */
	__u32 group[3];

	/**
	 * @args_offset: DISPATCH, COPY_RECT, FILL_PATTERN: start of its arguments in the blob, a
	 * multiple of 16.
	 */
	__u32 args_offset;

	/**
	 * @args_size: DISPATCH: bytes of its arguments; COPY_RECT: of one struct drm_salvo_rect;
	 * FILL_PATTERN: of the pattern, 1 to DRM_SALVO_MAX_PATTERN_BYTES.
	 */
	__u32 args_size;

	/** @local_size: DISPATCH: local memory of each work-group in bytes. */
	__u32 local_size;

	/** @dims: DISPATCH: number of dimensions, 1 to 3, as returned by get_work_dim(). */
	__u32 dims;

	/** @consumer: PIPE_CONTROL: index of the command that waits. */
	__u32 consumer;

	/**
	 * @producer: PIPE_CONTROL: index of the command that it waits for, below @consumer. With
	 * DRM_SALVO_PIPE_CONTROL_PREVIOUS any index below @max_commands of struct
	 * drm_salvo_device_info; if the batch before has no such work, the consumer waits for
	 * all of that batch.
	 */
	__u32 producer;

	/**
	 * @dst: COPY, FILL, COPY_RECT, FILL_PATTERN: GPU address of the first byte written;
	 * TIMESTAMP: of 8 bytes, aligned to 8.
	 */
	__u64 dst;

	/** @src: COPY, COPY_RECT: GPU address of the first byte read; no byte is also written. */
	__u64 src;

	/**
	 * @size: COPY, FILL, FILL_PATTERN: bytes, not zero; for FILL a multiple of 4, as @dst, for
	 * FILL_PATTERN one of @args_size.
	 */
	__u64 size;

	/** @pattern: FILL: 32-bit pattern. */
	__u32 pattern;

	/** @pad: Must be zero. */
	__u32 pad;
};

/** define DRM_SALVO_SYNC_TIMELINE - Timeline syncobj; otherwise it is binary. */
#define DRM_SALVO_SYNC_TIMELINE	(1 << 0)

/**
 * struct drm_salvo_sync - A syncobj to wait for or to signal.
 */
struct drm_salvo_sync {
	/** @handle: Handle of the syncobj. */
	__u32 handle;

	/** @flags: DRM_SALVO_SYNC_TIMELINE or zero. */
	__u32 flags;

	/** @point: Timeline point, not zero; zero for a binary syncobj. */
	__u64 point;
};

/**
 * struct drm_salvo_profile - Timestamps of a command, in ticks of the GPU's clock.
 *
 * The element of a pipe control is zero.
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
 * define DRM_SALVO_SUBMIT_OVERLAP - The batch may overlap the one before it in the context.
 *
 * If both have the flag, the batch may start when all batches before that one are done. A
 * command with a PIPE_CONTROL for it that has DRM_SALVO_PIPE_CONTROL_PREVIOUS waits for the
 * named command of the batch before, and work after a DRM_SALVO_PIPE_CONTROL_ALL for the end of
 * that batch. It waits for all @waits before it starts, also for fences of its own context.
 * Batches of a context still end in order. Needs DRM_SALVO_FEATURE_OVERLAP, else EOPNOTSUPP.
 */
#define DRM_SALVO_SUBMIT_OVERLAP	(1 << 0)

/**
 * struct drm_salvo_submit - SUBMIT: one batch, one packet, one interrupt.
 *
 * In addition to @waits, the batch waits for the fences that other users have added to all
 * buffers that this file has exported or imported, and adds its own fence there. Batches
 * of one file wait for each other only if @waits says so.
 */
struct drm_salvo_submit {
	/** @ctx_id: The context. */
	__u32 ctx_id;

	/** @flags: DRM_SALVO_SUBMIT_*. */
	__u32 flags;

	/** @commands: Array of struct drm_salvo_command, at least one. */
	struct drm_salvo_array commands;

	/** @waits: Array of struct drm_salvo_sync to wait for before the batch starts. */
	struct drm_salvo_array waits;

	/** @signals: Array of struct drm_salvo_sync to signal when the batch is done. */
	struct drm_salvo_array signals;

	/** @args: User address of the argument blob; zero if @args_size is zero. */
	__u64 args;

	/** @args_size: Size of the argument blob. */
	__u32 args_size;

	/** @pad: Must be zero. */
	__u32 pad;

	/**
	 * @profile: GPU address in VRAM, aligned to 8, where the GPU writes one struct
	 * drm_salvo_profile for each command; zero for none.
	 */
	__u64 profile;
};

/**
 * struct drm_salvo_slot_attach - SLOT_ATTACH: attach execution units to a slot.
 *
 * A slot is memory through which single kernels reach execution units without a system
 * call. Its layout and protocol are those of struct salvo_slot_regs in salvo_leaf.h, 20480
 * bytes. The kernels run in the file's address space, with the priority of the context and
 * its time limit; a task that exceeds that bans the context. Tasks are not ordered with
 * batches, and one that faults does not ban the context.
 *
 * The buffer stays bound while the slot is attached. A slot is detached by SLOT_DETACH, with
 * its context, when the context is banned, and when the GPU is reset or gone. Then the status
 * in the slot is SALVO_SLOT_DETACHED and its doorbell 0. A process may have as many slots as
 * are left to others, else ENOSPC.
 */
struct drm_salvo_slot_attach {
	/** @ctx_id: The context. */
	__u32 ctx_id;

	/** @handle: GEM handle of a buffer in VRAM that was created without flags. */
	__u32 handle;

	/** @offset: Where the slot starts in the buffer, a multiple of the page size. */
	__u64 offset;

	/**
	 * @units: Execution units, of the context's, that each task is divided among; not zero.
	 * The lowest polls the slot.
	 */
	__u64 units;

	/** @flags: Must be zero. */
	__u32 flags;

	/** @id: Identifier of the slot, never zero, out. */
	__u32 id;
};

/**
 * struct drm_salvo_slot_detach - SLOT_DETACH: detach the execution units from a slot.
 *
 * Does not wait: a task that runs ends first, one that was not begun does not run.
 */
struct drm_salvo_slot_detach {
	/** @id: The slot. */
	__u32 id;

	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * struct drm_salvo_slot_wake - SLOT_WAKE: wake the unit that polls a slot.
 *
 * After a task was stored, if the slot says that the unit sleeps.
 */
struct drm_salvo_slot_wake {
	/** @id: The slot. */
	__u32 id;

	/** @pad: Must be zero. */
	__u32 pad;
};

/**
 * struct drm_salvo_slot_wait - SLOT_WAIT: sleep until a task has ended.
 *
 * Returns when the doorbell in the slot is 0, also if it was before the call, or the slot is
 * detached. It fails with ETIME when the time has come.
 */
struct drm_salvo_slot_wait {
	/** @id: The slot. */
	__u32 id;

	/** @pad: Must be zero. */
	__u32 pad;

	/** @timeout_ns: Absolute time of CLOCK_MONOTONIC; 0 or the past only checks. */
	__s64 timeout_ns;
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
#define DRM_IOCTL_SALVO_SLOT_ATTACH \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_SALVO_SLOT_ATTACH, struct drm_salvo_slot_attach)
#define DRM_IOCTL_SALVO_SLOT_DETACH \
	DRM_IOW(DRM_COMMAND_BASE + DRM_SALVO_SLOT_DETACH, struct drm_salvo_slot_detach)
#define DRM_IOCTL_SALVO_SLOT_WAKE \
	DRM_IOW(DRM_COMMAND_BASE + DRM_SALVO_SLOT_WAKE, struct drm_salvo_slot_wake)
#define DRM_IOCTL_SALVO_SLOT_WAIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_SALVO_SLOT_WAIT, struct drm_salvo_slot_wait)

#if defined(__cplusplus)
}
#endif

#endif /* _SALVO_DRM_H_ */
