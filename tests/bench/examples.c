// SPDX-License-Identifier: MIT
/*
 * examples.c - the examples of tests/steal on libsalvo's pools and on oneTBB, in one run
 *
 * The code of the leaves and the way in which they are divided is the same: both systems run the
 * functions of this file. A round runs each program on each system, one after the other, so that
 * other load affects all alike; "serial" calls the functions one after the other. Prints the median
 * of the rounds: CPU time of all threads, and wall time, in microseconds. "kernels" is the product
 * by blocks, but on libsalvo the leaves are kernels on the workers' units. "faces" is the detector
 * of tests/steal/faces.c on the same photo.
 *
 * usage: examples [--json] [--rounds N]
 */
#include <complex.h>
#include <math.h>
#include "bench.h"
#include "entries.h"
#include "examples.h"
#include "reference.h"
#include "salvo.h"
#include "salvo_steal.h"
#include "steal.h"
#include "strassen.h"

#define ROUNDS_MAX	1000
#define NUMBERS		(1 << 19)
#define SORT_LEAF	2048
#define SIZE		512
#define BLOCK		64
#define STRASSEN_LEAF	64
#define POINTS		(1 << 17)
#define FFT_LEAF	512
#define WIDTH		1920
#define HEIGHT		1080
#define QUEENS		10
#define WINDOW		24
/* Of the face detector, as tests/steal/faces.c has it */
#define BAND_ROWS	8
#define BANDS		256

static const struct fork_join *fj;
static struct salvo_pool *pool;

/* --- libsalvo */

struct call {
	part_function function;
	void *data;
	int done;
};

static int call_part(struct salvo_worker *worker, void *data)
{
	const struct call *call = data;

	call->function(worker, call->data);
	return 0;
}

static void salvo_run(part_function function, void *data)
{
	struct call call = { function, data, 0 };

	salvo_pool_run(pool, NULL, call_part, &call);
}

static void salvo_many(void *at, part_function function, void *objects, long bytes, long count)
{
	struct salvo_task tasks[16];
	struct call calls[16];
	long i;

	for (i = 1; i < count; i++) {
		calls[i] = (struct call){ function, (char *)objects + i * bytes, 0 };
		salvo_task_fork(at, &tasks[i], call_part, &calls[i]);
	}
	function(at, objects);
	while (--i)
		salvo_task_join(at, &tasks[i]);
}

struct range_call {
	range_function function;
	void *data;
};

static int call_range(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	const struct range_call *call = data;

	call->function(worker, call->data, begin, end);
	return 0;
}

static void salvo_range(void *at, range_function function, void *data, long count, long grain)
{
	struct range_call call = { function, data };

	salvo_worker_for(at, count, grain, call_range, &call);
}

static const struct fork_join salvo_system = { "salvo", salvo_run, salvo_many, salvo_range };

/* --- none */

static void serial_run(part_function function, void *data)
{
	function(NULL, data);
}

static void serial_many(void *at, part_function function, void *objects, long bytes, long count)
{
	long i;

	for (i = 0; i < count; i++)
		function(at, (char *)objects + i * bytes);
}

static void serial_range(void *at, range_function function, void *data, long count, long grain)
{
	(void)grain;
	function(at, data, 0, count);
}

static const struct fork_join serial_system = { "serial", serial_run, serial_many, serial_range };

/* --- merge sort */

struct sort {
	unsigned int *numbers, *room;
	long count;
};

static unsigned int numbers[NUMBERS], sorted[NUMBERS], sort_room[NUMBERS];

static void sort_part(void *at, void *data)
{
	const struct sort *s = data;
	const long half = s->count / 2;
	struct sort halves[2] = {
		{ s->numbers, s->room, half },
		{ s->numbers + half, s->room + half, s->count - half },
	};
	long i = 0, j = half, k;

	if (s->count < 2)
		return;
	if (s->count > SORT_LEAF)
		fj->many(at, sort_part, halves, sizeof(halves[0]), 2);
	else
		serial_many(at, sort_part, halves, sizeof(halves[0]), 2);
	for (k = 0; k < s->count; k++)
		s->room[k] = j == s->count || (i < half && s->numbers[i] <= s->numbers[j]) ?
			     s->numbers[i++] : s->numbers[j++];
	memcpy(s->numbers, s->room, s->count * sizeof(s->numbers[0]));
}

static double run_sort(void)
{
	struct sort all = { sorted, sort_room, NUMBERS };
	long i;

	memcpy(sorted, numbers, sizeof(sorted));
	fj->run(sort_part, &all);
	for (i = 1; i < NUMBERS && sorted[i - 1] <= sorted[i]; i++)
		;
	return i == NUMBERS ? sorted[NUMBERS / 2] : -1;
}

