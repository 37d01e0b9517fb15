// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_submit.c - SUBMIT: copy, validate, pack, dependencies, arm, push
 *
 * All user memory is copied once, outside of the DRM critical section: a page fault may take
 * for ever (userfaultfd), and an unplug waits for the section. The copy is validated, then
 * packed into one DMA packet (B1 of CN105940388) that userspace cannot access; so what was
 * validated is what runs. All steps that can fail or allocate precede drm_sched_job_arm(). A
 * job is armed and pushed under ctx->lock, so that the order of fences is the order of
 * batches.
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
#include "salvo_job.h"
#include "salvo_pack.h"
#include "salvo_trace.h"
#include "salvo_vm.h"
#include "salvo_wait.h"

/* Maximum size of an array element, also of later versions. */
#define SALVO_MAX_STRIDE	4096u

/**
 * struct salvo_signal - A syncobj that is signalled by the batch.
 */
struct salvo_signal {
	/** @syncobj: The syncobj; holds a reference. */
	struct drm_syncobj *syncobj;
	/** @chain: Preallocated node for a timeline point, or NULL. */
	struct dma_fence_chain *chain;
	/** @point: Timeline point, or 0. */
	u64 point;
};

/**
 * struct salvo_syncs - A copied array of syncobjs.
 */
struct salvo_syncs {
	/** @syncs: The array, or NULL. */
	struct drm_salvo_sync *syncs;
	/** @count: Number of elements. */
	u32 count;
};

/**
 * struct salvo_submit_state - State of one SUBMIT ioctl.
 */
struct salvo_submit_state {
	/** @sdev: The device. */
	struct salvo_dev *sdev;
	/** @filp: The file. */
	struct drm_file *filp;
	/** @ctx: The context; holds a reference. */
	struct salvo_ctx *ctx;
	/** @job: The job, until it is pushed. */
	struct salvo_job *job;
	/** @batch: The batch as validated and packed; owns its arrays. */
	struct salvo_batch_desc batch;
	/** @waits: Syncobjs to wait for. */
	struct salvo_syncs waits;
	/** @signal_syncs: Syncobjs to signal, as userspace names them. */
	struct salvo_syncs signal_syncs;
	/** @implicit: Shared buffers of the file, locked at the end of the preparation. */
	struct salvo_implicit implicit;
	/** @signals: Syncobjs to signal. */
	struct salvo_signal *signals;
	/** @signal_count: Number of valid elements of @signals. */
	u32 signal_count;
};

/*
 * Copy an array of structures that userspace may have in another version: fields that
 * the driver does not know must be zero, fields that userspace lacks become zero.
 */
static void *salvo_copy_array(struct salvo_dev *sdev, const struct drm_salvo_array *array,
			      size_t known, u32 limit)
{
	const void __user *from = u64_to_user_ptr(array->pointer);
	void *to;
	u32 i;
	int ret;

	if (!array->count) {
		return ERR_PTR(salvo_refuse_if(sdev, array->pointer, -EINVAL,
					       "array at %#llx has count 0", array->pointer));
	}
	ret = salvo_refuse_if(sdev, array->count > limit, -E2BIG,
			      "count %u exceeds %u", array->count, limit) ?:
	      salvo_refuse_if(sdev, array->stride < sizeof(u64) ||
			      array->stride > SALVO_MAX_STRIDE, -EINVAL,
			      "stride %u is outside 8..%u", array->stride, SALVO_MAX_STRIDE) ?:
	      salvo_refuse_if(sdev, !IS_ALIGNED(array->stride, sizeof(u64)), -EINVAL,
			      "stride %u is not a multiple of 8", array->stride);
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
		      salvo_refuse(sdev, -EINVAL, "element %u has unknown fields", i - 1) :
		      salvo_refuse(sdev, ret, "cannot read %u elements at %#llx", array->count,
				   array->pointer);
		kvfree(to);
		return ERR_PTR(ret);
	}
	return to;
}

static int salvo_submit_copy_syncs(struct salvo_submit_state *s,
				   const struct drm_salvo_array *array, struct salvo_syncs *to)
{
	void *copy = salvo_copy_array(s->sdev, array, sizeof(*to->syncs), SALVO_MAX_SYNCS);

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	to->syncs = copy;
	to->count = array->count;
	return 0;
}

