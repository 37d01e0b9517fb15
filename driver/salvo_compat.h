/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_compat.h - what the newest kernel has and an older one lacks
 *
 * The driver is written for the interfaces of the newest kernel and knows no other.
 * Kbuild includes this file before each source; a copy in a kernel tree does without.
 *
 * The kernel's version says little where distributions carry backports, so
 * Kbuild looks into the kernel's headers and defines the symbols tested here.
 */
#ifndef SALVO_COMPAT_H
#define SALVO_COMPAT_H

#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/gpu_scheduler.h>

/* --- memory management -------------------------------------------------------- */

#ifndef SALVO_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#ifndef SALVO_HAVE_VMA_IS_COW_MAPPING
static inline bool vma_is_cow_mapping(const struct vm_area_struct *vma)
{
	return is_cow_mapping(vma->vm_flags);
}
#endif

/* --- files, modules, work ------------------------------------------------------ */

#ifndef SALVO_HAVE_FOP_FLAGS
/* Another member that is 0. */
#define fop_flags mmap_supported_flags
#define FOP_UNSIGNED_OFFSET 0
#endif

#ifndef SALVO_HAVE_IMPORT_NS_STRING
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, ns)
#endif

#ifndef SALVO_HAVE_SYSTEM_DFL_WQ
#define system_dfl_wq system_unbound_wq
#endif

/* --- DRM's core ---------------------------------------------------------------- */

#ifdef SALVO_HAVE_DRIVER_DATE
const struct drm_driver *salvo_compat_driver(const struct drm_driver *driver);

/* What has become the default must be said to an older kernel. */
#undef devm_drm_dev_alloc
#define devm_drm_dev_alloc(parent, driver, type, member) \
	((type *)__devm_drm_dev_alloc(parent, salvo_compat_driver(driver), sizeof(type), \
				      offsetof(type, member)))
#endif

#ifndef SALVO_HAVE_WEDGE_TASK_INFO
struct drm_wedge_task_info;

#undef DRM_WEDGE_RECOVERY_REBIND
#define DRM_WEDGE_RECOVERY_REBIND	BIT(1)

int salvo_compat_wedged_event(struct drm_device *drm, unsigned long method,
			      struct drm_wedge_task_info *info);
#define drm_dev_wedged_event salvo_compat_wedged_event
#endif

/* --- the scheduler ------------------------------------------------------------- */

#ifndef SALVO_HAVE_SCHED_PREPARE_JOB
#define prepare_job dependency
#endif

#ifndef SALVO_HAVE_SCHED_PRIORITY_LOW
#define DRM_SCHED_PRIORITY_LOW DRM_SCHED_PRIORITY_MIN
#endif

#ifndef SALVO_HAVE_SCHED_CLIENT_ID
static inline int salvo_compat_sched_job_init(struct drm_sched_job *job,
					      struct drm_sched_entity *entity, u32 credits,
					      void *owner, u64 client)
{
#ifdef SALVO_HAVE_SCHED_CREDITS
	return drm_sched_job_init(job, entity, credits, owner);
#else
	return drm_sched_job_init(job, entity, owner);
#endif
}

#define drm_sched_job_init salvo_compat_sched_job_init
#endif

#ifndef SALVO_HAVE_SCHED_WQUEUE
static inline void drm_sched_wqueue_stop(struct drm_gpu_scheduler *sched)
{
	kthread_park(sched->thread);
}

static inline void drm_sched_wqueue_start(struct drm_gpu_scheduler *sched)
{
	kthread_unpark(sched->thread);
}
#endif

#ifndef SALVO_HAVE_SCHED_NUM_RQS
struct salvo_compat_sched_init_args {
	const struct drm_sched_backend_ops *ops;
	struct workqueue_struct *timeout_wq;
	u32 num_rqs;
	u32 credit_limit;
	unsigned int hang_limit;
	long timeout;
	atomic_t *score;
	const char *name;
	struct device *dev;
};

int salvo_compat_sched_init(struct drm_gpu_scheduler *sched,
			    const struct salvo_compat_sched_init_args *args);
#define drm_sched_init_args salvo_compat_sched_init_args
#define drm_sched_init salvo_compat_sched_init
#endif

#endif /* SALVO_COMPAT_H */
