// SPDX-License-Identifier: MIT
/*
 * agile_ranks.c - one exchange between processes, by agile arrays, by MPI and by Global Arrays
 *
 * A square of floats goes from bands of rows to bands of columns, over the ranks of an mpirun. In
 * one run, each from one barrier to the next, the shortest and the median wall times of all
 * rounds, once after the same exchange (warm), once after other memory was written, so that no
 * cache has anything of it (cold):
 * - salvo_agile_redistribute(), one embedded GPU in each rank, with libsalvo-agile-mpi;
 * - the same between as many embedded GPUs of rank 0, while the other ranks wait;
 * - MPI_Alltoallw() with derived datatypes between arrays of the program;
 * - GA_Copy() of Global Arrays (on ARMCI-MPI) between two arrays of these distributions;
 * - memcpy() of each rank's part, by all ranks at once: what memory allows.
 *
 * Each has arrays of its own: with those of another one its data would be in the cache sooner.
 *
 * usage: mpirun -n RANKS agile_ranks [--json] [--rounds N]
 */
#include <ga.h>
#include <mpi.h>

#include "bench.h"
#include "salvo_agile.h"

#define SIDE	2048
#define MOST_ROUNDS 1000u
/* More than a cache holds of a rank's data */
#define OTHER_BYTES (96u << 20)
/* So often it runs before it is measured warm: once does not keep all of it in every cache. */
#define WARM_RUNS 4u

struct exchange {
	int rank, ranks, band;
	/* Bands of rows and of columns, for MPI_Alltoallw() and for memcpy(). */
	float *rows, *columns, *copy_from, *copy_to;
	/* Written before what is measured cold. */
	char *other;
	MPI_Datatype *send, *receive;
	int *counts, *zeros;
	int ga_rows, ga_columns;
	struct salvo_agile *agile;
	struct salvo_agile_field *from, *to;
	/* Of rank 0, of one process. */
	struct salvo_agile *alone;
	struct salvo_agile_field *alone_from, *alone_to;
};

static void by_agile(struct exchange *e)
{
	need(!salvo_agile_redistribute(e->agile, e->to, e->from) && !salvo_agile_wait(e->agile),
	     "salvo_agile_redistribute");
}

static void by_one_process(struct exchange *e)
{
	need(!e->alone || (!salvo_agile_redistribute(e->alone, e->alone_to, e->alone_from) &&
			   !salvo_agile_wait(e->alone)), "salvo_agile_redistribute");
}

