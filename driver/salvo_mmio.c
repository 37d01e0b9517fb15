// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_mmio.c - registers, doorbell and VRAM aperture
 *
 * The registers are memory that is shared with the device: a write has no effect until a
 * doorbell is rung, and every value read is untrusted and validated before use. This is
 * the only file that knows the transport.
 *
 * Locks: none here. ring->lock protects the registers of a ring; bring-up, teardown and
 * work on the ordered sdev->wq own the reset and kill handshakes.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/pci.h>

#include "salvo_device.h"
#include "salvo_mmio.h"
#include "salvo_watchdog.h"

/*
 * The device acknowledges a request within a heartbeat, but on a loaded host it may have
 * to wait for processes to exit. The request fails after heartbeat_timeout_ms without a
 * heartbeat, or after 15 s in all. A poll counts for SALVO_ACK_STEP_US at most, so that a
 * paused VM does not expire the limit.
 */
#define SALVO_ACK_POLL_US	200
#define SALVO_ACK_STEP_US	2000
#define SALVO_ACK_LIMIT_US	(15 * USEC_PER_SEC)

static int salvo_mmio_reject(struct pci_dev *pdev, const char *name, u64 value)
{
	return dev_err_probe(&pdev->dev, -ENODEV, "invalid value %#llx of register %s\n", value,
			     name);
}

static int salvo_mmio_check(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	struct salvo_mmio *mmio = &sdev->mmio;
	struct salvo_regs __iomem *regs = mmio->regs;
	u64 bar = pci_resource_len(pdev, SALVO_BAR_MEMORY);
	u64 vram_offset, va_bytes;
	unsigned int i;

	if (readl(&regs->magic) != SALVO_MAGIC)
		return salvo_refuse(sdev, -ENODEV, "not a Salvo GPU: magic %#x",
				    readl(&regs->magic));
	mmio->version = readl(&regs->version);
	if (mmio->version >> 16 != SALVO_VERSION >> 16)
		return dev_err_probe(&pdev->dev, -ENODEV, "unknown hardware version %#x\n",
				     mmio->version);

	mmio->units = readl(&regs->units);
	mmio->nodes = readl(&regs->nodes);
	mmio->rings = min_t(u32, readl(&regs->rings), SALVO_MAX_RINGS);
	mmio->features = readl(&regs->features);
	mmio->slots = min_t(u32, readl(&regs->slots), SALVO_MAX_SLOTS);
	mmio->isa_level = readl(&regs->isa_level);
	mmio->generation = readl(&regs->generation);
	mmio->clock_hz = readq(&regs->clock_hz);
	mmio->va_base = readq(&regs->va_base);
	mmio->vram_bytes = readq(&regs->vram_bytes);
	for (i = 0; i < mmio->slots; i++)
		atomic_set(&mmio->slot_wakes[i], readl(&regs->slot_wake[i]));
	vram_offset = readq(&regs->vram_offset);
	va_bytes = readq(&regs->va_bytes);

	if (!mmio->units || mmio->units > SALVO_MAX_UNITS)
		return salvo_mmio_reject(pdev, "units", mmio->units);
	if (!mmio->nodes || mmio->nodes > mmio->units)
		return salvo_mmio_reject(pdev, "nodes", mmio->nodes);
	if (!mmio->rings)
		return salvo_mmio_reject(pdev, "rings", mmio->rings);
	if (vram_offset < SALVO_REGS_BYTES || !PAGE_ALIGNED(vram_offset))
		return salvo_mmio_reject(pdev, "vram_offset", vram_offset);
	if (!mmio->vram_bytes || !PAGE_ALIGNED(mmio->vram_bytes))
		return salvo_mmio_reject(pdev, "vram_bytes", mmio->vram_bytes);
	if (vram_offset > bar || mmio->vram_bytes > bar - vram_offset)
		return salvo_mmio_reject(pdev, "vram_bytes", mmio->vram_bytes);
	if (!mmio->va_base || !PAGE_ALIGNED(mmio->va_base) ||
	    mmio->va_base + mmio->vram_bytes < mmio->va_base)
		return salvo_mmio_reject(pdev, "va_base", mmio->va_base);
	/* A device without a window supports no imports. */
	if (va_bytes > mmio->vram_bytes) {
		if (!PAGE_ALIGNED(va_bytes) || mmio->va_base + va_bytes < mmio->va_base)
			return salvo_mmio_reject(pdev, "va_bytes", va_bytes);
		mmio->window_bytes = va_bytes - mmio->vram_bytes;
	}

	mmio->vram_start = pci_resource_start(pdev, SALVO_BAR_MEMORY) + vram_offset;
	return 0;
}

/**
 * salvo_mmio_init() - Map the BARs and read the properties of the device.
 * @sdev: The device.
 * @pdev: Its PCI function, enabled.
 *
 * The mappings are managed by @pdev. Errors are logged, except for a function that is not
 * a Salvo GPU, since other ivshmem functions have the same PCI ids.
 *
 * Return: 0, -ENODEV (not a supported GPU), -EBUSY, -ENOMEM.
 */
