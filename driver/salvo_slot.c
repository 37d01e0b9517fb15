// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_slot.c - slots: memory through which single kernels reach execution units
 *
 * A slot lies in a buffer of its file (W4 of US11340942). A worker stores a task there, and a
 * unit that is awake finds it, without a system call. The driver attaches and detaches units, wakes
 * a unit that sleeps and a worker that waits, and enforces the time limit. Neither the worker nor
 * the device is trusted with the slot: the driver writes to it, and reads its doorbell only to
 * decide whether a worker has to wait.
 *
 * ATTACH and DETACH are address space packets. They are packed when the slot is created, so
 * that detaching cannot fail. The slot's buffer stays bound, and its number in use, until DETACH
 * has retired, when no unit uses the slot any more; then the driver marks the slot as
 * detached. A slot is detached by its ioctl, with its context, and when the context is banned. A
 * context that is killed, a reset, and a GPU that is gone detach slots at once, and end a task
 * that runs. After a kill the packets may still be on the ring, and the GPU writes their result
 * when they retire: their memory is kept until DETACH has retired all the same. Suspend detaches
 * all slots and resume attaches them again: a task that was not begun stays in its slot.
 *
 * Locks: sdev->space_lock protects sdev->slots and the slots' state. Nothing is allocated
 * under it, since a reset takes it.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_utils.h>

#include "salvo_bind.h"
#include "salvo_client.h"
#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"
#include "salvo_leaf.h"
#include "salvo_pack.h"
#include "salvo_slot.h"
#include "salvo_trace.h"
#include "salvo_vm.h"

/* Offsets in the packet memory of a slot. */
#define SALVO_SLOT_ATTACH_AT	ALIGN(sizeof(struct salvo_packet_result), 64)
#define SALVO_SLOT_DETACH_AT	(SALVO_SLOT_ATTACH_AT + SALVO_PACK_SPACE_BYTES)
#define SALVO_SLOT_MEMORY	(SALVO_SLOT_DETACH_AT + SALVO_PACK_SPACE_BYTES)
/* Polls, a millisecond each, for ring slots when slots are paused or resumed. */
#define SALVO_SLOT_POLLS	2000

/**
 * enum salvo_slot_state - State of a slot.
 */
enum salvo_slot_state {
	/** @SALVO_SLOT_ATTACHED: ATTACH was put on the ring. */
	SALVO_SLOT_ATTACHED,
	/** @SALVO_SLOT_DETACHING: DETACH is or will be put on the ring. */
	SALVO_SLOT_DETACHING,
	/** @SALVO_SLOT_KILLED: No unit uses it, but its packets may be on the ring. */
	SALVO_SLOT_KILLED,
	/** @SALVO_SLOT_GONE: No unit uses it, its buffer is not kept bound. */
	SALVO_SLOT_GONE,
};

/**
 * struct salvo_slot - A slot.
 */
struct salvo_slot {
	/** @ref: Held by file->slots, sdev->slots and ioctls. */
	struct kref ref;
	/** @ctx: Context; holds a reference. */
	struct salvo_ctx *ctx;
	/** @bo: Buffer that it lies in; holds a reference. */
	struct salvo_gem_object *bo;
	/** @offset: Where it starts in the buffer. */
	u64 offset;
	/** @number: Number on the device. */
	u32 number;
	/** @units: Units that it is divided among, as a mask. */
	u64 units;

	/** @node: Entry in sdev->slots; protected by sdev->space_lock like all below. */
	struct list_head node;
	/** @state: State; read by waiting workers without the lock. */
	enum salvo_slot_state state;
	/** @detach_seqno: Ring seqno of DETACH, also while it is paused for a suspend; or 0. */
	u64 detach_seqno;
	/** @memory: Coherent memory of both packets and their result, or NULL. */
	void *memory;
	/** @dma: DMA address of @memory. */
	dma_addr_t dma;
	/** @attach: ATTACH packet. */
	struct salvo_space_packet attach;
	/** @detach: DETACH packet. */
	struct salvo_space_packet detach;
	/** @task: Task that ran at the last watchdog sample. */
	u32 task;
	/** @samples: Number of samples at which it ran. */
	u32 samples;
	/** @busy_ns: The register slot_ns, as far as its file's engine time includes it. */
	u64 busy_ns;
};

