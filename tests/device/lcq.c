// SPDX-License-Identifier: MIT
/*
 * lcq.c - local command queues (N6 to N10 of CN102792271)
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "element.h"
#include "gcq.h"
#include "kselftest_harness.h"
#include "lcq.h"

/* Ten units: 0 to 5 are near, 6 to 9 form a far node. */
#define NEAR	6u
#define FAR	0x3c0ull

FIXTURE(node)
{
	struct salvo_gcq gcq;
	struct salvo_gcq_taker near[NEAR];
	struct salvo_lcq *lcq;
	uint64_t now;
};

FIXTURE_SETUP(node)
{
	unsigned int i;

	ASSERT_EQ(0, salvo_gcq_init(&self->gcq, 8, 1));
	for (i = 0; i < NEAR; i++)
		salvo_gcq_join(&self->gcq, &self->near[i], 1ull << i, 0, 1);
	self->lcq = aligned_alloc(64, sizeof(*self->lcq));
	ASSERT_NE(NULL, self->lcq);
	salvo_lcq_init(self->lcq, &self->gcq, FAR, 4);
	self->now = 1000;
}

FIXTURE_TEARDOWN(node)
{
	free(self->lcq);
	salvo_gcq_fini(&self->gcq);
}

static struct salvo_element make_element(uint32_t items, uint64_t mask)
{
	const uint32_t size[3] = { items, 1, 1 };
	struct salvo_element element = { .apu_mask = mask };

	salvo_element_set_range(&element, size);
	return element;
}

static uint64_t fixed_clock(void *cookie)
{
	return *(uint64_t *)cookie;
}

static uint64_t counters(const struct salvo_gcq *gcq, unsigned int n)
{
	return gcq->entries[n % gcq->size].counters;
}

/* Fetches with @latency; returns the number of items, 0 if there were none. */
static uint32_t fetch(struct salvo_lcq *lcq, struct salvo_gcq *gcq, uint64_t *now,
		      uint64_t latency)
{
	if (!salvo_lcq_begin(lcq, gcq, *now))
		return 0;
	*now += latency;
	return salvo_lcq_fetch(lcq, gcq, fixed_clock, now).count;
}

TEST_F(node, N6_one_fetch_serves_the_units_of_the_node)
{
	struct salvo_element element = make_element(64, FAR);
	uint32_t first = 0, brought;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	brought = fetch(self->lcq, &self->gcq, &self->now, 10);
	ASSERT_EQ(16, brought);
	EXPECT_EQ(48, salvo_gcq_wir(counters(&self->gcq, 0)));
	while (salvo_lcq_lwir(self->lcq)) {
		const struct salvo_gcq_chunk chunk = salvo_lcq_take(self->lcq, 3);

		EXPECT_EQ(&element, chunk.element);
		EXPECT_EQ(first, chunk.first);
		EXPECT_EQ(brought - first < 3 ? brought - first : 3, chunk.count);
		first += chunk.count;
	}
	EXPECT_EQ(brought, first);
	/* The units took nothing from the global queue meanwhile. */
	EXPECT_EQ(48, salvo_gcq_wir(counters(&self->gcq, 0)));
	EXPECT_EQ(0, salvo_lcq_take(self->lcq, 3).count);
}

TEST_F(node, N6_mixed_mode_near_units_take_from_the_global_queue)
{
	struct salvo_element element = make_element(1000, FAR | 1);
	struct salvo_gcq_chunk near, far;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	near = salvo_gcq_take(&self->gcq, &self->near[0], 5);
	ASSERT_EQ(16, fetch(self->lcq, &self->gcq, &self->now, 10));
	far = salvo_lcq_take(self->lcq, 4);
	EXPECT_EQ(0, near.first);
	EXPECT_EQ(NULL, near.slot);
	EXPECT_EQ(5, far.first);
	EXPECT_NE(NULL, far.slot);
	near = salvo_gcq_take(&self->gcq, &self->near[0], 5);
	EXPECT_EQ(21, near.first);
}

