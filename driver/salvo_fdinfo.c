// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_fdinfo.c - usage statistics of a file: /proc/PID/fdinfo/FD
 *
 * Keys and units follow Documentation/gpu/drm-usage-stats.rst, so that generic tools can
 * read them; keys that start with "salvo-" are specific to this driver. Engine time is the
 * sum over all execution units, for batches that have ended and for tasks in slots; the
 * capacity is the number of units.
 */
#include <linux/idr.h>
#include <linux/seq_file.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"
#include "salvo_slot.h"
#include "salvo_vm.h"

/**
 * struct salvo_memory_stats - Sizes of a file's buffers in bytes.
 */
struct salvo_memory_stats {
	/** @vram: Buffers in VRAM. */
	u64 vram;
	/** @vram_shared: Those of them that have several handles or were exported. */
	u64 vram_shared;
	/** @system: Imported buffers. */
	u64 system;
};

static void salvo_fdinfo_memory(struct drm_file *filp, struct salvo_memory_stats *stats)
{
	struct drm_gem_object *bo;
	int id;

	spin_lock(&filp->table_lock);
	idr_for_each_entry(&filp->object_idr, bo, id) {
		if (to_salvo_gem(bo)->flags & DRM_SALVO_BO_IMPORTED) {
			stats->system += bo->size;
			continue;
		}
		stats->vram += bo->size;
		if (bo->handle_count > 1 || bo->dma_buf)
			stats->vram_shared += bo->size;
	}
	spin_unlock(&filp->table_lock);
}

/* Contexts may be created and freed concurrently, so none is dereferenced. */
static unsigned int salvo_fdinfo_contexts(struct salvo_file *file)
{
	unsigned int count = 0;
	unsigned long id;
	void *ctx;

	xa_for_each(&file->ctxs, id, ctx)
		count++;
	return count;
}

/** salvo_fdinfo_show() - Print the fdinfo of a file. */
void salvo_fdinfo_show(struct seq_file *m, struct file *f)
{
	struct drm_file *filp = f->private_data;
	struct salvo_dev *sdev = to_salvo(filp->minor->dev);
	struct salvo_file *file = filp->driver_priv;
	struct salvo_counters *counters = &file->vm->counters;
	struct salvo_memory_stats stats = {};

	salvo_fdinfo_memory(filp, &stats);
	seq_puts(m, "drm-driver:\tsalvo\n");
	seq_printf(m, "drm-pdev:\t%s\n", dev_name(sdev->drm.dev));
	seq_printf(m, "drm-client-id:\t%llu\n", file->client);
	seq_printf(m, "drm-engine-eu:\t%lld ns\n", atomic64_read(&counters->busy_ns));
	seq_printf(m, "drm-engine-capacity-eu:\t%u\n", sdev->mmio.units);
	/* Nothing is evicted, so all is resident. Includes freed buffers that are in use. */
	seq_printf(m, "drm-memory-vram:\t%lld KiB\n", atomic64_read(&file->vm->bytes) >> 10);
	seq_printf(m, "drm-total-vram:\t%llu KiB\n", stats.vram >> 10);
	seq_printf(m, "drm-shared-vram:\t%llu KiB\n", stats.vram_shared >> 10);
	seq_printf(m, "drm-resident-vram:\t%llu KiB\n", stats.vram >> 10);
	seq_printf(m, "drm-total-system:\t%llu KiB\n", stats.system >> 10);
	seq_printf(m, "drm-shared-system:\t%llu KiB\n", stats.system >> 10);
	seq_printf(m, "salvo-contexts:\t%u\n", salvo_fdinfo_contexts(file));
	seq_printf(m, "salvo-slots:\t%u\n", salvo_slot_count(file));
	seq_printf(m, "salvo-packets:\t%lld\n", atomic64_read(&counters->packets));
	seq_printf(m, "salvo-doorbells:\t%lld\n", atomic64_read(&counters->doorbells));
	seq_printf(m, "salvo-interrupts:\t%lld\n", atomic64_read(&counters->interrupts));
	seq_printf(m, "salvo-completions:\t%lld\n", atomic64_read(&counters->completions));
}
