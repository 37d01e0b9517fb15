// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_vm.c - a file's GPU address space
 *
 * A space is the set of buffers that it shows (salvo_bind.c), and the list of batches
 * that may access them, vm->uses. When its file is gone and its last batch freed, one
 * SPACE_END does for all that is left; its packet was written beforehand, so ending
 * cannot fail.
 *
 * Address space packets raise no interrupt (an application's batch costs exactly
 * one). The reclaim work looks at the fence register instead, when a batch is
 * freed and, while an UNBIND is under way, a few times a second.
 *
 * Locks: sdev->space_lock > vm->lock > ring->lock. Nothing allocates under
 * space_lock, since a reset takes it.
 */
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>

#include "salvo_bind.h"
#include "salvo_device.h"
#include "salvo_pack.h"
#include "salvo_ring.h"
#include "salvo_vm.h"

/* Memory that the packets of one file may take; a single batch may always run. */
#define SALVO_VM_MAX_CHARGE	SZ_64M
/* Jiffies between looks for the end of an UNBIND. */
#define SALVO_VM_POLL_JIFFIES	max(1, HZ / 100)

/* --- life of a space --------------------------------------------------------- */

#define SALVO_END_BYTES	(SALVO_PACK_SPACE_BYTES + sizeof(struct salvo_packet_result))

static void salvo_vm_free_end_packet(struct salvo_vm *vm)
{
	if (!vm->end.packet)
		return;
	dma_free_coherent(vm->sdev->drm.dev, SALVO_END_BYTES, vm->end.packet, vm->end.address);
	vm->end.packet = NULL;
}

static void salvo_vm_release(struct kref *ref)
{
	struct salvo_vm *vm = container_of(ref, struct salvo_vm, ref);

	WARN_ON(!list_empty(&vm->uses) || !list_empty(&vm->retiring));
	kfree(vm);
}

/** salvo_vm_put() - Drop a reference. */
void salvo_vm_put(struct salvo_vm *vm)
{
	kref_put(&vm->ref, salvo_vm_release);
}

/**
 * salvo_vm_create() - A new, empty space.
 * @sdev: The device.
 *
 * Return: the space, to be ended with salvo_vm_close(), or an error pointer.
 */
struct salvo_vm *salvo_vm_create(struct salvo_dev *sdev)
{
	struct salvo_vm *vm;
	int ret;

	vm = kzalloc(sizeof(*vm), GFP_KERNEL);
	if (!vm)
		return ERR_PTR(-ENOMEM);
	kref_init(&vm->ref);
	vm->sdev = sdev;
	vm->pid = task_tgid_nr(current);
	get_task_comm(vm->comm, current);
	INIT_LIST_HEAD(&vm->retiring);
	INIT_LIST_HEAD(&vm->shared);
	INIT_LIST_HEAD(&vm->uses);
	spin_lock_init(&vm->lock);
	vm->bindings = RB_ROOT;

	vm->end.bytes = SALVO_PACK_SPACE_BYTES;
	vm->end.packet = dma_alloc_coherent(sdev->drm.dev, SALVO_END_BYTES, &vm->end.address,
					    GFP_KERNEL);
	if (!vm->end.packet) {
		ret = -ENOMEM;
		goto err_free;
	}
	salvo_pack_space(SALVO_OP_SPACE_END, 0, 0, 0, vm->end.address + SALVO_PACK_SPACE_BYTES,
			 vm->end.packet);

	/* Cyclic, so that a number that just ended is the last to come back. */
	ret = xa_alloc_cyclic(&sdev->asids, &vm->asid, vm, XA_LIMIT(1, S32_MAX),
			      &sdev->asid_next, GFP_KERNEL);
	if (ret < 0)
		goto err_free_end;

	mutex_lock(&sdev->space_lock);
	salvo_vm_get(vm);
	list_add_tail(&vm->node, &sdev->spaces);
	mutex_unlock(&sdev->space_lock);
	return vm;

err_free_end:
	salvo_vm_free_end_packet(vm);
err_free:
	kfree(vm);
	return ERR_PTR(ret);
}

/**
 * salvo_vm_kick() - There may be something to reclaim.
 * @sdev: The device.
 *
 * Closing a file or a handle is no critical section of DRM's, so the driver may be
 * unbound meanwhile, and the workqueue go. While the GPU is on its way out there is
 * nothing to do: salvo_vm_reclaim_gone() comes after, and sees what was done before
 * under space_lock.
 */
