/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_mmio.h - registers, doorbell and VRAM aperture: the seam to the transport
 */
#ifndef SALVO_MMIO_H
#define SALVO_MMIO_H

#include <linux/types.h>

#include "salvo_hw.h"

struct pci_dev;
struct salvo_dev;

/**
 * struct salvo_mmio - The function's BARs and what the registers said at probe.
 *
 * The device may change its registers at any time, so what the driver relies on
 * is read once, checked, and kept here.
 */
struct salvo_mmio {
	/** @doorbell: BAR0 of ivshmem-doorbell. */
	void __iomem *doorbell;
	/** @regs: The registers at the head of BAR2. */
	struct salvo_regs __iomem *regs;
	/** @vram: VRAM, write-combined. */
	void __iomem *vram;
	/** @vram_start: CPU physical address of VRAM. */
	phys_addr_t vram_start;
	/** @vram_bytes: Its size. */
	u64 vram_bytes;
	/** @window_bytes: GPU addresses past VRAM, for system memory. */
	u64 window_bytes;
	/** @va_base: GPU address of its first byte. */
	u64 va_base;
	/** @clock_hz: Rate of timestamps. */
	u64 clock_hz;
	/** @version: SALVO_VERSION as the device told it. */
	u32 version;
	/** @generation: Of the GPU worker; another one means that ours was lost. */
	u32 generation;
	/** @units: Execution units. */
	u32 units;
	/** @nodes: Nodes of the units. */
	u32 nodes;
	/** @rings: Command rings, no more than we know. */
	u32 rings;
	/** @isa_level: x86-64 level of the units. */
	u32 isa_level;
	/** @stopped: Was reset and has had no live ring since. */
	bool stopped;
	/** @peer: Upper half of each doorbell write. */
	u32 peer;
};

int salvo_mmio_init(struct salvo_dev *sdev, struct pci_dev *pdev);

void salvo_mmio_ring_doorbell(struct salvo_mmio *mmio, unsigned int doorbell);
int salvo_mmio_reset(struct salvo_mmio *mmio);
int salvo_mmio_kill(struct salvo_mmio *mmio, u32 ctx);
void salvo_mmio_read_units(struct salvo_mmio *mmio, struct salvo_unit_regs *units);
int salvo_mmio_start_ring(struct salvo_mmio *mmio, unsigned int index, u64 base, u32 entries);
void salvo_mmio_write_tail(struct salvo_mmio *mmio, unsigned int ring, u64 tail);
u64 salvo_mmio_read_fence(struct salvo_mmio *mmio, unsigned int ring);
u32 salvo_mmio_read_heartbeat(struct salvo_mmio *mmio);
bool salvo_mmio_is_lost(struct salvo_mmio *mmio);
bool salvo_mmio_is_stopped(struct salvo_mmio *mmio);
void salvo_mmio_set_bus_master(struct salvo_mmio *mmio, bool on);
u64 salvo_mmio_read_fault(struct salvo_mmio *mmio, struct salvo_fault_regs *fault);

#endif /* SALVO_MMIO_H */