static struct salvo_dev *salvo_slot_dev(const struct salvo_slot *slot)
{
	return slot->ctx->vm->sdev;
}

static void salvo_slot_free_packets(struct salvo_slot *slot)
{
	if (!slot->memory)
		return;
	dma_free_coherent(salvo_slot_dev(slot)->drm.dev, SALVO_SLOT_MEMORY, slot->memory,
			  slot->dma);
	slot->memory = NULL;
}

static void salvo_slot_release(struct kref *ref)
{
	struct salvo_slot *slot = container_of(ref, struct salvo_slot, ref);

	salvo_slot_free_packets(slot);
	drm_gem_object_put(&slot->bo->base);
	salvo_ctx_put(slot->ctx);
	kfree(slot);
}

static void salvo_slot_put(struct salvo_slot *slot)
{
	kref_put(&slot->ref, salvo_slot_release);
}

static struct salvo_slot *salvo_slot_find(struct salvo_file *file, u32 id)
{
	struct salvo_slot *slot;

	xa_lock(&file->slots);
	slot = xa_load(&file->slots, id);
	if (slot)
		kref_get(&slot->ref);
	xa_unlock(&file->slots);
	return slot;
}

/* --- the memory that is shared with worker and unit ----------------------------- */

static struct salvo_slot_regs __iomem *salvo_slot_regs(const struct salvo_slot *slot)
{
	return salvo_slot_dev(slot)->mmio.vram + slot->bo->place.start + slot->offset;
}

/* No unit uses the slot any more: hand it back to the worker. */
static void salvo_slot_mark_detached(struct salvo_slot *slot)
{
	struct salvo_slot_regs __iomem *regs = salvo_slot_regs(slot);

	writeq(0, &regs->completion);
	writel(SALVO_SLOT_DETACHED, &regs->status);
	/* A worker that finds the doorbell 0 reads the status. */
	wmb();
	writel(0, &regs->doorbell);
}

/*
 * Ask to be notified, and check whether the task has ended already. Only this is in a DRM critical
 * section, and not the whole wait: an unplug of any DRM device waits for those of all.
 */
static bool salvo_slot_is_idle(struct salvo_slot *slot)
{
	struct salvo_slot_regs __iomem *regs = salvo_slot_regs(slot);
	struct salvo_dev *sdev = salvo_slot_dev(slot);
	bool idle = false;
	int idx;

	if (READ_ONCE(slot->state) >= SALVO_SLOT_KILLED || !drm_dev_enter(&sdev->drm, &idx))
		return true;
	/* While the PCI function is reset nothing runs, and VRAM cannot be accessed. */
	if (down_read_trylock(&sdev->aperture_lock)) {
		writel(1, &regs->waiting);
		/* The unit clears the doorbell before it reads this. */
		mb();
		idle = !readl(&regs->doorbell);
		up_read(&sdev->aperture_lock);
	}
	drm_dev_exit(idx);
	return idle;
}

/* --- state ---------------------------------------------------------------------- */

/* Add the time in tasks to the engine time of the file. */
static void salvo_slot_count_time(struct salvo_slot *slot)
{
	struct salvo_dev *sdev = salvo_slot_dev(slot);
	u64 ns = salvo_mmio_read_slot_ns(&sdev->mmio, slot->number);

	if (ns > slot->busy_ns) {
		atomic64_add(ns - slot->busy_ns, &slot->ctx->vm->counters.busy_ns);
		atomic64_add(ns - slot->busy_ns, &sdev->counters.busy_ns);
	}
	slot->busy_ns = ns;
}

/* Drops the list's reference. Returns whether the buffer is now retiring. */
static bool salvo_slot_finish(struct salvo_slot *slot)
{
	struct salvo_dev *sdev = salvo_slot_dev(slot);
	bool retiring;

	lockdep_assert_held(&sdev->space_lock);
	salvo_slot_count_time(slot);
	if (slot->state != SALVO_SLOT_KILLED)
		salvo_slot_mark_detached(slot);
	WRITE_ONCE(slot->state, SALVO_SLOT_GONE);
	list_del_init(&slot->node);
	salvo_slot_free_packets(slot);
	trace_salvo_slot_detach(slot->ctx, slot->number, slot->units);
	slot->ctx->vm->slots--;
	sdev->slot_count--;
	retiring = salvo_bind_unpin(slot->ctx->vm, slot->bo);
	wake_up_all(&sdev->slot_events);
	salvo_slot_put(slot);
	return retiring;
}

