/* SPDX-License-Identifier: MIT */
/*
 * shared.h - memory that GPUs of several devices can use
 */
#ifndef SALVO_AGILE_INTERNAL_SHARED_H
#define SALVO_AGILE_INTERNAL_SHARED_H

#include "node.h"

/** agile_shared_needed() - Are there devices that cannot use each other's memory? */
int agile_shared_needed(const struct agile_node *nodes, unsigned int count, bool *needed);
/**
 * agile_shared_create() - A dma-buf in system memory.
 *
 * Return: 0, -ENODEV (the kernel has neither udmabuf nor vgem), -EACCES, -EINVAL (more than
 * udmabuf allows), -ENOMEM.
 */
int agile_shared_create(uint64_t bytes, int *fd);

#endif
