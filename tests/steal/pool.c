// SPDX-License-Identifier: MIT
/* pool.c - pools: their workers, errors at the join, nesting, batches, sleep */
#include <dirent.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "salvo.h"
#include "steal_test.h"

struct number {
	long n, value;
};

static int fib(struct salvo_worker *worker, void *data)
{
	struct number *n = data, a = { .n = n->n - 1 }, b = { .n = n->n - 2 };
	struct salvo_task task;
	int err, other;

	if (n->n < 2) {
		n->value = n->n;
		return 0;
	}
	salvo_task_fork(worker, &task, fib, &a);
	err = fib(worker, &b);
	other = salvo_task_join(worker, &task);
	n->value = a.value + b.value;
	return other ? other : err;
}

TEST(options_are_checked)
{
	static const struct salvo_pool_options wrong[] = {
		{ .workers = SALVO_POOL_MAX_WORKERS + 1 },
		{ .units = 1 },
		{ .stack_bytes = 65535 },
		{ .stack_bytes = ~0ull },
		{ .reserved = { [2] = 1 } },
	};
	const struct salvo_pool_options most = { .workers = SALVO_POOL_MAX_WORKERS };
	struct salvo_pool *pool;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		pool = (void *)1;
		EXPECT_EQ(-EINVAL, salvo_pool_create(&wrong[i], &pool));
		EXPECT_EQ(NULL, pool);
	}
	ASSERT_EQ(0, salvo_pool_create(&most, &pool));
	EXPECT_EQ(SALVO_POOL_MAX_WORKERS, salvo_pool_workers(pool));
	salvo_pool_destroy(pool);
	salvo_pool_destroy(NULL);
}

/* --- W1: workers and cores */

struct places {
	unsigned int workers;
	_Atomic unsigned int arrived;
	cpu_set_t affinity[SALVO_POOL_MAX_WORKERS];
	pid_t thread[SALVO_POOL_MAX_WORKERS];
	struct salvo_pool *pool;
};

/* Returns when every worker is in here. */
static int note_place(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct places *places = data;
	const unsigned int index = salvo_worker_index(worker);

	sched_getaffinity(0, sizeof(cpu_set_t), &places->affinity[index]);
	places->thread[index] = gettid();
	if (salvo_worker_pool(worker) != places->pool || end != begin + 1)
		return -EINVAL;
	atomic_fetch_add(&places->arrived, 1);
	while (atomic_load(&places->arrived) < places->workers)
		sched_yield();
	return 0;
}

static int note_places(struct salvo_worker *worker, void *data)
{
	return salvo_worker_for(worker, ((struct places *)data)->workers, 1, note_place, data);
}

TEST(W1_a_worker_for_each_core_bound_to_it)
{
	struct places places = {};
	cpu_set_t allowed, seen;
	unsigned int i;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(allowed), &allowed));
	ASSERT_EQ(0, salvo_pool_create(NULL, &places.pool));
	places.workers = salvo_pool_workers(places.pool);
	ASSERT_EQ(CPU_COUNT(&allowed), places.workers);
	ASSERT_EQ(0, run_on_threads(places.pool, note_places, &places));
	CPU_ZERO(&seen);
	for (i = 0; i < places.workers; i++) {
		EXPECT_EQ(1, CPU_COUNT(&places.affinity[i]));
		EXPECT_NE(getpid(), places.thread[i]);
		CPU_OR(&seen, &seen, &places.affinity[i]);
	}
	EXPECT_TRUE(CPU_EQUAL(&allowed, &seen));
	salvo_pool_destroy(places.pool);
}

TEST(W1_a_pool_keeps_to_the_cores_of_the_thread_that_creates_it)
{
	struct places places = {};
	cpu_set_t allowed, one;
	int cpu = 0;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(allowed), &allowed));
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &allowed))
			cpu = i;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	ASSERT_EQ(0, salvo_pool_create(NULL, &places.pool));
	places.workers = salvo_pool_workers(places.pool);
	EXPECT_EQ(1, places.workers);
	ASSERT_EQ(0, run_on_threads(places.pool, note_places, &places));
	EXPECT_TRUE(CPU_EQUAL(&one, &places.affinity[0]));
	salvo_pool_destroy(places.pool);
}