static void salvo_slot_begin_detach(struct salvo_slot *slot)
{
	struct salvo_dev *sdev = salvo_slot_dev(slot);

	mutex_lock(&sdev->space_lock);
	if (slot->state == SALVO_SLOT_ATTACHED)
		slot->state = SALVO_SLOT_DETACHING;
	mutex_unlock(&sdev->space_lock);
	salvo_vm_queue_reclaim(sdev);
}

/**
 * salvo_slot_reclaim() - Advance slots that are being detached, or whose context is banned.
 * @sdev: The device.
 * @retired: Last retired seqno of ring 0.
 *
 * Return: whether the caller must poll again.
 */
bool salvo_slot_reclaim(struct salvo_dev *sdev, u64 retired)
{
	struct salvo_slot *slot, *next;
	bool again = false;

	lockdep_assert_held(&sdev->space_lock);
	/* VRAM may not be accessible. Resume queues the reclaim. */
	if (READ_ONCE(sdev->suspended))
		return false;
	list_for_each_entry_safe(slot, next, &sdev->slots, node) {
		struct salvo_vm *vm = slot->ctx->vm;

		if (slot->state == SALVO_SLOT_ATTACHED && salvo_ctx_is_banned(slot->ctx))
			slot->state = SALVO_SLOT_DETACHING;
		/* SPACE_END detaches them, too. */
		if (slot->state == SALVO_SLOT_ATTACHED || vm->end_seqno)
			continue;
		if (!slot->detach_seqno)
			slot->detach_seqno = salvo_ring_push_space(sdev, vm->asid,
								   &slot->detach, 1);
		if (slot->detach_seqno && slot->detach_seqno <= retired)
			again |= salvo_slot_finish(slot);
		else
			again = true;
	}
	return again;
}

static void salvo_slot_drop(struct salvo_dev *sdev, const struct salvo_vm *vm)
{
	struct salvo_slot *slot, *next;

	lockdep_assert_held(&sdev->space_lock);
	list_for_each_entry_safe(slot, next, &sdev->slots, node)
		if (!vm || slot->ctx->vm == vm)
			salvo_slot_finish(slot);
}

/** salvo_slot_drop_vm() - The device does not know an address space any more: drop its slots. */
void salvo_slot_drop_vm(struct salvo_vm *vm)
{
	salvo_slot_drop(vm->sdev, vm);
}

/** salvo_slot_drop_all() - The device was reset or is gone: drop all slots. */
void salvo_slot_drop_all(struct salvo_dev *sdev)
{
	salvo_slot_drop(sdev, NULL);
}

/** salvo_slot_drop_ctx() - The device has killed a context: its slots are detached. */
void salvo_slot_drop_ctx(struct salvo_dev *sdev, const struct salvo_ctx *ctx)
{
	struct salvo_slot *slot;

	mutex_lock(&sdev->space_lock);
	list_for_each_entry(slot, &sdev->slots, node) {
		if (slot->ctx != ctx || slot->state == SALVO_SLOT_KILLED)
			continue;
		salvo_slot_mark_detached(slot);
		WRITE_ONCE(slot->state, SALVO_SLOT_KILLED);
	}
	mutex_unlock(&sdev->space_lock);
	wake_up_all(&sdev->slot_events);
	salvo_vm_queue_reclaim(sdev);
}

/**
 * salvo_slot_detach_ctx() - Detach the slots of a context that is being destroyed.
 * @ctx: The context.
 *
 * SLOT_ATTACH may have looked it up before: either its slot is found here, or it is refused.
 */
void salvo_slot_detach_ctx(struct salvo_ctx *ctx)
{
	struct salvo_dev *sdev = ctx->vm->sdev;
	struct salvo_slot *slot;

	mutex_lock(&sdev->space_lock);
	ctx->destroyed = true;
	list_for_each_entry(slot, &sdev->slots, node)
		if (slot->ctx == ctx && slot->state == SALVO_SLOT_ATTACHED)
			slot->state = SALVO_SLOT_DETACHING;
	mutex_unlock(&sdev->space_lock);
	salvo_vm_queue_reclaim(sdev);
}

