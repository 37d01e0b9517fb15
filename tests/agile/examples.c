// SPDX-License-Identifier: MIT
/* examples.c - whole programs on agile arrays, each against the same in serial C */
#include "kselftest_harness.h"

#include <math.h>

#include "agile_test.h"

FIXTURE(example) {
	struct cluster c;
	struct salvo_agile *agile;
};

FIXTURE_SETUP(example)
{
	ASSERT_EQ(0, cluster_open(&self->c, NODES));
	self->agile = self->c.agile;
}

FIXTURE_TEARDOWN(example)
{
	cluster_close(&self->c);
}

#define OK(call) ASSERT_EQ(0, call) TH_LOG("%s", salvo_agile_error(self->agile))

static struct salvo_agile_field *make(struct salvo_agile *agile,
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

/* A quarter of the published size in each direction; tests/agile/statement.c plans it in full. */
TEST_F(example, A5_c_is_a_plus_transposed_b)
{
	enum { N = 1536 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = {
		.kind = SALVO_AGILE_BLOCK_CYCLIC, .block = { 512, 512 } };
	const uint64_t block[] = { 256, 256 };
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "add_transposed");
	struct salvo_agile_field *a = make(self->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *b = make(self->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *c = make(self->agile, &grid, &how, 4, block, block);
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
	OK(field_access(a, &grid, in_a, 4, SALVO_AGILE_WRITE));
	OK(field_access(b, &grid, in_b, 4, SALVO_AGILE_WRITE));
	before = all_stats(self->agile, NODES);
	OK(salvo_agile_forall(self->agile, &s));
	now = all_stats(self->agile, NODES);
	EXPECT_EQ(before.moved_bytes + 4 * 512 * 512 * 4, now.moved_bytes);
	OK(field_access(c, &grid, out, 4, SALVO_AGILE_READ));
	for (i = 0; i < N * N; i++)
		wrong += out[i] != in_a[i] + in_b[i % N * N + i / N];
	EXPECT_EQ(0, wrong);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_field_destroy(c);
	salvo_agile_kernel_destroy(kernel);
	free(in_a);
	free(in_b);
	free(out);
}

static void stencil(float *to, const float *from, unsigned int n)
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
TEST_F(example, A5_stencil_with_halo)
{
	enum { N = 192, ROUNDS = 10 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const uint64_t memory[] = { 4, 0 }, task[] = { 4, 64 };
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "stencil");
	struct salvo_agile_field *f[2] = {
		make(self->agile, &grid, &how, 4, memory, task),
		make(self->agile, &grid, &how, 4, memory, task) };
	static float in[2][N * N], out[N * N];
	struct salvo_agile_stats before, now;
	uint64_t seed = 2, halo = 1;
	unsigned int i, k, wrong = 0;

	for (i = 0; i < N * N; i++)
		in[0][i] = pick(&seed, 1000);
	OK(field_access(f[0], &grid, in[0], 4, SALVO_AGILE_WRITE));
	before = all_stats(self->agile, NODES);
	for (k = 0; k < ROUNDS; k++) {
		struct salvo_agile_operand from = { f[k % 2], salvo_agile_halo, &halo };
		struct salvo_agile_statement s = { kernel, f[1 - k % 2], &from, NULL, 1, 0, 0 };

		OK(salvo_agile_forall(self->agile, &s));
		stencil(in[1 - k % 2], in[k % 2], N);
	}
	now = all_stats(self->agile, NODES);
	/* Three borders, both ways, 4 rows each. */
	EXPECT_EQ(before.moved_bytes + ROUNDS * 6 * 4 * N * 4, now.moved_bytes);
	OK(field_access(f[ROUNDS % 2], &grid, out, 4, SALVO_AGILE_READ));
	for (i = 0; i < N * N; i++)
		wrong += fabsf(out[i] - in[ROUNDS % 2][i]) > 1e-3f;
	EXPECT_EQ(0, wrong);
	salvo_agile_field_destroy(f[0]);
	salvo_agile_field_destroy(f[1]);
	salvo_agile_kernel_destroy(kernel);
}

static void add_counts(void *accumulated, const void *partial)
{
	for (unsigned int k = 0; k < 8; k++)
		((uint64_t *)accumulated)[k] += ((const uint32_t *)partial)[k];
}

/* The grey values of a photo: read_pgm() is for the tests' own pictures. */
static float *read_pgm(const char *path, unsigned int *count)
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

TEST_F(example, A6_k_means_of_a_photo)
{
	enum { K = 8, ROUNDS = 4 };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const struct salvo_agile_decomposition one = { .kind = SALVO_AGILE_BLOCK, .nodes = 1 };
	struct salvo_agile_grid grid = { .rank = 1 }, eight = { 1, { 0 }, { K } };
	const uint64_t block[] = { 16384 }, all[] = { 0 };
	struct salvo_agile_kernel *nearest = cluster_kernel(&self->c, "nearest");
	struct salvo_agile_kernel *histogram = cluster_kernel(&self->c, "histogram");
	float centroids[K], serial[K];
	unsigned int count, i, k, r, wrong = 0;
	struct salvo_agile_field *pixels, *labels, *means;
	uint32_t *out;
	float *in;

	in = read_pgm("tests/data/astronaut.pgm", &count);
	if (!in)
		SKIP(return, "tests/data/astronaut.pgm: run from the top of the tree");
	out = malloc(count * sizeof(*out));
	grid.extent[0] = count;
	pixels = make(self->agile, &grid, &how, 4, all, block);
	labels = make(self->agile, &grid, &how, 4, all, block);
	means = make(self->agile, &eight, &one, 4, all, all);
	for (k = 0; k < K; k++)
		serial[k] = centroids[k] = 16 + 32 * k;
	OK(field_access(pixels, &grid, in, 4, SALVO_AGILE_WRITE));
	for (r = 0; r < ROUNDS; r++) {
		struct salvo_agile_operand operands[] = {
			{ pixels, NULL, NULL }, { means, salvo_agile_fixed, &eight } };
		struct salvo_agile_statement s = { nearest, labels, operands, NULL, 2, 0, 0 };
		uint64_t counts[K] = { 0 }, own[K] = { 0 };
		double sums[K] = { 0 };

		OK(field_access(means, &eight, centroids, 4, SALVO_AGILE_WRITE));
		OK(salvo_agile_forall(self->agile, &s));
		OK(salvo_agile_reduce(self->agile, histogram, labels, NULL, 0, K * sizeof(uint32_t),
				      add_counts, counts));
		OK(field_access(labels, &grid, out, 4, SALVO_AGILE_READ));
		for (i = 0; i < count; i++) {
			uint32_t best = 0;

			for (k = 1; k < K; k++)
				if (fabsf(in[i] - serial[k]) < fabsf(in[i] - serial[best]))
					best = k;
			wrong += out[i] != best;
			own[best]++;
			sums[best] += in[i];
		}
		EXPECT_EQ(0, memcmp(own, counts, sizeof(own)));
		for (k = 0; k < K; k++)
			serial[k] = centroids[k] = own[k] ? sums[k] / own[k] : serial[k];
	}
	EXPECT_EQ(0, wrong);
	salvo_agile_field_destroy(pixels);
	salvo_agile_field_destroy(labels);
	salvo_agile_field_destroy(means);
	salvo_agile_kernel_destroy(nearest);
	salvo_agile_kernel_destroy(histogram);
	free(in);
	free(out);
}

struct panel {
	uint64_t from, size;
};

/* Of A the rows of the task and the panel's columns, of B the other way. */
static void panel_of_a(void *data, const struct salvo_agile_grid *task,
		       struct salvo_agile_grid *region)
{
	const struct panel *panel = data;

	*region = *task;
	region->offset[1] = panel->from;
	region->extent[1] = panel->size;
}

static void panel_of_b(void *data, const struct salvo_agile_grid *task,
		       struct salvo_agile_grid *region)
{
	const struct panel *panel = data;

	*region = *task;
	region->offset[0] = panel->from;
	region->extent[0] = panel->size;
}

/* SUMMA: C += A(:,k) B(k,:) for panels k; the panel of the next step moves beside this one. */
TEST_F(example, A7_summa_matrix_multiply)
{
	enum { N = 192, PANEL = 32 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK_BLOCK };
	const uint64_t block[] = { PANEL, PANEL };
	struct salvo_agile_kernel *kernel = cluster_kernel(&self->c, "multiply");
	struct salvo_agile_field *a = make(self->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *b = make(self->agile, &grid, &how, 4, block, block);
	struct salvo_agile_field *c = make(self->agile, &grid, &how, 4, block, block);
	static float in_a[N * N], in_b[N * N], out[N * N];
	struct salvo_agile_stats before, now;
	unsigned int i, k, wrong = 0;
	uint64_t seed = 3;

	for (i = 0; i < N * N; i++) {
		in_a[i] = pick(&seed, 8);
		in_b[i] = pick(&seed, 8);
	}
	OK(field_access(a, &grid, in_a, 4, SALVO_AGILE_WRITE));
	OK(field_access(b, &grid, in_b, 4, SALVO_AGILE_WRITE));
	before = all_stats(self->agile, NODES);
	for (k = 0; k < N; k += PANEL) {
		struct panel panel = { k, PANEL }, next = { k + PANEL, PANEL };
		struct salvo_agile_operand operands[] = {
			{ a, panel_of_a, &panel }, { b, panel_of_b, &panel } };
		struct salvo_agile_operand ahead[] = {
			{ a, panel_of_a, &next }, { b, panel_of_b, &next } };
		struct salvo_agile_statement s = { kernel, c, operands, NULL, 2, 0, 0 };

		OK(salvo_agile_forall(self->agile, &s));
		for (i = 0; i < 2 && next.from < N; i++)
			OK(salvo_agile_move_memory(self->agile, c, &ahead[i]));
	}
	now = all_stats(self->agile, NODES);
	/*
	 * Each node needs the half of its rows of A, and of its columns of B, that another one
	 * has.
	 */
	EXPECT_EQ(before.moved_bytes + NODES * 2 * (N / 2) * (N / 2) * 4, now.moved_bytes);
	OK(field_access(c, &grid, out, 4, SALVO_AGILE_READ));
	for (i = 0; i < N * N; i++) {
		float sum = 0;

		for (k = 0; k < N; k++)
			sum += in_a[i / N * N + k] * in_b[k * N + i % N];
		wrong += out[i] != sum;
	}
	EXPECT_EQ(0, wrong);
	salvo_agile_field_destroy(a);
	salvo_agile_field_destroy(b);
	salvo_agile_field_destroy(c);
	salvo_agile_kernel_destroy(kernel);
}

static void whole_rows(void *data, const struct salvo_agile_grid *task,
		       struct salvo_agile_grid *region)
{
	*region = *task;
	region->offset[1] = 0;
	region->extent[1] = *(const uint64_t *)data;
}

static void dft_rows(double (*to)[2], double (*from)[2], unsigned int n)
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
TEST_F(example, A5_fourier_transform_of_two_dimensions)
{
	enum { N = 64 };
	const struct salvo_agile_grid grid = { 2, { 0, 0 }, { N, N } };
	const struct salvo_agile_decomposition how = { .kind = SALVO_AGILE_BLOCK };
	const uint64_t memory[] = { 16, 16 }, task[] = { 16, 0 };
	struct salvo_agile_kernel *rows = cluster_kernel(&self->c, "dft_rows");
	struct salvo_agile_kernel *turn = cluster_kernel(&self->c, "transpose");
	struct salvo_agile_field *f[2] = {
		make(self->agile, &grid, &how, 8, memory, task),
		make(self->agile, &grid, &how, 8, memory, task) };
	static double model[2][N * N][2];
	static float in[N * N][2], out[N * N][2];
	struct salvo_agile_stats before, now;
	unsigned int i, k, wrong = 0;
	uint64_t seed = 4, n = N;

	for (i = 0; i < N * N; i++) {
		model[0][i][0] = in[i][0] = pick(&seed, 16);
		model[0][i][1] = in[i][1] = pick(&seed, 16);
	}
	OK(field_access(f[0], &grid, in, 8, SALVO_AGILE_WRITE));
	before = all_stats(self->agile, NODES);
	for (k = 0; k < 2; k++) {
		struct salvo_agile_operand whole = { f[0], whole_rows, &n };
		struct salvo_agile_operand turned = { f[1], salvo_agile_transposed, NULL };
		struct salvo_agile_statement transform = { rows, f[1], &whole, NULL, 1, 0, 0 };
		struct salvo_agile_statement transpose = { turn, f[0], &turned, NULL, 1, 0, 0 };

		OK(salvo_agile_forall(self->agile, &transform));
		OK(salvo_agile_forall(self->agile, &transpose));
	}
	dft_rows(model[1], model[0], N);
	dft_rows(model[0], model[1], N);
	now = all_stats(self->agile, NODES);
	/* In each transpose a node keeps one of its four blocks of 16 x 16. */
	EXPECT_EQ(before.moved_bytes + 2 * 12 * 16 * 16 * 8, now.moved_bytes);
	OK(field_access(f[0], &grid, out, 8, SALVO_AGILE_READ));
	for (i = 0; i < N * N; i++)
		wrong += fabs(out[i][0] - model[0][i][0]) > 0.05 ||
			 fabs(out[i][1] - model[0][i][1]) > 0.05;
	EXPECT_EQ(0, wrong);
	salvo_agile_field_destroy(f[0]);
	salvo_agile_field_destroy(f[1]);
	salvo_agile_kernel_destroy(rows);
	salvo_agile_kernel_destroy(turn);
}

TEST_HARNESS_MAIN
