// SPDX-License-Identifier: MIT
/*
 * wake.c - when a unit that has work wakes another one for a part of it
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include "clock.h"
#include "element.h"
#include "item_times.h"
#include "kselftest_harness.h"
#include "salvo_gpu.h"
#include "worker_queue.h"

#define OTHER 2ull	/* the other unit, which sleeps */
/* What it takes to wake it: longer than this thread takes for a few items under a sanitizer */
#define WAKE_NS 1000000

FIXTURE(pair)
{
	struct salvo_queues queues;
	struct salvo_worker_queue queue;
	struct salvo_op_dispatch op;
	struct salvo_element element;
};

FIXTURE_SETUP(pair)
{
	struct salvo_topology topology;
	char why[SALVO_GPU_WHY];

	ASSERT_EQ(0, salvo_topology_parse(&topology, "2", why));
	ASSERT_EQ(0, salvo_queues_init(&self->queues, &topology, NULL));
	salvo_worker_queue_init(&self->queue, &self->queues, 0);
	self->queues.counts_waiters = true;
	self->queue.wake_ns = WAKE_NS;
	/* As if it polled: a push wakes none. */
	atomic_store(&self->queues.parking->polling, 1);
}

FIXTURE_TEARDOWN(pair)
{
	salvo_queues_fini(&self->queues);
}

static void push_items(FIXTURE_DATA(pair) *self, struct salvo_element *element, uint64_t kernel,
		       uint32_t items)
{
	const uint32_t size[3] = { items, 1, 1 };

	self->op.entry = kernel;
	memset(element, 0, sizeof(*element));
	element->kind = SALVO_ELEMENT_DISPATCH;
	element->op = &self->op;
	element->apu_mask = 3;
	element->prio = salvo_queues_prio(SALVO_PRIORITY_NORMAL);
	salvo_element_set_range(element, size);
	salvo_queues_push(&self->queues, element);
}

static void push(FIXTURE_DATA(pair) *self, struct salvo_element *element, uint64_t kernel)
{
	push_items(self, element, kernel, 16);
}

/* The unit takes a chunk, and wakes the other unit or not. */
static struct salvo_gcq_chunk take(FIXTURE_DATA(pair) *self, bool *woke)
{
	struct salvo_worker_events events;
	struct salvo_gcq_chunk chunk;

	salvo_parking_prepare_wait(self->queues.parking, 1);
	chunk = salvo_worker_queue_take(&self->queue, &events);
	salvo_worker_queue_wake_next(&self->queue, &chunk);
	*woke = !(atomic_load(&self->queues.parking->sleeping) & OTHER);
	return chunk;
}

static void spin(uint64_t ns)
{
	const uint64_t start = salvo_clock();

	while (salvo_clock() - start < ns)
		;
}

/*
 * The unit takes chunks until nothing is left of the entry, and runs them, @ns an item. Returns
 * whether it woke the other unit.
 */
static bool run(FIXTURE_DATA(pair) *self, uint64_t ns)
{
	struct salvo_gcq_chunk chunk;
	bool woke = false, now;

	do {
		chunk = take(self, &now);
		woke |= now;
		spin(ns * chunk.count);
	} while (chunk.left);
	return woke;
}

static void idle(FIXTURE_DATA(pair) *self)
{
	struct salvo_worker_events events;

	salvo_worker_queue_take(&self->queue, &events);
}

TEST_F(pair, a_unit_wakes_another_for_a_kernel_that_it_does_not_know)
{
	push(self, &self->element, 0x1000);
	EXPECT_TRUE(run(self, 0));
}

/* The unit may lose its core at any time, and then the kernel seems to be a long one. */
TEST_F(pair, a_unit_wakes_none_for_a_rest_that_it_has_soon_done)
{
	bool woke = true;
	unsigned int i;

	for (i = 0; i < 1000 && woke; i++) {
		push(self, &self->element, 0x1000);
		woke = run(self, 0);
		idle(self);
	}
	EXPECT_FALSE(woke);
}

