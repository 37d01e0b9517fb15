/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_device.h - one GPU: its state, bring-up and teardown
 */
#ifndef SALVO_DEVICE_H
#define SALVO_DEVICE_H

#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>
#include <drm/drm_mm.h>
#include <drm/drm_print.h>

#include "salvo_coredump.h"
#include "salvo_mmio.h"
#include "salvo_ring.h"

struct drm_driver;
struct pci_dev;

/**
 * struct salvo_counters - Cost of batches, of a file or of the device.
 *
 * Each counter is updated before the fence of the batch signals, so that whoever has
 * waited for the fence reads the final values.
 */
struct salvo_counters {
	/** @packets: DMA packets of batches that were put on a ring. */
	atomic64_t packets;
	/** @doorbells: Doorbells rung for them. */
	atomic64_t doorbells;
	/** @interrupts: Interrupts that retired at least one of them. */
	atomic64_t interrupts;
	/** @completions: Deferred completions. */
	atomic64_t completions;
	/** @busy_ns: Time that execution units spent on them, as the device reports it. */
	atomic64_t busy_ns;
};

/**
 * struct salvo_dev - One bound GPU.
 */
struct salvo_dev {
	/** @drm: DRM device; its last reference frees the structure. */
	struct drm_device drm;
	/** @mmio: Registers and VRAM aperture. */
	struct salvo_mmio mmio;
	/** @rings: Command rings; @mmio.rings of them are in use. */
	struct salvo_ring rings[SALVO_MAX_RINGS];

	/**
	 * @wq: Ordered workqueue, so that the watchdog, resets, the loss of the GPU and
	 * the reclaim of address spaces never run concurrently.
	 */
	struct workqueue_struct *wq;
	/** @reclaim: Frees bindings whose batches are done, see salvo_vm.c. */
	struct delayed_work reclaim;
	/** @watchdog: Detects a dead GPU and hung batches. */
	struct delayed_work watchdog;
	/** @lost: Handles the "device lost" interrupt. */
	struct work_struct lost;
	/** @forced_reset: Resets the GPU on request from debugfs. */
	struct work_struct forced_reset;
	/** @wedged: Sends the uevent; runs on a system workqueue, since it allocates. */
	struct work_struct wedged;
	/** @dump: Captured when a batch hangs or the GPU is lost. */
	struct salvo_coredump dump;

	/** @gone: The GPU does not answer or was unbound. Set once, read without a lock. */
	bool gone;
	/**
	 * @detached: The GPU is gone and reads no more packets, so that bindings and
	 * address spaces are freed without UNBIND and SPACE_END. Set once, before a call
	 * of salvo_vm_reclaim_gone().
	 */
	bool detached;
	/**
	 * @dma_unconfirmed: The GPU is gone but did not acknowledge a reset: kernels may
	 * still write to imported memory.
	 */
	bool dma_unconfirmed;
	/**
	 * @suspended: The schedulers are stopped, and the GPU is or is about to be. Set by work
	 * on @wq; work there leaves both alone meanwhile.
	 */
	bool suspended;
	/** @waits_lock: Protects @waits and the waits of each job. */
	spinlock_t waits_lock;
	/** @waits: All struct salvo_wait. */
	struct list_head waits;
	/** @jobs: Number of struct salvo_job that exist. */
	atomic_t jobs;
	/**
	 * @aperture_lock: Held for reading by CPU accesses to VRAM, for writing while the PCI
	 * function is being reset.
	 */
	struct rw_semaphore aperture_lock;
	/** @jobs_idle: Woken when @jobs drops to 0. */
	wait_queue_head_t jobs_idle;
	/** @slot_events: Woken when a task of a slot has ended, or a slot is detached. */
	wait_queue_head_t slot_events;
	/** @progress: Woken when ring slots, VRAM or packet memory come free. */
	wait_queue_head_t progress;

	/** @bos_lock: Protects @bos and the labels of buffers. */
	struct mutex bos_lock;
	/** @bos: All struct salvo_gem_object. */
	struct list_head bos;

