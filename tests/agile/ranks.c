// SPDX-License-Identifier: MIT
/*
 * ranks.c - agile arrays over several ranks: one program, alone or under mpirun (ranks.sh)
 *
 * usage: ranks [NODES [TEST]...]: NODES nodes in each process, 2 if it is not said; only the TESTs
 *
 * Rank 0 prints TAP. What fails on another rank goes to its stderr and is its exit status.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "examples.h"
#include "random_field.h"

#define MOST 3000u

/* Elements whose owners differ, and all of them arrive, of any rank of array. */
static int redistribute(struct example *e)
{
	static uint8_t in[MOST * 24], out[MOST * 24];
	struct salvo_agile_stats before, now;
	struct salvo_agile_place from, to;
	uint64_t seed = 6;

	for (unsigned int i = 0; i < 60; i++) {
		struct salvo_agile_grid grid = { .rank = 1 + pick(&seed, 4) };
		const size_t element = 1 + pick(&seed, 24);
		struct salvo_agile_field *a, *b;
		uint64_t bytes, moved = 0, n;

		for (unsigned int d = 0; d < grid.rank; d++) {
			grid.offset[d] = pick(&seed, 3) ? 0 : pick(&seed, 50);
			grid.extent[d] = 1 + pick(&seed, grid.rank > 2 ? 6 : 20);
		}
		bytes = salvo_agile_grid_count(&grid) * element;
		a = random_field(e->agile, &seed, &grid, element);
		b = random_field(e->agile, &seed, &grid, element);
		for (n = 0; n < bytes; n++)
			in[n] = pick(&seed, 256);
		WRITE(a, &grid, in, element);
		for (n = 0; n < salvo_agile_grid_count(&grid); n++) {
			const struct salvo_agile_index at = salvo_agile_grid_index(&grid, n);

			salvo_agile_field_locate(a, &at, &from);
			salvo_agile_field_locate(b, &at, &to);
			moved += from.node != to.node ? element : 0;
		}
		STATS(before);
		OK(salvo_agile_redistribute(e->agile, b, a));
		STATS(now);
		SAME(before.moved_bytes + moved, now.moved_bytes);
		READ(b, &grid, out, element);
		SAME(0, memcmp(in, out, bytes) != 0);
		salvo_agile_field_destroy(a);
		salvo_agile_field_destroy(b);
	}
	return 0;
}

/*
 * On one machine the GPUs copy from each other's memory: a command for each pair of nodes. Of two
 * machines, or where it is forbidden, only those of one process do: the test scripts know.
 */
static int direct(struct example *e)
{
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { 64, 64 } };
	const struct salvo_agile_decomposition rows = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_decomposition columns = {
		.kind = SALVO_AGILE_BLOCK, .columns = 1 };
	const uint64_t block[] = { 0, 0 };
	struct salvo_agile_field *a = make(e->agile, &grid, &rows, 4, block, block);
	struct salvo_agile_field *b = make(e->agile, &grid, &columns, 4, block, block);
	const unsigned int local = e->nodes / salvo_agile_ranks(e->agile);
	struct salvo_agile_stats before, now;

	STATS(before);
	OK(salvo_agile_redistribute(e->agile, b, a));
	STATS(now);
	SAME(e->nodes * (getenv("AGILE_TEST_WINDOWS") ? local : e->nodes),
	     now.commands - before.commands);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	return 0;
}

static void add_uint(void *accumulated, const void *partial)
{
	*(uint32_t *)accumulated += *(const uint32_t *)partial;
}

