// SPDX-License-Identifier: MIT
/*
 * agile.c - what do agile arrays cost?
 *
 * In one run, the shortest wall times of all rounds unless CPU time is said:
 * - a field redistributed from bands of rows to bands of columns over two embedded GPUs, against
 *   memcpy() of as many bytes by one thread;
 * - C = A + transpose(B) over two embedded GPUs, with B written anew each time, so that half of
 *   it moves, against the same kernel over one GPU and undivided arrays, and the time that memcpy()
 *   takes for the bytes that move;
 * - CPU time to plan a statement of 1,024 tasks, and to plan and submit such statements on four
 *   embedded GPUs when their blocks have moved;
 * - Fourier transforms of 512 rows over two nodes of one unit each, of which a busy thread takes
 *   about half of one's core: by each node alone, and by both with stealing, against the time
 *   that both together need at least, at the speeds that they have alone;
 * - and plans for 4 to 1,024 nodes of unequal speed: CPU time, bytes that move, and how far apart
 *   the nodes end.
 *
 * usage: agile [--json] [--rounds N]
 */
#include <pthread.h>
#include <sched.h>

#include "bench.h"
#include "salvo_agile.h"

#define SIDE	2048u
#define MOST_ROUNDS 1000u

static const struct salvo_agile_grid grid = { 2, { 0, 0 }, { SIDE, SIDE } };

static struct salvo_agile_field *make(struct salvo_agile *agile, const struct salvo_agile_grid *of,
				      struct salvo_agile_decomposition how, uint64_t block)
{
	const struct salvo_agile_field_info info = { 4, { block, block }, { block, block } };
	struct salvo_agile_field *field;
	struct salvo_agile_map *map;

	need(!salvo_agile_map_create(agile, "bench", of, &how, &map), "salvo_agile_map_create");
	need(!salvo_agile_field_create(agile, "bench", map, &info, &field),
	     "salvo_agile_field_create");
	salvo_agile_map_destroy(map);
	return field;
}

/* The machine may be busy: compare the shortest times. */
static double least(double *times, unsigned int rounds)
{
	median(times, rounds);
	return times[0];
}

static double redistribute(struct salvo_agile *agile, unsigned int rounds)
{
	struct salvo_agile_field *rows = make(agile, &grid, (struct salvo_agile_decomposition){
		.kind = SALVO_AGILE_BLOCK }, 0);
	struct salvo_agile_field *columns = make(agile, &grid, (struct salvo_agile_decomposition){
		.kind = SALVO_AGILE_BLOCK, .columns = 1 }, 0);
	double times[MOST_ROUNDS], start;

	for (unsigned int i = 0; i < rounds; i++) {
		start = clock_us(CLOCK_MONOTONIC);
		need(!salvo_agile_redistribute(agile, i % 2 ? rows : columns,
					       i % 2 ? columns : rows), "redistribute");
		need(!salvo_agile_wait(agile), "salvo_agile_wait");
		times[i] = clock_us(CLOCK_MONOTONIC) - start;
	}
	salvo_agile_field_destroy(rows);
	salvo_agile_field_destroy(columns);
	return least(times, rounds);
}

static double copy(unsigned int rounds)
{
	char *from = malloc(SIDE * SIDE * 4), *to = malloc(SIDE * SIDE * 4);
	double times[MOST_ROUNDS], start;

	memset(from, 1, SIDE * SIDE * 4);
	memset(to, 2, SIDE * SIDE * 4);
	for (unsigned int i = 0; i < rounds; i++) {
		start = clock_us(CLOCK_MONOTONIC);
		memcpy(i % 2 ? from : to, i % 2 ? to : from, SIDE * SIDE * 4);
		__asm__ volatile("" ::: "memory");
		times[i] = clock_us(CLOCK_MONOTONIC) - start;
	}
	free(from);
	free(to);
	return least(times, rounds);
}

static uint64_t moved_bytes(const struct salvo_agile *agile)
{
	struct salvo_agile_stats stats;
	uint64_t bytes = 0;

	for (unsigned int n = 0; !salvo_agile_get_stats(agile, n, &stats); n++)
		bytes += stats.moved_bytes;
	return bytes;
}