/* --- product of matrices by blocks */

static float a[SIZE * SIZE], b[SIZE * SIZE], product[SIZE * SIZE];

static void multiply_block(long row, long column)
{
	long i, j, k;

	for (i = row; i < row + BLOCK; i++)
		for (k = 0; k < SIZE; k++)
			for (j = column; j < column + BLOCK; j++)
				product[i * SIZE + j] += a[i * SIZE + k] * b[k * SIZE + j];
}

static void multiply_blocks(void *at, void *data, long begin, long end)
{
	const long blocks = SIZE / BLOCK;

	(void)at;
	(void)data;
	for (; begin < end; begin++)
		multiply_block(begin / blocks * BLOCK, begin % blocks * BLOCK);
}

static void multiply(void *at, void *data)
{
	fj->range(at, multiply_blocks, data, SIZE / BLOCK * (SIZE / BLOCK), 1);
}

static double run_blocks(void)
{
	memset(product, 0, sizeof(product));
	fj->run(multiply, NULL);
	return product[SIZE * SIZE / 2 + 7];
}

/* --- Strassen's product, of integers */

struct strassen {
	const unsigned int *a, *b;
	unsigned int *c;
	long a_stride, b_stride, size;
};

/* out = x + sign * y, with strides */
static void add(unsigned int *out, const unsigned int *x, long x_stride, int sign,
		const unsigned int *y, long y_stride, long size)
{
	long i, j;

	for (i = 0; i < size; i++)
		for (j = 0; j < size; j++)
			out[i * size + j] = x[i * x_stride + j] + sign * y[i * y_stride + j];
}

static void multiply_serial(const struct strassen *s)
{
	long i, j, k;

	memset(s->c, 0, s->size * s->size * sizeof(*s->c));
	for (i = 0; i < s->size; i++)
		for (k = 0; k < s->size; k++)
			for (j = 0; j < s->size; j++)
				s->c[i * s->size + j] += s->a[i * s->a_stride + k] *
							 s->b[k * s->b_stride + j];
}

static void strassen(void *at, void *data)
{
	const struct strassen *s = data;
	const long h = s->size / 2;
	struct strassen parts[7];
	unsigned int *room, *sum;
	long i, j, q, p;

	if (s->size <= STRASSEN_LEAF) {
		multiply_serial(s);
		return;
	}
	room = malloc(21 * h * h * sizeof(*room));
	need(room, "malloc");
	for (p = 0; p < 7; p++) {
		const struct strassen_operands *of = &strassen_operands[p];
		unsigned int *x = room + p * 3 * h * h, *y = x + h * h;
#define QUARTER(m, stride, q)	((m) + (q) / 2 * h * (stride) + (q) % 2 * h)

		add(x, QUARTER(s->a, s->a_stride, of->a), s->a_stride, of->a_sign,
		    QUARTER(s->a, s->a_stride, of->a_other), s->a_stride, h);
		add(y, QUARTER(s->b, s->b_stride, of->b), s->b_stride, of->b_sign,
		    QUARTER(s->b, s->b_stride, of->b_other), s->b_stride, h);
		parts[p] = (struct strassen){ x, y, y + h * h, h, h, h };
	}
	fj->many(at, strassen, parts, sizeof(parts[0]), 7);
	for (q = 0; q < 4; q++)
		for (i = 0; i < h; i++) {
			sum = s->c + (q / 2 * h + i) * s->size + q % 2 * h;
			for (j = 0; j < h; j++) {
				sum[j] = 0;
				for (p = 0; p < 7; p++)
					sum[j] += strassen_sums[q][p] * parts[p].c[i * h + j];
			}
		}
	free(room);
}

static double run_strassen(void)
{
	static unsigned int result[SIZE * SIZE];
	struct strassen all = { numbers, numbers + SIZE * SIZE, result, SIZE, SIZE, SIZE };

	fj->run(strassen, &all);
	return result[SIZE * SIZE / 2 + 7];
}

/* --- fast Fourier transform */

struct fft {
	const float complex *in;
	float complex *out;
	long stride, count;
};

static float complex signal_in[POINTS], spectrum[POINTS], roots[POINTS / 2];

