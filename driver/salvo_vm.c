// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_vm.c - GPU address spaces
 *
 * An address space is the set of buffers bound in it (salvo_bind.c) and the list of the
 * batches that may access them, vm->uses. When the file was closed and its last batch
 * has been freed, one SPACE_END unbinds everything that is left. Its packet is packed
 * when the address space is created, so that ending it cannot fail.
 *
 * Address space packets raise no interrupt, since an application's batch must cost
 * exactly one. Instead the reclaim work polls the fence register when a batch is freed
 * and, while an UNBIND is outstanding, every 10 ms.
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
#include "salvo_client.h"
#include "salvo_device.h"
#include "salvo_pack.h"
#include "salvo_ring.h"
#include "salvo_slot.h"
#include "salvo_vm.h"

/* Limit of the packet memory of one file; a single batch may always run. */
#define SALVO_VM_MAX_CHARGE	SZ_64M
/* Interval between polls for the end of an UNBIND. */
#define SALVO_VM_POLL_JIFFIES	max(1, HZ / 100)

/* --- create and close -------------------------------------------------------- */

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
	salvo_client_put(vm->sdev, vm->client);
	kfree(vm);
}

/** salvo_vm_put() - Drop a reference. */
void salvo_vm_put(struct salvo_vm *vm)
{
	kref_put(&vm->ref, salvo_vm_release);
}

/**
 * salvo_vm_create() - Create an empty address space for the current process.
 * @sdev: The device.
 *
 * Return: the address space, to be ended with salvo_vm_close(), or an error pointer.
 */
struct salvo_vm *salvo_vm_create(struct salvo_dev *sdev)
{
	struct salvo_vm *vm;
	int ret;

	vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);
	if (!vm)
		return ERR_PTR(-ENOMEM);
	vm->client = salvo_client_get(sdev);
	if (!vm->client) {
		ret = -ENOMEM;
		goto err_free;
	}
	kref_init(&vm->ref);
	vm->sdev = sdev;
	vm->pid = task_tgid_nr(current);
	get_task_comm(vm->comm, current);
	INIT_LIST_HEAD(&vm->retiring);
	INIT_LIST_HEAD(&vm->shared);
	INIT_LIST_HEAD(&vm->uses);
	spin_lock_init(&vm->lock);
	init_rwsem(&vm->share_lock);
	vm->vmas = RB_ROOT;

	vm->end.bytes = SALVO_PACK_SPACE_BYTES;
	vm->end.packet = dma_alloc_coherent(sdev->drm.dev, SALVO_END_BYTES, &vm->end.address,
					    GFP_KERNEL_ACCOUNT);
	if (!vm->end.packet) {
		ret = -ENOMEM;
		goto err_put_client;
	}
	salvo_pack_space(SALVO_OP_SPACE_END, 0, 0, 0, vm->end.address + SALVO_PACK_SPACE_BYTES,
			 vm->end.packet);

	/* Cyclic, so that an identifier is reused as late as possible. */
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
err_put_client:
	salvo_client_put(sdev, vm->client);
err_free:
	kfree(vm);
	return ERR_PTR(ret);
}

/**
 * salvo_vm_queue_reclaim() - Free what has become unused.
 * @sdev: The device.
 *
 * Closing a file or a handle is not inside a DRM critical section, so the driver may be
 * unbound and the workqueue destroyed meanwhile. Between drm_dev_unplug() and
 * sdev->detached there is nothing to do here: salvo_vm_reclaim_gone() follows and sees,
 * under space_lock, everything that was done before.
 */
void salvo_vm_queue_reclaim(struct salvo_dev *sdev)
{
	int idx;

	if (READ_ONCE(sdev->detached)) {
		salvo_vm_reclaim_gone(sdev);
	} else if (drm_dev_enter(&sdev->drm, &idx)) {
		mod_delayed_work(sdev->wq, &sdev->reclaim, 0);
		drm_dev_exit(idx);
	}
}

/**
 * salvo_vm_close() - The file was closed; its batches in flight complete.
 * @vm: The address space; the caller's reference is dropped.
 */
void salvo_vm_close(struct salvo_vm *vm)
{
	struct salvo_dev *sdev = vm->sdev;

	mutex_lock(&sdev->space_lock);
	vm->closed = true;
	mutex_unlock(&sdev->space_lock);
	salvo_vm_queue_reclaim(sdev);
	salvo_vm_put(vm);
}

/* --- uses -------------------------------------------------------------------- */

