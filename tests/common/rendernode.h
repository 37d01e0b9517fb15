/* SPDX-License-Identifier: MIT */
/*
 * rendernode.h - wrappers of the driver's ioctls for tests, without libsalvo
 *
 * Functions return 0 or a negative errno, as the ioctl returned it.
 */
#ifndef RENDERNODE_H
#define RENDERNODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "drm/salvo_drm.h"
#include "skip.h"

struct bo {
	uint64_t size;
	uint64_t address;
	uint32_t handle;
	void *map;
};

/** struct counters - Values from fdinfo and /proc/interrupts. */
struct counters {
	uint64_t packets;
	uint64_t doorbells;
	uint64_t interrupts;
	uint64_t completions;
	uint64_t busy_ns;
	uint64_t vram_kib;
	/** @irqs: Interrupts of the fence vector on all CPUs, as the kernel counts them. */
	uint64_t irqs;
};

/** struct batch - Arguments of submit(). */
struct batch {
	uint32_t ctx;
	const struct drm_salvo_command *commands;
	uint32_t count;
	const struct drm_salvo_sync *waits;
	uint32_t wait_count;
	const struct drm_salvo_sync *signals;
	uint32_t signal_count;
	const void *args;
	uint32_t args_size;
	uint64_t profile;
};

/** node_path() - Path of the first Salvo render node, or NULL. */
const char *node_path(void);
/** node_open() - Open it; -1 on failure. */
int node_open(void);
/** call() - Call an ioctl. */
int call(int fd, unsigned long request, void *arg);

int device_info(int fd, struct drm_salvo_device_info *info);
int memory_info(int fd, struct drm_salvo_memory_info *info);

int bo_create(int fd, uint64_t size, uint32_t flags, struct bo *bo);
int bo_map(int fd, struct bo *bo);
/** bo_close() - Unmap and GEM_CLOSE. */
int bo_close(int fd, struct bo *bo);

int ctx_create(int fd, uint32_t *id);
int ctx_query(int fd, uint32_t id, struct drm_salvo_ctx_query *query);

int submit(int fd, const struct batch *batch);
/**
 * submit_endless() - Submit a work-item that does not end.
 * @exec: Mapped and executable; its kernel is written here.
 * @syncobj: Signalled when the batch has ended.
 */
int submit_endless(int fd, uint32_t ctx, struct bo *exec, uint32_t syncobj);
uint32_t syncobj_create(int fd);
/** syncobj_wait() - Wait for some seconds; 0 or -ETIME. */
int syncobj_wait(int fd, uint32_t syncobj, double seconds);
/** syncobj_error() - Status of the fence in a signalled binary syncobj: 0 or a negative errno. */
int syncobj_error(int fd, uint32_t syncobj);
/** run() - Submit, wait and return the status of the batch. */
int run(int fd, uint32_t ctx, const struct drm_salvo_command *commands, uint32_t count);

/** fence_irqs() - Interrupts of the fence vector on all CPUs, as the kernel counts them. */
uint64_t fence_irqs(void);
int read_counters(int fd, struct counters *counters);
/** device_counter() - Value of a line of the driver's debugfs file, or -1. */
long long device_counter(const char *name);
/** buffer_listed() - Does a line of the list of buffers in debugfs end with @label? */
bool buffer_listed(const char *label);
/** wait_value() - Wait until a line of the debugfs file has @value; false after five seconds. */
bool wait_value(const char *name, long long value);

/** ring_wait_busy() - Wait until a packet is on a ring; false after five seconds. */
bool ring_wait_busy(unsigned int ring);

struct drm_salvo_command fill(uint64_t dst, uint64_t size, uint32_t pattern);
struct drm_salvo_command copy(uint64_t dst, uint64_t src, uint64_t size);
struct drm_salvo_command pipe_control(uint32_t consumer, uint32_t producer);
struct drm_salvo_command pipe_control_all(void);

#endif /* RENDERNODE_H */
