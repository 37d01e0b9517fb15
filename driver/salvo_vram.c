// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_vram.c - allocation of VRAM and of the window for system memory
 *
 * Buffers are contiguous: in VRAM, or, if they are imported, in the window of GPU addresses
 * past VRAM. Each of the two is a drm_mm, protected by sdev->vram_lock.
 *
 * There is no eviction, since the GPU address of a buffer never changes. An allocation
 * that does not fit waits for pending frees, and fails with ENOSPC when there are none.
 * Two rules keep free memory contiguous: large buffers are placed from the bottom of VRAM
 * and small ones from its top, and a large one waits a moment for pending frees, so that it is
 * not placed between two parts of VRAM of which one is free only a moment later.
 */
#include <linux/io.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/wait.h>

#include <drm/drm.h>

#include "salvo_device.h"
#include "salvo_vram.h"
#include "uapi/drm/salvo_drm.h"

/* Limit of the wait for pending frees. */
#define SALVO_VRAM_WAIT_JIFFIES	(4 * HZ)
/* Of it, the time that a large buffer waits before the first attempt. */
#define SALVO_VRAM_LARGE_WAIT_JIFFIES	(HZ / 10)
/* The part of VRAM from which on a buffer is large */
#define SALVO_VRAM_LARGE_SHARE	8u
/* Bytes zeroed between calls of cond_resched(). */
#define SALVO_VRAM_ZERO_STEP	SZ_1M

void salvo_vram_init(struct salvo_dev *sdev)
{
	mutex_init(&sdev->vram_lock);
	drm_mm_init(&sdev->vram, 0, sdev->mmio.vram_bytes);
	if (sdev->mmio.window_bytes)
		drm_mm_init(&sdev->window, 0, sdev->mmio.window_bytes);
}

/** salvo_vram_fini() - Destroy the allocators; all buffers have been freed. */
void salvo_vram_fini(struct salvo_dev *sdev)
{
	if (sdev->mmio.window_bytes)
		drm_mm_takedown(&sdev->window);
	drm_mm_takedown(&sdev->vram);
	mutex_destroy(&sdev->vram_lock);
}

static bool salvo_vram_try_insert(struct salvo_dev *sdev, struct drm_mm *mm, u64 *used,
				  struct drm_mm_node *node, u64 size, bool large)
{
	int ret;

	mutex_lock(&sdev->vram_lock);
	ret = drm_mm_insert_node_generic(mm, node, size, 0, 0,
					 large ? DRM_MM_INSERT_LOW : DRM_MM_INSERT_HIGH);
	if (!ret)
		*used += size;
	mutex_unlock(&sdev->vram_lock);
	return !ret;
}

/*
 * The attempt takes a mutex, which the condition of wait_event() must not; hence
 * wait_woken().
 */
static int salvo_vram_insert(struct salvo_dev *sdev, struct drm_mm *mm, u64 *used,
			     struct drm_mm_node *node, u64 size, bool large)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	const long last = SALVO_VRAM_WAIT_JIFFIES - SALVO_VRAM_LARGE_WAIT_JIFFIES;
	long left = SALVO_VRAM_WAIT_JIFFIES;
	bool pending, attempt;
	int ret;

	add_wait_queue(&sdev->progress, &wait);
	for (;;) {
		/* Read before the attempt, so that a free in between is not missed. */
		pending = READ_ONCE(sdev->reclaiming) && !salvo_device_is_gone(sdev);
		attempt = !large || !pending || left <= last;
		if (attempt && salvo_vram_try_insert(sdev, mm, used, node, size, large)) {
			ret = 0;
			break;
		}
		if (!left || !pending) {
			ret = salvo_refuse(sdev, -ENOSPC, "no contiguous %llu bytes are free",
					   size);
			break;
		}
		if (signal_pending(current)) {
			ret = -ERESTARTSYS;
			break;
		}
		/* No longer than until the first attempt. */
		left = attempt ? wait_woken(&wait, TASK_INTERRUPTIBLE, left) :
		       last + wait_woken(&wait, TASK_INTERRUPTIBLE, left - last);
	}
	remove_wait_queue(&sdev->progress, &wait);
	return ret;
}