/** salvo_slot_close() - Detach all slots of a file that is being closed. */
void salvo_slot_close(struct salvo_file *file)
{
	struct salvo_slot *slot;
	unsigned long id;

	xa_for_each(&file->slots, id, slot) {
		salvo_slot_begin_detach(slot);
		salvo_slot_put(slot);
	}
	xa_destroy(&file->slots);
}

/** salvo_slot_count() - Number of slots of a file, for fdinfo. */
unsigned int salvo_slot_count(struct salvo_file *file)
{
	return READ_ONCE(file->vm->slots);
}

/* --- time limit ------------------------------------------------------------------ */

/**
 * salvo_slot_sample_hang() - Take a watchdog sample of each slot.
 * @sdev: The device.
 * @limit: Number of samples that a task may run for.
 *
 * The device may report any task. One that reports a new task in each sample is taken for one that
 * runs many: it uses no more than its share of the cores. Our device ends those of a process that
 * makes tasks up (device/space/space_slots.c).
 *
 * Return: a reference to the context of a task that has reached @limit, or NULL.
 */
struct salvo_ctx *salvo_slot_sample_hang(struct salvo_dev *sdev, u32 limit)
{
	struct salvo_ctx *found = NULL;
	struct salvo_slot *slot;

	mutex_lock(&sdev->space_lock);
	list_for_each_entry(slot, &sdev->slots, node) {
		u32 task = salvo_mmio_read_slot_task(&sdev->mmio, slot->number);

		salvo_slot_count_time(slot);
		slot->samples = task && task == slot->task ? slot->samples + 1 : 0;
		slot->task = task;
		if (slot->samples >= limit && !found) {
			slot->samples = 0;
			found = salvo_ctx_get(slot->ctx);
		}
	}
	mutex_unlock(&sdev->space_lock);
	/* In case that an interrupt was lost. */
	wake_up_all(&sdev->slot_events);
	return found;
}

/* --- suspend and resume ----------------------------------------------------------- */

static u64 salvo_slot_push_wait(struct salvo_slot *slot, const struct salvo_space_packet *packet)
{
	struct salvo_dev *sdev = salvo_slot_dev(slot);
	unsigned int polls;
	u64 seqno;

	for (polls = 0; polls < SALVO_SLOT_POLLS && !salvo_device_is_gone(sdev); polls++) {
		seqno = salvo_ring_push_space(sdev, slot->ctx->vm->asid, packet, 1);
		if (seqno)
			return seqno;
		usleep_range(1000, 1500);
		salvo_ring_space_retired(sdev);
	}
	salvo_refuse(sdev, -ETIMEDOUT, "ring 0 stays full");
	return 0;
}

/**
 * salvo_slot_pause_all() - Detach all slots for a suspend, when their tasks have ended.
 * @sdev: The device; its rings are idle when that is done.
 *
 * Return: false if the ring stays full: a task may run, also when the rings are idle.
 */
bool salvo_slot_pause_all(struct salvo_dev *sdev)
{
	struct salvo_slot *slot;
	bool paused = true;

	mutex_lock(&sdev->space_lock);
	list_for_each_entry(slot, &sdev->slots, node) {
		if (slot->state != SALVO_SLOT_ATTACHED || slot->detach_seqno)
			continue;
		slot->detach_seqno = salvo_slot_push_wait(slot, &slot->detach);
		paused = slot->detach_seqno;
		if (!paused)
			break;
	}
	mutex_unlock(&sdev->space_lock);
	return paused;
}

/**
 * salvo_slot_resume_all() - Attach all slots again that were paused and are not being detached.
 * @sdev: The device.
 * @was_reset: It has no slots, so that those that were being detached are.
 *
 * Return: 0, or -ETIMEDOUT.
 */
int salvo_slot_resume_all(struct salvo_dev *sdev, bool was_reset)
{
	struct salvo_slot *slot, *next;

	lockdep_assert_held(&sdev->space_lock);
	list_for_each_entry_safe(slot, next, &sdev->slots, node) {
		if (slot->state != SALVO_SLOT_ATTACHED) {
			if (was_reset)
				salvo_slot_finish(slot);
			continue;
		}
		if (!slot->detach_seqno && !was_reset)
			continue;
		slot->detach_seqno = 0;
		if (!salvo_slot_push_wait(slot, &slot->attach))
			return -ETIMEDOUT;
	}
	return 0;
}

