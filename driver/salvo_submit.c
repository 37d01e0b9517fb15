// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_submit.c - SUBMIT: copy, validate, pack, dependencies, arm, push
 *
 * Everything of the user's is copied once, then checked, then packed into one
 * DMA packet (B1 of CN105940388) that the user never sees; so what is checked is
 * what runs. All that can fail or allocate comes before drm_sched_job_arm(). A
 * batch is armed and pushed under its context's lock, which makes the order of
 * fences the order of batches.
 */
#include <linux/dma-fence-chain.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_syncobj.h>

#include "salvo_bind.h"
#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_implicit.h"
#include "salvo_pack.h"
#include "salvo_sched.h"
#include "salvo_trace.h"
#include "salvo_vm.h"

/* Nothing that we will ever know is longer. */
#define SALVO_MAX_STRIDE	4096u

/**
 * struct salvo_signal - A syncobj that gets the batch's fence.
 */
struct salvo_signal {
	/** @syncobj: A reference. */
	struct drm_syncobj *syncobj;
	/** @chain: Preallocated node of a timeline, or NULL. */
	struct dma_fence_chain *chain;
	/** @point: Of the timeline. */
	u64 point;
};

/**
 * struct salvo_submit_state - What the ioctl holds while it runs.
 */
struct salvo_submit_state {
	/** @sdev: The device. */
	struct salvo_dev *sdev;
	/** @filp: The file. */
	struct drm_file *filp;
	/** @ctx: The context; a reference. */
	struct salvo_ctx *ctx;
	/** @job: The batch, until it is pushed. */
	struct salvo_job *job;
	/** @batch: As checked and packed; owns its arrays. */
	struct salvo_batch_desc batch;
	/** @implicit: Buffers that others have too, locked from preparation to the end. */
	struct salvo_implicit implicit;
	/** @signals: @signal_count of them. */
	struct salvo_signal *signals;
	/** @signal_count: Elements of @signals that are filled. */
	u32 signal_count;
};

/*
 * Copy an array of structures that the user may know in another size: what we do
 * not know must be zero, what the user does not know is zero.
 */
static void *salvo_copy_array(struct salvo_dev *sdev, const struct drm_salvo_array *array,
			      size_t known, u32 limit)
{
	const void __user *from = u64_to_user_ptr(array->pointer);
	void *to;
	u32 i;
	int ret;

	if (!array->count) {
		ret = salvo_check(sdev, !array->pointer, -EINVAL);
		return ERR_PTR(ret);
	}
	ret = salvo_check(sdev, array->count <= limit, -E2BIG) ?:
	      salvo_check(sdev, array->stride >= sizeof(u64), -EINVAL) ?:
	      salvo_check(sdev, array->stride <= SALVO_MAX_STRIDE, -EINVAL) ?:
	      salvo_check(sdev, IS_ALIGNED(array->stride, sizeof(u64)), -EINVAL);
	if (ret)
		return ERR_PTR(ret);

	to = kvmalloc_array(array->count, known, GFP_KERNEL);
	if (!to)
		return ERR_PTR(-ENOMEM);
	if (array->stride == known) {
		ret = copy_from_user(to, from, known * array->count) ? -EFAULT : 0;
	} else {
		for (i = 0, ret = 0; i < array->count && !ret; i++)
			ret = copy_struct_from_user(to + i * known, known,
						    from + (size_t)i * array->stride,
						    array->stride);
	}
	if (ret) {
		ret = ret == -E2BIG ?
		      salvo_refuse(sdev, -EINVAL, "unknown fields of element %u are 0", i - 1) :
		      salvo_refuse(sdev, ret, "%u elements at %#llx are readable", array->count,
				   array->pointer);
		kvfree(to);
		return ERR_PTR(ret);
	}
	return to;
}

static int salvo_submit_copy(struct salvo_submit_state *s, const struct drm_salvo_submit *args)
{
	void *copy;
	int ret;

	ret = salvo_check(s->sdev, args->commands.count, -EINVAL) ?:
	      salvo_check(s->sdev, args->args_size || !args->args, -EINVAL) ?:
	      salvo_check(s->sdev, args->args_size <= SALVO_MAX_ARGUMENT_BYTES, -E2BIG);
	if (ret)
		return ret;

	copy = salvo_copy_array(s->sdev, &args->commands, sizeof(struct drm_salvo_command),
				SALVO_MAX_COMMANDS);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	s->batch.commands = copy;
	s->batch.count = args->commands.count;
	s->batch.profile = args->profile;
	if (!args->args_size)
		return 0;

	copy = vmemdup_user(u64_to_user_ptr(args->args), args->args_size);
	if (IS_ERR(copy))
		return salvo_refuse(s->sdev, PTR_ERR(copy), "%u bytes at %#llx are readable",
				    args->args_size, args->args);
	s->batch.args = copy;
	s->batch.args_size = args->args_size;
	return 0;
}

