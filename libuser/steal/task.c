// SPDX-License-Identifier: MIT
/*
 * task.c - fork, join, and where a worker finds a task
 *
 * A fork pushes the task on the worker's own deque; the join takes it back and calls it. If it was
 * stolen the joining worker runs what it finds until the thief has stored the result and then
 * TASK_DONE. After that store the task's memory may be gone, so the thief reads before whom it
 * has to wake; a worker of another pool may be gone too, see salvo_pool_begin_wake().
 *
 * A worker that waits first steals from the thief of its task ("leapfrogging": Wagner and Calder,
 * PPoPP 1993), as what that one forked is what it waits for, then from any other. What it
 * steals runs on top of its own stack; when half of that is used, it only leapfrogs. One that waits
 * for units or a batch runs its own older tasks and others', over half of its stack none.
 */
#include "worker.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

/* How long a worker looks for a task before it sleeps, at most and at least */
#define SPIN_NS		50000
#define SPIN_MIN_NS	3000
/* A wait that a search as long as that should have covered */
#define SHORT_NS	150000
/* Searches before it starts to yield its core */
#define SPIN_SEARCHES	64u

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

static bool is_done(const struct salvo_task *task)
{
	return __atomic_load_n(&task->state, __ATOMIC_ACQUIRE) == TASK_DONE;
}

/* Runs a task that another thread may wait for. */
static void run(struct salvo_worker *worker, struct salvo_task *task)
{
	struct salvo_worker *owner = task->owner;
	const bool foreign = owner && owner->pool != worker->pool;

	__atomic_store_n(&task->thief, worker, __ATOMIC_RELAXED);
	task->result = task->function(worker, task->data);
	if (foreign)
		salvo_pool_begin_wake(owner->pool);
	if (__atomic_exchange_n(&task->state, TASK_DONE, __ATOMIC_ACQ_REL) == TASK_AWAITED)
		syscall(SYS_futex, &task->state, FUTEX_WAKE_PRIVATE, 1);
	if (foreign)
		salvo_pool_end_wake(owner->pool, owner);
	else if (owner && owner != worker)
		salvo_worker_wake(owner);
}

void salvo_task_fork(struct salvo_worker *worker, struct salvo_task *task,
		     salvo_task_function function, void *data)
{
	struct salvo_pool *pool = worker->pool;

	task->function = function;
	task->data = data;
	task->owner = worker;
	task->thief = NULL;
	__atomic_store_n(&task->state, TASK_PENDING, __ATOMIC_RELAXED);
	if (unlikely(!salvo_deque_push(&worker->deque, task))) {
		run(worker, task);
		return;
	}
	if (pool->membarrier)
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
	if (unlikely(atomic_load_explicit(&pool->idle, memory_order_relaxed)) &&
	    !atomic_load_explicit(&pool->searching, memory_order_relaxed))
		salvo_idle_wake_one(pool);
}

bool salvo_pool_has_work(struct salvo_pool *pool)
{
	unsigned int i;

	if (atomic_load(&pool->root_count))
		return true;
	for (i = 0; i < pool->count; i++)
		if (!salvo_deque_seems_empty(&pool->workers[i].deque))
			return true;
	return false;
}

static struct salvo_task *steal_from(struct salvo_worker *worker, struct salvo_worker *victim)
{
	struct salvo_task *task;
	bool lost;

	do {
		lost = false;
		task = salvo_deque_steal(&victim->deque, &lost);
	} while (lost);
	if (task && victim != worker)
		salvo_count(&worker->public->steals, 1);
	return task;
}

/* xorshift64 */
static uint64_t next_random(struct salvo_worker *worker)
{
	worker->random ^= worker->random << 13;
	worker->random ^= worker->random >> 7;
	worker->random ^= worker->random << 17;
	return worker->random;
}

static struct salvo_task *steal_any(struct salvo_worker *worker)
{
	struct salvo_pool *pool = worker->pool;
	const unsigned int first = next_random(worker) % pool->count;
	struct salvo_task *task = NULL;
	unsigned int i;

