// SPDX-License-Identifier: MIT
/*
 * nodes.c - contexts, masks and priorities on units in near and far nodes
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"
#include "element.h"
#include "gpu.h"
#include "kselftest_harness.h"
#include "lcq.h"
#include "rig.h"
#include "worker_queue.h"
#include "yield.h"

#define SPANS	(1u << 16)
/* Long enough that only a broken GPU reaches the limit */
#define LONG_SPIN (1u << 29)

FIXTURE(units)
{
	struct rig *rig;
	struct salvo_gpu_recording recording;
	uint64_t *data;
	uint64_t *gpu_data;	/* the same on the GPU */
};

FIXTURE_VARIANT(units)
{
	const char *topology;
};

FIXTURE_VARIANT_ADD(units, two_far_units) { .topology = "1+1,far=0,far=1" };
FIXTURE_VARIANT_ADD(units, near_and_far) { .topology = "2x4,far=1:2000ns" };
FIXTURE_VARIANT_ADD(units, three_nodes) { .topology = "1+2x2,far=1,far=2:20us" };

FIXTURE_SETUP(units)
{
	self->rig = rig_create_nodes(variant->topology);
	self->data = (void *)self->rig->data;
	self->gpu_data = (void *)(uintptr_t)self->rig->data_address;
	self->recording.spans = calloc(SPANS, sizeof(*self->recording.spans));
	ASSERT_NE(NULL, self->recording.spans);
	self->recording.capacity = SPANS;
	salvo_gpu_record(self->rig->gpu, &self->recording);
}

FIXTURE_TEARDOWN(units)
{
	rig_destroy(self->rig);
	free(self->recording.spans);
}

struct mark_args {
	uint32_t *out;
	uint64_t pad;
};

/* Counts each item in its own word. */
RIG_KERNEL static void mark(RIG_KERNEL_ARGS)
{
	const struct mark_args *a = args;
	uint64_t x, y, z;

	for (z = 0; z < group->extent[2]; z++)
		for (y = 0; y < group->extent[1]; y++)
			for (x = 0; x < group->extent[0]; x++) {
				const uint64_t gx = group->group_id[0] * group->local_size[0] + x;
				const uint64_t gy = group->group_id[1] * group->local_size[1] + y;
				const uint64_t gz = group->group_id[2] * group->local_size[2] + z;

				__atomic_fetch_add(a->out + (gz * group->global_size[1] + gy) *
						   group->global_size[0] + gx, 1, __ATOMIC_RELAXED);
			}
}

#define COMMANDS	12u
#define ITEMS		6000u	/* at most, of a command; one more word stays 0 */

struct work {
	struct drm_salvo_command commands[COMMANDS];
	struct mark_args args[COMMANDS];
	uint32_t items[COMMANDS];
	uint32_t groups[COMMANDS];
};

static void random_work(struct rig *rig, struct work *work, unsigned int *seed)
{
	unsigned int c, d;

	for (c = 0; c < COMMANDS; c++) {
		struct drm_salvo_command *command = &work->commands[c];
		uint32_t most = ITEMS;

		work->args[c].out = (uint32_t *)(uintptr_t)rig->data_address + c * (ITEMS + 1);
		*command = rig_dispatch(rig, mark, 1, 1, c * sizeof(work->args[0]),
					sizeof(work->args[0]));
		command->dims = 1 + rand_r(seed) % 3;
		work->items[c] = 1;
		work->groups[c] = 1;
		for (d = 0; d < command->dims; d++) {
			const uint32_t items = 1 + rand_r(seed) % (d + 1 < command->dims ?
								   most < 30 ? most : 30 : most);

			command->items[d] = items;
			command->group[d] = 1 + rand_r(seed) % 5;
			work->items[c] *= items;
			work->groups[c] *= (items - 1) / command->group[d] + 1;
			most /= items;
		}
		command->eu_mask = rand_r(seed) & rig->gpu->queues.all;
		if (rand_r(seed) % 3 == 0)
			command->eu_mask &= rig->gpu->queues.topology.node[0].units;
	}
}

