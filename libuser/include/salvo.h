/* SPDX-License-Identifier: MIT */
/*
 * salvo.h - libsalvo: submit batches of GPU workloads
 *
 * The order of calls follows the host program of WO2015/123840 (B13): open a device, load a
 * program, create kernels, set their arguments and grid, create a batch, add dispatches and pipe
 * controls to it, submit it to a queue, wait for the fence.
 *
 * Errors: a function that can fail returns 0 (or a count or index) or a negative errno. Output
 * parameters are set on success; on failure an output object is NULL. Destroy functions accept
 * NULL, all others need valid objects. Zero is the default of every flag and field.
 *
 * Threads: a struct salvo_device and a struct salvo_fence may be used from any thread; every
 * other object belongs to one thread at a time. Objects must be destroyed before their device is
 * closed; they may be destroyed while batches that use them are in flight. Building and patching
 * a batch makes no system call; salvo_queue_submit() does.
 *
 * Process state: while an embedded GPU is open, the library handles SIGSEGV, SIGBUS, SIGFPE,
 * SIGILL, SIGTRAP, SIGSYS and SIGURG. It passes signals that no kernel caused to the previous
 * handler, and restores that when the last embedded GPU is closed. Programs are registered with
 * gdb's JIT interface. After fork() the child must not use objects of the parent: those of an
 * embedded GPU give -ENODEV, and destroying them does nothing. It may open a device of its own.
 *
 * ABI: within a symbol version the sizes of public structs and the meaning of functions do not
 * change; a change adds a new version beside the old one, so a program runs with every later
 * library of the same soname. Flags and kinds may get new values.
 */
#ifndef SALVO_H
#define SALVO_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

struct salvo_device;
struct salvo_bo;
struct salvo_image;
struct salvo_program;
struct salvo_kernel;
struct salvo_batch;
struct salvo_queue;
struct salvo_fence;

/**
 * struct salvo_device_info - What a device is and its limits.
 */
struct salvo_device_info {
	char name[64];			/* "soft", or the path of the render node */
	uint32_t units;			/* execution units */
	uint32_t nodes;
	uint32_t isa_level;		/* x86-64 level, 2 to 4; 5 with vector popcounts */
	uint32_t max_commands;		/* in one batch */
	uint32_t max_argument_bytes;	/* of all dispatches of a batch */
	uint32_t max_dispatch_argument_bytes;
	uint32_t max_group_items;
	uint32_t max_local_bytes;
	uint64_t max_items;		/* in one dimension of a dispatch */
	uint64_t vram_bytes;
	uint64_t clock_hz;		/* of timestamps */
};

/**
 * struct salvo_device_stats - Counters of this open device since it was opened.
 */
struct salvo_device_stats {
	uint64_t packets;		/* DMA packets handed to the GPU */
	uint64_t doorbells;		/* doorbells rung */
	uint64_t interrupts;		/* interrupts taken for them */
	uint64_t completions;		/* deferred completions run */
	uint64_t busy_ns;		/* time of all units together */
};

/**
 * salvo_device_open() - Open a GPU.
 * @name: "soft" for the embedded GPU, the path of a render node, or NULL for
 *        the first Salvo render node, else soft.
 * @out: The device.
 *
 * Return: 0, -ENODEV (no Salvo device); of a path also the error of open(), as -ENOENT and
 * -EACCES; of the embedded GPU -EINVAL (SALVO_TOPOLOGY, SALVO_MARCH), -EAGAIN (no more threads),
 * -EPERM (not allowed to pin threads or to create memory files), -ENOSYS (a system call that it
 * needs is filtered); -EMFILE, -ENFILE, -ENOMEM.
 */
int salvo_device_open(const char *name, struct salvo_device **out);
/**
 * salvo_device_enumerate() - The name of a device of this machine, for salvo_device_open().
 * @index: Counts from 0; render nodes come first, the embedded GPU is the last one.
 * @name: @size bytes; 64 are enough.
 *
 * Return: 0, -ENOENT (there are no more), -ENOSPC (@size).
 */
int salvo_device_enumerate(unsigned int index, char *name, size_t size);
/**
 * salvo_device_close() - Close a device; batches in flight on the embedded GPU are cancelled.
 * @device: All its other objects were destroyed before. May be NULL.
 */
void salvo_device_close(struct salvo_device *device);
/** salvo_device_get_info() - What a device is and its limits. */
void salvo_device_get_info(struct salvo_device *device, struct salvo_device_info *info);
/** salvo_device_get_stats() - Counters of this open device. Return: 0 or an error of the driver. */
int salvo_device_get_stats(struct salvo_device *device, struct salvo_device_stats *stats);

/**
 * salvo_device_set_polling() - How long a wait for a fence polls before it sleeps.
 * @nanoseconds: 0 sleeps at once; negative polls until the fence is done, which occupies a
 *               core. The default is 30,000 on the embedded GPU and 0 on the driver.
 *
 * For short batches polling saves the wake-up latency of 10 to 40 us. Where other programs
 * compute on all cores, waits on the embedded GPU sleep earlier, unless @nanoseconds is negative.
 */
