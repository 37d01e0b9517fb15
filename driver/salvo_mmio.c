// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_mmio.c - registers, doorbell and VRAM aperture: the seam to the transport
 *
 * The registers are memory that the device shares with us: a write does nothing
 * until a doorbell is rung, and everything read is a claim of the device that is
 * checked before use. Nothing here locks: ring registers belong to
 * salvo_ring.c's lock, reset to whoever owns bring-up, teardown or the reset.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/pci.h>

#include "salvo_device.h"
#include "salvo_mmio.h"

/*
 * A device answers within a heartbeat, but on a loaded host it has to wait for processes
 * to end. It gets time as long as its heart moves, within a limit. Looks are counted,
 * not time: a host that did not run us did not run the device either.
 */
#define SALVO_ANSWER_POLL_US	200
#define SALVO_ANSWER_SILENCE	(3 * USEC_PER_SEC / 2 / SALVO_ANSWER_POLL_US)
#define SALVO_ANSWER_LOOKS	(10 * SALVO_ANSWER_SILENCE)

static int salvo_mmio_check(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	struct salvo_mmio *mmio = &sdev->mmio;
	struct salvo_regs __iomem *regs = mmio->regs;
	u64 bar = pci_resource_len(pdev, SALVO_BAR_MEMORY);
	u64 vram_offset, va_bytes;

	if (readl(&regs->magic) != SALVO_MAGIC)
		return salvo_refuse(sdev, -ENODEV, "registers hold the magic");
	mmio->version = readl(&regs->version);
	if (mmio->version >> 16 != SALVO_VERSION >> 16)
		return salvo_refuse(sdev, -ENODEV, "hardware version is known");

	mmio->units = readl(&regs->units);
	mmio->nodes = readl(&regs->nodes);
	mmio->rings = min_t(u32, readl(&regs->rings), SALVO_MAX_RINGS);
	mmio->isa_level = readl(&regs->isa_level);
	mmio->generation = readl(&regs->generation);
	mmio->clock_hz = readq(&regs->clock_hz);
	mmio->va_base = readq(&regs->va_base);
	mmio->vram_bytes = readq(&regs->vram_bytes);
	vram_offset = readq(&regs->vram_offset);
	va_bytes = readq(&regs->va_bytes);

	if (!mmio->units || mmio->units > SALVO_MAX_UNITS)
		return salvo_refuse(sdev, -ENODEV, "units are 1 to 64");
	if (!mmio->nodes || mmio->nodes > mmio->units)
		return salvo_refuse(sdev, -ENODEV, "nodes are 1 to the units");
	if (!mmio->rings)
		return salvo_refuse(sdev, -ENODEV, "the device has a ring");
	if (vram_offset < SALVO_REGS_BYTES || !PAGE_ALIGNED(vram_offset))
		return salvo_refuse(sdev, -ENODEV, "VRAM starts on a page after the registers");
	if (!mmio->vram_bytes || !PAGE_ALIGNED(mmio->vram_bytes))
		return salvo_refuse(sdev, -ENODEV, "VRAM is whole pages");
	if (vram_offset > bar || mmio->vram_bytes > bar - vram_offset)
		return salvo_refuse(sdev, -ENODEV, "VRAM lies inside BAR2");
	if (!mmio->va_base || !PAGE_ALIGNED(mmio->va_base) ||
	    mmio->va_base + mmio->vram_bytes < mmio->va_base)
		return salvo_refuse(sdev, -ENODEV, "GPU addresses are aligned and do not wrap");
	/* Without a window, as the first devices, there are just no imports. */
	if (va_bytes > mmio->vram_bytes) {
		if (!PAGE_ALIGNED(va_bytes) || mmio->va_base + va_bytes < mmio->va_base)
			return salvo_refuse(sdev, -ENODEV, "the window is like VRAM");
		mmio->window_bytes = va_bytes - mmio->vram_bytes;
	}

	mmio->vram_start = pci_resource_start(pdev, SALVO_BAR_MEMORY) + vram_offset;
	return 0;
}

/**
 * salvo_mmio_init() - Map the BARs and read what the device is.
 * @sdev: The device.
 * @pdev: Its function, enabled.
 *
 * The mappings go with the binding of @pdev.
 *
 * Return: 0, -ENODEV (this is no Salvo GPU that we know), -EBUSY, -ENOMEM.
 */
