/* SPDX-License-Identifier: MIT */
/*
 * vram.h - allocator for the embedded GPU's video memory
 */
#ifndef SALVO_VRAM_H
#define SALVO_VRAM_H

#include <stddef.h>
#include <stdint.h>

struct salvo_vram_range {
	uint64_t offset;
	uint64_t bytes;
	uint32_t access;	/* SALVO_ACCESS_* */
};

/** define SALVO_VRAM_GUARD_BYTES - Between two ranges. */
#define SALVO_VRAM_GUARD_BYTES 4096u

/**
 * struct salvo_vram - Ranges in order of their offsets.
 */
struct salvo_vram {
	struct salvo_vram_range *ranges;
	unsigned int count;
	unsigned int capacity;
	uint64_t bytes;
	/** @dense: Not even the smallest range fits before the one of this index. */
	unsigned int dense;
};

void salvo_vram_init(struct salvo_vram *vram, uint64_t bytes);
void salvo_vram_fini(struct salvo_vram *vram);

/** salvo_vram_alloc() - Allocate @bytes, whole pages. Return: 0, -ENOSPC, -ENOMEM. */
int salvo_vram_alloc(struct salvo_vram *vram, uint64_t bytes, uint32_t access,
		     uint64_t *offset);
void salvo_vram_free(struct salvo_vram *vram, uint64_t offset);

/** salvo_vram_find() - The range that holds @offset, or NULL. */
const struct salvo_vram_range *salvo_vram_find(const struct salvo_vram *vram, uint64_t offset);

#endif /* SALVO_VRAM_H */
