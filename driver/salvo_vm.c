// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_vm.c - a file's GPU address space; bind and unbind packets
 *
 * A GPU address is the same in every space (VRAM offset plus a base), so a space
 * is only the set of ranges that it shows: vm->bindings. Address space packets
 * go straight to the ring, not through the scheduler: they take effect in ring
 * order, and a batch that uses a new buffer is pushed only after BO_CREATE has
 * returned.
 *
 * A binding leaves in steps. GEM_CLOSE takes it out of vm->bindings, so that no
 * later batch may use it, and puts it on vm->retiring with the number of the
 * last batch that may. When that batch and all before it are freed, UNBIND goes
 * to the ring; when the ring's fence has passed it, the VRAM comes free. All
 * packets were allocated and written when the buffer was created, so freeing
 * cannot fail. The same holds for the whole space: when its file is gone and its
 * last batch freed, one SPACE_END does for all that is left.
 *
 * Packets of this kind raise no interrupt (an application's batch costs exactly
 * one). The reclaim work looks at the fence register instead, when a batch is
 * freed and, while an UNBIND is under way, a few times a second.
 *
 * Locks: sdev->space_lock > vm->lock > ring->lock. The set of bindings changes
 * under the first two, and batches are checked under vm->lock alone. Nothing
 * allocates under space_lock, since a reset takes it.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>

#include "salvo_device.h"
#include "salvo_gem.h"
#include "salvo_pack.h"
#include "salvo_ring.h"
#include "salvo_vm.h"

/* Memory that the packets of one file may take; a single batch may always run. */
#define SALVO_VM_MAX_CHARGE	SZ_64M
/* How long a restart after a reset waits for slots of the ring. */
#define SALVO_VM_RESTORE_MS	2000
/* Jiffies between looks for the end of an UNBIND. */
#define SALVO_VM_POLL_JIFFIES	max(1, HZ / 100)

/**
 * struct salvo_space_packets - What a binding may have to say, written beforehand.
 */
struct salvo_space_packets {
	/** @bind: Shows the range. */
	u8 bind[SALVO_PACK_SPACE_BYTES] __aligned(64);
	/** @unbind: Hides it. */
	u8 unbind[SALVO_PACK_SPACE_BYTES] __aligned(64);
	/** @bind_result: Of @bind. */
	struct salvo_packet_result bind_result;
	/** @unbind_result: Of @unbind. */
	struct salvo_packet_result unbind_result;
};

/**
 * struct salvo_binding - A range of VRAM that a space shows.
 */
struct salvo_binding {
	/** @rb: In vm->bindings. */
	struct rb_node rb;
	/** @node: In vm->retiring. */
	struct list_head node;
	/** @vram: The memory; a reference. */
	struct salvo_vram *vram;
	/** @address: GPU address. */
	u64 address;
	/** @size: Bytes. */
	u64 size;
	/** @access: SALVO_ACCESS_*. */
	u32 access;
	/** @after: Last batch that may use it, once it is retiring. */
	u64 after;
	/** @unbind_seqno: Of UNBIND, or 0. */
	u64 unbind_seqno;
	/** @packets: In coherent memory. */
	struct salvo_space_packets *packets;
	/** @dma: System address of @packets. */
	dma_addr_t dma;
};

/* --- life of a space --------------------------------------------------------- */

#define SALVO_END_BYTES	(SALVO_PACK_SPACE_BYTES + sizeof(struct salvo_packet_result))

static void salvo_vm_free_end_packet(struct salvo_vm *vm)
{
	if (!vm->end_packet)
		return;
	dma_free_coherent(vm->sdev->drm.dev, SALVO_END_BYTES, vm->end_packet, vm->end_address);
	vm->end_packet = NULL;
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
struct salvo_vm *salvo_vm_create(struct salvo_device *sdev)
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
	INIT_LIST_HEAD(&vm->uses);
	spin_lock_init(&vm->lock);
	vm->bindings = RB_ROOT;

	vm->end_packet = dma_alloc_coherent(sdev->drm.dev, SALVO_END_BYTES, &vm->end_address,
					    GFP_KERNEL);
	if (!vm->end_packet) {
		ret = -ENOMEM;
		goto err_free;
	}
	salvo_pack_space(SALVO_OP_SPACE_END, 0, 0, 0, vm->end_address + SALVO_PACK_SPACE_BYTES,
			 vm->end_packet);

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

/*
 * Closing a file or a handle is no critical section of DRM's, so the driver may be
 * unbound meanwhile, and the workqueue go. While the GPU is on its way out there is
 * nothing to do: salvo_vm_reclaim_gone() comes after, and sees what was done before
 * under space_lock.
 */
static void salvo_vm_kick(struct salvo_device *sdev)
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
	struct salvo_device *sdev = vm->sdev;

	mutex_lock(&sdev->space_lock);
	vm->closed = true;
	mutex_unlock(&sdev->space_lock);
	salvo_vm_kick(sdev);
	salvo_vm_put(vm);
}

