// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_debugfs.c - files in /sys/kernel/debug/dri/N
 *
 * salvo has the counters of the device, one "name: number" a line; salvo_buffers a line
 * for each buffer; a write to salvo_reset resets the GPU. They are for tests and debugging
 * and not a stable interface.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>

#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"

static int salvo_debugfs_show(struct seq_file *m, void *unused)
{
	struct drm_info_node *node = m->private;
	struct salvo_dev *sdev = to_salvo(node->minor->dev);
	struct salvo_ring *ring;
	u64 vram_used;

	mutex_lock(&sdev->vram_lock);
	vram_used = sdev->vram_used;
	mutex_unlock(&sdev->vram_lock);

	seq_printf(m, "packets: %lld\n", atomic64_read(&sdev->counters.packets));
	seq_printf(m, "doorbells: %lld\n", atomic64_read(&sdev->counters.doorbells));
	seq_printf(m, "interrupts: %lld\n", atomic64_read(&sdev->counters.interrupts));
	seq_printf(m, "completions: %lld\n", atomic64_read(&sdev->counters.completions));
	seq_printf(m, "busy-ns: %lld\n", atomic64_read(&sdev->counters.busy_ns));
	seq_printf(m, "space-packets: %lld\n", atomic64_read(&sdev->space_packets));
	seq_printf(m, "faults: %lld\n", atomic64_read(&sdev->faults));
	seq_printf(m, "kills: %lld\n", atomic64_read(&sdev->kills));
	seq_printf(m, "resets: %lld\n", atomic64_read(&sdev->resets));
	seq_printf(m, "jobs: %d\n", atomic_read(&sdev->jobs));
	seq_printf(m, "vram-used: %llu\n", vram_used);
	seq_printf(m, "reclaiming: %u\n", READ_ONCE(sdev->reclaiming));
	seq_printf(m, "slots: %u\n", READ_ONCE(sdev->slot_count));
	seq_printf(m, "gone: %d\n", salvo_device_is_gone(sdev));
	salvo_for_each_ring(sdev, ring) {
		seq_printf(m, "ring%u-submitted: %llu\n", ring->index, READ_ONCE(ring->submitted));
		seq_printf(m, "ring%u-retired: %llu\n", ring->index, READ_ONCE(ring->retired));
	}
	return 0;
}

static int salvo_debugfs_show_buffers(struct seq_file *m, void *unused)
{
	struct drm_info_node *node = m->private;

	salvo_gem_show_all(to_salvo(node->minor->dev), m);
	return 0;
}

static const struct drm_info_list salvo_debugfs_files[] = {
	{ "salvo", salvo_debugfs_show, 0, NULL },
	{ "salvo_buffers", salvo_debugfs_show_buffers, 0, NULL },
};

/* Any value resets the GPU; write() returns after the reset. */
static int salvo_debugfs_reset(void *data, u64 value)
{
	struct salvo_dev *sdev = data;
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return -ENODEV;
	queue_work(sdev->wq, &sdev->forced_reset);
	flush_work(&sdev->forced_reset);
	drm_dev_exit(idx);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(salvo_debugfs_reset_fops, NULL, salvo_debugfs_reset, "%llu\n");

/** salvo_debugfs_init() - Create the files of a minor. */
void salvo_debugfs_init(struct drm_minor *minor)
{
	drm_debugfs_create_files(salvo_debugfs_files, ARRAY_SIZE(salvo_debugfs_files),
				 minor->debugfs_root, minor);
	debugfs_create_file("salvo_reset", 0200, minor->debugfs_root, to_salvo(minor->dev),
			    &salvo_debugfs_reset_fops);
}