int salvo_mmio_init(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	struct salvo_mmio *mmio = &sdev->mmio;
	int ret;

	if (pci_resource_len(pdev, SALVO_BAR_DOORBELL) < SALVO_BAR0_DOORBELL + sizeof(u32))
		return salvo_refuse(sdev, -ENODEV, "not a Salvo GPU: BAR0 is too short");
	if (pci_resource_len(pdev, SALVO_BAR_MEMORY) < SALVO_REGS_BYTES)
		return salvo_refuse(sdev, -ENODEV, "not a Salvo GPU: BAR2 is too short");

	ret = pcim_iomap_regions(pdev, BIT(SALVO_BAR_DOORBELL), "salvo");
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "cannot map BAR0\n");
	mmio->doorbell = pcim_iomap_table(pdev)[SALVO_BAR_DOORBELL];

	if (!devm_request_mem_region(&pdev->dev, pci_resource_start(pdev, SALVO_BAR_MEMORY),
				     pci_resource_len(pdev, SALVO_BAR_MEMORY), "salvo"))
		return dev_err_probe(&pdev->dev, -EBUSY, "BAR2 is in use\n");
	mmio->regs = devm_ioremap(&pdev->dev, pci_resource_start(pdev, SALVO_BAR_MEMORY),
				  SALVO_REGS_BYTES);
	if (!mmio->regs)
		return -ENOMEM;

	ret = salvo_mmio_check(sdev, pdev);
	if (ret)
		return ret;

	mmio->vram = devm_ioremap_wc(&pdev->dev, mmio->vram_start, mmio->vram_bytes);
	if (!mmio->vram)
		return -ENOMEM;
	mmio->peer = SALVO_PEER_DEVICE << 16;
	return 0;
}

/**
 * salvo_mmio_ring_doorbell() - Ring a doorbell, after all earlier writes.
 * @mmio: The registers.
 * @doorbell: SALVO_DOORBELL_*.
 */
void salvo_mmio_ring_doorbell(struct salvo_mmio *mmio, unsigned int doorbell)
{
	writel(mmio->peer | doorbell, mmio->doorbell + SALVO_BAR0_DOORBELL);
}

/**
 * salvo_mmio_set_bus_master() - Allow or forbid DMA.
 * @mmio: The registers.
 * @on: Whether to allow it.
 */
void salvo_mmio_set_bus_master(struct salvo_mmio *mmio, bool on)
{
	writel(on, &mmio->regs->bus_master);
}

/* Returns 0, -ENODEV if the GPU does not run, or -ETIMEDOUT. */
static int salvo_mmio_wait_ack(struct salvo_mmio *mmio, u32 __iomem *ack, u32 request)
{
	s64 limit = (s64)salvo_watchdog_heartbeat_ms() * USEC_PER_MSEC;
	u32 heartbeat = salvo_mmio_read_heartbeat(mmio);
	ktime_t last = ktime_get();
	s64 waited = 0, silent = 0;

	while (readl(ack) != request) {
		u32 next_heartbeat;
		ktime_t now;
		s64 step;

		/* The heartbeat of a new GPU process does not count. */
		if (silent >= limit || salvo_mmio_is_lost(mmio))
			return -ENODEV;
		if (waited >= SALVO_ACK_LIMIT_US)
			return -ETIMEDOUT;
		usleep_range(SALVO_ACK_POLL_US, 2 * SALVO_ACK_POLL_US);
		now = ktime_get();
		step = min_t(s64, ktime_us_delta(now, last), SALVO_ACK_STEP_US);
		last = now;
		next_heartbeat = salvo_mmio_read_heartbeat(mmio);
		silent = next_heartbeat == heartbeat ? silent + step : 0;
		heartbeat = next_heartbeat;
		waited += step;
	}
	return 0;
}

/**
 * salvo_mmio_reset() - Reset the device by the handshake.
 * @mmio: The registers.
 *
 * Afterwards the device has no batch in flight, no address space and no live ring, and
 * makes no access to system memory.
 *
 * Return: 0, -ENODEV if the GPU does not run, or -ETIMEDOUT.
 */
int salvo_mmio_reset(struct salvo_mmio *mmio)
{
	/* Must differ from the last acknowledged value, also that of an earlier driver. */
	u32 request = readl(&mmio->regs->reset_ack) + 1;
	int ret;

	writel(request, &mmio->regs->reset_request);
	salvo_mmio_ring_doorbell(mmio, SALVO_DOORBELL_RESET);
	ret = salvo_mmio_wait_ack(mmio, &mmio->regs->reset_ack, request);
	mmio->stopped = !ret;
	return ret;
}

/**
 * salvo_mmio_kill() - Kill one context on the device.
 * @mmio: The registers.
 * @ctx: Hardware context; the driver puts no more packets of it on a ring.
 * @seqno: Ring seqno of its first packet that is killed; 0 for all.
 *
 * Afterwards no unit works for these packets, and they end with SALVO_STATUS_KILLED when the
 * packets before them are done.
 *
 * Return: 0, -ENODEV if the GPU does not run, or -ETIMEDOUT.
 */
