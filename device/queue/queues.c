// SPDX-License-Identifier: MIT
/*
 * queues.c - all command queues of a GPU, and the units that take from them
 *
 * Each priority has a global command queue of its own, and one local command queue for each
 * far node. Units take from the highest priority that has work (worker_queue.c).
 *
 * A push wakes at most one unit, and none if an approved unit is polling: that one finds the
 * element. If the queue has no free entry the element waits in a list, and all sleeping units are
 * woken, since they must pass the oldest entries before one becomes free. The sequentially
 * consistent fence between the push and the read of the parking masks pairs with the
 * one of a unit that goes to sleep (parking.c).
 *
 * If all units sleep one is woken while a submission is still parsed. A thread that waits as soon
 * as it has submitted leaves its core to the unit there, which runs at once; it is assumed to do
 * again what it did last time. Otherwise a unit on another core is woken, which takes longer
 * (parking.c), but the thread can go on with what it does. If units had to wake others lately, two
 * are woken at once.
 *
 * No locks: see gcq.c, lcq.c and parking.c.
 */
#include "queues.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "element.h"
#include "history.h"
#include "lcq.h"

/* A thread that waits this soon has done nothing else since it submitted. */
#define SOON_NS 50000u
/* A unit that takes longer to be awake has waited for its core. */
#define LATENCY_MOST_NS 100000u
/* So many submissions wake two units before one tries again whether a single one suffices. */
#define SEVERAL 8u

static int prio_queue_init(struct salvo_prio_queue *queue, const struct salvo_topology *topology)
{
	unsigned int i;
	int ret;

	ret = salvo_gcq_init(&queue->gcq, SALVO_GCQ_ENTRIES, 1);
	for (i = 0; !ret && i < topology->nodes; i++) {
		const struct salvo_node *node = &topology->node[i];

		if (!node->far)
			continue;
		queue->lcq[i] = aligned_alloc(64, sizeof(*queue->lcq[i]));
		if (queue->lcq[i])
			salvo_lcq_init(queue->lcq[i], &queue->gcq, node->units,
				       __builtin_popcountll(node->units));
		else
			ret = -ENOMEM;
	}
	return ret;
}

/* The core @wanted if it is allowed, else the allowed core number @index, modulo their count. */
static int core_of(const cpu_set_t *allowed, int wanted, unsigned int index)
{
	unsigned int rest = index % CPU_COUNT(allowed);
	int core;

	if (wanted >= 0 && wanted < CPU_SETSIZE && CPU_ISSET(wanted, allowed))
		return wanted;
	for (core = 0;; core++)
		if (CPU_ISSET(core, allowed) && !rest--)
			return core;
}

/* Where a sandbox does not allow to read the affinity, units are not pinned. */
static void find_cores(struct salvo_queues *queues)
{
	const struct salvo_topology *topology = &queues->topology;
	cpu_set_t allowed;
	const bool known = !sched_getaffinity(0, sizeof(allowed), &allowed);
	unsigned int i;

	for (i = 0; i < topology->units; i++)
		queues->core[i] = known ? core_of(&allowed, topology->core[i], i) : -1;
}

int salvo_queues_init(struct salvo_queues *queues, const struct salvo_topology *topology,
		      struct salvo_parking *parking)
{
	unsigned int i;
	int ret = 0;

	memset(queues, 0, sizeof(*queues));
	queues->topology = *topology;
	queues->all = ~0ull >> (64 - topology->units);
	queues->parking = parking ? parking : &queues->own_parking;
	find_cores(queues);
	for (i = 0; i < topology->nodes; i++)
		queues->far |= topology->node[i].far;
	for (i = 0; i < SALVO_PRIOS && !ret; i++)
		ret = prio_queue_init(&queues->prio[i], topology);
	if (ret)
		salvo_queues_fini(queues);
	return ret;
}

void salvo_queues_fini(struct salvo_queues *queues)
{
	unsigned int i, j;

	for (i = 0; i < SALVO_PRIOS; i++) {
		for (j = 0; j < queues->topology.nodes; j++)
			free(queues->prio[i].lcq[j]);
		salvo_gcq_fini(&queues->prio[i].gcq);
	}
}