static void by_mpi(struct exchange *e)
{
	need(MPI_Alltoallw(e->rows, e->counts, e->zeros, e->send, e->columns, e->counts, e->zeros,
			   e->receive, MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Alltoallw");
}

static void by_global_arrays(struct exchange *e)
{
	GA_Copy(e->ga_rows, e->ga_columns);
	GA_Sync();
}

static void by_memcpy(struct exchange *e)
{
	memcpy(e->copy_to, e->copy_from, (size_t)SIDE * e->band * sizeof(float));
	__asm__ volatile("" ::: "memory");
}

static void (*const ways[])(struct exchange *e) = {
	by_agile, by_one_process, by_mpi, by_global_arrays, by_memcpy,
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static const char *const names[WAYS] = {
	"agile", "agile_one_process", "MPI_Alltoallw", "global_arrays", "memcpy",
};

struct result {
	double least, median;
};

static double measure_one(struct exchange *e, unsigned int way, bool cold)
{
	unsigned int before;
	double start;

	if (cold)
		memset(e->other, way, OTHER_BYTES);
	for (before = 0; before < WARM_RUNS && !cold; before++)
		ways[way](e);
	MPI_Barrier(MPI_COMM_WORLD);
	start = clock_us(CLOCK_MONOTONIC);
	ways[way](e);
	MPI_Barrier(MPI_COMM_WORLD);
	return clock_us(CLOCK_MONOTONIC) - start;
}

/* In turn, so that what else the machine does disturbs all of them. */
static void measure(struct exchange *e, unsigned int rounds, bool cold, struct result *results)
{
	static double times[WAYS][MOST_ROUNDS];
	unsigned int i, w;

	for (i = 0; i < rounds; i++)
		for (w = 0; w < WAYS; w++)
			times[w][i] = measure_one(e, w, cold);
	for (w = 0; w < WAYS; w++) {
		results[w].median = median(times[w], rounds);
		results[w].least = times[w][0];
	}
}

static void print(const struct exchange *e, const char *state, const struct result *results)
{
	unsigned int w;

	printf("16 MiB from rows to columns over %d ranks, %s: least (median) us\n", e->ranks, state);
	for (w = 0; w < WAYS; w++)
		printf("%22s %6.0f (%.0f)\n", names[w], results[w].least, results[w].median);
}

static void print_json(const struct result *results)
{
	unsigned int w;

	for (w = 0; w < WAYS; w++)
		printf("%s\"%s\": { \"least_us\": %.0f, \"median_us\": %.0f }",
		       w ? ", " : "{ ", names[w], results[w].least, results[w].median);
	printf(" }");
}

static void make_arrays(struct exchange *e)
{
	int dims[] = { SIDE, SIDE }, rows[] = { e->band, SIDE }, columns[] = { SIDE, e->band };

	e->rows = malloc((size_t)SIDE * e->band * sizeof(float));
	e->columns = malloc((size_t)SIDE * e->band * sizeof(float));
	e->copy_from = malloc((size_t)SIDE * e->band * sizeof(float));
	e->copy_to = malloc((size_t)SIDE * e->band * sizeof(float));
	e->other = malloc(OTHER_BYTES);
	e->send = calloc(e->ranks, sizeof(*e->send));
	e->receive = calloc(e->ranks, sizeof(*e->receive));
	e->counts = calloc(e->ranks, sizeof(*e->counts));
	e->zeros = calloc(e->ranks, sizeof(*e->zeros));
	for (int i = 0; i < SIDE * e->band; i++)
		e->rows[i] = SIDE * e->band * e->rank + i;
	memset(e->columns, 0, (size_t)SIDE * e->band * sizeof(float));
	memset(e->copy_from, 1, (size_t)SIDE * e->band * sizeof(float));
	for (int r = 0; r < e->ranks; r++) {
		int part[] = { e->band, e->band }, of_rows[] = { 0, r * e->band };
		int of_columns[] = { r * e->band, 0 };

		e->counts[r] = 1;
		MPI_Type_create_subarray(2, rows, part, of_rows, MPI_ORDER_C, MPI_FLOAT,
					 &e->send[r]);
		MPI_Type_create_subarray(2, columns, part, of_columns, MPI_ORDER_C, MPI_FLOAT,
					 &e->receive[r]);
		MPI_Type_commit(&e->send[r]);
		MPI_Type_commit(&e->receive[r]);
	}
	e->ga_rows = NGA_Create(C_FLOAT, 2, dims, "rows", rows);
	e->ga_columns = NGA_Create(C_FLOAT, 2, dims, "columns", columns);
	GA_Zero(e->ga_rows);
}

static struct salvo_agile_field *make_field(struct salvo_agile *agile, uint32_t columns)
{
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { SIDE, SIDE } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK, .columns = columns };
	const struct salvo_agile_field_info info = { sizeof(float), { 0 }, { 0 } };
	struct salvo_agile_field *field;
	struct salvo_agile_map *map;

	need(!salvo_agile_map_create(agile, "bench", &grid, &how, &map) &&
	     !salvo_agile_field_create(agile, "bench", map, &info, &field), "field");
	salvo_agile_map_destroy(map);
	return field;
}

/* All three move the same: the columns of this rank, of all rows. */
static void check(struct exchange *e)
{
	const struct salvo_agile_grid mine = {
		2, { 0, e->rank * e->band }, { SIDE, e->band } };
	struct salvo_agile_grid rows = { 2, { e->rank * e->band, 0 }, { e->band, SIDE } };
	struct salvo_agile_tile tile;
	unsigned int first;
	int wrong = 0;

	salvo_agile_nodes(e->agile, &first, NULL);
	need(!salvo_agile_tile_open(e->from, first, &rows, SALVO_AGILE_WRITE, &tile), "tile");
	memcpy(tile.data, e->rows, (size_t)SIDE * e->band * sizeof(float));
	need(!salvo_agile_tile_close(&tile), "tile");
	by_agile(e);
	by_mpi(e);
	need(!salvo_agile_tile_open(e->to, first, &mine, SALVO_AGILE_READ, &tile), "tile");
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < e->band; x++) {
			const float value = y * SIDE + e->rank * e->band + x;

			wrong += ((float *)tile.data)[y * e->band + x] != value ||
				 e->columns[y * e->band + x] != value;
		}
	need(!wrong, "the exchange");
	need(!salvo_agile_tile_close(&tile), "tile");
}

int main(int argc, char **argv)
{
	struct salvo_agile_node node = { NULL, 0 }, nodes[16] = { { NULL, 0 } };
	struct result warm[WAYS], cold[WAYS];
	unsigned int rounds = 21;
	struct exchange e = { 0 };
	bool json = false;

	for (int i = 1; i < argc; i++)
		need(bench_option(argv, &i, &json, &rounds) && rounds && rounds <= MOST_ROUNDS,
		     "option");
	need(MPI_Init(&argc, &argv) == MPI_SUCCESS, "MPI_Init");
	GA_Initialize();
	MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &e.ranks);
	e.band = SIDE / e.ranks;
	need(e.ranks <= 16 && e.band * e.ranks == SIDE, "at most 16 ranks, which divide 2048");
	need(!salvo_device_open("soft", &node.device), "salvo_device_open");
	need(!salvo_agile_create_ranks("mpi", &node, 1, &e.agile), "salvo_agile_create_ranks");
	make_arrays(&e);
	e.from = make_field(e.agile, 0);
	e.to = make_field(e.agile, 1);
	for (int i = 0; i < e.ranks && !e.rank; i++)
		need(!salvo_device_open("soft", &nodes[i].device), "salvo_device_open");
	if (!e.rank) {
		need(!salvo_agile_create(nodes, e.ranks, &e.alone), "salvo_agile_create");
		e.alone_from = make_field(e.alone, 0);
		e.alone_to = make_field(e.alone, 1);
	}
	check(&e);
	measure(&e, rounds, false, warm);
	measure(&e, rounds, true, cold);
	if (!e.rank && json) {
		printf("{ \"ranks\": %d, \"warm\": ", e.ranks);
		print_json(warm);
		printf(", \"cold\": ");
		print_json(cold);
		puts(" }");
	} else if (!e.rank) {
		print(&e, "warm", warm);
		print(&e, "cold", cold);
	}
	salvo_agile_field_destroy(e.alone_from);
	salvo_agile_field_destroy(e.alone_to);
	salvo_agile_destroy(e.alone);
	for (int i = 0; i < e.ranks && !e.rank; i++)
		salvo_device_close(nodes[i].device);
	salvo_agile_field_destroy(e.from);
	salvo_agile_field_destroy(e.to);
	salvo_agile_destroy(e.agile);
	salvo_device_close(node.device);
	GA_Terminate();
	MPI_Finalize();
	return 0;
}
