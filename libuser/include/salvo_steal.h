/* SPDX-License-Identifier: MIT */
/*
 * salvo_steal.h - work stealing: fork and join on all cores
 *
 * A pool has worker threads, one for each core. A task is a C function; it gets the worker
 * that runs it and passes that on to every call below. salvo_task_fork() offers a task to the
 * other workers, salvo_task_join() runs it if none of them took it, and else runs other tasks
 * until it has ended (W1, W2 of US11340942).
 *
 *	static int fib(struct salvo_worker *worker, void *data)
 *	{
 *		struct number *n = data, a = { n->n - 1 }, b = { n->n - 2 };
 *		struct salvo_task task;
 *		int err, other;
 *
 *		if (n->n < 2) {
 *			n->value = n->n;
 *			return 0;
 *		}
 *		salvo_task_fork(worker, &task, fib, &a);
 *		err = fib(worker, &b);
 *		other = salvo_task_join(worker, &task);
 *		n->value = a.value + b.value;
 *		return other ? other : err;
 *	}
 *
 *	struct number n = { 30 };
 *
 *	salvo_pool_create(NULL, &pool);
 *	salvo_pool_run(pool, NULL, fib, &n);
 *
 * Functions of tasks return 0 or a negative errno, which comes back at the join; the library
 * passes on any other number too. They do not throw C++ exceptions, and do not end their thread.
 *
 * Threads: a pool may be used from any thread, a struct salvo_worker only by the task that it was
 * given to, before that returns. In a child of fork() the parent's pools have no threads:
 * salvo_pool_run() gives -ENODEV there, and salvo_pool_destroy() does nothing. A pool's threads
 * block all signals but those that their own instructions cause; the thread that calls
 * salvo_pool_run() may run tasks too, with the signals and the cores that it has.
 */
#ifndef SALVO_STEAL_H
#define SALVO_STEAL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

struct salvo_device;
struct salvo_error;
struct salvo_fence;
struct salvo_kernel;
struct salvo_pool;
struct salvo_worker;

/* What a task runs; what it returns comes back at the join. */
typedef int (*salvo_task_function)(struct salvo_worker *worker, void *data);
/* The same for the indices from @begin up to, not including, @end. */
typedef int (*salvo_range_function)(struct salvo_worker *worker, void *data, uint64_t begin,
				    uint64_t end);

/* The most workers of a pool */
#define SALVO_POOL_MAX_WORKERS	64u

/**
 * struct salvo_pool_options - What a pool is to be like; 0 is the default of each field.
 */
struct salvo_pool_options {
	uint32_t workers;		/* 0: one for each core that the process may use */
	uint32_t units;			/* of each worker, see salvo_worker_leaf(); needs @device */
	uint64_t cutoff;		/* indices of a leaf, see salvo_worker_for() */
	uint64_t stack_bytes;		/* of a worker, 0: 8 MiB, 4 MiB of a caller; >= 64 KiB */
	struct salvo_device *device;	/* for kernels as leaves, or NULL; outlives the pool */
	const char *name;		/* for salvo-top, copied, 31 bytes count; NULL: "pool" */
	uint64_t reserved[3];		/* 0 */
};

/**
 * struct salvo_pool_stats - Counters of a pool since it was created.
 */
struct salvo_pool_stats {
	uint64_t roots;			/* tasks of salvo_pool_run() that were begun */
	uint64_t steals;		/* tasks that ran on another worker than their parent */
	uint64_t sleeps;		/* how often a worker found nothing to do and slept */
	uint64_t leaves;		/* kernels that ran as leaves on workers' units */
	uint64_t leaf_ns;		/* from their hand-over until workers saw their end */
	uint64_t reserved[3];
};

/**
 * salvo_pool_create() - A pool of worker threads, each bound to a core (W1 of US11340942).
 * @options: May be NULL for the default of everything.
 * @out: The pool.
 *
 * More workers than cores share the cores. A worker that finds nothing to do looks again for
 * up to 50 us and then sleeps until there is work: an idle pool uses no CPU.
 *
 * Return: 0, -EINVAL (more than SALVO_POOL_MAX_WORKERS, a stack below 64 KiB, more units than the
 * device has or units without a device, a reserved field that is not 0), -EAGAIN (no threads),
 * -ENOTSUP, -ENOSPC (as salvo_slot_attach()), -ENOMEM.
 */
int salvo_pool_create(const struct salvo_pool_options *options, struct salvo_pool **out);
/**
 * salvo_pool_destroy() - Destroy a pool.
 * @pool: No salvo_pool_run() of it is going on. May be NULL.
 */
void salvo_pool_destroy(struct salvo_pool *pool);
/** salvo_pool_workers() - Number of workers of a pool. */
unsigned int salvo_pool_workers(const struct salvo_pool *pool);
/** salvo_pool_get_stats() - Counters of a pool; those of busy workers may lag behind. */
void salvo_pool_get_stats(const struct salvo_pool *pool, struct salvo_pool_stats *stats);
/**
 * salvo_pool_run() - Run a task on a pool and wait until it has ended.
 * @worker: The caller's worker if the caller is a task, of this pool or another: it runs other
 *          tasks of its own pool meanwhile, so that pools nest. NULL in any other thread.
 * @function: Runs on one of the pool's workers, or in the calling thread. Tasks that it forks, it
 *            joins.
 * @data: For @function.
 *
 * A caller without a worker takes the place of a worker that sleeps and runs the task itself, best
 * that of the core on which it is: no thread is woken for it. It cannot be cancelled meanwhile. For
 * that it needs as much free stack as the pool's options say, or 4 MiB if they say nothing; one
 * that has less, or that finds all workers awake, sleeps until a worker has run the task.
 *
 * Return: what @function returned, or -ENODEV (in a child of fork()).
 */
