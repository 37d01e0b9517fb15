/* SPDX-License-Identifier: MIT */
/*
 * salvo_hw.h - the hardware manual in C: registers, ring and packets
 *
 * This is the only file that the driver and the device share. All values are
 * little-endian, as on all supported hosts.
 *
 * BAR0 doorbell, BAR1 MSI-X, BAR2 the registers and then VRAM (the layout of
 * QEMU's ivshmem-doorbell, with the device as peer 0). The registers are plain
 * memory: a write has no effect until the driver rings a doorbell. Doorbells and
 * interrupts coalesce in both directions, so each side compares sequence numbers
 * and never counts events.
 *
 * Bring-up: the driver checks @magic and @version, sets @bus_master, writes a
 * new value to @reset_request, rings SALVO_DOORBELL_RESET and polls until
 * @reset_ack holds it. The device then has no batch in flight, no address space
 * and all rings disabled, and makes no access to system memory until a ring is
 * enabled. Tear-down is the same handshake, then @bus_master = 0.
 *
 * A context that hangs is killed alone: the driver writes its number to @kill_ctx and a
 * new value to @kill_request, and rings SALVO_DOORBELL_KILL. The context's packets that
 * were on any ring by then end with SALVO_STATUS_KILLED, except those with a seqno below
 * @kill_seqno; they and those of other contexts continue, and all fences retire in ring order.
 * @kill_ack holds the request when no unit works for any packet that was killed; until then the
 * driver makes no other kill request, but it may reset.
 *
 * Memory: a GPU address of VRAM is @va_base plus the offset in VRAM, in every
 * address space. Address spaces differ in their bindings: BIND makes a range
 * accessible to one address space, with access rights, and UNBIND undoes it. Behind VRAM,
 * up to @va_base + @va_bytes, lies the window for system memory: BIND_SYSTEM maps
 * pages of the guest's memory there, at an address that the driver chooses. Two address
 * spaces may use the same address for the same pages only.
 *
 * Slots: ATTACH attaches execution units to a slot, memory of an address space through which a
 * context's single kernels reach them without a packet (salvo_leaf.h); DETACH undoes it. @slot_task
 * shows whether a task runs there. To wake a unit that sleeps the driver writes a new value to
 * @slot_wake and rings the doorbell of ring 0. SALVO_VECTOR_SLOT says that a task has ended
 * whose worker asked for it. To kill a context detaches its slots, and stops a task that runs.
 */
#ifndef SALVO_HW_H
#define SALVO_HW_H

#include <linux/types.h>

#define SALVO_PCI_VENDOR	0x1af4	/* Red Hat: ivshmem */
#define SALVO_PCI_DEVICE	0x1110
#define SALVO_BAR_DOORBELL	0
#define SALVO_BAR_MEMORY	2

/* BAR0 of ivshmem-doorbell */
#define SALVO_BAR0_IV_POSITION	0x08	/* read: the driver's own peer id */
#define SALVO_BAR0_DOORBELL	0x0c	/* write: peer << 16 | doorbell */
#define SALVO_PEER_DEVICE	0

/* Doorbells, from the driver to the device */
#define SALVO_DOORBELL_RING(r)	(r)	/* a new tail, rings 0..SALVO_MAX_RINGS-1 */
#define SALVO_DOORBELL_KILL	2	/* a new kill request */
#define SALVO_DOORBELL_RESET	3	/* a new reset request */

/* Interrupt vectors, from the device to the driver */
#define SALVO_VECTOR_FENCE	0	/* a ring's fence has advanced */
#define SALVO_VECTOR_FAULT	1	/* the fault record has a new sequence number */
#define SALVO_VECTOR_LOST	2	/* the generation has changed: the worker was lost */
#define SALVO_VECTOR_SLOT	3	/* a task of a slot has ended whose worker waits */
#define SALVO_VECTORS		4

#define SALVO_MAGIC		0x4f564c53	/* "SLVO" */
#define SALVO_VERSION		0x00010000	/* major << 16 | minor */

#define SALVO_MAX_RINGS		2
#define SALVO_MAX_UNITS		64
#define SALVO_MAX_SLOTS		64
#define SALVO_RING_MIN_ENTRIES	16
#define SALVO_RING_MAX_ENTRIES	4096

