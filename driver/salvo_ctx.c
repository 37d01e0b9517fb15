// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_ctx.c - contexts
 *
 * A context is a scheduler entity of one ring, with a mask of execution units and a ban
 * flag. file->ctxs maps ids to contexts. Each job holds a reference, so CTX_DESTROY and
 * closing the file only remove the id: batches in flight complete, and the last one frees
 * the entity, whose queue is empty by then.
 *
 * Locks: ctx->lock serializes submissions, ctx->fault_lock protects the first fault.
 */
#include <linux/capability.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_sched.h"
#include "salvo_slot.h"
#include "salvo_vm.h"

static void salvo_ctx_release(struct kref *ref)
{
	struct salvo_ctx *ctx = container_of(ref, struct salvo_ctx, ref);

	drm_sched_entity_fini(&ctx->entity);
	salvo_sched_forget_ctx(ctx);
	dma_fence_put(ctx->newest);
	ida_free(&ctx->vm->sdev->hw_ctxs, ctx->hw_id);
	mutex_destroy(&ctx->lock);
	salvo_vm_put(ctx->vm);
	kfree(ctx);
}

/**
 * salvo_ctx_put() - Drop a reference.
 * @ctx: The context, or NULL.
 */
void salvo_ctx_put(struct salvo_ctx *ctx)
{
	if (ctx)
		kref_put(&ctx->ref, salvo_ctx_release);
}

/**
 * salvo_ctx_find() - Look up a context of a file and get a reference.
 * @file: The file.
 * @id: Id of the context.
 *
 * Return: the context, or NULL.
 */
struct salvo_ctx *salvo_ctx_find(struct salvo_file *file, u32 id)
{
	struct salvo_ctx *ctx;

	xa_lock(&file->ctxs);
	ctx = xa_load(&file->ctxs, id);
	if (ctx)
		salvo_ctx_get(ctx);
	xa_unlock(&file->ctxs);
	return ctx;
}

/**
 * salvo_ctx_ban() - Refuse further batches of a context, one of which hung or faulted.
 * @ctx: The context.
 * @fault: The fault. CTX_QUERY reports the first one, since later ones may be
 *         consequences of it.
 */
void salvo_ctx_ban(struct salvo_ctx *ctx, const struct drm_salvo_fault *fault)
{
	spin_lock(&ctx->fault_lock);
	if (!ctx->guilty++)
		ctx->fault = *fault;
	if (!ctx->banned || fault->batch < ctx->banned_from)
		WRITE_ONCE(ctx->banned_from, fault->batch);
	spin_unlock(&ctx->fault_lock);
	/* Pairs with salvo_ctx_bans(). */
	smp_store_release(&ctx->banned, true);
	/* Its slots are detached there, also one that is being attached, under space_lock. */
	salvo_vm_queue_reclaim(ctx->vm->sdev);
}

/**
 * salvo_ctx_count_innocent() - Count a reset that ends a batch of a context that did not hang.
 * @ctx: The context.
 * @reset: Number of the reset; each is counted once.
 */
void salvo_ctx_count_innocent(struct salvo_ctx *ctx, u64 reset)
{
	if (ctx->last_reset == reset || salvo_ctx_is_banned(ctx))
		return;
	ctx->last_reset = reset;
	atomic64_inc(&ctx->innocent);
}

/** salvo_ctx_put_all() - Destroy all contexts of a file that is being closed. */
void salvo_ctx_put_all(struct salvo_file *file)
{
	struct salvo_ctx *ctx;
	unsigned long id;

	xa_for_each(&file->ctxs, id, ctx) {
		salvo_ctx_put(ctx);
		/* There may be SALVO_MAX_CONTEXTS of them. */
		cond_resched();
	}
	xa_destroy(&file->ctxs);
}

static enum drm_sched_priority salvo_ctx_sched_priority(u32 priority)
{
	switch (priority) {
	case DRM_SALVO_PRIORITY_LOW:
		return DRM_SCHED_PRIORITY_LOW;
	case DRM_SALVO_PRIORITY_HIGH:
		return DRM_SCHED_PRIORITY_HIGH;
	default:
		return DRM_SCHED_PRIORITY_NORMAL;
	}
}

static s32 salvo_ctx_hw_priority(u32 priority)
{
	switch (priority) {
	case DRM_SALVO_PRIORITY_LOW:
		return SALVO_PRIORITY_LOW;
	case DRM_SALVO_PRIORITY_HIGH:
		return SALVO_PRIORITY_HIGH;
	default:
		return SALVO_PRIORITY_NORMAL;
	}
}

/* High priority has the last ring, see salvo_ring.c. */
static struct salvo_ring *salvo_ctx_ring(struct salvo_dev *sdev, u32 priority)
{
	return &sdev->rings[priority == DRM_SALVO_PRIORITY_HIGH ? sdev->mmio.rings - 1 : 0];
}