static void fft(void *at, void *data)
{
	const struct fft *f = data;
	const long half = f->count / 2;
	struct fft halves[2] = {
		{ f->in, f->out, f->stride * 2, half },
		{ f->in + f->stride, f->out + half, f->stride * 2, half },
	};
	long i;

	if (f->count == 1) {
		f->out[0] = f->in[0];
		return;
	}
	if (f->count > FFT_LEAF)
		fj->many(at, fft, halves, sizeof(halves[0]), 2);
	else
		serial_many(at, fft, halves, sizeof(halves[0]), 2);
	for (i = 0; i < half; i++) {
		const float complex even = f->out[i], odd = roots[i * f->stride] * f->out[i + half];

		f->out[i] = even + odd;
		f->out[i + half] = even - odd;
	}
}

static double run_fft(void)
{
	struct fft all = { signal_in, spectrum, 1, POINTS };

	fj->run(fft, &all);
	return crealf(spectrum[77]);
}

/* --- pyramid of integral images */

static unsigned char image[WIDTH * HEIGHT * 2];
static unsigned int integral[WIDTH * HEIGHT];

struct level {
	long width, height;
	unsigned char *pixels;
};

static void halve_rows(void *at, void *data, long begin, long end)
{
	const struct level *l = data;
	unsigned char *out = l->pixels + l->width * l->height;
	long x;

	(void)at;
	for (; begin < end; begin++)
		for (x = 0; x < l->width / 2; x++) {
			const unsigned char *in = l->pixels + 2 * begin * l->width + 2 * x;

			out[begin * (l->width / 2) + x] =
				(in[0] + in[1] + in[l->width] + in[l->width + 1]) / 4;
		}
}

static void sum_rows(void *at, void *data, long begin, long end)
{
	const struct level *l = data;
	unsigned int sum;
	long x;

	(void)at;
	for (; begin < end; begin++)
		for (x = 0, sum = 0; x < l->width; x++) {
			sum += l->pixels[begin * l->width + x];
			integral[begin * l->width + x] = sum;
		}
}

static void sum_columns(void *at, void *data, long begin, long end)
{
	const struct level *l = data;
	long x, y;

	(void)at;
	for (y = 1; y < l->height; y++)
		for (x = begin; x < end; x++)
			integral[y * l->width + x] += integral[(y - 1) * l->width + x];
}

static void pyramid(void *at, void *data)
{
	struct level l = { WIDTH, HEIGHT, image };

	(void)data;
	for (; l.height > WINDOW; l.width /= 2, l.height /= 2) {
		fj->range(at, sum_rows, &l, l.height, 16);
		fj->range(at, sum_columns, &l, l.width, 64);
		fj->range(at, halve_rows, &l, l.height / 2, 16);
		l.pixels += l.width * l.height;
	}
}

static double run_pyramid(void)
{
	fj->run(pyramid, NULL);
	return integral[77];
}

/* --- n queens */

struct board {
	int row;
	unsigned int columns, left, right;
	long solutions;
};

static void queens(void *at, void *data)
{
	struct board *board = data, next[16];
	unsigned int places = ~(board->columns | board->left | board->right) & ((1u << QUEENS) - 1);
	long count = 0;

	board->solutions = board->row == QUEENS;
	for (; board->row < QUEENS && places; places &= places - 1) {
		const unsigned int queen = places & -places;

		next[count++] = (struct board){
			board->row + 1, board->columns | queen, (board->left | queen) << 1,
			(board->right | queen) >> 1, 0,
		};
	}
	if (!count)
		return;
	fj->many(at, queens, next, sizeof(next[0]), count);
	while (count--)
		board->solutions += next[count].solutions;
}

static double run_queens(void)
{
	struct board board = { 0 };

	fj->run(queens, &board);
	return board.solutions;
}

/* --- a face detector that divides the levels of a frame into bands of rows */

struct band {
	struct face *faces;
	int count;
};

struct faces_level {
	const struct pyramid_level *level;
	struct reference_level *reference;
	struct band bands[BANDS];
};

static struct cascade *cascade;
static struct image photo;
static struct pyramid photo_levels;

static void detect_bands(void *at, void *data, long begin, long end)
{
	struct faces_level *l = data;

	(void)at;
	for (; begin < end; begin++) {
		const int first = begin * BAND_ROWS, rest = l->level->rows - first;

		need(!reference_level_rows(l->reference, first,
					   first + (rest < BAND_ROWS ? rest : BAND_ROWS),
					   &l->bands[begin].faces, &l->bands[begin].count),
		     "reference_level_rows");
	}
}

