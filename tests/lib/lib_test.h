/* SPDX-License-Identifier: MIT */
/*
 * lib_test.h - what the library's tests share
 *
 * The device is that of the environment variable SALVO_DEVICE, or the default. The kernels are
 * in SALVO_KERNELS, or in ../../kernels seen from the test program.
 */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "salvo.h"

#define SECOND_NS 1000000000ll

static inline int open_device(struct salvo_device **device)
{
	return salvo_device_open(getenv("SALVO_DEVICE"), device);
}

static inline const char *kernel_path(const char *name)
{
	static char path[4400];
	char self[4096];
	const char *dir = getenv("SALVO_KERNELS");
	ssize_t length;

	if (dir) {
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		return path;
	}
	length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[length < 0 ? 0 : length] = 0;
	if (strrchr(self, '/'))
		*strrchr(self, '/') = 0;
	snprintf(path, sizeof(path), "%s/../../kernels/%s", self, name);
	return path;
}

/* Is there a compiler? In the virtual machine it takes a hundred times as long. */
static inline bool compiles_fast(void)
{
	return !access(kernel_path("../bin/salvo-cc"), X_OK) && !getenv("SALVO_SLOW");
}

/* A device with a queue, a batch, the test kernels and a mapped buffer of 64 KiB. */
struct bench {
	struct salvo_device *device;
	struct salvo_device_info info;
	struct salvo_program *program;
	struct salvo_queue *queue;
	struct salvo_batch *batch;
	struct salvo_bo *bo;
	uint32_t *map;
};

static inline int bench_open(struct bench *b)
{
	void *map;
	int err;

	memset(b, 0, sizeof(*b));
	err = open_device(&b->device);
	if (err)
		return err;
	salvo_device_get_info(b->device, &b->info);
	err = salvo_program_load_file(b->device, kernel_path("lib.salvo"), &b->program);
	if (!err)
		err = salvo_queue_create(b->device, 0, &b->queue);
	if (!err)
		err = salvo_batch_create(b->device, &b->batch);
	if (!err)
		err = salvo_bo_create(b->device, 65536, 0, &b->bo);
	if (!err)
		err = salvo_bo_map(b->bo, &map);
	if (!err)
		b->map = map;
	return err;
}

static inline void bench_close(struct bench *b)
{
	salvo_bo_destroy(b->bo);
	salvo_batch_destroy(b->batch);
	salvo_queue_destroy(b->queue);
	salvo_program_destroy(b->program);
	salvo_device_close(b->device);
}

/* Submit @b->batch to @queue and wait. */
static inline int bench_run(struct bench *b)
{
	struct salvo_fence *fence;
	int err = salvo_queue_submit(b->queue, b->batch, NULL, 0, &fence);

	if (err) {
		fprintf(stderr, "# submit: %s\n", salvo_batch_error(b->batch));
		return err;
	}
	err = salvo_fence_wait(fence, 20 * SECOND_NS);
	salvo_fence_destroy(fence);
	return err;
}

static inline struct salvo_kernel *bench_kernel(struct bench *b, const char *name)
{
	struct salvo_kernel *kernel;

	if (salvo_kernel_create(b->program, name, &kernel))
		return NULL;
	return kernel;
}

/* A dispatch of "store": out[index] = value. */
static inline int bench_store(struct bench *b, struct salvo_kernel *store, uint32_t index,
			      uint32_t value)
{
	const uint32_t one = 1;

	salvo_kernel_set_bo(store, 0, b->bo, 0);
	salvo_kernel_set_value(store, 1, &index, sizeof(index));
	salvo_kernel_set_value(store, 2, &value, sizeof(value));
	salvo_kernel_set_grid(store, 1, &one, NULL);
	return salvo_batch_dispatch(b->batch, store);
}

/* A dispatch of "wait_for_host": gate[0] at @gate, writes @value at @out, indices of words. */
static inline int bench_gate(struct bench *b, uint32_t gate, uint32_t out, uint32_t value)
{
	struct salvo_kernel *kernel = bench_kernel(b, "wait_for_host");
	const uint32_t one = 1;
	int index;

	if (!kernel)
		return -ENOENT;
	salvo_kernel_set_bo(kernel, 0, b->bo, gate * 4);
	salvo_kernel_set_bo(kernel, 1, b->bo, out * 4);
	salvo_kernel_set_value(kernel, 2, &value, sizeof(value));
	salvo_kernel_set_grid(kernel, 1, &one, NULL);
	index = salvo_batch_dispatch(b->batch, kernel);
	salvo_kernel_destroy(kernel);
	return index;
}

static inline void open_gate(struct bench *b, uint32_t gate)
{
	__atomic_store_n(&b->map[gate], 1, __ATOMIC_SEQ_CST);
}

/* Fill the batch with one dispatch that writes @value and submit it. */
static inline struct salvo_fence *submit_store(struct bench *b, struct salvo_kernel *store,
					       struct salvo_queue *queue, uint32_t index,
					       uint32_t value, struct salvo_fence *const *waits,
					       unsigned int count)
{
	struct salvo_fence *fence = NULL;

	salvo_batch_reset(b->batch);
	if (bench_store(b, store, index, value) < 0 ||
	    salvo_queue_submit(queue, b->batch, waits, count, &fence))
		return NULL;
	return fence;
}

/* Fill the batch with one dispatch that waits at a gate and submit it. */
static inline struct salvo_fence *submit_gate(struct bench *b, struct salvo_queue *queue,
					      uint32_t gate, uint32_t out)
{
	struct salvo_fence *fence = NULL;

	salvo_batch_reset(b->batch);
	if (bench_gate(b, gate, out, 1) < 0 ||
	    salvo_queue_submit(queue, b->batch, NULL, 0, &fence))
		return NULL;
	return fence;
}

#endif /* LIB_TEST_H */
