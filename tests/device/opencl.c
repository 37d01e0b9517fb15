// SPDX-License-Identifier: MIT
/*
 * opencl.c - kernels with barriers, from OpenCL C to the units (M2, M3 of CN102576314)
 *
 * The kernels are ordinary OpenCL C: nothing in them knows of user-level threads.
 */
#include <errno.h>
#include "cc_program.h"
#include "kselftest_harness.h"
#include "salvo.h"

#define ITEMS	65536u
#define GROUP	256u
#define SECOND_NS	1000000000ll

FIXTURE(soft)
{
	struct salvo_device *device;
	struct salvo_program *program, *fibers;
	struct salvo_queue *queue;
	struct salvo_batch *batch;
	struct salvo_bo *in, *out;
	uint32_t *in_map, *out_map;
};

FIXTURE_SETUP(soft)
{
	void *map;
	uint32_t i;

	ASSERT_EQ(0, salvo_device_open("soft", &self->device));
	ASSERT_EQ(0, salvo_program_load_file(self->device, cc_build_path("kernels/barrier.salvo"),
					     &self->program));
	ASSERT_EQ(0, salvo_program_load_file(self->device, cc_build_path("kernels/fibers.salvo"),
					     &self->fibers));
	ASSERT_EQ(0, salvo_queue_create(self->device, 0, &self->queue));
	ASSERT_EQ(0, salvo_batch_create(self->device, &self->batch));
	ASSERT_EQ(0, salvo_bo_create(self->device, 4 * ITEMS, 0, &self->in));
	ASSERT_EQ(0, salvo_bo_create(self->device, 4 * ITEMS, 0, &self->out));
	ASSERT_EQ(0, salvo_bo_map(self->in, &map));
	self->in_map = map;
	ASSERT_EQ(0, salvo_bo_map(self->out, &map));
	self->out_map = map;
	for (i = 0; i < ITEMS; i++)
		self->in_map[i] = i * 2654435761u;
}

FIXTURE_TEARDOWN(soft)
{
	salvo_bo_destroy(self->out);
	salvo_bo_destroy(self->in);
	salvo_batch_destroy(self->batch);
	salvo_queue_destroy(self->queue);
	salvo_program_destroy(self->fibers);
	salvo_program_destroy(self->program);
	salvo_device_close(self->device);
}

/* Runs a kernel whose first arguments are both buffers. */
static void run(struct __test_metadata *_metadata, FIXTURE_DATA(soft) *self, const char *name,
		uint32_t group, size_t local)
{
	const uint32_t items = ITEMS;
	struct salvo_kernel *kernel;
	struct salvo_fence *fence;

	ASSERT_EQ(0, salvo_kernel_create(self->program, name, &kernel));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->in, 0));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 1, self->out, 0));
	if (local)
		ASSERT_EQ(0, salvo_kernel_set_local(kernel, 2, local));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &items, &group));
	salvo_batch_reset(self->batch);
	ASSERT_EQ(0, salvo_batch_dispatch(self->batch, kernel));
	ASSERT_EQ(0, salvo_queue_submit(self->queue, self->batch, NULL, 0, &fence));
	ASSERT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	salvo_fence_destroy(fence);
	salvo_kernel_destroy(kernel);
}

/* Starts rotate_down(). */
static struct salvo_fence *rotate(struct __test_metadata *_metadata, FIXTURE_DATA(soft) *self,
				  uint32_t group, uint32_t rounds, uint32_t odd)
{
	const uint32_t items = ITEMS;
	struct salvo_kernel *kernel;
	struct salvo_fence *fence;

	ASSERT_EQ(0, salvo_kernel_create(self->fibers, "rotate_down", &kernel));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->in, 0));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 1, self->out, 0));
	ASSERT_EQ(0, salvo_kernel_set_value(kernel, 2, &rounds, sizeof(rounds)));
	ASSERT_EQ(0, salvo_kernel_set_value(kernel, 3, &odd, sizeof(odd)));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &items, &group));
	salvo_batch_reset(self->batch);
	ASSERT_EQ(0, salvo_batch_dispatch(self->batch, kernel));
	ASSERT_EQ(0, salvo_queue_submit(self->queue, self->batch, NULL, 0, &fence));
	salvo_kernel_destroy(kernel);
	return fence;
}

TEST_F(soft, M3_barrier_in_a_loop_keeps_every_items_state)
{
	static const uint32_t groups[] = { 1, 2, 16, 64, GROUP, 1024 };
	unsigned int g;
	uint32_t i, j;

	for (g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		run(_metadata, self, "reduce", groups[g], 0);
		for (i = 0; i < ITEMS / groups[g]; i++) {
			uint32_t sum = 0;

			for (j = 0; j < groups[g]; j++)
				sum += self->in_map[i * groups[g] + j];
			ASSERT_EQ(sum, self->out_map[i]);
		}
	}
}

TEST_F(soft, M3_item_reads_after_the_barrier_what_another_wrote_before_it)
{
	uint32_t i;

	run(_metadata, self, "reverse_local", GROUP, 4 * GROUP);
	for (i = 0; i < ITEMS; i++)
		ASSERT_EQ(self->in_map[i / GROUP * GROUP + GROUP - 1 - i % GROUP],
			  self->out_map[i]);
}

/* The number of barriers that an item reaches depends on the item, so each needs its own stack. */
TEST_F(soft, M2_1024_items_meet_at_barriers_in_a_loop)
{
	const uint32_t group = 1024, rounds = 300;
	struct salvo_fence *fence = rotate(_metadata, self, group, rounds, group);
	uint32_t i;

	ASSERT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	salvo_fence_destroy(fence);
	for (i = 0; i < ITEMS; i++)
		ASSERT_EQ(self->in_map[i / group * group + (i + rounds) % group],
			  self->out_map[i]);
}

TEST_F(soft, M2_barrier_that_one_of_1024_items_reaches_once_more_is_reported)
{
	static const uint32_t odd[] = { 0, 1, 511, 1023 };
	struct salvo_error error;
	unsigned int i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct salvo_fence *fence = rotate(_metadata, self, 1024, 3, odd[i]);

		EXPECT_EQ(-ECANCELED, salvo_fence_wait(fence, 20 * SECOND_NS));
		ASSERT_EQ(0, salvo_fence_get_error(fence, &error));
		EXPECT_EQ(SALVO_ERROR_BARRIER, error.kind);
		EXPECT_EQ(0, error.command);
		EXPECT_EQ(odd[i], error.item);
		EXPECT_STREQ("rotate_down", error.kernel);
		salvo_fence_destroy(fence);
		/* The context of a batch that faulted is banned. */
		salvo_queue_destroy(self->queue);
		ASSERT_EQ(0, salvo_queue_create(self->device, 0, &self->queue));
	}
}

TEST_HARNESS_MAIN