TEST_F(node, N6_entries_for_a_part_of_the_node_are_not_fetched)
{
	struct salvo_element part = make_element(8, 0x1c0), whole = make_element(8, FAR);
	struct salvo_gcq_taker unit;
	struct salvo_gcq_chunk chunk;

	salvo_gcq_join(&self->gcq, &unit, 0x40, FAR, 1);
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &part));
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &whole));
	ASSERT_NE(0, fetch(self->lcq, &self->gcq, &self->now, 10));
	chunk = salvo_lcq_take(self->lcq, 1);
	EXPECT_EQ(&whole, chunk.element);
	/* The unit takes from the entry that names it, and leaves the other to its node. */
	chunk = salvo_gcq_take(&self->gcq, &unit, 8);
	EXPECT_EQ(&part, chunk.element);
	EXPECT_EQ(8, chunk.count);
	EXPECT_EQ(0, salvo_gcq_take(&self->gcq, &unit, 8).count);
	EXPECT_EQ(2, salvo_gcq_seen(counters(&self->gcq, 0)));
}

TEST_F(node, N7_refill_starts_below_the_threshold_before_the_queue_is_dry)
{
	struct salvo_element element = make_element(1 << 20, FAR);
	uint32_t taken;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	ASSERT_EQ(16, fetch(self->lcq, &self->gcq, &self->now, 10));
	/* Without history: one item for each unit. */
	for (taken = 0; taken < 12; taken++) {
		EXPECT_FALSE(salvo_lcq_begin(self->lcq, &self->gcq, self->now));
		ASSERT_EQ(1, salvo_lcq_take(self->lcq, 1).count);
	}
	EXPECT_EQ(4, salvo_lcq_lwir(self->lcq));
	EXPECT_FALSE(salvo_lcq_begin(self->lcq, &self->gcq, self->now));
	ASSERT_EQ(1, salvo_lcq_take(self->lcq, 1).count);
	EXPECT_TRUE(salvo_lcq_begin(self->lcq, &self->gcq, self->now));
}

TEST_F(node, N7_flag_keeps_others_from_fetching_and_they_take_what_is_left)
{
	struct salvo_element element = make_element(1 << 20, FAR);

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	ASSERT_EQ(16, fetch(self->lcq, &self->gcq, &self->now, 10));
	ASSERT_EQ(13, salvo_lcq_take(self->lcq, 13).count);
	ASSERT_TRUE(salvo_lcq_begin(self->lcq, &self->gcq, self->now));
	EXPECT_FALSE(salvo_lcq_begin(self->lcq, &self->gcq, self->now));
	EXPECT_EQ(3, salvo_lcq_take(self->lcq, 10).count);
	EXPECT_EQ(0, salvo_lcq_take(self->lcq, 10).count);
	EXPECT_FALSE(salvo_lcq_begin(self->lcq, &self->gcq, self->now));
	EXPECT_FALSE(salvo_lcq_has_work(self->lcq, &self->gcq));
	ASSERT_NE(0, salvo_lcq_fetch(self->lcq, &self->gcq, fixed_clock, &self->now).count);
	EXPECT_TRUE(salvo_lcq_has_work(self->lcq, &self->gcq));
	EXPECT_NE(0, salvo_lcq_take(self->lcq, 10).count);
}

/* Items take @item_ns each and a fetch takes @latency: to what size does the chunk converge? */
static uint32_t converged_chunk(struct salvo_lcq *lcq, struct salvo_gcq *gcq, uint64_t *now,
				uint64_t item_ns, uint64_t latency)
{
	unsigned int i;

	for (i = 0; i < 4000; i++) {
		if (!fetch(lcq, gcq, now, latency)) {
			const struct salvo_gcq_chunk chunk = salvo_lcq_take(lcq, 4);

			*now += chunk.count * item_ns;
			salvo_lcq_done(lcq, &chunk);
		}
	}
	return salvo_lcq_large(lcq);
}

/*
 * Fetches are slow and items are fast: the threshold asks for more items than there are slots. Each
 * small element fills a slot.
 */