TEST_F(units, N2_N4_every_item_runs_once_on_units_of_its_mask)
{
	struct rig *rig = self->rig;
	uint32_t *out = (uint32_t *)self->data;
	uint32_t ran[COMMANDS], c, i, seed;
	struct work work;

	for (seed = 1; seed <= 30; seed++) {
		unsigned int state = seed;

		random_work(rig, &work, &state);
		memset(out, 0, COMMANDS * (ITEMS + 1) * sizeof(*out));
		memset(ran, 0, sizeof(ran));
		self->recording.next = 0;
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, work.commands, COMMANDS, work.args,
						     sizeof(work.args)));
		for (c = 0; c < COMMANDS; c++) {
			for (i = 0; i < work.items[c]; i++)
				ASSERT_EQ(1, out[c * (ITEMS + 1) + i]);
			ASSERT_EQ(0, out[c * (ITEMS + 1) + i]);
		}
		ASSERT_LT(self->recording.next, SPANS);
		for (i = 0; i < self->recording.next; i++) {
			const struct salvo_gpu_span *span = &self->recording.spans[i];
			const uint64_t mask = work.commands[span->command].eu_mask;

			ASSERT_TRUE(!mask || mask & (1ull << span->unit))
				TH_LOG("unit %u, mask %llx", span->unit, (unsigned long long)mask);
			ran[span->command] += span->count;
		}
		for (c = 0; c < COMMANDS; c++)
			ASSERT_EQ(work.groups[c], ran[c]);
	}
}

static bool on_units(const struct salvo_gpu_recording *recording, uint32_t command, uint64_t mask)
{
	uint32_t i, found = 0;

	for (i = 0; i < recording->next; i++) {
		if (recording->spans[i].command != command)
			continue;
		if (!(mask & (1ull << recording->spans[i].unit)))
			return false;
		found++;
	}
	return found;
}

/* Masks of the ring entry, the packet and the dispatch; copies and fills use the packet's. */
TEST_F(units, N3_masks_of_context_batch_and_dispatch_hold_together)
{
	const uint64_t all = self->rig->gpu->queues.all;
	const struct mark_args args = { (void *)self->gpu_data, 0 };
	struct rig *rig = self->rig;
	unsigned int state = 3, i;

	for (i = 0; i < 40; i++) {
		/* Each mask is a subset of the one before; 0 means all of that one. */
		const uint64_t entry_mask = i % 4 ? rand_r(&state) & all : 0;
		const uint64_t context = entry_mask ? entry_mask : all;
		const uint64_t packet_mask = i % 3 ? rand_r(&state) & context : 0;
		const uint64_t batch = packet_mask ? packet_mask : context;
		struct drm_salvo_command commands[3] = {
			{ .type = DRM_SALVO_FILL, .dst = rig->data_address + (1 << 20),
			  .size = 1 << 20 },
			{ .type = DRM_SALVO_COPY, .dst = rig->data_address + (2 << 20),
			  .src = rig->data_address + (3 << 20), .size = 1 << 20 },
			rig_dispatch(rig, mark, 3000, 1, 0, sizeof(args)),
		};
		const struct salvo_batch_desc desc = {
			.commands = commands, .count = 3, .args = &args, .args_size = sizeof(args),
		};
		struct salvo_op_setup_state *setup;
		struct salvo_ring_entry entry;

		commands[2].eu_mask = rand_r(&state) & batch;
		entry = rig_next_entry(rig, 1, rig_pack(rig, 1, &desc));
		setup = (void *)((struct salvo_packet *)rig_next_packet(rig) + 1);
		ASSERT_EQ(SALVO_OP_SETUP_STATE, setup->op.code);
		setup->eu_mask = packet_mask;
		entry.eu_mask = entry_mask;
		self->recording.next = 0;
		rig_push(rig, &entry);
		rig_ring(rig);
		ASSERT_TRUE(rig_wait(rig, entry.seqno));
		ASSERT_EQ(SALVO_STATUS_DONE, rig_result(rig, entry.seqno)->status);
		ASSERT_LT(self->recording.next, SPANS);
		EXPECT_TRUE(on_units(&self->recording, 0, batch));
		EXPECT_TRUE(on_units(&self->recording, 1, batch));
		EXPECT_TRUE(on_units(&self->recording, 2, commands[2].eu_mask ?: batch));
	}
}