/* Chunks of so few items are of one each. The first launch finds nothing in the caches. */
TEST_F(pair, a_unit_wakes_none_for_a_few_items_that_took_long_only_at_first)
{
	bool woke = true;
	unsigned int i;

	push_items(self, &self->element, 0x1000, 4);
	EXPECT_TRUE(run(self, 200000));
	idle(self);
	for (i = 0; i < 1000 && woke; i++) {
		push_items(self, &self->element, 0x1000, 4);
		woke = run(self, 0);
		idle(self);
	}
	EXPECT_FALSE(woke);
}

/* Kernels may wait for work-groups that the unit has left. */
TEST_F(pair, a_unit_does_not_work_alone_while_a_thread_sleeps_until_that_is_done)
{
	struct salvo_worker_events events;
	struct salvo_gcq_chunk chunk;
	unsigned int i;

	/* The thread sleeps first. */
	salvo_queues_begin_wait(&self->queues);
	for (i = 0; i < 10; i++) {
		push(self, &self->element, 0x1000);
		EXPECT_TRUE(run(self, 0));
		idle(self);
	}
	salvo_queues_end_wait(&self->queues);

	/* The unit is first. */
	for (i = 0; i < 1000; i++) {
		self->queue.wake_ns = WAKE_NS;
		push_items(self, &self->element, 0x1000, 64);
		salvo_parking_prepare_wait(self->queues.parking, 1);
		chunk = salvo_worker_queue_take(&self->queue, &events);
		salvo_worker_queue_wake_next(&self->queue, &chunk);
		if (chunk.left && atomic_load(&self->queues.parking->sleeping) & OTHER)
			break;
		run(self, 0);
		idle(self);
	}
	ASSERT_EQ(1, self->queues.alone);
	salvo_queues_begin_wait(&self->queues);
	EXPECT_EQ(0, atomic_load(&self->queues.parking->sleeping) & OTHER);
	salvo_queues_end_wait(&self->queues);
	run(self, 0);
	idle(self);
	EXPECT_EQ(0, self->queues.alone);
}

TEST_F(pair, a_unit_wakes_another_for_a_long_rest)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		push(self, &self->element, 0x1000);
		EXPECT_TRUE(run(self, 500000));
		idle(self);
	}
}

TEST_F(pair, a_unit_wakes_another_for_many_short_rests_without_a_pause)
{
	bool woke = false;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		push(self, &self->element, 0x1000);
		run(self, 0);
	}
	for (i = 0; i < 1000 && !woke; i++) {
		push(self, &self->element, 0x1000);
		woke = run(self, 1000);
	}
	EXPECT_TRUE(woke);
}

/* The first rest is nearly as long as what it takes to wake a unit, all rests together are not. */
TEST_F(pair, a_unit_that_works_alone_does_so_to_the_end_of_an_entry)
{
	bool woke = true;
	unsigned int i;

	for (i = 0; i < 1000 && woke; i++) {
		self->queue.wake_ns = WAKE_NS;
		self->queue.most = 1;
		push(self, &self->element, 0x1000);
		woke = run(self, WAKE_NS / 10);
		idle(self);
	}
	EXPECT_FALSE(woke);
}

/* It takes the waker no time to wake a unit, but that takes long to be awake. */
TEST_F(pair, a_unit_works_alone_while_another_would_not_be_awake)
{
	bool woke = true;
	unsigned int i;

	for (i = 0; i < 1000 && woke; i++) {
		idle(self);
		self->queue.sleeps = true;
		self->queue.wake_ns = 0;
		atomic_store(&self->queues.latency_ns, 2 * WAKE_NS);
		push(self, &self->element, 0x1000);
		woke = run(self, WAKE_NS / 10);
	}
	EXPECT_FALSE(woke);
	/* It pays for what comes next. */
	idle(self);
	push(self, &self->element, 0x1000);
	EXPECT_TRUE(run(self, WAKE_NS / 10));
}

