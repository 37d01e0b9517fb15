/* SPDX-License-Identifier: MIT */
/*
 * salvo_kernel.h - the contract between a compiled kernel and a unit
 *
 * A program is an ELF shared object for x86-64: position independent, no
 * imports, only R_X86_64_RELATIVE relocations. Each kernel is an exported
 * function of the kernel's name with the type salvo_kernel_fn, and has one ELF note
 * (owner SALVO_NOTE_OWNER, type SALVO_NOTE_KERNEL). A program may contain variants of a
 * kernel for several instruction sets: then there are several notes with the kernel's
 * name, each with the symbol of its own function.
 *
 * A kernel without barriers runs a whole work-group in one call, or a strip of them,
 * and ignores @item. A kernel with barriers (SALVO_KERNEL_BARRIERS) is called once for each
 * work-item, each call on a stack of its own (a user-level thread), and calls
 * @group->barrier(@group) to wait for the others (M2, M3 of CN102576314). One that
 * the compiler split at its barriers (SALVO_KERNEL_SPLIT) runs like one without; it calls
 * @group->barrier(@group), which ends the batch with a fault, if not all work-items of the group
 * come to the same barrier.
 *
 * Arguments lie in one block, as in a C structure: each at its natural
 * alignment (at most 16), in order. A pointer to global or constant memory is a
 * GPU address, which is a plain pointer to the kernel. A pointer to local memory
 * is a 64-bit offset from @group->local; static local variables lie at offset 0
 * up to the note's @local_bytes, local arguments after them. An image is a struct
 * salvo_image_view, which begins with the GPU address of its pixels; a sampler is a
 * 32-bit word of CLK_* bits.
 */
#ifndef SALVO_KERNEL_H
#define SALVO_KERNEL_H

#include <stdint.h>
#include "salvo_hw.h"
#include "salvo_stray.h"

/*
 * Private memory lies on the stack of the unit's thread, or with SALVO_KERNEL_BARRIERS on
 * the work-item's own stack, which is larger in smaller work-groups. The unit itself uses
 * SALVO_STACK_RESERVE bytes of the stack.
 */
#define SALVO_UNIT_STACK_BYTES	(8u << 20)
#define SALVO_ITEM_STACK_LEAST	(16u << 10)
#define SALVO_ITEM_STACK_MOST	(256u << 10)
#define SALVO_STACK_RESERVE	1024u

/* Bytes of the stack of a work-item in a work-group of @items, 1 to SALVO_MAX_GROUP_ITEMS. */
static inline uint32_t salvo_item_stack(uint32_t items)
{
	const uint32_t stack = SALVO_MAX_GROUP_ITEMS / items * SALVO_ITEM_STACK_LEAST;

	return stack < SALVO_ITEM_STACK_MOST ? stack : SALVO_ITEM_STACK_MOST;
}

/**
 * struct salvo_group - One work-group as its kernel sees it.
 *
 * Salvo allows ragged ranges: @extent is less than @local_size in the last
 * work-group of a dimension where @global_size is no multiple of @local_size.
 *
 * A kernel without barriers may run a strip: up to @run work-groups in one call, this
 * one and those that follow it in dimension 0. It stores their number in @ran. If there is
 * only one in dimension 0 it may run up to @rows that follow each other in dimension 1, with at
 * most SALVO_MAX_GROUP_ITEMS work-items in that dimension. @run or @rows is 1.
 *
 * A kernel that is a whole work-group with barriers may run up to @run of the same size one after
 * the other. It keeps @group_id up to date for the unit, which reads it if the kernel faults.
 *
 * If nobody else updates memory by atomic operations during the call, @ran has SALVO_GROUP_EXCLUDES
 * before. Then the kernel may use plain operations instead.
 */
struct salvo_group {
	uint64_t global_size[3];	/* work-items of the dispatch */
	uint64_t local_size[3];		/* work-items of a full work-group */
	uint64_t num_groups[3];
	uint64_t group_id[3];
	uint64_t extent[3];		/* work-items of this work-group */
	void *local;			/* local memory, aligned to 128 */
	void (*barrier)(struct salvo_group *group);
	uint32_t dims;
	uint32_t run;			/* work-groups that the call may run, at least 1 */
	uint32_t ran;			/* in: 1 and flags; out: work-groups that it ran */
	uint32_t rows;			/* the same as @run in dimension 1; 0 is 1 */
};

/* struct salvo_group.ran, before the call */
#define SALVO_GROUP_EXCLUDES	(1u << 31)

/**
 * struct salvo_item - One work-item of a kernel with barriers.
 */
struct salvo_item {
	uint64_t local_id[3];
};

typedef void (*salvo_kernel_fn)(const void *args, struct salvo_group *group,
				const struct salvo_item *item);

#define SALVO_NOTE_OWNER	"Salvo"
#define SALVO_NOTE_KERNEL	1
/** define SALVO_NOTE_EMPTY - Type of the note, without contents, of a program without kernels. */
#define SALVO_NOTE_EMPTY	2
#define SALVO_NOTE_VERSION	3
/** define SALVO_NOTE_VARIABLES - Type of the note of a program with variables in global memory. */
#define SALVO_NOTE_VARIABLES	3
#define SALVO_NOTE_VARIABLES_VERSION	1

