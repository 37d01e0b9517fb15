// SPDX-License-Identifier: MIT
/* bo.c - buffers: size, contents, reuse, space, lifetime after destruction */
#include <pthread.h>
#include <stdatomic.h>

#include "kselftest_harness.h"
#include "lib_test.h"

FIXTURE(bo) {
	struct bench b;
};

FIXTURE_SETUP(bo)
{
	ASSERT_EQ(0, bench_open(&self->b));
}

FIXTURE_TEARDOWN(bo)
{
	bench_close(&self->b);
}

struct churn {
	struct salvo_device *device;
	atomic_uint left;
	unsigned int failures;
};

TEST_F(bo, wrong_arguments)
{
	struct salvo_bo *bo = (void *)1;

	EXPECT_EQ(-EINVAL, salvo_bo_create(self->b.device, 0, 0, &bo));
	EXPECT_EQ(NULL, bo);
	EXPECT_EQ(-EINVAL, salvo_bo_create(self->b.device, 4096, 1, &bo));
	EXPECT_EQ(-EINVAL, salvo_bo_create(self->b.device, 4096, 4, &bo));
	EXPECT_EQ(-EINVAL, salvo_bo_create(self->b.device, 4096, 1u << 31, &bo));
}

TEST_F(bo, size_is_what_was_asked_for)
{
	static const uint64_t sizes[] = { 1, 4095, 4096, 4097, 1 << 20 };
	struct salvo_bo *bo;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, salvo_bo_create(self->b.device, sizes[i], 0, &bo));
		EXPECT_EQ(sizes[i], salvo_bo_size(bo));
		EXPECT_NE(0, salvo_bo_address(bo));
		EXPECT_EQ(0, salvo_bo_address(bo) % 4096);
		salvo_bo_destroy(bo);
	}
}

/*
 * Where a process has many buffers, the guard pages between some of them are accessible. What a
 * stray access leaves there is not in a buffer that has the page later.
 */
TEST_F_TIMEOUT(bo, stray_writes_are_not_in_later_buffers, 100)
{
	const uint32_t count = 17000, behind = 1024, value = 5, one = 1;
	struct salvo_kernel *store = bench_kernel(&self->b, "store");
	struct salvo_bo **bos = calloc(count, sizeof(*bos)), *all;
	uint64_t i, words = count * 2048ull;
	uint32_t *map;
	void *mapped;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "the driver fills buffers with zeros when they are allocated");
	ASSERT_NE(NULL, bos);
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, salvo_bo_create(self->b.device, 4096, 0, &bos[i]));
	ASSERT_EQ(0, salvo_kernel_set_bo(store, 0, bos[count - 2], 0));
	ASSERT_EQ(0, salvo_kernel_set_value(store, 1, &behind, sizeof(behind)));
	ASSERT_EQ(0, salvo_kernel_set_value(store, 2, &value, sizeof(value)));
	ASSERT_EQ(0, salvo_kernel_set_grid(store, 1, &one, NULL));
	ASSERT_LE(0, salvo_batch_dispatch(self->b.batch, store));
	EXPECT_EQ(0, bench_run(&self->b));
	salvo_kernel_destroy(store);
	for (i = 0; i < count; i++)
		salvo_bo_destroy(bos[i]);
	free(bos);
	ASSERT_EQ(0, salvo_bo_create(self->b.device, words * sizeof(*map), 0, &all));
	ASSERT_EQ(0, salvo_bo_map(all, &mapped));
	map = mapped;
	for (i = 0; i < words && !map[i]; i++)
		;
	EXPECT_EQ(words, i);
	salvo_bo_destroy(all);
}

