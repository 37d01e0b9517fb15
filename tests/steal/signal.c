// SPDX-License-Identifier: MIT
/* signal.c - examples: the fast Fourier transform, and a pyramid of integral images */
#include <complex.h>
#include <math.h>

#include "kselftest_harness.h"
#include "steal_test.h"

/* --- FFT, radix 2, decimation in time */

#define POINTS	4096
#define CUTOFF	64

struct fft {
	const double complex *in;
	double complex *out;
	size_t count, stride;
};

static void butterflies(const struct fft *f)
{
	const size_t half = f->count / 2;
	size_t k;

	for (k = 0; k < half; k++) {
		const double complex even = f->out[k];
		const double complex odd = f->out[k + half] * cexp(-2 * M_PI * I * k / f->count);

		f->out[k] = even + odd;
		f->out[k + half] = even - odd;
	}
}

/* Serial if @worker is NULL. */
static int fft(struct salvo_worker *worker, void *data)
{
	struct fft *f = data, even, odd;
	struct salvo_task task;
	int err, other = 0;

	if (f->count == 1) {
		f->out[0] = f->in[0];
		return 0;
	}
	even = (struct fft){ f->in, f->out, f->count / 2, f->stride * 2 };
	odd = (struct fft){ f->in + f->stride, f->out + f->count / 2, f->count / 2,
			    f->stride * 2 };
	if (worker && f->count > CUTOFF) {
		salvo_task_fork(worker, &task, fft, &odd);
		err = fft(worker, &even);
		other = salvo_task_join(worker, &task);
	} else {
		err = fft(NULL, &even);
		other = fft(NULL, &odd);
	}
	butterflies(f);
	return err ? err : other;
}

TEST(W8_fourier_transform_equals_serial_code_to_the_bit)
{
	static double complex in[POINTS], out[POINTS], serial[POINTS];
	struct fft f = { in, serial, POINTS, 1 };
	double complex direct = 0;
	uint64_t state = 1;
	size_t i, w;

	for (i = 0; i < POINTS; i++)
		in[i] = next_number(&state) * 0x1p-31 - 0.5;
	fft(NULL, &f);
	/* It is a Fourier transform. */
	for (i = 0; i < POINTS; i++)
		direct += in[i] * cexp(-2 * M_PI * I * 77 * i / POINTS);
	EXPECT_GT(1e-8, cabs(direct - serial[77]));
	f.out = out;
	for (w = 0; w < WORKER_COUNTS; w++) {
		memset(out, 0, sizeof(out));
		ASSERT_EQ(0, run_on(worker_counts[w], fft, &f));
		ASSERT_EQ(0, memcmp(serial, out, sizeof(out)));
	}
}

/* --- integral images of a picture that is halved again and again */

#define WIDTH	320
#define HEIGHT	240
#define LEVELS	5

struct level {
	int width, height;
	uint8_t pixels[WIDTH * HEIGHT];
	uint32_t sums[WIDTH * HEIGHT];
};

struct pyramid {
	struct level level[LEVELS];
};

struct step {
	const struct level *from;
	struct level *to;
};

static int halve_rows(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	const struct step *step = data;
	const int stride = step->from->width;
	int x;

	for (; begin < end; begin++)
		for (x = 0; x < step->to->width; x++) {
			const uint8_t *p = step->from->pixels + begin * 2 * stride + x * 2;

			step->to->pixels[begin * step->to->width + x] =
				(p[0] + p[1] + p[stride] + p[stride + 1] + 2) / 4;
		}
	return 0;
}

static int sum_rows(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct level *level = data;
	int x;

	for (; begin < end; begin++) {
		uint32_t sum = 0;

		for (x = 0; x < level->width; x++) {
			sum += level->pixels[begin * level->width + x];
			level->sums[begin * level->width + x] = sum;
		}
	}
	return 0;
}

static int sum_columns(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	struct level *level = data;
	uint64_t x;
	int y;

	for (y = 1; y < level->height; y++)
		for (x = begin; x < end; x++)
			level->sums[y * level->width + x] +=
				level->sums[(y - 1) * level->width + x];
	return 0;
}

static int integrate(struct salvo_worker *worker, void *data)
{
	struct level *level = data;
	int err;

	err = salvo_worker_for(worker, level->height, 8, sum_rows, level);
	return err ? err : salvo_worker_for(worker, level->width, 32, sum_columns, level);
}

/* A level is integrated while the next ones are made from it. */
static int make_pyramid(struct salvo_worker *worker, void *data)
{
	struct pyramid *p = data;
	struct salvo_task tasks[LEVELS];
	int i, other, err = 0;

	for (i = 0; i < LEVELS; i++) {
		if (i) {
			struct step step = { &p->level[i - 1], &p->level[i] };

			err |= salvo_worker_for(worker, step.to->height, 8, halve_rows, &step);
		}
		salvo_task_fork(worker, &tasks[i], integrate, &p->level[i]);
	}
	while (i--) {
		other = salvo_task_join(worker, &tasks[i]);
		err = err ? err : other;
	}
	return err;
}

static void serial_pyramid(struct pyramid *p)
{
	int i;

	for (i = 0; i < LEVELS; i++) {
		struct level *level = &p->level[i];
		struct step step = { i ? level - 1 : NULL, level };

		if (i)
			halve_rows(NULL, &step, 0, level->height);
		sum_rows(NULL, level, 0, level->height);
		sum_columns(NULL, level, 0, level->width);
	}
}

static void init_pyramid(struct pyramid *p)
{
	uint64_t state = 1;
	int i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < LEVELS; i++) {
		p->level[i].width = WIDTH >> i;
		p->level[i].height = HEIGHT >> i;
	}
	for (i = 0; i < WIDTH * HEIGHT; i++)
		p->level[0].pixels[i] = next_number(&state);
}

TEST(W8_integral_image_pyramid_equals_serial_code)
{
	static struct pyramid serial, parallel;
	uint32_t whole = 0;
	size_t w;
	int i;

	init_pyramid(&serial);
	serial_pyramid(&serial);
	for (i = 0; i < WIDTH * HEIGHT; i++)
		whole += serial.level[0].pixels[i];
	EXPECT_EQ(whole, serial.level[0].sums[WIDTH * HEIGHT - 1]);
	for (w = 0; w < WORKER_COUNTS; w++) {
		init_pyramid(&parallel);
		ASSERT_EQ(0, run_on(worker_counts[w], make_pyramid, &parallel));
		ASSERT_EQ(0, memcmp(&serial, &parallel, sizeof(serial)));
	}
}

TEST_HARNESS_MAIN
