// SPDX-License-Identifier: MIT
/*
 * queue.c - work elements and the global command queue (N1 to N5 of CN102792271)
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "aligned.h"
#include "element.h"
#include "gcq.h"
#include "kselftest_harness.h"

static struct salvo_element make_element(uint32_t x, uint32_t y, uint32_t z, uint64_t mask)
{
	const uint32_t size[3] = { x, y, z };
	struct salvo_element element = { .apu_mask = mask };

	salvo_element_set_range(&element, size);
	return element;
}

TEST(N1_element_numbers_a_range_x_fastest_then_y_then_z)
{
	const struct salvo_element element = make_element(5, 3, 2, 1);
	uint32_t x, y, z, item = 0, position[3];

	ASSERT_EQ(30, element.total);
	for (z = 0; z < 2; z++)
		for (y = 0; y < 3; y++)
			for (x = 0; x < 5; x++, item++) {
				salvo_element_position(&element, item, position);
				ASSERT_EQ(x, position[0]);
				ASSERT_EQ(y, position[1]);
				ASSERT_EQ(z, position[2]);
			}
}

TEST(N2_item_22_of_a_4x4x2_range_is_z_1_y_1_x_2)
{
	const struct salvo_element element = make_element(4, 4, 2, 1);
	uint32_t position[3];

	salvo_element_position(&element, 22, position);
	EXPECT_EQ(1, position[2]);
	EXPECT_EQ(1, position[1]);
	EXPECT_EQ(2, position[0]);
}

TEST(N2_large_ranges_do_not_wrap)
{
	const struct salvo_element element = make_element(1u << 16, 1u << 15, 1, 1);
	uint32_t position[3];

	ASSERT_EQ(1u << 31, element.total);
	salvo_element_position(&element, (1u << 31) - 1, position);
	EXPECT_EQ((1u << 16) - 1, position[0]);
	EXPECT_EQ((1u << 15) - 1, position[1]);
	EXPECT_EQ(0, position[2]);
}

TEST(N2_last_item_of_a_ragged_range_has_only_the_operands_that_exist)
{
	EXPECT_EQ(4, salvo_element_extent(10, 4, 0));
	EXPECT_EQ(4, salvo_element_extent(10, 4, 1));
	EXPECT_EQ(2, salvo_element_extent(10, 4, 2));
	EXPECT_EQ(1, salvo_element_extent(1, 4, 0));
	EXPECT_EQ(3, salvo_element_extent((1u << 31), 5, (1u << 31) / 5));
}

FIXTURE(gcq)
{
	struct salvo_gcq gcq;
	struct salvo_gcq_taker taker[4];
};

FIXTURE_SETUP(gcq)
{
	unsigned int i;

	ASSERT_EQ(0, salvo_gcq_init(&self->gcq, 8, 1));
	for (i = 0; i < 4; i++)
		salvo_gcq_join(&self->gcq, &self->taker[i], 1ull << i, 0, 1);
}

FIXTURE_TEARDOWN(gcq)
{
	salvo_gcq_fini(&self->gcq);
}

static struct salvo_gcq_chunk take(struct salvo_gcq *gcq, struct salvo_gcq_taker *takers,
				   unsigned int unit, uint32_t chunk)
{
	return salvo_gcq_take(gcq, &takers[unit], chunk);
}

/* The counters of the n-th entry that was pushed. */
static uint64_t counters(const struct salvo_gcq *gcq, unsigned int n)
{
	return gcq->entries[n % gcq->size].counters;
}

TEST_F(gcq, N3_entry_has_element_wir_seen_and_mask)
{
	struct salvo_element element = make_element(4, 5, 1, 0xd);

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	EXPECT_EQ(20, salvo_gcq_wir(counters(&self->gcq, 0)));
	EXPECT_EQ(3, salvo_gcq_seen(counters(&self->gcq, 0)));
	EXPECT_EQ(0xd, self->gcq.entries[0].apu_mask);
	EXPECT_EQ(&element, self->gcq.entries[0].element);
	EXPECT_EQ(64, sizeof(self->gcq.entries[0]));
}

