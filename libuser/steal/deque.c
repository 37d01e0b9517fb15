// SPDX-License-Identifier: MIT
/* deque.c - the rings of a deque; deque.h tells how they are used */
#include "deque.h"

#include <errno.h>
#include <stdlib.h>

static struct salvo_deque_ring *ring_create(int64_t size, struct salvo_deque_ring *older)
{
	struct salvo_deque_ring *ring;

	ring = malloc(sizeof(*ring) + size * sizeof(ring->slots[0]));
	if (!ring)
		return NULL;
	ring->older = older;
	ring->size = size;
	return ring;
}

int salvo_deque_init(struct salvo_deque *deque, int64_t size)
{
	struct salvo_deque_ring *ring = ring_create(size, NULL);

	if (!ring)
		return -ENOMEM;
	atomic_init(&deque->top, 0);
	atomic_init(&deque->bottom, 0);
	atomic_init(&deque->ring, ring);
	return 0;
}

void salvo_deque_fini(struct salvo_deque *deque)
{
	struct salvo_deque_ring *ring = atomic_load(&deque->ring), *older;

	for (; ring; ring = older) {
		older = ring->older;
		free(ring);
	}
}

struct salvo_deque_ring *salvo_deque_grow(struct salvo_deque *deque, int64_t top, int64_t bottom)
{
	struct salvo_deque_ring *old = atomic_load_explicit(&deque->ring, memory_order_relaxed);
	struct salvo_deque_ring *ring = ring_create(old->size * 2, old);
	int64_t i;

	if (!ring)
		return NULL;
	for (i = top; i < bottom; i++)
		atomic_init(&ring->slots[i & (ring->size - 1)],
			    atomic_load_explicit(&old->slots[i & (old->size - 1)],
						 memory_order_relaxed));
	atomic_store_explicit(&deque->ring, ring, memory_order_release);
	return ring;
}
