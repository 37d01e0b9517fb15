/* SPDX-License-Identifier: MIT */
/*
 * salvo_error.h - how a batch has failed; salvo.h includes it
 */
#ifndef SALVO_ERROR_H
#define SALVO_ERROR_H

#include "salvo.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* struct salvo_error.kind */
#define SALVO_ERROR_NONE	0	/* it was cancelled because of another batch */
#define SALVO_ERROR_RING	1	/* the GPU could not read its ring */
#define SALVO_ERROR_DMA		2	/* an access to system memory failed */
#define SALVO_ERROR_PACKET	3	/* the GPU rejected the packet */
#define SALVO_ERROR_PAGE	4	/* an address outside all buffers, or a forbidden access */
#define SALVO_ERROR_KERNEL	5	/* any other fault of a kernel */
#define SALVO_ERROR_STACK	6	/* a work-item overflowed its private memory */
#define SALVO_ERROR_LOCAL	7	/* an access past local memory */
#define SALVO_ERROR_ARITHMETIC	8	/* division by zero, or overflow of one */
#define SALVO_ERROR_INSTRUCTION	9	/* illegal or privileged instruction */
#define SALVO_ERROR_BARRIER	10	/* a barrier that not all work-items of a group reached */
#define SALVO_ERROR_SYSCALL	11	/* a kernel called the operating system */
#define SALVO_ERROR_HANG	256	/* it ran longer than the time limit */
#define SALVO_ERROR_BOUNDS	257	/* an access outside of its buffer or variable */

/* struct salvo_error.access */
#define SALVO_ERROR_READ	(1u << 0)
#define SALVO_ERROR_WRITE	(1u << 1)
#define SALVO_ERROR_EXEC	(1u << 2)

/**
 * struct salvo_error - How a batch failed; unknown fields are 0, or ~0 where it says so.
 */
struct salvo_error {
	int32_t error;		/* as salvo_fence_wait(); 0: nothing failed */
	uint32_t kind;		/* SALVO_ERROR_* */
	uint32_t command;	/* index of the command that failed, or ~0 */
	uint32_t done;		/* commands of the batch that completed */
	uint32_t count;		/* commands of the batch, as salvo_batch_count() */
	uint32_t access;	/* SALVO_ERROR_READ, _WRITE or _EXEC that was attempted, or 0 */
	uint64_t address;	/* GPU address of the access, or 0; see salvo_error_get_bounds() */
	const char *kernel;	/* name, valid until the device is closed; or NULL */
	uint64_t group;		/* number of the work-group, x fastest */
	uint32_t group_id[3];	/* the same as a position in the grid */
	uint32_t item;		/* number of the work-item in the work-group, or ~0 if not known */
	uint32_t item_id[3];	/* the same as a position; of the first if @items is more than 1 */
	uint32_t items;		/* so many consecutive work-items may have caused it, or 0 */
};

/**
 * salvo_fence_get_error() - The error of a batch: command, work-item, kind and address.
 *
 * The batch and its program may have been destroyed.
 *
 * Return: 0, -EBUSY (the batch is not done).
 */
int salvo_fence_get_error(struct salvo_fence *fence, struct salvo_error *error);
/** salvo_fence_get_label() - The label of a command when it was submitted, or NULL. */
const char *salvo_fence_get_label(const struct salvo_fence *fence, unsigned int command);
/* struct salvo_error_bounds.argument of an access that none is the base of */
#define SALVO_BOUNDS_PRIVATE	0xffffffffu	/* outside of a private variable */
#define SALVO_BOUNDS_LOCAL	0xfffffffeu	/* outside of a local variable */
#define SALVO_BOUNDS_CONSTANT	0xfffffffdu	/* outside of a variable of the program */
#define SALVO_BOUNDS_POINTER	0xfffffffcu	/* through a pointer from memory: of no argument */

/**
 * struct salvo_error_bounds - An access outside of the buffer of an argument, or of a variable.
 */