static void detect_levels(void *at, void *data, long begin, long end)
{
	struct faces_level *levels = data;

	for (; begin < end; begin++) {
		struct faces_level *l = &levels[begin];

		l->level = &photo_levels.levels[begin];
		need(!reference_level_create(cascade, l->level, photo.pixels, photo.width,
					     photo.height, &l->reference),
		     "reference_level_create");
		fj->range(at, detect_bands, l, (l->level->rows + BAND_ROWS - 1) / BAND_ROWS, 1);
		reference_level_destroy(l->reference);
	}
}

static void detect(void *at, void *data)
{
	fj->range(at, detect_levels, data, photo_levels.count, 1);
}

/* A sum over all rectangles */
static double run_faces(void)
{
	struct faces_level *levels = calloc(photo_levels.count, sizeof(*levels));
	double sum = 0;
	unsigned int i;
	int b, f;

	need(levels, "calloc");
	fj->run(detect, levels);
	for (i = 0; i < photo_levels.count; i++)
		for (b = 0; b < BANDS; b++) {
			for (f = 0; f < levels[i].bands[b].count; f++)
				sum += levels[i].bands[b].faces[f].x * (i + 1.0) +
				       levels[i].bands[b].faces[f].y;
			free(levels[i].bands[b].faces);
		}
	free(levels);
	return sum;
}

static void open_faces(void)
{
	const struct pyramid_options options = { 1.2, 30, 30, 240, 240 };
	struct faces_error error;

	need(!test_cascade("lbpcascade_frontalface", &cascade) &&
	     !test_picture("astronaut.pgm", &photo) &&
	     !pyramid_plan(&photo_levels, cascade, &options, photo.width, photo.height, &error),
	     "tests/data/astronaut.pgm, or OpenCV's cascade:");
}

/* --- leaves as kernels */

static const char source[] =
	"kernel void block(global const float *a, global const float *b, global float *c,\n"
	"		  int size, int row, int column)\n"
	"{\n"
	"	int j = column + get_global_id(0), i = row + get_global_id(1), k;\n"
	"	float sum = 0;\n"
	"\n"
	"	for (k = 0; k < size; k++)\n"
	"		sum += a[i * size + k] * b[k * size + j];\n"
	"	c[i * size + j] = sum;\n"
	"}\n";

static struct salvo_device *device;
static struct salvo_pool *kernel_pool;
static struct salvo_kernel *kernels[SIZE / BLOCK * (SIZE / BLOCK)];
static float *result;

static void create_kernels(void)
{
	const uint32_t items[2] = { BLOCK, BLOCK }, group[2] = { BLOCK, 1 };
	const float *from[2] = { a, b };
	struct salvo_pool_options options = { .units = 1, .name = "kernels" };
	struct salvo_bo *matrices[3];
	struct salvo_program *program;
	const int size = SIZE;
	unsigned int i, j;
	void *map;

	need(!salvo_device_open("soft", &device), "salvo_device_open");
	options.device = device;
	need(!salvo_pool_create(&options, &kernel_pool), "salvo_pool_create");
	need(!salvo_program_build(device, source, 0, NULL, NULL, &program), "salvo_program_build");
	for (i = 0; i < 3; i++) {
		need(!salvo_bo_create(device, sizeof(a), 0, &matrices[i]) &&
		     !salvo_bo_map(matrices[i], &map), "salvo_bo_create");
		if (i < 2)
			memcpy(map, from[i], sizeof(a));
		result = map;
	}
	for (i = 0; i < SIZE / BLOCK * (SIZE / BLOCK); i++) {
		const int at[2] = { i / (SIZE / BLOCK) * BLOCK, i % (SIZE / BLOCK) * BLOCK };

		need(!salvo_kernel_create(program, "block", &kernels[i]), "salvo_kernel_create");
		for (j = 0; j < 3; j++)
			need(!salvo_kernel_set_bo(kernels[i], j, matrices[j], 0), "set_bo");
		need(!salvo_kernel_set_value(kernels[i], 3, &size, sizeof(size)) &&
		     !salvo_kernel_set_value(kernels[i], 4, &at[0], sizeof(at[0])) &&
		     !salvo_kernel_set_value(kernels[i], 5, &at[1], sizeof(at[1])) &&
		     !salvo_kernel_set_grid(kernels[i], 2, items, group), "salvo_kernel_set_value");
	}
}

static int kernel_blocks(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	(void)data;
	for (; begin < end; begin++)
		need(!salvo_worker_leaf(worker, kernels[begin], NULL), "salvo_worker_leaf");
	return 0;
}

static int kernel_multiply(struct salvo_worker *worker, void *data)
{
	return salvo_worker_for(worker, SIZE / BLOCK * (SIZE / BLOCK), 1, kernel_blocks, data);
}

