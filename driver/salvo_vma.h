/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_vma.h - a buffer bound in an address space
 */
#ifndef SALVO_VMA_H
#define SALVO_VMA_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include "salvo_ring.h"

struct salvo_dev;
struct salvo_gem_object;
struct salvo_vm;

/**
 * struct salvo_vma - A buffer bound in an address space.
 *
 * Its packets are allocated and packed when it is created, so that unbinding cannot
 * fail.
 */
struct salvo_vma {
	/** @rb: Entry in vm->vmas, by GPU address. */
	struct rb_node rb;
	/** @node: Entry in vm->retiring. */
	struct list_head node;
	/** @shared: Entry in vm->shared, or empty. */
	struct list_head shared;
	/** @bo: The buffer; holds a reference. */
	struct salvo_gem_object *bo;
	/** @access: SALVO_ACCESS_* that the GPU has. */
	u32 access;
	/** @handles: Number of the file's handles of the buffer. */
	u32 handles;
	/** @last_use: Last batch that may access the buffer; valid once it is retiring. */
	u64 last_use;
	/** @unbind_seqno: Ring seqno of UNBIND, or 0 before it is on the ring. */
	u64 unbind_seqno;
	/** @memory: Coherent memory of all packets and their result. */
	void *memory;
	/** @dma: DMA address of @memory. */
	dma_addr_t dma;
	/** @memory_bytes: Size of @memory. */
	size_t memory_bytes;
	/** @unbind: The packet that unbinds the buffer. */
	struct salvo_space_packet unbind;
	/** @bind_count: Number of elements of @bind. */
	u32 bind_count;
	/** @bind: The packets that bind the buffer; they are put on the ring together. */
	struct salvo_space_packet bind[];
};

struct salvo_vma *salvo_vma_create(struct salvo_dev *sdev, struct salvo_gem_object *bo);
void salvo_vma_destroy(struct salvo_dev *sdev, struct salvo_vma *vma);
void salvo_vma_free_packets(struct salvo_dev *sdev, struct salvo_vma *vma);

u64 salvo_vma_address(const struct salvo_vma *vma);
u64 salvo_vma_bytes(const struct salvo_vma *vma);
bool salvo_vma_is_vram(const struct salvo_vma *vma);

bool salvo_vma_push_bind(struct salvo_vm *vm, struct salvo_vma *vma);
bool salvo_vma_push_unbind(struct salvo_vm *vm, struct salvo_vma *vma);

#endif /* SALVO_VMA_H */