TEST_F(pair, what_a_unit_takes_to_be_awake_is_measured)
{
	struct salvo_queues *queues = &self->queues;
	const struct timespec late = { .tv_nsec = 5000000 };

	push(self, &self->element, 0x1000);
	EXPECT_TRUE(run(self, 0));
	EXPECT_NE(0, atomic_load(&queues->waking_ns));
	nanosleep(&late, NULL);
	salvo_queues_note_awake(queues);
	EXPECT_EQ(100000, atomic_load(&queues->latency_ns));
	/* Not by a unit that nobody woke. */
	salvo_queues_note_awake(queues);
	EXPECT_EQ(100000, atomic_load(&queues->latency_ns));
}

/* The first of three items or so takes as if the others took longer than to wake a unit. */
TEST_F(pair, a_unit_does_not_expect_the_rest_to_be_as_slow_as_the_chunk_after_a_sleep)
{
	bool woke = true;
	unsigned int i;

	push(self, &self->element, 0x1000);
	run(self, 0);
	for (i = 0; i < 1000 && woke; i++) {
		idle(self);
		self->queue.sleeps = true;
		self->queue.wake_ns = WAKE_NS;
		push(self, &self->element, 0x1000);
		take(self, &woke);
		spin(10 * WAKE_NS);
		take(self, &woke);
		run(self, 0);
	}
	EXPECT_FALSE(woke);
	/* The one after a short pause counts. */
	idle(self);
	self->queue.wake_ns = WAKE_NS;
	push(self, &self->element, 0x1000);
	take(self, &woke);
	spin(10 * WAKE_NS);
	take(self, &woke);
	EXPECT_TRUE(woke);
}

TEST_F(pair, a_unit_wakes_another_for_an_entry_behind)
{
	struct salvo_element second;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		push(self, &self->element, 0x1000);
		run(self, 0);
		idle(self);
	}
	push(self, &self->element, 0x1000);
	push(self, &second, 0x1000);
	EXPECT_TRUE(run(self, 0));
}

static void sleep_all(FIXTURE_DATA(pair) *self)
{
	atomic_store(&self->queues.parking->polling, 0);
	salvo_parking_prepare_wait(self->queues.parking, 0);
	salvo_parking_prepare_wait(self->queues.parking, 1);
}

static uint64_t awake(const FIXTURE_DATA(pair) *self)
{
	return ~atomic_load(&self->queues.parking->sleeping) & 3;
}

TEST_F(pair, a_push_wakes_none_if_one_was_woken_in_advance)
{
	uint64_t first;

	sleep_all(self);
	salvo_queues_expect(&self->queues);
	first = awake(self);
	ASSERT_TRUE(first == 1 || first == 2);
	EXPECT_EQ(first, atomic_load(&self->queues.parking->polling));
	push(self, &self->element, 0x1000);
	EXPECT_EQ(first, awake(self));
	EXPECT_TRUE(salvo_parking_finish_wait(self->queues.parking, first - 1));
}

TEST_F(pair, units_that_wake_others_are_woken_together_for_some_time)
{
	unsigned int i;

	sleep_all(self);
	salvo_queues_note_wake(&self->queues);
	salvo_queues_expect(&self->queues);
	EXPECT_EQ(3, awake(self));
	EXPECT_EQ(3, atomic_load(&self->queues.parking->polling));
	for (i = 0; i < 1000 && awake(self) == 3; i++) {
		sleep_all(self);
		salvo_queues_expect(&self->queues);
	}
	EXPECT_NE(3, awake(self));
}

/* Which unit is woken in advance: 1, on the caller's core, or 2, on another one? */
static uint64_t expect(FIXTURE_DATA(pair) *self)
{
	sleep_all(self);
	salvo_queues_expect(&self->queues);
	return awake(self);
}

static void *note_wait(void *queues)
{
	salvo_queues_note_wait(queues);
	return NULL;
}

