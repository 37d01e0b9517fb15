// SPDX-License-Identifier: MIT
/*
 * handoff.c - a litmus test of the hand-off: what the worker stored before the doorbell, the kernel
 * sees, and what the kernel stored, the worker sees when the doorbell is 0
 *
 * Two threads hand tasks to a unit each, as fast as they can and after pauses in which the units
 * sleep. Neither side has a locked instruction to hide a missing order. SALVO_ROUNDS says how many.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_test.h"
#include "salvo_slot.h"

#define THREADS	2

struct side {
	struct bench *b;
	struct salvo_slot *slot;
	struct salvo_kernel *kernel;
	pthread_t thread;
	uint32_t index, rounds;
	uint32_t wrong;
};

/* Words 0 and 1 of the side are its own; the kernel stores the value in the first. */
static void *hand_over(void *cookie)
{
	struct side *s = cookie;
	volatile uint32_t *word = &s->b->map[s->index * 64];
	uint32_t i, polls;

	for (i = 1; i <= s->rounds && !s->wrong; i++) {
		salvo_kernel_set_value(s->kernel, 2, &i, sizeof(i));
		s->wrong += salvo_slot_start(s->slot, s->kernel) != 0;
		for (polls = 0; salvo_slot_poll(s->slot) == -EBUSY; polls++)
			if (polls > 200)
				sched_yield();
		s->wrong += salvo_slot_poll(s->slot) != 0 || salvo_slot_completion(s->slot) != 1 ||
			    *word != i;
		if (!(i % 512))
			usleep(i % 7 * 40);
	}
	return NULL;
}

FIXTURE(handoff) {
	struct bench b;
};

FIXTURE_SETUP(handoff)
{
	setenv("SALVO_TOPOLOGY", "2", 1);
	ASSERT_EQ(0, bench_open(&self->b));
}

FIXTURE_TEARDOWN(handoff)
{
	bench_close(&self->b);
}

TEST_F_TIMEOUT(handoff, plain_loads_and_stores_hand_tasks_over, 200)
{
	struct side sides[THREADS];
	const uint32_t one = 1;
	uint32_t i;

	for (i = 0; i < THREADS; i++) {
		const uint32_t index = i * 64;

		sides[i] = (struct side){
			.b = &self->b, .index = i,
			.rounds = getenv("SALVO_ROUNDS") ? strtoul(getenv("SALVO_ROUNDS"), NULL, 0) : 5000,
			.kernel = bench_kernel(&self->b, "store"),
		};
		salvo_kernel_set_bo(sides[i].kernel, 0, self->b.bo, 0);
		salvo_kernel_set_value(sides[i].kernel, 1, &index, sizeof(index));
		salvo_kernel_set_grid(sides[i].kernel, 1, &one, NULL);
		ASSERT_EQ(0, salvo_slot_attach(self->b.queue, 1 << i, NULL, NULL,
					       &sides[i].slot));
	}
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&sides[i].thread, NULL, hand_over, &sides[i]));
	for (i = 0; i < THREADS; i++) {
		pthread_join(sides[i].thread, NULL);
		EXPECT_EQ(0, sides[i].wrong);
		EXPECT_EQ(sides[i].rounds, self->b.map[i * 64]);
		salvo_slot_detach(sides[i].slot);
		salvo_kernel_destroy(sides[i].kernel);
	}
}

TEST_HARNESS_MAIN