/* --- bindings ---------------------------------------------------------------- */

static void salvo_binding_free_packets(struct salvo_device *sdev, struct salvo_binding *b)
{
	if (!b->packets)
		return;
	dma_free_coherent(sdev->drm.dev, sizeof(*b->packets), b->packets, b->dma);
	b->packets = NULL;
}

static void salvo_binding_destroy(struct salvo_vm *vm, struct salvo_binding *b)
{
	atomic64_sub(b->size, &vm->bytes);
	salvo_binding_free_packets(vm->sdev, b);
	salvo_vram_put(b->vram);
	kfree(b);
}

static struct salvo_binding *salvo_binding_create(struct salvo_vm *vm, struct salvo_vram *vram,
						  u32 access)
{
	struct salvo_device *sdev = vm->sdev;
	struct salvo_space_packets *p;
	struct salvo_binding *b;

	b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	if (!b)
		return NULL;
	p = dma_alloc_coherent(sdev->drm.dev, sizeof(*p), &b->dma, GFP_KERNEL);
	if (!p) {
		kfree(b);
		return NULL;
	}
	b->packets = p;
	b->vram = salvo_vram_get(vram);
	b->address = sdev->mmio.va_base + salvo_vram_offset(vram);
	b->size = salvo_vram_size(vram);
	b->access = access;
	atomic64_add(b->size, &vm->bytes);
	salvo_pack_space(SALVO_OP_BIND, b->address, b->size, access,
			 b->dma + offsetof(struct salvo_space_packets, bind_result), p->bind);
	salvo_pack_space(SALVO_OP_UNBIND, b->address, b->size, 0,
			 b->dma + offsetof(struct salvo_space_packets, unbind_result), p->unbind);
	return b;
}

static bool salvo_binding_push_bind(struct salvo_vm *vm, struct salvo_binding *b)
{
	return salvo_ring_push_space(vm->sdev, vm->asid, b->packets->bind,
				     b->dma + offsetof(struct salvo_space_packets, bind));
}

static bool salvo_binding_push_unbind(struct salvo_vm *vm, struct salvo_binding *b)
{
	b->unbind_seqno = salvo_ring_push_space(vm->sdev, vm->asid, b->packets->unbind,
						b->dma + offsetof(struct salvo_space_packets,
								  unbind));
	return b->unbind_seqno;
}

static void salvo_vm_insert(struct salvo_vm *vm, struct salvo_binding *b)
{
	struct rb_node **link = &vm->bindings.rb_node, *parent = NULL;

	lockdep_assert_held(&vm->sdev->space_lock);
	spin_lock(&vm->lock);
	while (*link) {
		parent = *link;
		if (b->address < rb_entry(parent, struct salvo_binding, rb)->address)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&b->rb, parent, link);
	rb_insert_color(&b->rb, &vm->bindings);
	spin_unlock(&vm->lock);
}

static bool salvo_vm_try_bind(struct salvo_vm *vm, struct salvo_binding *b)
{
	bool ok;

	mutex_lock(&vm->sdev->space_lock);
	/* Gives slots back that were passed without an interrupt. */
	salvo_ring_retired(vm->sdev);
	ok = salvo_binding_push_bind(vm, b);
	if (ok) {
		vm->known = true;
		salvo_vm_insert(vm, b);
	}
	mutex_unlock(&vm->sdev->space_lock);
	return ok;
}

/**
 * salvo_vm_bind() - Show VRAM to a space.
 * @vm: The space.
 * @vram: The memory, zeroed.
 * @access: SALVO_ACCESS_*.
 *
 * Waits for a slot of the ring.
 *
 * Return: the binding, or an error pointer: -ENOMEM, -ENODEV, -ERESTARTSYS.
 */
struct salvo_binding *salvo_vm_bind(struct salvo_vm *vm, struct salvo_vram *vram, u32 access)
{
	struct salvo_device *sdev = vm->sdev;
	struct salvo_binding *b = salvo_binding_create(vm, vram, access);
	int ret;