void salvo_device_set_polling(struct salvo_device *device, int64_t nanoseconds);

/**
 * salvo_device_set_timeout() - Set the time limit of batches on the embedded GPU.
 * @nanoseconds: Counted while execution units work on the batch; 0, the default, for none.
 *               A timeout is detected up to a quarter of the limit later.
 *
 * A batch that exceeds it fails with -ECANCELED and SALVO_ERROR_HANG, and its queue is banned;
 * other queues are not affected. The environment variable SALVO_TIMEOUT_MS sets the limit for
 * a whole program. The driver has its own limit, a module parameter, 2 s by default.
 *
 * Return: 0, -ENOTSUP (a render node), -EAGAIN (no thread can be created).
 */
int salvo_device_set_timeout(struct salvo_device *device, int64_t nanoseconds);

/** define SALVO_BO_READONLY - The GPU does not write to the buffer. */
#define SALVO_BO_READONLY	(1u << 1)

/**
 * salvo_bo_create() - A buffer in video memory, filled with zeros.
 * @size: Bytes, not zero.
 *
 * Return: 0, -EINVAL, -ENOSPC (no video memory), -ENODEV.
 */
int salvo_bo_create(struct salvo_device *device, uint64_t size, uint32_t flags,
		    struct salvo_bo **out);
/**
 * salvo_bo_destroy() - Destroy a buffer; its memory stays until batches in flight are done.
 * @bo: May be NULL.
 */
void salvo_bo_destroy(struct salvo_bo *bo);
/**
 * salvo_bo_map() - Address of the buffer in the application.
 * @out: The same at every call, valid until the buffer is destroyed; there is no unmap.
 *       Memory is coherent; the writes of a batch are complete when its fence is done.
 *
 * Return: 0, -ENOMEM.
 */
int salvo_bo_map(struct salvo_bo *bo, void **out);
/** salvo_bo_size() - Size of the buffer in bytes, as it was created. */
uint64_t salvo_bo_size(const struct salvo_bo *bo);
/** salvo_bo_address() - Address of the buffer on the GPU. */
uint64_t salvo_bo_address(const struct salvo_bo *bo);

/**
 * salvo_bo_import_dmabuf() - Import memory of another driver or process as a buffer; no copy.
 * @fd: A dma-buf of any driver; on the embedded GPU also a memfd or another file that can be
 *      mapped. A multiple of the page size long. The caller keeps it and may close it at once.
 * @flags: SALVO_BO_READONLY if @fd is read-only; then the CPU mapping is read-only, too.
 *
 * A dma-buf that came from salvo_bo_export_dmabuf() of the same device gives the same memory at
 * the same address. Others must not shrink the file while it is in use.
 *
 * Return: 0, -EBADF, -EINVAL (not such a file, or not whole pages), -EACCES (@fd does not allow
 * the access), -ENOSPC (no addresses left), -ENOTSUP (the device does not support it, or the
 * driver cannot make a writable @fd read-only for the GPU), -ENOMEM.
 */
int salvo_bo_import_dmabuf(struct salvo_device *device, int fd, uint32_t flags,
			   struct salvo_bo **out);
/**
 * salvo_bo_create_from_memory() - Make memory of the application a buffer; no copy.
 * @memory: @size bytes that can be read, and written unless @flags has SALVO_BO_READONLY. There is
 *          no alignment but that of the types that kernels access there.
 * @out: salvo_bo_map() gives @memory.
 *
 * Only the embedded GPU accesses the application's memory. It stays the caller's, and must remain
 * until the buffer is destroyed and the batches that use it are done. Buffers must not overlap,
 * those included that are destroyed but still in use by a batch.
 *
 * Return: 0, -EINVAL (NULL, 0, or memory of the device's own), -EBUSY (a part of it is a buffer
 * already), -ENOTSUP (a render node: import a dma-buf there), -ENOMEM.
 */
int salvo_bo_create_from_memory(struct salvo_device *device, void *memory, uint64_t size,
				uint32_t flags, struct salvo_bo **out);
/**
 * salvo_bo_export_dmabuf() - Export a buffer as a dma-buf, for other drivers and processes.
 * @out: The caller closes it. It holds a reference on the memory beyond the buffer's end.
 *
 * Return: 0, -ENOTSUP (the embedded GPU's buffers are no dma-bufs; import a memfd there),
 * -EMFILE, -ENOMEM.
 */
int salvo_bo_export_dmabuf(struct salvo_bo *bo, int *out);

/**
 * salvo_program_load() - Load a program made by salvo-cc, from memory or from a file.
 * @image: The ELF file's bytes; not kept.
 *
 * Return: 0, -ENOEXEC (not a program, or damaged), -ENOTSUP (it needs an instruction set that
 * the GPU lacks), -ENOSPC, -ENOMEM; of a file also the error of open() or read().
 */
int salvo_program_load(struct salvo_device *device, const void *image, size_t bytes,
		       struct salvo_program **out);
