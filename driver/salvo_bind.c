// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_bind.c - buffers in an address space
 *
 * A GPU address is the same in every space, so a space is only the set of buffers
 * that it shows: vm->bindings. Address space packets go straight to ring 0, not
 * through a scheduler: the GPU reads them before all that is pushed later, on whichever
 * ring, and a batch that uses a new buffer is pushed only after the handle was made.
 *
 * A binding leaves in steps. When the handle is closed it leaves vm->bindings, so
 * that no later batch may use it, and goes to vm->retiring with the number of the
 * last batch that may. When that batch and all before it are freed, UNBIND goes to
 * the ring; when the ring's fence has passed it, the buffer is let go. All packets
 * were allocated and written when the binding was made, so freeing cannot fail. The
 * same file may open a shared buffer again meanwhile: then the binding comes back,
 * or, if UNBIND is on the ring already, a new one follows it there.
 *
 * A buffer in VRAM takes one BIND. One in system memory takes a BIND_SYSTEM for each
 * run of its pages, in as few packets as hold them, which go to the ring together.
 *
 * Locks: sdev->space_lock > vm->lock > ring->lock. The set of bindings changes under
 * the first two, and batches are checked under vm->lock alone. Nothing allocates under
 * space_lock, since a reset takes it.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/overflow.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "salvo_bind.h"
#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"
#include "salvo_pack.h"
#include "salvo_ring.h"
#include "salvo_vm.h"

/* How long a restart after a reset waits for slots of the ring. */
#define SALVO_BIND_RESTORE_MS	2000
/* Jiffies between looks for a slot of the ring. */
#define SALVO_BIND_POLL_JIFFIES	max(1, HZ / 100)

/* A binding's memory: what all its packets write, UNBIND, what shows it. */
#define SALVO_BIND_UNBIND	ALIGN(sizeof(struct salvo_packet_result), 64)
#define SALVO_BIND_SHOW		(SALVO_BIND_UNBIND + SALVO_PACK_SPACE_BYTES)

/**
 * struct salvo_vma - A buffer that a space shows.
 */
struct salvo_vma {
	/** @rb: In vm->bindings. */
	struct rb_node rb;
	/** @node: In vm->retiring. */
	struct list_head node;
	/** @shared: In vm->shared, or empty. */
	struct list_head shared;
	/** @bo: The buffer; a reference. */
	struct salvo_gem_object *bo;
	/** @access: SALVO_ACCESS_*. */
	u32 access;
	/** @handles: Of the file. */
	u32 handles;
	/** @after: Last batch that may use it, once it is retiring. */
	u64 after;
	/** @unbind_seqno: Of UNBIND, or 0. */
	u64 unbind_seqno;
	/** @memory: The packets and their result, coherent. */
	void *memory;
	/** @dma: System address of @memory. */
	dma_addr_t dma;
	/** @memory_bytes: Its size. */
	size_t memory_bytes;
	/** @unbind: The packet that hides it. */
	struct salvo_space_packet unbind;
	/** @count: Elements of @show. */
	u32 count;
	/** @show: The packets that show it. */
	struct salvo_space_packet show[];
};

/* --- packets ----------------------------------------------------------------- */

static u64 salvo_vma_bytes(const struct salvo_vma *b)
{
	return b->bo->base.size;
}

/*
 * The runs of an imported buffer's pages, neighbours merged. With @runs NULL they are
 * only counted.
 */
static u32 salvo_vma_find_runs(const struct salvo_gem_object *bo, struct salvo_pack_run *runs)
{
	u64 next = 0, left = bo->base.size, bytes;
	struct scatterlist *sg;
	u32 count = 0;
	int i;

	for_each_sgtable_dma_sg(bo->sgt, sg, i) {
		bytes = min_t(u64, sg_dma_len(sg), left);
		if (!bytes)
			break;
		if (!count || sg_dma_address(sg) != next) {
			if (runs)
				runs[count] = (struct salvo_pack_run){ sg_dma_address(sg), 0 };
			count++;
		}
		if (runs)
			runs[count - 1].size += bytes;
		next = sg_dma_address(sg) + bytes;
		left -= bytes;
	}
	return count;
}