	if (!b)
		return ERR_PTR(-ENOMEM);
	while (!salvo_vm_try_bind(vm, b)) {
		if (salvo_device_is_gone(sdev)) {
			ret = salvo_refuse(sdev, -ENODEV, "the GPU is there");
			goto err_destroy;
		}
		if (signal_pending(current)) {
			ret = -ERESTARTSYS;
			goto err_destroy;
		}
		schedule_timeout_interruptible(SALVO_VM_POLL_JIFFIES);
	}
	return b;

err_destroy:
	salvo_binding_destroy(vm, b);
	return ERR_PTR(ret);
}

/**
 * salvo_vm_unbind() - Hide VRAM again, when the batches that may use it are done.
 * @vm: The space.
 * @binding: Not to be used any more.
 */
void salvo_vm_unbind(struct salvo_vm *vm, struct salvo_binding *binding)
{
	struct salvo_device *sdev = vm->sdev;

	mutex_lock(&sdev->space_lock);
	spin_lock(&vm->lock);
	rb_erase(&binding->rb, &vm->bindings);
	binding->after = vm->last_use;
	spin_unlock(&vm->lock);
	list_add_tail(&binding->node, &vm->retiring);
	sdev->reclaiming++;
	mutex_unlock(&sdev->space_lock);
	salvo_vm_kick(sdev);
}

/**
 * salvo_vm_covers() - Is a range wholly inside one buffer that allows an access?
 * @cookie: struct salvo_vm.
 * @address: Start.
 * @size: Bytes, not zero.
 * @access: SALVO_ACCESS_* that are all needed.
 */
int salvo_vm_covers(void *cookie, u64 address, u64 size, u32 access)
{
	struct salvo_vm *vm = cookie;
	struct salvo_binding *b;
	struct rb_node *node;
	int ret = 0;

	spin_lock(&vm->lock);
	node = vm->bindings.rb_node;
	while (node) {
		b = rb_entry(node, struct salvo_binding, rb);
		if (address < b->address) {
			node = node->rb_left;
		} else if (address - b->address >= b->size) {
			node = node->rb_right;
		} else {
			ret = size <= b->size - (address - b->address) &&
			      !(access & ~b->access);
			break;
		}
	}
	spin_unlock(&vm->lock);
	return ret;
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
	struct salvo_device *sdev = vm->sdev;
	bool charged = false;
	int ret;

	ret = wait_event_interruptible(sdev->progress, salvo_device_is_gone(sdev) ||
				       (charged = salvo_vm_try_charge(vm, use, bytes)));
	if (ret || charged)
		return ret;
	return salvo_refuse(sdev, -ENODEV, "the GPU is there");
}