int salvo_program_load_file(struct salvo_device *device, const char *path,
			    struct salvo_program **out);
/**
 * salvo_program_build() - Compile OpenCL C and load the program.
 * @device: The device that is to run it.
 * @source: The source, @bytes long; 0: up to its final 0.
 * @options: As on salvo-cc's command line, "-DN=4 -cl-fast-relaxed-math"; may be NULL.
 * @log: Messages of the compiler, including warnings, or ""; free() it. May be NULL.
 * @out: The program.
 *
 * The compiler is $SALVO_CC, or salvo-cc beside the library or in $PATH. Programs are cached
 * in $XDG_CACHE_HOME/salvo (~/.cache/salvo), if that belongs to the user and nobody else can
 * write there, by the hash of source, included files, options and compiler. May be called
 * from several threads and processes at once.
 *
 * Return: 0, -ENOEXEC (it does not compile, see @log), -ENOENT (no compiler), -EINVAL (no
 * source, or a quote in @options without its end), and as salvo_program_load().
 */
int salvo_program_build(struct salvo_device *device, const char *source, size_t bytes,
			const char *options, char **log, struct salvo_program **out);
/**
 * salvo_program_destroy() - Destroy a program; its code stays until batches in flight are done.
 * @program: Its kernels, and batches with dispatches of them, must not be used afterwards. May
 *           be NULL.
 */
void salvo_program_destroy(struct salvo_program *program);

/** salvo_program_kernel_count() - Number of kernels in a program. */
unsigned int salvo_program_kernel_count(const struct salvo_program *program);
/** salvo_program_kernel_name() - Name of a kernel, valid as long as the program; or NULL. */
const char *salvo_program_kernel_name(const struct salvo_program *program, unsigned int index);
/** salvo_program_variable_bytes() - Bytes of its variables in global memory, as old as it, or 0. */
uint64_t salvo_program_variable_bytes(const struct salvo_program *program);

/**
 * salvo_kernel_create() - A kernel of a program by name; the program must outlive it.
 *
 * Return: 0, -ENOENT, -ENOMEM.
 */
int salvo_kernel_create(struct salvo_program *program, const char *name,
			struct salvo_kernel **out);
/**
 * salvo_kernel_clone() - A kernel with the same arguments and thread space.
 *
 * Return: 0, -ENOMEM.
 */
int salvo_kernel_clone(const struct salvo_kernel *kernel, struct salvo_kernel **out);
/** salvo_kernel_destroy() - Destroy a kernel; dispatches of it stay in their batches. */
void salvo_kernel_destroy(struct salvo_kernel *kernel);
/** salvo_kernel_error() - The error message of the last failed call on this kernel, one line. */
const char *salvo_kernel_error(const struct salvo_kernel *kernel);

/* struct salvo_kernel_properties.flags */
#define SALVO_KERNEL_TAKES_OFFSET	(1u << 0)	/* salvo_kernel_set_offset() */
#define SALVO_KERNEL_HAS_BARRIERS	(1u << 1)

/**
 * struct salvo_kernel_properties - What a kernel is.
 */
struct salvo_kernel_properties {
	const char *name;		/* valid until the device is closed */
	uint32_t argument_count;
	uint32_t flags;			/* SALVO_KERNEL_* */
	uint32_t required_group[3];	/* reqd_work_group_size, or zeros */
	uint32_t local_bytes;		/* static local memory */
	uint32_t private_bytes;		/* of a work-item, 0 if unknown */
	uint32_t reserved;
};

/* struct salvo_argument_info.kind and .access */
#define SALVO_ARGUMENT_VALUE	0	/* scalar, vector or structure: salvo_kernel_set_value() */
#define SALVO_ARGUMENT_GLOBAL	1	/* salvo_kernel_set_bo() */
#define SALVO_ARGUMENT_CONSTANT	2	/* salvo_kernel_set_bo() */
#define SALVO_ARGUMENT_LOCAL	3	/* salvo_kernel_set_local() */
#define SALVO_ARGUMENT_IMAGE	4	/* salvo_kernel_set_image() */
#define SALVO_ARGUMENT_SAMPLER	5	/* salvo_kernel_set_sampler() */
#define SALVO_ARGUMENT_READ	(1u << 0)
#define SALVO_ARGUMENT_WRITE	(1u << 1)
/* .qualifiers: of what a pointer refers to, and restrict */
#define SALVO_ARGUMENT_CONST	(1u << 0)
#define SALVO_ARGUMENT_RESTRICT	(1u << 1)
#define SALVO_ARGUMENT_VOLATILE	(1u << 2)

/**
 * struct salvo_argument_info - What an argument of a kernel is.
 */
struct salvo_argument_info {
	const char *name;	/* in the source, or ""; valid as long as the program */
	const char *type;	/* in the source, or ""; likewise */
	uint32_t kind;		/* SALVO_ARGUMENT_VALUE to _SAMPLER */
	uint32_t access;	/* of what a pointer or image refers to */
	uint32_t size;		/* bytes of a value, else 0 */
	uint32_t qualifiers;	/* SALVO_ARGUMENT_CONST, _RESTRICT, _VOLATILE */
};