/* Unit 0 is on the core of this thread from now on. */
static bool share_core(FIXTURE_DATA(pair) *self)
{
	const int own = sched_getcpu();
	cpu_set_t cores;

	CPU_ZERO(&cores);
	CPU_SET(own, &cores);
	self->queues.core[0] = own;
	self->queues.core[1] = own + 1;
	return !sched_setaffinity(0, sizeof(cores), &cores);
}

/* Which unit is woken in advance once the thread has waited at once? It may lose its core. */
static uint64_t expect_after_wait(FIXTURE_DATA(pair) *self)
{
	uint64_t woken = 2;
	unsigned int i;

	for (i = 0; i < 1000 && woken == 2; i++) {
		salvo_queues_note_wait(&self->queues);
		woken = expect(self);
	}
	return woken;
}

TEST_F(pair, who_waits_at_once_wakes_the_unit_on_its_own_core)
{
	const struct timespec late = { .tv_nsec = 5000000 };
	pthread_t other;

	ASSERT_TRUE(share_core(self));
	EXPECT_EQ(2, expect(self));
	EXPECT_EQ(2, expect(self));
	nanosleep(&late, NULL);
	salvo_queues_note_wait(&self->queues);
	EXPECT_EQ(2, expect(self));
	/* Another thread's wait tells nothing. */
	ASSERT_EQ(0, pthread_create(&other, NULL, note_wait, &self->queues));
	pthread_join(other, NULL);
	EXPECT_EQ(2, expect(self));
	EXPECT_EQ(1, expect_after_wait(self));
	/* It did not wait the last time. */
	EXPECT_EQ(2, expect(self));
}

/* The unit does not poll for long while the core is in demand. */
TEST_F(pair, a_push_wakes_the_unit_on_its_own_core_again)
{
	ASSERT_TRUE(share_core(self));
	ASSERT_EQ(1, expect_after_wait(self));
	sleep_all(self);
	push(self, &self->element, 0x1000);
	EXPECT_EQ(1, awake(self));

	/* From another thread, as a unit pushes what depends on its work, the other one. */
	atomic_store(&self->queues.expecter, 1);
	sleep_all(self);
	push(self, &self->element, 0x1000);
	EXPECT_EQ(2, awake(self));
}

TEST(times_of_items_follow_the_longest_at_once_and_the_shorter_by_half)
{
	struct salvo_item_times times = { 0 };
	uint64_t kernel;

	EXPECT_EQ(UINT64_MAX, salvo_item_times_expect(&times, 0, 1));
	EXPECT_EQ(UINT64_MAX, salvo_item_times_expect(&times, 0x1000, 1));
	salvo_item_times_add(&times, 0x1000, 10, 500);
	EXPECT_EQ(200, salvo_item_times_expect(&times, 0x1000, 4));
	salvo_item_times_add(&times, 0x1000, 10, 1000);
	EXPECT_EQ(400, salvo_item_times_expect(&times, 0x1000, 4));
	salvo_item_times_add(&times, 0x1000, 10, 500);
	EXPECT_EQ(300, salvo_item_times_expect(&times, 0x1000, 4));
	EXPECT_EQ(UINT64_MAX, salvo_item_times_expect(&times, 0x1010, 1));

	/* Hours do not wrap around. */
	salvo_item_times_add(&times, 0x1000, 1, 1ull << 43);
	EXPECT_LT(1ull << 50, salvo_item_times_expect(&times, 0x1000, UINT32_MAX));

	/* More kernels than places: none is taken for another. */
	for (kernel = 16; kernel <= 16 * 1000; kernel += 16)
		salvo_item_times_add(&times, kernel, 1, kernel);
	for (kernel = 16; kernel <= 16 * 1000; kernel += 16) {
		const uint64_t expected = salvo_item_times_expect(&times, kernel, 1);

		EXPECT_TRUE(expected == kernel || expected == UINT64_MAX);
	}
	EXPECT_EQ(16 * 1000, salvo_item_times_expect(&times, 16 * 1000, 1));
}

TEST_HARNESS_MAIN
