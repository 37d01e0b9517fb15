/* SPDX-License-Identifier: MIT */
/*
 * bo.h - base of a back end's buffer
 */
#ifndef SALVO_LIB_BO_H
#define SALVO_LIB_BO_H

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
};

#endif /* SALVO_LIB_BO_H */