/** salvo_kernel_get_info() - What a kernel is. */
void salvo_kernel_get_info(const struct salvo_kernel *kernel,
			   struct salvo_kernel_properties *properties);
/**
 * salvo_kernel_attributes() - The attributes in the source, as OpenCL C writes them.
 * @text: @size bytes; "vec_type_hint(float4) reqd_work_group_size(8,8,1)", cut off where it does
 *        not fit.
 *
 * Return: the length of the whole text, as snprintf().
 */
int salvo_kernel_attributes(const struct salvo_kernel *kernel, char *text, size_t size);
/** salvo_kernel_get_argument() - What an argument is. Return: 0, -ENOENT (there are no more). */
int salvo_kernel_get_argument(const struct salvo_kernel *kernel, unsigned int index,
			      struct salvo_argument_info *argument);

/** salvo_kernel_set_value() - An argument by value. Return: 0, -EINVAL (index, kind, size). */
int salvo_kernel_set_value(struct salvo_kernel *kernel, unsigned int index,
			   const void *value, size_t size);
/**
 * salvo_kernel_set_bo() - A pointer argument: @offset bytes into @bo.
 * @bo: The buffer, or NULL for a null pointer. It must exist until the batches that use it
 *      have been submitted; its memory stays until they are done.
 *
 * Return: 0, -EINVAL (index, kind, a buffer of another device, offset).
 */
int salvo_kernel_set_bo(struct salvo_kernel *kernel, unsigned int index,
			struct salvo_bo *bo, uint64_t offset);
/**
 * salvo_kernel_set_bo_range() - A pointer argument, and the range that the kernel accesses.
 * @size: Bytes from @offset on that the kernel reads or writes through this argument;
 *        0: up to the end of the buffer, as salvo_kernel_set_bo().
 *
 * The range is only used by salvo_batch_enable_hazards(); accesses outside it do not fault.
 *
 * Return: 0, -EINVAL (as salvo_kernel_set_bo(), or the range does not fit in the buffer).
 */
int salvo_kernel_set_bo_range(struct salvo_kernel *kernel, unsigned int index,
			      struct salvo_bo *bo, uint64_t offset, uint64_t size);
/** salvo_kernel_set_local() - A local pointer argument of @bytes bytes. Return: 0, -EINVAL. */
int salvo_kernel_set_local(struct salvo_kernel *kernel, unsigned int index, size_t bytes);
/**
 * salvo_kernel_set_grid() - The thread space: work-items and work-group size.
 * @dims: 1 to 3.
 * @items: Work-items in each dimension.
 * @group: Work-group size in each dimension; NULL lets the library choose.
 *
 * Where @items is not a multiple of @group the last work-groups are smaller.
 *
 * Return: 0, -EINVAL (a zero, or not the group size that the kernel requires),
 * -E2BIG (over a limit of the device, more than 2^31 work-groups, or the kernel needs more
 * private memory than a work-item of so large a work-group has).
 */
int salvo_kernel_set_grid(struct salvo_kernel *kernel, unsigned int dims,
			  const uint32_t *items, const uint32_t *group);

/** define SALVO_GROUP_UNIFORM - Of salvo_kernel_suggest_group(): all work-groups have one size. */
#define SALVO_GROUP_UNIFORM	(1u << 0)
/**
 * salvo_kernel_suggest_group() - The work-group size that the library would choose.
 * @dims, @items: As for salvo_kernel_set_grid().
 * @flags: 0: as salvo_kernel_set_grid() chooses; or SALVO_GROUP_UNIFORM: one that divides @items.
 * @group: In each of 3 dimensions; 1 past @dims.
 *
 * Return: 0, -EINVAL (a zero, @dims or @flags).
 */
int salvo_kernel_suggest_group(const struct salvo_kernel *kernel, unsigned int dims,
			       const uint32_t *items, uint32_t flags, uint32_t group[3]);

/**
 * salvo_kernel_max_group() - Work-items of the largest work-group that salvo_kernel_set_grid()
 * takes.
 *
 * It is less than max_group_items if the kernel needs much private memory or has sub-groups.
 */
uint32_t salvo_kernel_max_group(const struct salvo_kernel *kernel);

/**
 * salvo_kernel_set_offset() - The global offset in x, y and z; 0 by default.
 *
 * Only for kernels compiled with --global-offset, which have it among their arguments.
 *
 * Return: 0, -EINVAL (the kernel has none), -E2BIG (over max_items of the device).
 */
int salvo_kernel_set_offset(struct salvo_kernel *kernel, const uint32_t offset[3]);

/**
 * salvo_batch_create() - An empty batch.
 *
 * A batch may be submitted any number of times, and several times at once.
 *
 * Return: 0, -ENOMEM.
 */
