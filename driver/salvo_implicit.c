// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_implicit.c - implicit fences of shared buffers
 *
 * Within a file synchronization is explicit. A buffer that was exported or imported is
 * shared with users that know only the fences in the dma-buf's reservation object. So a
 * batch waits for those fences, except for the ones of its own file, and adds its own.
 * The driver does not know which buffers a batch accesses, therefore all shared buffers
 * of the file count: as read if the GPU may only read the buffer, else as written.
 *
 * Fences of the file itself are skipped, since they would serialize all its batches. They
 * are recognized by the owner of the scheduler's fence, which is the address space; it
 * cannot be freed and reused before its batches have ended.
 *
 * SUBMIT locks all reservations after everything else that can fail, and unlocks them
 * after the batch was pushed and its fence added. salvo_implicit_share() adds the fences
 * of batches that were submitted before a buffer was first exported. vm->share_lock
 * keeps the two apart: a batch that does not find the buffer among the shared ones has its
 * fence in vm->uses before the export collects the fences there.
 *
 * Locks: vm->share_lock > reservations > space_lock > vm->lock. References to buffers are
 * dropped after the reservations were unlocked, since the last put may lock them again.
 */
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>

#include <drm/gpu_scheduler.h>

#include "salvo_bind.h"
#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_gem.h"
#include "salvo_implicit.h"
#include "salvo_job.h"
#include "salvo_sched.h"
#include "salvo_vm.h"
#include "salvo_wait.h"

/* The strongest use that a batch may make of a shared buffer. */
static enum dma_resv_usage salvo_implicit_usage(const struct salvo_gem_object *bo)
{
	return salvo_gem_access(bo) & SALVO_ACCESS_WRITE ? DMA_RESV_USAGE_WRITE :
							  DMA_RESV_USAGE_READ;
}

/* --- first export ------------------------------------------------------------ */

/* The fences of all batches of a file that are in flight, in all contexts. */
static struct dma_fence **salvo_implicit_in_flight(struct salvo_vm *vm, unsigned int *count)
{
	struct dma_fence **fences = NULL;
	unsigned int room = 0, n;

	/* Batches may be submitted between counting and allocating. */
	while ((n = salvo_vm_get_fences(vm, fences, room)) > room) {
		kvfree(fences);
		room = n + 16;
		fences = kvcalloc(room, sizeof(*fences), GFP_KERNEL);
		if (!fences)
			return ERR_PTR(-ENOMEM);
	}
	*count = n;
	return fences;
}

static int salvo_implicit_add_in_flight(struct salvo_vm *vm, struct salvo_gem_object *bo)
{
	struct dma_fence **fences;
	unsigned int count, i;
	int ret;

	fences = salvo_implicit_in_flight(vm, &count);
	if (IS_ERR(fences))
		return PTR_ERR(fences);
	dma_resv_lock(bo->base.resv, NULL);
	ret = count ? dma_resv_reserve_fences(bo->base.resv, count) : 0;
	for (i = 0; i < count; i++) {
		if (!ret)
			dma_resv_add_fence(bo->base.resv, fences[i],
					   salvo_implicit_usage(bo));
		dma_fence_put(fences[i]);
	}
	dma_resv_unlock(bo->base.resv);
	kvfree(fences);
	return ret;
}

/*
 * The address space of the one file that has a buffer which is not shared, or NULL. A
 * buffer that no file has, as its handle was closed meanwhile, becomes shared here.
 */
static struct salvo_vm *salvo_implicit_get_owner(struct salvo_dev *sdev,
						 struct salvo_gem_object *bo)
{
	struct salvo_vm *owner = NULL, *vm;

	mutex_lock(&sdev->space_lock);
	if (!bo->shared) {
		list_for_each_entry(vm, &sdev->spaces, node) {
			if (!salvo_bind_has(vm, bo))
				continue;
			owner = salvo_vm_get(vm);
			break;
		}
		bo->shared = !owner;
	}
	mutex_unlock(&sdev->space_lock);
	return owner;
}

/**
 * salvo_implicit_share() - Mark a buffer as shared before it is exported.
 * @bo: The buffer. Unless it is shared already, one file has it.
 *
 * DRM serializes calls for one buffer.
 *
 * Return: 0, -ENOMEM, -EINTR.
 */
int salvo_implicit_share(struct salvo_gem_object *bo)
{
	struct salvo_dev *sdev = to_salvo(bo->base.dev);
	struct salvo_vm *owner;
	int ret = 0;

	owner = salvo_implicit_get_owner(sdev, bo);
	if (!owner)
		return 0;
	if (down_write_killable(&owner->share_lock)) {
		ret = -EINTR;
	} else {
		mutex_lock(&sdev->space_lock);
		bo->shared = true;
		salvo_bind_share(owner, bo);
		mutex_unlock(&sdev->space_lock);
		ret = salvo_implicit_add_in_flight(owner, bo);
		if (ret) {
			/* Let the next attempt start over. */
			mutex_lock(&sdev->space_lock);
			bo->shared = false;
			mutex_unlock(&sdev->space_lock);
		}
		up_write(&owner->share_lock);
	}
	salvo_vm_put(owner);
	return ret;
}

/* --- a submission ------------------------------------------------------------ */

static void salvo_implicit_put(struct salvo_implicit *implicit)
{
	unsigned int i;

	for (i = 0; i < implicit->count; i++)
		drm_gem_object_put(&implicit->bos[i]->base);
	kvfree(implicit->bos);
	kvfree(implicit->locked);
	/* The caller may unlock again on its error path. */
	implicit->count = 0;
}

