// SPDX-License-Identifier: MIT
/*
 * pool.c - pools of workers: create, destroy, and tasks from outside
 *
 * A pool's tasks begin with a root. A thread of others takes the place of a worker that sleeps and
 * runs it itself (idle.c). If there is no such worker, or the caller has not enough stack, or
 * it is a worker, which has to wake up for tasks of its own pool too, then salvo_pool_run()
 * puts the root in a list; the lock of that list is the only one, and is not taken for any other
 * task. The root lies on the stack of the thread that waits for it.
 */
#include "worker.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cancel.h"

#define STACK_BYTES	(8u << 20)
#define STACK_MIN_BYTES	(64u << 10)
#define STACK_MAX_BYTES	(1ull << 40)
/* Free stack of a caller that takes a worker's place, if the pool's options do not say */
#define STACK_ROOM	(STACK_BYTES / 2)
/* Tasks that a deque has room for at first */
#define DEQUE_TASKS	256

static void count_root(struct salvo_pool *pool)
{
	__atomic_fetch_add(&pool->public->roots, 1, __ATOMIC_RELAXED);
}

struct salvo_task *salvo_pool_take_root(struct salvo_pool *pool)
{
	struct salvo_task *task;

	if (!atomic_load_explicit(&pool->root_count, memory_order_relaxed))
		return NULL;
	pthread_mutex_lock(&pool->roots_lock);
	task = pool->roots;
	if (task) {
		pool->roots = task->next;
		if (!pool->roots)
			pool->roots_end = &pool->roots;
		atomic_fetch_sub(&pool->root_count, 1);
		count_root(pool);
	}
	pthread_mutex_unlock(&pool->roots_lock);
	return task;
}

static void add_root(struct salvo_pool *pool, struct salvo_task *task)
{
	pthread_mutex_lock(&pool->roots_lock);
	*pool->roots_end = task;
	pool->roots_end = &task->next;
	atomic_fetch_add(&pool->root_count, 1);
	pthread_mutex_unlock(&pool->roots_lock);
	if (!atomic_load(&pool->searching))
		salvo_idle_wake_one(pool);
}

/* For a thread that is no worker. */
static void sleep_until_done(struct salvo_task *task)
{
	uint32_t state = TASK_PENDING;

	__atomic_compare_exchange_n(&task->state, &state, TASK_AWAITED, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
	while (__atomic_load_n(&task->state, __ATOMIC_ACQUIRE) != TASK_DONE)
		syscall(SYS_futex, &task->state, FUTEX_WAIT_PRIVATE, TASK_AWAITED, NULL);
}

static bool root_done(struct salvo_condition *wait)
{
	return __atomic_load_n(&wait->task->state, __ATOMIC_ACQUIRE) == TASK_DONE;
}

/* Where this thread's stack ends below; ~0 if that is not known, as of a coroutine's. */
static uintptr_t stack_end(void)
{
	static _Thread_local uintptr_t low, high;
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	pthread_attr_t attr;
	size_t bytes;
	void *base;

	if (!high && !pthread_getattr_np(pthread_self(), &attr)) {
		if (!pthread_attr_getstack(&attr, &base, &bytes)) {
			low = (uintptr_t)base;
			high = low + bytes;
		}
		pthread_attr_destroy(&attr);
	}
	return here >= low && here < high ? low : ~0ul;
}

/* Runs a root in the place of a worker that sleeps. Return: false if it cannot. */
static bool take_part(struct salvo_pool *pool, salvo_task_function function, void *data,
		      int *result)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0), end = stack_end();
	struct salvo_worker *worker;
	uintptr_t stack_half;
	int state;

	if (end > here || here - end < pool->stack_room)
		return false;
	worker = salvo_idle_borrow(pool);
	if (!worker)
		return false;
	/* A thread that is cancelled within a task would never return the place. */
	state = salvo_cancel_disable();
	count_root(pool);
	stack_half = worker->stack_half;
	worker->stack_half = end + (here - end) / 2;
	*result = function(worker, data);
	worker->stack_half = stack_half;
	salvo_idle_return(worker);
	salvo_cancel_restore(state);
	return true;
}

int salvo_pool_run(struct salvo_pool *pool, struct salvo_worker *worker,
		   salvo_task_function function, void *data)
{
	struct salvo_task task = { .function = function, .data = data, .owner = worker };
	struct salvo_condition wait = { .done = root_done, .task = &task };

	if (pool->process != getpid())
		return -ENODEV;
	if (!worker && take_part(pool, function, data, &task.result))
		return task.result;
	add_root(pool, &task);
	if (worker)
		salvo_worker_until(worker, &wait);
	else
		sleep_until_done(&task);
	return task.result;
}

static void *worker_main(void *arg)
{
	struct salvo_worker *worker = arg;
	pthread_attr_t attr;
	size_t bytes;
	void *base;

	pthread_setname_np(pthread_self(), "salvo-worker");
	if (!pthread_getattr_np(pthread_self(), &attr)) {
		if (!pthread_attr_getstack(&attr, &base, &bytes))
			/* Thread-local variables are at its upper end. */
			worker->stack_half = (uintptr_t)base +
				((uintptr_t)__builtin_frame_address(0) - (uintptr_t)base) / 2;
		pthread_attr_destroy(&attr);
	}
	salvo_worker_until(worker, NULL);
	return NULL;
}

/* A worker takes only the signals that its own instructions cause. */
static void block_signals(sigset_t *old)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	sigset_t set;
	size_t i;

	sigfillset(&set);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&set, own[i]);
	pthread_sigmask(SIG_SETMASK, &set, old);
}

