/* SPDX-License-Identifier: MIT */
/*
 * deque.h - the double-ended queue of a worker
 *
 * The deque of Chase and Lev (SPAA 2005) with the orderings of Le, Pop, Cohen and Zappa Nardelli,
 * "Correct and efficient work-stealing for weak memory models" (PPoPP 2013). The owner pushes and
 * takes at the bottom, thieves steal at the top (W1 of US11340942). There is no lock: the one task
 * that both ends may want is decided by a compare-and-swap of @top.
 *
 * The owner's stores to @bottom are releases, where the paper has a release fence before the one
 * in push and relaxed stores in take: the same instructions on x86-64, and ThreadSanitizer, which
 * does not know fences, sees the order.
 *
 * A full ring is replaced by one of twice the size. Thieves may still read the old one, so rings
 * are freed with the deque.
 */
#ifndef SALVO_STEAL_DEQUE_H
#define SALVO_STEAL_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct salvo_task;

struct salvo_deque_ring {
	/** @older: The ring that this one replaced. */
	struct salvo_deque_ring *older;
	int64_t size;
	_Atomic(struct salvo_task *) slots[];
};

struct salvo_deque {
	/** @top: Where thieves steal next; it only grows. */
	_Atomic int64_t top __attribute__((aligned(64)));
	/** @bottom: Where the owner pushes next; only the owner writes it. */
	_Atomic int64_t bottom __attribute__((aligned(64)));
	/** @ring: Written by the owner. */
	_Atomic(struct salvo_deque_ring *) ring;
};

/** salvo_deque_init() - An empty deque with room for @size tasks, a power of two. */
int salvo_deque_init(struct salvo_deque *deque, int64_t size);
void salvo_deque_fini(struct salvo_deque *deque);
/** salvo_deque_grow() - For salvo_deque_push(): a ring of twice the size. Return: it or NULL. */
struct salvo_deque_ring *salvo_deque_grow(struct salvo_deque *deque, int64_t top, int64_t bottom);

/** salvo_deque_push() - By the owner: add a task. Return: false if there is no memory for it. */
static inline bool salvo_deque_push(struct salvo_deque *deque, struct salvo_task *task)
{
	const int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
	const int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);
	struct salvo_deque_ring *ring = atomic_load_explicit(&deque->ring, memory_order_relaxed);

	if (__builtin_expect(bottom - top >= ring->size, 0)) {
		ring = salvo_deque_grow(deque, top, bottom);
		if (!ring)
			return false;
	}
	atomic_store_explicit(&ring->slots[bottom & (ring->size - 1)], task,
			      memory_order_relaxed);
	atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);
	return true;
}

/** salvo_deque_take() - By the owner: the task that was pushed last, or NULL. */
static inline struct salvo_task *salvo_deque_take(struct salvo_deque *deque)
{
	const int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1;
	struct salvo_deque_ring *ring = atomic_load_explicit(&deque->ring, memory_order_relaxed);
	struct salvo_task *task = NULL;
	int64_t top;

	atomic_store_explicit(&deque->bottom, bottom, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	top = atomic_load_explicit(&deque->top, memory_order_relaxed);
	if (top <= bottom)
		task = atomic_load_explicit(&ring->slots[bottom & (ring->size - 1)],
					    memory_order_relaxed);
	if (__builtin_expect(top < bottom, 1))
		return task;
	/* The last one, which a thief may want too. */
	if (top == bottom &&
	    !atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1,
						     memory_order_seq_cst, memory_order_relaxed))
		task = NULL;
	atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);
	return task;
}

/**
 * salvo_deque_steal() - By any thread: the oldest task, or NULL.
 * @lost: Set if another took it first: there may be more.
 */
static inline struct salvo_task *salvo_deque_steal(struct salvo_deque *deque, bool *lost)
{
	int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);
	struct salvo_deque_ring *ring;
	struct salvo_task *task;

	atomic_thread_fence(memory_order_seq_cst);
	if (top >= atomic_load_explicit(&deque->bottom, memory_order_acquire))
		return NULL;
	ring = atomic_load_explicit(&deque->ring, memory_order_acquire);
	task = atomic_load_explicit(&ring->slots[top & (ring->size - 1)], memory_order_relaxed);
	if (atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1,
						    memory_order_seq_cst, memory_order_relaxed))
		return task;
	*lost = true;
	return NULL;
}

/** salvo_deque_seems_empty() - By any thread; by the time it returns it may be otherwise. */
static inline bool salvo_deque_seems_empty(struct salvo_deque *deque)
{
	return atomic_load_explicit(&deque->top, memory_order_acquire) >=
	       atomic_load_explicit(&deque->bottom, memory_order_acquire);
}

#endif