static int salvo_implicit_collect(struct salvo_implicit *implicit, struct salvo_vm *vm)
{
	unsigned int room = 0, n;

	while ((n = salvo_bind_get_shared(vm, implicit->bos, room)) > room) {
		kvfree(implicit->bos);
		room = n + 16;
		implicit->bos = kvcalloc(room, sizeof(*implicit->bos), GFP_KERNEL);
		if (!implicit->bos)
			return -ENOMEM;
	}
	implicit->count = n;
	if (!n)
		return 0;
	implicit->locked = kvcalloc(n, sizeof(*implicit->locked), GFP_KERNEL);
	return implicit->locked ? 0 : -ENOMEM;
}

static void salvo_implicit_unlock_all(struct salvo_implicit *implicit)
{
	unsigned int i;

	for (i = 0; i < implicit->count; i++)
		if (implicit->locked[i])
			dma_resv_unlock(implicit->bos[i]->base.resv);
	memset(implicit->locked, 0, implicit->count * sizeof(*implicit->locked));
}

/* Lock all reservations that are not locked; on error set @at to the failing one. */
static int salvo_implicit_try_lock(struct salvo_implicit *implicit, unsigned int *at)
{
	unsigned int i;
	int ret;

	for (i = 0; i < implicit->count; i++) {
		if (implicit->locked[i])
			continue;
		ret = dma_resv_lock_interruptible(implicit->bos[i]->base.resv, &implicit->ticket);
		/* Buffers of one exporter may share a reservation. */
		if (ret == -EALREADY)
			continue;
		*at = i;
		if (ret)
			return ret;
		implicit->locked[i] = true;
	}
	return 0;
}

static int salvo_implicit_lock_all(struct salvo_implicit *implicit)
{
	unsigned int at;
	int ret;

	ww_acquire_init(&implicit->ticket, &reservation_ww_class);
	while ((ret = salvo_implicit_try_lock(implicit, &at)) == -EDEADLK) {
		salvo_implicit_unlock_all(implicit);
		ret = dma_resv_lock_slow_interruptible(implicit->bos[at]->base.resv,
						       &implicit->ticket);
		if (ret)
			break;
		implicit->locked[at] = true;
	}
	if (!ret) {
		ww_acquire_done(&implicit->ticket);
		return 0;
	}
	salvo_implicit_unlock_all(implicit);
	ww_acquire_fini(&implicit->ticket);
	return ret == -EINTR ? -ERESTARTSYS : ret;
}

static bool salvo_implicit_is_own(const struct salvo_job *job, struct dma_fence *fence)
{
	const struct drm_sched_fence *sched_fence = to_drm_sched_fence(fence);
	const struct salvo_vm *vm = job->ctx->vm;

	return sched_fence && sched_fence->owner == vm &&
	       salvo_sched_is_ours(vm->sdev, sched_fence->sched);
}

static int salvo_implicit_wait(struct salvo_job *job, struct salvo_gem_object *bo)
{
	enum dma_resv_usage usage = dma_resv_usage_rw(salvo_implicit_usage(bo) ==
						      DMA_RESV_USAGE_WRITE);
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	int ret;

	dma_resv_for_each_fence(&cursor, bo->base.resv, usage, fence) {
		if (salvo_implicit_is_own(job, fence))
			continue;
		ret = salvo_wait_add(job, dma_fence_get(fence));
		if (ret)
			return ret;
	}
	/* Two slots: buffers that share a reservation may be used differently. */
	return dma_resv_reserve_fences(bo->base.resv, 2);
}

/**
 * salvo_implicit_lock() - Lock the shared buffers of a file, and add their fences to a job.
 * @implicit: Zeroed; if this succeeds the caller must call salvo_implicit_unlock().
 * @job: The job, not armed. It gets the fences as dependencies.
 *
 * Return: 0, -ENOMEM, -ERESTARTSYS.
 */
int salvo_implicit_lock(struct salvo_implicit *implicit, struct salvo_job *job)
{
	unsigned int i;
	int ret;

	if (down_read_interruptible(&job->ctx->vm->share_lock))
		return -ERESTARTSYS;
	implicit->vm = job->ctx->vm;
	ret = salvo_implicit_collect(implicit, job->ctx->vm);
	if (ret)
		goto err_put;
	if (!implicit->count)
		return 0;
	ret = salvo_implicit_lock_all(implicit);
	if (ret)
		goto err_put;
	for (i = 0; i < implicit->count; i++) {
		ret = salvo_implicit_wait(job, implicit->bos[i]);
		if (ret) {
			salvo_implicit_unlock(implicit);
			return ret;
		}
	}
	return 0;

err_put:
	salvo_implicit_put(implicit);
	up_read(&implicit->vm->share_lock);
	implicit->vm = NULL;
	return ret;
}

/** salvo_implicit_publish() - Add the fence of the armed batch to all reservations. */
void salvo_implicit_publish(struct salvo_implicit *implicit, struct dma_fence *fence)
{
	unsigned int i;

	for (i = 0; i < implicit->count; i++)
		dma_resv_add_fence(implicit->bos[i]->base.resv, fence,
				   salvo_implicit_usage(implicit->bos[i]));
}

/** salvo_implicit_unlock() - Unlock after the batch was pushed or failed; may be called twice. */
void salvo_implicit_unlock(struct salvo_implicit *implicit)
{
	if (!implicit->vm)
		return;
	if (implicit->count) {
		salvo_implicit_unlock_all(implicit);
		ww_acquire_fini(&implicit->ticket);
	}
	salvo_implicit_put(implicit);
	up_read(&implicit->vm->share_lock);
	implicit->vm = NULL;
}