TEST_F(bo, no_space)
{
	struct salvo_bo *bo[64];
	unsigned int n = 0;
	int err = 0;

	EXPECT_EQ(-ENOSPC, salvo_bo_create(self->b.device, UINT64_MAX, 0, &bo[0]));
	EXPECT_EQ(-ENOSPC, salvo_bo_create(self->b.device, 1ull << 60, 0, &bo[0]));
	EXPECT_EQ(-ENOSPC, salvo_bo_create(self->b.device, self->b.info.vram_bytes + 1, 0,
					   &bo[0]));
	while (n < 64 && !err) {
		err = salvo_bo_create(self->b.device, self->b.info.vram_bytes / 16, 0, &bo[n]);
		n += !err;
	}
	EXPECT_EQ(-ENOSPC, err);
	EXPECT_GE(n, 12);
	/* After one is destroyed, one more fits. */
	salvo_bo_destroy(bo[n / 2]);
	EXPECT_EQ(0, salvo_bo_create(self->b.device, self->b.info.vram_bytes / 16, 0,
				     &bo[n / 2]));
	while (n--)
		salvo_bo_destroy(bo[n]);
}

TEST_F(bo, new_buffers_hold_zeros)
{
	struct salvo_bo *bo;
	uint32_t *map;
	int round, i, dirty;

	for (round = 0; round < 20; round++) {
		ASSERT_EQ(0, salvo_bo_create(self->b.device, 65536, 0, &bo));
		ASSERT_EQ(0, salvo_bo_map(bo, (void **)&map));
		for (i = 0, dirty = 0; i < 16384; i++)
			dirty += map[i] != 0;
		EXPECT_EQ(0, dirty);
		memset(map, 0xa5, 65536);
		salvo_bo_destroy(bo);
	}
}

TEST_F(bo, map_gives_the_same_address_again)
{
	void *a, *b;

	ASSERT_EQ(0, salvo_bo_map(self->b.bo, &a));
	ASSERT_EQ(0, salvo_bo_map(self->b.bo, &b));
	EXPECT_EQ(a, b);
}

TEST_F(bo, buffers_do_not_overlap)
{
	enum { COUNT = 200 };
	struct salvo_bo *bo[COUNT];
	uint32_t *map[COUNT];
	int i;

	for (i = 0; i < COUNT; i++) {
		ASSERT_EQ(0, salvo_bo_create(self->b.device, 4096 + i * 64, 0, &bo[i]));
		ASSERT_EQ(0, salvo_bo_map(bo[i], (void **)&map[i]));
	}
	for (i = 0; i < COUNT; i += 2)
		salvo_bo_destroy(bo[i]);
	for (i = 0; i < COUNT; i += 2) {
		ASSERT_EQ(0, salvo_bo_create(self->b.device, 8192 - i * 16, 0, &bo[i]));
		ASSERT_EQ(0, salvo_bo_map(bo[i], (void **)&map[i]));
	}
	for (i = 0; i < COUNT; i++)
		memset(map[i], i, salvo_bo_size(bo[i]));
	for (i = 0; i < COUNT; i++) {
		const uint8_t *bytes = (uint8_t *)map[i];

		EXPECT_EQ((uint8_t)i, bytes[0]);
		EXPECT_EQ((uint8_t)i, bytes[salvo_bo_size(bo[i]) - 1]);
		salvo_bo_destroy(bo[i]);
	}
}

/* The memory of a destroyed buffer is kept until the batches that may use it are done. */
TEST_F(bo, destroyed_while_a_batch_uses_it)
{
	struct salvo_kernel *store = bench_kernel(&self->b, "store");
	struct salvo_bo *bo, *again;
	const uint32_t one = 1, index = 0, value = 77;
	struct salvo_fence *fence;
	uint64_t address;
	uint32_t *map;

	ASSERT_EQ(0, salvo_bo_create(self->b.device, 4096, 0, &bo));
	address = salvo_bo_address(bo);
	ASSERT_EQ(0, bench_gate(&self->b, 0, 1, 5));
	salvo_kernel_set_bo(store, 0, bo, 0);
	salvo_kernel_set_value(store, 1, &index, sizeof(index));
	salvo_kernel_set_value(store, 2, &value, sizeof(value));
	ASSERT_EQ(0, salvo_kernel_set_grid(store, 1, &one, NULL));
	ASSERT_EQ(1, salvo_batch_dispatch(self->b.batch, store));
	ASSERT_EQ(2, salvo_batch_copy(self->b.batch, self->b.bo, 8, bo, 0, 4));
	ASSERT_EQ(3, salvo_batch_pipe_control(self->b.batch, 1, 0));
	ASSERT_EQ(4, salvo_batch_pipe_control(self->b.batch, 2, 1));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	salvo_bo_destroy(bo);
	ASSERT_EQ(0, salvo_bo_create(self->b.device, 4096, 0, &again));
	ASSERT_EQ(0, salvo_bo_map(again, (void **)&map));
	EXPECT_NE(address, salvo_bo_address(again));
	open_gate(&self->b, 0);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	EXPECT_EQ(77, self->b.map[2]);
	EXPECT_EQ(0, map[0]);
	salvo_fence_destroy(fence);
	salvo_bo_destroy(again);
	salvo_kernel_destroy(store);
}