int salvo_pool_run(struct salvo_pool *pool, struct salvo_worker *worker,
		   salvo_task_function function, void *data);

/**
 * struct salvo_task - A forked task; its memory is the caller's, its fields are the library's.
 */
struct salvo_task {
	salvo_task_function function;
	void *data;
	struct salvo_worker *owner;
	struct salvo_worker *thief;
	struct salvo_task *next;
	int32_t result;
	uint32_t state;
	uint64_t reserved[2];
};

/**
 * salvo_task_fork() - Offer a task to the other workers (W2 of US11340942).
 * @worker: The caller's.
 * @task: Need not be initialised. It stays where it is until it is joined, usually on the stack.
 * @function: What to run.
 * @data: For @function; what the caller wrote there before is seen by the task.
 *
 * Every task that is forked must be joined by the task that forked it, best in reverse order.
 * Without memory to keep track of it the task runs at once.
 */
void salvo_task_fork(struct salvo_worker *worker, struct salvo_task *task,
		     salvo_task_function function, void *data);
/**
 * salvo_task_join() - Wait until a task has ended; run it, if no other worker has begun to.
 * @worker: The caller's.
 * @task: Forked by the caller and not joined yet.
 *
 * While another worker runs the task this one runs other tasks, which may nest in the caller's
 * stack; over half of the stack it takes only what the task that it waits for has forked.
 *
 * Return: what the task's function returned.
 */
int salvo_task_join(struct salvo_worker *worker, struct salvo_task *task);

/** salvo_worker_index() - Number of a worker in its pool, from 0. */
unsigned int salvo_worker_index(const struct salvo_worker *worker);
/** salvo_worker_pool() - The pool that a worker belongs to. */
struct salvo_pool *salvo_worker_pool(const struct salvo_worker *worker);
/**
 * salvo_worker_for() - Run a function over a range of indices, in parallel.
 * @worker: The caller's.
 * @count: The range is 0 to @count - 1.
 * @cutoff: Indices of a leaf, which is not divided any further (W2 of US11340942); the last leaf
 *          may have less. 0: as the pool's options say; if that is 0 too, a 1024th of @count.
 * @function: Called with @data for each leaf; every index is in one of them.
 * @data: For @function.
 *
 * All leaves run, whatever they return. How the range is divided depends on @count and
 * @cutoff alone, never on the number of workers.
 *
 * Return: 0, or what the first leaf in the order of indices returned that did not return 0.
 */
int salvo_worker_for(struct salvo_worker *worker, uint64_t count, uint64_t cutoff,
		     salvo_range_function function, void *data);

/* The most bytes of the result of a reduction */
#define SALVO_REDUCE_BYTES	256u

/**
 * struct salvo_reduction - How a range of indices is reduced to one result.
 *
 * @leaf adds the indices from @begin up to @end to @result, which @identity has filled.
 * @combine adds @right to @left; it must be associative, and need not be commutative.
 */
struct salvo_reduction {
	size_t bytes;			/* of a result, 1 to SALVO_REDUCE_BYTES */
	void (*identity)(void *data, void *result);
	int (*leaf)(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end,
		    void *result);
	void (*combine)(void *data, void *left, const void *right);
};

/**
 * salvo_worker_reduce() - Reduce a range of indices to one result, in parallel.
 * @worker, @count, @cutoff: As for salvo_worker_for().
 * @reduction: What to do.
 * @data: For the functions of @reduction.
 * @result: The result, of the size that @reduction says. It is aligned as the caller chose;
 *          those that the library passes to @reduction are aligned to 64 bytes.
 *
 * Results are combined in the order of the indices, and in the same pairs whatever the number of
 * workers: sums of floating point numbers come out the same, to the bit.
 *
 * Return: as salvo_worker_for(); -EINVAL (a function is missing or a size is out of range).
 */
int salvo_worker_reduce(struct salvo_worker *worker, uint64_t count, uint64_t cutoff,
			const struct salvo_reduction *reduction, void *data, void *result);
/**
 * salvo_worker_wait() - Wait for a batch without blocking the worker: it runs tasks meanwhile.
 * @worker: The caller's.
 * @fence: Of a batch that was submitted. The caller keeps it.
 *
 * Return: as salvo_fence_wait() without a timeout.
 */
int salvo_worker_wait(struct salvo_worker *worker, struct salvo_fence *fence);
/**
 * salvo_worker_leaf() - Run a kernel as a leaf task on the worker's units (W3 of US11340942).
 * @worker: The caller's.
 * @kernel: Of the device of the pool's options, with its arguments and grid as set now.
 * @error: How it failed, as salvo_fence_get_error() tells; may be NULL.
 *
 * Each worker has the options' number of units: the first worker the first ones, and so on,
 * beginning again where the device has no more. The kernel is handed over through a slot, without
 * a system call, and its work-groups are divided among the units. The worker runs other tasks
 * until it has ended. With 0 units, or if the kernel prints, the kernel is submitted as a
 * batch; the results are the same.
 *
 * Return: 0, -ECANCELED (it failed), -EINVAL (the pool has no device, an argument or the grid is
 * not set, or a kernel of another device), -E2BIG (too much local memory), -ENOMEM.
 */
int salvo_worker_leaf(struct salvo_worker *worker, const struct salvo_kernel *kernel,
		      struct salvo_error *error);

#if defined(__cplusplus)
}
#endif

#endif /* SALVO_STEAL_H */