/* How often a thread has given up its core. */
static long switches_of(pid_t thread)
{
	char path[64], line[256];
	long switches = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", thread);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "voluntary_ctxt_switches: %ld", &switches);
	if (file)
		fclose(file);
	return switches;
}

static bool all_asleep(struct salvo_pool *pool, const struct places *places)
{
	unsigned int i;
	char path[64], state;
	FILE *file;

	for (i = 0; i < places->workers; i++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", places->thread[i]);
		file = fopen(path, "r");
		if (!file)
			return false;
		state = 0;
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		fclose(file);
		if (state != 'S')
			return false;
	}
	return true;
}

TEST(W1_workers_without_work_sleep_until_there_is_some)
{
	struct places places = { .workers = 2 };
	const struct timespec moment = { .tv_nsec = 200000000 };
	struct number n = { .n = 20 };
	long before[2];
	int i, round;

	places.pool = pool_of(2, 0);
	ASSERT_NE(NULL, places.pool);
	ASSERT_EQ(0, run_on_threads(places.pool, note_places, &places));
	for (round = 0; round < 3; round++) {
		while (!all_asleep(places.pool, &places))
			sched_yield();
		/* A thread that polls goes to sleep again and again; these do not wake. */
		for (i = 0; i < 2; i++)
			before[i] = switches_of(places.thread[i]);
		nanosleep(&moment, NULL);
		for (i = 0; i < 2; i++)
			EXPECT_EQ(before[i], switches_of(places.thread[i]));
		EXPECT_EQ(0, salvo_pool_run(places.pool, NULL, fib, &n));
		EXPECT_EQ(6765, n.value);
	}
	salvo_pool_destroy(places.pool);
}

static int mask_of(struct salvo_worker *worker, void *data)
{
	return pthread_sigmask(SIG_BLOCK, NULL, data);
}

TEST(W1_workers_leave_signals_to_other_threads)
{
	struct salvo_pool *pool = pool_of(1, 0);
	sigset_t mask;

	ASSERT_NE(NULL, pool);
	sigemptyset(&mask);
	ASSERT_EQ(0, run_on_threads(pool, mask_of, &mask));
	salvo_pool_destroy(pool);
	EXPECT_EQ(1, sigismember(&mask, SIGINT));
	EXPECT_EQ(1, sigismember(&mask, SIGALRM));
	EXPECT_EQ(0, sigismember(&mask, SIGSEGV));
	EXPECT_EQ(0, sigismember(&mask, SIGFPE));
}

/* --- W2: fork and join */

TEST(W2_one_worker_runs_all_and_steals_nothing)
{
	struct number n = { .n = 20 };
	struct salvo_pool_stats stats;
	struct salvo_pool *pool = pool_of(1, 0);

	ASSERT_NE(NULL, pool);
	EXPECT_EQ(0, salvo_pool_run(pool, NULL, fib, &n));
	EXPECT_EQ(6765, n.value);
	salvo_pool_get_stats(pool, &stats);
	EXPECT_EQ(1, stats.roots);
	EXPECT_EQ(0, stats.steals);
	salvo_pool_destroy(pool);
}

struct meeting {
	_Atomic int arrived;
	int expected;
};

static int meet(struct salvo_worker *worker, void *data)
{
	struct meeting *meeting = data;

	atomic_fetch_add(&meeting->arrived, 1);
	while (atomic_load(&meeting->arrived) < meeting->expected)
		sched_yield();
	return salvo_worker_index(worker);
}

static int meet_another(struct salvo_worker *worker, void *data)
{
	struct salvo_task task;
	int here, there;

	salvo_task_fork(worker, &task, meet, data);
	here = meet(worker, data);
	there = salvo_task_join(worker, &task);
	return here != there ? 0 : -EINVAL;
}

TEST(W2_forked_task_runs_on_another_worker_at_the_same_time)
{
	struct salvo_pool *pool = pool_of(2, 0);
	struct salvo_pool_stats stats;
	int i;

	ASSERT_NE(NULL, pool);
	for (i = 0; i < 200; i++) {
		struct meeting meeting = { .expected = 2 };

		/* Now and then to a pool that sleeps. */
		if (i % 20 == 0)
			usleep(1000);
		ASSERT_EQ(0, salvo_pool_run(pool, NULL, meet_another, &meeting));
	}
	salvo_pool_get_stats(pool, &stats);
	EXPECT_EQ(200, stats.roots);
	EXPECT_LE(200, stats.steals);
	salvo_pool_destroy(pool);
}

