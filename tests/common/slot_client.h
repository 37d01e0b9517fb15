/* SPDX-License-Identifier: MIT */
/*
 * slot_client.h - a client of the driver with a slot, code and words, for tests without libsalvo
 *
 * Functions return 0 or a negative errno, as the ioctl returned it.
 */
#ifndef SLOT_CLIENT_H
#define SLOT_CLIENT_H

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rendernode.h"
#include "salvo_kernel.h"
#include "salvo_leaf.h"

#define SECONDS		INT64_C(1000000000)

/* Kernels, as in example.c: they call nothing and use no global data. */
#define KERNEL(name) \
	__attribute__((section("kernel"), noinline, used)) \
	static void name(const void *args, struct salvo_group *group, const struct salvo_item *item)

struct word_args {
	uint64_t word;
	uint64_t value;
};

KERNEL(add_word)
{
	const struct word_args *a = args;

	*(volatile uint64_t *)a->word += a->value;
}

/* Until the word is not 0. */
KERNEL(spin)
{
	const struct word_args *a = args;

	while (!*(volatile uint64_t *)a->word)
		;
}

/* For @value turns of a loop */
KERNEL(count)
{
	const struct word_args *a = args;
	volatile uint64_t i;

	for (i = 0; i < a->value; i++)
		;
}

/* Adds to one word, then waits until the next one is not 0. */
KERNEL(add_and_spin)
{
	const struct word_args *a = args;
	volatile uint64_t *words = (volatile uint64_t *)a->word;

	words[0] += a->value;
	while (!words[1])
		;
}

extern const char __start_kernel[], __stop_kernel[];

/* An open file with a context, code, a slot and words. */
struct client {
	int fd;
	uint32_t ctx;
	struct bo code, slot_bo, words_bo;
	volatile uint64_t *words;
	struct salvo_slot_regs *slot;
	uint32_t id;
};

static inline int attach_to(struct client *c, uint32_t ctx, struct bo *bo, uint64_t offset,
			    uint64_t units, uint32_t *id)
{
	struct drm_salvo_slot_attach attach = {
		.ctx_id = ctx, .handle = bo->handle, .offset = offset, .units = units,
	};
	int err = call(c->fd, DRM_IOCTL_SALVO_SLOT_ATTACH, &attach);

	*id = attach.id;
	return err;
}

static inline int attach(struct client *c)
{
	return attach_to(c, c->ctx, &c->slot_bo, 0, 1, &c->id);
}

static inline int detach(struct client *c, uint32_t id)
{
	struct drm_salvo_slot_detach args = { .id = id };

	return call(c->fd, DRM_IOCTL_SALVO_SLOT_DETACH, &args);
}

static inline int wake(struct client *c)
{
	struct drm_salvo_slot_wake args = { .id = c->id };

	return call(c->fd, DRM_IOCTL_SALVO_SLOT_WAKE, &args);
}

static inline int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SECONDS + time.tv_nsec;
}

static inline int wait_ns(struct client *c, int64_t ns)
{
	struct drm_salvo_slot_wait args = { .id = c->id, .timeout_ns = ns ? now_ns() + ns : 0 };

	return call(c->fd, DRM_IOCTL_SALVO_SLOT_WAIT, &args);
}

static inline int client_open(struct client *c)
{
	int err;

	memset(c, 0, sizeof(*c));
	c->fd = node_open();
	err = c->fd < 0 ? -ENODEV : ctx_create(c->fd, &c->ctx);
	if (!err)
		err = bo_create(c->fd, __stop_kernel - __start_kernel, DRM_SALVO_BO_EXEC, &c->code);
	if (!err)
		err = bo_map(c->fd, &c->code);
	if (!err)
		memcpy(c->code.map, __start_kernel, __stop_kernel - __start_kernel);
	if (!err)
		err = bo_create(c->fd, SALVO_SLOT_BYTES, 0, &c->slot_bo);
	if (!err)
		err = bo_map(c->fd, &c->slot_bo);
	if (!err)
		err = bo_create(c->fd, 4096, 0, &c->words_bo);
	if (!err)
		err = bo_map(c->fd, &c->words_bo);
	c->slot = c->slot_bo.map;
	c->words = c->words_bo.map;
	return err;
}