TEST_F(bo, commands_must_not_write_a_readonly_buffer)
{
	struct salvo_bo *bo;

	ASSERT_EQ(0, salvo_bo_create(self->b.device, 4096, SALVO_BO_READONLY, &bo));
	ASSERT_EQ(0, salvo_batch_fill(self->b.batch, bo, 0, 16, 1));
	EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
	EXPECT_NE(0, strlen(salvo_batch_error(self->b.batch)));
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, salvo_batch_copy(self->b.batch, self->b.bo, 0, bo, 0, 16));
	EXPECT_EQ(0, bench_run(&self->b));
	salvo_bo_destroy(bo);
}

/* Memory of the application is a buffer where it lies, whatever its address. */
TEST_F(bo, memory_of_the_application)
{
	static const unsigned int offsets[] = { 0, 4, 100 };
	struct salvo_kernel *add = bench_kernel(&self->b, "add");
	const uint32_t items = 1000, value = 7;
	const bool soft = !strcmp(self->b.info.name, "soft");
	uint32_t *memory = calloc(3, 4096), i, k;
	struct salvo_bo *bo, *other;
	void *map;

	ASSERT_NE(NULL, memory);
	if (!soft) {
		EXPECT_EQ(-ENOTSUP,
			  salvo_bo_create_from_memory(self->b.device, memory, 4096, 0, &bo));
		EXPECT_EQ(NULL, bo);
		goto out;
	}
	for (k = 0; k < 3; k++) {
		uint32_t *words = memory + offsets[k];

		for (i = 0; i < items; i++)
			words[i] = i;
		words[items] = 99;
		ASSERT_EQ(0, salvo_bo_create_from_memory(self->b.device, words, 4 * items, 0, &bo));
		ASSERT_EQ(0, salvo_bo_map(bo, &map));
		EXPECT_EQ(words, map);
		EXPECT_EQ(4 * items, salvo_bo_size(bo));
		EXPECT_EQ(-EBUSY, salvo_bo_create_from_memory(self->b.device, words + items - 1, 8,
							      0, &other));
		ASSERT_EQ(0, salvo_kernel_set_bo(add, 0, bo, 0));
		ASSERT_EQ(0, salvo_kernel_set_value(add, 1, &value, sizeof(value)));
		ASSERT_EQ(0, salvo_kernel_set_grid(add, 1, &items, NULL));
		salvo_batch_reset(self->b.batch);
		ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, add));
		ASSERT_EQ(1, salvo_batch_barrier(self->b.batch));
		ASSERT_EQ(2, salvo_batch_copy(self->b.batch, self->b.bo, 0, bo, 0, 4 * items));
		ASSERT_EQ(3, salvo_batch_fill_pattern(self->b.batch, self->b.bo, 8192, 1, "x", 1));
		ASSERT_EQ(0, bench_run(&self->b));
		for (i = 0; i < items; i++) {
			ASSERT_EQ(i + 7, words[i]);
			ASSERT_EQ(i + 7, self->b.map[i]);
		}
		EXPECT_EQ(99, words[items]);
		/* A copy may not leave it, and the memory belongs to nobody afterwards. */
		salvo_batch_reset(self->b.batch);
		EXPECT_EQ(-EINVAL,
			  salvo_batch_copy(self->b.batch, self->b.bo, 0, bo, 4, 4 * items));
		salvo_bo_destroy(bo);
		ASSERT_EQ(0, salvo_bo_create_from_memory(self->b.device, words, 4 * items,
							 SALVO_BO_READONLY, &bo));
		ASSERT_EQ(0, salvo_batch_fill(self->b.batch, bo, 0, 4, 1));
		EXPECT_EQ(-EINVAL, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, NULL));
		salvo_bo_destroy(bo);
		EXPECT_EQ(7, words[0]);
	}
	EXPECT_EQ(-EINVAL, salvo_bo_create_from_memory(self->b.device, NULL, 4096, 0, &bo));
	EXPECT_EQ(-EINVAL, salvo_bo_create_from_memory(self->b.device, memory, 0, 0, &bo));
	EXPECT_EQ(-EINVAL, salvo_bo_create_from_memory(self->b.device, memory, 4096, 1, &bo));
	EXPECT_EQ(-EINVAL, salvo_bo_create_from_memory(self->b.device, memory, UINT64_MAX, 0, &bo));