	for (i = 0; i < pool->count && !task; i++) {
		struct salvo_worker *victim = &pool->workers[(first + i) % pool->count];

		if (victim != worker && !salvo_deque_seems_empty(&victim->deque))
			task = steal_from(worker, victim);
	}
	return task ? task : salvo_pool_take_root(pool);
}

/* May it run any task on top of its stack? */
static bool runs_any(const struct salvo_worker *worker, const struct salvo_condition *wait)
{
	return (uintptr_t)__builtin_frame_address(0) > worker->stack_half &&
	       !(wait && wait->runs_nothing);
}

/* What a worker can run by now. */
static struct salvo_task *find(struct salvo_worker *worker, const struct salvo_condition *wait)
{
	const bool any = runs_any(worker, wait);
	struct salvo_worker *thief = NULL;
	struct salvo_task *task = NULL;

	/* If it waits for no task, its own ones are older than the wait: they nest as others do. */
	if (any || !wait || wait->task)
		task = salvo_deque_take(&worker->deque);
	if (!task && wait && wait->task)
		thief = __atomic_load_n(&wait->task->thief, __ATOMIC_RELAXED);
	if (thief && thief != worker && thief->pool == worker->pool)
		task = steal_from(worker, thief);
	if (!task && any)
		task = steal_any(worker);
	return task;
}

/*
 * A wait is over that began at @since. A worker searches half as long the next time if it was a
 * long one, so that work which comes seldom is not followed by a search each time, and as long as
 * it may if that would have found the task, or nearly: it counts what it takes to be woken.
 */
static void learn(struct salvo_worker *worker, uint64_t since)
{
	if (salvo_clock() - since < SHORT_NS)
		worker->patience_ns = SPIN_NS - SPIN_MIN_NS;
	else
		worker->patience_ns /= 2;
}

static bool is_over(struct salvo_worker *worker, struct salvo_condition *wait)
{
	return wait ? wait->done(wait) : atomic_load(&worker->pool->stop);
}

/* Searches for a while, until it has a @task or the wait is over. Return: false if neither came. */
static bool search(struct salvo_worker *worker, struct salvo_condition *wait,
		   struct salvo_task **task)
{
	const uint64_t deadline = salvo_clock() + SPIN_MIN_NS + worker->patience_ns;
	unsigned int searches = 0;

	if (runs_any(worker, wait))
		salvo_idle_begin(worker);
	do {
		if (is_over(worker, wait))
			return true;
		*task = find(worker, wait);
		if (*task)
			return true;
		if (++searches < SPIN_SEARCHES)
			__builtin_ia32_pause();
		else
			sched_yield();
	} while (searches < SPIN_SEARCHES || salvo_clock() < deadline);
	return false;
}

/* Searches and sleeps until it has a task or the wait is over. Return: the task, or NULL. */
static struct salvo_task *await(struct salvo_worker *worker, struct salvo_condition *wait)
{
	const uint64_t since = salvo_clock();
	struct salvo_task *task = NULL;

	while (!search(worker, wait, &task)) {
		if (wait)
			salvo_idle_sleep(worker, wait, runs_any(worker, wait));
		else
			salvo_idle_park(worker);
	}
	salvo_idle_end(worker);
	learn(worker, since);
	return task;
}

void salvo_worker_until(struct salvo_worker *worker, struct salvo_condition *wait)
{
	while (!is_over(worker, wait)) {
		struct salvo_task *task = find(worker, wait);

		if (!task)
			task = await(worker, wait);
		if (task)
			run(worker, task);
	}
}

static bool task_done(struct salvo_condition *wait)
{
	return is_done(wait->task);
}

int salvo_task_join(struct salvo_worker *worker, struct salvo_task *task)
{
	struct salvo_condition wait = { .done = task_done, .task = task };
	struct salvo_task *mine;

	if (unlikely(is_done(task)))
		return task->result;
	mine = salvo_deque_take(&worker->deque);
	if (likely(mine == task))
		return task->function(worker, task->data);
	if (mine)
		run(worker, mine);
	salvo_worker_until(worker, &wait);
	return task->result;
}