int salvo_batch_create(struct salvo_device *device, struct salvo_batch **out);
/** salvo_batch_destroy() - Destroy a batch; submissions in flight are not affected. */
void salvo_batch_destroy(struct salvo_batch *batch);
/** salvo_batch_reset() - Empty the batch, keeping its memory. */
void salvo_batch_reset(struct salvo_batch *batch);
/**
 * salvo_batch_dispatch() - Add a dispatch of a kernel with its current arguments and grid.
 *
 * Return: the command's index in the batch, -EINVAL (an argument or the grid is
 * not set, see salvo_batch_error()), -E2BIG (the batch is full), -ENOMEM.
 */
int salvo_batch_dispatch(struct salvo_batch *batch, const struct salvo_kernel *kernel);
/**
 * salvo_batch_pipe_control() - Make one command wait for the completion of another.
 * @consumer, @producer: Indices of commands that were added; @producer is the lower one.
 *
 * Return: the pipe control's own index, -EINVAL, -E2BIG, -ENOMEM.
 */
int salvo_batch_pipe_control(struct salvo_batch *batch, unsigned int consumer,
			     unsigned int producer);
/**
 * salvo_batch_barrier() - Make all later commands wait for all earlier ones.
 *
 * Return: the barrier's own index, -E2BIG, -ENOMEM.
 */
int salvo_batch_barrier(struct salvo_batch *batch);
/**
 * salvo_batch_copy() - Copy bytes from a buffer to a buffer.
 * @size: Not zero. The two ranges must lie in their buffers and not overlap.
 *
 * Return: the command's index, -EINVAL, -E2BIG, -ENOMEM.
 */
int salvo_batch_copy(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t dst_offset,
		     struct salvo_bo *src, uint64_t src_offset, uint64_t size);
/**
 * salvo_batch_fill() - Fill a range of a buffer with a pattern of 32 bits.
 * @offset, @size: Multiples of 4.
 *
 * Return: the command's index, -EINVAL, -E2BIG, -ENOMEM.
 */
int salvo_batch_fill(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t offset,
		     uint64_t size, uint32_t pattern);
/**
 * struct salvo_rect - A box of bytes, and how its rows lie in the two buffers of a copy.
 *
 * @height and @depth of 0 stand for 1. A pitch of 0 is the tightest: a row pitch of @width, a
 * slice pitch of @height rows. No pitch may be smaller.
 */
struct salvo_rect {
	uint64_t width;			/* bytes of a row, not 0 */
	uint64_t height;		/* rows of a slice */
	uint64_t depth;			/* slices */
	uint64_t dst_row_pitch;		/* bytes from one row to the next, where it is written */
	uint64_t dst_slice_pitch;	/* bytes from one slice to the next there */
	uint64_t src_row_pitch;		/* the same where it is read */
	uint64_t src_slice_pitch;
};

/**
 * salvo_batch_copy_rect() - Copy a box of two or three dimensions, as one command.
 * @dst_offset, @src_offset: Of the first byte of the first row.
 * @rect: Not kept.
 *
 * Both boxes must lie in their buffers and have no byte in common; where they mingle in one
 * buffer, the pitches of both must be the same. To salvo_batch_enable_hazards() a box is all
 * from its first to its last byte.
 *
 * Return: the command's index, -EINVAL, -E2BIG, -ENOMEM.
 */
int salvo_batch_copy_rect(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t dst_offset,
			  struct salvo_bo *src, uint64_t src_offset,
			  const struct salvo_rect *rect);
/**
 * salvo_batch_fill_pattern() - Fill a range of a buffer with a pattern of 1 to 128 bytes.
 * @size: A multiple of @pattern_size; there is no alignment.
 * @pattern: Not kept.
 *
 * Return: the command's index, -EINVAL, -E2BIG, -ENOMEM.
 */
int salvo_batch_fill_pattern(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t offset,
			     uint64_t size, const void *pattern, size_t pattern_size);
/**
 * salvo_batch_timestamp() - Store the GPU's clock.
 * @offset: Of the 64-bit number, a multiple of 8. Its unit is clock_hz of salvo_device_get_info().
 *
 * Like any command it is unordered unless pipe controls or barriers order it.
 *
 * Return: the command's index, -EINVAL, -E2BIG, -ENOMEM.
 */
int salvo_batch_timestamp(struct salvo_batch *batch, struct salvo_bo *dst, uint64_t offset);
/**
 * salvo_batch_append() - Add copies of all commands of another batch.
 * @part: Not changed. The indices in its pipe controls are adjusted; a barrier in it orders
 *        everything before it in @batch against everything after it.
 *
 * Return: the index of the first of them, -EINVAL (the same batch, or another device),
 * -E2BIG, -ENOMEM. On failure nothing is added.
 */
int salvo_batch_append(struct salvo_batch *batch, struct salvo_batch *part);