TEST_F(node, N7_full_queue_is_not_refilled)
{
	struct salvo_element element[2 * SALVO_LCQ_SLOTS];
	uint32_t fetched = 0, items = 0, i;

	self->lcq->threshold = 1000;
	for (i = 0; i < 2 * SALVO_LCQ_SLOTS; i++)
		element[i] = make_element(2, FAR);
	for (i = 0; i < 2 * SALVO_LCQ_SLOTS && fetched == i; i++) {
		ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element[i]));
		fetched += !!fetch(self->lcq, &self->gcq, &self->now, 10);
	}
	ASSERT_EQ(SALVO_LCQ_SLOTS, fetched);
	EXPECT_TRUE(salvo_lcq_has_work(self->lcq, &self->gcq));

	/* Each slot that becomes free is filled again. */
	while (salvo_lcq_lwir(self->lcq)) {
		const struct salvo_gcq_chunk chunk = salvo_lcq_take(self->lcq, 0);

		items += salvo_lcq_done(self->lcq, &chunk);
		fetch(self->lcq, &self->gcq, &self->now, 10);
	}
	EXPECT_EQ(2 * (SALVO_LCQ_SLOTS + 1), items);
	EXPECT_EQ(0, self->lcq->used);
}

TEST_F(node, N8_large_chunk_follows_drain_rate_and_latency)
{
	struct salvo_element element = make_element(1u << 30, FAR);
	uint32_t slow, fast, distant, back;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	slow = converged_chunk(self->lcq, &self->gcq, &self->now, 1000, 10000);
	fast = converged_chunk(self->lcq, &self->gcq, &self->now, 500, 10000);
	distant = converged_chunk(self->lcq, &self->gcq, &self->now, 500, 20000);
	back = converged_chunk(self->lcq, &self->gcq, &self->now, 1000, 10000);
	/* Eight latencies: 80 us / 1 us, ... The moving average still includes older values. */
	EXPECT_GE(slow, 75);
	EXPECT_LE(slow, 85);
	EXPECT_GE(fast, 145);
	EXPECT_LE(fast, 165);
	EXPECT_GE(distant, 270);
	EXPECT_LE(distant, 330);
	EXPECT_GE(back, 75);
	EXPECT_LE(back, 120);
}

TEST_F(node, N8_history_is_not_spoilt_by_one_slow_fetch_nor_by_idleness)
{
	struct salvo_element element[2] = {
		make_element(1u << 16, FAR), make_element(1u << 16, FAR),
	};
	uint32_t before, after;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element[0]));
	before = converged_chunk(self->lcq, &self->gcq, &self->now, 1000, 10000);
	while (!fetch(self->lcq, &self->gcq, &self->now, 100000)) {
		const struct salvo_gcq_chunk chunk = salvo_lcq_take(self->lcq, 4);

		self->now += chunk.count * 1000;
		salvo_lcq_done(self->lcq, &chunk);
	}
	after = salvo_lcq_large(self->lcq);
	EXPECT_GT(after, before);
	EXPECT_LT(after, 3 * before);

	/* The queue is drained; more work comes much later. */
	before = converged_chunk(self->lcq, &self->gcq, &self->now, 1000, 10000);
	for (;;) {
		const struct salvo_gcq_chunk chunk = salvo_lcq_take(self->lcq, 1u << 20);

		self->now += chunk.count * 1000;
		if (chunk.count)
			salvo_lcq_done(self->lcq, &chunk);
		else if (!fetch(self->lcq, &self->gcq, &self->now, 10000))
			break;
	}
	self->now += 1000000000;
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element[1]));
	ASSERT_NE(0, fetch(self->lcq, &self->gcq, &self->now, 10000));
	EXPECT_GE(salvo_lcq_large(self->lcq), before / 2);
}