/**
 * salvo_vram_alloc() - Allocate VRAM.
 * @sdev: The device.
 * @node: Zeroed; its start is set to the offset in VRAM.
 * @size: Size in bytes, a multiple of the page size.
 *
 * Return: 0, -ENOSPC, -ERESTARTSYS.
 */
int salvo_vram_alloc(struct salvo_dev *sdev, struct drm_mm_node *node, u64 size)
{
	return salvo_vram_insert(sdev, &sdev->vram, &sdev->vram_used, node, size,
				 size >= sdev->mmio.vram_bytes / SALVO_VRAM_LARGE_SHARE);
}

/**
 * salvo_vram_alloc_window() - Allocate GPU addresses for system memory.
 * @sdev: The device.
 * @node: Zeroed; its start is set to the offset in the window.
 * @size: Size in bytes, a multiple of the page size.
 *
 * Return: 0, -ENOSPC, -ERESTARTSYS.
 */
int salvo_vram_alloc_window(struct salvo_dev *sdev, struct drm_mm_node *node, u64 size)
{
	int ret = salvo_refuse_if(sdev, size > sdev->mmio.window_bytes, -ENOSPC,
				  "size %llu exceeds the window, %llu bytes", size,
				  sdev->mmio.window_bytes);

	return ret ?: salvo_vram_insert(sdev, &sdev->window, &sdev->window_used, node, size,
					false);
}

static void salvo_vram_remove(struct salvo_dev *sdev, u64 *used, struct drm_mm_node *node)
{
	mutex_lock(&sdev->vram_lock);
	*used -= node->size;
	drm_mm_remove_node(node);
	mutex_unlock(&sdev->vram_lock);
	wake_up_all(&sdev->progress);
}

/** salvo_vram_free() - Free VRAM. */
void salvo_vram_free(struct salvo_dev *sdev, struct drm_mm_node *node)
{
	salvo_vram_remove(sdev, &sdev->vram_used, node);
}

/** salvo_vram_free_window() - Free GPU addresses of the window. */
void salvo_vram_free_window(struct salvo_dev *sdev, struct drm_mm_node *node)
{
	salvo_vram_remove(sdev, &sdev->window_used, node);
}

/* memset_io() writes single bytes on CPUs with ERMS, which is slow on emulated ones. */
static void salvo_vram_zero_step(void __iomem *at, u64 bytes)
{
	void __iomem *end = at + bytes;

	for (; at < end; at += sizeof(u64))
		__raw_writeq(0, at);
}

/**
 * salvo_vram_zero() - Fill VRAM with zeros.
 * @sdev: The device.
 * @node: The allocation.
 *
 * Return: 0, or -EINTR if the process is being killed meanwhile.
 */
int salvo_vram_zero(struct salvo_dev *sdev, const struct drm_mm_node *node)
{
	void __iomem *base = sdev->mmio.vram + node->start;
	u64 done, step;

	for (done = 0; done < node->size; done += step) {
		if (fatal_signal_pending(current))
			return -EINTR;
		step = min_t(u64, node->size - done, SALVO_VRAM_ZERO_STEP);
		down_read(&sdev->aperture_lock);
		salvo_vram_zero_step(base + done, step);
		up_read(&sdev->aperture_lock);
		cond_resched();
	}
	return 0;
}

/** salvo_vram_info() - Fill in sizes and free memory of VRAM and window. */
void salvo_vram_info(struct salvo_dev *sdev, struct drm_salvo_memory_info *info)
{
	const struct drm_mm_node *node;
	u64 start, end;

	info->vram_bytes = sdev->mmio.vram_bytes;
	info->system_bytes = sdev->mmio.window_bytes;
	mutex_lock(&sdev->vram_lock);
	info->vram_free = info->vram_bytes - sdev->vram_used;
	info->system_free = info->system_bytes - sdev->window_used;
	drm_mm_for_each_hole(node, &sdev->vram, start, end)
		info->vram_largest = max(info->vram_largest, end - start);
	mutex_unlock(&sdev->vram_lock);
}