TEST_F(units, N6_a_far_node_works_through_its_local_queue)
{
	const struct salvo_queues *queues = &self->rig->gpu->queues;
	const struct mark_args args = { (void *)self->gpu_data, 0 };
	struct drm_salvo_command command =
		rig_dispatch(self->rig, mark, 100000, 1, 0, sizeof(args));
	unsigned int node, i;

	for (node = 0; node < queues->topology.nodes; node++) {
		const struct salvo_lcq *lcq = queues->prio[1].lcq[node];
		const uint64_t units = queues->topology.node[node].units;

		ASSERT_EQ(queues->topology.node[node].far, lcq != NULL);
		if (!lcq)
			continue;
		command.eu_mask = units;
		self->recording.next = 0;
		ASSERT_EQ(0, lcq->fetches);
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, &command, 1, &args, sizeof(args)));
		EXPECT_NE(0, lcq->fetches);
		/* A fetch brings work for many chunks. */
		EXPECT_LT(lcq->fetches, self->recording.next);
		for (i = 0; i < self->recording.next && i < SPANS; i++)
			ASSERT_NE(0, units & (1ull << self->recording.spans[i].unit));
	}
}

TEST(unit_of_a_far_node_sees_what_other_nodes_could_run)
{
	const uint32_t size[3] = { 1, 1, 1 };
	struct salvo_element element[2];
	struct salvo_topology topology;
	struct salvo_queues queues;
	struct salvo_worker_events events;
	struct salvo_worker_queue queue;
	char why[SALVO_GPU_WHY];
	unsigned int i;

	ASSERT_EQ(0, salvo_topology_parse(&topology, "1+1,far=0,far=1", why));
	ASSERT_EQ(0, salvo_queues_init(&queues, &topology, NULL));
	salvo_worker_queue_init(&queue, &queues, 1);
	for (i = 0; i < 2; i++) {
		memset(&element[i], 0, sizeof(element[i]));
		element[i].apu_mask = 3;
		element[i].prio = salvo_queues_prio(SALVO_PRIORITY_NORMAL);
		salvo_element_set_range(&element[i], size);
		salvo_queues_push(&queues, &element[i]);
	}
	EXPECT_EQ(&element[0], salvo_worker_queue_take(&queue, &events).element);
	EXPECT_TRUE(events.fetched);
	EXPECT_EQ(1, salvo_worker_queue_others(&queue, 1));
	EXPECT_EQ(&element[1], salvo_worker_queue_take(&queue, &events).element);
	EXPECT_EQ(0, salvo_worker_queue_others(&queue, 1));
	EXPECT_TRUE(salvo_worker_queue_may_sleep(&queue));
	salvo_queues_fini(&queues);
}

TEST(work_for_a_node_and_for_one_of_its_units_take_turns)
{
	const uint32_t size[3] = { 1000, 1, 1 };
	struct salvo_element element[2];
	struct salvo_topology topology;
	struct salvo_queues queues;
	struct salvo_worker_events events;
	struct salvo_worker_queue queue;
	char why[SALVO_GPU_WHY];
	unsigned int i, seen = 0;

	ASSERT_EQ(0, salvo_topology_parse(&topology, "2,far=0", why));
	ASSERT_EQ(0, salvo_queues_init(&queues, &topology, NULL));
	salvo_worker_queue_init(&queue, &queues, 0);
	for (i = 0; i < 2; i++) {
		memset(&element[i], 0, sizeof(element[i]));
		element[i].index = i;
		element[i].apu_mask = i ? 1 : 3;
		element[i].prio = salvo_queues_prio(SALVO_PRIORITY_NORMAL);
		salvo_element_set_range(&element[i], size);
		salvo_queues_push(&queues, &element[i]);
	}
	for (i = 0; i < 2; i++)
		seen |= 1u << salvo_worker_queue_take(&queue, &events).element->index;
	EXPECT_EQ(3, seen);
	salvo_queues_fini(&queues);
}

struct gate_args {
	uint64_t *arrived;
	uint64_t *count;
	const uint64_t *open;
	uint64_t limit;
};