/* A reduction and a scan: partial results of all ranks, in the order of the tasks. */
static int reduce_and_scan(struct example *e)
{
	enum { N = 5000 };
	const struct salvo_agile_grid grid = { 1, { 0 }, { N } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 300 } };
	const uint64_t block[] = { 100 };
	struct salvo_agile_kernel *sum = cluster_kernel(e->c, "sum1");
	struct salvo_agile_kernel *scan = cluster_kernel(e->c, "scan1");
	const uint32_t zero = 0;
	struct salvo_agile_scan s = { sum, scan, add_uint, &zero, sizeof(zero) };
	struct salvo_agile_field_info info = { 4, { 100 }, { 100 } };
	struct salvo_agile_field *from, *to;
	static uint32_t in[N], out[N];
	uint32_t total = 7, expected = 0;
	struct salvo_agile_map *map;

	OK(salvo_agile_map_create(e->agile, "cyclic", &grid, &how, &map));
	OK(salvo_agile_field_create(e->agile, "from", map, &info, &from));
	OK(salvo_agile_field_create(e->agile, "to", map, &info, &to));
	for (uint32_t i = 0; i < N; i++)
		expected += in[i] = i * 2654435761u >> 20;
	WRITE(from, &grid, in, 4);
	OK(salvo_agile_reduce(e->agile, sum, from, NULL, 0, 4, add_uint, &total));
	SAME(expected + 7, total);
	OK(salvo_agile_scan(e->agile, &s, from, to));
	READ(to, &grid, out, 4);
	for (uint32_t i = 0, before = 0; i < N; i++) {
		before += in[i];
		SAME(before, out[i]);
	}
	SAME(100, block[0]);
	salvo_agile_field_destroy(from);
	salvo_agile_field_destroy(to);
	salvo_agile_map_destroy(map);
	salvo_agile_kernel_destroy(sum);
	salvo_agile_kernel_destroy(scan);
	return 0;
}

static int never_first(const void *a, const void *b)
{
	(void)a;
	(void)b;
	return 1;
}

/*
 * A sort of runs that lie on the ranks in any order, against qsort(): stable, as the lower bits
 * number the elements, and each moves at most once.
 */
static int sort(struct example *e)
{
	enum { N = 5000 };
	const struct salvo_agile_grid grid = { 1, { 0 }, { N } };
	static const uint32_t kinds[] = { 1, 3, 40, 65536 };
	struct salvo_agile_kernel *kernel = cluster_kernel(e->c, "sort1");
	const struct salvo_agile_field_info info = { 4, { 512 }, { 100 } };
	struct salvo_agile_map *map = NULL;
	struct salvo_agile_stats before, now;
	static uint32_t in[N], out[N];
	struct salvo_agile_field *f;
	uint64_t seed = 2;
	uint32_t i, k;

	/* All ranks draw the same numbers. */
	map = random_map(e->agile, &seed, &grid);
	OK(salvo_agile_field_create(e->agile, "f", map, &info, &f));
	for (k = 0; k < 5; k++) {
		for (i = 0; i < N; i++)
			in[i] = (k < 4 ? pick(&seed, kinds[k]) : N - i) << 16 | i;
		WRITE(f, &grid, in, 4);
		STATS(before);
		OK(salvo_agile_sort(e->agile, kernel, by_upper, f));
		STATS(now);
		SAME(1, now.moved_bytes <= before.moved_bytes + (k ? N * 4 : 0));
		READ(f, &grid, out, 4);
		qsort(in, N, sizeof(in[0]), by_all);
		SAME(0, memcmp(in, out, sizeof(in)) != 0);
	}
	SAME(-EINVAL, salvo_agile_sort(e->agile, kernel, never_first, f));
	SAME(1, strstr(salvo_agile_error(e->agile), "no order") != NULL);
	salvo_agile_field_destroy(f);
	salvo_agile_map_destroy(map);
	salvo_agile_kernel_destroy(kernel);
	return 0;
}

