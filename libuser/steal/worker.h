/* SPDX-License-Identifier: MIT */
/*
 * worker.h - workers and their pool, for the files of this folder
 */
#ifndef SALVO_STEAL_WORKER_H
#define SALVO_STEAL_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "deque.h"
#include "pool_public.h"
#include "salvo.h"
#include "salvo_slot.h"
#include "salvo_steal.h"

/* struct salvo_task.state */
#define TASK_PENDING	0u
#define TASK_DONE	1u
/* A thread that is no worker sleeps until it is done. */
#define TASK_AWAITED	2u

/* struct salvo_worker.seat */
#define SEAT_TAKEN	0u	/* The worker's thread is awake, or sleeps within a task. */
#define SEAT_FREE	1u	/* Its thread sleeps and has begun nothing. */
#define SEAT_LENT	2u	/* Its thread sleeps, a caller of salvo_pool_run() has its place. */

/**
 * struct salvo_worker - A thread of a pool, or a caller that has the place of one.
 *
 * What is said to be "its own thread's" belongs to the caller while that has the place.
 */
struct salvo_worker {
	struct salvo_deque deque;
	struct salvo_pool *pool;
	/** @stack_half: Below this address a waiting worker runs no other tasks but its thief's. */
	uintptr_t stack_half;
	/** @random: State of the generator that picks victims. Its own thread's. */
	uint64_t random;
	unsigned int index;
	/** @patience_ns: How much longer than the least time it searches. Its own thread's. */
	uint32_t patience_ns;
	/** @searching: It counts in the pool's @searching. Its own thread's. */
	bool searching;
	/** @slot: To its units, or NULL. */
	struct salvo_slot *slot;
	/** @leaf: That runs on them, or NULL. Its own thread's. */
	struct leaf_wait *leaf;
	/** @queue: For its slot, and for leaves that are batches, or NULL. */
	struct salvo_queue *queue;
	/** @public: Its counters; written by its own thread. */
	struct pool_public_worker *public;
	pthread_t thread;
	/** @core: That its thread is bound to, or -1. */
	int core;
	/** @asleep: Futex: 1 from before its last search within a task until it is woken. */
	_Atomic uint32_t asleep __attribute__((aligned(64)));
	/** @seat: Futex: SEAT_*; where its thread sleeps that has begun nothing. */
	_Atomic uint32_t seat;
};

struct salvo_pool {
	struct salvo_worker *workers;
	unsigned int count;
	unsigned int started;
	/** @stack_room: What the stack of a caller needs that is to take a worker's place. */
	uint64_t stack_room;
	/** @process: That has its threads. */
	pid_t process;
	uint64_t cutoff;
	/** @device: For leaves, or NULL. */
	struct salvo_device *device;
	/** @membarrier: A worker that goes to sleep issues the barrier for those that fork. */
	bool membarrier;
	/** @idle: Workers that sleep and can run anything. */
	_Atomic uint64_t idle __attribute__((aligned(64)));
	/** @searching: Workers that are awake and look for a task. */
	_Atomic uint32_t searching;
	_Atomic bool stop;
	/** @wakers: Threads of others that are about to wake a worker of this pool. */
	_Atomic uint32_t wakers;
	/** @roots_lock: Protects @roots and @roots_end. */
	pthread_mutex_t roots_lock __attribute__((aligned(64)));
	struct salvo_task *roots;
	struct salvo_task **roots_end;
	/** @root_count: Tasks in @roots; written under @roots_lock. */
	_Atomic uint32_t root_count;
	/** @recording: Where leaves are recorded, or NULL. */
	struct salvo_leaf_recording *recording;
	/** @public: Counters of the pool and its workers; @public_fd: its memory, or -1. */
	struct pool_public *public;
	int public_fd;
};

