/* SPDX-License-Identifier: MIT */
/*
 * array.h - arrays that grow by doubling
 *
 * @array is the address of the pointer to the array's memory, of any type; NULL with no elements at
 * first, from realloc(), freed by the caller. On failure the array stays as it was.
 */
#ifndef SALVO_ARRAY_H
#define SALVO_ARRAY_H

#include <stddef.h>

/* salvo_array_grow() - The slow path of salvo_array_reserve(). */
int salvo_array_grow(void *array, unsigned int *capacity, unsigned int want, size_t size);

/**
 * salvo_array_reserve() - Make room for @want elements of @size bytes.
 * @capacity: How many there is room for.
 *
 * Return: 0 or -ENOMEM.
 */
static inline int salvo_array_reserve(void *array, unsigned int *capacity, unsigned int want,
				      size_t size)
{
	return want <= *capacity ? 0 : salvo_array_grow(array, capacity, want, size);
}

/**
 * salvo_array_append() - One more element, zeroed, for an array that grows only by this function.
 * @count: Of elements; one more afterwards.
 *
 * Return: The element, or NULL without memory.
 */
void *salvo_array_append(void *array, unsigned int *count, size_t size);

#endif /* SALVO_ARRAY_H */