/* --- attach and detach ------------------------------------------------------------ */

static struct salvo_slot *salvo_slot_create(struct salvo_ctx *ctx, struct salvo_gem_object *bo,
					    u64 offset)
{
	struct salvo_slot *slot = kzalloc(sizeof(*slot), GFP_KERNEL_ACCOUNT);

	if (!slot)
		return NULL;
	kref_init(&slot->ref);
	INIT_LIST_HEAD(&slot->node);
	slot->ctx = salvo_ctx_get(ctx);
	drm_gem_object_get(&bo->base);
	slot->bo = bo;
	slot->offset = offset;
	slot->state = SALVO_SLOT_GONE;
	slot->memory = dma_alloc_coherent(ctx->vm->sdev->drm.dev, SALVO_SLOT_MEMORY, &slot->dma,
					  GFP_KERNEL_ACCOUNT);
	if (slot->memory)
		return slot;
	salvo_slot_put(slot);
	return NULL;
}

static void salvo_slot_pack(struct salvo_slot *slot, u64 units)
{
	const struct salvo_pack_slot target = {
		.number = slot->number,
		.ctx = slot->ctx->hw_id,
		.priority = slot->ctx->hw_priority,
		.units = units,
		.address = slot->bo->address + slot->offset,
	};

	slot->attach = (struct salvo_space_packet){
		.packet = slot->memory + SALVO_SLOT_ATTACH_AT,
		.address = slot->dma + SALVO_SLOT_ATTACH_AT,
		.bytes = SALVO_PACK_SPACE_BYTES,
	};
	slot->detach = (struct salvo_space_packet){
		.packet = slot->memory + SALVO_SLOT_DETACH_AT,
		.address = slot->dma + SALVO_SLOT_DETACH_AT,
		.bytes = SALVO_PACK_SPACE_BYTES,
	};
	salvo_pack_attach(&target, slot->dma, slot->attach.packet);
	salvo_pack_detach(slot->number, slot->dma, slot->detach.packet);
}

/*
 * Find a free number. A client may have as many slots as are then left to others, so that a
 * single one cannot take all. If it has fewer attached, but some that are being detached, it waits
 * for these: their tasks may run until the time limit.
 */
static int salvo_slot_find_number(struct salvo_dev *sdev, const struct salvo_slot *wanted)
{
	DECLARE_BITMAP(used, SALVO_MAX_SLOTS) = {};
	unsigned int own = 0, attached = 0, own_used = 0;
	struct salvo_slot *slot;

	lockdep_assert_held(&sdev->space_lock);
	list_for_each_entry(slot, &sdev->slots, node) {
		bool is_own = slot->ctx->vm->client == wanted->ctx->vm->client;

		__set_bit(slot->number, used);
		own_used += is_own;
		if (slot->state != SALVO_SLOT_ATTACHED)
			continue;
		attached++;
		own += is_own;
	}
	if (own >= sdev->mmio.slots - attached)
		return salvo_refuse(sdev, -ENOSPC, "%u slots of %u are in use, %u by this process",
				    attached, sdev->mmio.slots, own);
	if (own_used >= sdev->mmio.slots - sdev->slot_count)
		return -EAGAIN;
	return find_first_zero_bit(used, sdev->mmio.slots);
}