/* Limits of one packet; the driver reports them through DEV_QUERY */
#define SALVO_MAX_COMMANDS		4096u
#define SALVO_MAX_ARGUMENT_BYTES	(1u << 20)
#define SALVO_MAX_DISPATCH_ARGUMENT_BYTES 16384u
#define SALVO_MAX_GROUP_ITEMS		1024u
#define SALVO_MAX_PATTERN_BYTES		128u
#define SALVO_MAX_LOCAL_BYTES		(256u << 10)
#define SALVO_MAX_ITEMS			(1ull << 31)	/* in one dimension */
#define SALVO_MAX_GROUPS		(1ull << 31)	/* in one dispatch */

/**
 * struct salvo_ring_regs - Registers of one command ring.
 */
struct salvo_ring_regs {
	/** @base: System address of entry 0. */
	__u64 base;
	/** @entries: Number of entries, a power of two. */
	__u32 entries;
	/** @enable: 1 enables the ring; written last. */
	__u32 enable;
	/** @tail: Driver: entries written so far, free-running. */
	__u64 tail;
	/** @head: Device: entries consumed so far, free-running. */
	__u64 head;
	/**
	 * @fence: Device: the highest seqno such that its packet and all before it are done.
	 * Fences retire in ring order, in whatever order the batches end.
	 */
	__u64 fence;
	/** @reserved: Zero. */
	__u64 reserved[3];
};

/* Kinds of faults in the fault record */
#define SALVO_FAULT_NONE	0
#define SALVO_FAULT_RING	1	/* a ring's registers or an entry are invalid */
#define SALVO_FAULT_DMA		2	/* system address outside the guest's memory */
#define SALVO_FAULT_PACKET	3	/* packet refused by the command processor */
#define SALVO_FAULT_PAGE	4	/* a kernel accessed memory that is not bound */
#define SALVO_FAULT_KERNEL	5	/* any other error of a kernel */
#define SALVO_FAULT_STACK	6	/* a work-item overran its private memory */
#define SALVO_FAULT_LOCAL	7	/* a work-item overran local memory */
#define SALVO_FAULT_ARITHMETIC	8	/* division by zero or overflow of a division */
#define SALVO_FAULT_INSTRUCTION	9	/* illegal or privileged instruction */
#define SALVO_FAULT_BARRIER	10	/* a barrier that not all work-items of the group reached */
#define SALVO_FAULT_SYSCALL	11	/* a kernel made a system call */

/* struct salvo_fault_regs.item */
#define SALVO_FAULT_MORE_SHIFT	16

/**
 * struct salvo_fault_regs - The last fault; @begun is written first, @sequence last.
 *
 * Read @sequence first and @begun last: the record is whole if they are the same.
 */
struct salvo_fault_regs {
	/** @sequence: Number of faults so far. */
	__u64 sequence;
	/** @seqno: Fence of the batch. */
	__u64 seqno;
	/** @address: GPU or system address, or zero. */
	__u64 address;
	/** @kind: SALVO_FAULT_*. */
	__u32 kind;
	/** @asid: Address space. */
	__u32 asid;
	/** @ctx: Context. */
	__u32 ctx;
	/** @command: Index of the command in its batch, or ~0. */
	__u32 command;
	/** @group: Linear number of the work-group. */
	__u64 group;
	/** @access: SALVO_ACCESS_* that was attempted. */
	__u32 access;
	/**
	 * @item: Bits 0 to 15: linear number of the work-item in its group. Bits 16 to 31: zero, or
	 * the number of items after it in the row that may be meant as well. ~0 if unknown.
	 */
	__u32 item;
	/** @nearest: Page faults: address of the bound range that is nearest to @address. */
	__u64 nearest;
	/** @nearest_bytes: Its size; 0 if there is none. */
	__u64 nearest_bytes;
	/** @begun: Number of the fault that is or was written here. */
	__u64 begun;
};

/* struct salvo_unit_regs.state */
#define SALVO_UNIT_IDLE		0	/* polls for work, or sleeps */
#define SALVO_UNIT_BUSY		1	/* runs work-groups */

