// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_irq.c - interrupts and deferred completions
 *
 * B11 of CN105940388: the hard handler reads the interrupt information (the fence
 * registers of the rings) and compares fence ids. Only if a batch has ended does it
 * queue the deferred completion and wake the thread. The deferred completion, one for
 * each batch (B6), reads the packet's result, updates the counters and signals the
 * batch's fence; the fence callback lets the scheduler run the next packet.
 *
 * Interrupts coalesce: one may retire several batches, and one may find nothing to do.
 * No batch is lost, since sequence numbers are compared and interrupts are not counted.
 *
 * Faults and the loss of the GPU have vectors of their own.
 *
 * Locks: the handlers take ring->lock. The thread of the fence interrupt, or whoever
 * has disabled that interrupt, completes batches.
 */
#include <linux/interrupt.h>
#include <linux/pci.h>

#include "salvo_ctx.h"
#include "salvo_decode.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_irq.h"
#include "salvo_job.h"
#include "salvo_ring.h"
#include "salvo_trace.h"
#include "salvo_vm.h"

static irqreturn_t salvo_irq_fence(int irq, void *cookie)
{
	struct salvo_dev *sdev = cookie;
	u64 interrupt = atomic64_inc_return(&sdev->counters.interrupts);
	unsigned int batches, all = 0;
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring) {
		batches = salvo_ring_retire(ring, interrupt);
		trace_salvo_interrupt(ring, interrupt, READ_ONCE(ring->retired), batches);
		all += batches;
	}
	return all ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

static void salvo_irq_complete_done(struct salvo_dev *sdev)
{
	struct salvo_hw_fence *fence;
	struct salvo_job *job;
	int error;

	while ((fence = salvo_ring_next_done(sdev))) {
		job = fence->job;
		/* The device writes the result before the fence register. */
		dma_rmb();
		error = salvo_job_read_result(job);
		atomic64_inc(&job->ctx->vm->counters.completions);
		atomic64_inc(&sdev->counters.completions);
		salvo_job_complete(job, error);
	}
}

static irqreturn_t salvo_irq_fence_thread(int irq, void *cookie)
{
	bool signalling = dma_fence_begin_signalling();

	salvo_irq_complete_done(cookie);
	dma_fence_end_signalling(signalling);
	return IRQ_HANDLED;
}

/**
 * salvo_irq_complete() - Complete finished batches without waiting for the interrupt.
 * @sdev: The device; its fence interrupt is disabled.
 */
void salvo_irq_complete(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		salvo_ring_retire(ring, 0);
	salvo_irq_complete_done(sdev);
}

static irqreturn_t salvo_irq_fault(int irq, void *cookie)
{
	return IRQ_WAKE_THREAD;
}

static irqreturn_t salvo_irq_fault_thread(int irq, void *cookie)
{
	struct salvo_dev *sdev = cookie;
	struct salvo_fault_regs fault;
	u64 sequence = salvo_mmio_read_fault(&sdev->mmio, &fault);

	if (!sequence || sequence == sdev->fault_sequence)
		return IRQ_HANDLED;
	sdev->fault_sequence = sequence;
	atomic64_inc(&sdev->faults);
	/* salvo_job.c logs the fault of a batch, from the result, which is never overwritten. */
	if (!fault.ctx && __ratelimit(&sdev->fault_ratelimit))
		drm_notice(&sdev->drm, "%s fault: %s at %#llx, fence %llu space %u\n",
			   salvo_decode_fault(fault.kind), salvo_decode_access(fault.access),
			   fault.address, fault.seqno, fault.asid);
	return IRQ_HANDLED;
}

static irqreturn_t salvo_irq_lost(int irq, void *cookie)
{
	struct salvo_dev *sdev = cookie;

	queue_work(sdev->wq, &sdev->lost);
	return IRQ_HANDLED;
}

/* Workers check their slots. */
static irqreturn_t salvo_irq_slot(int irq, void *cookie)
{
	struct salvo_dev *sdev = cookie;

	wake_up_all(&sdev->slot_events);
	return IRQ_HANDLED;
}

static const struct {
	unsigned int vector;
	const char *name;
	irq_handler_t hard;
	irq_handler_t thread;
} salvo_irqs[] = {
	{ SALVO_VECTOR_FENCE, "salvo-fence", salvo_irq_fence, salvo_irq_fence_thread },
	{ SALVO_VECTOR_FAULT, "salvo-fault", salvo_irq_fault, salvo_irq_fault_thread },
	{ SALVO_VECTOR_LOST, "salvo-lost", salvo_irq_lost, NULL },
	{ SALVO_VECTOR_SLOT, "salvo-slot", salvo_irq_slot, NULL },
};

static void salvo_irq_free(struct salvo_dev *sdev, unsigned int count)
{
	while (count--)
		free_irq(sdev->irqs[salvo_irqs[count].vector], sdev);
}

/**
 * salvo_irq_init() - Request the interrupts.
 * @sdev: The device.
 * @pdev: Its PCI function.
 *
 * Errors are logged.
 *
 * Return: 0, or a negative errno; -ENOSPC if the function has too few vectors.
 */
int salvo_irq_init(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	unsigned int i;
	int ret;

	ratelimit_state_init(&sdev->fault_ratelimit, DEFAULT_RATELIMIT_INTERVAL,
			     DEFAULT_RATELIMIT_BURST);
	ret = pci_alloc_irq_vectors(pdev, SALVO_VECTORS, SALVO_VECTORS, PCI_IRQ_MSIX);
	if (ret < 0)
		return dev_err_probe(&pdev->dev, ret, "%u MSI-X vectors are needed\n",
				     SALVO_VECTORS);
	for (i = 0; i < ARRAY_SIZE(salvo_irqs); i++) {
		unsigned int vector = salvo_irqs[i].vector;

		sdev->irqs[vector] = pci_irq_vector(pdev, vector);
		ret = request_threaded_irq(sdev->irqs[vector], salvo_irqs[i].hard,
					   salvo_irqs[i].thread, 0, salvo_irqs[i].name, sdev);
		if (ret)
			goto err_free;
	}
	return 0;

err_free:
	salvo_irq_free(sdev, i);
	pci_free_irq_vectors(pdev);
	return dev_err_probe(&pdev->dev, ret, "cannot request an interrupt\n");
}

/** salvo_irq_fini() - Free the interrupts. No handler runs after this. */
void salvo_irq_fini(struct salvo_dev *sdev, struct pci_dev *pdev)
{
	salvo_irq_free(sdev, ARRAY_SIZE(salvo_irqs));
	pci_free_irq_vectors(pdev);
}
