// SPDX-License-Identifier: MIT
/*
 * leaf.c - kernels as leaf tasks (W3 of US11340942)
 *
 * A worker hands a kernel to its units through its slot and runs other tasks until the doorbell is
 * 0 again. One of these may want the slot too: it waits until the leaf before it has ended, and
 * takes what came of that out of the slot before it stores its own task. It runs no tasks
 * meanwhile, as these may be leaves as well, which workers whose units are free run sooner. A
 * worker without units submits the kernel as a batch, and waits for that in the same way.
 *
 * Before the worker sleeps it asks to be notified, once for each leaf; the unit that ends the leaf
 * then wakes it.
 */
#include <errno.h>
#include <string.h>
#include "worker.h"

#include "clock.h"

struct leaf_wait {
	struct salvo_condition wait;
	/** @started: When it was handed over. */
	uint64_t started;
	struct salvo_worker *worker;
	const struct salvo_kernel *kernel;
	struct salvo_error *error;
	int result;
	bool done;
};

/* Takes the result of the leaf that has ended out of the slot. */
static void collect(struct salvo_worker *worker)
{
	struct leaf_wait *leaf = worker->leaf;
	uint64_t now;
	int result;

	if (!leaf)
		return;
	result = salvo_slot_poll(worker->slot);
	if (result == -EBUSY)
		return;
	if (leaf->error)
		salvo_slot_get_error(worker->slot, leaf->error);
	now = salvo_clock();
	if (worker->pool->recording)
		salvo_leaf_recording_add(worker->pool->recording, worker, leaf->kernel,
					 leaf->started, now, result);
	salvo_count(&worker->public->leaf_ns, now - leaf->started);
	__atomic_store_n(&worker->public->in_leaf, 0, __ATOMIC_RELAXED);
	leaf->result = result;
	leaf->done = true;
	worker->leaf = NULL;
}

static bool leaf_done(struct salvo_condition *wait)
{
	struct leaf_wait *leaf = (struct leaf_wait *)wait;

	collect(leaf->worker);
	return leaf->done;
}

static bool slot_free(struct salvo_condition *wait)
{
	struct leaf_wait *leaf = (struct leaf_wait *)wait;

	collect(leaf->worker);
	return !leaf->worker->leaf;
}

static void wake(void *data)
{
	salvo_worker_wake(data);
}

static void slot_arm(struct salvo_condition *wait)
{
	struct leaf_wait *leaf = (struct leaf_wait *)wait;

	salvo_slot_notify(leaf->worker->slot);
}

static int run_on_units(struct salvo_worker *worker, const struct salvo_kernel *kernel,
			struct salvo_error *error)
{
	struct leaf_wait leaf = {
		.wait = { .done = slot_free, .arm = slot_arm, .runs_nothing = true },
		.worker = worker,
		.kernel = kernel,
		.error = error,
	};
	int err;

	salvo_worker_until(worker, &leaf.wait);
	err = salvo_slot_start(worker->slot, kernel);
	if (err)
		return err;
	leaf.started = salvo_clock();
	salvo_count(&worker->public->leaves, 1);
	__atomic_store_n(&worker->public->in_leaf, 1, __ATOMIC_RELAXED);
	/* Until collect(), before this function returns. */
	/* cppcheck-suppress autoVariables */
	worker->leaf = &leaf;
	leaf.wait.done = leaf_done;
	leaf.wait.runs_nothing = false;
	salvo_worker_until(worker, &leaf.wait);
	return leaf.result;
}

/* On a queue of its own, which a fault of another leaf cannot ban. */
static int run_as_batch(struct salvo_worker *worker, const struct salvo_kernel *kernel,
			struct salvo_error *error)
{
	struct salvo_device *device = worker->pool->device;
	struct salvo_queue *queue = NULL;
	struct salvo_batch *batch = NULL;
	struct salvo_fence *fence;
	int err;

	err = salvo_queue_create(device, 0, &queue);
	if (!err)
		err = salvo_batch_create(device, &batch);
	if (!err)
		err = salvo_batch_dispatch(batch, kernel);
	if (err >= 0)
		err = salvo_queue_submit(queue, batch, NULL, 0, &fence);
	if (!err) {
		err = salvo_worker_wait(worker, fence);
		if (error)
			salvo_fence_get_error(fence, error);
		salvo_fence_destroy(fence);
	}
	salvo_batch_destroy(batch);
	salvo_queue_destroy(queue);
	return err;
}

int salvo_worker_leaf(struct salvo_worker *worker, const struct salvo_kernel *kernel,
		      struct salvo_error *error)
{
	int err = -ENOTSUP;

	if (error)
		*error = (struct salvo_error){ .command = ~0u, .item = ~0u };
	if (!worker->pool->device)
		return -EINVAL;
	if (worker->slot)
		err = run_on_units(worker, kernel, error);
	/* No units, not for this kernel, or the driver has detached them. */
	return err == -ENOTSUP || err == -ENOTCONN ? run_as_batch(worker, kernel, error) : err;
}

int salvo_leaf_init(struct salvo_pool *pool, unsigned int units)
{
	struct salvo_device_info info;
	unsigned int i, j;
	int err = 0;

	if (!pool->device)
		return 0;
	salvo_device_get_info(pool->device, &info);
	if (units > info.units)
		return -EINVAL;
	for (i = 0; i < pool->count && !err; i++) {
		struct salvo_worker *worker = &pool->workers[i];
		uint64_t mask = 0;

		for (j = 0; j < units; j++)
			mask |= 1ull << (i * units + j) % info.units;
		err = salvo_queue_create(pool->device, 0, &worker->queue);
		if (!err && mask)
			err = salvo_slot_attach(worker->queue, mask, wake, worker, &worker->slot);
		if (worker->slot)
			worker->public->units = mask;
	}
	if (!err)
		pool->recording = salvo_leaf_recording_open(pool->device);
	return err;
}

void salvo_leaf_fini(struct salvo_pool *pool)
{
	unsigned int i;

	for (i = 0; pool->device && pool->workers && i < pool->count; i++) {
		salvo_slot_detach(pool->workers[i].slot);
		salvo_queue_destroy(pool->workers[i].queue);
	}
	salvo_leaf_recording_close(pool->recording);
}