int salvo_mmio_kill(struct salvo_mmio *mmio, u32 ctx, u64 seqno)
{
	u32 request = readl(&mmio->regs->kill_ack) + 1;

	writel(ctx, &mmio->regs->kill_ctx);
	writeq(seqno, &mmio->regs->kill_seqno);
	writel(request, &mmio->regs->kill_request);
	salvo_mmio_ring_doorbell(mmio, SALVO_DOORBELL_KILL);
	return salvo_mmio_wait_ack(mmio, &mmio->regs->kill_ack, request);
}

/**
 * salvo_mmio_read_units() - Copy the activity of the execution units, which is only a hint.
 * @mmio: The registers.
 * @units: Array of @mmio->units elements, filled in.
 */
void salvo_mmio_read_units(struct salvo_mmio *mmio, struct salvo_unit_regs *units)
{
	memcpy_fromio(units, mmio->regs->unit, mmio->units * sizeof(*units));
}

/**
 * salvo_mmio_start_ring() - Start an empty ring. The device must have been reset.
 * @mmio: The registers.
 * @index: Index of the ring.
 * @base: DMA address of entry 0.
 * @entries: Number of entries, a power of two.
 *
 * Return: 0, or -EIO if the device does not keep what was written.
 */
int salvo_mmio_start_ring(struct salvo_mmio *mmio, unsigned int index, u64 base, u32 entries)
{
	struct salvo_ring_regs __iomem *ring = &mmio->regs->ring[index];

	mmio->stopped = false;
	writeq(base, &ring->base);
	writel(entries, &ring->entries);
	writeq(0, &ring->tail);
	/* The device writes these only while the ring is live. */
	writeq(0, &ring->head);
	writeq(0, &ring->fence);
	writel(1, &ring->enable);
	if (readq(&ring->base) != base || readq(&ring->fence))
		return -EIO;
	return 0;
}

/** salvo_mmio_write_tail() - Publish ring entries; the caller has issued a write barrier. */
void salvo_mmio_write_tail(struct salvo_mmio *mmio, unsigned int ring, u64 tail)
{
	writeq(tail, &mmio->regs->ring[ring].tail);
}

/** salvo_mmio_read_fence() - Read the fence register of a ring, unvalidated. */
u64 salvo_mmio_read_fence(struct salvo_mmio *mmio, unsigned int ring)
{
	return readq(&mmio->regs->ring[ring].fence);
}

/** salvo_mmio_read_head() - Read how many entries of a ring the device has read, unvalidated. */
u64 salvo_mmio_read_head(struct salvo_mmio *mmio, unsigned int ring)
{
	return readq(&mmio->regs->ring[ring].head);
}

/** salvo_mmio_read_slot_task() - Read which task runs in a slot, which is only a hint. */
u32 salvo_mmio_read_slot_task(struct salvo_mmio *mmio, unsigned int slot)
{
	return readl(&mmio->regs->slot_task[slot]);
}

/** salvo_mmio_read_slot_ns() - Read the time that units spent in tasks of a slot. */
u64 salvo_mmio_read_slot_ns(struct salvo_mmio *mmio, unsigned int slot)
{
	return readq(&mmio->regs->slot_ns[slot]);
}

/**
 * salvo_mmio_wake_slot() - Wake the units of a slot.
 * @mmio: The registers.
 * @slot: Number of the slot.
 *
 * Requests for one number may race with each other, and with its next owner's: no two write the
 * same value, so the device sees a change after the last of them.
 */
void salvo_mmio_wake_slot(struct salvo_mmio *mmio, unsigned int slot)
{
	writel(atomic_inc_return(&mmio->slot_wakes[slot]), &mmio->regs->slot_wake[slot]);
	salvo_mmio_ring_doorbell(mmio, SALVO_DOORBELL_RING(0));
}

/** salvo_mmio_read_heartbeat() - Read the heartbeat, which changes while the device runs. */
u32 salvo_mmio_read_heartbeat(struct salvo_mmio *mmio)
{
	return readl(&mmio->regs->heartbeat);
}

/** salvo_mmio_is_lost() - Was the GPU process replaced by another generation? */
bool salvo_mmio_is_lost(struct salvo_mmio *mmio)
{
	return readl(&mmio->regs->magic) != SALVO_MAGIC ||
	       readl(&mmio->regs->generation) != mmio->generation;
}

/** salvo_mmio_is_stopped() - Is it certain that the device makes no DMA? */
bool salvo_mmio_is_stopped(struct salvo_mmio *mmio)
{
	return mmio->stopped || salvo_mmio_is_lost(mmio);
}

/**
 * salvo_mmio_read_fault() - Copy the fault record.
 * @mmio: The registers.
 * @fault: Filled in.
 *
 * Return: its sequence number, or 0 while the device writes it; then an interrupt follows.
 */
u64 salvo_mmio_read_fault(struct salvo_mmio *mmio, struct salvo_fault_regs *fault)
{
	u64 sequence = readq(&mmio->regs->fault.sequence);

	memcpy_fromio(fault, &mmio->regs->fault, sizeof(*fault));
	/* See struct salvo_fault_regs for the order. */
	rmb();
	return readq(&mmio->regs->fault.begun) == sequence ? sequence : 0;
}