/* The first group waits until the gate is open; each group counts itself. */
RIG_KERNEL static void gate(RIG_KERNEL_ARGS)
{
	const struct gate_args *a = args;
	uint64_t i;

	__atomic_store_n(a->arrived, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < a->limit && !__atomic_load_n(a->open, __ATOMIC_SEQ_CST); i++)
		__builtin_ia32_pause();
	__atomic_fetch_add(a->count, 1, __ATOMIC_SEQ_CST);
}

static void await(const uint64_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
		sched_yield();
}

TEST_F(units, batches_of_several_contexts_share_the_units)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	/* Each batch opens the gate of the other. */
	const struct gate_args args[2] = {
		{ &g[0], &g[24], &g[8], LONG_SPIN }, { &g[8], &g[32], &g[0], LONG_SPIN },
	};
	unsigned int i;
	uint64_t seqno;

	for (i = 0; i < 2; i++) {
		const struct drm_salvo_command command = rig_dispatch(rig, gate, 1, 1, 0,
								      sizeof(args[0]));
		const struct salvo_batch_desc batch = {
			.commands = &command, .count = 1, .args = &args[i],
			.args_size = sizeof(args[0]),
		};

		seqno = rig_submit(rig, 1 + i, &batch);
	}
	ASSERT_TRUE(rig_wait(rig, seqno));
	ASSERT_EQ(2, self->recording.next);
	EXPECT_NE(self->recording.spans[0].unit, self->recording.spans[1].unit);
	/* They ran at the same time. */
	EXPECT_LT(self->recording.spans[0].started, self->recording.spans[1].ended);
	EXPECT_LT(self->recording.spans[1].started, self->recording.spans[0].ended);
}

static uint64_t submit(struct rig *rig, uint32_t ctx, int32_t priority, uint32_t groups,
		       const struct gate_args *args)
{
	struct drm_salvo_command command = rig_dispatch(rig, gate, groups, 1, 0, sizeof(*args));
	const struct salvo_batch_desc batch = {
		.commands = &command, .count = 1, .args = args, .args_size = sizeof(*args),
	};
	struct salvo_ring_entry entry = rig_next_entry(rig, ctx, rig_pack(rig, ctx, &batch));

	entry.priority = priority;
	rig_push(rig, &entry);
	rig_ring(rig);
	return entry.seqno;
}

#define GROUPS 4096u

/* With one unit the execution order is that of the queues. */
FIXTURE(unit)
{
	struct rig *rig;
	struct salvo_gpu_recording recording;
	uint64_t *data;
	uint64_t *gpu_data;
};

FIXTURE_SETUP(unit)
{
	self->rig = rig_create(1);
	self->data = (void *)self->rig->data;
	self->gpu_data = (void *)(uintptr_t)self->rig->data_address;
	self->recording.spans = calloc(SPANS, sizeof(*self->recording.spans));
	ASSERT_NE(NULL, self->recording.spans);
	self->recording.capacity = SPANS;
	salvo_gpu_record(self->rig->gpu, &self->recording);
}

FIXTURE_TEARDOWN(unit)
{
	rig_destroy(self->rig);
	free(self->recording.spans);
}

/* Which of two contexts ends first, if the second is submitted while the first runs? */
static uint64_t first_to_end(struct __test_metadata *_metadata, FIXTURE_DATA(unit) *self,
			     int32_t first, int32_t second)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data, seqno[2], ended[2] = { 0 };
	const struct gate_args args[2] = {
		{ &g[0], &g[8], &g[16], LONG_SPIN }, { &g[24], &g[32], &g[16], LONG_SPIN },
	};
	uint32_t i;

	memset(self->data, 0, 4096);
	self->recording.next = 0;
	seqno[0] = submit(rig, 1, first, GROUPS, &args[0]);
	await(&self->data[0]);
	seqno[1] = submit(rig, 2, second, 16, &args[1]);
	__atomic_store_n(&self->data[16], 1, __ATOMIC_SEQ_CST);
	EXPECT_TRUE(rig_wait(rig, seqno[1]));
	EXPECT_EQ(GROUPS, self->data[8]);
	EXPECT_EQ(16, self->data[32]);
	for (i = 0; i < self->recording.next; i++) {
		const struct salvo_gpu_span *span = &self->recording.spans[i];
		const unsigned int which = span->seqno == seqno[1];

		if (span->ended > ended[which])
			ended[which] = span->ended;
	}
	return ended[0] < ended[1] ? seqno[0] : seqno[1];
}