out:
	salvo_kernel_destroy(add);
	free(memory);
}

/* It is unbound when the batches that use it are done, and cannot be a buffer again before. */
TEST_F(bo, memory_of_the_application_destroyed_while_a_batch_uses_it)
{
	uint32_t *memory = calloc(1, 4096);
	struct salvo_fence *fence;
	struct salvo_bo *bo;

	if (strcmp(self->b.info.name, "soft"))
		SKIP(return, "only the embedded GPU takes memory of the application");
	ASSERT_EQ(0, salvo_bo_create_from_memory(self->b.device, memory, 4096, 0, &bo));
	ASSERT_EQ(0, bench_gate(&self->b, 0, 1, 5));
	ASSERT_EQ(1, salvo_batch_barrier(self->b.batch));
	ASSERT_EQ(2, salvo_batch_fill(self->b.batch, bo, 0, 4096, 3));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, self->b.batch, NULL, 0, &fence));
	salvo_bo_destroy(bo);
	EXPECT_EQ(-EBUSY, salvo_bo_create_from_memory(self->b.device, memory, 4096, 0, &bo));
	open_gate(&self->b, 0);
	EXPECT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
	EXPECT_EQ(3, memory[1023]);
	EXPECT_EQ(0, salvo_bo_create_from_memory(self->b.device, memory, 4096, 0, &bo));
	salvo_bo_destroy(bo);
	salvo_fence_destroy(fence);
	free(memory);
}

/* Binds and unbinds, so that packets are on their way. */
static void *create_and_destroy(void *arg)
{
	struct churn *churn = arg;
	struct salvo_bo *bo;

	do {
		if (salvo_bo_create(churn->device, 4096, 0, &bo))
			churn->failures++;
		else
			salvo_bo_destroy(bo);
	} while (atomic_fetch_sub(&churn->left, 1) > 1);
	return NULL;
}

TEST_F(bo, memory_of_the_application_again_while_others_bind)
{
	struct churn churn = { .device = self->b.device, .left = 5000 };
	uint32_t *memory = calloc(1, 4096);
	struct salvo_bo *bo;
	unsigned int i;
	pthread_t thread;

	if (strcmp(self->b.info.name, "soft"))
		SKIP(return, "only the embedded GPU takes memory of the application");
	ASSERT_EQ(0, pthread_create(&thread, NULL, create_and_destroy, &churn));
	for (i = 0; atomic_load(&churn.left); i++) {
		ASSERT_EQ(0, salvo_bo_create_from_memory(self->b.device, memory, 4096, 0, &bo)) {
			TH_LOG("round %u", i);
		}
		salvo_bo_destroy(bo);
	}
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, churn.failures);
	free(memory);
}

TEST_HARNESS_MAIN