TEST_F(node, N8_global_queue_shrinks_the_chunk_by_what_remains)
{
	struct salvo_element element = make_element(80, FAR | 0xf);
	struct salvo_gcq_chunk chunk;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	/* Half of the share of 4 of the 8 units: 20 of 80, 15 of 60, 11 of 45. */
	chunk = salvo_gcq_take_large(&self->gcq, &self->lcq->taker, 1000);
	EXPECT_EQ(20, chunk.count);
	chunk = salvo_gcq_take_large(&self->gcq, &self->lcq->taker, 1000);
	EXPECT_EQ(15, chunk.count);
	chunk = salvo_gcq_take_large(&self->gcq, &self->lcq->taker, 1000);
	EXPECT_EQ(11, chunk.count);
	chunk = salvo_gcq_take_large(&self->gcq, &self->lcq->taker, 5);
	EXPECT_EQ(5, chunk.count);
	ASSERT_EQ(25, salvo_gcq_take(&self->gcq, &self->near[0], 25).count);
	/* But at least one for each unit, as long as there are any. */
	chunk = salvo_gcq_take_large(&self->gcq, &self->lcq->taker, 1000);
	EXPECT_EQ(4, chunk.count);
	EXPECT_EQ(0, salvo_gcq_wir(counters(&self->gcq, 0)));
}

TEST_F(node, N9_seen_drops_by_the_units_of_the_node_at_once)
{
	struct salvo_element element = make_element(10, FAR | 3);

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	EXPECT_EQ(6, salvo_gcq_seen(counters(&self->gcq, 0)));
	ASSERT_EQ(6, salvo_gcq_take(&self->gcq, &self->near[0], 6).count);
	ASSERT_EQ(4, fetch(self->lcq, &self->gcq, &self->now, 10));
	EXPECT_EQ(0, salvo_gcq_wir(counters(&self->gcq, 0)));
	EXPECT_EQ(2, salvo_gcq_seen(counters(&self->gcq, 0)));
	ASSERT_EQ(4, salvo_lcq_take(self->lcq, 4).count);
	EXPECT_EQ(0, fetch(self->lcq, &self->gcq, &self->now, 10));
	EXPECT_EQ(2, salvo_gcq_seen(counters(&self->gcq, 0)));
	EXPECT_EQ(0, salvo_gcq_take(&self->gcq, &self->near[0], 1).count);
	EXPECT_EQ(0, salvo_gcq_take(&self->gcq, &self->near[1], 1).count);
	EXPECT_EQ(0, counters(&self->gcq, 0));

	/* Also if no items are left when the node comes. */
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	ASSERT_EQ(10, salvo_gcq_take(&self->gcq, &self->near[0], 10).count);
	EXPECT_EQ(5, salvo_gcq_seen(counters(&self->gcq, 1)));
	EXPECT_EQ(0, fetch(self->lcq, &self->gcq, &self->now, 10));
	EXPECT_EQ(1, salvo_gcq_seen(counters(&self->gcq, 1)));
}

TEST_F(node, N9_one_report_tells_that_a_whole_large_chunk_is_done)
{
	struct salvo_element element = make_element(1000, FAR);
	struct salvo_gcq_chunk a, b, c;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	ASSERT_EQ(16, fetch(self->lcq, &self->gcq, &self->now, 10));
	a = salvo_lcq_take(self->lcq, 5);
	b = salvo_lcq_take(self->lcq, 5);
	EXPECT_EQ(0, salvo_lcq_done(self->lcq, &b));
	c = salvo_lcq_take(self->lcq, 6);
	EXPECT_EQ(0, salvo_lcq_done(self->lcq, &c));
	EXPECT_EQ(16, salvo_lcq_done(self->lcq, &a));
	EXPECT_EQ(0, self->lcq->used);
}