TEST_F(unit, higher_priority_pre_empts_at_the_end_of_a_chunk)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		const uint64_t seqno = self->rig->seqno;

		EXPECT_EQ(seqno + 2, first_to_end(_metadata, self, SALVO_PRIORITY_LOW,
						  SALVO_PRIORITY_NORMAL));
		EXPECT_EQ(seqno + 4, first_to_end(_metadata, self, SALVO_PRIORITY_NORMAL,
						  SALVO_PRIORITY_HIGH));
		EXPECT_EQ(seqno + 5, first_to_end(_metadata, self, SALVO_PRIORITY_NORMAL,
						  SALVO_PRIORITY_NORMAL));
		EXPECT_EQ(seqno + 7, first_to_end(_metadata, self, SALVO_PRIORITY_HIGH,
						  SALVO_PRIORITY_LOW));
	}
}

TEST_F(unit, priorities_start_in_their_order)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data, seqno[4];
	const struct gate_args args = { &g[0], &g[8], &g[16], LONG_SPIN };
	unsigned int i;

	/* The unit is busy, so what is submitted now must wait. */
	seqno[0] = submit(rig, 1, SALVO_PRIORITY_LOW, 1, &args);
	await(&self->data[0]);
	seqno[1] = submit(rig, 2, SALVO_PRIORITY_LOW, 1, &args);
	seqno[2] = submit(rig, 3, SALVO_PRIORITY_NORMAL, 1, &args);
	seqno[3] = submit(rig, 4, SALVO_PRIORITY_HIGH, 1, &args);
	__atomic_store_n(&self->data[16], 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(rig_wait(rig, seqno[3]));
	ASSERT_EQ(4, self->recording.next);
	for (i = 1; i < 4; i++)
		EXPECT_EQ(seqno[4 - i], self->recording.spans[i].seqno);
}

struct burn_args {
	uint64_t ticks;
	uint64_t pad;
};

RIG_KERNEL static void burn(RIG_KERNEL_ARGS)
{
	const struct burn_args *a = args;
	const uint64_t start = __builtin_ia32_rdtsc();

	while (__builtin_ia32_rdtsc() - start < a->ticks)
		__builtin_ia32_pause();
}

/* The first chunk, before there is an estimate, may be long; later ones may not. */
TEST_F(unit, long_work_groups_make_short_chunks_and_short_ones_long)
{
	const struct burn_args args[2] = { { 6000000, 0 }, { 1, 0 } };
	struct drm_salvo_command command = rig_dispatch(self->rig, burn, 60, 1, 0, sizeof(args[0]));
	uint32_t i;

	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, &command, 1, args, sizeof(args)));
	ASSERT_GT(self->recording.next, 20);
	for (i = 1; i < self->recording.next; i++)
		EXPECT_LE(self->recording.spans[i].count, 2);

	/* The estimate adapts back to short items. */
	self->recording.next = 0;
	command.items[0] = 100000;
	command.args_offset = sizeof(args[0]);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, &command, 1, args, sizeof(args)));
	EXPECT_LT(self->recording.next, 1000);
}

/* Chunks that a unit alone takes of @items if it knows nothing of their time */
static unsigned int shares_of(unsigned int items)
{
	unsigned int chunks = 0;

	for (; items; items -= 1 + items / 4 < items ? 1 + items / 4 : items)
		chunks++;
	return chunks;
}

/* A unit may lose its core in any chunk, so one success in many tries is enough. */
TEST_F(unit, shortest_work_groups_are_taken_many_at_a_time)
{
	const struct burn_args args = { 1, 0 };
	const struct drm_salvo_command command = rig_dispatch(self->rig, burn, 4096, 1, 0,
							      sizeof(args));
	const unsigned int shares = shares_of(4096);
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		self->recording.next = 0;
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, &command, 1, &args, sizeof(args)));
		if (self->recording.next < shares)
			break;
	}
	EXPECT_LT(self->recording.next, shares);
}

/*
 * The next batch of a frame finds the units polling; later they sleep. A unit may lose its core at
 * any time, and where other programs compute it does not poll for up to SALVO_CROWDED_MAX_NS: one
 * success in many such periods is enough.
 */
