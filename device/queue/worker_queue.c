// SPDX-License-Identifier: MIT
/*
 * worker_queue.c - how a unit gets its next chunk
 *
 * A unit that has finished a chunk asks the priorities from the highest on, so work of a higher
 * priority waits for no more than the running chunks. Their length is bounded to
 * some milliseconds, estimated from the last chunk's. Within a priority it is first
 * come, first served, over all contexts.
 *
 * A unit of a near node takes from the global queue. One of a far node takes from the
 * node's local queue what approves the whole node, and from the global queue what
 * approves only some of its units, itself among them (mixed mode, N6 of CN102792271).
 * The two take turns as the first choice, so neither can starve.
 *
 * The topology's latency delays each fetch for a far node, and each take of such a node's
 * units from the global queue.
 *
 * A unit that takes a chunk wakes others for the rest, unless it knows the kernel and the rest is
 * so short that sharing it does not pay. To wake a thread on another core takes the waker from 2 us
 * to some 15 us in a virtual machine, and the other one runs 50 us later there, so both are
 * measured.
 *
 * Where address spaces are processes each has queues of its own. Then a unit also checks,
 * before it takes of a lower priority, whether another process runs a higher one on its
 * core (prio_table.c).
 *
 * No locks: see gcq.c and lcq.c.
 */
#include "worker_queue.h"

#include <sched.h>
#include <string.h>
#include "clock.h"
#include "element.h"
#include "lcq.h"
#include "prio_table.h"
#include "salvo_hw.h"

/* Longest time of a chunk, so that a higher priority soon gets its turn */
#define CHUNK_NS 2000000u
/* The least time of a chunk, if the items are as those before of their element */
#define LEAST_NS 1000u
/* The most for coalesced elements: they may be of any kind, and the last must not wait long */
#define COALESCED_NS 20000u
#define MOST_ITEMS   (1u << 30)
/* What to wake a unit costs until it was measured, and at most: the waker may lose its core. */
#define WAKE_NS		5000u
#define WAKE_MOST_NS	50000u
/* Entries after its cursor that a unit inspects for others */
#define OTHERS_DEPTH 16u

void salvo_worker_queue_init(struct salvo_worker_queue *queue, struct salvo_queues *queues,
			     unsigned int unit)
{
	const struct salvo_topology *topology = &queues->topology;
	const uint64_t bit = 1ull << unit;
	unsigned int i;

	memset(queue, 0, sizeof(*queue));
	queue->queues = queues;
	queue->unit = unit;
	queue->most = MOST_ITEMS;
	queue->most_elements = 1;
	queue->wake_ns = WAKE_NS;
	queue->rest_position = UINT64_MAX;
	while (!(topology->node[queue->node].units & bit))
		queue->node++;
	for (i = 0; i < SALVO_PRIOS; i++) {
		const struct salvo_node *node = &topology->node[queue->node];

		salvo_gcq_join(&queues->prio[i].gcq, &queue->own[i], bit,
			       node->far ? node->units : 0, 1);
	}
}

static struct salvo_lcq *lcq_of(const struct salvo_worker_queue *queue, unsigned int prio)
{
	return queue->queues->prio[prio].lcq[queue->node];
}

static uint64_t clock_now(void *cookie)
{
	(void)cookie;
	return salvo_clock();
}

/* Waits for the topology's latency to the global command queue. */
static void delay(const struct salvo_worker_queue *queue)
{
	const uint32_t latency = queue->queues->topology.node[queue->node].latency_ns;
	const uint64_t end = latency ? salvo_clock() + latency : 0;

	while (end && salvo_clock() < end)
		sched_yield();
}

static void refill(struct salvo_worker_queue *queue, unsigned int prio,
		   struct salvo_worker_events *events)
{
	struct salvo_gcq *gcq = &queue->queues->prio[prio].gcq;
	struct salvo_lcq *lcq = lcq_of(queue, prio);

	if (!salvo_lcq_begin(lcq, gcq, salvo_clock()))
		return;
	delay(queue);
	events->admitted |= salvo_lcq_fetch(lcq, gcq, clock_now, NULL).admitted;
	events->fetched = true;
}

static bool is_known(const struct salvo_worker_queue *queue, uint64_t kernel)
{
	return salvo_item_times_expect(&queue->times, kernel, 1) != UINT64_MAX;
}