TEST_F(node, N10_100_items_7_approved_units_a_near_one_takes_10_a_far_node_40)
{
	struct salvo_element element = make_element(100, FAR | 7);
	struct salvo_gcq_chunk chunk;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	EXPECT_EQ(100, salvo_gcq_wir(counters(&self->gcq, 0)));
	EXPECT_EQ(7, salvo_gcq_seen(counters(&self->gcq, 0)));

	chunk = salvo_gcq_take(&self->gcq, &self->near[0], 10);
	EXPECT_EQ(10, chunk.count);
	EXPECT_EQ(90, salvo_gcq_wir(counters(&self->gcq, 0)));

	/* A node's large chunk is shared by its four units: 10 each. */
	chunk = salvo_gcq_take(&self->gcq, &self->lcq->taker, 40);
	EXPECT_EQ(10, chunk.first);
	EXPECT_EQ(40, chunk.count);
	EXPECT_EQ(50, salvo_gcq_wir(counters(&self->gcq, 0)));

	/* Units that are not approved get no items. */
	EXPECT_EQ(0, salvo_gcq_take(&self->gcq, &self->near[4], 10).count);
	EXPECT_EQ(50, salvo_gcq_wir(counters(&self->gcq, 0)));
	EXPECT_EQ(7, salvo_gcq_seen(counters(&self->gcq, 0)));
}

TEST_F(node, N10_16_items_in_chunks_of_4_leave_12_8_4_0)
{
	static const uint32_t rest[] = { 12, 8, 4, 0 };
	struct salvo_element element = make_element(1000, FAR);
	unsigned int i;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	ASSERT_EQ(16, fetch(self->lcq, &self->gcq, &self->now, 10));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(4, salvo_lcq_take(self->lcq, 4).count);
		EXPECT_EQ(rest[i], salvo_lcq_lwir(self->lcq));
	}
}

/* --- near units and far nodes at the same time, many seeds ------------------- */

#define UNITS		6u	/* two near, then two far nodes of two */
#define NODES		2u
#define ELEMENTS	300u
#define SEEDS		5u	/* or as many as SALVO_TEST_SEEDS says */

struct crowd {
	struct salvo_gcq gcq;
	struct salvo_lcq *lcq[NODES];
	struct salvo_element element[ELEMENTS];
	/*
	 * Sums over the items of each element: they detect any item that is taken twice or never.
	 */
	_Atomic uint64_t items[ELEMENTS];
	_Atomic uint64_t sum[ELEMENTS];
	_Atomic uint64_t square[ELEMENTS];
	_Atomic uint64_t wrong;
	_Atomic uint32_t left;
};

struct unit {
	struct crowd *crowd;
	unsigned int number;
	struct salvo_gcq_taker own;
};

static uint64_t sum_to(uint64_t n)
{
	return n % 2 ? n * ((n - 1) / 2) : n / 2 * (n - 1);
}

/* Sum of squares below n, modulo 2^64. */
static uint64_t squares_to(uint64_t n)
{
	unsigned __int128 product = (unsigned __int128)(n - 1) * n * (2 * n - 1);

	return (uint64_t)(product / 6);
}

static void account(struct crowd *crowd, struct salvo_lcq *lcq, unsigned int number,
		    const struct salvo_gcq_chunk *chunk)
{
	const struct salvo_element *element = chunk->element;
	const uint64_t end = (uint64_t)chunk->first + chunk->count, i = element->index;
	const uint32_t done = chunk->slot ? salvo_lcq_done(lcq, chunk) : chunk->count;

	if (!(element->apu_mask & (1ull << number)) || end > element->total)
		atomic_fetch_add(&crowd->wrong, 1);
	atomic_fetch_add(&crowd->sum[i], sum_to(end) - sum_to(chunk->first));
	atomic_fetch_add(&crowd->square[i], squares_to(end) - (chunk->first ?
							       squares_to(chunk->first) : 0));
	if (done && atomic_fetch_add(&crowd->items[i], done) + done == element->total)
		atomic_fetch_sub(&crowd->left, 1);
}

static uint64_t ticks(void *cookie)
{
	return __builtin_ia32_rdtsc();
}

