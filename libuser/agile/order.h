/* SPDX-License-Identifier: MIT */
/*
 * order.h - runs: the tasks of a field of rank 1 in the order of their first indices
 */
#ifndef SALVO_AGILE_INTERNAL_ORDER_H
#define SALVO_AGILE_INTERNAL_ORDER_H

#include "field.h"

struct agile_run {
	struct salvo_agile_grid grid;
	uint32_t task, block;
	/** @data: Of its first element, as the application sees it; NULL on another rank. */
	const uint8_t *data;
};

struct agile_runs {
	struct salvo_agile_field *field;
	struct agile_run *all;
	unsigned int count;
};

/** agile_runs_init() - Those of a field. Return: 0, -EINVAL, -ENOTSUP, -ENOMEM. */
int agile_runs_init(struct agile_runs *runs, struct salvo_agile_field *field);
void agile_runs_fini(struct agile_runs *runs);

#endif