/*
 * Does the unit time chunks of one item? To find out whether they could be larger, and, of a kernel
 * that it does not know or while others sleep, whether to wake them.
 */
static bool is_timed_alone(const struct salvo_worker_queue *queue)
{
	return queue->timed_coalesced || queue->timed_contends || queue->most == 1 ||
	       (queue->timed_kernel && (atomic_load_explicit(&queue->queues->parking->sleeping,
							     memory_order_relaxed) ||
					!is_known(queue, queue->timed_kernel)));
}

static struct salvo_gcq_chunk take_own(struct salvo_worker_queue *queue, unsigned int prio,
				       struct salvo_worker_events *events)
{
	const struct salvo_gcq_chunk chunk =
		salvo_gcq_take_share(&queue->queues->prio[prio].gcq, &queue->own[prio], queue->most,
				     queue->most_elements);

	events->admitted |= chunk.admitted;
	if (!chunk.count)
		return chunk;
	queue->timed_coalesced = chunk.element->coalesced > 1;
	/* After the last chunk the unit also ends the element, and perhaps the batch. */
	queue->timed_contends = chunk.left && salvo_element_contends(chunk.element);
	queue->timed_total = chunk.element->total;
	queue->timed_alone = salvo_element_has_one_unit(chunk.element);
	queue->timed_kernel = chunk.left ? salvo_element_kernel(chunk.element) : 0;
	if (chunk.count > 1 || is_timed_alone(queue)) {
		queue->timed = chunk.count;
		queue->timed_prio = prio;
		queue->timed_position = chunk.position;
		queue->since = salvo_clock();
	}
	return chunk;
}

/* The last chunk is done: estimate how many such items fit into a chunk. */
static void learn_time(struct salvo_worker_queue *queue)
{
	struct salvo_gcq_taker *taker = &queue->own[queue->timed_prio];
	uint64_t took, most;

	if (!queue->timed)
		return;
	took = salvo_clock() - queue->since + 1;
	most = (uint64_t)queue->timed * (queue->timed_coalesced ? COALESCED_NS : CHUNK_NS) / took;
	most = most < 1 ? 1 : most > MOST_ITEMS ? MOST_ITEMS : most;
	if (queue->timed_coalesced) {
		queue->most_elements = most;
	} else {
		queue->most = most;
		taker->least = (uint64_t)queue->timed * LEAST_NS / took;
		taker->least_at = queue->timed_position;
		/* The first chunk after a sleep found nothing in the caches. */
		if (queue->timed_kernel && (!queue->slept || queue->chunks != 1 ||
					    !is_known(queue, queue->timed_kernel)))
			salvo_item_times_add(&queue->times, queue->timed_kernel, queue->timed,
					     took);
	}
	if (queue->timed_contends)
		salvo_contention_note(&queue->queues->contention, queue->timed_kernel, queue->timed,
				      queue->timed_total, took, queue->timed_alone);
	queue->timed = 0;
}

static struct salvo_gcq_chunk take_far(struct salvo_worker_queue *queue, unsigned int prio,
				       struct salvo_worker_events *events)
{
	struct salvo_lcq *lcq = lcq_of(queue, prio);
	struct salvo_gcq_chunk chunk = { .count = 0 };

	refill(queue, prio, events);
	if (!queue->turn)
		chunk = salvo_lcq_take(lcq, 0);
	if (chunk.count)
		return chunk;
	chunk = take_own(queue, prio, events);
	if (chunk.count)
		delay(queue);
	return chunk.count ? chunk : salvo_lcq_take(lcq, 0);
}

static bool prio_has_work(const struct salvo_worker_queue *queue, unsigned int prio)
{
	const struct salvo_lcq *lcq = lcq_of(queue, prio);
	const struct salvo_gcq *gcq = &queue->queues->prio[prio].gcq;

	return salvo_gcq_has_entry(gcq, &queue->own[prio]) || (lcq && salvo_lcq_has_work(lcq, gcq));
}

/*
 * Must the unit yield its core instead of taking from this priority? Then it passes finished
 * entries, so that it does not keep them from being reused while it takes nothing.
 */
static bool must_yield(struct salvo_worker_queue *queue, unsigned int prio,
		       struct salvo_worker_events *events)
{
	const struct salvo_lcq *lcq = lcq_of(queue, prio);
	struct salvo_gcq *gcq = &queue->queues->prio[prio].gcq;