#define MANY 5000

static int count_up(struct salvo_worker *worker, void *data)
{
	++*(int *)data;
	return 0;
}

/* More tasks at once than the deque has room for at first, joined in the wrong order. */
static int fork_many(struct salvo_worker *worker, void *data)
{
	struct salvo_task *tasks = calloc(MANY, sizeof(*tasks));
	int *counts = data;
	int i, err = 0;

	for (i = 0; i < MANY; i++)
		salvo_task_fork(worker, &tasks[i], count_up, &counts[i]);
	for (i = 0; i < MANY; i++)
		err |= salvo_task_join(worker, &tasks[(i * 7) % MANY]);
	free(tasks);
	return err;
}

TEST(W2_thousands_of_tasks_are_joined_in_any_order)
{
	static int counts[MANY];
	size_t w;
	int i;

	for (w = 0; w < WORKER_COUNTS; w++) {
		memset(counts, 0, sizeof(counts));
		ASSERT_EQ(0, run_on(worker_counts[w], fork_many, counts));
		for (i = 0; i < MANY; i++)
			ASSERT_EQ(1, counts[i]);
	}
}

struct cover {
	uint64_t count, cutoff;
	_Atomic uint64_t longest, leaves;
	_Atomic unsigned char seen[10007];
};

static int cover_leaf(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct cover *cover = data;
	uint64_t longest = atomic_load(&cover->longest);

	while (end - begin > longest &&
	       !atomic_compare_exchange_weak(&cover->longest, &longest, end - begin))
		;
	atomic_fetch_add(&cover->leaves, 1);
	/* Leaves are as long as the cutoff, but for the last one. */
	if (cover->cutoff && (begin % cover->cutoff ||
			      (end != cover->count && end - begin != cover->cutoff)))
		return -EDOM;
	for (; begin < end; begin++)
		atomic_fetch_add(&cover->seen[begin], 1);
	return 0;
}

static int cover_all(struct salvo_worker *worker, void *data)
{
	struct cover *cover = data;

	return salvo_worker_for(worker, cover->count, cover->cutoff, cover_leaf, data);
}

TEST(W2_a_range_is_divided_down_to_the_cutoff)
{
	static const uint64_t counts[] = { 0, 1, 2, 3, 64, 1000, 10007 };
	static const uint64_t cutoffs[] = { 0, 1, 2, 7, 1000, ~0ull };
	static struct cover cover;
	uint64_t i;
	size_t n, c;

	for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
		for (c = 0; c < sizeof(cutoffs) / sizeof(cutoffs[0]); c++) {
			memset(&cover, 0, sizeof(cover));
			cover.count = counts[n];
			cover.cutoff = cutoffs[c];
			ASSERT_EQ(0, run_on(3, cover_all, &cover));
			for (i = 0; i < 10007; i++)
				ASSERT_EQ(i < counts[n], cover.seen[i]);
			if (cutoffs[c])
				EXPECT_GE(cutoffs[c], cover.longest);
			if (cutoffs[c] >= counts[n] && cutoffs[c])
				EXPECT_EQ(!!counts[n], cover.leaves);
			if (!cutoffs[c])
				EXPECT_GE(1024, cover.leaves);
		}
}

TEST(W2_cutoff_of_the_pool_is_the_default)
{
	static struct cover cover = { .count = 1024 };
	struct salvo_pool *pool = pool_of(2, 256);

	ASSERT_NE(NULL, pool);
	ASSERT_EQ(0, salvo_pool_run(pool, NULL, cover_all, &cover));
	EXPECT_EQ(4, cover.leaves);
	EXPECT_EQ(256, cover.longest);
	salvo_pool_destroy(pool);
}

struct descent {
	int depth;
	int reached;
};

/* A stack frame of some size for each level, so that thieves nest deep. */
static int descend(struct salvo_worker *worker, void *data)
{
	struct descent *descent = data, left = { .depth = descent->depth - 1 }, right = left;
	volatile char ballast[512];
	struct salvo_task task;
	int err, other;

	ballast[0] = 0;
	if (!descent->depth) {
		descent->reached = 1;
		if ((uintptr_t)data / 64 % 64 == 0)
			sched_yield();
		return ballast[0];
	}
	salvo_task_fork(worker, &task, descend, &left);
	err = descend(worker, &right);
	other = salvo_task_join(worker, &task);
	descent->reached = left.reached + right.reached;
	return err ? err : other;
}