/* @undivided: one segment and one task. @moved: bytes of a round. */
static double transpose(struct salvo_agile *agile, const void *image, size_t bytes, bool undivided,
			unsigned int rounds, uint64_t *moved)
{
	/* Bands of rows: each node reads half of the other's. */
	const struct salvo_agile_decomposition how = {
		.kind = undivided ? SALVO_AGILE_BLOCK : SALVO_AGILE_BLOCK_CYCLIC,
		.block = { SIDE / 2, SIDE } };
	struct salvo_agile_field *a = make(agile, &grid, how, undivided ? 0 : 256);
	struct salvo_agile_field *b = make(agile, &grid, how, undivided ? 0 : 256);
	struct salvo_agile_field *c = make(agile, &grid, how, undivided ? 0 : 256);
	const uint32_t factors[2] = { 3, 5 };
	const struct salvo_agile_value values[] = { { &factors[0], 4 }, { &factors[1], 4 } };
	struct salvo_agile_statement fill = { NULL, b, NULL, values, 0, 2, 0 };
	struct salvo_agile_operand operands[] = {
		{ a, NULL, NULL }, { b, salvo_agile_transposed, NULL } };
	struct salvo_agile_statement s = { NULL, c, operands, NULL, 2, 0, 0 };
	double times[MOST_ROUNDS], start;

	need(!salvo_agile_kernel_create(agile, image, bytes, "add_transposed", &s.kernel),
	     "salvo_agile_kernel_create");
	need(!salvo_agile_kernel_create(agile, image, bytes, "ramp", &fill.kernel),
	     "salvo_agile_kernel_create");
	for (unsigned int i = 0; i < rounds; i++) {
		need(!salvo_agile_forall(agile, &fill) && !salvo_agile_wait(agile), "forall");
		*moved = moved_bytes(agile);
		start = clock_us(CLOCK_MONOTONIC);
		need(!salvo_agile_forall(agile, &s) && !salvo_agile_wait(agile), "forall");
		times[i] = clock_us(CLOCK_MONOTONIC) - start;
		*moved = moved_bytes(agile) - *moved;
	}
	salvo_agile_kernel_destroy(s.kernel);
	salvo_agile_kernel_destroy(fill.kernel);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_field_destroy(c);
	return least(times, rounds);
}

static volatile bool busy;

static void *be_busy(void *unused)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (busy)
		;
	return unused;
}

