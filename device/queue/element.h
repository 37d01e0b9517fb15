/* SPDX-License-Identifier: MIT */
/*
 * element.h - work elements
 */
#ifndef SALVO_ELEMENT_H
#define SALVO_ELEMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "salvo_hw.h"

struct salvo_gpu_job;

/* Bytes of a copy or fill that are one item of its work element */
#define SALVO_BLOCK_BYTES (64u << 10)

enum salvo_element_kind {
	SALVO_ELEMENT_NONE,	/* a command without work */
	SALVO_ELEMENT_JOIN,	/* no items: done when its producers are */
	SALVO_ELEMENT_DISPATCH,	/* items are work-groups */
	SALVO_ELEMENT_COPY,	/* items are blocks of SALVO_BLOCK_BYTES */
	SALVO_ELEMENT_FILL,
	SALVO_ELEMENT_TIMESTAMP,
	SALVO_ELEMENT_COPY_RECT,	/* items are those of salvo_transfer_rect_items() */
	SALVO_ELEMENT_FILL_PATTERN,	/* items are blocks of SALVO_BLOCK_BYTES */
};

/* No edge */
#define SALVO_EDGE_NONE (~0u)

/**
 * struct salvo_edge - A consumer of an element, in a list within its job's edges.
 */
struct salvo_edge {
	uint32_t consumer;
	uint32_t next;
};

/**
 * struct salvo_element - An N-d range as a 1-D sequence of items (N1 of CN102792271).
 *
 * The unique id of N1 is the pair of @job and @index. The order of mapping is
 * x fastest, then y, then z, for all.
 */
struct salvo_element {
	/* Constant once it enters the queue. */
	struct salvo_gpu_job *job;
	/** @op: Its command, in the job's copy of the packet. */
	const void *op;
	/** @args: Arguments of a dispatch. */
	const void *args;
	/** @apu_mask: Units that may run it; the queue may choose one of them. */
	uint64_t apu_mask;
	/** @index: Of its command. */
	uint32_t index;
	/** @size: Items in each dimension. */
	uint32_t size[3];
	/** @total: Product of the sizes. */
	uint32_t total;
	/** @first_edge: Its consumers. */
	uint32_t first_edge;
	/**
	 * @coalesced: Number of elements that enter the queue as one entry: this one and those
	 * behind it, of one item each. If more than 1 the items of the entry are these elements.
	 */
	uint32_t coalesced;
	/** @kind: enum salvo_element_kind. */
	uint8_t kind;
	/** @prio: Priority index of its job. */
	uint8_t prio;
	/** @root: It has no producers. */
	bool root;

	/* Changed by the units. */
	/** @producers: Producers that are not done. */
	_Atomic uint32_t producers __attribute__((aligned(64)));
	/** @left: Items that are not done. */
	_Atomic uint32_t left;
	/** @failed: It has faulted, or something that it waits for has: what is left is dropped. */
	_Atomic bool failed;
	/** @ready, @started, @ended: For the profile. */
	uint64_t ready;
	_Atomic uint64_t started;
	uint64_t ended;
	/** @followers: Pipe controls of the next job that wait for it; see overlap.c. */
	struct salvo_element *_Atomic followers;
	/** @next: In the list of elements that wait for a free entry, or in one of overlap.c. */
	struct salvo_element *next;
};

/**
 * salvo_element_set_range() - Give an element its range.
 */
static inline void salvo_element_set_range(struct salvo_element *element, const uint32_t size[3])
{
	element->size[0] = size[0];
	element->size[1] = size[1];
	element->size[2] = size[2];
	element->total = size[0] * size[1] * size[2];
}

/**
 * salvo_element_coalesce() - Let adjacent elements of one item each enter the queue as one entry.
 * @head: First of the elements so far, which are not in the queue yet; may be NULL.
 * @element: Another one.
 *
 * Return: the head of all of them, or NULL if @element cannot be added.
 */
static inline struct salvo_element *salvo_element_coalesce(struct salvo_element *head,
							    struct salvo_element *element)
{
	if (!head || head->total != 1 || element->total != 1 ||
	    head->apu_mask != element->apu_mask)
		return NULL;
	if (element == head + head->coalesced) {
		head->coalesced++;
		return head;
	}
	if (element + 1 == head) {
		element->coalesced = head->coalesced + 1;
		return element;
	}
	return NULL;
}

/**
 * salvo_element_entry_items() - Items that its entry in a queue has.
 */
static inline uint32_t salvo_element_entry_items(const struct salvo_element *element)
{
	return element->coalesced > 1 ? element->coalesced : element->total;
}

/**
 * salvo_element_kernel() - Address of the kernel that the items of its entry run; 0 if none.
 */
static inline uint64_t salvo_element_kernel(const struct salvo_element *element)
{
	return element->kind == SALVO_ELEMENT_DISPATCH && element->coalesced <= 1 ?
	       ((const struct salvo_op_dispatch *)element->op)->entry : 0;
}

/**
 * salvo_element_contends() - Are its items several work-groups that may write to the same lines?
 */
static inline bool salvo_element_contends(const struct salvo_element *element)
{
	return element->total > 1 && salvo_element_kernel(element) &&
	       ((const struct salvo_op_dispatch *)element->op)->flags & SALVO_DISPATCH_CONTENDS;
}

/**
 * salvo_element_has_one_unit() - May only one unit run it?
 */
static inline bool salvo_element_has_one_unit(const struct salvo_element *element)
{
	return !(element->apu_mask & (element->apu_mask - 1));
}

/**
 * salvo_element_position() - The N-d position of item @item (N2 of CN102792271).
 */
void salvo_element_position(const struct salvo_element *element, uint32_t item,
			    uint32_t position[3]);

/**
 * salvo_element_extent() - Operands that an item really has in one dimension.
 * @items: Size of the range.
 * @group: Size of a full item.
 * @position: Of the item.
 */
static inline uint32_t salvo_element_extent(uint32_t items, uint32_t group, uint32_t position)
{
	const uint32_t rest = items - position * group;

	return rest < group ? rest : group;
}

#endif /* SALVO_ELEMENT_H */