/**
 * struct salvo_unit_regs - What an execution unit does; a hint that may be inconsistent.
 */
struct salvo_unit_regs {
	/** @state: SALVO_UNIT_*. */
	__u32 state;
	/** @ctx: Context of the batch that it runs. */
	__u32 ctx;
	/** @seqno: Fence of that batch. */
	__u64 seqno;
	/** @command: Index of the command in the batch. */
	__u32 command;
	/** @asid: Address space. */
	__u32 asid;
	/** @group: First work-group of the chunk that it took last. */
	__u64 group;
};

/**
 * struct salvo_regs - The registers, at offset 0 of BAR2.
 *
 * "Device:" is written by the device only, "Driver:" by the driver only.
 */
struct salvo_regs {
	/** @magic: Device: SALVO_MAGIC, written last at start. */
	__u32 magic;
	/** @version: Device: SALVO_VERSION. */
	__u32 version;
	/** @generation: Device: counts starts of the GPU worker. */
	__u32 generation;
	/** @heartbeat: Device: changes at least ten times a second. */
	__u32 heartbeat;

	/** @units: Device: execution units. */
	__u32 units;
	/** @nodes: Device: nodes of the units. */
	__u32 nodes;
	/** @rings: Device: command rings. */
	__u32 rings;
	/** @isa_level: Device: x86-64 level of the units, of salvo_march.h. */
	__u32 isa_level;

	/** @vram_offset: Device: where VRAM starts in BAR2, page aligned. */
	__u64 vram_offset;
	/** @vram_bytes: Device: size of VRAM, whole pages. */
	__u64 vram_bytes;
	/** @va_base: Device: GPU address of the first byte of VRAM. */
	__u64 va_base;
	/** @clock_hz: Device: rate of timestamps. */
	__u64 clock_hz;

	/** @bus_master: Driver: 1 allows access to system memory. */
	__u32 bus_master;
	/** @reset_request: Driver: a new value asks for a reset. */
	__u32 reset_request;
	/** @reset_ack: Device: the last request that was carried out. */
	__u32 reset_ack;
	/** @slots: Device: slots that it has, at most SALVO_MAX_SLOTS; 0 if it knows no ATTACH. */
	__u32 slots;

	/** @busy_ns: Device: time that all units together spent in work-groups. */
	__u64 busy_ns;
	/** @va_bytes: Device: size of an address space from @va_base on, VRAM included. */
	__u64 va_bytes;
	/** @kill_ctx: Driver: the context to kill. */
	__u32 kill_ctx;
	/** @kill_request: Driver: a new value asks for it. */
	__u32 kill_request;
	/** @kill_ack: Device: the last request that was carried out. */
	__u32 kill_ack;
	/** @features: Device: SALVO_FEATURE_*. */
	__u32 features;
	/** @kill_seqno: Driver: packets of @kill_ctx with a lower seqno are not killed. */
	__u64 kill_seqno;
	/** @reserved1: Zero. */
	__u64 reserved1[17];

	/** @fault: Device. */
	struct salvo_fault_regs fault;
	/** @reserved2: Zero. */
	__u64 reserved2[22];

	/** @ring: One for each command ring, at 0x200. */
	struct salvo_ring_regs ring[SALVO_MAX_RINGS];
	/** @slot_wake: Driver: a new value asks to wake the units of a slot, at 0x280. */
	__u32 slot_wake[SALVO_MAX_SLOTS];
	/** @reserved3: Zero. */
	__u64 reserved3[16];

	/** @unit: Device: one for each execution unit, at 0x400. */
	struct salvo_unit_regs unit[SALVO_MAX_UNITS];
	/**
	 * @slot_task: Device: the number of the task that runs in a slot, another one for each
	 * task; 0 if none runs. A hint that may be late. At 0xc00.
	 */
	__u32 slot_task[SALVO_MAX_SLOTS];
	/**
	 * @slot_ns: Device: time that units spent in tasks of the address space of a slot, shared
	 * out among its slots in any way; it only grows, and may be late while the slot is
	 * attached. At 0xd00.
	 */
	__u64 slot_ns[SALVO_MAX_SLOTS];
};