int salvo_mmio_init(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	struct salvo_mmio *mmio = &sdev->mmio;
	int ret;

	if (pci_resource_len(pdev, SALVO_BAR_DOORBELL) < SALVO_BAR0_DOORBELL + sizeof(u32))
		return salvo_refuse(sdev, -ENODEV, "BAR0 holds the doorbell");
	if (pci_resource_len(pdev, SALVO_BAR_MEMORY) < SALVO_REGS_BYTES)
		return salvo_refuse(sdev, -ENODEV, "BAR2 holds the registers");

	ret = pcim_iomap_regions(pdev, BIT(SALVO_BAR_DOORBELL), "salvo");
	if (ret)
		return ret;
	mmio->doorbell = pcim_iomap_table(pdev)[SALVO_BAR_DOORBELL];

	if (!devm_request_mem_region(&pdev->dev, pci_resource_start(pdev, SALVO_BAR_MEMORY),
				     pci_resource_len(pdev, SALVO_BAR_MEMORY), "salvo"))
		return -EBUSY;
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
 * salvo_mmio_ring_doorbell() - Tell the device to look; orders all writes before it.
 * @mmio: The registers.
 * @doorbell: SALVO_DOORBELL_*.
 */
void salvo_mmio_ring_doorbell(struct salvo_mmio *mmio, unsigned int doorbell)
{
	writel(mmio->peer | doorbell, mmio->doorbell + SALVO_BAR0_DOORBELL);
}

/**
 * salvo_mmio_set_bus_master() - Allow or forbid the device access to system memory.
 * @mmio: The registers.
 * @on: Allow.
 */
void salvo_mmio_set_bus_master(struct salvo_mmio *mmio, bool on)
{
	writel(on, &mmio->regs->bus_master);
}

static int salvo_mmio_wait(struct salvo_mmio *mmio, u32 __iomem *ack, u32 request)
{
	u32 heartbeat = salvo_mmio_read_heartbeat(mmio);
	unsigned int looks, silent = 0;

	for (looks = 0; looks < SALVO_ANSWER_LOOKS && silent < SALVO_ANSWER_SILENCE; looks++) {
		u32 now = salvo_mmio_read_heartbeat(mmio);

		if (readl(ack) == request)
			return 0;
		/* The heart of the next worker does not count. */
		silent = now == heartbeat || salvo_mmio_is_lost(mmio) ? silent + 1 : 0;
		heartbeat = now;
		usleep_range(SALVO_ANSWER_POLL_US, 2 * SALVO_ANSWER_POLL_US);
	}
	return -ETIMEDOUT;
}

/**
 * salvo_mmio_reset() - The reset handshake.
 * @mmio: The registers.
 *
 * After it the device has no batch in flight, no address space, no live ring and
 * makes no access to system memory.
 *
 * Return: 0 or -ETIMEDOUT.
 */
int salvo_mmio_reset(struct salvo_mmio *mmio)
{
	/* Any value but the last acknowledged one, also after a driver before us. */
	u32 request = readl(&mmio->regs->reset_ack) + 1;
	int ret;

	writel(request, &mmio->regs->reset_request);
	salvo_mmio_ring_doorbell(mmio, SALVO_DOORBELL_RESET);
	ret = salvo_mmio_wait(mmio, &mmio->regs->reset_ack, request);
	mmio->stopped = !ret;
	return ret;
}

/**
 * salvo_mmio_kill() - Have one context killed.
 * @mmio: The registers.
 * @ctx: Its number on the ring; it gets no more packets.
 *
 * After it no unit works for the context, and its packets that were on the ring end
 * with SALVO_STATUS_KILLED when those before them are done.
 *
 * Return: 0 or -ETIMEDOUT.
 */
int salvo_mmio_kill(struct salvo_mmio *mmio, u32 ctx)
{
	u32 request = readl(&mmio->regs->kill_ack) + 1;

	writel(ctx, &mmio->regs->kill_ctx);
	writel(request, &mmio->regs->kill_request);
	salvo_mmio_ring_doorbell(mmio, SALVO_DOORBELL_KILL);
	return salvo_mmio_wait(mmio, &mmio->regs->kill_ack, request);
}

/**
 * salvo_mmio_read_units() - Copy what the units say they do: a claim, and a hint only.
 * @mmio: The registers.
 * @units: One for each unit, filled in.
 */
void salvo_mmio_read_units(struct salvo_mmio *mmio, struct salvo_unit_regs *units)
{
	memcpy_fromio(units, mmio->regs->unit, mmio->units * sizeof(*units));
}

/**
 * salvo_mmio_start_ring() - Make a ring live, empty. The device must be reset.
 * @mmio: The registers.
 * @index: Number of the ring.
 * @base: System address of entry 0.
 * @entries: A power of two.
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
	/* The device's own registers; the ring is not live, so nobody else writes them. */
	writeq(0, &ring->head);
	writeq(0, &ring->fence);
	writel(1, &ring->enable);
	if (readq(&ring->base) != base || readq(&ring->fence))
		return -EIO;
	return 0;
}

/** salvo_mmio_write_tail() - Publish entries; what they hold was written before. */
void salvo_mmio_write_tail(struct salvo_mmio *mmio, unsigned int ring, u64 tail)
{
	writeq(tail, &mmio->regs->ring[ring].tail);
}

/** salvo_mmio_read_fence() - A ring's fence register, unchecked. */
u64 salvo_mmio_read_fence(struct salvo_mmio *mmio, unsigned int ring)
{
	return readq(&mmio->regs->ring[ring].fence);
}

/** salvo_mmio_read_heartbeat() - Moves while the device lives. */
u32 salvo_mmio_read_heartbeat(struct salvo_mmio *mmio)
{
	return readl(&mmio->regs->heartbeat);
}

/** salvo_mmio_is_lost() - Is the worker that we talked to gone? */
bool salvo_mmio_is_lost(struct salvo_mmio *mmio)
{
	return readl(&mmio->regs->magic) != SALVO_MAGIC ||
	       readl(&mmio->regs->generation) != mmio->generation;
}

/** salvo_mmio_is_stopped() - Can nothing that we told the device make it access memory? */
bool salvo_mmio_is_stopped(struct salvo_mmio *mmio)
{
	return mmio->stopped || salvo_mmio_is_lost(mmio);
}

/**
 * salvo_mmio_read_fault() - Copy the fault record.
 * @mmio: The registers.
 * @fault: Filled in.
 *
 * Return: its sequence number, or 0 while the device writes it: then an interrupt follows.
 */
u64 salvo_mmio_read_fault(struct salvo_mmio *mmio, struct salvo_fault_regs *fault)
{
	u64 sequence = readq(&mmio->regs->fault.sequence);

	memcpy_fromio(fault, &mmio->regs->fault, sizeof(*fault));
	/* In this order: see struct salvo_fault_regs. */
	rmb();
	return readq(&mmio->regs->fault.begun) == sequence ? sequence : 0;
}
