/* SPDX-License-Identifier: MIT */
/*
 * salvo_gpu.h - libsalvogpu: the GPU as a library
 *
 * One struct salvo_gpu is one GPU. Its owner provides the memory of registers,
 * VRAM and system memory, and a callback for interrupts. Everything else follows
 * salvo_hw.h: the owner (libuser/soft in an application, link_pci.c for a guest's driver)
 * writes registers and ring entries and rings doorbells.
 */
#ifndef SALVO_GPU_H
#define SALVO_GPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct salvo_gpu;
struct salvo_isolation;
struct salvo_items;
struct salvo_regs;

/* Size of the buffer @why, enough for every message */
#define SALVO_GPU_WHY	160u

/* Each address space is a process of its own, in a sandbox. Needs libseccomp. */
extern const struct salvo_isolation salvo_processes;

/*
 * The window for system memory, behind VRAM, and the guards before VRAM and behind the
 * window, which stay unmapped: a kernel's access just past either end faults.
 * A caller that sets @va_base has reserved addresses for all of these.
 */
#define SALVO_GPU_WINDOW_BYTES	(4ull << 30)
#define SALVO_GPU_GUARD_BYTES	(1ull << 20)

/**
 * struct salvo_gpu_config - Parameters of a GPU.
 */
struct salvo_gpu_config {
	/** @regs: SALVO_REGS_BYTES of zeroed memory for the registers. */
	struct salvo_regs *regs;
	/** @vram_fd: File that holds VRAM; the GPU maps it itself, at GPU addresses. */
	int vram_fd;
	/** @vram_offset: Offset of VRAM in the file; also in the registers. */
	uint64_t vram_offset;
	/** @vram_bytes: Size of VRAM, whole pages. */
	uint64_t vram_bytes;
	/** @va_base: GPU address of VRAM, or 0 for any. */
	uint64_t va_base;
	/** @units: Execution units, or 0 for one for each core that the process may run on. */
	unsigned int units;
	/**
	 * @topology: Units and nodes instead of those of the machine, as
	 * salvo_gpu_check_topology() takes them, or NULL; with it @units is 0. Only read in
	 * salvo_gpu_create().
	 */
	const char *topology;
	/** @generation: Value of the register @generation. */
	uint32_t generation;
	/**
	 * @system_base: Address of system address 0. NULL with
	 * @system_bytes 0 means that system addresses are pointers of this
	 * process (the embedded GPU) and are not bounded.
	 */
	void *system_base;
	/** @system_bytes: Size of system memory. */
	uint64_t system_bytes;
	/** @system_fd: File of system memory, for BIND_SYSTEM; unused if @system_bytes is 0. */
	int system_fd;
	/**
	 * @contain_faults: A fault in a kernel (SIGSEGV, SIGBUS, SIGFPE, SIGILL
	 * on a unit) fails its batch, and a reset or kill stops a kernel that never
	 * ends (with SIGURG). If not set, the process gets the signal, for a debugger
	 * or the application's own handlers, and a reset waits for running work-groups.
	 */
	bool contain_faults;
	/**
	 * @counts_waiters: Threads that sleep until a batch is done call salvo_gpu_begin_wait()
	 * before. Then units may let others sleep where there is little to do. Not with
	 * @isolation.
	 */
	bool counts_waiters;
	/**
	 * @owns_memory: No other GPU, process or thread updates memory that a kernel updates by
	 * atomic operations of OpenCL C 1 while it runs. Not with @isolation.
	 */
	bool owns_memory;
	/**
	 * @isolation: NULL: the units are threads of this process, and a kernel can access
	 * what any address space has bound. &salvo_processes: each address space is
	 * a process that can access its own memory only; then @system_base is not NULL, and
	 * @regs is whole pages. They are forked from another execution of /proc/self/exe, whose
	 * main() does not run. The process that creates such a GPU should have no threads yet.
	 */
	const struct salvo_isolation *isolation;
	/**
	 * @interrupt: Called with a SALVO_VECTOR_*, from any thread of the GPU
	 * or from salvo_gpu_doorbell(), with no lock of the GPU held. It must
	 * not wait for the GPU, but it may write ring entries and ring doorbells.
	 */
	void (*interrupt)(void *cookie, unsigned int vector);
	/**
	 * @lost: Called by a thread of the GPU when the zygote has died: no further
	 * batch can run. With @isolation only; may be NULL. When it returns, batches in flight
	 * fail.
	 */
	void (*lost)(void *cookie);
	/** @cookie: First argument of @interrupt and @lost. */
	void *cookie;
};

