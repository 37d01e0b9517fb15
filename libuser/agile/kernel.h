/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - a kernel on all nodes
 */
#ifndef SALVO_AGILE_INTERNAL_KERNEL_H
#define SALVO_AGILE_INTERNAL_KERNEL_H

#include "salvo_agile.h"

/** agile_kernel_of() - The kernel of a node. */
struct salvo_kernel *agile_kernel_of(struct salvo_agile_kernel *kernel, unsigned int node);
const char *agile_kernel_name(const struct salvo_agile_kernel *kernel);

#endif
