// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_fdinfo.c - what a file of the render node costs: /proc/PID/fdinfo/FD
 *
 * Keys and units are those of Documentation/gpu/drm-usage-stats.rst, so that tools
 * which know no Salvo read it; "salvo-" keys are our own. Time is what the units spent
 * on the file's batches that have ended, all units together, hence the capacity.
 */
#include <linux/idr.h>
#include <linux/seq_file.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "salvo_device.h"
#include "salvo_drv.h"
#include "salvo_gem.h"
#include "salvo_vm.h"

/**
 * struct salvo_memory_stats - Bytes of a file's buffers.
 */
struct salvo_memory_stats {
	/** @vram: In video memory. */
	u64 vram;
	/** @vram_shared: Of those, in more than one file, or exported. */
	u64 vram_shared;
	/** @system: Imported, in the memory of who exported them. */
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

/* Contexts may come and go meanwhile; none is looked into. */
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
	/* Nothing is evicted: all of it is resident, and what was freed while in use counts. */
	seq_printf(m, "drm-memory-vram:\t%lld KiB\n", atomic64_read(&file->vm->bytes) >> 10);
	seq_printf(m, "drm-total-vram:\t%llu KiB\n", stats.vram >> 10);
	seq_printf(m, "drm-shared-vram:\t%llu KiB\n", stats.vram_shared >> 10);
	seq_printf(m, "drm-resident-vram:\t%llu KiB\n", stats.vram >> 10);
	seq_printf(m, "drm-total-system:\t%llu KiB\n", stats.system >> 10);
	seq_printf(m, "drm-shared-system:\t%llu KiB\n", stats.system >> 10);
	seq_printf(m, "salvo-contexts:\t%u\n", salvo_fdinfo_contexts(file));
	seq_printf(m, "salvo-packets:\t%lld\n", atomic64_read(&counters->packets));
	seq_printf(m, "salvo-doorbells:\t%lld\n", atomic64_read(&counters->doorbells));
	seq_printf(m, "salvo-interrupts:\t%lld\n", atomic64_read(&counters->interrupts));
	seq_printf(m, "salvo-completions:\t%lld\n", atomic64_read(&counters->completions));
}