/* Tasks go to nodes a few at a time also where there is one, so that times can be compared. */
static double transform(const struct salvo_agile_node *nodes, unsigned int count,
			const void *image, size_t bytes, unsigned int rounds)
{
	const struct salvo_agile_grid rows = { 2, { 0, 0 }, { 512, 256 } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_field_info info = { 8, { 1, 0 }, { 1, 0 } };
	struct salvo_agile_operand operand = { NULL, NULL, NULL };
	struct salvo_agile_statement s = { NULL, NULL, &operand, NULL, 1, 0,
					  SALVO_AGILE_STEAL };
	double times[MOST_ROUNDS], start;
	struct salvo_agile *agile;
	struct salvo_agile_map *map;

	need(!salvo_agile_create(nodes, count, &agile), "salvo_agile_create");
	need(!salvo_agile_map_create(agile, "rows", &rows, &how, &map) &&
	     !salvo_agile_field_create(agile, "a", map, &info, &operand.field) &&
	     !salvo_agile_field_create(agile, "c", map, &info, &s.result) &&
	     !salvo_agile_kernel_create(agile, image, bytes, "dft_rows", &s.kernel), "transform");
	for (unsigned int i = 0; i < rounds; i++) {
		start = clock_us(CLOCK_MONOTONIC);
		need(!salvo_agile_forall(agile, &s) && !salvo_agile_wait(agile), "forall");
		times[i] = clock_us(CLOCK_MONOTONIC) - start;
	}
	salvo_agile_kernel_destroy(s.kernel);
	salvo_agile_field_destroy(operand.field);
	salvo_agile_field_destroy(s.result);
	salvo_agile_map_destroy(map);
	salvo_agile_destroy(agile);
	return least(times, rounds);
}

static void unequal(const struct salvo_agile_node *nodes, const void *image, size_t bytes,
		    unsigned int rounds, bool json)
{
	const struct salvo_agile_node units[2] = {
		{ nodes[0].device, 1 }, { nodes[1].device, 2 } };
	double alone[2], both;
	pthread_t thread;

	busy = true;
	need(!pthread_create(&thread, NULL, be_busy, NULL), "pthread_create");
	for (unsigned int n = 0; n < 2; n++)
		alone[n] = transform(&units[n], 1, image, bytes, rounds);
	both = transform(units, 2, image, bytes, rounds);
	busy = false;
	pthread_join(thread, NULL);
	printf(json ? ", \"unequal\": { \"alone_us\": [ %.0f, %.0f ], \"least_us\": %.0f, \"both_us\": %.0f }" :
		      "nodes of unequal speed: alone %.0f us and %.0f us, so together at least %.0f us; measured %.0f us\n",
	       alone[0], alone[1], 1 / (1 / alone[0] + 1 / alone[1]), both);
}

/* @tasks tasks in each dimension, of 64 x 64 elements. Returns the CPU us of a plan. */
static double plan(unsigned int count, unsigned int tasks, bool steal, double *bytes, double *apart)
{
	const struct salvo_agile_grid whole = { 2, { 0, 0 }, { tasks * 64, tasks * 64 } };
	struct salvo_agile_schedule *nodes = calloc(count, sizeof(*nodes));
	double *speeds = calloc(count, sizeof(*speeds)), start, first, last = 0;
	struct salvo_agile_statement s = { .flags = steal ? SALVO_AGILE_STEAL : 0 };
	struct salvo_agile *agile;
	struct salvo_agile_operand operands[2] = { { 0 } };

	need(!salvo_agile_create(NULL, count, &agile), "salvo_agile_create");
	for (unsigned int i = 0; i < 3; i++) {
		struct salvo_agile_field *field = make(agile, &whole,
			(struct salvo_agile_decomposition){
				.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 64, 64 } }, 64);

		if (i < 2)
			operands[i].field = field;
		else
			s.result = field;
	}
	operands[1].region = salvo_agile_transposed;
	s.operands = operands;
	s.operand_count = 2;
	for (unsigned int i = 0; i < count; i++)
		speeds[i] = 1 + i % 3;
	start = clock_us(CLOCK_THREAD_CPUTIME_ID);
	need(steal ? !salvo_agile_schedule(agile, &s, speeds, nodes) :
		     !salvo_agile_forall(agile, &s), "plan");
	start = clock_us(CLOCK_THREAD_CPUTIME_ID) - start;
	first = nodes[0].finish;
	*bytes = 0;
	for (unsigned int i = 0; i < count; i++) {
		*bytes += nodes[i].moved_bytes;
		first = nodes[i].finish < first ? nodes[i].finish : first;
		last = nodes[i].finish > last ? nodes[i].finish : last;
	}
	*apart = last ? 100 * (last - first) / last : 0;
	salvo_agile_field_destroy(operands[0].field);
	salvo_agile_field_destroy(operands[1].field);
	salvo_agile_field_destroy(s.result);
	salvo_agile_destroy(agile);
	free(nodes);
	free(speeds);
	return start;
}

