// SPDX-License-Identifier: MIT
/*
 * idle.c - workers that sleep, and how they are woken
 *
 * A worker without a task searches for a while and then sleeps on its futex @asleep. A fork wakes
 * one that sleeps only if none is searching, as that one will find the task. A worker that stops
 * searching, because it found a task or what it waits for is done, wakes the next if there is more
 * to see, as forks and roots may have relied on it. So does one that was woken, which counts as
 * searching from then on.
 *
 * Who forks stores the task and then reads @idle and @searching; who goes to sleep stores these
 * and then reads the deques. On both sides the store must come before the load, which takes a
 * full barrier each. As forks are frequent and sleeping is rare, the sleeper issues the barrier
 * for all of them with membarrier(2), and a fork is but plain loads and stores. Where the system
 * has no membarrier (a seccomp filter, an old kernel) each fork pays for a fence. A worker that
 * stops searching issues none: it may miss a fork of the same moment, which then is left to the
 * next one that searches, or to its own worker's join. A root is added by a locked instruction
 * and is not missed.
 */
#include "worker.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

int salvo_idle_init(struct salvo_pool *pool)
{
	pool->membarrier = !membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
			   !membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	return 0;
}

void salvo_idle_begin(struct salvo_worker *worker)
{
	if (worker->searching)
		return;
	worker->searching = true;
	atomic_fetch_add(&worker->pool->searching, 1);
}

void salvo_idle_end(struct salvo_worker *worker)
{
	struct salvo_pool *pool = worker->pool;

	if (!worker->searching)
		return;
	worker->searching = false;
	if (atomic_fetch_sub(&pool->searching, 1) == 1 && atomic_load(&pool->idle) &&
	    salvo_pool_has_work(pool))
		salvo_idle_wake_one(pool);
}

static bool may_sleep(struct salvo_worker *worker, struct salvo_condition *wait, bool any_task)
{
	struct salvo_pool *pool = worker->pool;

	if (!atomic_load(&worker->asleep))
		return false;
	if (wait ? wait->done(wait) : atomic_load(&pool->stop))
		return false;
	return !any_task || !salvo_pool_has_work(pool);
}

void salvo_idle_sleep(struct salvo_worker *worker, struct salvo_condition *wait, bool any_task)
{
	struct salvo_pool *pool = worker->pool;
	const uint64_t bit = 1ull << worker->index;

	atomic_store(&worker->asleep, 1);
	if (any_task)
		atomic_fetch_or(&pool->idle, bit);
	if (worker->searching) {
		worker->searching = false;
		atomic_fetch_sub(&pool->searching, 1);
	}
	if (pool->membarrier)
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	else
		atomic_thread_fence(memory_order_seq_cst);
	if (wait && wait->arm)
		wait->arm(wait);
	if (may_sleep(worker, wait, any_task)) {
		salvo_count(&worker->public->sleeps, 1);
		__atomic_store_n(&worker->public->asleep, 1, __ATOMIC_RELAXED);
	}
	while (may_sleep(worker, wait, any_task))
		syscall(SYS_futex, &worker->asleep, FUTEX_WAIT_PRIVATE, 1, NULL);
	atomic_store(&worker->asleep, 0);
	__atomic_store_n(&worker->public->asleep, 0, __ATOMIC_RELAXED);
	if (!any_task)
		return;
	/* If its wait is over it goes on with its own: salvo_idle_end() wakes another one then. */
	salvo_idle_begin(worker);
	atomic_fetch_and(&pool->idle, ~bit);
}

void salvo_worker_wake(struct salvo_worker *worker)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&worker->asleep) && atomic_exchange(&worker->asleep, 0))
		syscall(SYS_futex, &worker->asleep, FUTEX_WAKE_PRIVATE, 1);
}

void salvo_pool_begin_wake(struct salvo_pool *pool)
{
	atomic_fetch_add(&pool->wakers, 1);
}

void salvo_pool_end_wake(struct salvo_pool *pool, struct salvo_worker *worker)
{
	salvo_worker_wake(worker);
	atomic_fetch_sub(&pool->wakers, 1);
}

void salvo_idle_wake_one(struct salvo_pool *pool)
{
	uint64_t idle = atomic_load(&pool->idle);

	while (idle) {
		const uint64_t bit = idle & -idle;

		idle = atomic_fetch_and(&pool->idle, ~bit);
		if (idle & bit) {
			salvo_worker_wake(&pool->workers[__builtin_ctzll(bit)]);
			return;
		}
	}
}