/** salvo_vm_end_use() - A batch touches nothing any more. */
void salvo_vm_end_use(struct salvo_vm *vm, struct salvo_vm_use *use)
{
	bool reclaim;

	spin_lock(&vm->lock);
	list_del(&use->node);
	vm->charged -= use->charged;
	spin_unlock(&vm->lock);

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

static void salvo_vm_drop_retiring(struct salvo_vm *vm)
{
	struct salvo_binding *b, *next;

	list_for_each_entry_safe(b, next, &vm->retiring, node) {
		list_del(&b->node);
		salvo_binding_destroy(vm, b);
		vm->sdev->reclaiming--;
	}
}

/* The device knows nothing of the space any more. */
static void salvo_vm_finish(struct salvo_vm *vm)
{
	struct salvo_device *sdev = vm->sdev;

	lockdep_assert_held(&sdev->space_lock);
	salvo_vm_drop_retiring(vm);
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
		vm->end_seqno = salvo_ring_push_space(vm->sdev, vm->asid, vm->end_packet,
						      vm->end_address);
	if (vm->known && (!vm->end_seqno || vm->end_seqno > retired))
		return true;
	salvo_vm_finish(vm);
	return false;
}

static bool salvo_vm_reclaim_open(struct salvo_vm *vm, u64 retired)
{
	struct salvo_binding *b, *next;
	bool again = false;
	u64 oldest = salvo_vm_oldest_use(vm);

	list_for_each_entry_safe(b, next, &vm->retiring, node) {
		if (b->after >= oldest)
			break;
		if (!b->unbind_seqno)
			salvo_binding_push_unbind(vm, b);
		if (!b->unbind_seqno || b->unbind_seqno > retired) {
			again = true;
			continue;
		}
		list_del(&b->node);
		salvo_binding_destroy(vm, b);
		vm->sdev->reclaiming--;
	}
	return again;
}

/** salvo_vm_reclaim_work() - Free what no batch and no packet in flight needs. */
void salvo_vm_reclaim_work(struct work_struct *work)
{
	struct salvo_device *sdev = container_of(work, struct salvo_device, reclaim.work);
	struct salvo_vm *vm, *next;
	bool again = false;
	u64 retired;

	mutex_lock(&sdev->space_lock);
	retired = salvo_ring_retired(sdev);
	list_for_each_entry_safe(vm, next, &sdev->spaces, node)
		again |= vm->closed ? salvo_vm_reclaim_closed(vm, retired) :
				      salvo_vm_reclaim_open(vm, retired);
	mutex_unlock(&sdev->space_lock);
	wake_up_all(&sdev->progress);
	if (again && !salvo_device_is_gone(sdev))
		queue_delayed_work(sdev->wq, &sdev->reclaim, SALVO_VM_POLL_JIFFIES);
}

/** salvo_vm_reclaim_gone() - The same without a GPU: nothing has to be told. */
void salvo_vm_reclaim_gone(struct salvo_device *sdev)
{
	struct salvo_vm *vm, *next;

	mutex_lock(&sdev->space_lock);
	list_for_each_entry_safe(vm, next, &sdev->spaces, node) {
		salvo_vm_drop_retiring(vm);
		if (vm->closed && salvo_vm_is_idle(vm))
			salvo_vm_finish(vm);
	}
	mutex_unlock(&sdev->space_lock);
	wake_up_all(&sdev->progress);
}

/* --- reset and unbinding of the driver --------------------------------------- */

static int salvo_vm_restore_binding(struct salvo_vm *vm, struct salvo_binding *b)
{
	unsigned int waited;

	for (waited = 0; !salvo_binding_push_bind(vm, b); waited++) {
		if (waited == SALVO_VM_RESTORE_MS)
			return salvo_refuse(vm->sdev, -ETIMEDOUT, "the ring moves");
		usleep_range(1000, 1500);
		salvo_ring_retired(vm->sdev);
	}
	return 0;
}

static int salvo_vm_restore_space(struct salvo_vm *vm)
{
	struct salvo_binding *b, *next;
	struct rb_node *node;
	int ret = 0;

	if (vm->end_seqno)
		return 0;
	for (node = rb_first(&vm->bindings); node && !ret; node = rb_next(node))
		ret = salvo_vm_restore_binding(vm, rb_entry(node, struct salvo_binding, rb));
	list_for_each_entry_safe(b, next, &vm->retiring, node) {
		if (b->unbind_seqno) {
			/* The reset has unbound it. */
			list_del(&b->node);
			salvo_binding_destroy(vm, b);
			vm->sdev->reclaiming--;
		} else if (!ret) {
			/* Batches that still wait to be started may need it. */
			ret = salvo_vm_restore_binding(vm, b);
		}
	}
	return ret;
}

/**
 * salvo_vm_restore() - Tell the device of all spaces again, after a reset.
 * @sdev: The device.
 *
 * Return: 0, or -ETIMEDOUT.
 */
int salvo_vm_restore(struct salvo_device *sdev)
{
	struct salvo_vm *vm, *next;
	int ret = 0;

	lockdep_assert_held(&sdev->space_lock);
	list_for_each_entry_safe(vm, next, &sdev->spaces, node) {
		if (vm->end_seqno)
			salvo_vm_finish(vm);
		else if (!ret)
			ret = salvo_vm_restore_space(vm);
	}
	return ret;
}

/**
 * salvo_vm_detach_all() - Free the DMA memory of all spaces whose files are still open.
 * @sdev: The device.
 *
 * The driver is being unbound; there are no batches left.
 */
void salvo_vm_detach_all(struct salvo_device *sdev)
{
	struct salvo_vm *vm;
	struct rb_node *node;

	mutex_lock(&sdev->space_lock);
	list_for_each_entry(vm, &sdev->spaces, node) {
		for (node = rb_first(&vm->bindings); node; node = rb_next(node))
			salvo_binding_free_packets(sdev, rb_entry(node, struct salvo_binding, rb));
		salvo_vm_free_end_packet(vm);
	}
	mutex_unlock(&sdev->space_lock);
}
