/* SPDX-License-Identifier: MIT */
/*
 * labels.h - what the commands of a submission were, for its errors
 *
 * A fence may outlive its batch, and the batch may change, so a submission keeps the kernels
 * and grids of its commands in a counted array that never changes.
 */
#ifndef SALVO_LIB_LABELS_H
#define SALVO_LIB_LABELS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * struct salvo_labels - The commands of a submission; counted.
 */
struct salvo_labels {
	atomic_uint refs;
	unsigned int count;
	struct salvo_label {
		/** @kernel: Its name, or NULL if the command is no dispatch. */
		const char *kernel;
		/** @label: Of the application, or NULL. */
		const char *label;
		uint32_t items[3];
		uint32_t group[3];
	} at[];
};

static inline struct salvo_labels *salvo_labels_get(struct salvo_labels *labels)
{
	atomic_fetch_add_explicit(&labels->refs, 1, memory_order_relaxed);
	return labels;
}

/** salvo_labels_put() - Drop a reference; @labels may be NULL. */
static inline void salvo_labels_put(struct salvo_labels *labels)
{
	if (labels && atomic_fetch_sub(&labels->refs, 1) == 1)
		free(labels);
}

#endif /* SALVO_LIB_LABELS_H */