static struct salvo_space_packet salvo_vma_packet(const struct salvo_vma *b, size_t at,
						  u32 bytes)
{
	return (struct salvo_space_packet){
		.packet = b->memory + at, .address = b->dma + at, .bytes = bytes,
	};
}

static void salvo_vma_write_system(struct salvo_vma *b, const struct salvo_pack_run *runs,
				   u32 run_count)
{
	u64 address = b->bo->address;
	size_t at = SALVO_BIND_SHOW;
	u32 i, n;

	for (i = 0; i < b->count; i++) {
		n = min(run_count, SALVO_MAX_COMMANDS);
		b->show[i] = salvo_vma_packet(b, at, salvo_pack_system_bytes(n));
		address = salvo_pack_system(address, runs, n, b->access, b->dma,
					    b->show[i].packet);
		at += b->show[i].bytes;
		runs += n;
		run_count -= n;
	}
}

static int salvo_vma_write_packets(struct salvo_dev *sdev, struct salvo_vma *b,
				   const struct salvo_pack_run *runs, u32 run_count)
{
	u32 full = run_count / SALVO_MAX_COMMANDS, rest = run_count % SALVO_MAX_COMMANDS;

	b->memory_bytes = SALVO_BIND_SHOW;
	if (!runs)
		b->memory_bytes += SALVO_PACK_SPACE_BYTES;
	else
		b->memory_bytes += (size_t)full * salvo_pack_system_bytes(SALVO_MAX_COMMANDS) +
				   salvo_pack_system_bytes(rest);
	b->memory = dma_alloc_coherent(sdev->drm.dev, b->memory_bytes, &b->dma,
				       GFP_KERNEL | __GFP_NOWARN);
	if (!b->memory)
		return -ENOMEM;
	b->unbind = salvo_vma_packet(b, SALVO_BIND_UNBIND, SALVO_PACK_SPACE_BYTES);
	salvo_pack_space(SALVO_OP_UNBIND, b->bo->address, salvo_vma_bytes(b), 0, b->dma,
			 b->unbind.packet);
	if (runs) {
		salvo_vma_write_system(b, runs, run_count);
	} else {
		b->show[0] = salvo_vma_packet(b, SALVO_BIND_SHOW, SALVO_PACK_SPACE_BYTES);
		salvo_pack_space(SALVO_OP_BIND, b->bo->address, salvo_vma_bytes(b), b->access,
				 b->dma, b->show[0].packet);
	}
	return 0;
}

static void salvo_vma_free_packets(struct salvo_dev *sdev, struct salvo_vma *b)
{
	if (!b->memory)
		return;
	dma_free_coherent(sdev->drm.dev, b->memory_bytes, b->memory, b->dma);
	b->memory = NULL;
}

static bool salvo_vma_push_bind(struct salvo_vm *vm, struct salvo_vma *b)
{
	return salvo_ring_push_space(vm->sdev, vm->asid, b->show, b->count);
}

static bool salvo_vma_push_unbind(struct salvo_vm *vm, struct salvo_vma *b)
{
	b->unbind_seqno = salvo_ring_push_space(vm->sdev, vm->asid, &b->unbind, 1);
	return b->unbind_seqno;
}

/* --- life of a binding ------------------------------------------------------- */

static void salvo_vma_destroy(struct salvo_dev *sdev, struct salvo_vma *b)
{
	salvo_vma_free_packets(sdev, b);
	drm_gem_object_put(&b->bo->base);
	kfree(b);
}

static struct salvo_vma *salvo_vma_create(struct salvo_dev *sdev,
					  struct salvo_gem_object *bo)
{
	struct salvo_pack_run *runs = NULL;
	struct salvo_vma *b;
	u32 count = 0;
	int ret;

