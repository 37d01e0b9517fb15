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
 * core (board.c).
 *
 * Nothing is locked here: see gcq.c and lcq.c.
 */
#include "queues.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "board.h"
#include "clock.h"
#include "element.h"
#include "lcq.h"

/* How long a chunk may take, so that a higher priority soon gets its turn */
#define CHUNK_NS 2000000u
/* The same for a chunk of a run; its elements may be of any kind, and the last must not wait */
#define RUN_NS 20000u
#define MOST_ITEMS (1u << 30)
/* Entries in which salvo_feed_others() looks */
#define LOOKS 16u

static int lane_init(struct salvo_lane *lane, const struct salvo_topology *topology)
{
	unsigned int i;
	int ret;

	ret = salvo_gcq_init(&lane->gcq, SALVO_GCQ_ENTRIES, 1);
	for (i = 0; !ret && i < topology->nodes; i++) {
		const struct salvo_node *node = &topology->node[i];

		if (!node->far)
			continue;
		lane->lcq[i] = aligned_alloc(64, sizeof(*lane->lcq[i]));
		if (lane->lcq[i])
			salvo_lcq_init(lane->lcq[i], &lane->gcq, node->units,
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
	for (i = 0; i < SALVO_LANES && !ret; i++)
		ret = lane_init(&queues->lane[i], topology);
	if (ret)
		salvo_queues_fini(queues);
	return ret;
}

void salvo_queues_fini(struct salvo_queues *queues)
{
	unsigned int i, j;

	for (i = 0; i < SALVO_LANES; i++) {
		for (j = 0; j < queues->topology.nodes; j++)
			free(queues->lane[i].lcq[j]);
		salvo_gcq_fini(&queues->lane[i].gcq);
	}
}

bool salvo_queues_push(struct salvo_queues *queues, struct salvo_element *element)
{
	return salvo_gcq_push(&queues->lane[element->lane].gcq, element);
}

void salvo_feed_init(struct salvo_feed *feed, struct salvo_queues *queues, unsigned int unit)
{
	const struct salvo_topology *topology = &queues->topology;
	const uint64_t bit = 1ull << unit;
	unsigned int i;

	memset(feed, 0, sizeof(*feed));
	feed->queues = queues;
	feed->unit = unit;
	feed->most = MOST_ITEMS;
	feed->most_elements = 1;
	while (!(topology->node[feed->node].units & bit))
		feed->node++;
	for (i = 0; i < SALVO_LANES; i++) {
		const struct salvo_node *node = &topology->node[feed->node];

		salvo_gcq_join(&queues->lane[i].gcq, &feed->own[i], bit,
			       node->far ? node->units : 0, 1);
	}
}

static struct salvo_lcq *lcq_of(const struct salvo_feed *feed, unsigned int lane)
{
	return feed->queues->lane[lane].lcq[feed->node];
}

static uint64_t clock_now(void *cookie)
{
	(void)cookie;
	return salvo_clock();
}

/* The way to the global command queue that the topology tells of. */
static void travel(const struct salvo_feed *feed)
{
	const uint32_t latency = feed->queues->topology.node[feed->node].latency_ns;
	const uint64_t end = latency ? salvo_clock() + latency : 0;

	while (end && salvo_clock() < end)
		sched_yield();
}

static void refill(struct salvo_feed *feed, unsigned int lane, struct salvo_feed_news *news)
{
	struct salvo_gcq *gcq = &feed->queues->lane[lane].gcq;
	struct salvo_lcq *lcq = lcq_of(feed, lane);

	if (!salvo_lcq_begin(lcq, gcq, salvo_clock()))
		return;
	travel(feed);
	news->admitted |= salvo_lcq_fetch(lcq, gcq, clock_now, NULL).admitted;
	news->fetched = true;
}

static struct salvo_gcq_chunk take_own(struct salvo_feed *feed, unsigned int lane,
				       struct salvo_feed_news *news)
{
	const struct salvo_gcq_chunk chunk =
		salvo_gcq_take_share(&feed->queues->lane[lane].gcq, &feed->own[lane], feed->most,
				     feed->most_elements);

	news->admitted |= chunk.admitted;
	if (!chunk.count)
		return chunk;
	feed->timed_run = chunk.element->run > 1;
	/* Chunks of one item need no time, but to learn that there could be more. */
	if (chunk.count > 1 || feed->timed_run || feed->most == 1) {
		feed->timed = chunk.count;
		feed->since = salvo_clock();
	}
	return chunk;
}

/* The last chunk has been run: how many of such items make a chunk? */
static void learn_time(struct salvo_feed *feed)
{
	uint64_t most;

	if (!feed->timed)
		return;
	most = (uint64_t)feed->timed * (feed->timed_run ? RUN_NS : CHUNK_NS) /
	       (salvo_clock() - feed->since + 1);
	most = most < 1 ? 1 : most > MOST_ITEMS ? MOST_ITEMS : most;
	if (feed->timed_run)
		feed->most_elements = most;
	else
		feed->most = most;
	feed->timed = 0;
}

static struct salvo_gcq_chunk take_far(struct salvo_feed *feed, unsigned int lane,
				       struct salvo_feed_news *news)
{
	struct salvo_lcq *lcq = lcq_of(feed, lane);
	struct salvo_gcq_chunk chunk = { .count = 0 };

	refill(feed, lane, news);
	if (!feed->turn)
		chunk = salvo_lcq_take(lcq, 0);
	if (chunk.count)
		return chunk;
	chunk = take_own(feed, lane, news);
	if (chunk.count)
		travel(feed);
	return chunk.count ? chunk : salvo_lcq_take(lcq, 0);
}

static bool lane_has_work(const struct salvo_feed *feed, unsigned int lane)
{
	const struct salvo_lcq *lcq = lcq_of(feed, lane);
	const struct salvo_gcq *gcq = &feed->queues->lane[lane].gcq;

	return salvo_gcq_has_entry(gcq, &feed->own[lane]) || (lcq && salvo_lcq_has_work(lcq, gcq));
}

/*
 * Is there work in the lane for a unit that is held? It goes past what others have done,
 * so that it keeps no entry and need not look again.
 */
static bool is_held(struct salvo_feed *feed, unsigned int lane, struct salvo_feed_news *news)
{
	const struct salvo_lcq *lcq = lcq_of(feed, lane);
	struct salvo_gcq *gcq = &feed->queues->lane[lane].gcq;

	if (!salvo_board_is_held(feed->seat, feed->unit, lane))
		return false;
	return salvo_gcq_pass_done(gcq, &feed->own[lane], &news->admitted) ||
	       (lcq && salvo_lcq_has_work(lcq, gcq));
}

struct salvo_gcq_chunk salvo_feed_take(struct salvo_feed *feed, struct salvo_feed_news *news)
{
	struct salvo_gcq_chunk chunk = { .count = 0 };
	unsigned int i;

	*news = (struct salvo_feed_news){ 0 };
	learn_time(feed);
	feed->turn = !feed->turn;
	for (i = 0; i < SALVO_LANES && !chunk.count; i++) {
		/* A look at the queue comes last: other units change it all the time. */
		if (feed->seat && salvo_board_may_hold(feed->seat, i) && lane_has_work(feed, i) &&
		    is_held(feed, i, news)) {
			news->held = true;
			break;
		}
		chunk = lcq_of(feed, i) ? take_far(feed, i, news) : take_own(feed, i, news);
	}
	/* What comes after a rest may be of another kind. */
	if (!chunk.count)
		feed->most_elements = 1;
	return chunk;
}

uint32_t salvo_feed_done(struct salvo_feed *feed, const struct salvo_gcq_chunk *chunk)
{
	return chunk->slot ? salvo_lcq_done(lcq_of(feed, chunk->element->lane), chunk) :
			     chunk->count;
}

bool salvo_feed_has_work(const struct salvo_feed *feed)
{
	unsigned int i;

	for (i = 0; i < SALVO_LANES; i++)
		if (lane_has_work(feed, i))
			return true;
	return false;
}

bool salvo_feed_may_sleep(const struct salvo_feed *feed)
{
	unsigned int i;

	for (i = 0; i < SALVO_LANES; i++) {
		const struct salvo_lcq *lcq = lcq_of(feed, i);
		const struct salvo_gcq *gcq = &feed->queues->lane[i].gcq;

		/* Who fetches wakes others when it is done. */
		if (salvo_gcq_is_behind(gcq, &feed->own[i]) ||
		    (lcq && (atomic_load(&lcq->open) ||
			     (!atomic_load(&lcq->fetching) &&
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

	for (i = 0; i < LOOKS; i++) {
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

uint64_t salvo_feed_others(const struct salvo_feed *feed, uint64_t mask)
{
	const uint64_t mates = feed->queues->topology.node[feed->node].units & mask;
	uint64_t found = 0;
	unsigned int i;

	for (i = 0; i < SALVO_LANES; i++) {
		const struct salvo_lcq *lcq = lcq_of(feed, i);
		const struct salvo_gcq *gcq = &feed->queues->lane[i].gcq;

		found |= others_from(gcq, &feed->own[i], mask);
		if (!lcq)
			continue;
		found |= others_from(gcq, &lcq->taker, mask);
		if (atomic_load(&lcq->open))
			found |= mates;
	}
	return found;
}
