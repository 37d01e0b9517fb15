// SPDX-License-Identifier: MIT
/*
 * int_ids.c - global ids from 2^31 on, which are negative as ints, index what the host says (M4)
 */
#include <string.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "cc_program.h"

#define FAR	(1ll << 31)
#define ITEMS	192
#define ROWS	3
#define WIDTH	8
/* Rows do nothing from here on, if their ids are not negative. */
#define END	(INT32_MAX - 10)

static const char path[] = "tests/kernels/int_ids.cl";

static const char *const options[] = {
	"--global-offset -O0", "--global-offset", "--global-offset --march x86-64-v2",
	"--global-offset --march x86-64-v4",
};

FIXTURE(int_ids) {
	/* Elements from -2^31 up to 2^31. Only pages that kernels access are mapped. */
	char *which, *of;
};

static char *reserve(size_t size)
{
	char *map = mmap(NULL, 2 * FAR * size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map == MAP_FAILED ? NULL : map + FAR * size;
}

FIXTURE_SETUP(int_ids)
{
	self->which = reserve(sizeof(int));
	self->of = reserve(WIDTH * sizeof(int));
	if (!self->which || !self->of)
		SKIP(return, "this machine does not reserve so much memory");
}

FIXTURE_TEARDOWN(int_ids)
{
}

static unsigned int chosen(unsigned int which, unsigned int v, unsigned int i)
{
	switch (which) {
	case 0:
		return v * v + 2;
	case 1:
		return v - i;
	case 2:
		return v + v * 5;
	default:
		return 7 - v;
	}
}

/* Work-items whose result is wrong, of ids from @first on in @rows rows */
static int differing(const FIXTURE_DATA(int_ids) *self, const struct cc_program *program,
		     uint32_t first, unsigned int local, unsigned int rows)
{
	struct {
		uint32_t offset[4];
		void *which, *of;
		int end;
	} args = { { first }, self->which, self->of, END };
	const struct cc_range range = { { ITEMS, rows, 1 }, { local, 1, 1 }, rows > 1 ? 2 : 1, 0 };
	int *which = (int *)self->which, wrong = 0;
	int (*of)[WIDTH] = (int (*)[WIDTH])self->of;
	unsigned int n, k, y;

	for (n = 0; n < ITEMS; n++) {
		int i = first + n;

		which[i] = n * 7 % 5 - (rows > 1);
		for (k = 0; k < WIDTH; k++)
			of[i][k] = n * 31 + k;
	}
	if (cc_run(program, rows > 1 ? "choose_rows" : "choose", &args, &range))
		return ITEMS;
	for (n = 0; n < ITEMS; n++) {
		int i = first + n;

		for (k = 0; k < WIDTH; k++) {
			unsigned int v = n * 31 + k;

			for (y = 0; y < rows && (rows == 1 || i < END); y++)
				v = chosen(which[i] + (rows > 1 ? y : 0), v, i);
			wrong += of[i][k] != (int)v;
		}
	}
	return wrong;
}

TEST_F(int_ids, M4_ids_that_are_negative_as_ints)
{
	static const uint32_t first[] = {
		0, 1000, FAR - ITEMS, FAR - ITEMS + 1, FAR - 100, FAR - 64, FAR - 1, FAR, FAR / 2,
	};
	static const unsigned int local[] = { 1, 32, 50, ITEMS };
	unsigned int o, f, l;

	for (o = 0; o < sizeof(options) / sizeof(options[0]); o++) {
		struct cc_program *program;

		if (strstr(options[o], "v4") && !cc_runs_v4())
			continue;
		program = cc_build(options[o], path);
		ASSERT_NE(NULL, program);
		for (f = 0; f < sizeof(first) / sizeof(first[0]); f++)
			for (l = 0; l < sizeof(local) / sizeof(local[0]); l++) {
				EXPECT_EQ(0, differing(self, program, first[f], local[l], 1))
					TH_LOG("%s from %u, groups of %u", options[o], first[f],
					       local[l]);
				EXPECT_EQ(0, differing(self, program, first[f], local[l], ROWS))
					TH_LOG("%s from %u, groups of %u in rows", options[o],
					       first[f], local[l]);
			}
		cc_program_close(program);
	}
}

TEST_HARNESS_MAIN