#define SALVO_REGS_BYTES	4096	/* BAR2 bytes kept for registers */

/* What a range of memory may be used for */
#define SALVO_ACCESS_READ	(1u << 0)
#define SALVO_ACCESS_WRITE	(1u << 1)
#define SALVO_ACCESS_EXEC	(1u << 2)	/* never together with write */

/* struct salvo_regs.features */
#define SALVO_FEATURE_OVERLAP	(1u << 0)	/* batches of a context can overlap */
#define SALVO_FEATURE_REPORT	(1u << 1)	/* SALVO_RING_REPORT */
#define SALVO_FEATURE_CONTENDS	(1u << 2)	/* SALVO_DISPATCH_CONTENDS */

/* Flags of a ring entry */
#define SALVO_RING_IRQ		(1u << 0)	/* SALVO_VECTOR_FENCE when the fence retires */
#define SALVO_RING_OVERLAP	(1u << 1)	/* it may overlap others of its context */
#define SALVO_RING_REPORT	(1u << 2)	/* its result does not wait for earlier packets */

/*
 * Priority of a packet's work against that of other contexts: a unit that has finished a
 * chunk of work-groups takes the next from the highest priority that has work for it.
 */
#define SALVO_PRIORITY_LOW	(-1)
#define SALVO_PRIORITY_NORMAL	0
#define SALVO_PRIORITY_HIGH	1

/**
 * struct salvo_ring_entry - One packet handed to the GPU, 64 bytes.
 *
 * Entries are read in order. Packets of one context run one after the other;
 * packets of different contexts may overlap. Context 0 is the driver's own: its
 * packets hold only address space commands and take effect when they are read.
 */
struct salvo_ring_entry {
	/** @packet: System address of the packet, a multiple of 64. */
	__u64 packet;
	/** @packet_bytes: Its length. */
	__u32 packet_bytes;
	/** @flags: SALVO_RING_*. */
	__u32 flags;
	/** @seqno: Fence of the packet: one more than that of the entry before. */
	__u64 seqno;
	/** @asid: Address space, not zero. */
	__u32 asid;
	/** @ctx: Context, or zero for address space packets. */
	__u32 ctx;
	/** @eu_mask: Units that the packet may use; zero means all. */
	__u64 eu_mask;
	/** @priority: SALVO_PRIORITY_*. */
	__s32 priority;
	/** @reserved0: Zero. */
	__u32 reserved0;
	/** @reserved: Zero. */
	__u64 reserved[2];
};

#define SALVO_PACKET_MAGIC	0x544b5053	/* "SPKT" */

/* Kinds of packets */
#define SALVO_PACKET_BATCH	1	/* no pipe controls: all work is independent */
#define SALVO_PACKET_BATCH_SYNC	2	/* has pipe controls */
#define SALVO_PACKET_SPACE	3	/* address space commands only */

/**
 * struct salvo_packet - Head of a packet, 64 bytes.
 *
 * The set-up commands, one command for each command of the batch and the closing
 * pipe control follow without gaps; then, at the offset in SETUP_ARGS, the
 * argument heap.
 */
struct salvo_packet {
	/** @magic: SALVO_PACKET_MAGIC. */
	__u32 magic;
	/** @bytes: Length of the whole packet. */
	__u32 bytes;
	/** @fence_id: The seqno of its ring entry. */
	__u64 fence_id;
	/** @kind: SALVO_PACKET_*. */
	__u32 kind;
	/** @command_count: Commands, without set-up and closing. */
	__u32 command_count;
	/** @command_bytes: Bytes of all commands, set-up and closing included. */
	__u32 command_bytes;
	/** @reserved0: Zero. */
	__u32 reserved0;
	/** @result: System address of a struct salvo_packet_result, a multiple of 8. */
	__u64 result;
	/** @reserved: Zero. */
	__u64 reserved[3];
};

/*
 * How a packet ended. If the packet cannot be fetched, or its head gives no valid address
 * for the result, the device writes no result, but the fence retires.
 */