struct salvo_error_bounds {
	uint32_t argument;	/* its index, or SALVO_BOUNDS_*; from 1,019 on that one or later */
	uint32_t size;		/* bytes of the access, rounded up to a power of 2; 1: or unknown */
	int64_t offset;		/* of the access from the start; in an image, that of the pixel */
};

/**
 * salvo_error_get_bounds() - Details of SALVO_ERROR_BOUNDS, the error of a checked kernel.
 *
 * A kernel is checked if it was compiled with salvo-cc --checked, or by salvo_program_build()
 * while the environment variable SALVO_CHECKED is set, to anything but 0. The buffer of an argument
 * ends where salvo_kernel_set_bo_range() says, else at the end of the buffer object. Several
 * work-items may access memory at once: then @size is that of them all. An access to a variable is
 * reported before it is done, with the offset from the start of the variable.
 *
 * Return: 0, -EINVAL (another error).
 */
int salvo_error_get_bounds(const struct salvo_error *error, struct salvo_error_bounds *bounds);
/**
 * salvo_bounds_name() - Name what @argument of a struct salvo_error_bounds stands for.
 *
 * Return: such as "a private variable"; NULL for the index of an argument.
 */
const char *salvo_bounds_name(uint32_t argument);
/** salvo_error_name() - Describe a kind of error in a few words; never NULL. */
const char *salvo_error_name(uint32_t kind);

/**
 * salvo_batch_get_dependents() - Which commands wait for one, directly or through others.
 * @command: Index of a command that is no pipe control.
 * @waits: Room for salvo_batch_count() values: 1 for @command, and for those that wait for it by
 *         pipe controls of the application or the library, or by barriers; else 0.
 *
 * A command that faults takes them along, and all others of its batch run: if @done of struct
 * salvo_error is the number that is returned, each of those was done. If it is less, another
 * command has failed, too, or the batch was killed.
 *
 * Return: the number of commands that do not wait for it, pipe controls not counted; -EINVAL (no
 * such command, or a pipe control), -E2BIG (as for salvo_queue_submit()), -ENOMEM.
 */
int salvo_batch_get_dependents(struct salvo_batch *batch, unsigned int command, uint8_t *waits);

/**
 * salvo_batch_add_dependents() - Which commands wait for any of some, directly or through others.
 * @waits: salvo_batch_count() values: not 0 for each of these commands; afterwards 1 for them and
 *         for those that wait for them, as salvo_batch_get_dependents() finds them, else 0. Those
 *         of pipe controls are ignored, and become 0.
 *
 * It takes one pass over the batch, however many they are.
 *
 * Return: the number of other commands, pipe controls not counted; -E2BIG (as for
 * salvo_queue_submit()), -ENOMEM.
 */
int salvo_batch_add_dependents(struct salvo_batch *batch, uint8_t *waits);

/**
 * struct salvo_bo_range - Bytes of a buffer, for salvo_batch_find_accesses().
 */
struct salvo_bo_range {
	const struct salvo_bo *bo;	/* NULL: nothing */
	uint64_t offset;
	uint64_t size;
	uint32_t accessed;		/* set by the call: 1 or 0 */
};

/**
 * salvo_batch_find_accesses() - Which ranges of buffers do commands access?
 * @commands: salvo_batch_count() values: not 0 for each of these commands; NULL: all of the batch.
 * @access: SALVO_ARGUMENT_READ, _WRITE, or both: any of them.
 * @ranges, @count: To be answered; the time is about that of sorting the arguments of the batch.
 *
 * As hazards are found: from the access of a kernel to its arguments, and their ranges.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_batch_find_accesses(const struct salvo_batch *batch, const uint8_t *commands,
			      uint32_t access, struct salvo_bo_range *ranges, unsigned int count);

#if defined(__cplusplus)
}
#endif

#endif /* SALVO_ERROR_H */
