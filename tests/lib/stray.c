// SPDX-License-Identifier: MIT
/*
 * stray.c - a stray access is reported with its work-item, however the kernel was compiled
 *
 * In each run one work-item of a kernel accesses unmapped memory. The report must name that
 * work-item, or a short range that includes it, and never another one. The test prints how often it
 * was exact. The environment variable SALVO_STRAY_ROUNDS sets the number of runs.
 */
#include "kselftest_harness.h"
#include "lib_test.h"

#define MAX_ITEMS	8192u
/* Pairs of buffers that are created until one of them follows another */
#define MAX_PAIRS	16u
/* Outside of all buffers, in ints, but within the addresses that the processor reports. */
#define ASTRAY		(-(1ll << 33))

struct score {
	unsigned int exact, range, unknown, wrong;
};

struct shape {
	unsigned int dims;
	uint32_t items[3], group[3];
};

FIXTURE(stray) {
	struct bench b;
	struct salvo_program *program;
	struct salvo_bo *where, *data;
	struct salvo_bo *placed[2 * MAX_PAIRS];
	int64_t *map;
	uint32_t random;
};

/*
 * Sets data to a buffer that the GPU cannot write beyond: a read-only one follows it, or no buffer
 * follows another, as on the embedded GPU. The driver places buffers by what was freed before.
 */
static void place_data(struct __test_metadata *_metadata, struct _test_data_stray *self)
{
	unsigned int i, j;

	for (i = 0; i < 2 * MAX_PAIRS && !self->data; i++) {
		ASSERT_EQ(0, salvo_bo_create(self->b.device, 4 * MAX_ITEMS,
					     i % 2 ? SALVO_BO_READONLY : 0, &self->placed[i]));
		for (j = 0; j < i; j++) {
			struct salvo_bo *odd = self->placed[i % 2 ? i : j];
			struct salvo_bo *even = self->placed[i % 2 ? j : i];

			if (i % 2 != j % 2 && salvo_bo_address(odd) ==
			    salvo_bo_address(even) + 4 * MAX_ITEMS)
				self->data = even;
		}
	}
	if (!self->data)
		self->data = self->placed[0];
}

FIXTURE_SETUP(stray)
{
	void *map;

	ASSERT_EQ(0, bench_open(&self->b));
	ASSERT_EQ(0, salvo_program_load_file(self->b.device, kernel_path("stray.salvo"),
					     &self->program));
	ASSERT_EQ(0, salvo_bo_create(self->b.device, 8 * MAX_ITEMS, 0, &self->where));
	place_data(_metadata, self);
	ASSERT_EQ(0, salvo_bo_map(self->where, &map));
	memset(map, 0, 8 * MAX_ITEMS);
	self->map = map;
	self->random = 12345;
}

FIXTURE_TEARDOWN(stray)
{
	unsigned int i;

	salvo_bo_destroy(self->where);
	for (i = 0; i < 2 * MAX_PAIRS; i++)
		salvo_bo_destroy(self->placed[i]);
	salvo_program_destroy(self->program);
	bench_close(&self->b);
}

static uint32_t draw(struct _test_data_stray *self, uint32_t below)
{
	self->random = self->random * 1664525 + 1013904223;
	return (uint64_t)(self->random >> 8) * below >> 24;
}

/* Runs one dispatch on a new queue, as its context will be banned. */
static int run_stray(struct _test_data_stray *self, struct salvo_kernel *kernel,
		     const struct shape *shape, struct salvo_error *error)
{
	struct bench *b = &self->b;
	struct salvo_queue *queue;
	struct salvo_fence *fence;
	int err;

	salvo_batch_reset(b->batch);
	if (salvo_kernel_set_grid(kernel, shape->dims, shape->items, shape->group) ||
	    salvo_batch_dispatch(b->batch, kernel) || salvo_queue_create(b->device, 0, &queue))
		return -EINVAL;
	err = salvo_queue_submit(queue, b->batch, NULL, 0, &fence);
	if (!err) {
		salvo_fence_wait(fence, 20 * SECOND_NS);
		err = salvo_fence_get_error(fence, error);
		salvo_fence_destroy(fence);
	}
	salvo_queue_destroy(queue);
	return err;
}

/* Global id in dimension @d of the item that @error names, or of the first one */
static uint32_t id_of(const struct salvo_error *error, const struct shape *shape, unsigned int d)
{
	return error->group_id[d] * shape->group[d] + error->item_id[d];
}

static void judge(const struct salvo_error *error, const struct shape *shape,
		  const uint32_t poisoned[3], struct score *score)
{
	const uint32_t x = id_of(error, shape, 0);

	if (!error->items)
		score->unknown++;
	else if (id_of(error, shape, 1) != poisoned[1] || id_of(error, shape, 2) != poisoned[2] ||
		 poisoned[0] < x || poisoned[0] - x >= error->items)
		score->wrong++;
	else if (error->items == 1)
		score->exact++;
	else
		score->range++;
}

static void poison(struct __test_metadata *_metadata, struct _test_data_stray *self,
		   const char *name, const struct shape *shape, struct score *score)
{
	const uint32_t *n = shape->items;
	const uint32_t at[3] = { draw(self, n[0]), draw(self, n[1]), draw(self, n[2]) };
	const uint32_t item = at[0] + n[0] * (at[1] + n[1] * at[2]);
	struct score before = *score;
	struct salvo_kernel *kernel;
	struct salvo_error error;

	ASSERT_EQ(0, salvo_kernel_create(self->program, name, &kernel));
	salvo_kernel_set_bo(kernel, 0, self->where, 0);
	salvo_kernel_set_bo(kernel, 1, self->data, 0);
	self->map[item] = ASTRAY;
	ASSERT_EQ(0, run_stray(self, kernel, shape, &error));
	self->map[item] = 0;
	salvo_kernel_destroy(kernel);
	ASSERT_EQ(-ECANCELED, error.error)
		TH_LOG("%s did not fault", name);
	EXPECT_EQ(error.items == 1, error.item != ~0u);
	judge(&error, shape, at, score);
	EXPECT_EQ(before.wrong, score->wrong)
		TH_LOG("%s %ux%ux%u of %ux%ux%u: %u,%u,%u, told group %u,%u,%u item %u,%u,%u of %u",
		       name, n[0], n[1], n[2], shape->group[0], shape->group[1], shape->group[2],
		       at[0], at[1], at[2], error.group_id[0], error.group_id[1],
		       error.group_id[2], error.item_id[0], error.item_id[1], error.item_id[2],
		       error.items);
}

