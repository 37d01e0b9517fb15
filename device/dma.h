/* SPDX-License-Identifier: MIT */
/*
 * dma.h - bounded access to system memory
 */
#ifndef SALVO_DMA_H
#define SALVO_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct salvo_regs;

/**
 * struct salvo_dma - The window to system memory.
 */
struct salvo_dma {
	/** @regs: For @bus_master. */
	const struct salvo_regs *regs;
	/** @base: Address of system address 0; NULL if system addresses are pointers. */
	uint8_t *base;
	/** @bytes: Size of the window; 0 if it has no bound. */
	uint64_t bytes;
};

/**
 * salvo_dma_covers() - Is [@address, @address + @size) within system memory?
 */
bool salvo_dma_covers(const struct salvo_dma *dma, uint64_t address, uint64_t size);

/**
 * salvo_dma_allows() - The same, and has the driver enabled bus mastering?
 */
bool salvo_dma_allows(const struct salvo_dma *dma, uint64_t address, uint64_t size);

/**
 * salvo_dma_read() - Copy from system memory to device memory.
 *
 * Return: false if the range is not system memory or the driver forbids access.
 */
bool salvo_dma_read(const struct salvo_dma *dma, void *to, uint64_t address, uint64_t size);

/**
 * salvo_dma_write() - Copy from device memory to system memory.
 *
 * Return: as salvo_dma_read().
 */
bool salvo_dma_write(const struct salvo_dma *dma, uint64_t address, const void *from,
		     uint64_t size);

#endif /* SALVO_DMA_H */
