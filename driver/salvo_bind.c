// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_bind.c - the buffers bound in an address space
 *
 * GPU addresses are the same in every address space, so an address space is just the
 * set of buffers bound in it: vm->vmas. Address space packets are put on ring 0 directly,
 * without a scheduler. The GPU reads them before everything that is put on any ring
 * later, and a batch that uses a new buffer is pushed after its handle was created.
 *
 * Unbinding takes several steps. When the last handle is closed, the vma moves from
 * vm->vmas, so that no later batch can use it, to vm->retiring, and records the newest
 * batch in flight. When that batch and all before it have been freed, UNBIND is put on
 * the ring. When the ring's fence has passed it, the reference to the buffer is dropped.
 * If the file opens the same shared buffer again meanwhile, the vma moves back; if
 * UNBIND is on the ring already, a new vma is bound behind it.
 *
 * Locks: sdev->space_lock > vm->lock > ring->lock. vm->vmas changes under the first two;
 * batches are validated under vm->lock alone. Nothing is allocated under space_lock,
 * since a reset takes it.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>

#include "salvo_bind.h"
#include "salvo_device.h"
#include "salvo_gem.h"
#include "salvo_ring.h"
#include "salvo_vm.h"
#include "salvo_vma.h"

/* Polls, a millisecond each, for ring slots while address spaces are restored. */
#define SALVO_BIND_RESTORE_POLLS	2000
/* Interval between polls for ring slots. */
#define SALVO_BIND_POLL_JIFFIES		max(1, HZ / 100)

static void salvo_bind_free_retired(struct salvo_vm *vm, struct salvo_vma *vma)
{
	lockdep_assert_held(&vm->sdev->space_lock);
	list_del(&vma->node);
	if (salvo_vma_is_vram(vma))
		atomic64_sub(salvo_vma_bytes(vma), &vm->bytes);
	salvo_vma_destroy(vm->sdev, vma);
	/* Last: an allocation that sees 0 must find the memory free. */
	vm->sdev->reclaiming--;
}

static struct salvo_vma *salvo_bind_find_locked(struct salvo_vm *vm, u64 address)
{
	struct rb_node *node = vm->vmas.rb_node;
	struct salvo_vma *vma;

	while (node) {
		vma = rb_entry(node, struct salvo_vma, rb);
		if (address < salvo_vma_address(vma))
			node = node->rb_left;
		else if (address - salvo_vma_address(vma) >= salvo_vma_bytes(vma))
			node = node->rb_right;
		else
			return vma;
	}
	return NULL;
}

static void salvo_bind_insert(struct salvo_vm *vm, struct salvo_vma *vma)
{
	struct rb_node **link = &vm->vmas.rb_node, *parent = NULL;

	lockdep_assert_held(&vm->sdev->space_lock);
	spin_lock(&vm->lock);
	while (*link) {
		parent = *link;
		if (salvo_vma_address(vma) <
		    salvo_vma_address(rb_entry(parent, struct salvo_vma, rb)))
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&vma->rb, parent, link);
	rb_insert_color(&vma->rb, &vm->vmas);
	if (vma->bo->shared)
		list_add_tail(&vma->shared, &vm->shared);
	spin_unlock(&vm->lock);
}

/* --- bind and unbind --------------------------------------------------------- */

/* Use the vma of a buffer that is bound already, or that is retiring without UNBIND. */
static bool salvo_bind_reuse(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_vma *vma;

	vma = salvo_bind_find_locked(vm, bo->address);
	if (vma) {
		vma->handles++;
		return true;
	}
	list_for_each_entry(vma, &vm->retiring, node) {
		if (vma->bo != bo || vma->unbind_seqno)
			continue;
		list_del(&vma->node);
		vm->sdev->reclaiming--;
		vma->handles = 1;
		salvo_bind_insert(vm, vma);
		return true;
	}
	return false;
}

/**
 * salvo_bind_wait_for_room() - Wait a moment for slots of ring 0.
 * @sdev: The device.
 *
 * Return: 0, -ENODEV, -ERESTARTSYS.
 */
int salvo_bind_wait_for_room(struct salvo_dev *sdev)
{
	if (salvo_device_is_gone(sdev))
		return salvo_refuse(sdev, -ENODEV, "the GPU is gone");
	if (signal_pending(current))
		return -ERESTARTSYS;
	schedule_timeout_interruptible(SALVO_BIND_POLL_JIFFIES);
	return 0;
}

