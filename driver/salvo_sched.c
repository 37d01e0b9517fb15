// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_sched.c - one drm_sched scheduler for each ring
 *
 * A scheduler runs a job when all of its dependencies have signalled: in order within
 * a context, and in turns between the contexts of one priority that compete. On the ring
 * the GPU orders the batches of one context, while batches of different contexts overlap;
 * therefore salvo_submit.c forbids drm_sched to pipeline dependencies.
 *
 * drm_sched itself puts the batch on the ring that was submitted first, or goes round; a
 * parameter of its module decides. With the former a context with a long queue would
 * overtake the others whenever batches of both end together.
 *
 * drm_sched's timeout is not used: it measures for how long a job has been the oldest
 * of its scheduler, not for how long it has run. salvo_watchdog.c detects hangs.
 *
 * drm_sched frees jobs in the order in which it ran them, so the memory of a batch that has ended
 * is freed after those before it on the ring have ended as well.
 *
 * A context's entity is on a run queue of its scheduler until its file is closed, which
 * may be after the driver was unbound. So schedulers end with the last reference to the
 * device; without jobs they do nothing.
 *
 * Locks: one work item at a time calls prepare_job and run_job of a scheduler, and owns
 * what they read of contexts and clients. sched->lock protects the list of contexts that
 * wait for their turn, because contexts end at any time. Only work on the ordered sdev->wq
 * stops and starts schedulers.
 */
#include <linux/slab.h>

#include "salvo_client.h"
#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_job.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_vm.h"

/* --- turns ---------------------------------------------------------------------- */

/*
 * Batches take room on the ring until those before them have ended, and units run them in that
 * order, so a context with many would delay all others. While contexts compete for
 * a ring, each has one batch on it, and each client as many as salvo_client.c allows. A
 * context that has the ring to itself may fill it, so that the GPU does not idle.
 *
 * Return: NULL, or the fence that keeps the context's next batch off the ring.
 */
static struct dma_fence *salvo_sched_limit(const struct salvo_sched *sched,
					   const struct salvo_ctx *ctx)
{
	if (ctx->newest && !dma_fence_is_signaled(ctx->newest))
		return ctx->newest;
	/* Others wait for it: batches of higher priority of its client must not delay them. */
	if (sched->turns[ctx->entity.priority] == ctx)
		return NULL;
	return salvo_client_limit(ctx->vm->client, ctx->ring);
}

/* Does a context with the priority of @ctx wait for nothing but its turn? */
static bool salvo_sched_is_ready(const struct salvo_sched *sched, const struct salvo_ctx *other,
				 const struct salvo_ctx *ctx)
{
	/* The first fence has also signalled if the batch was killed. */
	return other->entity.priority == ctx->entity.priority &&
	       !dma_fence_is_signaled(other->next) &&
	       (!other->until || dma_fence_is_signaled(other->until)) &&
	       !salvo_sched_limit(sched, other);
}

static u64 salvo_sched_turn_of(const struct salvo_ctx *ctx)
{
	return READ_ONCE(ctx->vm->client->rings[ctx->ring->index].turn);
}

/*
 * The turn is that of the client whose last batch was put on the ring before those of the
 * others, and of its contexts that of the one which has waited longest. Once others wait
 * for it, it stays theirs, so that contexts that arrive later do not delay them.
 */
static struct salvo_ctx *salvo_sched_choose(struct salvo_sched *sched, struct salvo_ctx *ctx)
{
	struct salvo_ctx *best = sched->turns[ctx->entity.priority], *other;

	lockdep_assert_held(&sched->lock);
	if (best && salvo_sched_is_ready(sched, best, ctx))
		return best;
	best = NULL;
	list_for_each_entry(other, &sched->waiting, waiting)
		if (salvo_sched_is_ready(sched, other, ctx) &&
		    (!best || salvo_sched_turn_of(other) < salvo_sched_turn_of(best)))
			best = other;
	return best;
}

/*
 * What the next job of a context must wait for on a contended ring.
 *
 * Return: NULL if it may run, or a fence with a reference. That of another context's batch
 * signals when it has been put on the ring.
 */
static struct dma_fence *salvo_sched_wait_for_turn(struct salvo_sched *sched,
						   struct salvo_job *job)
{
	struct dma_fence *scheduled = &job->base.s_fence->scheduled, *fence;
	struct salvo_ctx *ctx = job->ctx, *turn;

	spin_lock(&sched->lock);
	if (ctx->next != scheduled) {
		dma_fence_put(ctx->next);
		ctx->next = dma_fence_get(scheduled);
		list_move_tail(&ctx->waiting, &sched->waiting);
	}
	fence = salvo_sched_limit(sched, ctx);
	if (!fence) {
		turn = salvo_sched_choose(sched, ctx);
		sched->turns[ctx->entity.priority] = turn;
		if (turn && turn != ctx)
			fence = turn->next;
	}
	dma_fence_put(ctx->until);
	ctx->until = dma_fence_get(fence);
	dma_fence_get(fence);
	spin_unlock(&sched->lock);
	return fence;
}

/**
 * salvo_sched_forget_ctx() - No job of a context waits for its turn any more.
 * @ctx: The context; its next job runs, or it has ended.
 */