/* Return: 0, -EAGAIN (no room on the ring, or a number will come free), or another errno. */
static int salvo_slot_try_attach(struct salvo_slot *slot, u64 units)
{
	struct salvo_vm *vm = slot->ctx->vm;
	struct salvo_dev *sdev = vm->sdev;
	int ret;

	lockdep_assert_held(&sdev->space_lock);
	ret = salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone") ?:
	      salvo_refuse_if(sdev, salvo_ctx_is_banned(slot->ctx), -EIO,
			      "context %u is banned", slot->ctx->hw_id) ?:
	      salvo_refuse_if(sdev, slot->ctx->destroyed, -ENOENT,
			      "context %u was destroyed", slot->ctx->hw_id);
	if (ret)
		return ret;
	ret = salvo_slot_find_number(sdev, slot);
	if (ret < 0)
		return ret;
	slot->number = ret;
	if (!salvo_bind_pin(vm, slot->bo))
		return salvo_refuse(sdev, -ENOENT, "the buffer's handle was closed");
	slot->busy_ns = salvo_mmio_read_slot_ns(&sdev->mmio, slot->number);
	salvo_slot_pack(slot, units);
	if (!salvo_ring_push_space(sdev, vm->asid, &slot->attach, 1)) {
		salvo_bind_unpin(vm, slot->bo);
		return -EAGAIN;
	}
	kref_get(&slot->ref);
	list_add_tail(&slot->node, &sdev->slots);
	slot->state = SALVO_SLOT_ATTACHED;
	slot->units = units;
	trace_salvo_slot_attach(slot->ctx, slot->number, units);
	vm->slots++;
	sdev->slot_count++;
	return 0;
}

static int salvo_slot_attach(struct salvo_slot *slot, u64 units)
{
	struct salvo_dev *sdev = salvo_slot_dev(slot);
	int ret;

	do {
		mutex_lock(&sdev->space_lock);
		/* Address space packets raise no interrupt: poll for slots that are free by now. */
		salvo_ring_space_retired(sdev);
		ret = salvo_slot_try_attach(slot, units);
		mutex_unlock(&sdev->space_lock);
	} while (ret == -EAGAIN && !(ret = salvo_bind_wait_for_room(sdev)));
	return ret;
}

static int salvo_slot_check(struct salvo_dev *sdev, const struct drm_salvo_slot_attach *args)
{
	u64 units = GENMASK_ULL(sdev->mmio.units - 1, 0);

	return salvo_refuse_if(sdev, args->flags, -EINVAL, "flags %#x are unknown",
			       args->flags) ?:
	       salvo_refuse_if(sdev, !PAGE_ALIGNED(args->offset), -EINVAL,
			       "offset %#llx is not page aligned", args->offset) ?:
	       salvo_refuse_if(sdev, !args->units || args->units & ~units, -EINVAL,
			       "units %#llx are none or not within %#llx", args->units, units) ?:
	       salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone") ?:
	       salvo_refuse_if(sdev, !sdev->mmio.slots, -EOPNOTSUPP, "the GPU has no slots");
}

static int salvo_slot_check_bo(struct salvo_dev *sdev, const struct salvo_gem_object *bo,
			       u64 offset)
{
	return salvo_refuse_if(sdev, bo->flags, -EINVAL,
			       "flags %#x of the buffer: it is not writable VRAM", bo->flags) ?:
	       salvo_refuse_if(sdev, bo->base.size < SALVO_SLOT_BYTES ||
			       offset > bo->base.size - SALVO_SLOT_BYTES, -EINVAL,
			       "offset %#llx + %u is outside of a buffer of %zu bytes", offset,
			       SALVO_SLOT_BYTES, bo->base.size);
}

static int salvo_slot_attach_to(struct drm_file *filp, struct salvo_ctx *ctx,
				struct salvo_gem_object *bo, struct drm_salvo_slot_attach *args)
{
	struct salvo_file *file = filp->driver_priv;
	struct salvo_dev *sdev = ctx->vm->sdev;
	struct salvo_slot *slot;
	int ret;

	ret = salvo_slot_check_bo(sdev, bo, args->offset) ?:
	      salvo_refuse_if(sdev, ctx->eu_mask && args->units & ~ctx->eu_mask, -EINVAL,
			      "units %#llx are not within those of the context, %#llx",
			      args->units, ctx->eu_mask);
	if (ret)
		return ret;
	slot = salvo_slot_create(ctx, bo, args->offset);
	if (!slot)
		return -ENOMEM;
	ret = salvo_slot_attach(slot, args->units);
	if (ret)
		goto err_put;
	ret = xa_alloc(&file->slots, &args->id, slot, XA_LIMIT(1, U32_MAX), GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_detach;
	return 0;

err_detach:
	salvo_slot_begin_detach(slot);
err_put:
	salvo_slot_put(slot);
	return ret;
}

static int salvo_slot_attach_entered(struct salvo_dev *sdev, struct drm_salvo_slot_attach *args,
				     struct drm_file *filp)
{
	struct drm_gem_object *base;
	struct salvo_ctx *ctx;
	int ret;