static double run_kernels(void)
{
	if (fj != &salvo_system)
		return run_blocks();
	salvo_pool_run(kernel_pool, NULL, kernel_multiply, NULL);
	return result[SIZE * SIZE / 2 + 7];
}

/* --- all of them */

static const struct {
	const char *name;
	double (*run)(void);
	/* Sums of floating point numbers differ in their last bits. */
	double tolerance;
} programs[] = {
	{ "sort", run_sort, 0 }, { "blocks", run_blocks, 0 }, { "strassen", run_strassen, 0 },
	{ "fft", run_fft, 0 }, { "pyramid", run_pyramid, 0 }, { "queens", run_queens, 0 },
	{ "faces", run_faces, 0 }, { "kernels", run_kernels, 1e-3 },
};
#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static const struct fork_join *const systems[] = { &salvo_system, &tbb_system, &serial_system };
#define SYSTEMS (sizeof(systems) / sizeof(systems[0]))

static void fill(void)
{
	unsigned long long state = 1;
	long i;

	for (i = 0; i < NUMBERS; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		numbers[i] = state >> 33;
	}
	for (i = 0; i < SIZE * SIZE; i++) {
		a[i] = numbers[i] * 0x1p-31f;
		b[i] = numbers[SIZE * SIZE + i] * 0x1p-31f;
	}
	for (i = 0; i < POINTS; i++)
		signal_in[i] = numbers[i] * 0x1p-31f;
	for (i = 0; i < POINTS / 2; i++)
		roots[i] = cexpf(-2 * (float)M_PI * I * i / POINTS);
	for (i = 0; i < WIDTH * HEIGHT; i++)
		image[i] = numbers[i % NUMBERS] % 64 + i % WIDTH / 16;
}

/* Return: the result */
static double measure(unsigned int p, unsigned int s, double *cpu, double *wall)
{
	const double cpu0 = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	const double wall0 = clock_us(CLOCK_MONOTONIC);
	double result;

	fj = systems[s];
	result = programs[p].run();
	*wall = clock_us(CLOCK_MONOTONIC) - wall0;
	bench_settle();
	*cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu0;
	return result;
}

static void show(unsigned int p, double cpu[SYSTEMS][ROUNDS_MAX], double wall[SYSTEMS][ROUNDS_MAX],
		 unsigned int rounds, bool json)
{
	double first = 0;
	unsigned int s;

	for (s = 0; s < SYSTEMS; s++) {
		const double cpu_us = median(cpu[s], rounds), wall_us = median(wall[s], rounds);

		if (!s)
			first = cpu_us;
		if (json)
			printf("{\"program\":\"%s\",\"system\":\"%s\",\"cpu_us\":%.1f,\"wall_us\":%.1f}\n",
			       programs[p].name, systems[s]->name, cpu_us, wall_us);
		else
			printf("%-9s %-8s %9.0f %9.0f %8.2f\n", programs[p].name, systems[s]->name,
			       cpu_us, wall_us, cpu_us / first);
	}
}

int main(int argc, char **argv)
{
	static double cpu[PROGRAMS][SYSTEMS][ROUNDS_MAX], wall[PROGRAMS][SYSTEMS][ROUNDS_MAX];
	unsigned int rounds = 12, round, p, s, order[SYSTEMS];
	double results[SYSTEMS];
	bool json = false;
	int i;

	for (i = 1; i < argc; i++)
		need(bench_option(argv, &i, &json, &rounds), "usage: examples [--json] [--rounds N]: the arguments");
	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	fill();
	need(!salvo_pool_create(NULL, &pool), "salvo_pool_create");
	tbb_threads(salvo_pool_workers(pool));
	create_kernels();
	open_faces();
	for (round = 0; round < rounds; round++) {
		bench_order(round, order, SYSTEMS);
		for (p = 0; p < PROGRAMS; p++) {
			for (s = 0; s < SYSTEMS; s++)
				results[order[s]] = measure(p, order[s], &cpu[p][order[s]][round],
							    &wall[p][order[s]][round]);
			for (s = 0; s < SYSTEMS; s++)
				need(fabs(results[s] - results[2]) <=
				     fabs(results[2]) * programs[p].tolerance, programs[p].name);
		}
	}
	if (!json)
		printf("%u threads             CPU us   wall us    to salvo\n",
		       salvo_pool_workers(pool));
	for (p = 0; p < PROGRAMS; p++)
		show(p, cpu[p], wall[p], rounds, json);
	return 0;
}