/**
 * salvo_batch_patch_value() - Change an argument of a dispatch that is in the batch.
 * @command: Index of the dispatch, as salvo_batch_dispatch() returned it.
 * @index: Of the argument.
 *
 * A batch that was recorded once can be patched and submitted again for each frame; it is
 * neither rebuilt nor validated again. Its program must exist.
 *
 * Return: 0, -EINVAL (no such dispatch, argument, size), -EBUSY (a submission of the batch
 * is in flight: wait for its fence, or alternate between two batches).
 */
int salvo_batch_patch_value(struct salvo_batch *batch, unsigned int command, unsigned int index,
			    const void *value, size_t size);
/**
 * salvo_batch_patch_bo() - Change a buffer of a command that is in the batch.
 * @index: Of the kernel's argument; of a copy, fill or timestamp 0 is what it writes
 *         and 1 what it reads.
 * @size: For a dispatch as in salvo_kernel_set_bo_range(), 0 is the rest of the buffer; else 0,
 *        since the size of a copy or fill does not change.
 *
 * Return: as salvo_batch_patch_value(); -EINVAL also for a buffer or a range that
 * salvo_kernel_set_bo_range() rejects.
 */
int salvo_batch_patch_bo(struct salvo_batch *batch, unsigned int command, unsigned int index,
			 struct salvo_bo *bo, uint64_t offset, uint64_t size);
/**
 * salvo_batch_patch_grid() - Change the thread space of a dispatch that is in the batch.
 *
 * The parameters are those of salvo_kernel_set_grid().
 *
 * Return: as salvo_kernel_set_grid(), and -EBUSY as salvo_batch_patch_value().
 */
int salvo_batch_patch_grid(struct salvo_batch *batch, unsigned int command, unsigned int dims,
			   const uint32_t *items, const uint32_t *group);
/**
 * salvo_batch_patch_local() - Change the size of a local argument of a dispatch in the batch.
 *
 * Return: as salvo_batch_patch_value(), and -E2BIG (more local memory than the device has).
 */
int salvo_batch_patch_local(struct salvo_batch *batch, unsigned int command, unsigned int index,
			    size_t bytes);
/**
 * salvo_batch_patch_offset() - Change the global offset of a dispatch that is in the batch.
 *
 * Return: as salvo_kernel_set_offset(), and -EBUSY as salvo_batch_patch_value().
 */
int salvo_batch_patch_offset(struct salvo_batch *batch, unsigned int command,
			     const uint32_t offset[3]);
/** salvo_batch_count() - Number of commands that were added. */
unsigned int salvo_batch_count(const struct salvo_batch *batch);
/**
 * salvo_batch_set_label() - Name a command, for messages and dumps.
 * @label: Copied, and kept until the device is closed: use the same ones for each frame. NULL
 *         removes it.
 *
 * Labels are in the messages of salvo_batch_error(), in the batches of SALVO_DUMP and so in the
 * pictures of salvo-submit, and in salvo_fence_get_label() and salvo_batch_get_label(), for errors
 * and profiles.
 *
 * Return: 0, -EINVAL (no such command), -ENOMEM.
 */
int salvo_batch_set_label(struct salvo_batch *batch, unsigned int command, const char *label);
/** salvo_batch_get_label() - The label of a command, or NULL. */
const char *salvo_batch_get_label(const struct salvo_batch *batch, unsigned int command);
/** salvo_batch_error() - The error message of the last failed call on this batch, one line. */
const char *salvo_batch_error(const struct salvo_batch *batch);

/**
 * salvo_batch_enable_hazards() - Let the library insert the pipe controls.
 *
 * At submission the library finds the commands that access the same bytes, at least one
 * of them writing, and adds the minimal set of pipe controls that keeps these in the
 * order in which they were added to the batch; transitive ones are left out, and so is
 * what pipe controls and barriers of the application order already. Programs record which
 * arguments a kernel reads and writes; ranges are those of salvo_kernel_set_bo_range().
 * Memory that a kernel reaches in another way (an address passed by value or read from a
 * buffer) is not tracked.
 *
 * The pipe controls are placed after the last command, so that indices do not change, and
 * count towards the device's max_commands. If the minimal set does not fit, a smaller one orders
 * more than is needed; a well-placed barrier avoids that. They are computed again only if the
 * batch has changed. May be called at any time before the submission.
 *
 * Return: 0, -ENOMEM. salvo_queue_submit() returns -E2BIG if not even a pipe control for each
 * command fits, which is never so for half of max_commands.
 */
int salvo_batch_enable_hazards(struct salvo_batch *batch);

#define SALVO_HAZARD_RAW	1	/* the consumer reads what the producer writes */
#define SALVO_HAZARD_WAR	2	/* the consumer writes over what the producer reads */
#define SALVO_HAZARD_WAW	3	/* both write */
#define SALVO_HAZARD_VARIABLES	0xffffffffu	/* no argument: variables of the program */

/**
 * struct salvo_hazard - The cause of a pipe control: two arguments that overlap.
 */
