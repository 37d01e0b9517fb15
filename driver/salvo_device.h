/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_device.h - one GPU: what it owns and in which order it comes and goes
 */
#ifndef SALVO_DEVICE_H
#define SALVO_DEVICE_H

#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
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
 * struct salvo_counters - What batches cost, of a file or of the device.
 *
 * Written where the thing counted happens, before the batch's fence signals, so
 * that who has waited for the fence sees them.
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
	/** @busy_ns: Time that units spent on them, as the device told it. */
	atomic64_t busy_ns;
};

/**
 * struct salvo_dev - One bound GPU.
 */
struct salvo_dev {
	/** @drm: Base; its last reference frees the structure. */
	struct drm_device drm;
	/** @mmio: Registers and VRAM aperture. */
	struct salvo_mmio mmio;
	/** @rings: Command rings, as many as @mmio says. */
	struct salvo_ring rings[SALVO_MAX_RINGS];

	/**
	 * @wq: Ordered: the watchdog, resets, loss of the GPU and the freeing
	 * of address space never run at once.
	 */
	struct workqueue_struct *wq;
	/** @reclaim: Frees bindings whose batches are done, see salvo_vm.c. */
	struct delayed_work reclaim;
	/** @watchdog: Looks whether the GPU lives and whether a batch hangs. */
	struct delayed_work watchdog;
	/** @lost: Gives the GPU up. */
	struct work_struct lost;
	/** @forced_reset: Resets the GPU for debugfs. */
	struct work_struct forced_reset;
	/** @wedged: Tells user space of it; on a queue of the system. */
	struct work_struct wedged;
	/** @dump: Taken when a batch hangs or the GPU is lost. */
	struct salvo_coredump dump;

	/**
	 * @gone: The GPU does not answer or was unbound, for good. Read without
	 * a lock; set once.
	 */
	bool gone;
	/**
	 * @quiet: The GPU, gone, makes no more access to system memory, so what it
	 * knew may be freed without telling it. Set once, before a call of
	 * salvo_vm_reclaim_gone().
	 */
	bool quiet;
	/**
	 * @wild: The GPU was given up but has not said that it stopped. It fetches no
	 * more packets, yet kernels may still write to imported memory.
	 */
	bool wild;
	/** @parked: The schedulers are, for a suspend; of suspend and resume only. */
	bool parked;
	/** @jobs: Batches that exist, whatever their state. */
	atomic_t jobs;
	/** @jobs_idle: Woken when @jobs drops to 0. */
	wait_queue_head_t jobs_idle;
	/** @progress: Woken when ring slots, VRAM or room for batches come free. */
	wait_queue_head_t progress;

	/** @bos_lock: Protects @bos and the labels of buffers. */
	struct mutex bos_lock;
	/** @bos: All struct salvo_gem_object. */
	struct list_head bos;

	/** @vram_lock: Protects the next four. */
	struct mutex vram_lock;
	/** @vram: Offsets in VRAM. */
	struct drm_mm vram;
	/** @vram_used: Bytes allocated. */
	u64 vram_used;
	/** @window: Offsets in the window for system memory, if there is one. */
	struct drm_mm window;
	/** @window_used: Bytes allocated. */
	u64 window_used;

	/**
	 * @space_lock: Serializes address space packets against each other and
	 * against resets; protects @spaces, @reclaiming. Nothing allocates under it.
	 */
	struct mutex space_lock;
	/** @spaces: All struct salvo_vm that the device may know of. */
	struct list_head spaces;
	/** @reclaiming: Bindings that wait to be freed. */
	unsigned int reclaiming;
	/** @asids: Address space numbers in use. */
	struct xarray asids;
	/** @asid_next: Where to look for the next one. */
	u32 asid_next;
	/** @hw_ctxs: Context numbers in use on the rings. */
	struct ida hw_ctxs;

	/** @counters: Of all files together; interrupts are all that were taken. */
	struct salvo_counters counters;
	/** @space_packets: Address space packets put on ring 0. */
	atomic64_t space_packets;
	/** @faults: Faults reported by the device. */
	atomic64_t faults;
	/** @kills: Contexts killed by the device since the driver was bound. */
	atomic64_t kills;
	/** @resets: Resets since the driver was bound. */
	atomic64_t resets;
	/** @clients: Numbers of files, for fdinfo. */
	atomic64_t clients;
	/** @irqs: Linux interrupt numbers of the vectors. */
	int irqs[SALVO_VECTORS];
	/** @fault_ratelimit: Limits what faults print. */
	struct ratelimit_state fault_ratelimit;
	/** @fault_sequence: Last fault seen; of the fault thread only. */
	u64 fault_sequence;
	/** @heartbeat: Last one seen; of the watchdog only. */
	u32 heartbeat;
	/** @heartbeat_misses: Looks since it moved; of the watchdog only. */
	unsigned int heartbeat_misses;
	/** @units: What the units do; of the watchdog only. */
	struct salvo_unit_regs units[SALVO_MAX_UNITS];
};

static inline struct salvo_dev *to_salvo(struct drm_device *drm)
{
	return container_of(drm, struct salvo_dev, drm);
}

/**
 * salvo_refuse() - Refuse something: the only way to, so that every refusal can be seen.
 * @sdev: The device.
 * @err: Negative errno.
 * @condition: What should have held, a string.
 *
 * Return: @err.
 */
#define salvo_refuse(sdev, err, condition, ...) ({			\
	const int __err = (err);					\
									\
	drm_dbg(&(sdev)->drm, "%s: %d, failed: " condition "\n",	\
		__func__, __err, ##__VA_ARGS__);			\
	__err;								\
})

/**
 * salvo_check() - Refuse unless a condition holds.
 * @sdev: The device, for the message.
 * @condition: What must hold.
 * @err: The error if it does not.
 *
 * Return: 0 or @err.
 */
#define salvo_check(sdev, condition, err)				\
	(likely(condition) ? 0 : salvo_refuse(sdev, err, "%s", #condition))

static inline bool salvo_device_is_gone(const struct salvo_dev *sdev)
{
	return READ_ONCE(sdev->gone);
}

int salvo_device_init(struct salvo_dev *sdev, struct pci_dev *pdev);
void salvo_device_fini(struct salvo_dev *sdev);
void salvo_device_shutdown(struct salvo_dev *sdev);
int salvo_device_suspend(struct salvo_dev *sdev);
int salvo_device_resume(struct salvo_dev *sdev);

#endif /* SALVO_DEVICE_H */