void salvo_sched_forget_ctx(struct salvo_ctx *ctx)
{
	struct salvo_sched *sched = ctx->ring->sched;

	spin_lock(&sched->lock);
	list_del_init(&ctx->waiting);
	if (sched->turns[ctx->entity.priority] == ctx)
		sched->turns[ctx->entity.priority] = NULL;
	dma_fence_put(ctx->next);
	dma_fence_put(ctx->until);
	ctx->next = NULL;
	ctx->until = NULL;
	spin_unlock(&sched->lock);
}

/* --- backend operations -------------------------------------------------------- */

static struct dma_fence *salvo_sched_prepare_job(struct drm_sched_job *base,
						 struct drm_sched_entity *entity)
{
	struct salvo_job *job = to_salvo_job(base);
	struct salvo_ring *ring = job->ctx->ring;
	struct dma_fence *fence = salvo_ring_wait_for_room(ring);

	if (fence || !salvo_ring_is_contended(ring))
		return fence;
	return salvo_sched_wait_for_turn(ring->sched, job);
}

static struct dma_fence *salvo_sched_run_job(struct drm_sched_job *base)
{
	struct salvo_job *job = to_salvo_job(base);
	struct salvo_dev *sdev = job->ctx->vm->sdev;
	int ret;

	salvo_sched_forget_ctx(job->ctx);
	ret = salvo_refuse_if(sdev, salvo_device_is_gone(sdev), -ENODEV, "the GPU is gone") ?:
	      salvo_refuse_if(sdev, salvo_ctx_is_banned(job->ctx), -ECANCELED,
			      "context %u is banned", job->ctx->hw_id) ?:
	      salvo_ring_push_job(job->ctx->ring, job);
	if (ret) {
		salvo_job_end(job, ret);
		return ERR_PTR(ret);
	}
	/* The job is still valid: it is not freed while this runs. */
	dma_fence_put(job->ctx->newest);
	job->ctx->newest = dma_fence_get(&job->fence->base);
	salvo_client_add_fence(job->ctx->vm->client, job->ctx->ring, &job->fence->base,
			       job->ring_number);
	return dma_fence_get(&job->fence->base);
}

static void salvo_sched_free_job(struct drm_sched_job *base)
{
	salvo_job_destroy(to_salvo_job(base));
}

static const struct drm_sched_backend_ops salvo_sched_ops = {
	.prepare_job = salvo_sched_prepare_job,
	.run_job = salvo_sched_run_job,
	.free_job = salvo_sched_free_job,
};

/* --- schedulers ---------------------------------------------------------------- */

static int salvo_sched_init(struct salvo_ring *ring)
{
	struct drm_sched_init_args args = {
		.ops = &salvo_sched_ops,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = SALVO_RING_BATCHES,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.dev = ring->sdev->drm.dev,
	};
	struct salvo_sched *sched;
	int ret;

	sched = kzalloc(sizeof(*sched), GFP_KERNEL);
	if (!sched)
		return -ENOMEM;
	kref_init(&sched->ref);
	spin_lock_init(&sched->lock);
	INIT_LIST_HEAD(&sched->waiting);
	snprintf(sched->name, sizeof(sched->name), "salvo-ring%u", ring->index);
	args.name = sched->name;
	ret = drm_sched_init(&sched->base, &args);
	if (ret) {
		salvo_sched_put(sched);
		return ret;
	}
	ring->sched = sched;
	return 0;
}

/**
 * salvo_sched_init_all() - Create a scheduler for each ring.
 * @sdev: The device; its release calls salvo_sched_fini_all(), also after a failure.
 *
 * Return: 0, or -ENOMEM.
 */
int salvo_sched_init_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;
	int ret = 0;

	salvo_for_each_ring(sdev, ring)
		ret = ret ?: salvo_sched_init(ring);
	return ret;
}

/** salvo_sched_fini_all() - End the schedulers. No job and no context is left. */
void salvo_sched_fini_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring) {
		if (!ring->sched)
			continue;
		drm_sched_fini(&ring->sched->base);
		salvo_sched_put(ring->sched);
	}
}

/**
 * salvo_sched_stop_all() - Run and free no jobs until salvo_sched_start_all().
 * @sdev: The device.
 *
 * Those on the rings may complete meanwhile, but stay valid.
 */
void salvo_sched_stop_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		drm_sched_wqueue_stop(&ring->sched->base);
}

/** salvo_sched_start_all() - Undo salvo_sched_stop_all(). */
void salvo_sched_start_all(struct salvo_dev *sdev)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		drm_sched_wqueue_start(&ring->sched->base);
}

/** salvo_sched_is_ours() - Is a scheduler one of this device's? */
bool salvo_sched_is_ours(struct salvo_dev *sdev, const struct drm_gpu_scheduler *base)
{
	struct salvo_ring *ring;

	salvo_for_each_ring(sdev, ring)
		if (base == &ring->sched->base)
			return true;
	return false;
}

static void salvo_sched_release(struct kref *ref)
{
	kfree(container_of(ref, struct salvo_sched, ref));
}

/**
 * salvo_sched_put() - Drop a reference. May be called from any context.
 * @sched: The scheduler, or NULL; stopped if this may be the last reference.
 */
void salvo_sched_put(struct salvo_sched *sched)
{
	if (sched)
		kref_put(&sched->ref, salvo_sched_release);
}