	ret = salvo_slot_check(sdev, args);
	if (ret)
		return ret;
	ctx = salvo_ctx_find(filp->driver_priv, args->ctx_id);
	if (!ctx)
		return salvo_refuse(sdev, -ENOENT, "context %u does not exist", args->ctx_id);
	base = drm_gem_object_lookup(filp, args->handle);
	if (base)
		ret = salvo_slot_attach_to(filp, ctx, to_salvo_gem(base), args);
	else
		ret = salvo_refuse(sdev, -ENOENT, "handle %u does not exist", args->handle);
	if (base)
		drm_gem_object_put(base);
	salvo_ctx_put(ctx);
	return ret;
}

int salvo_slot_attach_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	int idx, ret;

	if (!drm_dev_enter(drm, &idx))
		return salvo_refuse(to_salvo(drm), -ENODEV, "the device is unplugged");
	ret = salvo_slot_attach_entered(to_salvo(drm), data, filp);
	drm_dev_exit(idx);
	return ret;
}

int salvo_slot_detach_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct salvo_file *file = filp->driver_priv;
	struct drm_salvo_slot_detach *args = data;
	struct salvo_slot *slot;
	int ret;

	ret = salvo_refuse_if(sdev, args->pad, -EINVAL, "pad is not zero");
	if (ret)
		return ret;
	slot = xa_erase(&file->slots, args->id);
	if (!slot)
		return salvo_refuse(sdev, -ENOENT, "slot %u does not exist", args->id);
	salvo_slot_begin_detach(slot);
	salvo_slot_put(slot);
	return 0;
}

/* --- wake and wait ----------------------------------------------------------------- */

static void salvo_slot_wake(struct salvo_slot *slot)
{
	trace_salvo_slot_wake(slot->ctx, slot->number, slot->units);
	salvo_mmio_wake_slot(&salvo_slot_dev(slot)->mmio, slot->number);
}

static int salvo_slot_wake_entered(struct salvo_dev *sdev, const struct drm_salvo_slot_wake *args,
				   struct drm_file *filp)
{
	struct salvo_slot *slot;
	int ret;

	ret = salvo_refuse_if(sdev, args->pad, -EINVAL, "pad is not zero") ?:
	      salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone");
	if (ret)
		return ret;
	slot = salvo_slot_find(filp->driver_priv, args->id);
	if (!slot)
		return salvo_refuse(sdev, -ENOENT, "slot %u does not exist", args->id);
	/* The registers cannot be accessed while the PCI function is reset. */
	down_read(&sdev->aperture_lock);
	/* The number of a slot that is gone may be another's, whose units then wake in vain. */
	if (READ_ONCE(slot->state) < SALVO_SLOT_KILLED)
		salvo_slot_wake(slot);
	up_read(&sdev->aperture_lock);
	salvo_slot_put(slot);
	return 0;
}

int salvo_slot_wake_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	int idx, ret;

	if (!drm_dev_enter(drm, &idx))
		return salvo_refuse(to_salvo(drm), -ENODEV, "the device is unplugged");
	ret = salvo_slot_wake_entered(to_salvo(drm), data, filp);
	drm_dev_exit(idx);
	return ret;
}

int salvo_slot_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct drm_salvo_slot_wait *args = data;
	struct salvo_slot *slot;
	long left;
	int ret;

	ret = salvo_refuse_if(sdev, args->pad, -EINVAL, "pad is not zero");
	if (ret)
		return ret;
	slot = salvo_slot_find(filp->driver_priv, args->id);
	if (!slot)
		return salvo_refuse(sdev, -ENOENT, "slot %u does not exist", args->id);
	left = wait_event_interruptible_timeout(sdev->slot_events,
						salvo_device_is_gone(sdev) ||
						salvo_slot_is_idle(slot),
						drm_timeout_abs_to_jiffies(args->timeout_ns));
	if (left < 0)
		ret = left;
	else if (salvo_device_is_gone(sdev))
		ret = salvo_refuse(sdev, -ENODEV, "the GPU is gone");
	else if (!left)
		ret = -ETIME;
	salvo_slot_put(slot);
	return ret;
}
