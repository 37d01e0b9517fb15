// SPDX-License-Identifier: MIT
/* batch.c - build batches: indices, snapshots, limits, messages, profiles */
#include "kselftest_harness.h"
#include "lib_test.h"
#include "sanitizer.h"
#include "steps.h"

FIXTURE(batch) {
	struct bench b;
	struct salvo_kernel *store;
};

FIXTURE_SETUP(batch)
{
	ASSERT_EQ(0, bench_open(&self->b));
	self->store = bench_kernel(&self->b, "store");
	ASSERT_NE(NULL, self->store);
}

FIXTURE_TEARDOWN(batch)
{
	salvo_kernel_destroy(self->store);
	bench_close(&self->b);
}

/* The call must fail, add nothing, and set an error message. */
#define EXPECT_REFUSED(err, call) do { \
	unsigned int count = salvo_batch_count(self->b.batch); \
	EXPECT_EQ(err, call); \
	EXPECT_EQ(count, salvo_batch_count(self->b.batch)); \
	EXPECT_NE(0, strlen(salvo_batch_error(self->b.batch))); \
} while (0)

TEST_F(batch, indices_count_up)
{
	EXPECT_EQ(0, salvo_batch_count(self->b.batch));
	EXPECT_STREQ("", salvo_batch_error(self->b.batch));
	EXPECT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	EXPECT_EQ(1, salvo_batch_fill(self->b.batch, self->b.bo, 0, 4, 1));
	EXPECT_EQ(2, salvo_batch_barrier(self->b.batch));
	EXPECT_EQ(3, salvo_batch_copy(self->b.batch, self->b.bo, 64, self->b.bo, 0, 64));
	EXPECT_EQ(4, salvo_batch_timestamp(self->b.batch, self->b.bo, 8));
	EXPECT_EQ(5, salvo_batch_pipe_control(self->b.batch, 3, 0));
	EXPECT_EQ(6, salvo_batch_count(self->b.batch));
	salvo_batch_reset(self->b.batch);
	EXPECT_EQ(0, salvo_batch_count(self->b.batch));
	EXPECT_EQ(0, bench_store(&self->b, self->store, 0, 1));
}

TEST_F(batch, a_dispatch_needs_arguments_and_grid)
{
	struct salvo_kernel *kernel = bench_kernel(&self->b, "store");
	const uint32_t one = 1;

	EXPECT_REFUSED(-EINVAL, salvo_batch_dispatch(self->b.batch, kernel));
	EXPECT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	EXPECT_EQ(0, salvo_kernel_set_value(kernel, 2, &one, sizeof(one)));
	EXPECT_REFUSED(-EINVAL, salvo_batch_dispatch(self->b.batch, kernel));
	EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), "argument 1"));
	EXPECT_EQ(0, salvo_kernel_set_value(kernel, 1, &one, sizeof(one)));
	EXPECT_REFUSED(-EINVAL, salvo_batch_dispatch(self->b.batch, kernel));
	EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), "grid"));
	EXPECT_EQ(0, salvo_kernel_set_grid(kernel, 1, &one, NULL));
	EXPECT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
	salvo_kernel_destroy(kernel);
}