/* A counter that only this thread writes, or under a lock, and that others read */
static inline void salvo_count(uint64_t *counter, uint64_t more)
{
	__atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

/**
 * struct salvo_condition - What a worker waits for while it runs other tasks.
 */
struct salvo_condition {
	/** @done: Is it over? */
	bool (*done)(struct salvo_condition *wait);
	/** @arm: Before it sleeps: see to it that salvo_worker_wake() is called. May be NULL. */
	void (*arm)(struct salvo_condition *wait);
	/** @task: The task that it waits for, or NULL. */
	struct salvo_task *task;
	/** @runs_nothing: It leaves tasks to other workers meanwhile. */
	bool runs_nothing;
};

/* --- task.c */

/** salvo_worker_until() - Run tasks, if @wait does not say otherwise, until @wait is done. */
void salvo_worker_until(struct salvo_worker *worker, struct salvo_condition *wait);
/** salvo_pool_has_work() - Is there a task in sight that a worker of the pool could run? */
bool salvo_pool_has_work(struct salvo_pool *pool);

/* --- pool.c */

/** salvo_pool_take_root() - The oldest task of salvo_pool_run() that none has begun, or NULL. */
struct salvo_task *salvo_pool_take_root(struct salvo_pool *pool);

/* --- public.c */

/** salvo_pool_public_init() - The counters of a pool, whose number of workers is known. */
int salvo_pool_public_init(struct salvo_pool *pool, const char *name);
void salvo_pool_public_fini(struct salvo_pool *pool);

/* --- idle.c */

int salvo_idle_init(struct salvo_pool *pool);
/** salvo_idle_begin() - The worker begins to look for a task. */
void salvo_idle_begin(struct salvo_worker *worker);
/** salvo_idle_end() - The worker has found a task, or looks for none any more. */
void salvo_idle_end(struct salvo_worker *worker);
/**
 * salvo_idle_sleep() - Sleep until there may be a task, or @wait is done.
 * @any_task: The worker can run any task, not only what it waits for.
 */
void salvo_idle_sleep(struct salvo_worker *worker, struct salvo_condition *wait, bool any_task);
/** salvo_idle_park() - The same without a wait, or until the pool stops; others may borrow. */
void salvo_idle_park(struct salvo_worker *worker);
/** salvo_idle_unpark() - Wake a worker that has parked, if it has. Return: has it? */
bool salvo_idle_unpark(struct salvo_worker *worker);
/** salvo_idle_borrow() - The place of a worker that has parked, of this core if it is one's. */
struct salvo_worker *salvo_idle_borrow(struct salvo_pool *pool);
/** salvo_idle_return() - The worker has parked again, as before salvo_idle_borrow(). */
void salvo_idle_return(struct salvo_worker *worker);
/** salvo_idle_wake_one() - There is a task: wake a worker that sleeps, if one does. */
void salvo_idle_wake_one(struct salvo_pool *pool);
/**
 * salvo_worker_wake() - Wake a worker that sleeps within a task, as its wait may be over.
 *
 * Return: did it sleep?
 */
bool salvo_worker_wake(struct salvo_worker *worker);
/**
 * salvo_pool_begin_wake() - A thread that is not of the pool is about to end a worker's wait.
 *
 * Called before it stores what the worker waits for: once that is stored the pool may be
 * destroyed, which waits for salvo_pool_end_wake().
 */
void salvo_pool_begin_wake(struct salvo_pool *pool);
/** salvo_pool_end_wake() - Wake the worker; the pool is not used any more by this thread. */
void salvo_pool_end_wake(struct salvo_pool *pool, struct salvo_worker *worker);

/* --- leaf.c */

/** salvo_leaf_init() - Queues, and slots with @units each, for the workers of a pool. */
int salvo_leaf_init(struct salvo_pool *pool, unsigned int units);
void salvo_leaf_fini(struct salvo_pool *pool);

/* --- record.c */

/** salvo_leaf_recording_open() - NULL unless the environment names a file for records. */
struct salvo_leaf_recording *salvo_leaf_recording_open(struct salvo_device *device);
void salvo_leaf_recording_close(struct salvo_leaf_recording *recording);
/**
 * salvo_leaf_recording_add() - A leaf has ended on the worker's units.
 * @handed: When it was handed over; @seen: now; both in ns.
 */
void salvo_leaf_recording_add(struct salvo_leaf_recording *recording,
			      const struct salvo_worker *worker, const struct salvo_kernel *kernel,
			      uint64_t handed, uint64_t seen, int result);

/* --- place.c */

/**
 * salvo_place_cores() - Numbers of the cores that this thread may run on.
 *
 * Return: how many, 0 if that is unknown, -ENOMEM.
 */
int salvo_place_cores(int *cores, unsigned int room);

#endif
