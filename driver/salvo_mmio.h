/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_mmio.h - registers, doorbell and VRAM aperture
 */
#ifndef SALVO_MMIO_H
#define SALVO_MMIO_H

#include <linux/types.h>

#include "salvo_hw.h"

struct pci_dev;
struct salvo_dev;

/**
 * struct salvo_mmio - Mappings of the BARs, and properties of the device.
 *
 * The device can change its registers at any time, so the properties that the driver
 * relies on are read once at probe, validated, and kept here.
 */
struct salvo_mmio {
	/** @doorbell: BAR0 of ivshmem-doorbell. */
	void __iomem *doorbell;
	/** @regs: Registers at the start of BAR2. */
	struct salvo_regs __iomem *regs;
	/** @vram: VRAM, mapped write-combined. */
	void __iomem *vram;
	/** @vram_start: CPU physical address of VRAM. */
	phys_addr_t vram_start;
	/** @vram_bytes: Size of VRAM. */
	u64 vram_bytes;
	/** @window_bytes: Size of the GPU address range past VRAM, for system memory; may be 0. */
	u64 window_bytes;
	/** @va_base: GPU address of the first byte of VRAM. */
	u64 va_base;
	/** @clock_hz: Frequency of timestamps. */
	u64 clock_hz;
	/** @version: SALVO_VERSION of the device. */
	u32 version;
	/** @generation: Generation of the GPU process; if it changes the process was replaced. */
	u32 generation;
	/** @units: Number of execution units. */
	u32 units;
	/** @nodes: Number of NUMA nodes of the units. */
	u32 nodes;
	/** @rings: Number of command rings in use, at most SALVO_MAX_RINGS. */
	u32 rings;
	/** @slots: Number of slots; 0 if the device has none. */
	u32 slots;
	/** @features: SALVO_FEATURE_* of the device. */
	u32 features;
	/** @isa_level: x86-64 level of the units. */
	u32 isa_level;
	/** @stopped: A reset was acknowledged, and no ring was started since. */
	bool stopped;
	/** @peer: ivshmem peer number, the upper half of each doorbell write. */
	u32 peer;
	/** @slot_wakes: Last values written to the registers slot_wake. */
	atomic_t slot_wakes[SALVO_MAX_SLOTS];
};

int salvo_mmio_init(struct salvo_dev *sdev, struct pci_dev *pdev);

void salvo_mmio_ring_doorbell(struct salvo_mmio *mmio, unsigned int doorbell);
int salvo_mmio_reset(struct salvo_mmio *mmio);
int salvo_mmio_kill(struct salvo_mmio *mmio, u32 ctx, u64 seqno);
void salvo_mmio_read_units(struct salvo_mmio *mmio, struct salvo_unit_regs *units);
int salvo_mmio_start_ring(struct salvo_mmio *mmio, unsigned int index, u64 base, u32 entries);
void salvo_mmio_write_tail(struct salvo_mmio *mmio, unsigned int ring, u64 tail);
u64 salvo_mmio_read_fence(struct salvo_mmio *mmio, unsigned int ring);
u64 salvo_mmio_read_head(struct salvo_mmio *mmio, unsigned int ring);
u32 salvo_mmio_read_slot_task(struct salvo_mmio *mmio, unsigned int slot);
u64 salvo_mmio_read_slot_ns(struct salvo_mmio *mmio, unsigned int slot);
void salvo_mmio_wake_slot(struct salvo_mmio *mmio, unsigned int slot);
u32 salvo_mmio_read_heartbeat(struct salvo_mmio *mmio);
bool salvo_mmio_is_lost(struct salvo_mmio *mmio);
bool salvo_mmio_is_stopped(struct salvo_mmio *mmio);
void salvo_mmio_set_bus_master(struct salvo_mmio *mmio, bool on);
u64 salvo_mmio_read_fault(struct salvo_mmio *mmio, struct salvo_fault_regs *fault);

#endif /* SALVO_MMIO_H */