	if (bo->flags & DRM_SALVO_BO_IMPORTED) {
		count = salvo_vma_find_runs(bo, NULL);
		runs = kvmalloc_array(count, sizeof(*runs), GFP_KERNEL);
		if (!runs)
			return ERR_PTR(-ENOMEM);
		salvo_vma_find_runs(bo, runs);
	}
	b = kzalloc(struct_size(b, show, DIV_ROUND_UP(count, SALVO_MAX_COMMANDS) ?: 1),
		    GFP_KERNEL_ACCOUNT);
	if (!b) {
		kvfree(runs);
		return ERR_PTR(-ENOMEM);
	}
	b->count = DIV_ROUND_UP(count, SALVO_MAX_COMMANDS) ?: 1;
	drm_gem_object_get(&bo->base);
	b->bo = bo;
	b->access = salvo_gem_access(bo);
	b->handles = 1;
	INIT_LIST_HEAD(&b->shared);
	ret = salvo_vma_write_packets(sdev, b, runs, count);
	kvfree(runs);
	if (ret) {
		salvo_vma_destroy(sdev, b);
		return ERR_PTR(ret);
	}
	return b;
}

static bool salvo_vma_is_vram(const struct salvo_vma *b)
{
	return !(b->bo->flags & DRM_SALVO_BO_IMPORTED);
}

/* It is in vm->retiring. */
static void salvo_vma_retired(struct salvo_vm *vm, struct salvo_vma *b)
{
	lockdep_assert_held(&vm->sdev->space_lock);
	list_del(&b->node);
	if (salvo_vma_is_vram(b))
		atomic64_sub(salvo_vma_bytes(b), &vm->bytes);
	salvo_vma_destroy(vm->sdev, b);
	/* Last: who sees that nothing is under way any more finds its memory free. */
	vm->sdev->reclaiming--;
}

static struct salvo_vma *salvo_vm_find_locked(struct salvo_vm *vm, u64 address)
{
	struct rb_node *node = vm->bindings.rb_node;
	struct salvo_vma *b;

	while (node) {
		b = rb_entry(node, struct salvo_vma, rb);
		if (address < b->bo->address)
			node = node->rb_left;
		else if (address - b->bo->address >= salvo_vma_bytes(b))
			node = node->rb_right;
		else
			return b;
	}
	return NULL;
}

static void salvo_vm_insert(struct salvo_vm *vm, struct salvo_vma *b)
{
	struct rb_node **link = &vm->bindings.rb_node, *parent = NULL;

	lockdep_assert_held(&vm->sdev->space_lock);
	spin_lock(&vm->lock);
	while (*link) {
		parent = *link;
		if (b->bo->address < rb_entry(parent, struct salvo_vma, rb)->bo->address)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&b->rb, parent, link);
	rb_insert_color(&b->rb, &vm->bindings);
	if (b->bo->shared)
		list_add_tail(&b->shared, &vm->shared);
	spin_unlock(&vm->lock);
}

/* --- bind and unbind --------------------------------------------------------- */

/* The file has the buffer already, or it has just closed it. */
static bool salvo_bind_again(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_vma *b;

	b = salvo_vm_find_locked(vm, bo->address);
	if (b) {
		b->handles++;
		return true;
	}
	list_for_each_entry(b, &vm->retiring, node) {
		if (b->bo != bo || b->unbind_seqno)
			continue;
		list_del(&b->node);
		vm->sdev->reclaiming--;
		b->handles = 1;
		salvo_vm_insert(vm, b);
		return true;
	}
	return false;
}