struct salvo_hazard {
	uint32_t command;	/* index of the pipe control in the submitted batch */
	uint32_t kind;		/* SALVO_HAZARD_* */
	uint32_t consumer;	/* index of the command that waits */
	uint32_t producer;	/* index of the command that it waits for */
	/* Which argument of each, or SALVO_HAZARD_VARIABLES; of a copy 0 is the destination */
	uint32_t consumer_argument;
	uint32_t producer_argument;
	uint64_t address;	/* GPU address of the bytes that both access */
	uint64_t size;
};

/**
 * salvo_batch_get_hazard() - A cause of the pipe controls that the library inserts.
 * @index: Counts from 0, in the order of the pipe controls; one of these may have several
 *         causes.
 *
 * Without salvo_batch_enable_hazards() it reports what would be inserted.
 *
 * Return: 0, -ENOENT (there are no more), -E2BIG (as for salvo_queue_submit()), -ENOMEM.
 */
int salvo_batch_get_hazard(struct salvo_batch *batch, unsigned int index,
			   struct salvo_hazard *hazard);

/**
 * struct salvo_profile - When a command ran, in ticks of the device's clock.
 */
struct salvo_profile {
	uint64_t queued;	/* the command processor parsed it */
	uint64_t ready;		/* its last producer completed */
	uint64_t started;	/* its first work-group started */
	uint64_t ended;		/* its last work-group completed */
};

/**
 * salvo_batch_enable_profile() - Record a struct salvo_profile for each command.
 *
 * The profile buffer grows with the batch, at submission.
 *
 * Return: 0, -ENOSPC, -ENOMEM.
 */
int salvo_batch_enable_profile(struct salvo_batch *batch);
/**
 * salvo_batch_get_profile() - The profile of command @index in the last submission.
 *
 * It is all zeros for a command that did not run because the batch failed.
 *
 * Return: 0, -EINVAL (the last submission was not profiled, was rejected, or had no such
 * command), -EBUSY (it is in flight).
 */
int salvo_batch_get_profile(struct salvo_batch *batch, unsigned int index,
			    struct salvo_profile *profile);
/**
 * salvo_batch_print() - Write what the batch's kernels printed by printf(), and clear it.
 * @fd: The file descriptor to write to, for instance 1.
 *
 * The print buffer holds 4 MiB. The output of different work-items is in no particular order.
 *
 * Return: the number of printf() calls that were dropped because the buffer was full, -EBUSY
 * (the batch is in flight), -ENOMEM, or the error of write().
 */
int salvo_batch_print(struct salvo_batch *batch, int fd);
/**
 * salvo_queue_create() - A queue: its batches run one after another, beside those of others.
 * @eu_mask: Execution units that its batches may use, bit 0 is unit 0; 0: all.
 *
 * Return: as salvo_queue_create_priority().
 */
int salvo_queue_create(struct salvo_device *device, uint64_t eu_mask, struct salvo_queue **out);

#define SALVO_QUEUE_LOW		(-1)
#define SALVO_QUEUE_NORMAL	0
#define SALVO_QUEUE_HIGH	1	/* the driver requires CAP_SYS_NICE */

/**
 * salvo_queue_create_priority() - A queue with a scheduling priority.
 * @priority: SALVO_QUEUE_*. Work-groups that run are not preempted. Fences of high priority
 *            do not wait for others; those of one device may wait for each other.
 *
 * Return: 0, -EINVAL (@eu_mask has units that the GPU lacks, or @priority), -EACCES (no
 * permission), -E2BIG (too many queues), -ENODEV, -ENOMEM.
 */
int salvo_queue_create_priority(struct salvo_device *device, uint64_t eu_mask, int priority,
				struct salvo_queue **out);
/**
 * salvo_queue_enable_overlap() - Let a batch start before the one before it is done.
 *
 * If the hazards of both are tracked, its commands wait for those that they conflict with, as in
 * one batch. Other memory needs fences. Batches end in order; one that fails leaves those before.
 *
 * Return: 0, -EOPNOTSUPP (the GPU or the driver cannot), -ENOMEM.
 */
int salvo_queue_enable_overlap(struct salvo_queue *queue);
/** salvo_queue_destroy() - Destroy a queue; batches in flight are not affected. */
void salvo_queue_destroy(struct salvo_queue *queue);
/**
 * salvo_queue_submit() - Submit a batch: one packet, one interrupt, one completion.
 * @waits: Fences of any queue of the device to wait for; may be NULL. They only order: the
 *         batch also runs if a batch that it waits for has failed.
 * @out: Fence of the batch, or NULL.
 *
 * The back end copies the batch, so it may be submitted again, reset or destroyed at once; to
 * patch it or to read its profile, wait for the fence.
 *
 * Return: 0, -EINVAL or -E2BIG (an empty or invalid batch, see salvo_batch_error()),
 * -EIO (the queue is banned because a batch of it faulted or hung), -EBUSY (it waits for a captured
 * submission whose batch has not been submitted), -ENODEV, -ENOMEM.
 */
int salvo_queue_submit(struct salvo_queue *queue, struct salvo_batch *batch,
		       struct salvo_fence *const *waits, unsigned int wait_count,
		       struct salvo_fence **out);
