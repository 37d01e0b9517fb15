/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_coredump.h - devcoredump of a hang or a lost GPU
 */
#ifndef SALVO_COREDUMP_H
#define SALVO_COREDUMP_H

#include <linux/workqueue.h>

struct salvo_dev;
struct salvo_snapshot;
struct salvo_job;

/**
 * struct salvo_coredump - The devcoredump of a device.
 */
struct salvo_coredump {
	/** @work: Formats @snapshot and passes it to devcoredump. */
	struct work_struct work;
	/** @taken: Bit 0: @snapshot is in use. */
	unsigned long taken;
	/** @snapshot: Preallocated, since a reset must not allocate. */
	struct salvo_snapshot *snapshot;
};

int salvo_coredump_init(struct salvo_dev *sdev);
void salvo_coredump_fini(struct salvo_dev *sdev);
void salvo_coredump_capture(struct salvo_dev *sdev, struct salvo_job *job, const char *reason);

#endif /* SALVO_COREDUMP_H */