static const char *const names[] = {
	"scatter", "gather", "in_a_loop", "in_a_condition", "doubles", "quads", "bytes", "counts",
	"pairs", "split", "split_often", "past_local",
};

static const struct shape shapes[] = {
	{ 1, { 1024, 1, 1 }, { 256, 1, 1 } },
	{ 1, { 1001, 1, 1 }, { 64, 1, 1 } },
	{ 1, { 100, 1, 1 }, { 3, 1, 1 } },
	{ 1, { 5, 1, 1 }, { 1, 1, 1 } },
	{ 2, { 37, 19, 1 }, { 16, 4, 1 } },
	{ 2, { 64, 64, 1 }, { 16, 16, 1 } },
	{ 3, { 21, 9, 6 }, { 8, 4, 3 } },
	{ 3, { 7, 6, 5 }, { 3, 4, 2 } },
	{ 2, { 37, 40, 1 }, { 64, 3, 1 } },
	{ 3, { 8, 29, 5 }, { 8, 4, 2 } },
};

static unsigned int rounds(void)
{
	const char *text = getenv("SALVO_STRAY_ROUNDS");

	return text ? atoi(text) : 3;
}

static void poison_all(struct __test_metadata *_metadata, struct _test_data_stray *self,
		       const char *how, struct score *all)
{
	unsigned int i, s, r;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct score score = { 0 };

		for (s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
			for (r = 0; r < rounds(); r++)
				poison(_metadata, self, names[i], &shapes[s], &score);
		TH_LOG("%s %s: %u exact, %u range, %u unknown", how, names[i], score.exact,
		       score.range, score.unknown);
		all->exact += score.exact;
		all->range += score.range;
		all->unknown += score.unknown;
		all->wrong += score.wrong;
	}
}

TEST_F_TIMEOUT(stray, M6_stray_access_names_its_work_item, 200)
{
	struct score all = { 0 };

	poison_all(_metadata, self, "default", &all);
	EXPECT_EQ(0, all.unknown);
	EXPECT_LT(10 * all.range, all.exact);
}

/* As compiled for other processors, without vectors, and without optimisation */
TEST_F_TIMEOUT(stray, M6_however_the_kernel_was_compiled, 200)
{
	static const char *const options[] = { "--march x86-64-v2", "-O1", "-O0", "-g" };
	const char *source = kernel_path("../../tests/kernels/stray.cl");
	struct score all = { 0 };
	char command[16000], text[200];
	unsigned int i;

	if (!compiles_fast() || access(source, R_OK))
		SKIP(return, "no salvo-cc or no source here");
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		snprintf(text, sizeof(text), "/tmp/salvo-stray-%d.salvo", getpid());
		snprintf(command, sizeof(command), "%s %s -o %s ",
			 kernel_path("../bin/salvo-cc"), options[i], text);
		strcat(command, kernel_path("../../tests/kernels/stray.cl"));
		ASSERT_EQ(0, system(command));
		salvo_program_destroy(self->program);
		self->program = NULL;
		ASSERT_EQ(0, salvo_program_load_file(self->b.device, text, &self->program));
		unlink(text);
		poison_all(_metadata, self, options[i], &all);
	}
	EXPECT_EQ(0, all.unknown);
	EXPECT_LT(10 * all.range, all.exact);
}

/* All work-items past the end of a buffer fault; one of them is reported. */
TEST_F(stray, M6_access_past_the_end_names_a_work_item_beyond_it)
{
	static const struct {
		const char *name;
		unsigned int bytes;
	} cases[] = { { "copies", 4 }, { "copies_bytes", 1 }, { "clears", 4 } };
	static const uint32_t groups[] = { 256, 3, 64 };
	struct salvo_kernel *kernel;
	struct salvo_error error;
	unsigned int i, g;

	for (i = 0; i < 3; i++)
		for (g = 0; g < 3; g++) {
			const uint32_t end = 4 * MAX_ITEMS / cases[i].bytes;
			const struct shape shape = {
				1, { end + 1000, 1, 1 }, { groups[g], 1, 1 },
			};

			ASSERT_EQ(0, salvo_kernel_create(self->program, cases[i].name, &kernel));
			salvo_kernel_set_bo(kernel, 0, self->where, 0);
			salvo_kernel_set_bo(kernel, 1, self->data, 0);
			ASSERT_EQ(0, run_stray(self, kernel, &shape, &error));
			salvo_kernel_destroy(kernel);
			ASSERT_EQ(-ECANCELED, error.error);
			EXPECT_EQ(1, error.items)
				TH_LOG("%s in groups of %u", cases[i].name, groups[g]);
			EXPECT_LE(end, id_of(&error, &shape, 0));
			EXPECT_GT(shape.items[0], id_of(&error, &shape, 0));
			EXPECT_EQ(error.address, salvo_bo_address(self->data) +
				  (uint64_t)cases[i].bytes * id_of(&error, &shape, 0));
		}
}

TEST_HARNESS_MAIN