/**
 * salvo_gpu_create() - Start a GPU. Its registers are valid on return.
 * @config: Copied.
 * @out: The GPU; destroy it with salvo_gpu_destroy().
 *
 * Return: 0, or -EINVAL (a field is invalid), -ENOMEM, -EAGAIN (no threads). With @isolation also
 * -ENOENT (no /proc), -EACCES (this user cannot execute the program), -ENOSYS (no seccomp), -ECHILD
 * (the zygote has died).
 */
int salvo_gpu_create(const struct salvo_gpu_config *config, struct salvo_gpu **out);

/**
 * salvo_gpu_destroy() - Stop the units and free everything. Batches in flight are killed.
 * @gpu: May be NULL.
 */
void salvo_gpu_destroy(struct salvo_gpu *gpu);

/**
 * salvo_gpu_doorbell() - Ring a doorbell.
 * @gpu: The GPU.
 * @doorbell: SALVO_DOORBELL_RING(r), _KILL or _RESET; others have no effect.
 *
 * Reads new ring entries, fetches and parses their packets and starts their
 * work in the calling thread, and does not wait for the work. Publication: the packets may run,
 * and their fences may have retired, before it returns. Any thread may call it.
 */
void salvo_gpu_doorbell(struct salvo_gpu *gpu, unsigned int doorbell);

/**
 * salvo_gpu_poll() - Retire batches that processes of address spaces have completed.
 * @gpu: The GPU.
 * @stay: The caller will soon call again, so the GPU need not wake another thread until then.
 *
 * The call is optional: otherwise a thread of the GPU retires the batches. It saves waking
 * that thread if the caller is awake anyway, for example after a doorbell. Any thread may
 * call it.
 *
 * Return: whether more are in flight. Then a caller that set @stay has to
 * call again, the last time without @stay.
 */
bool salvo_gpu_poll(struct salvo_gpu *gpu, bool stay);

/**
 * struct salvo_gpu_mapping - Pages of a file in an address space.
 */
struct salvo_gpu_mapping {
	/** @asid: Address space. */
	uint32_t asid;
	/** @access: SALVO_ACCESS_READ, and SALVO_ACCESS_WRITE if writable; never EXEC. */
	uint32_t access;
	/** @address: GPU address in the window behind VRAM, page aligned and unused. */
	uint64_t address;
	/** @size: Bytes, whole pages. */
	uint64_t size;
	/** @fd: The file, open for @access. It can be closed afterwards. */
	int fd;
	/** @offset: Offset of the first page in the file. */
	uint64_t offset;
};

/**
 * salvo_gpu_map_fd() - Bind pages of a file; an UNBIND packet unbinds them.
 * @gpu: A GPU whose system addresses are pointers; others take BIND_SYSTEM.
 * @mapping: The pages and their GPU address.
 *
 * For a memfd, or a dma-buf of another device.
 *
 * Return: 0, or -EINVAL: a field is invalid, the range is in use, or the file cannot be mapped.
 */
int salvo_gpu_map_fd(struct salvo_gpu *gpu, const struct salvo_gpu_mapping *mapping);