TEST(N3_elements_of_one_item_side_by_side_make_a_run)
{
	struct salvo_element element[6], *head;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		element[i] = make_element(1, 1, 1, 0x3);
		element[i].coalesced = 1;
	}
	/* In ascending order, as a job starts, and descending, as consumers are released. */
	EXPECT_EQ(NULL, salvo_element_coalesce(NULL, &element[2]));
	EXPECT_EQ(&element[2], salvo_element_coalesce(&element[2], &element[3]));
	EXPECT_EQ(&element[1], salvo_element_coalesce(&element[2], &element[1]));
	EXPECT_EQ(3, salvo_element_entry_items(&element[1]));
	head = &element[1];
	EXPECT_EQ(NULL, salvo_element_coalesce(head, &element[5]));
	element[4].apu_mask = 0x1;
	EXPECT_EQ(NULL, salvo_element_coalesce(head, &element[4]));
	element[4] = make_element(2, 1, 1, 0x3);
	element[4].coalesced = 1;
	EXPECT_EQ(NULL, salvo_element_coalesce(head, &element[4]));
	EXPECT_EQ(NULL, salvo_element_coalesce(&element[4], &element[5]));
	EXPECT_EQ(3, salvo_element_entry_items(head));
	EXPECT_EQ(2, salvo_element_entry_items(&element[4]));
	EXPECT_EQ(64, offsetof(struct salvo_element, producers));
}

TEST_F(gcq, N4_items_of_a_run_are_its_elements)
{
	struct salvo_element run[40], plain = make_element(40, 1, 1, 0x1);
	struct salvo_gcq_chunk chunk;
	unsigned int i;

	for (i = 0; i < 40; i++) {
		run[i] = make_element(1, 1, 1, 0x1);
		run[i].coalesced = 1;
	}
	for (i = 1; i < 40; i++)
		ASSERT_EQ(&run[0], salvo_element_coalesce(&run[0], &run[i]));
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &run[0]));
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &plain));
	EXPECT_EQ(40, salvo_gcq_wir(counters(&self->gcq, 0)));

	/* A unit takes fewer coalesced elements than other items. */
	for (i = 0; i < 40; i += chunk.count) {
		chunk = salvo_gcq_take_share(&self->gcq, &self->taker[0], 1000, 2);
		ASSERT_EQ(&run[0], chunk.element);
		ASSERT_EQ(i, chunk.first);
		ASSERT_EQ(i < 38 ? 2 : 1, chunk.count);
	}
	chunk = salvo_gcq_take_share(&self->gcq, &self->taker[0], 1000, 2);
	EXPECT_EQ(&plain, chunk.element);
	EXPECT_EQ(11, chunk.count);
}

TEST_F(gcq, N4_short_items_are_taken_in_larger_parts_of_their_entry)
{
	struct salvo_element first = make_element(40, 1, 1, 0x1);
	struct salvo_element second = make_element(40, 1, 1, 0x1);
	struct salvo_gcq_taker *taker = &self->taker[0];
	struct salvo_gcq_chunk chunk;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &first));
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &second));
	chunk = salvo_gcq_take_share(&self->gcq, taker, 1000, 1);
	EXPECT_EQ(11, chunk.count);

	taker->least = 25;
	taker->least_at = chunk.position;
	chunk = salvo_gcq_take_share(&self->gcq, taker, 1000, 1);
	EXPECT_EQ(25, chunk.count);
	EXPECT_EQ(11, chunk.first);
	chunk = salvo_gcq_take_share(&self->gcq, taker, 1000, 1);
	EXPECT_EQ(4, chunk.count);

	/* Items of another entry may be long. */
	chunk = salvo_gcq_take_share(&self->gcq, taker, 1000, 1);
	EXPECT_EQ(&second, chunk.element);
	EXPECT_EQ(11, chunk.count);
	/* The most still holds. */
	taker->least_at = chunk.position;
	EXPECT_EQ(5, salvo_gcq_take_share(&self->gcq, taker, 5, 1).count);
}

