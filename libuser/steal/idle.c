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
 *
 * A worker that has begun nothing sleeps on its futex @seat. A thread that is not of the pool and
 * runs a root takes the place of such a worker: its deque, its units, its number. So no thread has
 * to be woken for the root, nor for its end, and no more threads run than the pool has workers. The
 * worker's thread sleeps until the place is free and there is work for it (tests/spin/seat.pml).
 */
#include "worker.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
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

static uint64_t bit_of(const struct salvo_worker *worker)
{
	return 1ull << worker->index;
}

/* Return: does it count in the pool's @searching? The caller takes it off. */
static bool stop_searching(struct salvo_worker *worker)
{
	const bool searching = worker->searching;

	worker->searching = false;
	return searching;
}

static bool may_sleep(struct salvo_worker *worker, struct salvo_condition *wait, bool any_task)
{
	return atomic_load(&worker->asleep) && !wait->done(wait) &&
	       (!any_task || !salvo_pool_has_work(worker->pool));
}

/* A worker is about to sleep: after this its loads see what was stored before @idle was read. */
static void begin_sleep(struct salvo_pool *pool, uint64_t idle, bool searching)
{
	if (idle)
		atomic_fetch_or(&pool->idle, idle);
	if (searching)
		atomic_fetch_sub(&pool->searching, 1);
	if (pool->membarrier)
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	else
		atomic_thread_fence(memory_order_seq_cst);
}

static void end_sleep(struct salvo_worker *worker, bool any_task)
{
	__atomic_store_n(&worker->public->asleep, 0, __ATOMIC_RELAXED);
	if (!any_task)
		return;
	/* If its wait is over it goes on with its own: salvo_idle_end() wakes another one then. */
	salvo_idle_begin(worker);
	atomic_fetch_and(&worker->pool->idle, ~bit_of(worker));
}

static void count_sleep(struct salvo_worker *worker)
{
	salvo_count(&worker->public->sleeps, 1);
	__atomic_store_n(&worker->public->asleep, 1, __ATOMIC_RELAXED);
}

void salvo_idle_sleep(struct salvo_worker *worker, struct salvo_condition *wait, bool any_task)
{
	atomic_store(&worker->asleep, 1);
	begin_sleep(worker->pool, any_task ? bit_of(worker) : 0, stop_searching(worker));
	if (wait->arm)
		wait->arm(wait);
	if (may_sleep(worker, wait, any_task))
		count_sleep(worker);
	while (may_sleep(worker, wait, any_task))
		syscall(SYS_futex, &worker->asleep, FUTEX_WAIT_PRIVATE, 1, NULL);
	atomic_store(&worker->asleep, 0);
	end_sleep(worker, any_task);
}

bool salvo_worker_wake(struct salvo_worker *worker)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load(&worker->asleep) || !atomic_exchange(&worker->asleep, 0))
		return false;
	syscall(SYS_futex, &worker->asleep, FUTEX_WAKE_PRIVATE, 1);
	return true;
}

static bool change_seat(struct salvo_worker *worker, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&worker->seat, &from, to);
}

void salvo_idle_park(struct salvo_worker *worker)
{
	struct salvo_pool *pool = worker->pool;
	const uint64_t bit = bit_of(worker);
	bool searching;
	uint32_t seat;

	count_sleep(worker);
	searching = stop_searching(worker);
	atomic_store(&worker->seat, SEAT_FREE);
	/* The worker may be a caller's from here on: this thread uses nothing of it but @seat. */
	begin_sleep(pool, bit, searching);
	/* If a caller has its place by now another worker runs what was left to this one. */
	if ((atomic_load(&pool->stop) || salvo_pool_has_work(pool)) &&
	    !change_seat(worker, SEAT_FREE, SEAT_TAKEN))
		salvo_idle_wake_one(pool);
	while ((seat = atomic_load(&worker->seat)) != SEAT_TAKEN)
		syscall(SYS_futex, &worker->seat, FUTEX_WAIT_PRIVATE, seat, NULL);
	end_sleep(worker, true);
}

bool salvo_idle_unpark(struct salvo_worker *worker)
{
	if (!change_seat(worker, SEAT_FREE, SEAT_TAKEN))
		return false;
	syscall(SYS_futex, &worker->seat, FUTEX_WAKE_PRIVATE, 1);
	return true;
}

static bool borrow(struct salvo_worker *worker)
{
	if (!change_seat(worker, SEAT_FREE, SEAT_LENT))
		return false;
	atomic_fetch_and(&worker->pool->idle, ~bit_of(worker));
	__atomic_store_n(&worker->public->asleep, 0, __ATOMIC_RELAXED);
	return true;
}

/* Best that of this core: its worker would have to share the core with the caller. */
struct salvo_worker *salvo_idle_borrow(struct salvo_pool *pool)
{
	const uint64_t idle = atomic_load(&pool->idle);
	const int core = idle ? sched_getcpu() : -1;
	uint64_t rest;

	for (rest = idle; rest; rest &= rest - 1) {
		struct salvo_worker *worker = &pool->workers[__builtin_ctzll(rest)];

		if (worker->core == core && borrow(worker))
			return worker;
	}
	for (rest = idle; rest; rest &= rest - 1)
		if (borrow(&pool->workers[__builtin_ctzll(rest)]))
			return &pool->workers[__builtin_ctzll(rest)];
	return NULL;
}

void salvo_idle_return(struct salvo_worker *worker)
{
	struct salvo_pool *pool = worker->pool;
	const uint64_t all = ~0ull >> (64 - pool->count), bit = bit_of(worker);

	__atomic_store_n(&worker->public->asleep, 1, __ATOMIC_RELAXED);
	atomic_store(&worker->seat, SEAT_FREE);
	/* If no other is awake none forks. A root is counted by a locked instruction. */
	if ((atomic_fetch_or(&pool->idle, bit) | bit) != all && !atomic_load(&pool->searching) &&
	    pool->membarrier)
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	if (salvo_pool_has_work(pool))
		salvo_idle_wake_one(pool);
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
			struct salvo_worker *worker = &pool->workers[__builtin_ctzll(bit)];

			/* Neither: it is awake by now, or a caller has just taken its place. */
			if (salvo_idle_unpark(worker) || salvo_worker_wake(worker))
				return;
			idle &= ~bit;
		}
	}
}