/**
 * salvo_gpu_map_memory() - Bind memory of this process; an UNBIND packet unbinds it.
 * @gpu: As for salvo_gpu_map_fd().
 * @mapping: Its address is a pointer, without alignment; fd and offset are not used.
 *
 * Kernels reach all memory of their process anyway: the binding is what commands may name.
 *
 * Return: 0, or -EINVAL: a field is invalid, or the range is in use.
 */
int salvo_gpu_map_memory(struct salvo_gpu *gpu, const struct salvo_gpu_mapping *mapping);

/**
 * struct salvo_gpu_slot_config - A slot to attach units to; see salvo_leaf.h.
 */
struct salvo_gpu_slot_config {
	/** @asid: Address space of the kernels. */
	uint32_t asid;
	/** @priority: As of a ring entry: below 0, 0, or above. */
	int32_t priority;
	/** @units: Cores that a task is divided among; the lowest is the primary one. */
	uint64_t units;
	/** @address: GPU address of SALVO_SLOT_BYTES in VRAM, page aligned, bound for writing. */
	uint64_t address;
	/**
	 * @ended: Called by a unit when it has cleared the doorbell and the worker has set
	 * salvo_slot_regs.waiting. It must not wait or call the GPU.
	 */
	void (*ended)(void *cookie);
	/** @cookie: For @ended. */
	void *cookie;
};

/**
 * salvo_gpu_slot_attach() - Attach units to a slot (W3, W4 of US11340942).
 * @gpu: A GPU without @isolation.
 * @config: Copied.
 *
 * The units use the slot until the worker requests a disconnect, or salvo_gpu_slot_detach().
 *
 * Return: a number for the slot, -EINVAL (no such unit, or the memory is not bound), -ENOSPC (too
 * many slots), -ENOTSUP, -ENOMEM.
 */
int salvo_gpu_slot_attach(struct salvo_gpu *gpu, const struct salvo_gpu_slot_config *config);
/**
 * salvo_gpu_slot_detach() - Wait until the units have left a slot; they leave after its leaf.
 * @gpu: The GPU.
 * @slot: As salvo_gpu_slot_attach() returned it.
 */
void salvo_gpu_slot_detach(struct salvo_gpu *gpu, unsigned int slot);
/**
 * salvo_gpu_slot_wake() - Wake a unit that sleeps, after a store to its slot's doorbell.
 * @gpu: The GPU.
 * @slot: As salvo_gpu_slot_attach() returned it.
 */
void salvo_gpu_slot_wake(struct salvo_gpu *gpu, unsigned int slot);
/**
 * salvo_gpu_slot_sample() - Sample which leaves run; end those that ran in @limit samples.
 * @gpu: The GPU.
 * @limit: Samples in a row that a leaf may run.
 *
 * They end as SALVO_SLOT_FAILED, with parts of SALVO_FAULT_NONE. The owner calls it at equal
 * intervals to have a time limit.
 */
void salvo_gpu_slot_sample(struct salvo_gpu *gpu, uint32_t limit);

/**
 * salvo_gpu_note_wait() - The caller begins to wait until a batch is done, by polling first.
 * @gpu: The GPU.
 *
 * Who waits soon after each doorbell gets a unit on its own core. Any thread may call it.
 */
void salvo_gpu_note_wait(struct salvo_gpu *gpu);
/**
 * salvo_gpu_begin_wait() - The caller is about to sleep until a batch is done.
 * @gpu: The GPU.
 *
 * Any thread may call it, and must call salvo_gpu_end_wait() when it is awake again.
 */
void salvo_gpu_begin_wait(struct salvo_gpu *gpu);
void salvo_gpu_end_wait(struct salvo_gpu *gpu);

/**
 * salvo_gpu_heartbeat() - Advance the heartbeat register, pending kills and late fences.
 * @gpu: The GPU.
 */
void salvo_gpu_heartbeat(struct salvo_gpu *gpu);

