/* SPDX-License-Identifier: MIT */
/*
 * examples.h - whole programs on agile arrays, each against the same in serial C
 *
 * They run on any number of nodes, of one process or of several ranks. Each returns 0, or 1 with
 * what was wrong in example.why. Bytes that move are compared with what the maps imply.
 */
#ifndef EXAMPLES_H
#define EXAMPLES_H

#include <errno.h>
#include <math.h>
#include <stdarg.h>

#include "agile_test.h"

/* Not inlined: what the harness calls may be left by longjmp(). */
#define EXAMPLE __attribute__((noinline, unused))

struct example {
	struct cluster *c;
	struct salvo_agile *agile;
	unsigned int nodes;
	char why[512];
};

static inline int example_fails(struct example *e, const char *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static inline int example_fails(struct example *e, const char *where, const char *format, ...)
{
	const int length = snprintf(e->why, sizeof(e->why), "%s: ", where);
	va_list ap;

	va_start(ap, format);
	vsnprintf(e->why + length, sizeof(e->why) - length, format, ap);
	va_end(ap);
	return 1;
}

#define OK(call) do { \
	const int ok_ = (call); \
	if (ok_) \
		return example_fails(e, #call, "%s: %s", strerror(-ok_), \
				     salvo_agile_error(e->agile)); \
} while (0)

#define SAME(expected, seen) do { \
	const unsigned long long expected_ = (expected), seen_ = (seen); \
	if (expected_ != seen_) \
		return example_fails(e, #seen, "%llu, must be %llu", seen_, expected_); \
} while (0)

/* The sum of all nodes, when all of them are idle. */
static inline int example_stats(struct example *e, struct salvo_agile_stats *stats)
{
	*stats = (struct salvo_agile_stats){ 0 };
	OK(salvo_agile_wait(e->agile));
	*stats = all_stats(e->agile, e->nodes);
	return 0;
}

#define STATS(stats) do { \
	if (example_stats(e, &(stats))) \
		return 1; \
} while (0)

static inline int example_access(struct example *e, struct salvo_agile_field *field,
				 const struct salvo_agile_grid *grid, void *data, size_t element,
				 int access)
{
	OK(field_access(e->agile, field, grid, data, element, access));
	return 0;
}

#define WRITE(field, grid, data, element) do { \
	if (example_access(e, field, grid, data, element, SALVO_AGILE_WRITE)) \
		return 1; \
} while (0)
#define READ(field, grid, data, element) do { \
	if (example_access(e, field, grid, data, element, SALVO_AGILE_READ)) \
		return 1; \
} while (0)

/*
 * Memory blocks that tasks read and their nodes do not store, each once for a node: of rank 2, of
 * regular maps.
 */
static inline uint64_t model_moves(struct salvo_agile_field *result, size_t element,
				   struct salvo_agile_field *field,
				   const struct salvo_agile_grid *whole,
				   void (*region)(void *, const struct salvo_agile_grid *,
						  struct salvo_agile_grid *), void *data)
{
	const unsigned int most = salvo_agile_field_tasks(field);
	bool *seen = calloc(most * 64ull, sizeof(*seen));
	struct salvo_agile_place to, from;
	struct salvo_agile_grid part;
	uint64_t bytes = 0;

	for (unsigned int i = 0; !salvo_agile_field_task(result, i, &to); i++) {
		part = to.task_grid;
		if (region)
			region(data, &to.task_grid, &part);
		if (!salvo_agile_grid_intersect(&part, whole, &part))
			continue;
		for (uint64_t y = part.offset[0]; y < part.offset[0] + part.extent[0];
		     y = from.block_grid.offset[0] + from.block_grid.extent[0])
			for (uint64_t x = part.offset[1]; x < part.offset[1] + part.extent[1];
			     x = from.block_grid.offset[1] + from.block_grid.extent[1]) {
				salvo_agile_field_locate(field, &(struct salvo_agile_index){
					{ y, x } }, &from);
				if (from.node == to.node || seen[from.block * 64ull + to.node])
					continue;
				seen[from.block * 64ull + to.node] = true;
				bytes += salvo_agile_grid_count(&from.block_grid) * element;
			}
	}
	free(seen);
	return bytes;
}

static inline struct salvo_agile_field *make(struct salvo_agile *agile,
				      const struct salvo_agile_grid *grid,
				      const struct salvo_agile_decomposition *how, size_t element,
				      const uint64_t *memory, const uint64_t *task)
{
	struct salvo_agile_field_info info = { .element_bytes = element };
	struct salvo_agile_field *field = NULL;
	struct salvo_agile_map *map;

	memcpy(info.memory_block, memory, grid->rank * sizeof(*memory));
	memcpy(info.task_block, task, grid->rank * sizeof(*task));
	if (salvo_agile_map_create(agile, "example", grid, how, &map) ||
	    salvo_agile_field_create(agile, "example", map, &info, &field))
		printf("# %s\n", salvo_agile_error(agile));
	salvo_agile_map_destroy(map);
	return field;
}

