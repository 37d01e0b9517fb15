// SPDX-License-Identifier: MIT
/*
 * steal.c - what a task costs: libsalvo's pools, oneTBB, OpenMP and no tasks at all in one run
 *
 * fib: two tasks fork and join at each level, nothing is computed. queens: an irregular graph.
 * skynet: ten children at each level, a million leaves. items: a million stores in a parallel loop.
 * A round runs each program on each system, one after the other, so that other load affects all
 * alike. The next one starts when the threads of the one before sleep: OpenMP's spin for
 * milliseconds after a loop, and until then its CPU time counts. Each system stores to items of its
 * own, as to fetch lines that another core has just written costs more than the loop. Prints the
 * median of the rounds: CPU time of all threads until they sleep, and wall time, per task (per
 * item for items).
 *
 * usage: steal [--json] [--rounds N] [--threads N]
 */
#include <omp.h>
#include "bench.h"
#include "salvo_steal.h"
#include "steal.h"

#define FIB		27
#define QUEENS		11
#define LEAVES		1000000
#define ITEMS		1000000
#define ROUNDS_MAX	1000

/* --- libsalvo */

static struct salvo_pool *pool;

struct fib {
	long n, value;
};

static int fib(struct salvo_worker *worker, void *data)
{
	struct fib *f = data, a = { .n = f->n - 1 }, b = { .n = f->n - 2 };
	struct salvo_task task;

	f->value = f->n;
	if (f->n < 2)
		return 0;
	salvo_task_fork(worker, &task, fib, &a);
	fib(worker, &b);
	salvo_task_join(worker, &task);
	f->value = a.value + b.value;
	return 0;
}

struct board {
	int rows, row;
	unsigned int columns, left, right;
	long solutions;
};

static int queens(struct salvo_worker *worker, void *data)
{
	struct board *b = data, next[16];
	unsigned int places = ~(b->columns | b->left | b->right) & ((1u << b->rows) - 1);
	struct salvo_task tasks[16];
	int count = 0;

	b->solutions = b->row == b->rows;
	if (b->solutions)
		return 0;
	for (; places; places &= places - 1, count++) {
		const unsigned int queen = places & -places;

		next[count] = (struct board){
			.rows = b->rows, .row = b->row + 1, .columns = b->columns | queen,
			.left = (b->left | queen) << 1, .right = (b->right | queen) >> 1,
		};
		salvo_task_fork(worker, &tasks[count], queens, &next[count]);
	}
	while (count--) {
		salvo_task_join(worker, &tasks[count]);
		b->solutions += next[count].solutions;
	}
	return 0;
}

struct skynet {
	long first, count, sum;
};

static int skynet(struct salvo_worker *worker, void *data)
{
	struct skynet *s = data, parts[10];
	struct salvo_task tasks[10];
	int i;

	s->sum = s->first;
	if (s->count == 1)
		return 0;
	for (i = 0; i < 10; i++) {
		parts[i] = (struct skynet){ s->first + i * (s->count / 10), s->count / 10, 0 };
		salvo_task_fork(worker, &tasks[i], skynet, &parts[i]);
	}
	for (s->sum = 0; i--; s->sum += parts[i].sum)
		salvo_task_join(worker, &tasks[i]);
	return 0;
}

static int store_items(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	unsigned int *items = data;

	(void)worker;
	for (; begin < end; begin++)
		items[begin] = begin;
	return 0;
}

static int items_for(struct salvo_worker *worker, void *data)
{
	return salvo_worker_for(worker, ITEMS, 0, store_items, data);
}

static long salvo_run(const char *program, unsigned int *items)
{
	struct board board = { .rows = QUEENS };
	struct skynet net = { .count = LEAVES };
	struct fib f = { .n = FIB };

	switch (program[0]) {
	case 'f':
		salvo_pool_run(pool, NULL, fib, &f);
		return f.value;
	case 'q':
		salvo_pool_run(pool, NULL, queens, &board);
		return board.solutions;
	case 's':
		salvo_pool_run(pool, NULL, skynet, &net);
		return net.sum;
	default:
		salvo_pool_run(pool, NULL, items_for, items);
		return items[ITEMS - 1];
	}
}

/* --- oneTBB */

static long tbb_run(const char *program, unsigned int *items)
{
	switch (program[0]) {
	case 'f':
		return tbb_fib(FIB);
	case 'q':
		return tbb_queens(QUEENS, 0, 0, 0, 0);
	case 's':
		return tbb_skynet(0, LEAVES);
	default:
		tbb_items(items, ITEMS);
		return items[ITEMS - 1];
	}
}

/* --- OpenMP */

static long omp_fib(long n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = omp_fib(n - 1);
	b = omp_fib(n - 2);
#pragma omp taskwait
	return a + b;
}

static long omp_queens(const struct board *b)
{
	unsigned int places = ~(b->columns | b->left | b->right) & ((1u << b->rows) - 1);
	long solutions[16], sum = 0;
	int count = 0;

	if (b->row == b->rows)
		return 1;
	for (; places; places &= places - 1, count++) {
		const unsigned int queen = places & -places;
		const struct board next = {
			.rows = b->rows, .row = b->row + 1, .columns = b->columns | queen,
			.left = (b->left | queen) << 1, .right = (b->right | queen) >> 1,
		};

#pragma omp task shared(solutions) firstprivate(count, next)
		solutions[count] = omp_queens(&next);
	}
#pragma omp taskwait
	while (count--)
		sum += solutions[count];
	return sum;
}