TEST(W2_workers_with_small_stacks_do_not_run_over_them)
{
	const struct salvo_pool_options options = { .workers = 4, .stack_bytes = 65536 };
	struct descent descent = { .depth = 14 };
	struct salvo_pool *pool;

	ASSERT_EQ(0, salvo_pool_create(&options, &pool));
	EXPECT_EQ(0, salvo_pool_run(pool, NULL, descend, &descent));
	EXPECT_EQ(1 << 14, descent.reached);
	salvo_pool_destroy(pool);
}

/* --- errors */

static int fail_leaf(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	atomic_fetch_add((_Atomic int *)data, 1);
	return begin >= 40 && begin % 2 ? -(int)begin : 0;
}

static int fail_some(struct salvo_worker *worker, void *data)
{
	return salvo_worker_for(worker, 100, 1, fail_leaf, data);
}

static int give_up(struct salvo_worker *worker, void *data)
{
	return *(int *)data;
}

static int fork_failing(struct salvo_worker *worker, void *data)
{
	struct salvo_task task;

	salvo_task_fork(worker, &task, give_up, data);
	return salvo_task_join(worker, &task);
}

TEST(W2_errors_come_back_at_the_join)
{
	static int results[] = { 0, -EIO, -ENOMEM, 1, INT_MAX, INT_MIN };
	size_t i, w;

	for (w = 0; w < WORKER_COUNTS; w++) {
		_Atomic int leaves = 0;

		for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
			EXPECT_EQ(results[i], run_on(worker_counts[w], fork_failing, &results[i]));
		/* The first in the order of indices, and none is left out. */
		EXPECT_EQ(-41, run_on(worker_counts[w], fail_some, &leaves));
		EXPECT_EQ(100, leaves);
	}
}

/* --- reduce */

struct harmonic {
	double sum;
	double serial_order;
};

static void zero(void *data, void *result)
{
	*(double *)result = 0;
}

static int add_leaf(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end,
		    void *result)
{
	double *sum = result;

	if ((uintptr_t)result % 64)
		return -EFAULT;
	for (; begin < end; begin++)
		*sum += 1.0 / (begin + 1);
	return 0;
}

static void add(void *data, void *left, const void *right)
{
	*(double *)left += *(const double *)right;
}

static const struct salvo_reduction sum = { sizeof(double), zero, add_leaf, add };

static int add_up(struct salvo_worker *worker, void *data)
{
	return salvo_worker_reduce(worker, 100000, 0, &sum, NULL, data);
}

TEST(W8_sums_are_the_same_to_the_bit_whatever_the_number_of_workers)
{
	double first, other;
	unsigned int workers;

	ASSERT_EQ(0, run_on(1, add_up, &first));
	EXPECT_LT(12.0901461, first);
	EXPECT_GT(12.0901462, first);
	for (workers = 2; workers <= 8; workers++) {
		ASSERT_EQ(0, run_on(workers, add_up, &other));
		EXPECT_EQ(0, memcmp(&first, &other, sizeof(first)));
	}
}

static void empty_text(void *data, void *result)
{
	*(char *)result = 0;
}

static int letters(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end,
		   void *result)
{
	char *text = (char *)result + strlen(result);

	for (; begin < end; begin++)
		*text++ = 'a' + begin;
	*text = 0;
	return 0;
}

static void concatenate(void *data, void *left, const void *right)
{
	strcat(left, right);
}

static int alphabet(struct salvo_worker *worker, void *data)
{
	static const struct salvo_reduction text = { 32, empty_text, letters, concatenate };

	return salvo_worker_reduce(worker, 26, 1, &text, NULL, data);
}

static int wrong_reductions(struct salvo_worker *worker, void *data)
{
	struct salvo_reduction wrong[5] = { sum, sum, sum, sum, sum };
	double result = 1;
	int i;

	wrong[0].bytes = 0;
	wrong[1].bytes = SALVO_REDUCE_BYTES + 1;
	wrong[2].identity = NULL;
	wrong[3].leaf = NULL;
	wrong[4].combine = NULL;
	for (i = 0; i < 5; i++)
		if (salvo_worker_reduce(worker, 1, 1, &wrong[i], NULL, &result) != -EINVAL)
			return i + 1;
	if (salvo_worker_reduce(worker, 0, 0, &sum, NULL, &result) || result)
		return 6;
	return 0;
}