TEST_F(gcq, N4_unit_takes_min_of_chunk_and_rest)
{
	static const uint32_t rest[] = { 12, 8, 4, 0 };
	struct salvo_element element = make_element(16, 1, 1, 1);
	struct salvo_gcq_chunk chunk;
	unsigned int i;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	for (i = 0; i < 4; i++) {
		chunk = take(&self->gcq, self->taker, 0, 4);
		EXPECT_EQ(&element, chunk.element);
		EXPECT_EQ(4 * i, chunk.first);
		EXPECT_EQ(4, chunk.count);
		EXPECT_EQ(rest[i], salvo_gcq_wir(counters(&self->gcq, 0)));
	}
	EXPECT_EQ(0, take(&self->gcq, self->taker, 0, 4).count);

	element = make_element(7, 1, 1, 1);
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	EXPECT_EQ(5, take(&self->gcq, self->taker, 0, 5).count);
	chunk = take(&self->gcq, self->taker, 0, 5);
	EXPECT_EQ(2, chunk.count);
	EXPECT_EQ(5, chunk.first);
}

/* Units that find the work of their last launch again find its data in their caches. */
TEST_F(gcq, N4_halves_of_the_units_take_from_both_ends)
{
	/* All units, three of them, and one, which takes from the front, whichever it is. */
	static const struct {
		uint64_t mask;
		unsigned int unit;
		uint32_t chunk, first;
	} takes[] = {
		{ 0xf, 0, 8, 0 }, { 0xf, 3, 7, 33 }, { 0xf, 1, 6, 8 }, { 0xf, 2, 5, 28 },
		{ 0xf, 2, 4, 24 }, { 0xf, 0, 3, 14 }, { 0xf, 3, 40, 17 },
		{ 0xe, 1, 10, 0 }, { 0xe, 2, 5, 10 }, { 0xe, 3, 5, 35 }, { 0xe, 2, 40, 15 },
		{ 0x8, 3, 20, 0 }, { 0x8, 3, 20, 20 },
	};
	struct salvo_element element;
	struct salvo_gcq_chunk chunk;
	unsigned int i, j;

	for (i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		if (!i || takes[i].mask != takes[i - 1].mask) {
			/* All pass the entry before. */
			for (j = 0; i && j < 4; j++)
				ASSERT_EQ(0, take(&self->gcq, self->taker, j, 1).count);
			element = make_element(40, 1, 1, takes[i].mask);
			ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
		}
		chunk = take(&self->gcq, self->taker, takes[i].unit, takes[i].chunk);
		EXPECT_EQ(takes[i].first, chunk.first)
			TH_LOG("take %u", i);
		if (takes[i].chunk < 40)
			EXPECT_EQ(takes[i].chunk, chunk.count);
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, take(&self->gcq, self->taker, i, 1).count);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, counters(&self->gcq, i));
}

TEST_F(gcq, N4_very_many_items_are_taken_from_the_front)
{
	/* The counters have room for 65,535 items taken from the front. */
	static const uint32_t sizes[] = { 65535, 65536, 4000000000u };
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct salvo_element element = make_element(sizes[i], 1, 1, 0x3);
		struct salvo_gcq_chunk chunk;

		ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
		chunk = take(&self->gcq, self->taker, 0, sizes[i] - 3);
		EXPECT_EQ(0, chunk.first);
		EXPECT_EQ(sizes[i] - 3, chunk.count);
		EXPECT_EQ(3, salvo_gcq_wir(counters(&self->gcq, i)));
		EXPECT_EQ(2, salvo_gcq_seen(counters(&self->gcq, i)));
		chunk = take(&self->gcq, self->taker, 1, 1);
		EXPECT_EQ(i ? sizes[i] - 3 : sizes[i] - 1, chunk.first);
		EXPECT_EQ(2, take(&self->gcq, self->taker, 0, 9).count);
		EXPECT_EQ(0, take(&self->gcq, self->taker, 1, 1).count);
		EXPECT_EQ(0, counters(&self->gcq, i));
	}
}

