// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_vram.c - who has which part of VRAM and of the window for system memory
 *
 * Buffers are contiguous: in VRAM, or, if their memory is another driver's, in the
 * window of GPU addresses past it. Both are one drm_mm each, under sdev->vram_lock.
 *
 * There is no eviction: a buffer's place is its GPU address for life. Who asks for
 * more than is free gets ENOSPC, but not while buffers that were closed are on their
 * way out; those he waits for.
 */
#include <linux/io.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/wait.h>

#include <drm/drm.h>

#include "salvo_device.h"
#include "salvo_vram.h"
#include "uapi/drm/salvo_drm.h"

/* How long to wait for memory that is on its way to become free. */
#define SALVO_VRAM_WAIT_JIFFIES	(4 * HZ)
/* Bytes zeroed between two chances for others to run. */
#define SALVO_VRAM_ZERO_STEP	SZ_1M

void salvo_vram_init(struct salvo_dev *sdev)
{
	mutex_init(&sdev->vram_lock);
	drm_mm_init(&sdev->vram, 0, sdev->mmio.vram_bytes);
	if (sdev->mmio.window_bytes)
		drm_mm_init(&sdev->window, 0, sdev->mmio.window_bytes);
}

/** salvo_vram_fini() - All buffers are gone. */
void salvo_vram_fini(struct salvo_dev *sdev)
{
	if (sdev->mmio.window_bytes)
		drm_mm_takedown(&sdev->window);
	drm_mm_takedown(&sdev->vram);
	mutex_destroy(&sdev->vram_lock);
}

static bool salvo_vram_try_insert(struct salvo_dev *sdev, struct drm_mm *mm, u64 *used,
				  struct drm_mm_node *node, u64 size)
{
	int ret;

	mutex_lock(&sdev->vram_lock);
	ret = drm_mm_insert_node(mm, node, size);
	if (!ret)
		*used += size;
	mutex_unlock(&sdev->vram_lock);
	return !ret;
}

/*
 * Memory of buffers that were just closed comes free a moment later. A condition
 * of wait_event() must not take a mutex; wait_woken() lets us try in between.
 */
static int salvo_vram_insert(struct salvo_dev *sdev, struct drm_mm *mm, u64 *used,
			     struct drm_mm_node *node, u64 size)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long left = SALVO_VRAM_WAIT_JIFFIES;
	bool more;
	int ret;

	add_wait_queue(&sdev->progress, &wait);
	for (;;) {
		/* Asked before the try: what comes free in between is found. */
		more = READ_ONCE(sdev->reclaiming) && !salvo_device_is_gone(sdev);
		if (salvo_vram_try_insert(sdev, mm, used, node, size)) {
			ret = 0;
			break;
		}
		if (!left || !more) {
			ret = salvo_refuse(sdev, -ENOSPC, "%llu bytes are free in one piece", size);
			break;
		}
		if (signal_pending(current)) {
			ret = -ERESTARTSYS;
			break;
		}
		left = wait_woken(&wait, TASK_INTERRUPTIBLE, left);
	}
	remove_wait_queue(&sdev->progress, &wait);
	return ret;
}

/**
 * salvo_vram_alloc() - Take a piece of VRAM.
 * @sdev: The device.
 * @node: Zeroed; its start will be the offset in VRAM.
 * @size: Bytes, whole pages.
 *
 * Return: 0, -ENOSPC, -ERESTARTSYS.
 */
int salvo_vram_alloc(struct salvo_dev *sdev, struct drm_mm_node *node, u64 size)
{
	return salvo_vram_insert(sdev, &sdev->vram, &sdev->vram_used, node, size);
}

/**
 * salvo_vram_alloc_window() - Take GPU addresses for system memory.
 * @sdev: The device.
 * @node: Zeroed; its start will be the offset in the window.
 * @size: Bytes, whole pages.
 *
 * Return: 0, -ENOSPC, -ERESTARTSYS.
 */
int salvo_vram_alloc_window(struct salvo_dev *sdev, struct drm_mm_node *node, u64 size)
{
	int ret = salvo_check(sdev, size <= sdev->mmio.window_bytes, -ENOSPC);

	return ret ?: salvo_vram_insert(sdev, &sdev->window, &sdev->window_used, node, size);
}

static void salvo_vram_remove(struct salvo_dev *sdev, u64 *used, struct drm_mm_node *node)
{
	mutex_lock(&sdev->vram_lock);
	*used -= node->size;
	drm_mm_remove_node(node);
	mutex_unlock(&sdev->vram_lock);
	wake_up_all(&sdev->progress);
}

/** salvo_vram_free() - Give a piece of VRAM back. */
void salvo_vram_free(struct salvo_dev *sdev, struct drm_mm_node *node)
{
	salvo_vram_remove(sdev, &sdev->vram_used, node);
}

/** salvo_vram_free_window() - Give GPU addresses back. */
void salvo_vram_free_window(struct salvo_dev *sdev, struct drm_mm_node *node)
{
	salvo_vram_remove(sdev, &sdev->window_used, node);
}

/* memset_io() goes byte by byte where the CPU claims to be fast at that, as emulated ones do. */
static void salvo_vram_zero_step(void __iomem *at, u64 bytes)
{
	void __iomem *end = at + bytes;

	for (; at < end; at += sizeof(u64))
		__raw_writeq(0, at);
}

/**
 * salvo_vram_zero() - Fill a piece of VRAM with zeros.
 * @sdev: The device.
 * @node: The piece, whole pages.
 *
 * Return: 0, or -EINTR for who is being killed: it may be gigabytes.
 */
int salvo_vram_zero(struct salvo_dev *sdev, const struct drm_mm_node *node)
{
	void __iomem *base = sdev->mmio.vram + node->start;
	u64 done, step;

	for (done = 0; done < node->size; done += step) {
		if (fatal_signal_pending(current))
			return -EINTR;
		step = min_t(u64, node->size - done, SALVO_VRAM_ZERO_STEP);
		salvo_vram_zero_step(base + done, step);
		cond_resched();
	}
	return 0;
}

/** salvo_vram_info() - How full both are. */
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