/* Return: 1 if @b is now in use, 0 if it is not needed, -EAGAIN if the ring is full. */
static int salvo_bind_try(struct salvo_vm *vm, struct salvo_vma *b)
{
	int ret = -EAGAIN;

	mutex_lock(&vm->sdev->space_lock);
	/* Gives slots back that were passed without an interrupt. */
	salvo_ring_space_retired(vm->sdev);
	if (salvo_bind_again(vm, b->bo)) {
		ret = 0;
	} else if (salvo_vma_push_bind(vm, b)) {
		vm->known = true;
		if (salvo_vma_is_vram(b))
			atomic64_add(salvo_vma_bytes(b), &vm->bytes);
		salvo_vm_insert(vm, b);
		ret = 1;
	}
	mutex_unlock(&vm->sdev->space_lock);
	return ret;
}

/**
 * salvo_bind() - Show a buffer to a space, for one more handle.
 * @vm: The space.
 * @bo: The buffer.
 *
 * Waits for slots of the ring.
 *
 * Return: 0, -ENOMEM, -ENODEV, -ERESTARTSYS.
 */
int salvo_bind(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_dev *sdev = vm->sdev;
	struct salvo_vma *b = salvo_vma_create(sdev, bo);
	int ret;

	if (IS_ERR(b))
		return PTR_ERR(b);
	while ((ret = salvo_bind_try(vm, b)) == -EAGAIN) {
		if (salvo_device_is_gone(sdev))
			ret = salvo_refuse(sdev, -ENODEV, "the GPU is there");
		else if (signal_pending(current))
			ret = -ERESTARTSYS;
		if (ret != -EAGAIN)
			break;
		schedule_timeout_interruptible(SALVO_BIND_POLL_JIFFIES);
	}
	if (ret > 0)
		return 0;
	salvo_vma_destroy(sdev, b);
	return ret;
}

/* Returns whether there is something to reclaim. */
static bool salvo_bind_retire(struct salvo_vm *vm, struct salvo_vma *b)
{
	lockdep_assert_held(&vm->sdev->space_lock);
	if (!b || --b->handles)
		return false;
	spin_lock(&vm->lock);
	rb_erase(&b->rb, &vm->bindings);
	list_del_init(&b->shared);
	b->after = vm->last_use;
	spin_unlock(&vm->lock);
	list_add_tail(&b->node, &vm->retiring);
	vm->sdev->reclaiming++;
	return true;
}

/**
 * salvo_unbind() - A handle was closed: hide the buffer when the batches that may use it are done.
 * @vm: The space.
 * @bo: The buffer.
 */
void salvo_unbind(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_dev *sdev = vm->sdev;
	bool retired;

	mutex_lock(&sdev->space_lock);
	retired = salvo_bind_retire(vm, salvo_vm_find_locked(vm, bo->address));
	mutex_unlock(&sdev->space_lock);
	if (retired)
		salvo_vm_kick(sdev);
}

/**
 * salvo_bind_covers() - Is a range wholly inside one buffer that allows an access?
 * @cookie: struct salvo_vm.
 * @address: Start.
 * @size: Bytes, not zero.
 * @access: SALVO_ACCESS_* that are all needed.
 */
int salvo_bind_covers(void *cookie, u64 address, u64 size, u32 access)
{
	struct salvo_vm *vm = cookie;
	struct salvo_vma *b;
	int ret;

	spin_lock(&vm->lock);
	b = salvo_vm_find_locked(vm, address);
	ret = b && size <= salvo_vma_bytes(b) - (address - b->bo->address) &&
	      !(access & ~b->access);
	spin_unlock(&vm->lock);
	return ret;
}

/* --- shared buffers ---------------------------------------------------------- */

/**
 * salvo_bind_get_shared() - References to the buffers of a file that others have too.
 * @vm: The file's space.
 * @bos: Where to put them.
 * @limit: Elements of @bos.
 *
 * Return: their number; if it is more than @limit, no references were taken.
 */
