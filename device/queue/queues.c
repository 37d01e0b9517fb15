// SPDX-License-Identifier: MIT
/*
 * queues.c - all command queues of a GPU, and how a unit gets its next chunk
 *
 * Each priority is a lane with a global command queue of its own. A unit that comes
 * to the end of a chunk asks the lanes from the highest on, so work of a higher
 * priority waits for no more than the chunks that run; and those are bounded by a time
 * of some milliseconds, going by how long the last one took. Within a lane it is
 * first come, first served, over all contexts.
 *
 * A unit of a near node takes from the global queue. One of a far node takes from the
 * node's local queue what approves the whole node, and from the global queue what
 * approves only some of its units, itself among them (mixed mode, N6 of CN102792271).
 * Which of the two comes first changes with each chunk, so neither can starve.
 *
 * A fetch for a far node takes longer by the latency that the topology says; the units
 * of such a node also wait so long for what they take from the global queue themselves.
 *
 * Where address spaces are processes each has queues of its own. Then a unit also asks,
 * before it takes of a lower priority, whether other processes run a higher one on its
 * core (prio_table.c).
 *
 * Nothing is locked here: see gcq.c and lcq.c.
 */
#include "queues.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "prio_table.h"
#include "clock.h"
#include "element.h"
#include "lcq.h"

/* How long a chunk may take, so that a higher priority soon gets its turn */
#define CHUNK_NS 2000000u
/* The same for a chunk of a run; its elements may be of any kind, and the last must not wait */
#define COALESCED_NS 20000u
#define MOST_ITEMS (1u << 30)
/* Entries in which salvo_worker_queue_others() looks */
#define OTHERS_DEPTH 16u

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

int salvo_queues_init(struct salvo_queues *queues, const struct salvo_topology *topology)
{
	unsigned int i;
	int ret = 0;

	memset(queues, 0, sizeof(*queues));
	queues->topology = *topology;
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

bool salvo_queues_push(struct salvo_queues *queues, struct salvo_element *element)
{
	return salvo_gcq_push(&queues->prio[element->prio].gcq, element);
}

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

/* The way to the global command queue that the topology tells of. */
static void travel(const struct salvo_worker_queue *queue)
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
	travel(queue);
	events->admitted |= salvo_lcq_fetch(lcq, gcq, clock_now, NULL).admitted;
	events->fetched = true;
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
	/* Chunks of one item need no time, but to learn that there could be more. */
	if (chunk.count > 1 || queue->timed_coalesced || queue->most == 1) {
		queue->timed = chunk.count;
		queue->since = salvo_clock();
	}
	return chunk;
}

/* The last chunk has been run: how many of such items make a chunk? */
static void learn_time(struct salvo_worker_queue *queue)
{
	uint64_t most;

	if (!queue->timed)
		return;
	most = (uint64_t)queue->timed * (queue->timed_coalesced ? COALESCED_NS : CHUNK_NS) /
	       (salvo_clock() - queue->since + 1);
	most = most < 1 ? 1 : most > MOST_ITEMS ? MOST_ITEMS : most;
	if (queue->timed_coalesced)
		queue->most_elements = most;
	else
		queue->most = most;
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
		travel(queue);
	return chunk.count ? chunk : salvo_lcq_take(lcq, 0);
}

static bool prio_has_work(const struct salvo_worker_queue *queue, unsigned int prio)
{
	const struct salvo_lcq *lcq = lcq_of(queue, prio);
	const struct salvo_gcq *gcq = &queue->queues->prio[prio].gcq;

	return salvo_gcq_has_entry(gcq, &queue->own[prio]) || (lcq && salvo_lcq_has_work(lcq, gcq));
}

/*
 * Is there work in the lane for a unit that is held? It goes past what others have done,
 * so that it keeps no entry and need not look again.
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

struct salvo_gcq_chunk salvo_worker_queue_take(struct salvo_worker_queue *queue,
					       struct salvo_worker_events *events)
{
	struct salvo_gcq_chunk chunk = { .count = 0 };
	unsigned int i;

	*events = (struct salvo_worker_events){ 0 };
	learn_time(queue);
	queue->turn = !queue->turn;
	for (i = 0; i < SALVO_PRIOS && !chunk.count; i++) {
		/* A look at the queue comes last: other units change it all the time. */
		if (queue->slot && salvo_prio_slot_may_yield(queue->slot, i) &&
		    prio_has_work(queue, i) && must_yield(queue, i, events)) {
			events->yield = true;
			break;
		}
		chunk = lcq_of(queue, i) ? take_far(queue, i, events) : take_own(queue, i, events);
	}
	/* What comes after a rest may be of another kind. */
	if (!chunk.count)
		queue->most_elements = 1;
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

bool salvo_worker_queue_may_sleep(const struct salvo_worker_queue *queue)
{
	unsigned int i;

	for (i = 0; i < SALVO_PRIOS; i++) {
		const struct salvo_lcq *lcq = lcq_of(queue, i);
		const struct salvo_gcq *gcq = &queue->queues->prio[i].gcq;

		/* Who fetches wakes others when it is done. */
		if (salvo_gcq_is_behind(gcq, &queue->own[i]) ||
		    (lcq && (atomic_load(&lcq->open) || (!atomic_load(&lcq->fetching) &&
							 salvo_gcq_is_behind(gcq, &lcq->taker)))))
			return false;
	}
	return true;
}

/*
 * The same from one place in a queue. An entry that the taker is approved for and that has
 * items left is at the cursor or after it; for others nobody relies on the taker.
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
		/* What the node takes as a whole is seen from its own place. */
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
