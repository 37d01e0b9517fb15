/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_compat.h - differences between kernels
 *
 * Distributions backport changes, so versions are not compared: Kbuild searches the
 * kernel's headers and defines the symbols that are tested here. No other file of the
 * driver depends on the kernel.
 */
#ifndef SALVO_COMPAT_H
#define SALVO_COMPAT_H

#include <linux/sched.h>

#include <drm/gpu_scheduler.h>

/**
 * salvo_compat_sched_init() - Call drm_sched_init(), without a timeout.
 * @sched: The scheduler.
 * @ops: Its backend operations.
 * @limit: Number of jobs that may be on the hardware at once.
 * @name: Name of the thread, for debugging.
 * @dev: Device, for debugging.
 */
static inline int salvo_compat_sched_init(struct drm_gpu_scheduler *sched,
					  const struct drm_sched_backend_ops *ops,
					  u32 limit, const char *name, struct device *dev)
{
#ifdef SALVO_HAVE_SCHED_INIT_ARGS
	const struct drm_sched_init_args args = {
		.ops = ops,
		.credit_limit = limit,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#else
	return drm_sched_init(sched, ops, limit, 0, MAX_SCHEDULE_TIMEOUT, NULL, NULL, name, dev);
#endif
}

/* The backend operation that returns further dependencies was renamed. */
#ifdef SALVO_HAVE_SCHED_PREPARE_JOB
#define SALVO_SCHED_PREPARE_JOB prepare_job
#else
#define SALVO_SCHED_PREPARE_JOB dependency
#endif

#endif /* SALVO_COMPAT_H */