unsigned int salvo_bind_get_shared(struct salvo_vm *vm, struct salvo_gem_object **bos,
				   unsigned int limit)
{
	struct salvo_vma *b;
	unsigned int count = 0;

	spin_lock(&vm->lock);
	list_for_each_entry(b, &vm->shared, shared)
		count++;
	if (count <= limit) {
		count = 0;
		list_for_each_entry(b, &vm->shared, shared) {
			drm_gem_object_get(&b->bo->base);
			bos[count++] = b->bo;
		}
	}
	spin_unlock(&vm->lock);
	return count;
}

/**
 * salvo_bind_share() - A buffer is now shared.
 * @vm: A space.
 * @bo: The buffer.
 *
 * Return: whether the space shows it.
 */
bool salvo_bind_share(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct salvo_vma *b;

	lockdep_assert_held(&vm->sdev->space_lock);
	b = salvo_vm_find_locked(vm, bo->address);
	if (!b)
		return false;
	spin_lock(&vm->lock);
	if (list_empty(&b->shared))
		list_add_tail(&b->shared, &vm->shared);
	spin_unlock(&vm->lock);
	return true;
}

/* --- freeing ----------------------------------------------------------------- */

/** salvo_bind_drop_retiring() - The GPU knows of none of them any more. */
void salvo_bind_drop_retiring(struct salvo_vm *vm)
{
	struct salvo_vma *b, *next;

	list_for_each_entry_safe(b, next, &vm->retiring, node)
		salvo_vma_retired(vm, b);
}

/**
 * salvo_bind_reclaim() - Let go what no batch and no packet in flight needs.
 * @vm: The space.
 * @oldest_use: Number of its oldest batch.
 * @retired: Ring fence.
 *
 * Return: whether something waits for the ring and must be looked at again.
 */
bool salvo_bind_reclaim(struct salvo_vm *vm, u64 oldest_use, u64 retired)
{
	struct salvo_vma *b, *next;
	bool again = false;

	list_for_each_entry_safe(b, next, &vm->retiring, node) {
		if (b->after >= oldest_use)
			break;
		if (!b->unbind_seqno)
			salvo_vma_push_unbind(vm, b);
		if (b->unbind_seqno && b->unbind_seqno <= retired)
			salvo_vma_retired(vm, b);
		else
			again = true;
	}
	return again;
}

/* --- reset and unbinding of the driver --------------------------------------- */

static int salvo_vma_restore(struct salvo_vm *vm, struct salvo_vma *b)
{
	unsigned int waited;

	for (waited = 0; !salvo_vma_push_bind(vm, b); waited++) {
		if (waited == SALVO_BIND_RESTORE_MS)
			return salvo_refuse(vm->sdev, -ETIMEDOUT, "the ring moves");
		usleep_range(1000, 1500);
		salvo_ring_space_retired(vm->sdev);
	}
	return 0;
}

/**
 * salvo_bind_restore() - Tell the GPU of a space again, after a reset.
 * @vm: The space.
 *
 * Return: 0, or -ETIMEDOUT.
 */
int salvo_bind_restore(struct salvo_vm *vm)
{
	struct salvo_vma *b, *next;
	struct rb_node *node;
	int ret = 0;

	for (node = rb_first(&vm->bindings); node && !ret; node = rb_next(node))
		ret = salvo_vma_restore(vm, rb_entry(node, struct salvo_vma, rb));
	list_for_each_entry_safe(b, next, &vm->retiring, node) {
		/* The reset has unbound it; else batches that still wait may need it. */
		if (b->unbind_seqno)
			salvo_vma_retired(vm, b);
		else if (!ret)
			ret = salvo_vma_restore(vm, b);
	}
	return ret;
}

/** salvo_bind_free_packets() - Free the DMA memory of bindings that stay. */
void salvo_bind_free_packets(struct salvo_vm *vm)
{
	struct rb_node *node;

	for (node = rb_first(&vm->bindings); node; node = rb_next(node))
		salvo_vma_free_packets(vm->sdev, rb_entry(node, struct salvo_vma, rb));
}