#define SALVO_STATUS_PENDING	0	/* as the driver wrote it */
#define SALVO_STATUS_DONE	1
#define SALVO_STATUS_BAD_PACKET	2	/* refused, nothing of it ran */
#define SALVO_STATUS_FAULT	3	/* a command faulted */
#define SALVO_STATUS_KILLED	4	/* context killed, GPU reset, or no memory */

/**
 * struct salvo_packet_result - Written by the device before the fence retires.
 */
struct salvo_packet_result {
	/** @status: SALVO_STATUS_*. */
	__u32 status;
	/** @command: Index of the command that failed, or ~0. */
	__u32 command;
	/** @started: When the first unit took work of the packet, in ticks. */
	__u64 started;
	/** @ended: When the closing pipe control was reached. */
	__u64 ended;
	/** @busy_ns: Time that all units together spent on the packet. */
	__u64 busy_ns;
	/**
	 * @done: Commands that completed without a fault, pipe controls not counted;
	 * @command_count of the packet if SALVO_STATUS_DONE.
	 */
	__u32 done;
	/** @fault: SALVO_FAULT_*, if @status is SALVO_STATUS_FAULT or _BAD_PACKET. */
	__u32 fault;
	/** @address: As in struct salvo_fault_regs. */
	__u64 address;
	/** @group: As in struct salvo_fault_regs. */
	__u64 group;
	/** @item: As in struct salvo_fault_regs. */
	__u32 item;
	/** @access: As in struct salvo_fault_regs. */
	__u32 access;
};

/* Operation codes. Set-up commands precede all others; the closing one is last. */
#define SALVO_OP_SETUP_STATE	0x10
#define SALVO_OP_SETUP_ARGS	0x11
#define SALVO_OP_SETUP_PROFILE	0x12
#define SALVO_OP_CACHE		0x13
#define SALVO_OP_DISPATCH	0x20
#define SALVO_OP_PIPE_CONTROL	0x21
#define SALVO_OP_COPY		0x22
#define SALVO_OP_FILL		0x23
#define SALVO_OP_TIMESTAMP	0x24
#define SALVO_OP_COPY_RECT	0x25
#define SALVO_OP_FILL_PATTERN	0x26
#define SALVO_OP_BIND		0x30
#define SALVO_OP_UNBIND		0x31
#define SALVO_OP_SPACE_END	0x32
#define SALVO_OP_BIND_SYSTEM	0x33
#define SALVO_OP_ATTACH		0x34
#define SALVO_OP_DETACH		0x35
#define SALVO_OP_CLOSE		0x3f

/**
 * struct salvo_op - Head of every command.
 */
struct salvo_op {
	/** @code: SALVO_OP_*. */
	__u16 code;
	/** @bytes: Length of the command with this head, a multiple of 8. */
	__u16 bytes;
	/** @index: Position in the batch, from 0; zero for set-up, space and closing commands. */
	__u32 index;
};

/**
 * struct salvo_op_setup_state - Program and constant state of the packet.
 */
struct salvo_op_setup_state {
	/** @op: Head. */
	struct salvo_op op;
	/** @asid: Must equal the ring entry's. */
	__u32 asid;
	/** @ctx: Must equal the ring entry's. */
	__u32 ctx;
	/** @eu_mask: Units for all dispatches of the packet; zero means the ring entry's. */
	__u64 eu_mask;
};

/**
 * struct salvo_op_setup_args - The heap of arguments ("surface state").
 */
struct salvo_op_setup_args {
	/** @op: Head. */
	struct salvo_op op;
	/** @offset: From the start of the packet, a multiple of 64. */
	__u32 offset;
	/** @bytes: Length. */
	__u32 bytes;
};

/**
 * struct salvo_op_setup_profile - Where to write struct drm_salvo_profile.
 */
struct salvo_op_setup_profile {
	/** @op: Head. */
	struct salvo_op op;
	/** @address: GPU address, in VRAM, of @command_count elements of 32 bytes. */
	__u64 address;
};

/* struct salvo_op_cache.flags */
#define SALVO_CACHE_INVALIDATE	(1u << 0)	/* before the first command: see the CPU's writes */
#define SALVO_CACHE_FLUSH	(1u << 1)	/* after the last: the CPU sees the GPU's writes */