/* struct salvo_note_kernel.flags */
#define SALVO_KERNEL_BARRIERS	(1u << 0)	/* a call runs a work-item */
#define SALVO_KERNEL_SPLIT	(1u << 1)	/* the compiler split it at its barriers */
#define SALVO_KERNEL_PRINTS	(1u << 2)	/* see struct salvo_print_buffer */
#define SALVO_KERNEL_OFFSET	(1u << 3)	/* see struct salvo_global_offset */
#define SALVO_KERNEL_CHECKED	(1u << 4)	/* see SALVO_STRAY_BASE */
#define SALVO_KERNEL_SUB_GROUPS	(1u << 5)	/* at most SALVO_MAX_SUB_GROUP_ITEMS in a group */
#define SALVO_KERNEL_VARIABLES	(1u << 6)	/* see struct salvo_note_variables */
#define SALVO_KERNEL_COLUMNS	(1u << 7)	/* neighbours in y are so in memory */
#define SALVO_KERNEL_CONTENDS	(1u << 8)	/* see SALVO_DISPATCH_CONTENDS */
#define SALVO_KERNEL_PLANES	(1u << 9)	/* the same in z: lanes with COLUMNS, else blocks */

/*
 * A work-group is one sub-group. Sub-groups have no more work-items than a mask of them has bits,
 * which is a uint4 in OpenCL C (cl_khr_subgroup_ballot).
 */
#define SALVO_MAX_SUB_GROUP_ITEMS	128

/* struct salvo_note_arg.kind */
#define SALVO_ARG_VALUE		0	/* scalar, vector or structure, by value */
#define SALVO_ARG_GLOBAL	1	/* pointer to global memory */
#define SALVO_ARG_CONSTANT	2	/* pointer to constant memory */
#define SALVO_ARG_LOCAL		3	/* pointer to local memory */
#define SALVO_ARG_IMAGE		4	/* struct salvo_image_view */
#define SALVO_ARG_SAMPLER	5	/* uint32_t */

/* struct salvo_note_arg.qualifiers: of what a pointer refers to, and restrict */
#define SALVO_ARG_IS_CONST	(1u << 0)
#define SALVO_ARG_IS_RESTRICT	(1u << 1)
#define SALVO_ARG_IS_VOLATILE	(1u << 2)

/**
 * struct salvo_items_link - Reference to the table of work-items; it lies directly before the
 * entry of each kernel.
 */
struct salvo_items_link {
	uint64_t magic;		/* SALVO_ITEMS_MAGIC */
	int32_t items;		/* offset of the struct salvo_items from the entry */
	uint32_t reserved;
};

#define SALVO_ITEMS_MAGIC	0x736d65744f564c53ull
#define SALVO_ITEMS_VERSION	1

/**
 * struct salvo_items - Table that maps instructions to work-items, for the reports of faults.
 *
 * After this structure follow @points struct salvo_items_point by rising address, @places
 * struct salvo_item_place, and @bytes of expressions. A point applies from its address up to
 * the address of the next point.
 *
 * An expression is a byte with its length, then as many bytes of a DWARF expression (DWARF 5,
 * 2.5), whose result is an index. Only breg0 to breg15, constu, consts, plus, minus, mul, div,
 * deref and plus_uconst are allowed.
 */
struct salvo_items {
	uint32_t version;	/* SALVO_ITEMS_VERSION */
	uint32_t points;
	uint32_t places;
	uint32_t bytes;
	int32_t code;		/* base of the points' addresses, as an offset from here */
};

struct salvo_items_point {
	uint32_t at;		/* address, from @code */
	uint32_t place;		/* index of a place */
};

/* struct salvo_item_place.what */
#define SALVO_ITEM_NONE		0	/* unknown */
#define SALVO_ITEM_ANY		1	/* any of the lanes */
#define SALVO_ITEM_LANE		2	/* @lane */
#define SALVO_ITEM_ROW		3	/* all lanes, contiguous in memory */

/* Registers have the numbers that DWARF gives them. */
#define SALVO_ITEM_REGISTERS	16
#define SALVO_ITEM_NO_REGISTER	255

/**
 * struct salvo_item_place - The work-items of an instruction.
 *
 * The instruction runs for @lanes work-items. The expressions @at give the indices of the
 * first one: its local ids, except that in a strip x continues into the following work-groups.
 * For SALVO_ITEM_ROW each lane accesses @each bytes, and the first lane's begin at
 * @base + @index * @scale + @displacement.
 */
struct salvo_item_place {
	uint16_t at[3];		/* offsets of expressions */
	uint16_t lanes;
	uint8_t what;		/* SALVO_ITEM_NONE to _ROW */
	uint8_t lane;
	uint8_t base, index;	/* registers, or SALVO_ITEM_NO_REGISTER */
	uint8_t scale;
	uint8_t each;
	uint16_t reserved;
	int32_t displacement;
};

/**
 * struct salvo_global_offset - Where the global ids of a dispatch begin.
 *
 * It lies at the start of the argument block; the note does not list it as an argument.
 */