/**
 * salvo_queue_capture() - Capture submissions to a queue in a batch.
 * @batch: Submissions to the queue are appended to it instead of run, until capture is ended
 *         with NULL. It must exist until then.
 *
 * So code that submits many small batches records one large batch, which can be submitted once
 * or often. Barriers keep the captured batches in order or, if @batch has
 * salvo_batch_enable_hazards(), the pipe controls that are needed. The fence of a captured
 * submission is done when the first later submission of @batch is; a wait for it sleeps until then.
 * If @batch is reset or destroyed before, it fails with -ECANCELED. A captured submission may wait
 * for such fences of the same @batch, and for fences that are done.
 *
 * Return: 0, -EINVAL (the queue is captured already, or a batch of another device).
 */
int salvo_queue_capture(struct salvo_queue *queue, struct salvo_batch *batch);
/** salvo_queue_submitted() - Number of the batch submitted last, counted from 1 on each queue. */
uint64_t salvo_queue_submitted(const struct salvo_queue *queue);
/** salvo_queue_completed() - Number of the last batch that is done; so are all before it. */
uint64_t salvo_queue_completed(struct salvo_queue *queue);
/**
 * salvo_queue_wait() - Wait until a queue's timeline has reached a value.
 * @value: Number of a submitted batch, or 0 for the last one.
 * @timeout_ns: As for salvo_fence_wait().
 *
 * Return: 0 (done, successfully or not), -ETIME, -EINVAL (no such batch yet).
 */
int salvo_queue_wait(struct salvo_queue *queue, uint64_t value, int64_t timeout_ns);
/**
 * salvo_fence_wait() - Wait until a batch is done.
 * @timeout_ns: Nanoseconds from now, 0 to poll once, negative for no timeout.
 *
 * Return: 0, -ETIME, or the error of the batch: -ECANCELED (it faulted or hung, or a batch
 * before it in the queue did, or the GPU was reset because of another one), -ENODEV (the GPU
 * is gone).
 */
int salvo_fence_wait(struct salvo_fence *fence, int64_t timeout_ns);
/**
 * salvo_fence_wait_any() - Wait until one of several batches is done.
 * @fences: At least one, of one device and any of its queues.
 * @index: Which one is done, successfully or not; may be NULL.
 *
 * Return: 0, -ETIME, -EINVAL.
 */
int salvo_fence_wait_any(struct salvo_fence *const *fences, unsigned int count,
			 int64_t timeout_ns, unsigned int *index);
/**
 * salvo_fence_wait_all() - Wait until all of several batches are done.
 *
 * Return: 0, -ETIME, -EINVAL, or the error of the first of @fences that failed.
 */
int salvo_fence_wait_all(struct salvo_fence *const *fences, unsigned int count,
			 int64_t timeout_ns);
/** salvo_fence_value() - Number of the batch on its queue's timeline; 0 of an imported fence. */
uint64_t salvo_fence_value(const struct salvo_fence *fence);
/**
 * salvo_fence_get_fd() - A file descriptor that is readable when the batch is done.
 * @out: For poll() and its like; the caller closes it.
 *
 * On the driver it is a sync_file, which other drivers accept; on the embedded GPU an
 * eventfd. Both may be sent to another process. It does not tell whether the batch failed.
 *
 * Return: 0, -EBUSY (of a captured submission whose batch has not been submitted), -EMFILE,
 * -ENFILE, -ENOMEM.
 */
int salvo_fence_get_fd(struct salvo_fence *fence, int *out);
/**
 * salvo_fence_import_fd() - A fence that is done when a file descriptor becomes readable.
 * @fd: A sync_file of any driver; on the embedded GPU anything that poll() accepts. The caller
 *      keeps it and may close it at once.
 *
 * With it a batch can wait for another driver's work, see salvo_queue_submit().
 *
 * Return: 0, -EBADF, -EINVAL (not a sync_file), -EMFILE, -ENOMEM.
 */
int salvo_fence_import_fd(struct salvo_device *device, int fd, struct salvo_fence **out);
/**
 * salvo_fence_set_callback() - Call a function once the batch is done.
 * @function: Called once, with @data and the result of salvo_fence_wait(), by one thread of the
 *            library for each device. It may use the library, but not close the device.
 *            Callbacks run one after another, so it must not wait for another callback. If
 *            the device is closed first, it is called with -ENODEV.
 *
 * The fence may be destroyed before.
 *
 * Return: 0, -EINVAL (no function), -EBUSY (as salvo_fence_get_fd()), -EMFILE, -EAGAIN (no
 * thread), -ENOMEM.
 */
int salvo_fence_set_callback(struct salvo_fence *fence, void (*function)(void *data, int error),
			     void *data);
/** salvo_fence_destroy() - Destroy a fence; its batch is not affected. */
void salvo_fence_destroy(struct salvo_fence *fence);

#if defined(__cplusplus)
}
#endif

#include "salvo_error.h"
#include "salvo_image.h"
#include "salvo_object.h"

#endif /* SALVO_H */