static struct salvo_ctx *salvo_ctx_create(struct salvo_vm *vm,
					  const struct drm_salvo_ctx_create *args)
{
	struct salvo_dev *sdev = vm->sdev;
	struct salvo_ring *ring = salvo_ctx_ring(sdev, args->priority);
	struct drm_gpu_scheduler *sched = &ring->sched->base;
	struct salvo_ctx *ctx;
	int ret;

	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	/* Zero is reserved for address space packets. */
	ret = ida_alloc_min(&sdev->hw_ctxs, 1, GFP_KERNEL);
	if (ret < 0)
		goto err_free;
	ctx->hw_id = ret;
	ret = drm_sched_entity_init(&ctx->entity, salvo_ctx_sched_priority(args->priority), &sched,
				    1, NULL);
	if (ret)
		goto err_free_id;
	kref_init(&ctx->ref);
	mutex_init(&ctx->lock);
	spin_lock_init(&ctx->fault_lock);
	INIT_LIST_HEAD(&ctx->waiting);
	ctx->vm = salvo_vm_get(vm);
	ctx->ring = ring;
	ctx->fence_context = dma_fence_context_alloc(1);
	ctx->eu_mask = args->eu_mask;
	ctx->hw_priority = salvo_ctx_hw_priority(args->priority);
	return ctx;

err_free_id:
	ida_free(&sdev->hw_ctxs, ctx->hw_id);
err_free:
	kfree(ctx);
	return ERR_PTR(ret);
}

int salvo_ctx_create_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct salvo_file *file = filp->driver_priv;
	struct drm_salvo_ctx_create *args = data;
	u64 units = GENMASK_ULL(sdev->mmio.units - 1, 0);
	struct salvo_ctx *ctx;
	int ret;

	ret = salvo_refuse_if(sdev, args->flags, -EINVAL, "flags %#x are unknown",
			      args->flags) ?:
	      salvo_refuse_if(sdev, args->pad, -EINVAL, "pad is not zero") ?:
	      salvo_refuse_if(sdev, args->eu_mask & ~units, -EINVAL,
			      "eu_mask %#llx is not within %#llx", args->eu_mask, units) ?:
	      salvo_refuse_if(sdev, args->priority > DRM_SALVO_PRIORITY_HIGH, -EINVAL,
			      "priority %u is unknown", args->priority) ?:
	      salvo_refuse_if(sdev, args->priority == DRM_SALVO_PRIORITY_HIGH &&
			      !capable(CAP_SYS_NICE), -EACCES,
			      "high priority without CAP_SYS_NICE") ?:
	      salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone");
	if (ret)
		return ret;

	ctx = salvo_ctx_create(file->vm, args);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	ret = xa_alloc(&file->ctxs, &args->id, ctx, XA_LIMIT(1, SALVO_MAX_CONTEXTS), GFP_KERNEL);
	if (ret) {
		salvo_ctx_put(ctx);
		return salvo_refuse(sdev, ret == -EBUSY ? -E2BIG : ret,
				    "no id is free of %u", SALVO_MAX_CONTEXTS);
	}
	return 0;
}

int salvo_ctx_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct salvo_file *file = filp->driver_priv;
	struct drm_salvo_ctx_destroy *args = data;
	struct salvo_ctx *ctx;
	int ret;

	ret = salvo_refuse_if(sdev, args->pad, -EINVAL, "pad is not zero");
	if (ret)
		return ret;
	ctx = xa_erase(&file->ctxs, args->id);
	if (!ctx)
		return salvo_refuse(sdev, -ENOENT, "context %u does not exist", args->id);
	salvo_slot_detach_ctx(ctx);
	salvo_ctx_put(ctx);
	return 0;
}

int salvo_ctx_query_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_dev *sdev = to_salvo(drm);
	struct salvo_file *file = filp->driver_priv;
	struct drm_salvo_ctx_query *args = data;
	struct salvo_ctx *ctx = salvo_ctx_find(file, args->id);
	int ret;

	ret = salvo_refuse_if(sdev, !ctx, -ENOENT, "context %u does not exist", args->id);
	if (ret)
		return ret;
	args->state = salvo_ctx_is_banned(ctx) ? DRM_SALVO_CTX_BANNED : 0;
	args->submitted = atomic64_read(&ctx->submitted);
	args->completed = atomic64_read(&ctx->completed);
	args->failed = atomic64_read(&ctx->failed);
	args->innocent = atomic64_read(&ctx->innocent);
	spin_lock(&ctx->fault_lock);
	args->guilty = ctx->guilty;
	args->fault = ctx->fault;
	spin_unlock(&ctx->fault_lock);
	salvo_ctx_put(ctx);
	return 0;
}
