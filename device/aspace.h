/* SPDX-License-Identifier: MIT */
/*
 * aspace.h - GPU address spaces
 */
#ifndef SALVO_ASPACE_H
#define SALVO_ASPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct salvo_binding - A range of VRAM that one address space sees.
 */
struct salvo_binding {
	uint64_t address;
	uint64_t size;
	uint32_t asid;
	/** @access: SALVO_ACCESS_*. */
	uint32_t access;
};

/**
 * struct salvo_aspaces - All address spaces of a GPU.
 */
struct salvo_aspaces {
	/** @base: VRAM at its GPU address. */
	uint8_t *base;
	uint64_t bytes;
	/** @fd: The file that holds it, and where in it; the owner's, open while we live. */
	int fd;
	uint64_t offset;
	/** @bindings: Sorted by address; @count of @capacity. */
	struct salvo_binding *bindings;
	size_t count;
	size_t capacity;
	/** @last: Index where the last search ended; only a hint. */
	size_t last;
};

/**
 * salvo_aspaces_init() - Map VRAM; no address space sees any of it.
 * @fd, @offset, @bytes: The file that holds it.
 * @va_base: Wanted address, or 0 for any.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int salvo_aspaces_init(struct salvo_aspaces *aspaces, int fd, uint64_t offset, uint64_t bytes,
		       uint64_t va_base);
void salvo_aspaces_fini(struct salvo_aspaces *aspaces);

/**
 * salvo_aspaces_bind() - Show a range to an address space.
 *
 * Return: false if the request is wrong, or there is no memory for it.
 */
bool salvo_aspaces_bind(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			uint64_t size, uint32_t access);
/**
 * salvo_aspaces_unbind() - Hide a range that was bound as a whole.
 *
 * Return: as salvo_aspaces_bind().
 */
bool salvo_aspaces_unbind(struct salvo_aspaces *aspaces, uint32_t asid,
			  uint64_t address, uint64_t size);
/**
 * salvo_aspaces_end() - Hide all that an address space sees.
 */
void salvo_aspaces_end(struct salvo_aspaces *aspaces, uint32_t asid);
/**
 * salvo_aspaces_clear() - Forget all address spaces.
 */
void salvo_aspaces_clear(struct salvo_aspaces *aspaces);

/**
 * salvo_aspaces_covers() - Does one bound range hold all of a range, with @access?
 */
bool salvo_aspaces_covers(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			  uint64_t size, uint32_t access);

#endif /* SALVO_ASPACE_H */
