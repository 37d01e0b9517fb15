/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_dump.h - what the GPU did when it hung, as a devcoredump
 */
#ifndef SALVO_DUMP_H
#define SALVO_DUMP_H

#include <linux/workqueue.h>

struct salvo_device;
struct salvo_dump_snapshot;
struct salvo_job;

/**
 * struct salvo_dump - The one dump that a device takes at a time.
 */
struct salvo_dump {
	/** @work: Makes text of @snapshot and hands it over. */
	struct work_struct work;
	/** @taken: @snapshot is filled and belongs to @work; bit 0. */
	unsigned long taken;
	/** @snapshot: Allocated when the driver is bound, for a reset allocates nothing. */
	struct salvo_dump_snapshot *snapshot;
};

int salvo_dump_init(struct salvo_device *sdev);
void salvo_dump_fini(struct salvo_device *sdev);
void salvo_dump_capture(struct salvo_device *sdev, struct salvo_job *job, const char *reason);

#endif /* SALVO_DUMP_H */
