// SPDX-License-Identifier: MIT
/*
 * wait.c - a task waits for a batch while its worker runs others
 *
 * The worker asks the fence each time that it has found no task. Before it sleeps it sets a
 * callback on the fence, once, and from then on relies on that: it returns when the callback has
 * stored how the batch ended, as the callback writes to its stack.
 */
#include <errno.h>
#include "salvo.h"
#include "worker.h"

struct fence_wait {
	struct salvo_condition wait;
	struct salvo_fence *fence;
	struct salvo_worker *worker;
	bool armed;
	int result;
	/** @done: The callback has stored @result. */
	_Atomic bool done;
};

static bool fence_done(struct salvo_condition *wait)
{
	struct fence_wait *w = (struct fence_wait *)wait;

	if (w->armed)
		return atomic_load(&w->done);
	w->result = salvo_fence_wait(w->fence, 0);
	return w->result != -ETIME;
}

static void called_back(void *data, int error)
{
	struct fence_wait *w = data;
	struct salvo_worker *worker = w->worker;
	struct salvo_pool *pool = worker->pool;

	salvo_pool_begin_wake(pool);
	w->result = error;
	atomic_store(&w->done, true);
	salvo_pool_end_wake(pool, worker);
}

static void fence_arm(struct salvo_condition *wait)
{
	struct fence_wait *w = (struct fence_wait *)wait;

	if (w->armed)
		return;
	w->armed = true;
	if (!salvo_fence_set_callback(w->fence, called_back, w))
		return;
	/* Without memory for a callback it blocks. */
	w->result = salvo_fence_wait(w->fence, -1);
	atomic_store(&w->done, true);
}

int salvo_worker_wait(struct salvo_worker *worker, struct salvo_fence *fence)
{
	struct fence_wait w = {
		.wait = { .done = fence_done, .arm = fence_arm },
		.fence = fence,
		.worker = worker,
	};

	salvo_worker_until(worker, &w.wait);
	return w.result;
}