void salvo_vm_kick(struct salvo_dev *sdev)
{
	int idx;

	if (READ_ONCE(sdev->quiet)) {
		salvo_vm_reclaim_gone(sdev);
	} else if (drm_dev_enter(&sdev->drm, &idx)) {
		mod_delayed_work(sdev->wq, &sdev->reclaim, 0);
		drm_dev_exit(idx);
	}
}

/**
 * salvo_vm_close() - The file is gone; its batches in flight complete.
 * @vm: The space; the caller's reference goes.
 */
void salvo_vm_close(struct salvo_vm *vm)
{
	struct salvo_dev *sdev = vm->sdev;

	mutex_lock(&sdev->space_lock);
	vm->closed = true;
	mutex_unlock(&sdev->space_lock);
	salvo_vm_kick(sdev);
	salvo_vm_put(vm);
}

/* --- uses -------------------------------------------------------------------- */

/** salvo_vm_begin_use() - A batch is about to be checked. */
void salvo_vm_begin_use(struct salvo_vm *vm, struct salvo_vm_use *use)
{
	spin_lock(&vm->lock);
	use->number = ++vm->last_use;
	list_add_tail(&use->node, &vm->uses);
	spin_unlock(&vm->lock);
}

static bool salvo_vm_try_charge(struct salvo_vm *vm, struct salvo_vm_use *use, size_t bytes)
{
	bool ok;

	spin_lock(&vm->lock);
	ok = !vm->charged || vm->charged + bytes <= SALVO_VM_MAX_CHARGE;
	if (ok) {
		vm->charged += bytes;
		use->charged = bytes;
	}
	spin_unlock(&vm->lock);
	return ok;
}

/**
 * salvo_vm_charge() - Account for packet memory; waits while there is too much.
 * @vm: The space.
 * @use: The batch.
 * @bytes: Of its packet.
 *
 * Return: 0, -ENODEV, -ERESTARTSYS.
 */
int salvo_vm_charge(struct salvo_vm *vm, struct salvo_vm_use *use, size_t bytes)
{
	struct salvo_dev *sdev = vm->sdev;
	bool charged = false;
	int ret;

	ret = wait_event_interruptible(sdev->progress, salvo_device_is_gone(sdev) ||
				       (charged = salvo_vm_try_charge(vm, use, bytes)));
	if (ret || charged)
		return ret;
	return salvo_refuse(sdev, -ENODEV, "the GPU is there");
}

/** salvo_vm_set_fence() - A batch is about to be pushed. */
void salvo_vm_set_fence(struct salvo_vm *vm, struct salvo_vm_use *use, struct dma_fence *fence)
{
	spin_lock(&vm->lock);
	use->fence = dma_fence_get(fence);
	spin_unlock(&vm->lock);
}

/**
 * salvo_vm_get_fences() - References to the fences of all batches in flight.
 * @vm: The space.
 * @fences: Where to put them.
 * @limit: Elements of @fences.
 *
 * Return: their number; if it is more than @limit, no references were taken.
 */
unsigned int salvo_vm_get_fences(struct salvo_vm *vm, struct dma_fence **fences,
				 unsigned int limit)
{
	struct salvo_vm_use *use;
	unsigned int count = 0;

	spin_lock(&vm->lock);
	list_for_each_entry(use, &vm->uses, node)
		count += !!use->fence;
	if (count <= limit) {
		count = 0;
		list_for_each_entry(use, &vm->uses, node)
			if (use->fence)
				fences[count++] = dma_fence_get(use->fence);
	}
	spin_unlock(&vm->lock);
	return count;
}

/** salvo_vm_end_use() - A batch touches nothing any more. */
void salvo_vm_end_use(struct salvo_vm *vm, struct salvo_vm_use *use)
{
	bool reclaim;

	spin_lock(&vm->lock);
	list_del(&use->node);
	vm->charged -= use->charged;
	spin_unlock(&vm->lock);
	dma_fence_put(use->fence);

	/* A space that retires something a moment later kicks by itself. */
	reclaim = !list_empty_careful(&vm->retiring) || READ_ONCE(vm->closed);
	if (reclaim)
		salvo_vm_kick(vm->sdev);
	wake_up_all(&vm->sdev->progress);
}

/** salvo_vm_count_interrupt() - An interrupt has retired a batch of the file. */
void salvo_vm_count_interrupt(struct salvo_vm *vm, u64 interrupt)
{
	if (vm->last_interrupt == interrupt)
		return;
	vm->last_interrupt = interrupt;
	atomic64_inc(&vm->counters.interrupts);
}