TEST_F(gcq, N4_unit_goes_on_past_an_entry_it_is_not_approved_for)
{
	struct salvo_element first = make_element(3, 1, 1, 0x2);
	struct salvo_element second = make_element(3, 1, 1, 0x3);
	struct salvo_gcq_chunk chunk;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &first));
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &second));
	chunk = take(&self->gcq, self->taker, 0, 8);
	EXPECT_EQ(&second, chunk.element);
	EXPECT_EQ(3, salvo_gcq_wir(counters(&self->gcq, 0)));
	EXPECT_EQ(1, salvo_gcq_seen(counters(&self->gcq, 0)));
	chunk = take(&self->gcq, self->taker, 1, 8);
	EXPECT_EQ(&first, chunk.element);
}

TEST_F(gcq, N5_each_approved_unit_decrements_seen_once)
{
	struct salvo_element element = make_element(2, 1, 1, 0x7);
	unsigned int i;

	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element));
	EXPECT_EQ(1, take(&self->gcq, self->taker, 0, 1).count);
	EXPECT_EQ(3, salvo_gcq_seen(counters(&self->gcq, 0)));
	EXPECT_EQ(1, take(&self->gcq, self->taker, 1, 1).count);
	EXPECT_EQ(2, salvo_gcq_seen(counters(&self->gcq, 0)));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, take(&self->gcq, self->taker, 0, 1).count);
	EXPECT_EQ(1, salvo_gcq_seen(counters(&self->gcq, 0)));
	EXPECT_EQ(0, take(&self->gcq, self->taker, 3, 1).count);
	EXPECT_EQ(1, salvo_gcq_seen(counters(&self->gcq, 0)));
	EXPECT_EQ(0, take(&self->gcq, self->taker, 2, 1).count);
	EXPECT_EQ(0, counters(&self->gcq, 0));
}

TEST_F(gcq, N5_entry_is_reused_only_when_all_have_seen_it)
{
	struct salvo_element element[12];
	struct salvo_gcq_chunk chunk;
	unsigned int i;

	for (i = 0; i < 12; i++)
		element[i] = make_element(1, 1, 1, 0x3);
	for (i = 0; i < 8; i++)
		ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element[i]));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(&element[i], take(&self->gcq, self->taker, 0, 1).element);

	/* Unit 1 has passed no entry: no element can enter the queue. */
	ASSERT_FALSE(salvo_gcq_push(&self->gcq, &element[8]));
	ASSERT_FALSE(salvo_gcq_push(&self->gcq, &element[9]));
	EXPECT_EQ(0, take(&self->gcq, self->taker, 0, 1).count);

	/* It passes all eight; the waiting elements enter in order. */
	chunk = take(&self->gcq, self->taker, 1, 1);
	EXPECT_EQ(&element[8], chunk.element);
	chunk = take(&self->gcq, self->taker, 0, 1);
	EXPECT_EQ(&element[9], chunk.element);
	EXPECT_EQ(0, self->gcq.waiting);
	EXPECT_TRUE(salvo_gcq_push(&self->gcq, &element[10]));
}

TEST_F(gcq, N5_unit_that_is_not_approved_may_lag_by_laps)
{
	struct salvo_element element[100];
	unsigned int i;

	for (i = 0; i < 100; i++) {
		element[i] = make_element(1, 1, 1, 0x1);
		ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element[i]));
		ASSERT_EQ(&element[i], take(&self->gcq, self->taker, 0, 1).element);
	}
	element[0] = make_element(1, 1, 1, 0x2);
	ASSERT_TRUE(salvo_gcq_push(&self->gcq, &element[0]));
	EXPECT_TRUE(salvo_gcq_has_entry(&self->gcq, &self->taker[1]));
	EXPECT_EQ(&element[0], take(&self->gcq, self->taker, 1, 1).element);
	EXPECT_EQ(0, take(&self->gcq, self->taker, 1, 1).count);
	EXPECT_FALSE(salvo_gcq_has_entry(&self->gcq, &self->taker[1]));
}