/* A mapping would keep the file open. */
static inline void client_close(struct client *c)
{
	munmap(c->code.map, c->code.size);
	munmap(c->slot_bo.map, c->slot_bo.size);
	munmap(c->words_bo.map, c->words_bo.size);
	close(c->fd);
}

static inline void start_at(struct client *c, salvo_kernel_fn fn, uint64_t word, uint64_t value)
{
	const struct word_args args = { word, value };

	c->slot->dispatch = (struct salvo_op_dispatch){
		.entry = c->code.address + ((const char *)fn - __start_kernel),
		.items = { 1, 1, 1 }, .group = { 1, 1, 1 }, .args_size = sizeof(args), .dims = 1,
	};
	memcpy(c->slot->args, &args, sizeof(args));
	c->slot->opcode = SALVO_SLOT_RUN;
	__atomic_store_n(&c->slot->doorbell, 1, __ATOMIC_RELEASE);
	salvo_slot_fence();
	if (__atomic_load_n(&c->slot->sleeping, __ATOMIC_RELAXED))
		wake(c);
}

static inline void start(struct client *c, salvo_kernel_fn fn, unsigned int word, uint64_t value)
{
	start_at(c, fn, c->words_bo.address + 8 * word, value);
}

/* Waits for its end. Returns the status in the slot. */
static inline int run_task(struct client *c, salvo_kernel_fn fn, unsigned int word, uint64_t value)
{
	int err;

	start(c, fn, word, value);
	err = wait_ns(c, 30 * SECONDS);
	return err ? err : (int)c->slot->status;
}

/*
 * Starts a task that increments words[@word] and spins until the next word is set. Waits until it
 * runs; false after 30 s.
 */
static inline bool start_spinning(struct client *c, unsigned int word)
{
	const int64_t end = now_ns() + 30 * SECONDS;

	start(c, add_and_spin, word, 1);
	while (!c->words[word]) {
		if (now_ns() > end)
			return false;
		usleep(1000);
	}
	return true;
}

/* Waits until it is detached by the driver. */
static inline bool is_detached(struct client *c)
{
	const int64_t end = now_ns() + 30 * SECONDS;

	while (__atomic_load_n(&c->slot->doorbell, __ATOMIC_ACQUIRE) ||
	       c->slot->status != SALVO_SLOT_DETACHED) {
		if (now_ns() > end)
			return false;
		usleep(1000);
	}
	return true;
}

/* A batch of one work-item of @fn that waits for one syncobj and signals another; 0: none */
static inline int submit_task(struct client *c, uint32_t ctx, salvo_kernel_fn fn,
			      struct word_args args, uint32_t wait, uint32_t signal)
{
	struct drm_salvo_command command = {
		.type = DRM_SALVO_DISPATCH, .items = { 1, 1, 1 }, .group = { 1, 1, 1 }, .dims = 1,
		.entry = c->code.address + ((const char *)fn - __start_kernel),
		.args_size = sizeof(args),
	};
	const struct drm_salvo_sync waits = { .handle = wait }, signals = { .handle = signal };
	const struct batch batch = {
		.ctx = ctx, .commands = &command, .count = 1, .args = &args,
		.args_size = sizeof(args), .waits = &waits, .wait_count = !!wait,
		.signals = &signals, .signal_count = !!signal,
	};

	return submit(c->fd, &batch);
}

static inline int batch_runs(struct client *c)
{
	const struct drm_salvo_command command = fill(c->words_bo.address + 2048, 64, 7);

	return run(c->fd, c->ctx, &command, 1);
}

#endif /* SLOT_CLIENT_H */
