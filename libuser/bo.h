/* SPDX-License-Identifier: MIT */
/*
 * bo.h - base of a back end's buffer
 */
#ifndef SALVO_LIB_BO_H
#define SALVO_LIB_BO_H

#include <stdbool.h>
#include <stdint.h>

struct salvo_device;

/**
 * struct salvo_bo - Base of a back end's buffer.
 */
struct salvo_bo {
	struct salvo_device *device;
	uint64_t size;
	/** @address: On the GPU. */
	uint64_t address;
	/** @shares: Other buffers may have the same addresses. */
	bool shares;
};

/** salvo_bo_memory() - Names its memory, of which no other buffer has a part; 0: others may. */
static inline uint64_t salvo_bo_memory(const struct salvo_bo *bo)
{
	return bo->shares ? 0 : bo->address;
}

#endif /* SALVO_LIB_BO_H */