/* Units of a dispatch must lie within its context's, which the batch does not know. */
static int salvo_submit_check_units(struct salvo_submit_state *s)
{
	u64 allowed = s->ctx->eu_mask;
	u32 i;

	for (i = 0; allowed && i < s->batch.count; i++)
		if (s->batch.commands[i].eu_mask & ~allowed)
			return salvo_refuse(s->sdev, -EINVAL,
					    "command %u: eu_mask is within %#llx, not %#llx", i,
					    allowed, s->batch.commands[i].eu_mask);
	return 0;
}

static int salvo_submit_validate(struct salvo_submit_state *s)
{
	const struct salvo_space_view space = {
		.covers = salvo_bind_covers,
		.cookie = s->ctx->vm,
		.units = s->sdev->mmio.units,
		.eu_mask = s->ctx->eu_mask,
	};
	struct salvo_reject why = {};
	int ret;

	ret = salvo_validate_batch(&s->batch, &space, &why);
	if (ret)
		return salvo_refuse(s->sdev, ret, "command %d: %s is %s, not %llu", why.command,
				    why.field, why.expected, why.value);
	/* The GPU writes it through VRAM, and it is no part of what others share. */
	return salvo_check(s->sdev, !s->batch.profile ||
			   s->batch.profile - s->sdev->mmio.va_base < s->sdev->mmio.vram_bytes,
			   -EINVAL) ?:
	       salvo_submit_check_units(s);
}

static int salvo_submit_pack(struct salvo_submit_state *s)
{
	struct salvo_job *job = s->job;
	struct salvo_packet_target target = {
		.asid = s->ctx->vm->asid,
		.ctx = s->ctx->hw_id,
		.eu_mask = s->ctx->eu_mask,
	};
	int ret;

	ret = salvo_job_alloc_packet(job, salvo_pack_bytes(&s->batch));
	if (ret)
		return ret;
	job->commands = s->batch.count;
	target.result = job->packet_address + job->packet_bytes;
	salvo_pack_batch(&s->batch, &target, job->packet);
	return 0;
}

static int salvo_submit_check_sync(struct salvo_submit_state *s, const struct drm_salvo_sync *sync)
{
	bool timeline = sync->flags & DRM_SALVO_SYNC_TIMELINE;

	return salvo_check(s->sdev, !(sync->flags & ~DRM_SALVO_SYNC_TIMELINE), -EINVAL) ?:
	       salvo_check(s->sdev, timeline == !!sync->point, -EINVAL);
}

static int salvo_submit_add_wait(struct salvo_submit_state *s, const struct drm_salvo_sync *sync)
{
	struct dma_fence *fence;
	int ret;

	ret = salvo_submit_check_sync(s, sync);
	if (ret)
		return ret;
	ret = drm_syncobj_find_fence(s->filp, sync->handle, sync->point, 0, &fence);
	if (ret)
		return salvo_refuse(s->sdev, ret, "syncobj %u has a fence at %llu", sync->handle,
				    sync->point);
	/* Consumes the fence, also when it fails. */
	return drm_sched_job_add_dependency(&s->job->base, fence);
}

static int salvo_submit_waits(struct salvo_submit_state *s, const struct drm_salvo_array *array)
{
	struct drm_salvo_sync *syncs;
	u32 i;
	int ret = 0;

	syncs = salvo_copy_array(s->sdev, array, sizeof(*syncs), SALVO_MAX_SYNCS);
	if (IS_ERR_OR_NULL(syncs))
		return PTR_ERR_OR_ZERO(syncs);
	for (i = 0; i < array->count && !ret; i++)
		ret = salvo_submit_add_wait(s, &syncs[i]);
	kvfree(syncs);
	return ret;
}

static int salvo_submit_add_signal(struct salvo_submit_state *s, const struct drm_salvo_sync *sync)
{
	struct salvo_signal *signal = &s->signals[s->signal_count];
	int ret;

	ret = salvo_submit_check_sync(s, sync);
	if (ret)
		return ret;
	if (sync->point) {
		signal->chain = dma_fence_chain_alloc();
		if (!signal->chain)
			return -ENOMEM;
	}
	signal->point = sync->point;
	signal->syncobj = drm_syncobj_find(s->filp, sync->handle);
	if (!signal->syncobj) {
		dma_fence_chain_free(signal->chain);
		return salvo_refuse(s->sdev, -ENOENT, "syncobj %u exists", sync->handle);
	}
	s->signal_count++;
	return 0;
}

