// SPDX-License-Identifier: MIT
/* matrix.c - examples: products of matrices, by blocks and by Strassen's method */
#include "kselftest_harness.h"
#include "steal_test.h"
#include "strassen.h"

#define SIZE	192
#define BLOCK	32
/* Strassen's wants a power of two times the cutoff */
#define POWER	256
#define CUTOFF	32

/* --- by blocks */

struct product {
	const float *a, *b;
	float *c;
};

static void multiply_block(const struct product *p, int row, int column)
{
	int i, j, k;

	for (i = row; i < row + BLOCK; i++)
		for (k = 0; k < SIZE; k++)
			for (j = column; j < column + BLOCK; j++)
				p->c[i * SIZE + j] += p->a[i * SIZE + k] * p->b[k * SIZE + j];
}

/* An index is a block of the result. */
static int multiply_blocks(struct salvo_worker *worker, void *data, uint64_t begin, uint64_t end)
{
	const uint64_t blocks = SIZE / BLOCK;

	for (; begin < end; begin++)
		multiply_block(data, begin / blocks * BLOCK, begin % blocks * BLOCK);
	return 0;
}

static int multiply(struct salvo_worker *worker, void *data)
{
	return salvo_worker_for(worker, SIZE / BLOCK * (SIZE / BLOCK), 1, multiply_blocks, data);
}

TEST(W8_blocked_product_equals_serial_code_to_the_bit)
{
	static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE], serial[SIZE * SIZE];
	struct product p = { a, b, serial };
	uint64_t state = 1;
	size_t w;
	int i, j, k;

	for (i = 0; i < SIZE * SIZE; i++) {
		a[i] = next_number(&state) * 0x1p-31f;
		b[i] = next_number(&state) * 0x1p-31f;
	}
	for (i = 0; i < SIZE; i++)
		for (k = 0; k < SIZE; k++)
			for (j = 0; j < SIZE; j++)
				serial[i * SIZE + j] += a[i * SIZE + k] * b[k * SIZE + j];
	p.c = c;
	for (w = 0; w < WORKER_COUNTS; w++) {
		memset(c, 0, sizeof(c));
		ASSERT_EQ(0, run_on(worker_counts[w], multiply, &p));
		ASSERT_EQ(0, memcmp(serial, c, sizeof(c)));
	}
}

/* --- Strassen: seven products instead of eight, of integers modulo 2^32 */

/* A square within a matrix. */
struct square {
	uint32_t *at;
	size_t stride;
};

struct strassen {
	struct square a, b, c;
	size_t size;
};

static struct square quarter(struct square s, size_t size, int row, int column)
{
	return (struct square){ s.at + row * size / 2 * s.stride + column * size / 2, s.stride };
}

static void serial_multiply(const struct strassen *s)
{
	size_t i, j, k;

	for (i = 0; i < s->size; i++)
		memset(s->c.at + i * s->c.stride, 0, s->size * sizeof(uint32_t));
	for (i = 0; i < s->size; i++)
		for (k = 0; k < s->size; k++)
			for (j = 0; j < s->size; j++)
				s->c.at[i * s->c.stride + j] += s->a.at[i * s->a.stride + k] *
								s->b.at[k * s->b.stride + j];
}

/* out = a + sign * b, or a alone if sign is 0 */
static void combine(struct square out, struct square a, int sign, struct square b, size_t size)
{
	size_t i, j;

	for (i = 0; i < size; i++)
		for (j = 0; j < size; j++)
			out.at[i * out.stride + j] = a.at[i * a.stride + j] +
				(sign ? sign * b.at[i * b.stride + j] : 0);
}

static void add_products(const struct strassen *s, const struct strassen *parts)
{
	const size_t half = s->size / 2;
	size_t i, j;
	int q, m;

	for (q = 0; q < 4; q++) {
		const struct square c = quarter(s->c, s->size, q / 2, q % 2);

		for (i = 0; i < half; i++)
			for (j = 0; j < half; j++) {
				uint32_t sum = 0;

				for (m = 0; m < 7; m++)
					sum += strassen_sums[q][m] * parts[m].c.at[i * half + j];
				c.at[i * c.stride + j] = sum;
			}
	}
}

static int strassen(struct salvo_worker *worker, void *data)
{
	struct strassen *s = data, parts[7];
	const size_t half = s->size / 2;
	struct salvo_task tasks[7];
	uint32_t *memory;
	int m, err = 0;

	if (s->size <= CUTOFF) {
		serial_multiply(s);
		return 0;
	}
	memory = malloc(21 * half * half * sizeof(*memory));
	if (!memory)
		return -ENOMEM;
	for (m = 0; m < 7; m++) {
		uint32_t *own = memory + m * 3 * half * half;
		const struct strassen_operands *of = &strassen_operands[m];

		parts[m] = (struct strassen){ { own, half }, { own + half * half, half },
					      { own + 2 * half * half, half }, half };
		combine(parts[m].a, quarter(s->a, s->size, of->a / 2, of->a % 2), of->a_sign,
			quarter(s->a, s->size, of->a_other / 2, of->a_other % 2), half);
		combine(parts[m].b, quarter(s->b, s->size, of->b / 2, of->b % 2), of->b_sign,
			quarter(s->b, s->size, of->b_other / 2, of->b_other % 2), half);
		salvo_task_fork(worker, &tasks[m], strassen, &parts[m]);
	}
	while (m--) {
		int other = salvo_task_join(worker, &tasks[m]);

		err = other ? other : err;
	}
	add_products(s, parts);
	free(memory);
	return err;
}

TEST(W8_strassens_product_equals_serial_code)
{
	static uint32_t a[POWER * POWER], b[POWER * POWER], c[POWER * POWER];
	static uint32_t serial[POWER * POWER];
	struct strassen s = { { a, POWER }, { b, POWER }, { serial, POWER }, POWER };
	uint64_t state = 1;
	size_t w;
	int i;

	for (i = 0; i < POWER * POWER; i++) {
		a[i] = next_number(&state);
		b[i] = next_number(&state);
	}
	serial_multiply(&s);
	s.c.at = c;
	for (w = 0; w < WORKER_COUNTS; w++) {
		memset(c, 0, sizeof(c));
		ASSERT_EQ(0, run_on(worker_counts[w], strassen, &s));
		ASSERT_EQ(0, memcmp(serial, c, sizeof(c)));
	}
}

TEST_HARNESS_MAIN