/* Each rank writes a band of its own, which others own; all see all of them, by a view too. */
static int tiles_and_views(struct example *e)
{
	enum { N = 60 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK, .columns = 1 };
	const uint64_t block[] = { 10, 0 };
	struct salvo_agile_field *f = make(e->agile, &grid, &how, 4, block, block);
	const unsigned int ranks = salvo_agile_ranks(e->agile);
	const unsigned int rank = salvo_agile_rank(e->agile);
	struct salvo_agile_grid band = { 2, { N * rank / ranks, 0 }, { 0, N } };
	struct salvo_agile_view *view;
	static uint32_t out[N * N];
	struct salvo_agile_tile tile;
	unsigned int first, x, y, round;

	band.extent[0] = N * (rank + 1) / ranks - band.offset[0];
	salvo_agile_nodes(e->agile, &first, NULL);
	OK(salvo_agile_view_create(f, first, &view));
	for (round = 1; round < 4; round++) {
		OK(salvo_agile_tile_open(f, first, &band, SALVO_AGILE_WRITE, &tile));
		for (y = 0; y < band.extent[0]; y++)
			for (x = 0; x < N; x++)
				((uint32_t *)tile.data)[y * N + x] =
					round * 100000 + (band.offset[0] + y) * N + x;
		OK(salvo_agile_tile_close(&tile));
		OK(salvo_agile_wait(e->agile));
		for (y = 0; y < N; y += 7)
			for (x = 0; x < N; x++) {
				const struct salvo_agile_index at = { { y, x } };
				uint32_t *element =
					salvo_agile_view_at(view, &at, SALVO_AGILE_READ);

				if (!element)
					return example_fails(e, "view", "%s",
							     salvo_agile_error(e->agile));
				SAME(round * 100000 + y * N + x, *element);
			}
		READ(f, &grid, out, 4);
		for (x = 0; x < N * N; x++)
			SAME(round * 100000 + x, out[x]);
	}
	salvo_agile_view_destroy(view);
	salvo_agile_field_destroy(f);
	return 0;
}

/*
 * Each rank writes every so-manieth element through a view, wherever it is stored, of blocks that
 * others write too and have copies of.
 */