/**
 * struct salvo_op_cache - Cache control for the packet.
 */
struct salvo_op_cache {
	/** @op: Head. */
	struct salvo_op op;
	/** @flags: SALVO_CACHE_*. */
	__u32 flags;
	/** @reserved: Zero. */
	__u32 reserved;
};

/* struct salvo_op_dispatch.flags: the same bits as DRM_SALVO_DISPATCH_* */
#define SALVO_DISPATCH_BARRIERS	(1u << 0)
#define SALVO_DISPATCH_CONTENDS	(1u << 1)

/**
 * struct salvo_op_dispatch - Run a kernel; fields as in struct drm_salvo_command.
 */
struct salvo_op_dispatch {
	/** @op: Head. */
	struct salvo_op op;
	/** @entry: GPU address of the kernel. */
	__u64 entry;
	/** @eu_mask: Units that may run it; zero means those of the packet. */
	__u64 eu_mask;
	/** @items: Work-items in x, y and z. */
	__u32 items[3];
	/** @group: Work-items of a full work-group in x, y and z. */
	__u32 group[3];
	/** @args_offset: Offset of its arguments in the argument heap. */
	__u32 args_offset;
	/** @args_size: Size of its arguments in bytes. */
	__u32 args_size;
	/** @local_size: Bytes of local memory for each work-group. */
	__u32 local_size;
	/** @dims: Dimensions of the range, 1 to 3. */
	__u32 dims;
	/** @flags: SALVO_DISPATCH_*. */
	__u32 flags;
	/** @reserved: Zero. */
	__u32 reserved;
};

/* struct salvo_op_pipe_control.flags: the same bits as DRM_SALVO_PIPE_CONTROL_* */
#define SALVO_PIPE_CONTROL_ALL		(1u << 0)
#define SALVO_PIPE_CONTROL_PREVIOUS	(1u << 1)	/* the producer is of the batch before */

/**
 * struct salvo_op_pipe_control - Order two commands, or all work before it and all work after it.
 */
struct salvo_op_pipe_control {
	/** @op: Head. */
	struct salvo_op op;
	/** @consumer: Index of the command that waits. */
	__u32 consumer;
	/** @producer: Index of the command that it waits for. */
	__u32 producer;
	/** @flags: One of SALVO_PIPE_CONTROL_*, or zero. */
	__u32 flags;
	/** @reserved: Zero. */
	__u32 reserved;
};

/**
 * struct salvo_op_copy - Copy @size bytes.
 */
struct salvo_op_copy {
	/** @op: Head. */
	struct salvo_op op;
	/** @dst: GPU address written. */
	__u64 dst;
	/** @src: GPU address read. */
	__u64 src;
	/** @size: Bytes. */
	__u64 size;
};

/**
 * struct salvo_op_fill - Fill @size bytes with @pattern.
 */
struct salvo_op_fill {
	/** @op: Head. */
	struct salvo_op op;
	/** @dst: GPU address written, a multiple of 4. */
	__u64 dst;
	/** @size: Bytes, a multiple of 4. */
	__u64 size;
	/** @pattern: The value. */
	__u32 pattern;
	/** @reserved: Zero. */
	__u32 reserved;
};

/**
 * struct salvo_op_copy_rect - Copy a box of @depth slices of @height rows of @width bytes.
 */
struct salvo_op_copy_rect {
	/** @op: Head. */
	struct salvo_op op;
	/** @dst: GPU address of the first byte written. */
	__u64 dst;
	/** @src: GPU address of the first byte read. */
	__u64 src;
	/** @width: Bytes of a row, not zero. */
	__u64 width;
	/** @height: Rows of a slice, not zero. */
	__u64 height;
	/** @depth: Slices, not zero. */
	__u64 depth;
	/** @dst_row_pitch: Bytes between rows of the destination, at least @width. */
	__u64 dst_row_pitch;
	/** @dst_slice_pitch: Bytes between slices of the destination, at least @height rows. */
	__u64 dst_slice_pitch;
	/** @src_row_pitch: Bytes between rows of the source, at least @width. */
	__u64 src_row_pitch;
	/** @src_slice_pitch: Bytes between slices of the source, at least @height rows. */
	__u64 src_slice_pitch;
};