/* The least CPU us of a statement of 1,024 tasks, C = A + transpose(B). */
static double submit(const struct salvo_agile_node *nodes, const void *image, size_t bytes,
		     unsigned int rounds)
{
	const struct salvo_agile_grid square = { 2, { 0, 0 }, { 512, 512 } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 128, 128 } };
	struct salvo_agile_operand operands[] = {
		{ NULL, NULL, NULL }, { NULL, salvo_agile_transposed, NULL } };
	struct salvo_agile_statement s = { NULL, NULL, operands, NULL, 2, 0, 0 };
	double times[MOST_ROUNDS], start;
	struct salvo_agile *agile;

	need(!salvo_agile_create(nodes, 4, &agile), "salvo_agile_create");
	operands[0].field = make(agile, &square, how, 16);
	operands[1].field = make(agile, &square, how, 16);
	s.result = make(agile, &square, how, 16);
	need(!salvo_agile_kernel_create(agile, image, bytes, "add_transposed", &s.kernel) &&
	     !salvo_agile_forall(agile, &s) && !salvo_agile_wait(agile), "forall");
	for (unsigned int i = 0; i < rounds; i++) {
		start = clock_us(CLOCK_THREAD_CPUTIME_ID);
		need(!salvo_agile_forall(agile, &s), "forall");
		times[i] = clock_us(CLOCK_THREAD_CPUTIME_ID) - start;
		need(!salvo_agile_wait(agile), "salvo_agile_wait");
	}
	salvo_agile_kernel_destroy(s.kernel);
	salvo_agile_field_destroy(operands[0].field);
	salvo_agile_field_destroy(operands[1].field);
	salvo_agile_field_destroy(s.result);
	salvo_agile_destroy(agile);
	return least(times, rounds);
}

static void simulate(bool json)
{
	static const unsigned int counts[] = { 4, 16, 64, 256, 1024 };
	double bytes, apart, us;

	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		us = plan(counts[i], 128, true, &bytes, &apart);
		printf(json ? ", \"nodes_%u\": { \"plan_ms\": %.1f, \"moved_mib\": %.1f, \"apart_percent\": %.1f }" :
			      "%5u nodes, 16,384 tasks: plan %8.1f ms, moved %7.1f MiB, ends %5.1f%% apart\n",
		       counts[i], us / 1e3, bytes / (1 << 20), apart);
	}
}

int main(int argc, char **argv)
{
	struct salvo_agile_node nodes[4] = { { NULL, 0 } };
	double moved, copied, two, one, planned, submitted, unused;
	uint64_t two_bytes, one_bytes;
	static char image[1 << 22];
	unsigned int rounds = 21;
	struct salvo_agile *agile;
	bool json = false;
	size_t bytes;
	FILE *file;

	for (int i = 1; i < argc; i++)
		need(bench_option(argv, &i, &json, &rounds) && rounds && rounds <= MOST_ROUNDS,
		     "option");
	file = fopen("build/kernels/agile.salvo", "rbe");
	need(file, "build/kernels/agile.salvo");
	bytes = fread(image, 1, sizeof(image), file);
	fclose(file);
	for (unsigned int i = 0; i < 4; i++)
		need(!salvo_device_open("soft", &nodes[i].device), "salvo_device_open");
	need(!salvo_agile_create(nodes, 2, &agile), "salvo_agile_create");
	moved = redistribute(agile, rounds);
	copied = copy(rounds);
	two = transpose(agile, image, bytes, false, rounds, &two_bytes);
	salvo_agile_destroy(agile);
	need(!salvo_agile_create(nodes, 1, &agile), "salvo_agile_create");
	one = transpose(agile, image, bytes, true, rounds, &one_bytes);
	salvo_agile_destroy(agile);
	planned = plan(4, 32, false, &unused, &unused);
	submitted = submit(nodes, image, bytes, rounds);
	printf(json ? "{ \"redistribute_us\": %.0f, \"memcpy_us\": %.0f, \"transpose_2_us\": %.0f, \"transpose_undivided_us\": %.0f, \"memcpy_of_moved_us\": %.0f, \"plan_1024_us\": %.0f, \"submit_1024_us\": %.0f" :
		      "redistribute 16 MiB: %.0f us, memcpy %.0f us\nC = A + transpose(B): 2 nodes %.0f us; undivided %.0f us and memcpy of what moves %.0f us\nplan of 1,024 tasks: %.0f us of CPU; with commands and submission %.0f us\n",
	       moved, copied, two, one, copied * two_bytes / (SIDE * SIDE * 4.0), planned,
	       submitted);
	unequal(nodes, image, bytes, rounds, json);
	simulate(json);
	if (json)
		puts(" }");
	for (unsigned int i = 0; i < 4; i++)
		salvo_device_close(nodes[i].device);
	return 0;
}
