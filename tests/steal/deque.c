// SPDX-License-Identifier: MIT
/* deque.c - the double-ended queue: one owner at the bottom, thieves at the top */
#include <pthread.h>
#include <sched.h>

#include "kselftest_harness.h"
#include "deque.h"
#include "steal_test.h"

#define TASKS	200000
#define THIEVES	3

FIXTURE(deque) {
	struct salvo_deque deque;
	struct salvo_task *tasks;
};

FIXTURE_SETUP(deque)
{
	ASSERT_EQ(0, salvo_deque_init(&self->deque, 4));
	self->tasks = calloc(TASKS, sizeof(self->tasks[0]));
	ASSERT_NE(NULL, self->tasks);
}

FIXTURE_TEARDOWN(deque)
{
	salvo_deque_fini(&self->deque);
	free(self->tasks);
}

TEST_F(deque, W1_owner_takes_the_newest_and_a_thief_the_oldest)
{
	bool lost = false;
	int i;

	EXPECT_TRUE(salvo_deque_seems_empty(&self->deque));
	EXPECT_EQ(NULL, salvo_deque_take(&self->deque));
	EXPECT_EQ(NULL, salvo_deque_steal(&self->deque, &lost));
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(salvo_deque_push(&self->deque, &self->tasks[i]));
	EXPECT_FALSE(salvo_deque_seems_empty(&self->deque));
	EXPECT_EQ(&self->tasks[2], salvo_deque_take(&self->deque));
	EXPECT_EQ(&self->tasks[0], salvo_deque_steal(&self->deque, &lost));
	EXPECT_EQ(&self->tasks[1], salvo_deque_take(&self->deque));
	EXPECT_EQ(NULL, salvo_deque_take(&self->deque));
	EXPECT_EQ(NULL, salvo_deque_steal(&self->deque, &lost));
	EXPECT_FALSE(lost);
	EXPECT_TRUE(salvo_deque_seems_empty(&self->deque));
}

TEST_F(deque, W1_full_deque_grows_and_keeps_its_order)
{
	bool lost = false;
	int i, oldest = 0;

	/* The places in the ring wrap around before it grows, at 4 and at 8 tasks. */
	for (i = 0; i < 1000; i++) {
		ASSERT_TRUE(salvo_deque_push(&self->deque, &self->tasks[i]));
		if (i % 3 == 2)
			ASSERT_EQ(&self->tasks[oldest++], salvo_deque_steal(&self->deque, &lost));
	}
	for (i = 999; i >= oldest; i--)
		ASSERT_EQ(&self->tasks[i], salvo_deque_take(&self->deque));
	EXPECT_EQ(NULL, salvo_deque_take(&self->deque));
}

struct thief {
	struct salvo_deque *deque;
	_Atomic bool *stop;
	pthread_t thread;
	/* The last task that it stole, and whether one came that was older. */
	struct salvo_task *last;
	bool in_order;
};

static void *steal(void *arg)
{
	struct thief *thief = arg;

	while (!atomic_load(thief->stop)) {
		bool lost = false;
		struct salvo_task *task = salvo_deque_steal(thief->deque, &lost);

		if (!task) {
			sched_yield();
			continue;
		}
		if (task <= thief->last)
			thief->in_order = false;
		thief->last = task;
		/* Not atomic: a race if two had the same task. */
		task->result++;
	}
	return NULL;
}

/* The owner pushes in bursts and takes some back, so that both often want the last task. */
TEST_F(deque, W1_every_task_is_taken_once_by_the_owner_or_one_of_the_thieves)
{
	struct thief thieves[THIEVES];
	_Atomic bool stop = false;
	uint64_t random = 1;
	int i, pushed = 0;

	for (i = 0; i < THIEVES; i++) {
		thieves[i] = (struct thief){ .deque = &self->deque, .stop = &stop,
					      .in_order = true };
		ASSERT_EQ(0, pthread_create(&thieves[i].thread, NULL, steal, &thieves[i]));
	}
	while (pushed < TASKS) {
		int burst = next_number(&random) % 8, back = next_number(&random) % 8;

		for (; burst && pushed < TASKS; burst--)
			ASSERT_TRUE(salvo_deque_push(&self->deque, &self->tasks[pushed++]));
		for (; back; back--) {
			struct salvo_task *task = salvo_deque_take(&self->deque);

			if (task)
				task->result++;
		}
	}
	while (!salvo_deque_seems_empty(&self->deque))
		sched_yield();
	atomic_store(&stop, true);
	for (i = 0; i < THIEVES; i++) {
		pthread_join(thieves[i].thread, NULL);
		EXPECT_TRUE(thieves[i].in_order);
	}
	for (i = 0; i < TASKS; i++)
		ASSERT_EQ(1, self->tasks[i].result);
}

TEST_HARNESS_MAIN