	if (!salvo_prio_slot_must_yield(queue->slot, queue->unit, prio))
		return false;
	return salvo_gcq_pass_done(gcq, &queue->own[prio], &events->admitted) ||
	       (lcq && salvo_lcq_has_work(lcq, gcq));
}

/* Does the unit do all that is left, while others sleep? */
static void set_alone(struct salvo_worker_queue *queue, bool alone)
{
	const uint64_t bit = 1ull << queue->unit;

	if (queue->alone == alone)
		return;
	queue->alone = alone;
	if (alone)
		atomic_fetch_or(&queue->queues->alone, bit);
	else
		atomic_fetch_and(&queue->queues->alone, ~bit);
}

struct salvo_gcq_chunk salvo_worker_queue_take(struct salvo_worker_queue *queue,
					       struct salvo_worker_events *events)
{
	struct salvo_gcq_chunk chunk = { .count = 0 };
	unsigned int i;

	*events = (struct salvo_worker_events){ 0 };
	learn_time(queue);
	queue->turn = !queue->turn;
	for (i = 0; i < SALVO_PRIOS && !chunk.count; i++) {
		/* Reads the queue last: other units write it all the time. */
		if (queue->slot && salvo_prio_slot_may_yield(queue->slot, i) &&
		    prio_has_work(queue, i) && must_yield(queue, i, events)) {
			events->yield = true;
			break;
		}
		chunk = lcq_of(queue, i) ? take_far(queue, i, events) : take_own(queue, i, events);
	}
	/* After idling the next elements may be of another kind. */
	if (!chunk.count) {
		queue->most_elements = 1;
		queue->rests_ns = 0;
		queue->rest_position = UINT64_MAX;
		queue->chunks = 0;
	} else if (!queue->chunks++) {
		queue->slept = queue->sleeps;
		queue->sleeps = false;
	}
	if (!chunk.left)
		set_alone(queue, false);
	return chunk;
}

uint32_t salvo_worker_queue_done(struct salvo_worker_queue *queue,
				 const struct salvo_gcq_chunk *chunk)
{
	return chunk->slot ? salvo_lcq_done(lcq_of(queue, chunk->element->prio), chunk)
			   : chunk->count;
}

bool salvo_worker_queue_has_work(const struct salvo_worker_queue *queue)
{
	unsigned int i;

	for (i = 0; i < SALVO_PRIOS; i++)
		if (prio_has_work(queue, i))
			return true;
	return false;
}

bool salvo_worker_queue_may_continue(const struct salvo_worker_queue *queue, unsigned int prio)
{
	unsigned int i;

	if (queue->slot && salvo_prio_slot_may_yield(queue->slot, prio))
		return false;
	for (i = 0; i < prio; i++)
		if (prio_has_work(queue, i))
			return false;
	return true;
}

bool salvo_worker_queue_may_sleep(const struct salvo_worker_queue *queue)
{
	unsigned int i;

	for (i = 0; i < SALVO_PRIOS; i++) {
		const struct salvo_lcq *lcq = lcq_of(queue, i);
		const struct salvo_gcq *gcq = &queue->queues->prio[i].gcq;

		/* A unit that fetches wakes others when it is done. */
		if (salvo_gcq_is_behind(gcq, &queue->own[i]) ||
		    (lcq && (atomic_load(&lcq->open) || (!atomic_load(&lcq->fetching) &&
							 salvo_gcq_is_behind(gcq, &lcq->taker)))))
			return false;
	}
	return true;
}

/*
 * Units in @mask that are approved for entries at one cursor or shortly after it. An entry that the
 * taker is approved for and that has items left is never before its cursor; other entries do not
 * depend on the taker.
 */
static uint64_t others_from(const struct salvo_gcq *gcq, const struct salvo_gcq_taker *taker,
			    uint64_t mask)
{
	unsigned int i;
	uint64_t found;

	for (i = 0; i < OTHERS_DEPTH; i++) {
		const uint64_t at = salvo_gcq_mask_at(gcq, taker, i);

		if (!at)
			break;
		/* What the node takes as a whole is seen from the node's cursor. */
		if (taker->unless && (at & taker->unless) == taker->unless)
			continue;
		found = at & mask;
		if (found)
			return found;
	}
	return 0;
}