static void *unit_main(void *arg)
{
	struct unit *unit = arg;
	struct crowd *crowd = unit->crowd;
	struct salvo_lcq *lcq = unit->number < 2 ? NULL : crowd->lcq[unit->number / 2 - 1];

	while (atomic_load(&crowd->left)) {
		struct salvo_gcq_chunk chunk =
			salvo_gcq_take_share(&crowd->gcq, &unit->own, ~0u, ~0u);

		if (chunk.count)
			account(crowd, lcq, unit->number, &chunk);
		if (!lcq)
			continue;
		if (salvo_lcq_begin(lcq, &crowd->gcq, ticks(NULL)))
			salvo_lcq_fetch(lcq, &crowd->gcq, ticks, NULL);
		chunk = salvo_lcq_take(lcq, 0);
		if (chunk.count)
			account(crowd, lcq, unit->number, &chunk);
		else
			sched_yield();
	}
	return NULL;
}

/* One to three dimensions, up to 2^31 items; huge ranges are rare, so that counting stays quick. */
static void random_range(struct salvo_element *element, unsigned int *seed)
{
	uint32_t size[3] = { 1, 1, 1 };
	const unsigned int dims = 1 + rand_r(seed) % 3;
	unsigned int d, bits = rand_r(seed) % 128 ? 12 : 31;

	for (d = 0; d < dims; d++) {
		const unsigned int own = d + 1 < dims ? rand_r(seed) % (bits + 1) : bits;

		size[d] = 1u << own;
		if (size[d] > 1)
			size[d] -= rand_r(seed) % (size[d] / 2);
		bits -= own;
	}
	salvo_element_set_range(element, size);
}

static void run_crowd(struct __test_metadata *_metadata, struct crowd *crowd, unsigned int seed)
{
	struct unit unit[UNITS];
	pthread_t thread[UNITS];
	unsigned int i;

	memset(crowd, 0, sizeof(*crowd));
	ASSERT_EQ(0, salvo_gcq_init(&crowd->gcq, 16, 1));
	for (i = 0; i < NODES; i++) {
		crowd->lcq[i] = aligned_alloc(64, sizeof(*crowd->lcq[i]));
		ASSERT_NE(NULL, crowd->lcq[i]);
		salvo_lcq_init(crowd->lcq[i], &crowd->gcq, 0xcull << 2 * i, 2);
	}
	for (i = 0; i < ELEMENTS; i++) {
		crowd->element[i].index = i;
		crowd->element[i].apu_mask = 1 + rand_r(&seed) % ((1u << UNITS) - 1);
		random_range(&crowd->element[i], &seed);
	}
	crowd->left = ELEMENTS;
	for (i = 0; i < UNITS; i++) {
		unit[i] = (struct unit){ .crowd = crowd, .number = i };
		salvo_gcq_join(&crowd->gcq, &unit[i].own, 1ull << i,
			       i < 2 ? 0 : 0xcull << (i / 2 - 1) * 2, 1);
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, unit_main, &unit[i]));
	}
	for (i = 0; i < ELEMENTS; i++)
		salvo_gcq_push(&crowd->gcq, &crowd->element[i]);
	for (i = 0; i < UNITS; i++)
		pthread_join(thread[i], NULL);

	EXPECT_EQ(0, crowd->wrong);
	for (i = 0; i < ELEMENTS; i++) {
		const uint64_t total = crowd->element[i].total;

		ASSERT_EQ(total, crowd->items[i]);
		ASSERT_EQ(sum_to(total), crowd->sum[i]);
		ASSERT_EQ(squares_to(total), crowd->square[i]);
	}
	for (i = 0; i < NODES; i++) {
		EXPECT_EQ(0, crowd->lcq[i]->used);
		EXPECT_EQ(0, crowd->lcq[i]->open);
		EXPECT_NE(0, crowd->lcq[i]->fetches);
		free(crowd->lcq[i]);
	}
	salvo_gcq_fini(&crowd->gcq);
}

TEST(N6_N9_near_units_and_far_nodes_together_take_every_item_once)
{
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	const char *seeds = getenv("SALVO_TEST_SEEDS");
	unsigned int seed;

	ASSERT_NE(NULL, crowd);
	for (seed = 1; seed <= (seeds ? (unsigned int)atoi(seeds) : SEEDS); seed++)
		run_crowd(_metadata, crowd, seed);
	free(crowd);
}

TEST_HARNESS_MAIN