TEST(W2_results_are_combined_in_the_order_of_indices)
{
	char text[32];
	size_t w;

	for (w = 0; w < WORKER_COUNTS; w++) {
		ASSERT_EQ(0, run_on(worker_counts[w], alphabet, text));
		EXPECT_STREQ("abcdefghijklmnopqrstuvwxyz", text);
	}
	EXPECT_EQ(0, run_on(1, wrong_reductions, NULL));
}

/* --- several pools */

struct nest {
	struct salvo_pool *outer, *inner;
	int depth;
};

static int ping(struct salvo_worker *worker, void *data)
{
	struct nest *nest = data, next = { nest->inner, nest->outer, nest->depth - 1 };

	if (salvo_worker_pool(worker) != nest->outer)
		return -EXDEV;
	return nest->depth ? salvo_pool_run(nest->inner, worker, ping, &next) + 1 : 0;
}

static int ping_leaf(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	int depth = ping(worker, data);

	return depth == ((struct nest *)data)->depth ? 0 : -EINVAL;
}

static int ping_often(struct salvo_worker *worker, void *data)
{
	return salvo_worker_for(worker, 100, 1, ping_leaf, data);
}

/* A pool of one worker waits for another pool's task, which waits for a task of the first. */
TEST(W2_pools_nest_in_each_other)
{
	size_t w;

	for (w = 0; w < WORKER_COUNTS; w++) {
		struct nest nest = { pool_of(worker_counts[w], 0), pool_of(1, 0), 5 };

		ASSERT_NE(NULL, nest.outer);
		ASSERT_NE(NULL, nest.inner);
		EXPECT_EQ(5, salvo_pool_run(nest.outer, NULL, ping, &nest));
		EXPECT_EQ(0, salvo_pool_run(nest.outer, NULL, ping_often, &nest));
		salvo_pool_destroy(nest.inner);
		salvo_pool_destroy(nest.outer);
	}
}

static void *run_fib(void *pool)
{
	struct number n = { .n = 18 };
	int i, bad = 0;

	for (i = 0; i < 20; i++) {
		n.value = 0;
		bad |= salvo_pool_run(pool, NULL, fib, &n) || n.value != 2584;
	}
	return bad ? pool : NULL;
}

TEST(threads_share_a_pool_and_use_several)
{
	struct salvo_pool *pools[2] = { pool_of(2, 0), pool_of(3, 0) };
	pthread_t threads[6];
	void *bad;
	int i;

	ASSERT_TRUE(pools[0] && pools[1]);
	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, run_fib, pools[i % 2]));
	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &bad));
		EXPECT_EQ(NULL, bad);
	}
	salvo_pool_destroy(pools[0]);
	salvo_pool_destroy(pools[1]);
}

/* --- fork */

TEST(child_of_a_fork_leaves_the_pool_alone)
{
	struct salvo_pool *pool = pool_of(2, 0);
	struct number n = { .n = 10 };
	int status;
	pid_t pid;

	ASSERT_NE(NULL, pool);
	ASSERT_EQ(0, salvo_pool_run(pool, NULL, fib, &n));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		status = salvo_pool_run(pool, NULL, fib, &n) == -ENODEV;
		salvo_pool_destroy(pool);
		_exit(status ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, salvo_pool_run(pool, NULL, fib, &n));
	EXPECT_EQ(55, n.value);
	salvo_pool_destroy(pool);
}

/* --- without membarrier */

static int refuse_membarrier(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 4, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* The harness runs each test in a process of its own. */
TEST(W2_where_the_system_has_no_membarrier)
{
	struct salvo_pool *pool;
	int i;

	ASSERT_EQ(0, refuse_membarrier());
	ASSERT_EQ(-1, syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0));
	pool = pool_of(2, 0);
	ASSERT_NE(NULL, pool);
	for (i = 0; i < 100; i++) {
		struct meeting meeting = { .expected = 2 };

		if (i % 10 == 0)
			usleep(1000);
		ASSERT_EQ(0, salvo_pool_run(pool, NULL, meet_another, &meeting));
	}
	salvo_pool_destroy(pool);
}

TEST_HARNESS_MAIN