uint64_t salvo_worker_queue_others(const struct salvo_worker_queue *queue, uint64_t mask)
{
	const uint64_t mates = queue->queues->topology.node[queue->node].units & mask;
	uint64_t found = 0;
	unsigned int i;

	for (i = 0; i < SALVO_PRIOS; i++) {
		const struct salvo_lcq *lcq = lcq_of(queue, i);
		const struct salvo_gcq *gcq = &queue->queues->prio[i].gcq;

		found |= others_from(gcq, &queue->own[i], mask);
		if (!lcq)
			continue;
		found |= others_from(gcq, &lcq->taker, mask);
		if (atomic_load(&lcq->open))
			found |= mates;
	}
	return found;
}

/* Is there nothing to take but the rest of the entry of @chunk, in any queue? */
static bool is_last(const struct salvo_worker_queue *queue, const struct salvo_gcq_chunk *chunk)
{
	unsigned int i;

	for (i = 0; i < SALVO_PRIOS; i++) {
		const uint64_t next = i == chunk->element->prio ? chunk->position + 1 :
				      atomic_load_explicit(&queue->own[i].cursor,
							   memory_order_relaxed);

		if (atomic_load(&queue->queues->prio[i].gcq.tail) != next)
			return false;
	}
	return true;
}

/*
 * The longest rest that a unit has done alone as soon as with another one that it wakes for it.
 * While work follows so soon that units poll for it the other one is awake for what comes next.
 */
static uint64_t rest_alone(const struct salvo_worker_queue *queue)
{
	const uint64_t latency = atomic_load_explicit(&queue->queues->latency_ns,
						      memory_order_relaxed);

	return 2 * queue->wake_ns + (queue->slept ? latency : 0);
}

/*
 * Will the unit have done all that is left about as soon as with another one? Not if one such rest
 * has followed the other for so long, as in a chain of dispatches.
 */
static bool is_short(struct salvo_worker_queue *queue, const struct salvo_gcq_chunk *chunk)
{
	uint64_t rest, most;

	if (!queue->queues->counts_waiters || !chunk || !chunk->count || lcq_of(queue, 0) ||
	    !is_last(queue, chunk))
		return false;
	if (!chunk->left)
		return true;
	rest = salvo_item_times_expect(&queue->times, salvo_element_kernel(chunk->element),
				       chunk->left);
	most = rest_alone(queue);
	if (rest >= most || queue->rests_ns >= most)
		return false;
	/* The rest after a later chunk of the same entry is part of it. */
	if (chunk->position != queue->rest_position)
		queue->rests_ns += rest;
	queue->rest_position = chunk->position;
	return true;
}

/* Returns whether it woke one. */
static bool wake_one(struct salvo_worker_queue *queue, uint64_t mask)
{
	uint64_t start, took;

	if (!mask)
		return false;
	start = salvo_clock();
	atomic_store_explicit(&queue->queues->waking_ns, start, memory_order_relaxed);
	if (!salvo_parking_wake_one(queue->queues->parking, mask, queue->queues->core, false)) {
		atomic_store_explicit(&queue->queues->waking_ns, 0, memory_order_relaxed);
		return false;
	}
	took = salvo_clock() - start;
	/* The chunk begins now. */
	queue->since += took;
	queue->wake_ns = (7 * queue->wake_ns + (took < WAKE_MOST_NS ? took : WAKE_MOST_NS)) / 8;
	return true;
}

/*
 * OpenCL lets no work-group wait for another one that may not have begun, but kernels do that, and
 * it works with as many units as work-groups. So the units share a short rest, too, as soon as a
 * thread sleeps until a batch is done, or if one does already.
 */
void salvo_worker_queue_wake_next(struct salvo_worker_queue *queue,
				  const struct salvo_gcq_chunk *chunk)
{
	struct salvo_queues *queues = queue->queues;
	const uint64_t mates = queues->topology.node[queue->node].units;
	const uint64_t sleeping = atomic_load(&queues->parking->sleeping);
	uint64_t others;
	bool alone, woke;

	if (!sleeping)
		return;
	alone = is_short(queue, chunk);
	if (alone && !chunk->left)
		return;
	set_alone(queue, alone);
	/* In this order: a waiter first counts itself. */
	if (alone && !atomic_load(&queues->waiters))
		return;
	set_alone(queue, false);
	others = salvo_worker_queue_others(queue, sleeping);
	woke = wake_one(queue, others & mates);
	woke |= wake_one(queue, others & ~mates);
	if (woke && !alone)
		salvo_queues_note_wake(queues);
}