/* Return: 1 if @vma is now bound, 0 if it is not needed, -EAGAIN if the ring is full. */
static int salvo_bind_try(struct salvo_vm *vm, struct salvo_vma *vma)
{
	int ret = -EAGAIN;

	mutex_lock(&vm->sdev->space_lock);
	/* Address space packets raise no interrupt: poll for slots that are free by now. */
	salvo_ring_space_retired(vm->sdev);
	if (salvo_bind_reuse(vm, vma->bo)) {
		ret = 0;
	} else if (salvo_vma_push_bind(vm, vma)) {
		vm->hw_known = true;
		if (salvo_vma_is_vram(vma))
			atomic64_add(salvo_vma_bytes(vma), &vm->bytes);
		salvo_bind_insert(vm, vma);
		ret = 1;
	}
	mutex_unlock(&vm->sdev->space_lock);
	return ret;
}

/**
 * salvo_bind() - Bind a buffer for a new handle.
 * @vm: The address space.
 * @bo: The buffer.
 *
 * Blocks while the ring is full. While the address space has slots, it returns when the GPU has
 * read BIND: a task that is stored in a slot later may use the buffer.
 *
 * Return: 0, -ENOMEM, -ENODEV, -ERESTARTSYS.
 */
int salvo_bind(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_dev *sdev = vm->sdev;
	struct salvo_vma *vma = salvo_vma_create(sdev, bo);
	int ret;

	if (IS_ERR(vma))
		return PTR_ERR(vma);
	do {
		ret = salvo_bind_try(vm, vma);
	} while (ret == -EAGAIN && !(ret = salvo_bind_wait_for_room(sdev)));
	if (ret >= 0 && READ_ONCE(vm->slots))
		salvo_ring_wait_read(sdev);
	if (ret > 0)
		return 0;
	salvo_vma_destroy(sdev, vma);
	return ret;
}

/* Returns whether the vma is now retiring. */
static bool salvo_bind_retire(struct salvo_vm *vm, struct salvo_vma *vma)
{
	lockdep_assert_held(&vm->sdev->space_lock);
	if (!vma || --vma->handles)
		return false;
	spin_lock(&vm->lock);
	rb_erase(&vma->rb, &vm->vmas);
	list_del_init(&vma->shared);
	vma->last_use = vm->last_use;
	spin_unlock(&vm->lock);
	list_add_tail(&vma->node, &vm->retiring);
	vm->sdev->reclaiming++;
	return true;
}

/**
 * salvo_unbind() - Unbind a buffer, whose handle was closed, after the batches that may use it.
 * @vm: The address space.
 * @bo: The buffer.
 */
void salvo_unbind(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_dev *sdev = vm->sdev;
	bool retiring;

	mutex_lock(&sdev->space_lock);
	retiring = salvo_bind_retire(vm, salvo_bind_find_locked(vm, bo->address));
	mutex_unlock(&sdev->space_lock);
	if (retiring)
		salvo_vm_queue_reclaim(sdev);
}

/**
 * salvo_bind_pin() - Keep a buffer bound, whether its handle is closed or not.
 * @vm: The address space.
 * @bo: The buffer.
 *
 * Return: false if it is not bound.
 */
bool salvo_bind_pin(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_vma *vma = salvo_bind_find_locked(vm, bo->address);

	lockdep_assert_held(&vm->sdev->space_lock);
	if (!vma || vma->bo != bo)
		return false;
	vma->handles++;
	return true;
}

/**
 * salvo_bind_unpin() - Undo salvo_bind_pin().
 * @vm: The address space.
 * @bo: The buffer.
 *
 * Return: whether it is now retiring, so that the caller must queue the reclaim.
 */
bool salvo_bind_unpin(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	return salvo_bind_retire(vm, salvo_bind_find_locked(vm, bo->address));
}

/**
 * salvo_bind_covers() - Does a range lie within one bound buffer that allows an access?
 * @cookie: struct salvo_vm.
 * @address: First GPU address.
 * @size: Length in bytes, not zero.
 * @access: SALVO_ACCESS_*, all of which are needed.
 */
int salvo_bind_covers(void *cookie, u64 address, u64 size, u32 access)
{
	struct salvo_vm *vm = cookie;
	struct salvo_vma *vma;
	int ret;

	spin_lock(&vm->lock);
	vma = salvo_bind_find_locked(vm, address);
	ret = vma && size <= salvo_vma_bytes(vma) - (address - salvo_vma_address(vma)) &&
	      !(access & ~vma->access);
	spin_unlock(&vm->lock);
	return ret;
}

/* --- shared buffers ---------------------------------------------------------- */

/**
 * salvo_bind_get_shared() - Get references to the shared buffers of an address space.
 * @vm: The address space.
 * @bos: Filled in.
 * @limit: Number of elements of @bos.
 *
 * Return: the number of shared buffers; if it exceeds @limit, no references were taken.
 */