struct salvo_global_offset {
	uint32_t first[3];	/* at most SALVO_MAX_ITEMS */
	uint32_t reserved;
};

/**
 * struct salvo_image_view - An image as its kernel sees it.
 *
 * The image functions of OpenCL C are software; they check or clamp coordinates
 * by these sizes before they access memory.
 */
struct salvo_image_view {
	uint64_t address;	/* of the pixel (0, 0, 0), a GPU address */
	uint64_t row_pitch;	/* bytes between rows */
	uint64_t slice_pitch;	/* bytes between slices or layers */
	uint32_t width, height, depth;	/* 1 where it has no such dimension */
	uint32_t layers;	/* of an array, else 0 */
	uint32_t order, type;	/* channel order and type, values of OpenCL */
};

/**
 * struct salvo_print_buffer - Output of a kernel's printf().
 *
 * Its GPU address is in the last 8 bytes of the argument block; the note does not list it
 * as an argument. A record consists of its size (uint32_t, a multiple of 8), the size of the
 * format (likewise), the format, and 8 bytes for each argument, or for each element of a
 * vector: a double, or a zero-extended integer. A string is stored in place, with its
 * terminating 0, padded to a multiple of 8.
 */
struct salvo_print_buffer {
	uint64_t used;		/* bytes requested; more than @capacity if some did not fit */
	uint32_t capacity;	/* of the records */
	uint32_t lost;		/* records that did not fit */
	uint8_t records[];
};

/**
 * struct salvo_note_arg - One argument of a kernel.
 */
struct salvo_note_arg {
	uint32_t kind;		/* SALVO_ARG_* */
	uint16_t access;	/* to the memory of a pointer or image: 1 read, 2 write, 3 both */
	uint16_t qualifiers;	/* SALVO_ARG_IS_* */
	uint32_t offset;	/* in the argument block */
	uint32_t size;		/* in the argument block; 8 for pointers */
	uint32_t name;		/* offset of its name in the description, 0 if unknown */
	uint32_t type;		/* offset of its type's name, 0 if unknown */
};

/**
 * struct salvo_note_kernel - Description of a kernel: this, then @arg_count
 * struct salvo_note_arg, then zero-terminated strings.
 */
struct salvo_note_kernel {
	uint32_t version;	/* SALVO_NOTE_VERSION */
	uint32_t name;		/* offset of the name in the description */
	uint32_t flags;		/* SALVO_KERNEL_* */
	uint32_t isa_level;	/* x86-64 level of salvo_march.h it was compiled for; else 0 */
	uint32_t arg_count;
	uint32_t args_bytes;	/* size of the argument block */
	uint32_t local_bytes;	/* static local memory */
	uint32_t private_bytes;	/* stack of a work-item, 0 if unknown */
	uint32_t required_group[3];	/* reqd_work_group_size, or zeros */
	uint32_t symbol;	/* offset of its function's name, 0 if that is the kernel's */
	uint32_t hinted_group[3];	/* work_group_size_hint, or zeros */
	uint32_t hinted_type;	/* offset of the name in vec_type_hint, 0 if there is none */
};

#define SALVO_VARIABLES_SYMBOL		"salvo_variables"
#define SALVO_VARIABLES_INIT_SYMBOL	"salvo_variables_init"
/* Of all variables of a program */
#define SALVO_MAX_VARIABLE_BYTES	(64u << 20)
/* Of the block */
#define SALVO_VARIABLES_ALIGN		4096

/**
 * struct salvo_note_variables - The variables of a program, a block in global memory.
 *
 * The library allocates the block when it loads the program, and stores its address, of 8 bytes, at
 * the symbol SALVO_VARIABLES_SYMBOL. The block begins with @init_bytes from
 * SALVO_VARIABLES_INIT_SYMBOL, the rest is zero. After this structure follow @pointer_count
 * offsets, of 8 bytes, of addresses in the block: what is there once the program is relocated is
 * the address of a variable in SALVO_VARIABLES_INIT_SYMBOL, which has to become that of the
 * variable itself.
 */
struct salvo_note_variables {
	uint32_t version;	/* SALVO_NOTE_VARIABLES_VERSION */
	uint32_t pointer_count;
	uint64_t bytes;
	uint64_t init_bytes;
};

#define SALVO_OBJECT_MAGIC	"SALVOOBJ"
#define SALVO_OBJECT_VERSION	1

/* struct salvo_object_head.kind */
#define SALVO_OBJECT_IS_COMPILED	1
#define SALVO_OBJECT_IS_LIBRARY		2

/**
 * struct salvo_object_head - Start of an object or library of salvo-cc; LLVM bitcode follows.
 *
 * No GPU reads it: the link step makes a program of objects.
 */
struct salvo_object_head {
	char magic[8];		/* SALVO_OBJECT_MAGIC, without the 0 */
	uint32_t version;	/* SALVO_OBJECT_VERSION */
	uint32_t kind;		/* SALVO_OBJECT_IS_* */
	uint64_t bytes;		/* of the object, this included */
};

#endif /* SALVO_KERNEL_H */