/** salvo_vm_begin_use() - Add a batch to vm->uses before it is validated. */
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
 * salvo_vm_charge() - Account for packet memory; blocks while the file exceeds its limit.
 * @vm: The address space.
 * @use: The batch.
 * @bytes: Size of its packet.
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
	return salvo_refuse(sdev, -ENODEV, "the GPU is gone");
}

/** salvo_vm_set_fence() - Set the finished fence of a batch that was armed. */
void salvo_vm_set_fence(struct salvo_vm *vm, struct salvo_vm_use *use, struct dma_fence *fence)
{
	spin_lock(&vm->lock);
	use->fence = dma_fence_get(fence);
	spin_unlock(&vm->lock);
}

/**
 * salvo_vm_get_fences() - Get references to the fences of all batches in flight.
 * @vm: The address space.
 * @fences: Filled in.
 * @limit: Number of elements of @fences.
 *
 * Return: the number of fences; if it exceeds @limit, no references were taken.
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

/** salvo_vm_end_use() - Remove a batch from vm->uses; it accesses no buffer any more. */
void salvo_vm_end_use(struct salvo_vm *vm, struct salvo_vm_use *use)
{
	bool reclaim;

	spin_lock(&vm->lock);
	list_del(&use->node);
	vm->charged -= use->charged;
	spin_unlock(&vm->lock);
	dma_fence_put(use->fence);

	/* If a vma starts to retire after this check, salvo_unbind() queues the reclaim. */
	reclaim = !list_empty_careful(&vm->retiring) || READ_ONCE(vm->closed);
	if (reclaim)
		salvo_vm_queue_reclaim(vm->sdev);
	wake_up_all(&vm->sdev->progress);
}

/** salvo_vm_count_interrupt() - Count an interrupt that retired batches of the file, once. */
void salvo_vm_count_interrupt(struct salvo_vm *vm, u64 interrupt)
{
	if (vm->last_interrupt == interrupt)
		return;
	vm->last_interrupt = interrupt;
	atomic64_inc(&vm->counters.interrupts);
}

/* Number of the oldest batch, or that of the next one if there is none. */
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

/* Free an address space that the device does not know any more. */
static void salvo_vm_finish(struct salvo_vm *vm)
{
	struct salvo_dev *sdev = vm->sdev;

	lockdep_assert_held(&sdev->space_lock);
	salvo_slot_drop_vm(vm);
	salvo_bind_drop_retiring(vm);
	salvo_vm_free_end_packet(vm);
	xa_erase(&sdev->asids, vm->asid);
	list_del(&vm->node);
	salvo_vm_put(vm);
}

/* Returns whether SPACE_END is outstanding, so that the caller must poll again. */
static bool salvo_vm_reclaim_closed(struct salvo_vm *vm, u64 retired)
{
	if (!salvo_vm_is_idle(vm))
		return false;
	if (vm->hw_known && !vm->end_seqno)
		vm->end_seqno = salvo_ring_push_space(vm->sdev, vm->asid, &vm->end, 1);
	if (vm->hw_known && (!vm->end_seqno || vm->end_seqno > retired))
		return true;
	salvo_vm_finish(vm);
	return false;
}

/** salvo_vm_reclaim_work() - Free what no batch and no packet in flight uses. */
void salvo_vm_reclaim_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, reclaim.work);
	struct salvo_vm *vm, *next;
	bool again;
	u64 retired;

	mutex_lock(&sdev->space_lock);
	retired = salvo_ring_space_retired(sdev);
	again = salvo_slot_reclaim(sdev, retired);
	list_for_each_entry_safe(vm, next, &sdev->spaces, node)
		again |= vm->closed ? salvo_vm_reclaim_closed(vm, retired) :
				      salvo_bind_reclaim(vm, salvo_vm_oldest_use(vm), retired);
	mutex_unlock(&sdev->space_lock);
	wake_up_all(&sdev->progress);
	if (again && !salvo_device_is_gone(sdev))
		queue_delayed_work(sdev->wq, &sdev->reclaim, SALVO_VM_POLL_JIFFIES);
}

/** salvo_vm_reclaim_gone() - The same without a GPU: no packet is needed. */
void salvo_vm_reclaim_gone(struct salvo_dev *sdev)
{
	struct salvo_vm *vm, *next;

	mutex_lock(&sdev->space_lock);
	salvo_slot_drop_all(sdev);
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
 * salvo_vm_restore() - Restore all address spaces on the device, after a reset.
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
 * salvo_vm_detach_all() - Free the DMA memory of address spaces whose files are still open.
 * @sdev: The device, which is being unbound; there are no batches left.
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
