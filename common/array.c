// SPDX-License-Identifier: MIT
/*
 * array.c - arrays that grow by doubling
 */
#include "array.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16u

static int resize(void *array, size_t count, size_t size)
{
	void *memory, *grown;

	/* A memcpy(), since the pointer may be of any type. */
	memcpy(&memory, array, sizeof(memory));
	grown = reallocarray(memory, count, size);
	if (!grown)
		return -ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	return 0;
}

int salvo_array_grow(void *array, unsigned int *capacity, unsigned int want, size_t size)
{
	unsigned int grown = *capacity ? *capacity : FIRST_CAPACITY;

	while (grown < want)
		grown = grown > UINT_MAX / 2 ? want : grown * 2;
	if (resize(array, grown, size))
		return -ENOMEM;
	*capacity = grown;
	return 0;
}

void *salvo_array_append(void *array, unsigned int *count, size_t size)
{
	uint8_t *memory;

	/* There is room for the next power of two. */
	if (!(*count & (*count - 1)) && resize(array, *count ? 2 * (size_t)*count : 1, size))
		return NULL;
	memcpy(&memory, array, sizeof(memory));
	return memset(memory + (*count)++ * size, 0, size);
}