/**
 * struct salvo_op_fill_pattern - Fill @size bytes with a repeated pattern.
 */
struct salvo_op_fill_pattern {
	/** @op: Head. */
	struct salvo_op op;
	/** @dst: GPU address written. */
	__u64 dst;
	/** @size: Bytes, a multiple of @args_size, not zero. */
	__u64 size;
	/** @args_offset: The pattern, in the argument heap, a multiple of 16. */
	__u32 args_offset;
	/** @args_size: Size of the pattern, 1 to SALVO_MAX_PATTERN_BYTES bytes. */
	__u32 args_size;
};

/**
 * struct salvo_op_timestamp - Store the clock at @dst.
 */
struct salvo_op_timestamp {
	/** @op: Head. */
	struct salvo_op op;
	/** @dst: GPU address of 8 bytes, a multiple of 8. */
	__u64 dst;
};

/**
 * struct salvo_op_bind - BIND and UNBIND: bind a range of VRAM, or unbind what was bound there.
 */
struct salvo_op_bind {
	/** @op: Head. */
	struct salvo_op op;
	/** @address: GPU address, page aligned. */
	__u64 address;
	/** @size: Bytes, whole pages. */
	__u64 size;
	/** @access: BIND: SALVO_ACCESS_*; UNBIND: zero. */
	__u32 access;
	/** @reserved: Zero. */
	__u32 reserved;
};

/**
 * struct salvo_op_bind_system - BIND_SYSTEM: bind pages of system memory behind VRAM.
 *
 * UNBIND unbinds them.
 *
 * A buffer whose pages are scattered takes several commands, with adjacent ranges of the
 * window; one UNBIND may unbind them all. Refused if system memory is not a file (the
 * embedded GPU).
 */
struct salvo_op_bind_system {
	/** @op: Head. */
	struct salvo_op op;
	/** @address: GPU address from @va_base + @vram_bytes on, page aligned. */
	__u64 address;
	/** @size: Bytes, whole pages. */
	__u64 size;
	/** @system: System address of the first page; @size bytes are contiguous there. */
	__u64 system;
	/** @access: SALVO_ACCESS_READ, SALVO_ACCESS_WRITE or both; never EXEC. */
	__u32 access;
	/** @reserved: Zero. */
	__u32 reserved;
};

/**
 * struct salvo_op_space_end - Unbind everything and free the address space.
 */
struct salvo_op_space_end {
	/** @op: Head. */
	struct salvo_op op;
};

/**
 * struct salvo_op_attach - ATTACH: attach execution units to a slot.
 *
 * The units see what was bound when a task starts. To UNBIND and SPACE_END, a task that runs is
 * work of the address space: they wait for it, or end it.
 */
struct salvo_op_attach {
	/** @op: Head. */
	struct salvo_op op;
	/** @address: GPU address of the slot, page aligned, five pages bound for writing. */
	__u64 address;
	/** @units: Units that a task is divided among, not zero; the lowest polls the slot. */
	__u64 units;
	/** @slot: Number of the slot, below @slots and not attached. */
	__u32 slot;
	/** @ctx: Its context, not zero. */
	__u32 ctx;
	/** @priority: SALVO_PRIORITY_*. */
	__s32 priority;
	/** @reserved: Zero. */
	__u32 reserved;
};

/**
 * struct salvo_op_detach - DETACH: detach the units from a slot of the address space.
 *
 * A task that runs ends before, one that was not begun stays in the slot. Done when no unit
 * uses the slot any more. A slot that is not attached, as its context was killed, is no error.
 */
struct salvo_op_detach {
	/** @op: Head. */
	struct salvo_op op;
	/** @slot: Number of the slot. */
	__u32 slot;
	/** @reserved: Zero. */
	__u32 reserved;
};

/**
 * struct salvo_op_close - Closing pipe control: hold the fence until all work is done.
 */
struct salvo_op_close {
	/** @op: Head. */
	struct salvo_op op;
	/** @fence_id: As in the packet's head. */
	__u64 fence_id;
};

#endif /* SALVO_HW_H */
