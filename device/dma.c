// SPDX-License-Identifier: MIT
/*
 * dma.c - bounded access to system memory
 *
 * The only code of the device that touches system memory (B11 of
 * WO2015/123840). Every access is bounded by the window, and none is made while
 * the driver's bus-master word is not 1. The other side may change the memory at
 * any time: callers copy once and read only their copy.
 */
#include "dma.h"

#include <string.h>
#include "salvo_hw.h"

bool salvo_dma_covers(const struct salvo_dma *dma, uint64_t address, uint64_t size)
{
	if (!dma->base && !dma->bytes)
		return address && address + size >= address;
	return size <= dma->bytes && address <= dma->bytes - size;
}

bool salvo_dma_allows(const struct salvo_dma *dma, uint64_t address, uint64_t size)
{
	return __atomic_load_n(&dma->regs->bus_master, __ATOMIC_ACQUIRE) == 1 &&
	       salvo_dma_covers(dma, address, size);
}

bool salvo_dma_read(const struct salvo_dma *dma, void *to, uint64_t address, uint64_t size)
{
	if (!salvo_dma_allows(dma, address, size))
		return false;
	memcpy(to, (const void *)((uintptr_t)dma->base + address), size);
	return true;
}

bool salvo_dma_write(const struct salvo_dma *dma, uint64_t address, const void *from,
		     uint64_t size)
{
	if (!salvo_dma_allows(dma, address, size))
		return false;
	memcpy((void *)((uintptr_t)dma->base + address), from, size);
	return true;
}