static int views_that_write(struct example *e)
{
	enum { N = 40 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const uint64_t block[] = { 9, 16 };
	struct salvo_agile_kernel *kernel = cluster_kernel(e->c, "add_transposed");
	struct salvo_agile_field *a = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *c = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_operand both[] = {
		{ a, NULL, NULL }, { a, salvo_agile_transposed, NULL } };
	struct salvo_agile_statement add = { kernel, c, both, NULL, 2, 0, 0 };
	const unsigned int ranks = salvo_agile_ranks(e->agile);
	static float in[N * N], out[N * N];
	struct salvo_agile_view *view;
	unsigned int first, i, round;

	salvo_agile_nodes(e->agile, &first, NULL);
	OK(salvo_agile_view_create(a, first, &view));
	for (round = 1; round < 4; round++) {
		OK(salvo_agile_wait(e->agile));
		for (i = 0; i < N * N; i++) {
			const struct salvo_agile_index at = { { i / N, i % N } };
			float *element;

			/* The last round leaves most of them as they are. */
			if (round == 3 && i % 7)
				continue;
			in[i] = round * 10000 + i;
			if (i % ranks != salvo_agile_rank(e->agile))
				continue;
			element = salvo_agile_view_at(view, &at, SALVO_AGILE_WRITE);
			if (!element)
				return example_fails(e, "view", "%s", salvo_agile_error(e->agile));
			*element = in[i];
		}
		OK(salvo_agile_wait(e->agile));
		for (i = 0; i < N * N; i += 3) {
			const struct salvo_agile_index at = { { i / N, i % N } };
			const float *element = salvo_agile_view_at(view, &at, SALVO_AGILE_READ);

			SAME(1, element && *element == in[i]);
		}
		OK(salvo_agile_forall(e->agile, &add));
		READ(c, &grid, out, 4);
		for (i = 0; i < N * N; i++)
			SAME(in[i] + in[i % N * N + i / N], out[i]);
	}
	salvo_agile_view_destroy(view);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(c);
	salvo_agile_kernel_destroy(kernel);
	return 0;
}

/*
 * Two fields are computed from each other, again and again without a wait: each statement reads
 * what other ranks have just written, and writes what they have just read. So do redistributions.
 */
static int again_and_again(struct example *e)
{
	enum { N = 96, ROUNDS = 16 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition rows = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_decomposition columns = {
		.kind = SALVO_AGILE_BLOCK, .columns = 1 };
	const uint64_t block[] = { 16, 16 };
	struct salvo_agile_kernel *kernel = cluster_kernel(e->c, "add_transposed");
	struct salvo_agile_field *f[2] = { make(e->agile, &grid, &rows, 4, block, block),
					   make(e->agile, &grid, &rows, 4, block, block) };
	struct salvo_agile_field *other = make(e->agile, &grid, &columns, 4, block, block);
	static float in[2][N * N], out[N * N];
	unsigned int i, round;

	for (i = 0; i < N * N; i++)
		in[0][i] = i % 7;
	WRITE(f[0], &grid, in[0], 4);
	for (round = 0; round < ROUNDS; round++) {
		const float *from = in[round % 2];
		struct salvo_agile_operand both[] = {
			{ f[round % 2], NULL, NULL },
			{ f[round % 2], salvo_agile_transposed, NULL } };
		const struct salvo_agile_statement add = {
			kernel, f[1 - round % 2], both, NULL, 2, 0, 0 };

		OK(salvo_agile_forall(e->agile, &add));
		for (i = 0; i < N * N; i++)
			in[1 - round % 2][i] = from[i] + from[i % N * N + i / N];
		if (round % 3)
			continue;
		OK(salvo_agile_redistribute(e->agile, other, f[1 - round % 2]));
		OK(salvo_agile_redistribute(e->agile, f[1 - round % 2], other));
	}
	READ(f[ROUNDS % 2], &grid, out, 4);
	SAME(0, memcmp(in[ROUNDS % 2], out, sizeof(out)) != 0);
	READ(f[1 - ROUNDS % 2], &grid, out, 4);
	SAME(0, memcmp(in[1 - ROUNDS % 2], out, sizeof(out)) != 0);
	for (i = 0; i < 2; i++)
		salvo_agile_field_destroy(f[i]);
	salvo_agile_field_destroy(other);
	salvo_agile_kernel_destroy(kernel);
	return 0;
}

/* Each rank writes what it stores, while one that is late has not read it yet. */
static int late_reader(struct example *e)
{
	enum { N = 64 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition rows = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_decomposition columns = {
		.kind = SALVO_AGILE_BLOCK, .columns = 1 };
	const uint64_t block[] = { 0, 0 };
	struct salvo_agile_kernel *kernel = cluster_kernel(e->c, "where2");
	struct salvo_agile_field *from = make(e->agile, &grid, &rows, 4, block, block);
	struct salvo_agile_field *to = make(e->agile, &grid, &columns, 4, block, block);
	static uint32_t out[N * N];
	uint32_t salt, i;

	for (salt = 0; salt < 5; salt++) {
		struct salvo_agile_value value = { &salt, sizeof(salt) };
		struct salvo_agile_statement fill = { kernel, from, NULL, &value, 0, 1, 0 };
		const uint32_t other = salt + 1000;

		OK(salvo_agile_forall(e->agile, &fill));
		OK(salvo_agile_wait(e->agile));
		if (salvo_agile_rank(e->agile) == 1)
			usleep(20000);
		OK(salvo_agile_redistribute(e->agile, to, from));
		value.value = &other;
		OK(salvo_agile_forall(e->agile, &fill));
		READ(to, &grid, out, 4);
		for (i = 0; i < N * N; i++)
			SAME(i / N * 65536 + i % N + salt, out[i]);
	}
	salvo_agile_field_destroy(from);
	salvo_agile_field_destroy(to);
	salvo_agile_kernel_destroy(kernel);
	return 0;
}

/* The last node is assigned no tasks: of many rounds it computes some in one at least. */
static int steal(struct example *e)
{
	enum { N = 96 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	uint32_t weights[16] = { 5, 1 };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK, .weights = weights };
	const uint64_t block[] = { 8, 8 };
	struct salvo_agile_kernel *kernel = cluster_kernel(e->c, "add_transposed");
	struct salvo_agile_field *a = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *c = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_operand both[] = {
		{ a, NULL, NULL }, { a, salvo_agile_transposed, NULL } };
	struct salvo_agile_statement add = { kernel, c, both, NULL, 2, 0, SALVO_AGILE_STEAL };
	static float in[N * N], out[N * N];
	struct salvo_agile_stats before, now, last;
	uint64_t old_tasks, old_stolen;
	unsigned int i, round;

	OK(salvo_agile_wait(e->agile));
	salvo_agile_get_stats(e->agile, e->nodes - 1, &last);
	old_tasks = last.tasks;
	old_stolen = last.stolen;
	for (round = 0; round < 20; round++) {
		/* B moves again each time. */
		for (i = 0; i < N * N; i++)
			in[i] = (i + round) % 1000;
		WRITE(a, &grid, in, 4);
		STATS(before);
		OK(salvo_agile_forall(e->agile, &add));
		STATS(now);
		SAME(before.tasks + 144, now.tasks);
		SAME((now.stolen - before.stolen) * 64 * 4,
		     now.returned_bytes - before.returned_bytes);
		READ(c, &grid, out, 4);
		for (i = 0; i < N * N; i++)
			SAME(in[i] + in[i % N * N + i / N], out[i]);
		salvo_agile_get_stats(e->agile, e->nodes - 1, &last);
		if (last.tasks > old_tasks && round > 3)
			break;
	}
	if (e->nodes > 2) {
		SAME(1, last.stolen > old_stolen);
		SAME(last.tasks - old_tasks, last.stolen - old_stolen);
	}
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(c);
	salvo_agile_kernel_destroy(kernel);
	return 0;
}

/* What cannot be, and what only one rank does wrong. */
static int errors(struct example *e)
{
	enum { N = 64 };
	const struct salvo_agile_grid grid = { 1, { 0 }, { N } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const uint64_t block[] = { 0 };
	struct salvo_agile_field *f = make(e->agile, &grid, &how, 4, block, block);
	const unsigned int ranks = salvo_agile_ranks(e->agile);
	struct salvo_agile_field_info bad = { 4, { 0 }, { 0 } };
	struct salvo_agile_field *other;
	struct salvo_agile_tile tile;
	struct salvo_agile_map *map;
	unsigned int first;

	salvo_agile_nodes(e->agile, &first, NULL);
	OK(salvo_agile_map_create(e->agile, "m", &grid, &how, &map));
	/* Only the last rank asks for what is not there: the error is that of all. */
	SAME(-EINVAL, salvo_agile_tile_open(f, salvo_agile_rank(e->agile) + 1 == ranks ?
					    first + 1000 : first, &grid, SALVO_AGILE_READ,
					    &tile));
	if (ranks > 1 && !salvo_agile_rank(e->agile))
		SAME(1, strstr(salvo_agile_error(e->agile), "there is no node") != NULL);
	if (ranks > 1)
		SAME(-EINVAL, salvo_agile_tile_open(f, first ? 0 : e->nodes - 1, &grid,
						    SALVO_AGILE_READ, &tile));
	/* And all goes on. */
	OK(salvo_agile_field_create(e->agile, "g", map, &bad, &other));
	salvo_agile_field_destroy(other);
	salvo_agile_field_destroy(f);
	salvo_agile_map_destroy(map);
	return 0;
}

/* --- what ends a program: alone, as the last argument ----------------------------------- */

/* Statement after statement, until this rank has been killed. */
static int killed(struct example *e)
{
	for (unsigned int i = 0; i < 1000; i++) {
		if (i == 3 && salvo_agile_rank(e->agile) + 1 == salvo_agile_ranks(e->agile))
			raise(SIGKILL);
		OK(salvo_agile_wait(e->agile));
	}
	return 0;
}

static void *kill_soon(void *unused)
{
	(void)unused;
	usleep(20000);
	raise(SIGKILL);
	return NULL;
}

/* The last rank is killed while all do the same again and again. */
static int killed_in(struct example *e, int (*again)(struct example *e))
{
	pthread_t killer;

	if (salvo_agile_rank(e->agile) + 1 == salvo_agile_ranks(e->agile) &&
	    pthread_create(&killer, NULL, kill_soon, NULL))
		return example_fails(e, "pthread_create", "no thread");
	for (unsigned int i = 0; i < 100000; i++)
		if (again(e))
			return 1;
	return 0;
}

static int killed_moving(struct example *e)
{
	return killed_in(e, redistribute);
}

static int killed_putting(struct example *e)
{
	return killed_in(e, tiles_and_views);
}

static int killed_stealing(struct example *e)
{
	return killed_in(e, steal);
}

static int killed_sorting(struct example *e)
{
	return killed_in(e, sort);
}

/* One rank leaves in good order while the others go on. */
static int leaves(struct example *e)
{
	for (unsigned int i = 0; i < 1000; i++) {
		if (i == 3 && salvo_agile_rank(e->agile) + 1 == salvo_agile_ranks(e->agile))
			return example_fails(e, "rank", "has had enough");
		OK(salvo_agile_wait(e->agile));
	}
	return 0;
}

/* One rank exits without a word, and with a status of success. */
static int exits(struct example *e)
{
	for (unsigned int i = 0; i < 1000; i++) {
		if (i == 3 && salvo_agile_rank(e->agile) + 1 == salvo_agile_ranks(e->agile))
			exit(0);
		OK(salvo_agile_wait(e->agile));
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct example *e);
} tests[] = {
	{ "A5 C = A + transpose(B)", example_c_is_a_plus_transposed_b },
	{ "A5 stencil with halo", example_stencil_with_halo },
	{ "A6 k-means of a photo", example_k_means_of_a_photo },
	{ "A7 SUMMA", example_summa_matrix_multiply },
	{ "A5 Fourier transform of two dimensions", example_fourier_transform_of_two_dimensions },
	{ "A2 A5 redistributions between random maps", redistribute },
	{ "A5 ranks of one machine copy directly", direct },
	{ "A5 statements read what others have just written", again_and_again },
	{ "A5 what a late rank reads is not overwritten", late_reader },
	{ "A5 reduce and scan", reduce_and_scan },
	{ "A5 sort is stable and moves an element once", sort },
	{ "A6 tiles and views", tiles_and_views },
	{ "A6 views that write", views_that_write },
	{ "A8 stealing gives the same result", steal },
	{ "errors are those of all ranks", errors },
	/* The rest only by name. */
	{ "A8 transpose add at 6144", example_transpose_add_6144 },
	{ "killed", killed },
	{ "killed moving", killed_moving },
	{ "killed putting", killed_putting },
	{ "killed stealing", killed_stealing },
	{ "killed sorting", killed_sorting },
	{ "leaves", leaves },
	{ "exits", exits },
};

#define BY_NAME 8u
#define COUNT (sizeof(tests) / sizeof(tests[0]))

/* Is test @i one of those that are named, or are all run and it is not one of the last? */
static bool is_wanted(unsigned int i, char *const *names)
{
	if (!*names)
		return i < COUNT - BY_NAME;
	while (*names && strcmp(*names, tests[i].name))
		names++;
	return *names;
}

int main(int argc, char **argv)
{
	const unsigned int nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : 2;
	char *const *names = argv + (argc > 2 ? 2 : argc);
	const char *own = getenv("OMPI_COMM_WORLD_RANK");
	struct cluster c;
	struct example e = { .c = &c };
	unsigned int i, done = 0, failed = 0, rank;
	int err;

	if (!nodes || nodes > NODES) {
		fprintf(stderr, "ranks: %u nodes, must be 1 to %u\n", nodes, NODES);
		return 2;
	}
	/* The others wait for it in MPI_Init(). */
	if (*names && !strcmp(*names, "killed at first") && own && !strcmp(own, "2"))
		raise(SIGKILL);
	/* Others may not trace it, nor take its files. */
	if (getenv("AGILE_TEST_NO_TRACING"))
		prctl(PR_SET_DUMPABLE, 0);
	err = cluster_open(&c, nodes);
	if (err) {
		fprintf(stderr, "ranks: %s\n", strerror(-err));
		return 1;
	}
	e.agile = c.agile;
	e.nodes = salvo_agile_nodes(c.agile, NULL, NULL);
	rank = salvo_agile_rank(c.agile);
	for (i = 0; i < COUNT && !failed; i++) {
		if (!is_wanted(i, names))
			continue;
		failed = tests[i].run(&e);
		done++;
		if (failed && rank)
			fprintf(stderr, "rank %u: %s: %s\n", rank, tests[i].name, e.why);
		if (rank)
			continue;
		printf("%sok %u - %s, %u nodes of %u ranks\n", failed ? "not " : "", done,
		       tests[i].name, e.nodes, salvo_agile_ranks(c.agile));
		if (failed)
			printf("# %s\n", e.why);
		fflush(stdout);
	}
	if (!rank)
		printf("1..%u\n", done);
	cluster_close(&c);
	return failed || !done;
}