/* An eighth of the published size in each direction */
static EXAMPLE int example_c_is_a_plus_transposed_b(struct example *e)
{
	enum { N = 768 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 256, 256 } };
	const uint64_t block[] = { 128, 128 };
	struct salvo_agile_kernel *kernel = cluster_kernel(e->c, "add_transposed");
	struct salvo_agile_field *a = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *b = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *c = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_operand operands[] = {
		{ a, NULL, NULL }, { b, salvo_agile_transposed, NULL } };
	struct salvo_agile_statement s = { kernel, c, operands, NULL, 2, 0, 0 };
	float *in_a = malloc(N * N * 4), *in_b = malloc(N * N * 4), *out = malloc(N * N * 4);
	struct salvo_agile_stats before, now;
	uint64_t seed = 1;
	unsigned int i, wrong = 0;

	for (i = 0; i < N * N; i++) {
		in_a[i] = pick(&seed, 4096);
		in_b[i] = pick(&seed, 4096);
	}
	WRITE(a, &grid, in_a, 4);
	WRITE(b, &grid, in_b, 4);
	STATS(before);
	OK(salvo_agile_forall(e->agile, &s));
	STATS(now);
	SAME(before.moved_bytes + model_moves(c, 4, b, &grid, salvo_agile_transposed, NULL),
	     now.moved_bytes);
	READ(c, &grid, out, 4);
	for (i = 0; i < N * N; i++)
		wrong += out[i] != in_a[i] + in_b[i % N * N + i / N];
	SAME(0, wrong);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_field_destroy(c);
	salvo_agile_kernel_destroy(kernel);
	free(in_a);
	free(in_b);
	free(out);
	return 0;
}

static inline void stencil(float *to, const float *from, unsigned int n)
{
	for (unsigned int y = 0; y < n; y++)
		for (unsigned int x = 0; x < n; x++) {
			const unsigned int up = y ? y - 1 : 0, down = y + 1 < n ? y + 1 : n - 1;
			const unsigned int left = x ? x - 1 : 0, right = x + 1 < n ? x + 1 : n - 1;

			to[y * n + x] = 0.5f * from[y * n + x] +
				0.125f * (from[y * n + left] + from[y * n + right] +
					  from[up * n + x] + from[down * n + x]);
		}
}