/* Number of the oldest batch, or one more than the newest if there is none. */
static u64 salvo_vm_oldest_use(struct salvo_vm *vm)
{
	u64 oldest;

	spin_lock(&vm->lock);
	oldest = list_empty(&vm->uses) ? vm->last_use + 1 :
		 list_first_entry(&vm->uses, struct salvo_vm_use, node)->number;
	spin_unlock(&vm->lock);
	return oldest;
}

static bool salvo_vm_is_idle(struct salvo_vm *vm)
{
	bool idle;

	spin_lock(&vm->lock);
	idle = list_empty(&vm->uses);
	spin_unlock(&vm->lock);
	return idle;
}

/* --- freeing ----------------------------------------------------------------- */

/* The device knows nothing of the space any more. */
static void salvo_vm_finish(struct salvo_vm *vm)
{
	struct salvo_dev *sdev = vm->sdev;

	lockdep_assert_held(&sdev->space_lock);
	salvo_bind_drop_retiring(vm);
	salvo_vm_free_end_packet(vm);
	xa_erase(&sdev->asids, vm->asid);
	list_del(&vm->node);
	salvo_vm_put(vm);
}

/* Returns whether something waits for the ring and must be looked at again. */
static bool salvo_vm_reclaim_closed(struct salvo_vm *vm, u64 retired)
{
	if (!salvo_vm_is_idle(vm))
		return false;
	if (vm->known && !vm->end_seqno)
		vm->end_seqno = salvo_ring_push_space(vm->sdev, vm->asid, &vm->end, 1);
	if (vm->known && (!vm->end_seqno || vm->end_seqno > retired))
		return true;
	salvo_vm_finish(vm);
	return false;
}

/** salvo_vm_reclaim_work() - Free what no batch and no packet in flight needs. */
void salvo_vm_reclaim_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, reclaim.work);
	struct salvo_vm *vm, *next;
	bool again = false;
	u64 retired;

	mutex_lock(&sdev->space_lock);
	retired = salvo_ring_space_retired(sdev);
	list_for_each_entry_safe(vm, next, &sdev->spaces, node)
		again |= vm->closed ? salvo_vm_reclaim_closed(vm, retired) :
				      salvo_bind_reclaim(vm, salvo_vm_oldest_use(vm), retired);
	mutex_unlock(&sdev->space_lock);
	wake_up_all(&sdev->progress);
	if (again && !salvo_device_is_gone(sdev))
		queue_delayed_work(sdev->wq, &sdev->reclaim, SALVO_VM_POLL_JIFFIES);
}

/** salvo_vm_reclaim_gone() - The same without a GPU: nothing has to be told. */
void salvo_vm_reclaim_gone(struct salvo_dev *sdev)
{
	struct salvo_vm *vm, *next;

	mutex_lock(&sdev->space_lock);
	list_for_each_entry_safe(vm, next, &sdev->spaces, node) {
		salvo_bind_drop_retiring(vm);
		if (vm->closed && salvo_vm_is_idle(vm))
			salvo_vm_finish(vm);
	}
	mutex_unlock(&sdev->space_lock);
	wake_up_all(&sdev->progress);
}

/* --- reset and unbinding of the driver --------------------------------------- */

/**
 * salvo_vm_restore() - Tell the device of all spaces again, after a reset.
 * @sdev: The device.
 *
 * Return: 0, or -ETIMEDOUT.
 */
int salvo_vm_restore(struct salvo_dev *sdev)
{
	struct salvo_vm *vm, *next;
	int ret = 0;

	lockdep_assert_held(&sdev->space_lock);
	list_for_each_entry_safe(vm, next, &sdev->spaces, node) {
		if (vm->end_seqno)
			salvo_vm_finish(vm);
		else if (!ret)
			ret = salvo_bind_restore(vm);
	}
	return ret;
}

/**
 * salvo_vm_detach_all() - Free the DMA memory of all spaces whose files are still open.
 * @sdev: The device.
 *
 * The driver is being unbound; there are no batches left.
 */
void salvo_vm_detach_all(struct salvo_dev *sdev)
{
	struct salvo_vm *vm;

	mutex_lock(&sdev->space_lock);
	list_for_each_entry(vm, &sdev->spaces, node) {
		salvo_bind_free_packets(vm);
		salvo_vm_free_end_packet(vm);
	}
	mutex_unlock(&sdev->space_lock);
}