	/** @vram_lock: Protects @vram, @vram_used, @window and @window_used. */
	struct mutex vram_lock;
	/** @vram: Allocator of VRAM. */
	struct drm_mm vram;
	/** @vram_used: Bytes allocated in @vram. */
	u64 vram_used;
	/** @window: Allocator of the GPU addresses for system memory, if the GPU has any. */
	struct drm_mm window;
	/** @window_used: Bytes allocated in @window. */
	u64 window_used;

	/**
	 * @space_lock: Serializes address space packets with each other and with resets;
	 * protects @spaces, @slots, @slot_count and @reclaiming. A reset takes it, so nothing
	 * may be allocated under it.
	 */
	struct mutex space_lock;
	/** @spaces: All struct salvo_vm that the device may know. */
	struct list_head spaces;
	/** @slots: All struct salvo_slot that the device may know. */
	struct list_head slots;
	/** @slot_count: Length of @slots. */
	unsigned int slot_count;
	/** @reclaiming: Number of bindings that wait to be freed. */
	unsigned int reclaiming;
	/** @asids: Address space identifiers in use. */
	struct xarray asids;
	/** @asid_next: Where xa_alloc_cyclic() continues. */
	u32 asid_next;
	/** @hw_ctxs: Hardware context identifiers in use. */
	struct ida hw_ctxs;

	/** @clients_lock: Protects @client_list. */
	spinlock_t clients_lock;
	/** @client_list: All struct salvo_client. */
	struct list_head client_list;

	/** @counters: Sum over all files; interrupts counts all fence interrupts. */
	struct salvo_counters counters;
	/** @space_packets: Address space packets put on ring 0. */
	atomic64_t space_packets;
	/** @faults: Fault reports of the device. */
	atomic64_t faults;
	/** @kills: Contexts killed by the device since the driver was bound. */
	atomic64_t kills;
	/** @resets: Resets since the driver was bound. */
	atomic64_t resets;
	/** @clients: Last client id given to a file, for fdinfo. */
	atomic64_t clients;
	/** @irqs: Linux interrupt numbers of the vectors. */
	int irqs[SALVO_VECTORS];
	/** @fault_ratelimit: Limits the log messages about faults. */
	struct ratelimit_state fault_ratelimit;
	/** @fault_sequence: Last fault report seen; owned by the fault interrupt's thread. */
	u64 fault_sequence;
	/** @heartbeat: Last heartbeat seen; owned by the watchdog. */
	u32 heartbeat;
	/** @heartbeat_misses: Watchdog samples since it changed; owned by the watchdog. */
	unsigned int heartbeat_misses;
	/** @units: Activity of the execution units; owned by the watchdog. */
	struct salvo_unit_regs units[SALVO_MAX_UNITS];
};

static inline struct salvo_dev *to_salvo(struct drm_device *drm)
{
	return container_of(drm, struct salvo_dev, drm);
}

/**
 * salvo_refuse() - Log why a request is refused. Every refusal of the driver goes through this.
 * @sdev: The device.
 * @err: Negative errno.
 * @what: What is wrong, a format string, followed by its arguments.
 *
 * Return: @err.
 */
#define salvo_refuse(sdev, err, what, ...) ({				\
	const int __err = (err);					\
									\
	drm_dbg(&(sdev)->drm, "%s: " what " (%d)\n", __func__,		\
		##__VA_ARGS__, __err);					\
	__err;								\
})

/**
 * salvo_refuse_if() - Refuse a request if something is wrong with it.
 * @sdev: The device.
 * @wrong: Condition under which the request is refused.
 * @err: Negative errno.
 * @what: What is wrong, a format string, followed by its arguments.
 *
 * Return: @err if @wrong holds, else 0.
 */
#define salvo_refuse_if(sdev, wrong, err, what, ...)			\
	(unlikely(wrong) ? salvo_refuse(sdev, err, what, ##__VA_ARGS__) : 0)

static inline bool salvo_device_is_gone(const struct salvo_dev *sdev)
{
	return READ_ONCE(sdev->gone);
}

int salvo_device_init(struct salvo_dev *sdev, struct pci_dev *pdev);
void salvo_device_fini(struct salvo_dev *sdev);
void salvo_device_shutdown(struct salvo_dev *sdev);

int salvo_device_start_hw(struct salvo_dev *sdev);
int salvo_device_stop_hw(struct salvo_dev *sdev);

#endif /* SALVO_DEVICE_H */