TEST_F(unit, units_look_for_more_for_a_while_and_then_sleep)
{
	struct rig *rig = self->rig;
	const struct burn_args args = { 1, 0 };
	const struct drm_salvo_command command = rig_dispatch(rig, burn, 1, 1, 0, sizeof(args));
	const struct salvo_parking *parking = rig->gpu->queues.parking;
	const uint64_t end = salvo_clock() + 20ull * SALVO_CROWDED_MAX_NS;
	unsigned int looked = 0, slept = 0, i;

	while (!(looked && slept) && salvo_clock() < end) {
		uint64_t since;

		/* The pause before has made it look for less time. */
		for (i = 0; i < 5; i++)
			ASSERT_EQ(SALVO_STATUS_DONE,
				  rig_run(rig, &command, 1, &args, sizeof(args)));
		for (since = salvo_clock(); salvo_clock() - since < 20000;)
			;
		looked += atomic_load(&parking->polling) == 1;
		usleep(2000);
		slept += !atomic_load(&parking->polling) && atomic_load(&parking->sleeping) == 1;
	}
	EXPECT_NE(0, looked);
	EXPECT_NE(0, slept);
}

/* Where each batch comes after a long pause, there is nothing to look for after it. */
TEST_F(unit, units_that_find_nothing_look_for_less_time)
{
	struct rig *rig = self->rig;
	const struct burn_args args = { 1, 0 };
	const struct drm_salvo_command command = rig_dispatch(rig, burn, 1, 1, 0, sizeof(args));
	const struct salvo_parking *parking = rig->gpu->queues.parking;
	unsigned int looked = 60, round, i;

	/* Where other programs take the core, a unit may be held up while it looks. */
	for (round = 0; round < 10 && looked >= 30; round++) {
		looked = 0;
		for (i = 0; i < 60; i++) {
			uint64_t since;

			usleep(2000);
			ASSERT_EQ(SALVO_STATUS_DONE,
				  rig_run(rig, &command, 1, &args, sizeof(args)));
			/* A unit on this core looks as soon as it gets that. */
			for (since = salvo_clock(); salvo_clock() - since < 25000;)
				sched_yield();
			looked += atomic_load(&parking->polling) == 1;
		}
	}
	EXPECT_GT(30, looked);
}

/* The unit leaves its core to who waits, and goes on when that waits again: it wakes no other. */
TEST_F(unit, unit_whose_core_the_waiter_keeps_is_relied_on)
{
	struct rig *rig = self->rig;
	const struct burn_args args = { 1, 0 };
	const struct drm_salvo_command command = rig_dispatch(rig, burn, 1, 1, 0, sizeof(args));
	const struct salvo_parking *parking = rig->gpu->queues.parking;
	const uint64_t end = salvo_clock() + 20ull * SALVO_CROWDED_MAX_NS;
	unsigned int polling = 0;
	cpu_set_t before, core;

	CPU_ZERO(&core);
	CPU_SET(rig->gpu->queues.core[0], &core);
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(before), &before));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(core), &core));
	/* Where other programs want the core it does not poll. */
	while (polling < 30 && salvo_clock() < end) {
		uint64_t since;

		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
		for (since = salvo_clock(); salvo_clock() - since < 100000;)
			;
		polling += atomic_load(&parking->polling) == 1;
	}
	sched_setaffinity(0, sizeof(before), &before);
	EXPECT_EQ(30, polling);
}

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000ull + used.tv_nsec;
}

TEST_F(units, idle_gpu_uses_no_cpu)
{
	const struct timespec second = { .tv_sec = 1 };
	const struct mark_args args = { (void *)self->gpu_data, 0 };
	const struct drm_salvo_command command = rig_dispatch(self->rig, mark, 64, 1, 0,
							      sizeof(args));
	uint64_t before;

	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(self->rig, &command, 1, &args, sizeof(args)));
	/* Units poll for a while after the batch, and may have to wait for a core to do so. */
	do {
		before = cpu_ns();
		usleep(10000);
	} while (cpu_ns() - before > 100000);
	before = cpu_ns();
	nanosleep(&second, NULL);
	EXPECT_LT(cpu_ns() - before, 2000000);
}

TEST_HARNESS_MAIN