static int start_workers(struct salvo_pool *pool, const int *cores, unsigned int core_count,
			 uint64_t stack_bytes)
{
	pthread_attr_t attr;
	cpu_set_t one;
	sigset_t old;
	int ret;

	ret = pthread_attr_init(&attr);
	if (ret)
		return -ret;
	ret = pthread_attr_setstacksize(&attr, stack_bytes);
	block_signals(&old);
	for (; !ret && pool->started < pool->count; pool->started++) {
		if (core_count) {
			pool->workers[pool->started].core = cores[pool->started % core_count];
			CPU_ZERO(&one);
			CPU_SET(pool->workers[pool->started].core, &one);
			pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
		}
		ret = pthread_create(&pool->workers[pool->started].thread, &attr, worker_main,
				     &pool->workers[pool->started]);
		if (ret)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -ret;
}

static int init_workers(struct salvo_pool *pool, const char *name)
{
	unsigned int i;
	int ret;

	ret = salvo_pool_public_init(pool, name);
	if (ret)
		return ret;
	pool->workers = aligned_alloc(64, pool->count * sizeof(pool->workers[0]));
	if (!pool->workers)
		return -ENOMEM;
	memset(pool->workers, 0, pool->count * sizeof(pool->workers[0]));
	for (i = 0; i < pool->count; i++) {
		pool->workers[i].pool = pool;
		pool->workers[i].index = i;
		pool->workers[i].core = -1;
		pool->workers[i].public = &pool->public->worker[i];
		pool->workers[i].random = 0x9e3779b97f4a7c15ull * (i + 1);
		ret = salvo_deque_init(&pool->workers[i].deque, DEQUE_TASKS);
		if (ret)
			return ret;
	}
	return 0;
}

static bool options_valid(const struct salvo_pool_options *options)
{
	static const struct salvo_pool_options none;

	return options->workers <= SALVO_POOL_MAX_WORKERS && (options->device || !options->units) &&
	       (!options->stack_bytes || (options->stack_bytes >= STACK_MIN_BYTES &&
					  options->stack_bytes <= STACK_MAX_BYTES)) &&
	       !memcmp(options->reserved, none.reserved, sizeof(none.reserved));
}

static int create(const struct salvo_pool_options *options, struct salvo_pool **out)
{
	static const struct salvo_pool_options defaults;
	int cores[SALVO_POOL_MAX_WORKERS];
	struct salvo_pool *pool;
	int core_count, ret;

	if (!options)
		options = &defaults;
	if (!options_valid(options))
		return -EINVAL;
	core_count = salvo_place_cores(cores, SALVO_POOL_MAX_WORKERS);
	if (core_count < 0)
		return core_count;
	pool = aligned_alloc(64, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	memset(pool, 0, sizeof(*pool));
	pool->count = options->workers ? options->workers : core_count ? (uint32_t)core_count : 1;
	pool->process = getpid();
	pool->cutoff = options->cutoff;
	pool->stack_room = options->stack_bytes ? options->stack_bytes : STACK_ROOM;
	pool->public_fd = -1;
	pthread_mutex_init(&pool->roots_lock, NULL);
	pool->roots_end = &pool->roots;
	salvo_idle_init(pool);
	pool->device = options->device;
	ret = init_workers(pool, options->name);
	if (!ret)
		ret = salvo_leaf_init(pool, options->units);
	if (!ret)
		ret = start_workers(pool, cores, core_count,
				    options->stack_bytes ? options->stack_bytes : STACK_BYTES);
	if (ret) {
		salvo_pool_destroy(pool);
		return ret;
	}
	*out = pool;
	return 0;
}

int salvo_pool_create(const struct salvo_pool_options *options, struct salvo_pool **out)
{
	int state, ret;

	*out = NULL;
	/* A thread that is cancelled in here would leave half a pool. */
	state = salvo_cancel_disable();
	ret = create(options, out);
	salvo_cancel_restore(state);
	return ret;
}

void salvo_pool_destroy(struct salvo_pool *pool)
{
	unsigned int i;

	if (!pool || pool->process != getpid())
		return;
	atomic_store(&pool->stop, true);
	for (i = 0; i < pool->started; i++)
		salvo_idle_unpark(&pool->workers[i]);
	for (i = 0; i < pool->started; i++)
		pthread_join(pool->workers[i].thread, NULL);
	while (atomic_load(&pool->wakers))
		sched_yield();
	salvo_leaf_fini(pool);
	for (i = 0; pool->workers && i < pool->count; i++)
		salvo_deque_fini(&pool->workers[i].deque);
	pthread_mutex_destroy(&pool->roots_lock);
	free(pool->workers);
	salvo_pool_public_fini(pool);
	free(pool);
}

unsigned int salvo_pool_workers(const struct salvo_pool *pool)
{
	return pool->count;
}

void salvo_pool_get_stats(const struct salvo_pool *pool, struct salvo_pool_stats *stats)
{
	unsigned int i;

	*stats = (struct salvo_pool_stats){
		.roots = __atomic_load_n(&pool->public->roots, __ATOMIC_RELAXED),
	};
	for (i = 0; i < pool->count; i++) {
		const struct pool_public_worker *public = &pool->public->worker[i];

		stats->steals += __atomic_load_n(&public->steals, __ATOMIC_RELAXED);
		stats->leaves += __atomic_load_n(&public->leaves, __ATOMIC_RELAXED);
		stats->leaf_ns += __atomic_load_n(&public->leaf_ns, __ATOMIC_RELAXED);
		stats->sleeps += __atomic_load_n(&public->sleeps, __ATOMIC_RELAXED);
	}
}

unsigned int salvo_worker_index(const struct salvo_worker *worker)
{
	return worker->index;
}

struct salvo_pool *salvo_worker_pool(const struct salvo_worker *worker)
{
	return worker->pool;
}
