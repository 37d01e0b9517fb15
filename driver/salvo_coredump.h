/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_coredump.h - what the GPU did when it hung, as a devcoredump
 */
#ifndef SALVO_COREDUMP_H
#define SALVO_COREDUMP_H

#include <linux/workqueue.h>

struct salvo_dev;
struct salvo_snapshot;
struct salvo_job;

/**
 * struct salvo_coredump - The one dump that a device takes at a time.
 */
struct salvo_coredump {
	/** @work: Makes text of @snapshot and hands it over. */
	struct work_struct work;
	/** @taken: @snapshot is filled and belongs to @work; bit 0. */
	unsigned long taken;
	/** @snapshot: Allocated when the driver is bound, for a reset allocates nothing. */
	struct salvo_snapshot *snapshot;
};

int salvo_coredump_init(struct salvo_dev *sdev);
void salvo_coredump_fini(struct salvo_dev *sdev);
void salvo_coredump_capture(struct salvo_dev *sdev, struct salvo_job *job, const char *reason);

#endif /* SALVO_COREDUMP_H */