TEST_F(batch, wrong_pipe_controls)
{
	EXPECT_REFUSED(-EINVAL, salvo_batch_pipe_control(self->b.batch, 0, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_pipe_control(self->b.batch, 1, 2));
	EXPECT_REFUSED(-EINVAL, salvo_batch_pipe_control(self->b.batch, ~0u, 0));
	EXPECT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	EXPECT_REFUSED(-EINVAL, salvo_batch_pipe_control(self->b.batch, 1, 0));
	/* Nor does a pipe control wait for another one. */
	salvo_batch_reset(self->b.batch);
	EXPECT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	EXPECT_EQ(1, bench_store(&self->b, self->store, 0, 1));
	EXPECT_EQ(2, salvo_batch_pipe_control(self->b.batch, 1, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_pipe_control(self->b.batch, 2, 0));
	EXPECT_NE(NULL, strstr(salvo_batch_error(self->b.batch), "command 2"));
}

TEST_F(batch, wrong_copies_fills_and_timestamps)
{
	struct salvo_batch *b = self->b.batch;
	struct salvo_bo *bo = self->b.bo;

	EXPECT_REFUSED(-EINVAL, salvo_batch_copy(b, NULL, 0, bo, 0, 4));
	EXPECT_REFUSED(-EINVAL, salvo_batch_copy(b, bo, 0, NULL, 0, 4));
	EXPECT_REFUSED(-EINVAL, salvo_batch_copy(b, bo, 0, bo, 4096, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_copy(b, bo, 0, bo, 4, 8));
	EXPECT_REFUSED(-EINVAL, salvo_batch_copy(b, bo, 4, bo, 0, 8));
	EXPECT_REFUSED(-EINVAL, salvo_batch_copy(b, bo, 65532, bo, 0, 8));
	EXPECT_REFUSED(-EINVAL, salvo_batch_copy(b, bo, 0, bo, 65532, 8));
	EXPECT_REFUSED(-EINVAL, salvo_batch_copy(b, bo, UINT64_MAX, bo, 0, 8));
	EXPECT_REFUSED(-EINVAL, salvo_batch_copy(b, bo, 0, bo, 8, UINT64_MAX));
	EXPECT_REFUSED(-EINVAL, salvo_batch_fill(b, NULL, 0, 4, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_fill(b, bo, 0, 0, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_fill(b, bo, 0, 6, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_fill(b, bo, 2, 4, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_fill(b, bo, 65536, 4, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_fill(b, bo, 4, UINT64_MAX - 3, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_timestamp(b, NULL, 0));
	EXPECT_REFUSED(-EINVAL, salvo_batch_timestamp(b, bo, 4));
	EXPECT_REFUSED(-EINVAL, salvo_batch_timestamp(b, bo, 65536));
	EXPECT_REFUSED(-EINVAL, salvo_batch_timestamp(b, bo, UINT64_MAX - 7));
}

TEST_F(batch, objects_of_another_device)
{
	struct bench other;
	struct salvo_kernel *kernel;

	ASSERT_EQ(0, bench_open(&other));
	kernel = bench_kernel(&other, "store");
	EXPECT_REFUSED(-EINVAL, salvo_batch_dispatch(self->b.batch, kernel));
	EXPECT_REFUSED(-EINVAL, salvo_batch_fill(self->b.batch, other.bo, 0, 4, 0));
	EXPECT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	EXPECT_REFUSED(-EINVAL, salvo_queue_submit(other.queue, self->b.batch, NULL, 0, NULL));
	salvo_kernel_destroy(kernel);
	bench_close(&other);
}

TEST_F(batch, B10_a_full_batch_runs_and_one_more_is_refused)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < self->b.info.max_commands; i++)
		ASSERT_EQ(i, bench_store(&self->b, self->store, i, i + 1));
	EXPECT_REFUSED(-E2BIG, bench_store(&self->b, self->store, 0, 0));
	EXPECT_REFUSED(-E2BIG, salvo_batch_barrier(self->b.batch));
	ASSERT_EQ(0, bench_run(&self->b));
	for (i = 0; i < self->b.info.max_commands; i++)
		wrong += self->b.map[i] != i + 1;
	EXPECT_EQ(0, wrong);
}

TEST_F(batch, copies_and_fills)
{
	struct salvo_batch *b = self->b.batch;
	int i;

	for (i = 0; i < 1024; i++)
		self->b.map[i] = i;
	ASSERT_EQ(0, salvo_batch_copy(b, self->b.bo, 8193, self->b.bo, 0, 4095));
	ASSERT_EQ(1, salvo_batch_fill(b, self->b.bo, 16384, 1000, 0xabcd1234));
	ASSERT_EQ(2, salvo_batch_timestamp(b, self->b.bo, 32768));
	ASSERT_EQ(3, salvo_batch_barrier(b));
	ASSERT_EQ(4, salvo_batch_timestamp(b, self->b.bo, 32776));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_EQ(0, memcmp((char *)self->b.map + 8193, self->b.map, 4095));
	EXPECT_EQ(0, ((uint8_t *)self->b.map)[8192]);
	EXPECT_EQ(0, ((uint8_t *)self->b.map)[12288]);
	for (i = 0; i < 250; i++)
		EXPECT_EQ(0xabcd1234, self->b.map[4096 + i]);
	EXPECT_EQ(0, self->b.map[4096 + 250]);
	EXPECT_GT(((uint64_t *)self->b.map)[4096], 0);
	EXPECT_GE(((uint64_t *)self->b.map)[4097], ((uint64_t *)self->b.map)[4096]);
}

TEST_F(batch, B9_each_workload_has_its_own_arguments_and_thread_space)
{
	struct salvo_kernel *add = bench_kernel(&self->b, "add");
	unsigned int i, j, wrong = 0;
	uint32_t items, value;

	/* One kernel object, changed between dispatches: each dispatch has its own snapshot. */
	for (i = 0; i < 33; i++) {
		items = i + 1;
		value = 1000 + i;
		ASSERT_EQ(0, salvo_kernel_set_bo(add, 0, self->b.bo, i * 1024));
		ASSERT_EQ(0, salvo_kernel_set_value(add, 1, &value, sizeof(value)));
		ASSERT_EQ(0, salvo_kernel_set_grid(add, 1, &items, NULL));
		ASSERT_EQ(i, salvo_batch_dispatch(self->b.batch, add));
	}
	salvo_kernel_destroy(add);
	ASSERT_EQ(0, bench_run(&self->b));
	for (i = 0; i < 33; i++)
		for (j = 0; j < 256; j++)
			wrong += self->b.map[i * 256 + j] != (j <= i ? 1000 + i : 0);
	EXPECT_EQ(0, wrong);
}

TEST_F(batch, a_batch_can_be_submitted_again_and_reused_at_once)
{
	struct salvo_kernel *add = bench_kernel(&self->b, "add");
	const uint32_t items = 16, value = 3;
	struct salvo_fence *fence;
	int i;

	salvo_kernel_set_bo(add, 0, self->b.bo, 0);
	salvo_kernel_set_value(add, 1, &value, sizeof(value));
	salvo_kernel_set_grid(add, 1, &items, NULL);
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, add));
	for (i = 0; i < 9; i++)
		ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	salvo_batch_reset(self->b.batch);
	salvo_batch_fill(self->b.batch, self->b.bo, 0, 65536, 9);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	salvo_fence_destroy(fence);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(30, self->b.map[i]);
	salvo_kernel_destroy(add);
}

static void expect_waits(struct __test_metadata *_metadata, struct salvo_batch *batch,
			 unsigned int command, const char *expected)
{
	uint8_t waits[8];
	unsigned int i;
	int others = 0;

	/* Of pipe controls the character is neither. */
	for (i = 0; expected[i]; i++)
		others += expected[i] == '0';
	ASSERT_EQ(i, salvo_batch_count(batch));
	ASSERT_EQ(others, salvo_batch_get_dependents(batch, command, waits));
	for (i = 0; expected[i]; i++)
		EXPECT_EQ(expected[i] == '1', waits[i]) {
			TH_LOG("command %u", i);
		}
}

TEST_F(batch, dependents)
{
	struct salvo_batch *batch = self->b.batch;
	uint8_t waits[8];
	int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(i, salvo_batch_fill(batch, self->b.bo, 64 * i, 64, i));
	/* Listed in no order */
	ASSERT_EQ(5, salvo_batch_pipe_control(batch, 4, 2));
	ASSERT_EQ(6, salvo_batch_pipe_control(batch, 2, 1));
	expect_waits(_metadata, batch, 0, "10000--");
	expect_waits(_metadata, batch, 1, "01101--");
	expect_waits(_metadata, batch, 3, "00010--");
	EXPECT_EQ(-EINVAL, salvo_batch_get_dependents(batch, 5, waits));
	EXPECT_EQ(-EINVAL, salvo_batch_get_dependents(batch, 7, waits));

	salvo_batch_reset(batch);
	salvo_batch_fill(batch, self->b.bo, 0, 64, 1);
	ASSERT_EQ(1, salvo_batch_barrier(batch));
	salvo_batch_fill(batch, self->b.bo, 64, 64, 1);
	expect_waits(_metadata, batch, 0, "1-1");
	expect_waits(_metadata, batch, 2, "0-1");

	/* The library's own */
	salvo_batch_reset(batch);
	ASSERT_EQ(0, salvo_batch_enable_hazards(batch));
	salvo_batch_fill(batch, self->b.bo, 0, 64, 1);
	salvo_batch_fill(batch, self->b.bo, 64, 64, 1);
	salvo_batch_copy(batch, self->b.bo, 128, self->b.bo, 0, 64);
	salvo_batch_copy(batch, self->b.bo, 256, self->b.bo, 128, 64);
	expect_waits(_metadata, batch, 0, "1011");
	expect_waits(_metadata, batch, 1, "0100");
	expect_waits(_metadata, batch, 2, "0011");
}

TEST_F(batch, dependents_of_several)
{
	struct salvo_batch *batch = self->b.batch;
	uint8_t waits[9] = { 0 };
	int i;

	EXPECT_EQ(0, salvo_batch_add_dependents(batch, waits));
	for (i = 0; i < 6; i++)
		ASSERT_EQ(i, salvo_batch_fill(batch, self->b.bo, 64 * i, 64, i));
	ASSERT_EQ(6, salvo_batch_pipe_control(batch, 5, 2));
	ASSERT_EQ(7, salvo_batch_pipe_control(batch, 4, 0));
	EXPECT_EQ(6, salvo_batch_add_dependents(batch, waits));
	/* What it says of pipe controls is ignored. */
	memcpy(waits, (uint8_t[]){ 7, 0, 1, 0, 0, 0, 9, 0 }, 8);
	EXPECT_EQ(2, salvo_batch_add_dependents(batch, waits));
	EXPECT_EQ(0, memcmp(waits, (uint8_t[]){ 1, 0, 1, 0, 1, 1, 0, 0 }, 8));
	ASSERT_EQ(8, salvo_batch_barrier(batch));
	ASSERT_EQ(9, salvo_batch_fill(batch, self->b.bo, 0, 64, 1));
	EXPECT_EQ(5, salvo_batch_get_dependents(batch, 1, (uint8_t[10]){ 0 }));
}

/* Steps to find what waits for every other command, in a batch whose pipe controls alternate. */
static unsigned long count_steps(struct bench *b, unsigned int count)
{
	uint8_t *waits = calloc(4, count);
	unsigned long steps;
	unsigned int i;

	salvo_batch_reset(b->batch);
	for (i = 0; i < count; i++)
		salvo_batch_fill(b->batch, b->bo, i / 2 * 64, 64, 0);
	for (i = count - 2; i > 1; i -= 2)
		salvo_batch_pipe_control(b->batch, i, i - 1);
	for (i = 0; i < count; i += 2)
		waits[i] = 1;
	/* Its pipe controls are found before. */
	salvo_batch_get_dependents(b->batch, 0, waits + 2 * (size_t)count);
	steps_begin();
	salvo_batch_add_dependents(b->batch, waits);
	steps = steps_end();
	free(waits);
	return steps;
}

TEST_F(batch, dependents_of_many_commands_take_one_pass)
{
	unsigned long few, many;

	NEED_SIGNALS();
	ASSERT_EQ(0, salvo_batch_enable_hazards(self->b.batch));
	few = count_steps(&self->b, 200);
	many = count_steps(&self->b, 800);
	EXPECT_GT(many, 2 * few);
	EXPECT_LT(many, 6 * few) {
		TH_LOG("%lu steps of 200 commands, %lu of 800", few, many);
	}
}

/* As a string, what of ranges of 64 bytes is accessed. */
static const char *accessed(struct salvo_batch *batch, const uint8_t *commands, uint32_t access,
			    struct salvo_bo *bo)
{
	struct salvo_bo_range ranges[6];
	static char text[7];
	unsigned int i;

	for (i = 0; i < 6; i++)
		ranges[i] = (struct salvo_bo_range){ .bo = bo, .offset = 64 * i, .size = 64,
						     .accessed = 5 };
	if (salvo_batch_find_accesses(batch, commands, access, ranges, 6))
		return "";
	for (i = 0; i < 6; i++)
		text[i] = '0' + ranges[i].accessed;
	return text;
}

TEST_F(batch, accesses)
{
	struct salvo_batch *batch = self->b.batch;
	struct salvo_bo *bo = self->b.bo;
	struct salvo_bo_range edge = { .bo = bo, .offset = 191, .size = 9 };

	EXPECT_STREQ("000000", accessed(batch, NULL, 3, bo));
	salvo_batch_copy(batch, bo, 128, bo, 0, 64);
	salvo_batch_barrier(batch);
	ASSERT_EQ(2, salvo_batch_fill(batch, bo, 316, 8, 1));
	ASSERT_EQ(3, salvo_batch_fill(batch, bo, 132, 20, 1));
	EXPECT_STREQ("100000", accessed(batch, NULL, SALVO_ARGUMENT_READ, bo));
	EXPECT_STREQ("001011", accessed(batch, NULL, SALVO_ARGUMENT_WRITE, bo));
	EXPECT_STREQ("101011", accessed(batch, NULL, 3, bo));
	EXPECT_STREQ("101000", accessed(batch, (uint8_t[]){ 1, 1, 0, 0 }, 3, bo));
	EXPECT_STREQ("000011", accessed(batch, (uint8_t[]){ 0, 1, 1, 0 }, 3, bo));
	EXPECT_STREQ("000000", accessed(batch, (uint8_t[4]){ 0 }, 3, bo));
	EXPECT_STREQ("000000", accessed(batch, NULL, 3, NULL));
	ASSERT_EQ(0, salvo_batch_find_accesses(batch, NULL, 3, &edge, 1));
	EXPECT_EQ(1, edge.accessed);
	edge.offset = 192;
	ASSERT_EQ(0, salvo_batch_find_accesses(batch, NULL, 3, &edge, 1));
	EXPECT_EQ(0, edge.accessed);
	edge = (struct salvo_bo_range){ .bo = bo, .offset = 140 };
	ASSERT_EQ(0, salvo_batch_find_accesses(batch, NULL, 3, &edge, 1));
	EXPECT_EQ(0, edge.accessed);
	EXPECT_EQ(0, salvo_batch_find_accesses(batch, NULL, 3, NULL, 0));
}

TEST_F(batch, profile)
{
	struct salvo_profile profile, last;
	int i;

	for (i = 0; i < 100; i++)
		ASSERT_EQ(i, bench_store(&self->b, self->store, i, i));
	ASSERT_EQ(100, salvo_batch_pipe_control(self->b.batch, 99, 98));
	EXPECT_EQ(-EINVAL, salvo_batch_get_profile(self->b.batch, 0, &profile));
	ASSERT_EQ(0, salvo_batch_enable_profile(self->b.batch));
	ASSERT_EQ(0, bench_run(&self->b));
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, i, &profile));
		EXPECT_GT(profile.queued, 0);
		EXPECT_GE(profile.ready, profile.queued);
		EXPECT_GE(profile.started, profile.ready);
		EXPECT_GE(profile.ended, profile.started);
	}
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 98, &last));
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 99, &profile));
	EXPECT_GE(profile.started, last.ended);
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 100, &profile));
	EXPECT_EQ(0, profile.started);
	EXPECT_EQ(-EINVAL, salvo_batch_get_profile(self->b.batch, 101, &profile));
	EXPECT_EQ(-EINVAL, salvo_batch_get_profile(self->b.batch, ~0u, &profile));
}

TEST_F(batch, profile_grows_with_the_batch)
{
	struct salvo_profile profile;
	unsigned int i;

	ASSERT_EQ(0, salvo_batch_enable_profile(self->b.batch));
	ASSERT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	ASSERT_EQ(0, bench_run(&self->b));
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 0, &profile));
	for (i = 1; i < 1000; i++)
		ASSERT_EQ(i, bench_store(&self->b, self->store, i, 1));
	ASSERT_EQ(0, bench_run(&self->b));
	ASSERT_EQ(0, salvo_batch_get_profile(self->b.batch, 999, &profile));
	EXPECT_GT(profile.ended, 0);
}

TEST_HARNESS_MAIN