/* Copy everything from user memory. */
static int salvo_submit_copy(struct salvo_submit_state *s, const struct drm_salvo_submit *args)
{
	bool overlaps = args->flags & DRM_SALVO_SUBMIT_OVERLAP;
	void *copy;
	int ret;

	ret = salvo_refuse_if(s->sdev, args->flags & ~DRM_SALVO_SUBMIT_OVERLAP, -EINVAL,
			      "flags %#x are unknown", args->flags) ?:
	      salvo_refuse_if(s->sdev,
			      overlaps && !(s->sdev->mmio.features & SALVO_FEATURE_OVERLAP),
			      -EOPNOTSUPP, "the GPU cannot overlap batches of a context") ?:
	      salvo_refuse_if(s->sdev, args->pad, -EINVAL, "pad is not zero") ?:
	      salvo_refuse_if(s->sdev, !args->commands.count, -EINVAL, "there are no commands") ?:
	      salvo_refuse_if(s->sdev, args->args && !args->args_size, -EINVAL,
			      "args is set but args_size is zero") ?:
	      salvo_refuse_if(s->sdev, args->args_size > SALVO_MAX_ARGUMENT_BYTES, -E2BIG,
			      "args_size %u exceeds %u", args->args_size,
			      SALVO_MAX_ARGUMENT_BYTES);
	if (ret)
		return ret;
	ret = salvo_submit_copy_syncs(s, &args->waits, &s->waits) ?:
	      salvo_submit_copy_syncs(s, &args->signals, &s->signal_syncs);
	if (ret)
		return ret;

	copy = salvo_copy_array(s->sdev, &args->commands, sizeof(struct drm_salvo_command),
				SALVO_MAX_COMMANDS);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	s->batch.commands = copy;
	s->batch.count = args->commands.count;
	s->batch.profile = args->profile;
	s->batch.flags = args->flags;
	if (!args->args_size)
		return 0;

	copy = vmemdup_user(u64_to_user_ptr(args->args), args->args_size);
	if (IS_ERR(copy))
		return salvo_refuse(s->sdev, PTR_ERR(copy), "cannot read %u bytes at %#llx",
				    args->args_size, args->args);
	s->batch.args = copy;
	s->batch.args_size = args->args_size;
	return 0;
}

/* The units of a dispatch must lie within those of the context. */
static int salvo_submit_check_units(struct salvo_submit_state *s)
{
	u64 allowed = s->ctx->eu_mask;
	u32 i;

	for (i = 0; allowed && i < s->batch.count; i++)
		if (s->batch.commands[i].eu_mask & ~allowed)
			return salvo_refuse(s->sdev, -EINVAL,
					    "command %u: eu_mask %#llx is not within %#llx", i,
					    s->batch.commands[i].eu_mask, allowed);
	return 0;
}

static bool salvo_submit_is_vram(const struct salvo_submit_state *s, u64 address)
{
	return address - s->sdev->mmio.va_base < s->sdev->mmio.vram_bytes;
}

static int salvo_submit_validate(struct salvo_submit_state *s)
{
	const struct salvo_space_view space = {
		.covers = salvo_bind_covers,
		.cookie = s->ctx->vm,
		.units = s->sdev->mmio.units,
		.eu_mask = s->ctx->eu_mask,
		.contends = s->sdev->mmio.features & SALVO_FEATURE_CONTENDS ?
			    DRM_SALVO_DISPATCH_CONTENDS : 0,
	};
	struct salvo_reject why = {};
	int ret;

	ret = salvo_validate_batch(&s->batch, &space, &why);
	if (ret)
		return salvo_refuse(s->sdev, ret, "command %d: %s is %llu, expected %s",
				    why.command, why.field, why.value, why.expected);
	/* The device writes the profile through its own VRAM mapping. */
	return salvo_refuse_if(s->sdev, s->batch.profile &&
			       !salvo_submit_is_vram(s, s->batch.profile), -EINVAL,
			       "profile %#llx is not in VRAM", s->batch.profile) ?:
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
	job->overlaps = s->batch.flags & DRM_SALVO_SUBMIT_OVERLAP;
	target.result = job->packet_address + job->packet_bytes;
	salvo_pack_batch(&s->batch, &target, job->packet);
	return 0;
}

static int salvo_submit_check_sync(struct salvo_submit_state *s, const struct drm_salvo_sync *sync)
{
	bool timeline = sync->flags & DRM_SALVO_SYNC_TIMELINE;

	return salvo_refuse_if(s->sdev, sync->flags & ~DRM_SALVO_SYNC_TIMELINE, -EINVAL,
			       "sync flags %#x are unknown", sync->flags) ?:
	       salvo_refuse_if(s->sdev, timeline != !!sync->point, -EINVAL,
			       "point %llu with sync flags %#x", sync->point, sync->flags);
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
		return salvo_refuse(s->sdev, ret, "syncobj %u has no fence at %llu", sync->handle,
				    sync->point);
	return salvo_wait_add(s->job, fence);
}