static int salvo_submit_signals(struct salvo_submit_state *s, const struct drm_salvo_array *array)
{
	struct drm_salvo_sync *syncs;
	u32 i;
	int ret = 0;

	syncs = salvo_copy_array(s->sdev, array, sizeof(*syncs), SALVO_MAX_SYNCS);
	if (IS_ERR_OR_NULL(syncs))
		return PTR_ERR_OR_ZERO(syncs);
	s->signals = kvcalloc(array->count, sizeof(*s->signals), GFP_KERNEL);
	if (!s->signals)
		ret = -ENOMEM;
	for (i = 0; i < array->count && !ret; i++)
		ret = salvo_submit_add_signal(s, &syncs[i]);
	kvfree(syncs);
	return ret;
}

/* The point of no return: nothing here fails. */
static void salvo_submit_push(struct salvo_submit_state *s)
{
	struct salvo_job *job = s->job;
	struct dma_fence *fence;
	u32 i;

	mutex_lock(&s->ctx->lock);
	drm_sched_job_arm(&job->base);
	fence = dma_fence_get(&job->base.s_fence->finished);
	/*
	 * The scheduler would let a batch of another context start when this one
	 * has only been put on the ring, but the GPU overlaps contexts.
	 */
	set_bit(DRM_SCHED_FENCE_DONT_PIPELINE, &fence->flags);
	salvo_vm_set_fence(s->ctx->vm, &job->use, fence);
	salvo_implicit_publish(&s->implicit, fence);
	job->number = atomic64_inc_return(&s->ctx->submitted);
	salvo_job_count_begin(job);
	trace_salvo_submit(job, s->batch.count);
	s->job = NULL;
	drm_sched_entity_push_job(&job->base);

	for (i = 0; i < s->signal_count; i++) {
		struct salvo_signal *signal = &s->signals[i];

		if (signal->chain)
			drm_syncobj_add_point(signal->syncobj, signal->chain, fence,
					      signal->point);
		else
			drm_syncobj_replace_fence(signal->syncobj, fence);
		signal->chain = NULL;
	}
	mutex_unlock(&s->ctx->lock);
	dma_fence_put(fence);
}

static void salvo_submit_cleanup(struct salvo_submit_state *s)
{
	u32 i;

	salvo_implicit_unlock(&s->implicit);
	for (i = 0; i < s->signal_count; i++) {
		dma_fence_chain_free(s->signals[i].chain);
		drm_syncobj_put(s->signals[i].syncobj);
	}
	kvfree(s->signals);
	salvo_job_destroy(s->job);
	kvfree(s->batch.args);
	kvfree(s->batch.commands);
	salvo_ctx_put(s->ctx);
}

static int salvo_submit_prepare(struct salvo_submit_state *s, const struct drm_salvo_submit *args)
{
	int ret;

	ret = salvo_check(s->sdev, !args->flags, -EINVAL) ?:
	      salvo_check(s->sdev, !args->pad, -EINVAL) ?:
	      salvo_check(s->sdev, !salvo_device_is_gone(s->sdev), -ENODEV);
	if (ret)
		return ret;
	s->ctx = salvo_ctx_find(s->filp->driver_priv, args->ctx_id);
	ret = salvo_check(s->sdev, s->ctx, -ENOENT) ?:
	      salvo_check(s->sdev, !salvo_ctx_is_banned(s->ctx), -EIO);
	if (ret)
		return ret;

	s->job = salvo_job_create(s->ctx);
	if (IS_ERR(s->job)) {
		ret = PTR_ERR(s->job);
		s->job = NULL;
		return ret;
	}
	ret = salvo_submit_copy(s, args) ?:
	      salvo_submit_validate(s) ?:
	      salvo_submit_pack(s) ?:
	      drm_sched_job_init(&s->job->base, &s->ctx->entity, s->ctx->vm);
	if (ret)
		return ret;
	return salvo_submit_waits(s, &args->waits) ?:
	       salvo_submit_signals(s, &args->signals) ?:
	       salvo_implicit_lock(&s->implicit, s->job);
}

int salvo_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_submit_state s = {
		.sdev = to_salvo(drm),
		.filp = filp,
	};
	int idx, ret;

	if (!drm_dev_enter(drm, &idx))
		return salvo_refuse(s.sdev, -ENODEV, "the device is bound");
	ret = salvo_submit_prepare(&s, data);
	if (!ret)
		salvo_submit_push(&s);
	salvo_submit_cleanup(&s);
	drm_dev_exit(idx);
	return ret;
}