#define STRESS_UNITS	4
#define STRESS_ELEMENTS	20000u

struct stress {
	struct salvo_gcq gcq;
	struct salvo_element *elements;
	struct salvo_gcq_taker taker[STRESS_UNITS];
	_Atomic uint32_t *runs;		/* of each item */
	_Atomic uint64_t wrong;
	_Atomic uint64_t items;
	uint64_t all_items;
};

struct stress_unit {
	struct stress *stress;
	unsigned int number;
};

#define STRESS_WIDTH 8u

static void *stress_unit(void *arg)
{
	const struct stress_unit *unit = arg;
	struct stress *s = unit->stress;

	while (atomic_load(&s->items) < s->all_items) {
		const struct salvo_gcq_chunk chunk =
			take(&s->gcq, s->taker, unit->number, 1 + unit->number % 3);
		uint32_t i;

		if (chunk.count && !(chunk.element->apu_mask & (1ull << unit->number)))
			atomic_fetch_add(&s->wrong, 1);
		for (i = 0; i < chunk.count; i++)
			atomic_fetch_add(&s->runs[chunk.element->index * STRESS_WIDTH +
						  chunk.first + i], 1);
		atomic_fetch_add(&s->items, chunk.count);
		if (!chunk.count)
			sched_yield();
	}
	/* Passes the remaining entries, so that none stays in use. */
	while (take(&s->gcq, s->taker, unit->number, 1).count)
		atomic_fetch_add(&s->wrong, 1);
	return NULL;
}

TEST(N4_N5_under_contention_every_item_is_taken_once)
{
	struct stress_unit unit[STRESS_UNITS];
	pthread_t thread[STRESS_UNITS];
	struct stress s = { 0 };
	unsigned int i, j, seed = 1;

	ASSERT_EQ(0, salvo_gcq_init(&s.gcq, 16, 1));
	s.elements = aligned_zalloc(STRESS_ELEMENTS, sizeof(s.elements[0]));
	s.runs = calloc(STRESS_ELEMENTS * STRESS_WIDTH, sizeof(s.runs[0]));
	ASSERT_TRUE(s.elements && s.runs);
	for (i = 0; i < STRESS_ELEMENTS; i++) {
		s.elements[i] = make_element(1 + rand_r(&seed) % STRESS_WIDTH, 1, 1,
					     1 + rand_r(&seed) % 15);
		s.elements[i].index = i;
		s.all_items += s.elements[i].total;
	}
	for (i = 0; i < STRESS_UNITS; i++)
		salvo_gcq_join(&s.gcq, &s.taker[i], 1ull << i, 0, 1);
	for (i = 0; i < STRESS_UNITS; i++) {
		unit[i] = (struct stress_unit) { &s, i };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, stress_unit, &unit[i]));
	}
	for (i = 0; i < STRESS_ELEMENTS; i++)
		salvo_gcq_push(&s.gcq, &s.elements[i]);
	for (i = 0; i < STRESS_UNITS; i++)
		pthread_join(thread[i], NULL);

	EXPECT_EQ(0, s.wrong);
	EXPECT_EQ(s.all_items, s.items);
	for (i = 0; i < STRESS_ELEMENTS; i++)
		for (j = 0; j < STRESS_WIDTH; j++)
			ASSERT_EQ(j < s.elements[i].total, s.runs[i * STRESS_WIDTH + j]);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(0, s.gcq.entries[i].counters);
	salvo_gcq_fini(&s.gcq);
	free(s.elements);
	free(s.runs);
}

TEST_HARNESS_MAIN