/* Bands of rows, in memory blocks of 4 rows: of a neighbour only the block at the border moves. */
static EXAMPLE int example_stencil_with_halo(struct example *e)
{
	enum { N = 192, ROUNDS = 10 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const uint64_t memory[] = { 4, 0 }, task[] = { 4, 64 };
	struct salvo_agile_kernel *kernel = cluster_kernel(e->c, "stencil");
	struct salvo_agile_field *f[2] = {
		make(e->agile, &grid, &how, 4, memory, task),
		make(e->agile, &grid, &how, 4, memory, task) };
	static float in[2][N * N], out[N * N];
	struct salvo_agile_stats before, now;
	uint64_t seed = 2, halo = 1;
	unsigned int i, k, wrong = 0;

	for (i = 0; i < N * N; i++)
		in[0][i] = pick(&seed, 1000);
	WRITE(f[0], &grid, in[0], 4);
	STATS(before);
	for (k = 0; k < ROUNDS; k++) {
		struct salvo_agile_operand from = { f[k % 2], salvo_agile_halo, &halo };
		struct salvo_agile_statement s = { kernel, f[1 - k % 2], &from, NULL, 1, 0, 0 };

		OK(salvo_agile_forall(e->agile, &s));
		stencil(in[1 - k % 2], in[k % 2], N);
	}
	STATS(now);
	/* At each border, both ways, 4 rows. */
	SAME(before.moved_bytes + ROUNDS * (e->nodes - 1) * 2 * 4 * N * 4, now.moved_bytes);
	READ(f[ROUNDS % 2], &grid, out, 4);
	for (i = 0; i < N * N; i++)
		wrong += fabsf(out[i] - in[ROUNDS % 2][i]) > 1e-3f;
	SAME(0, wrong);
	salvo_agile_field_destroy(f[0]);
	salvo_agile_field_destroy(f[1]);
	salvo_agile_kernel_destroy(kernel);
	return 0;
}

static inline void add_counts(void *accumulated, const void *partial)
{
	for (unsigned int k = 0; k < 8; k++)
		((uint64_t *)accumulated)[k] += ((const uint32_t *)partial)[k];
}

/* The grey values of a photo: read_pgm() is for the tests' own pictures. */
static inline float *read_pgm(const char *path, unsigned int *count)
{
	unsigned int width, height, most;
	FILE *file = fopen(path, "rbe");
	float *pixels = NULL;

	if (file && fscanf(file, "P5 %u %u %u", &width, &height, &most) == 3 &&
	    fgetc(file) != EOF) {
		*count = width * height;
		pixels = malloc(*count * sizeof(*pixels));
		for (unsigned int i = 0; i < *count; i++)
			pixels[i] = fgetc(file);
	}
	if (file)
		fclose(file);
	return pixels;
}

static EXAMPLE int example_k_means_of_a_photo(struct example *e)
{
	enum { K = 8, ROUNDS = 4 };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_decomposition one = { .kind = SALVO_AGILE_BLOCK, .nodes = 1 };
	struct salvo_agile_grid grid = { .rank = 1 }, eight = { 1, { 0 }, { K } };
	const uint64_t block[] = { 16384 }, all[] = { 0 };
	struct salvo_agile_kernel *nearest = cluster_kernel(e->c, "nearest");
	struct salvo_agile_kernel *histogram = cluster_kernel(e->c, "histogram");
	float centroids[K], serial[K];
	unsigned int count, i, k, r, wrong = 0;
	struct salvo_agile_field *pixels, *labels, *means;
	uint32_t *out;
	float *in;

	in = read_pgm("tests/data/astronaut.pgm", &count);
	if (!in)
		return example_fails(e, "tests/data/astronaut.pgm",
				     "run from the top of the tree");
	out = malloc(count * sizeof(*out));
	grid.extent[0] = count;
	pixels = make(e->agile, &grid, &how, 4, all, block);
	labels = make(e->agile, &grid, &how, 4, all, block);
	means = make(e->agile, &eight, &one, 4, all, all);
	for (k = 0; k < K; k++)
		serial[k] = centroids[k] = 16 + 32 * k;
	WRITE(pixels, &grid, in, 4);
	for (r = 0; r < ROUNDS; r++) {
		struct salvo_agile_operand operands[] = {
			{ pixels, NULL, NULL }, { means, salvo_agile_fixed, &eight } };
		struct salvo_agile_statement s = { nearest, labels, operands, NULL, 2, 0, 0 };
		uint64_t counts[K] = { 0 }, own[K] = { 0 };
		double sums[K] = { 0 };

		WRITE(means, &eight, centroids, 4);
		OK(salvo_agile_forall(e->agile, &s));
		OK(salvo_agile_reduce(e->agile, histogram, labels, NULL, 0, K * sizeof(uint32_t),
				      add_counts, counts));
		READ(labels, &grid, out, 4);
		for (i = 0; i < count; i++) {
			uint32_t best = 0;

			for (k = 1; k < K; k++)
				if (fabsf(in[i] - serial[k]) < fabsf(in[i] - serial[best]))
					best = k;
			wrong += out[i] != best;
			own[best]++;
			sums[best] += in[i];
		}
		SAME(0, memcmp(own, counts, sizeof(own)) != 0);
		for (k = 0; k < K; k++)
			serial[k] = centroids[k] = own[k] ? sums[k] / own[k] : serial[k];
	}
	SAME(0, wrong);
	salvo_agile_field_destroy(pixels);
	salvo_agile_field_destroy(labels);
	salvo_agile_field_destroy(means);
	salvo_agile_kernel_destroy(nearest);
	salvo_agile_kernel_destroy(histogram);
	free(in);
	free(out);
	return 0;
}

struct panel {
	uint64_t from, size;
};

/* Of A the rows of the task and the panel's columns, of B the other way. */
static inline void panel_of_a(void *data, const struct salvo_agile_grid *task,
		       struct salvo_agile_grid *region)
{
	const struct panel *panel = data;

	*region = *task;
	region->offset[1] = panel->from;
	region->extent[1] = panel->size;
}

static inline void panel_of_b(void *data, const struct salvo_agile_grid *task,
		       struct salvo_agile_grid *region)
{
	const struct panel *panel = data;

	*region = *task;
	region->offset[0] = panel->from;
	region->extent[0] = panel->size;
}

static inline void whole_rows(void *data, const struct salvo_agile_grid *task,
			      struct salvo_agile_grid *region)
{
	*region = *task;
	region->offset[1] = 0;
	region->extent[1] = *(const uint64_t *)data;
}

static inline void whole_columns(void *data, const struct salvo_agile_grid *task,
				 struct salvo_agile_grid *region)
{
	*region = *task;
	region->offset[0] = 0;
	region->extent[0] = *(const uint64_t *)data;
}

/* SUMMA: C += A(:,k) B(k,:) for panels k; the panel of the next step moves beside this one. */
static EXAMPLE int example_summa_matrix_multiply(struct example *e)
{
	enum { N = 192, PANEL = 32 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK_BLOCK };
	const uint64_t block[] = { PANEL, PANEL };
	struct salvo_agile_kernel *kernel = cluster_kernel(e->c, "multiply");
	struct salvo_agile_field *a = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *b = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *c = make(e->agile, &grid, &how, 4, block, block);
	static float in_a[N * N], in_b[N * N], out[N * N];
	struct salvo_agile_stats before, now;
	unsigned int i, k, wrong = 0;
	uint64_t seed = 3, all = N;

	for (i = 0; i < N * N; i++) {
		in_a[i] = pick(&seed, 8);
		in_b[i] = pick(&seed, 8);
	}
	WRITE(a, &grid, in_a, 4);
	WRITE(b, &grid, in_b, 4);
	STATS(before);
	for (k = 0; k < N; k += PANEL) {
		struct panel panel = { k, PANEL }, next = { k + PANEL, PANEL };
		struct salvo_agile_operand operands[] = {
			{ a, panel_of_a, &panel }, { b, panel_of_b, &panel } };
		struct salvo_agile_operand ahead[] = {
			{ a, panel_of_a, &next }, { b, panel_of_b, &next } };
		struct salvo_agile_statement s = { kernel, c, operands, NULL, 2, 0, 0 };

		OK(salvo_agile_forall(e->agile, &s));
		for (i = 0; i < 2 && next.from < N; i++)
			OK(salvo_agile_move_memory(e->agile, c, &ahead[i]));
	}
	STATS(now);
	/* Each node needs what it lacks of its rows of A, and of its columns of B. */
	SAME(before.moved_bytes + model_moves(c, 4, a, &grid, whole_rows, &all) +
	     model_moves(c, 4, b, &grid, whole_columns, &all), now.moved_bytes);
	READ(c, &grid, out, 4);
	for (i = 0; i < N * N; i++) {
		float sum = 0;

		for (k = 0; k < N; k++)
			sum += in_a[i / N * N + k] * in_b[k * N + i % N];
		wrong += out[i] != sum;
	}
	SAME(0, wrong);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_field_destroy(c);
	salvo_agile_kernel_destroy(kernel);
	return 0;
}

static inline void dft_rows(double (*to)[2], double (*from)[2], unsigned int n)
{
	for (unsigned int y = 0; y < n; y++)
		for (unsigned int k = 0; k < n; k++) {
			double *sum = to[k * n + y];	/* transposed at once */

			sum[0] = sum[1] = 0;
			for (unsigned int i = 0; i < n; i++) {
				const double angle = -2 * M_PI * (i * k % n) / n;
				const double *v = from[y * n + i];

				sum[0] += v[0] * cos(angle) - v[1] * sin(angle);
				sum[1] += v[0] * sin(angle) + v[1] * cos(angle);
			}
		}
}

/* Rows, all to all, rows, all to all: a Fourier transform of two dimensions. */
static EXAMPLE int example_fourier_transform_of_two_dimensions(struct example *e)
{
	enum { N = 64 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const uint64_t memory[] = { 16, 16 }, task[] = { 16, 0 };
	struct salvo_agile_kernel *rows = cluster_kernel(e->c, "dft_rows");
	struct salvo_agile_kernel *turn = cluster_kernel(e->c, "transpose");
	struct salvo_agile_field *f[2] = {
		make(e->agile, &grid, &how, 8, memory, task),
		make(e->agile, &grid, &how, 8, memory, task) };
	static double model[2][N * N][2];
	static float in[N * N][2], out[N * N][2];
	struct salvo_agile_stats before, now;
	unsigned int i, k, wrong = 0;
	uint64_t seed = 4, n = N, moved;

	for (i = 0; i < N * N; i++) {
		model[0][i][0] = in[i][0] = pick(&seed, 16);
		model[0][i][1] = in[i][1] = pick(&seed, 16);
	}
	WRITE(f[0], &grid, in, 8);
	STATS(before);
	for (k = 0; k < 2; k++) {
		struct salvo_agile_operand whole = { f[0], whole_rows, &n };
		struct salvo_agile_operand turned = { f[1], salvo_agile_transposed, NULL };
		struct salvo_agile_statement transform = { rows, f[1], &whole, NULL, 1, 0, 0 };
		struct salvo_agile_statement transpose = { turn, f[0], &turned, NULL, 1, 0, 0 };

		OK(salvo_agile_forall(e->agile, &transform));
		OK(salvo_agile_forall(e->agile, &transpose));
	}
	dft_rows(model[1], model[0], N);
	dft_rows(model[0], model[1], N);
	STATS(now);
	/* Twice a transpose: rows stay. */
	moved = model_moves(f[0], 8, f[1], &grid, salvo_agile_transposed, NULL);
	SAME(before.moved_bytes + 2 * moved, now.moved_bytes);
	READ(f[0], &grid, out, 8);
	for (i = 0; i < N * N; i++)
		wrong += fabs(out[i][0] - model[0][i][0]) > 0.05 ||
			 fabs(out[i][1] - model[0][i][1]) > 0.05;
	SAME(0, wrong);
	salvo_agile_field_destroy(f[0]);
	salvo_agile_field_destroy(f[1]);
	salvo_agile_kernel_destroy(rows);
	salvo_agile_kernel_destroy(turn);
	return 0;
}


/*
 * C = A + transpose(B) at the published size: 6144 x 6144 in blocks of 1024, of segments of 2048.
 * On 4 nodes the queues have 12, 8, 8 and 8 tasks. A and B are made by kernels, and C is checked in
 * tiles, so that no array is whole anywhere.
 */
static EXAMPLE int example_transpose_add_6144(struct example *e)
{
	enum { N = 6144, BLOCK = 1024 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 2048, 2048 } };
	const uint64_t block[] = { BLOCK, BLOCK };
	struct salvo_agile_kernel *ramp = cluster_kernel(e->c, "ramp");
	struct salvo_agile_kernel *plain = cluster_kernel(e->c, "add");
	struct salvo_agile_kernel *kernel = cluster_kernel(e->c, "add_transposed");
	struct salvo_agile_field *a = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *b = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *c = make(e->agile, &grid, &how, 4, block, block);
	struct salvo_agile_operand operands[] = { { a, NULL, NULL }, { b, NULL, NULL } };
	uint32_t factors[2][2] = { { 31, 17 }, { 5, 1001 } };
	struct salvo_agile_stats before, now, node;
	struct salvo_agile_tile tile;
	unsigned int i, first, wrong = 0;

	for (i = 0; i < 2; i++) {
		const struct salvo_agile_value values[] = {
			{ &factors[i][0], 4 }, { &factors[i][1], 4 } };
		struct salvo_agile_statement fill = {
			ramp, i ? b : a, NULL, values, 0, 2, 0 };

		OK(salvo_agile_forall(e->agile, &fill));
	}
	for (i = 0; i < 2; i++) {
		struct salvo_agile_statement add = {
			i ? kernel : plain, c, operands, NULL, 2, 0, 0 };

		STATS(before);
		operands[1].region = i ? salvo_agile_transposed : NULL;
		OK(salvo_agile_forall(e->agile, &add));
		STATS(now);
		/* C = A + B moves nothing. */
		SAME(before.moved_bytes + (i ? model_moves(c, 4, b, &grid,
							   salvo_agile_transposed, NULL) : 0),
		     now.moved_bytes);
		SAME(before.tasks + 36, now.tasks);
	}
	for (i = 0; i < e->nodes && e->nodes == 4; i++) {
		salvo_agile_get_stats(e->agile, i, &node);
		/* Two statements over A and B, and two sums. */
		SAME(4 * (i ? 8 : 12), node.tasks);
	}
	salvo_agile_nodes(e->agile, &first, NULL);
	for (i = 0; i < 36; i++) {
		const struct salvo_agile_grid part = {
			2, { i / 6 * BLOCK, i % 6 * BLOCK }, { BLOCK, BLOCK } };

		OK(salvo_agile_tile_open(c, first, &part, SALVO_AGILE_READ, &tile));
		for (uint32_t k = 0; k < BLOCK * BLOCK; k++) {
			const uint32_t y = part.offset[0] + k / BLOCK;
			const uint32_t x = part.offset[1] + k % BLOCK;

			wrong += ((float *)tile.data)[k] !=
				 (float)((31 * y + 17 * x) % 4096) +
				 (float)((5 * x + 1001 * y) % 4096);
		}
		OK(salvo_agile_tile_close(&tile));
	}
	SAME(0, wrong);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_field_destroy(c);
	salvo_agile_kernel_destroy(ramp);
	salvo_agile_kernel_destroy(plain);
	salvo_agile_kernel_destroy(kernel);
	return 0;
}

#endif
