// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_compat.c - what salvo_compat.h declares; empty on the newest kernel
 */
#include <linux/kobject.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_prime.h>

#include "salvo_compat.h"

#ifdef SALVO_HAVE_DRIVER_DATE
/**
 * salvo_compat_driver() - A driver with what has become the default since.
 * @driver: The only one that this is called for.
 */
const struct drm_driver *salvo_compat_driver(const struct drm_driver *driver)
{
	static struct drm_driver copy;

	copy = *driver;
	copy.date = "0";
#ifdef SALVO_HAVE_GEM_PRIME_MMAP
	copy.prime_handle_to_fd = drm_gem_prime_handle_to_fd;
	copy.prime_fd_to_handle = drm_gem_prime_fd_to_handle;
	copy.gem_prime_mmap = drm_gem_prime_mmap;
#endif
	return &copy;
}
#endif

#ifndef SALVO_HAVE_WEDGE_TASK_INFO
/**
 * salvo_compat_wedged_event() - drm_dev_wedged_event(), for one method.
 * @drm: The device.
 * @method: DRM_WEDGE_RECOVERY_REBIND.
 * @info: NULL.
 */
int salvo_compat_wedged_event(struct drm_device *drm, unsigned long method,
			      struct drm_wedge_task_info *info)
{
	char *env[2] = { "WEDGED=rebind" };

	return kobject_uevent_env(&drm->primary->kdev->kobj, KOBJ_CHANGE, env);
}
#endif

#ifndef SALVO_HAVE_SCHED_NUM_RQS
#undef drm_sched_init
#undef drm_sched_init_args

/**
 * salvo_compat_sched_init() - drm_sched_init() in its older forms.
 * @sched: The scheduler.
 * @args: Its parameters; one that allocates queue and thread itself, with every priority.
 */
int salvo_compat_sched_init(struct drm_gpu_scheduler *sched,
			    const struct salvo_compat_sched_init_args *args)
{
#ifdef SALVO_HAVE_SCHED_INIT_ARGS
	const struct drm_sched_init_args older = {
		.ops = args->ops,
		.timeout_wq = args->timeout_wq,
		.credit_limit = args->credit_limit,
		.hang_limit = args->hang_limit,
		.timeout = args->timeout,
		.score = args->score,
		.name = args->name,
		.dev = args->dev,
	};

	return drm_sched_init(sched, &older);
#elif defined(SALVO_HAVE_SCHED_CREDITS)
	return drm_sched_init(sched, args->ops, NULL, args->num_rqs, args->credit_limit,
			      args->hang_limit, args->timeout, args->timeout_wq, args->score,
			      args->name, args->dev);
#else
	return drm_sched_init(sched, args->ops, args->credit_limit, args->hang_limit,
			      args->timeout, args->timeout_wq, args->score, args->name, args->dev);
#endif
}
#endif