unsigned int salvo_bind_get_shared(struct salvo_vm *vm, struct salvo_gem_object **bos,
				   unsigned int limit)
{
	struct salvo_vma *vma;
	unsigned int count = 0;

	spin_lock(&vm->lock);
	list_for_each_entry(vma, &vm->shared, shared)
		count++;
	if (count <= limit) {
		count = 0;
		list_for_each_entry(vma, &vm->shared, shared) {
			drm_gem_object_get(&vma->bo->base);
			bos[count++] = vma->bo;
		}
	}
	spin_unlock(&vm->lock);
	return count;
}

/** salvo_bind_has() - Is a buffer bound in an address space, or was it until a moment ago? */
bool salvo_bind_has(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_vma *vma;

	lockdep_assert_held(&vm->sdev->space_lock);
	if (salvo_bind_find_locked(vm, bo->address))
		return true;
	/* Batches in flight may use a buffer whose handle was closed. */
	list_for_each_entry(vma, &vm->retiring, node)
		if (vma->bo == bo)
			return true;
	return false;
}

/**
 * salvo_bind_share() - Note in an address space that a buffer is shared from now on.
 * @vm: The address space.
 * @bo: The buffer, which may have been unbound meanwhile.
 */
void salvo_bind_share(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_vma *vma;

	lockdep_assert_held(&vm->sdev->space_lock);
	vma = salvo_bind_find_locked(vm, bo->address);
	if (!vma)
		return;
	spin_lock(&vm->lock);
	if (list_empty(&vma->shared))
		list_add_tail(&vma->shared, &vm->shared);
	spin_unlock(&vm->lock);
}

/* --- freeing ----------------------------------------------------------------- */

/** salvo_bind_drop_retiring() - Free all retiring vmas; the GPU knows none of them. */
void salvo_bind_drop_retiring(struct salvo_vm *vm)
{
	struct salvo_vma *vma, *next;

	list_for_each_entry_safe(vma, next, &vm->retiring, node)
		salvo_bind_free_retired(vm, vma);
}

/**
 * salvo_bind_reclaim() - Advance retiring vmas: put UNBIND on the ring, or free them.
 * @vm: The address space.
 * @oldest_use: Number of its oldest batch.
 * @retired: Last retired seqno of ring 0.
 *
 * Return: whether an UNBIND is outstanding, so that the caller must poll again.
 */
bool salvo_bind_reclaim(struct salvo_vm *vm, u64 oldest_use, u64 retired)
{
	struct salvo_vma *vma, *next;
	bool again = false;

	list_for_each_entry_safe(vma, next, &vm->retiring, node) {
		if (vma->last_use >= oldest_use)
			break;
		if (!vma->unbind_seqno)
			salvo_vma_push_unbind(vm, vma);
		if (vma->unbind_seqno && vma->unbind_seqno <= retired)
			salvo_bind_free_retired(vm, vma);
		else
			again = true;
	}
	return again;
}

/* --- reset and unbinding of the driver --------------------------------------- */

static int salvo_bind_restore_one(struct salvo_vm *vm, struct salvo_vma *vma)
{
	unsigned int polls;

	for (polls = 0; !salvo_vma_push_bind(vm, vma); polls++) {
		if (polls == SALVO_BIND_RESTORE_POLLS)
			return salvo_refuse(vm->sdev, -ETIMEDOUT, "ring 0 stays full");
		usleep_range(1000, 1500);
		salvo_ring_space_retired(vm->sdev);
	}
	return 0;
}

/**
 * salvo_bind_restore() - Bind the buffers of an address space again, after a reset.
 * @vm: The address space.
 *
 * Return: 0, or -ETIMEDOUT.
 */
int salvo_bind_restore(struct salvo_vm *vm)
{
	struct salvo_vma *vma, *next;
	struct rb_node *node;
	int ret = 0;

	for (node = rb_first(&vm->vmas); node && !ret; node = rb_next(node))
		ret = salvo_bind_restore_one(vm, rb_entry(node, struct salvo_vma, rb));
	list_for_each_entry_safe(vma, next, &vm->retiring, node) {
		/* Without UNBIND on the ring, batches that wait may still need it. */
		if (vma->unbind_seqno)
			salvo_bind_free_retired(vm, vma);
		else if (!ret)
			ret = salvo_bind_restore_one(vm, vma);
	}
	return ret;
}

/** salvo_bind_free_packets() - Free the DMA memory of vmas that stay until the file is closed. */
void salvo_bind_free_packets(struct salvo_vm *vm)
{
	struct rb_node *node;

	for (node = rb_first(&vm->vmas); node; node = rb_next(node))
		salvo_vma_free_packets(vm->sdev, rb_entry(node, struct salvo_vma, rb));
}