static int salvo_submit_add_waits(struct salvo_submit_state *s)
{
	u32 i;
	int ret = 0;

	for (i = 0; i < s->waits.count && !ret; i++)
		ret = salvo_submit_add_wait(s, &s->waits.syncs[i]);
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
		return salvo_refuse(s->sdev, -ENOENT, "syncobj %u does not exist", sync->handle);
	}
	s->signal_count++;
	return 0;
}

static int salvo_submit_add_signals(struct salvo_submit_state *s)
{
	u32 i;
	int ret = 0;

	if (!s->signal_syncs.count)
		return 0;
	s->signals = kvcalloc(s->signal_syncs.count, sizeof(*s->signals), GFP_KERNEL);
	if (!s->signals)
		return -ENOMEM;
	for (i = 0; i < s->signal_syncs.count && !ret; i++)
		ret = salvo_submit_add_signal(s, &s->signal_syncs.syncs[i]);
	return ret;
}

/* Arm and push the job. Nothing fails from here on. */
static void salvo_submit_push(struct salvo_submit_state *s)
{
	struct salvo_job *job = s->job;
	struct dma_fence *fence;
	u32 i;

	mutex_lock(&s->ctx->lock);
	drm_sched_job_arm(&job->base);
	fence = dma_fence_get(&job->base.s_fence->finished);
	/*
	 * drm_sched would run a dependent batch of another context of the ring as soon
	 * as this one is on the ring, but the GPU overlaps contexts.
	 */
	set_bit(DRM_SCHED_FENCE_DONT_PIPELINE, &fence->flags);
	salvo_vm_set_fence(s->ctx->vm, &job->use, fence);
	salvo_implicit_publish(&s->implicit, fence);
	job->number = atomic64_inc_return(&s->ctx->submitted);
	salvo_job_begin(job);
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
	salvo_ctx_put(s->ctx);
}

static void salvo_submit_free_copies(struct salvo_submit_state *s)
{
	kvfree(s->batch.args);
	kvfree(s->batch.commands);
	kvfree(s->signal_syncs.syncs);
	kvfree(s->waits.syncs);
}

static int salvo_submit_prepare(struct salvo_submit_state *s, const struct drm_salvo_submit *args)
{
	struct salvo_file *file = s->filp->driver_priv;
	int ret;

	ret = salvo_refuse_if(s->sdev, salvo_device_is_gone(s->sdev), -ENODEV,
			      "the GPU is gone");
	if (ret)
		return ret;
	s->ctx = salvo_ctx_find(file, args->ctx_id);
	ret = salvo_refuse_if(s->sdev, !s->ctx, -ENOENT, "context %u does not exist",
			      args->ctx_id) ?:
	      salvo_refuse_if(s->sdev, salvo_ctx_is_banned(s->ctx), -EIO, "context %u is banned",
			      args->ctx_id);
	if (ret)
		return ret;

	s->job = salvo_job_create(s->ctx);
	if (IS_ERR(s->job)) {
		ret = PTR_ERR(s->job);
		s->job = NULL;
		return ret;
	}
	return salvo_submit_validate(s) ?:
	       salvo_submit_pack(s) ?:
	       drm_sched_job_init(&s->job->base, &s->ctx->entity, 1, s->ctx->vm, file->client) ?:
	       salvo_submit_add_waits(s) ?:
	       salvo_submit_add_signals(s) ?:
	       salvo_implicit_lock(&s->implicit, s->job);
}

/* The part inside of the DRM critical section. */
static int salvo_submit_entered(struct salvo_submit_state *s, const struct drm_salvo_submit *args)
{
	int ret = salvo_submit_prepare(s, args);

	if (!ret)
		salvo_submit_push(s);
	salvo_submit_cleanup(s);
	return ret;
}

int salvo_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *filp)
{
	struct salvo_submit_state s = {
		.sdev = to_salvo(drm),
		.filp = filp,
	};
	int idx, ret;

	ret = salvo_refuse_if(s.sdev, salvo_device_is_gone(s.sdev), -ENODEV, "the GPU is gone") ?:
	      salvo_submit_copy(&s, data);
	if (!ret && !drm_dev_enter(drm, &idx)) {
		ret = salvo_refuse(s.sdev, -ENODEV, "the device is unplugged");
	} else if (!ret) {
		ret = salvo_submit_entered(&s, data);
		drm_dev_exit(idx);
	}
	salvo_submit_free_copies(&s);
	return ret;
}