static uint64_t choose_units(struct salvo_queues *queues, const struct salvo_element *element)
{
	const uint64_t mask = element->apu_mask;
	uint64_t idle;

	if (queues->far || !salvo_element_contends(element))
		return mask;
	idle = atomic_load_explicit(&queues->parking->polling, memory_order_relaxed);
	return salvo_contention_choose(&queues->contention, salvo_element_kernel(element),
				       element->total, mask, idle);
}

/*
 * Has the caller woken a unit on its own core in advance? Where another program wants that core,
 * the unit does not poll, and sleeps again.
 */
static bool expects_here(const struct salvo_queues *queues)
{
	return atomic_load_explicit(&queues->expecter, memory_order_relaxed) ==
	       (uintptr_t)pthread_self() &&
	       atomic_load_explicit(&queues->expected_here, memory_order_relaxed);
}

void salvo_queues_push(struct salvo_queues *queues, struct salvo_element *element)
{
	struct salvo_parking *parking = queues->parking;
	const uint64_t mask = choose_units(queues, element);
	bool entered;

	element->apu_mask = mask;
	entered = salvo_gcq_push(&queues->prio[element->prio].gcq, element);
	atomic_thread_fence(memory_order_seq_cst);
	if (!entered)
		salvo_parking_wake_all(parking);
	else if (!(mask & atomic_load(&parking->polling)))
		salvo_parking_wake_one(parking, mask & atomic_load(&parking->sleeping),
				       queues->core, expects_here(queues));
}

void salvo_queues_expect(struct salvo_queues *queues)
{
	struct salvo_parking *parking = queues->parking;
	uint64_t sleeping = atomic_load_explicit(&parking->sleeping, memory_order_relaxed);
	const uintptr_t self = (uintptr_t)pthread_self();
	uint32_t several;
	bool here;

	if (sleeping != queues->all)
		return;
	here = atomic_exchange_explicit(&queues->waiter, 0, memory_order_relaxed) == self;
	several = atomic_load_explicit(&queues->several, memory_order_relaxed);
	if (several) {
		atomic_store_explicit(&queues->several, several - 1, memory_order_relaxed);
		salvo_parking_wake_to_poll(parking, sleeping, queues->core, false);
		sleeping = atomic_load_explicit(&parking->sleeping, memory_order_relaxed);
		here = true;
	}
	salvo_parking_wake_to_poll(parking, sleeping, queues->core, here);
	atomic_store_explicit(&queues->expected_ns, salvo_clock(), memory_order_relaxed);
	atomic_store_explicit(&queues->expected_here, here, memory_order_relaxed);
	atomic_store_explicit(&queues->expecter, self, memory_order_release);
}

void salvo_queues_note_wake(struct salvo_queues *queues)
{
	atomic_store_explicit(&queues->several, SEVERAL, memory_order_relaxed);
}

void salvo_queues_note_awake(struct salvo_queues *queues)
{
	uint64_t since = atomic_load_explicit(&queues->waking_ns, memory_order_relaxed);
	uint64_t took, before;

	/* Units that were woken for another reason are few. */
	if (!since || !atomic_compare_exchange_strong(&queues->waking_ns, &since, 0))
		return;
	took = salvo_clock() - since;
	before = atomic_load_explicit(&queues->latency_ns, memory_order_relaxed);
	atomic_store_explicit(&queues->latency_ns,
			      salvo_history_add(before, took < LATENCY_MOST_NS ? took :
								  LATENCY_MOST_NS),
			      memory_order_relaxed);
}

void salvo_queues_note_wait(struct salvo_queues *queues)
{
	const uintptr_t self = (uintptr_t)pthread_self();

	if (atomic_load_explicit(&queues->expecter, memory_order_acquire) != self)
		return;
	atomic_store_explicit(&queues->expecter, 0, memory_order_relaxed);
	if (salvo_clock() - atomic_load_explicit(&queues->expected_ns, memory_order_relaxed) <
	    SOON_NS)
		atomic_store_explicit(&queues->waiter, self, memory_order_relaxed);
}

void salvo_queues_begin_wait(struct salvo_queues *queues)
{
	/* In this order: a unit first says that it works alone. */
	atomic_fetch_add(&queues->waiters, 1);
	if (atomic_load(&queues->alone))
		salvo_parking_wake_all(queues->parking);
}

void salvo_queues_end_wait(struct salvo_queues *queues)
{
	atomic_fetch_sub(&queues->waiters, 1);
}