static long omp_skynet(long first, long count)
{
	long sums[10], sum = 0;
	int i;

	if (count == 1)
		return first;
	for (i = 0; i < 10; i++) {
#pragma omp task shared(sums) firstprivate(i)
		sums[i] = omp_skynet(first + i * (count / 10), count / 10);
	}
#pragma omp taskwait
	for (i = 0; i < 10; i++)
		sum += sums[i];
	return sum;
}

static long omp_run(const char *program, unsigned int *items)
{
	const struct board empty = { .rows = QUEENS };
	long result = 0, i;

	if (program[0] == 'i') {
#pragma omp parallel for
		for (i = 0; i < ITEMS; i++)
			items[i] = i;
		return items[ITEMS - 1];
	}
#pragma omp parallel
#pragma omp single
	result = program[0] == 'f' ? omp_fib(FIB) :
		 program[0] == 'q' ? omp_queens(&empty) : omp_skynet(0, LEAVES);
	return result;
}

/* --- one thread, no tasks: what the program itself costs */

static long serial_fib(long n)
{
	return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2);
}

static long serial_queens(unsigned int columns, unsigned int left, unsigned int right)
{
	unsigned int places = ~(columns | left | right) & ((1u << QUEENS) - 1);
	long sum = columns == (1u << QUEENS) - 1;

	for (; places; places &= places - 1) {
		const unsigned int queen = places & -places;

		sum += serial_queens(columns | queen, (left | queen) << 1, (right | queen) >> 1);
	}
	return sum;
}

static long serial_skynet(long first, long count)
{
	long sum = 0, i;

	if (count == 1)
		return first;
	for (i = 0; i < 10; i++)
		sum += serial_skynet(first + i * (count / 10), count / 10);
	return sum;
}

static long serial_run(const char *program, unsigned int *items)
{
	switch (program[0]) {
	case 'f':
		return serial_fib(FIB);
	case 'q':
		return serial_queens(0, 0, 0);
	case 's':
		return serial_skynet(0, LEAVES);
	default:
		store_items(NULL, items, 0, ITEMS);
		return items[ITEMS - 1];
	}
}

/* --- all of them */

static const struct {
	const char *name;
	long (*run)(const char *program, unsigned int *items);
} systems[] = { { "salvo", salvo_run }, { "oneTBB", tbb_run }, { "OpenMP", omp_run },
		{ "serial", serial_run } };
#define SYSTEMS (sizeof(systems) / sizeof(systems[0]))

static const struct {
	const char *name;
	/* Number of tasks or items; expected result */
	double tasks;
	long result;
} programs[] = {
	{ "fib", 317810, 196418 },
	{ "queens", 166925, 2680 },
	{ "skynet", 1111110, 499999500000 },
	{ "items", ITEMS, ITEMS - 1 },
};
#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static void measure(unsigned int p, unsigned int s, unsigned int *items, double *cpu, double *wall)
{
	const double cpu0 = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	const double wall0 = clock_us(CLOCK_MONOTONIC);

	need(systems[s].run(programs[p].name, items) == programs[p].result, programs[p].name);
	*wall = clock_us(CLOCK_MONOTONIC) - wall0;
	bench_settle();
	*cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu0;
}

static void show(unsigned int p, double cpu[SYSTEMS][ROUNDS_MAX], double wall[SYSTEMS][ROUNDS_MAX],
		 unsigned int rounds, bool json)
{
	double first = 0;
	unsigned int s;

	for (s = 0; s < SYSTEMS; s++) {
		const double cpu_ns = median(cpu[s], rounds) * 1e3 / programs[p].tasks;
		const double wall_ns = median(wall[s], rounds) * 1e3 / programs[p].tasks;

		if (!s)
			first = cpu_ns;
		if (json)
			printf("{\"program\":\"%s\",\"system\":\"%s\",\"cpu_ns\":%.2f,\"wall_ns\":%.2f}\n",
			       programs[p].name, systems[s].name, cpu_ns, wall_ns);
		else
			printf("%-8s %-8s %9.2f %9.2f %8.2f\n", programs[p].name, systems[s].name,
			       cpu_ns, wall_ns, cpu_ns / first);
	}
}

int main(int argc, char **argv)
{
	static double cpu[PROGRAMS][SYSTEMS][ROUNDS_MAX], wall[PROGRAMS][SYSTEMS][ROUNDS_MAX];
	unsigned int *items[SYSTEMS];
	struct salvo_pool_options options = { .workers = 0 };
	unsigned int rounds = 24, round, p, s, order[SYSTEMS];
	bool json = false;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--threads") && argv[i + 1])
			options.workers = atoi(argv[++i]);
		else
			need(bench_option(argv, &i, &json, &rounds), "usage: steal [--json] [--rounds N] [--threads N]: the arguments");
	}
	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	for (s = 0; s < SYSTEMS; s++) {
		items[s] = calloc(ITEMS, sizeof(*items[s]));
		need(items[s], "calloc");
	}
	need(!salvo_pool_create(&options, &pool), "salvo_pool_create");
	tbb_threads(salvo_pool_workers(pool));
	omp_set_num_threads(salvo_pool_workers(pool));
	for (round = 0; round < rounds; round++) {
		bench_order(round, order, SYSTEMS);
		for (p = 0; p < PROGRAMS; p++)
			for (s = 0; s < SYSTEMS; s++)
				measure(p, order[s], items[order[s]], &cpu[p][order[s]][round],
					&wall[p][order[s]][round]);
	}
	if (!json)
		printf("%u threads           CPU ns   wall ns    to salvo\n",
		       salvo_pool_workers(pool));
	for (p = 0; p < PROGRAMS; p++)
		show(p, cpu[p], wall[p], rounds, json);
	salvo_pool_destroy(pool);
	for (s = 0; s < SYSTEMS; s++)
		free(items[s]);
	return 0;
}