/**
 * salvo_gpu_check_topology() - Check the text of a topology.
 * @text: Groups of nodes, then latencies:
 *
 *	topology = group { "+" group } { "," far }
 *	group    = [ nodes "x" ] units
 *	far      = "far=" node [ ":" latency ( "ns" | "us" ) ]
 *
 * Nodes are counted from 0. "8" is one node of 8 units; "2x4,far=1:2000ns" two
 * nodes of 4, of which node 1 is far: each of its accesses to the global command queue takes
 * 2 us longer; "4+2x2,far=1,far=2:1us" a node of 4 and two far ones of 2.
 * There may be more units than cores.
 * @why: Receives the error message; SALVO_GPU_WHY bytes.
 *
 * Return: 0 or -EINVAL.
 */
int salvo_gpu_check_topology(const char *text, char *why);

/**
 * salvo_gpu_check_inject() - Check the text of a list of faults for salvo_gpu_inject().
 * @text: Faults, each with its batch. Batches are counted from 1 in the order in
 *	  which they retire, without packets that change address spaces.
 *
 *	faults   = [ fault { "," fault } ]
 *	fault    = "lost-irq@" batch
 *	         | "late-fence@" batch ":" number "ms"
 *	         | "wrong-seqno@" batch [ ":" ( "+" | "-" ) number ]
 *	         | "corrupt@" batch ":" ( "magic" | "head" | "fence" )
 *	         | "bad-result@" batch
 *	         | "stuck-units@" batch
 *	         | "crash@" batch
 * @why: Receives the error message; SALVO_GPU_WHY bytes.
 *
 * Return: 0 or -EINVAL.
 */
int salvo_gpu_check_inject(const char *text, char *why);

/**
 * salvo_gpu_inject() - Replace the list of injected faults.
 * @gpu: The GPU.
 * @text: As for salvo_gpu_check_inject(); empty for none.
 * @why: Receives the error message for @text; SALVO_GPU_WHY bytes.
 *
 * Raises SALVO_VECTOR_FAULT without a new fault, which notifies the guest that batches are
 * counted from 1 again. Late fences retire at heartbeats.
 *
 * Return: 0, or -EINVAL: nothing has changed.
 */
int salvo_gpu_inject(struct salvo_gpu *gpu, const char *text, char *why);

/**
 * salvo_items_check() - Check that a program's table of work-items is complete and consistent.
 * @items: The table.
 * @bytes: Number of readable bytes at @items.
 *
 * Return: whether the table is not truncated and all its references lie within it.
 */
bool salvo_items_check(const struct salvo_items *items, size_t bytes);

/**
 * struct salvo_gpu_span - A unit ran a chunk of work-groups, in ticks of the GPU's clock.
 */
struct salvo_gpu_span {
	/** @started: The unit took the chunk. */
	uint64_t started;
	/** @ended: The unit finished the chunk. */
	uint64_t ended;
	/** @seqno: Fence of the batch. */
	uint64_t seqno;
	/** @group: First work-group. */
	uint32_t group;
	/** @count: Number of work-groups. */
	uint32_t count;
	/** @command: Index in the batch. */
	uint32_t command;
	/** @unit: The execution unit. */
	uint32_t unit;
};

/**
 * struct salvo_gpu_recording - What the units ran, for timelines.
 */
struct salvo_gpu_recording {
	/** @spans: Array of @capacity. A unit claims an index from @next, then writes it. */
	struct salvo_gpu_span *spans;
	/** @capacity: Number of elements of @spans. */
	uint32_t capacity;
	/** @next: Number of spans so far; those beyond @capacity were dropped. */
	_Atomic uint32_t next;
};

/**
 * salvo_gpu_record() - Record what each unit runs, from its next chunk on.
 * @gpu: The GPU.
 * @recording: Must live as long as the GPU. NULL stops it.
 */
void salvo_gpu_record(struct salvo_gpu *gpu, struct salvo_gpu_recording *recording);

/**
 * salvo_gpu_isa_level() - x86-64 level of this CPU, of salvo_march.h; 1 if below.
 */
uint32_t salvo_gpu_isa_level(void);

#endif /* SALVO_GPU_H */
