// SPDX-License-Identifier: MIT
/*
 * batch.c - batches on the GPU: order, overlap, completion, copies, profile
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kselftest_harness.h"
#include "rig.h"

/* So long that only a GPU that does not do what it should waits to the end. */
#define LONG_SPIN (1u << 29)

FIXTURE(gpu)
{
	struct rig *rig;
	uint64_t *data;
	uint64_t *gpu_data;	/* the same on the GPU */
};

FIXTURE_SETUP(gpu)
{
	self->rig = rig_create(0);
	self->data = (void *)self->rig->data;
	self->gpu_data = (void *)(uintptr_t)self->rig->data_address;
}

FIXTURE_TEARDOWN(gpu)
{
	rig_destroy(self->rig);
}

struct meet_args {
	uint64_t *mine;
	uint64_t *other;
	uint64_t *met;
	uint64_t limit;
};

/* Says that it is here and waits for the other. */
RIG_KERNEL static void meet(RIG_KERNEL_ARGS)
{
	const struct meet_args *a = args;
	uint64_t i;

	__atomic_store_n(a->mine, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < a->limit; i++) {
		if (__atomic_load_n(a->other, __ATOMIC_SEQ_CST)) {
			*a->met = 1;
			return;
		}
		__builtin_ia32_pause();
	}
}

/* Waits until the CPU, or another kernel, opens the gate. */
RIG_KERNEL static void gate(RIG_KERNEL_ARGS)
{
	const struct meet_args *a = args;
	uint64_t i;

	__atomic_store_n(a->mine, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < a->limit && !__atomic_load_n(a->other, __ATOMIC_SEQ_CST); i++)
		__builtin_ia32_pause();
	*a->met = 1;
}

static void await(const uint64_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
		sched_yield();
}

static void set(uint64_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
}

TEST_F(gpu, B2_two_dispatches_of_a_batch_run_at_once)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args[2] = {
		{ &g[0], &g[8], &g[16], LONG_SPIN }, { &g[8], &g[0], &g[17], LONG_SPIN },
	};
	const struct drm_salvo_command commands[2] = {
		rig_dispatch(rig, meet, 1, 1, 0, sizeof(args[0])),
		rig_dispatch(rig, meet, 1, 1, sizeof(args[0]), sizeof(args[0])),
	};

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, commands, 2, args, sizeof(args)));
	EXPECT_EQ(1, self->data[16]);
	EXPECT_EQ(1, self->data[17]);
}

TEST_F(gpu, B5_fence_is_held_until_every_command_is_done)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command commands[2] = {
		{ .type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[8], .size = 8, .pattern = 1 },
		rig_dispatch(rig, gate, 1, 1, 0, sizeof(args)),
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 2, .args = &args, .args_size = sizeof(args),
	};
	const uint64_t seqno = rig_submit(rig, 1, &batch);

	await(&self->data[8]);
	await(&self->data[0]);
	EXPECT_EQ(seqno - 1, rig_fence(rig, 0));
	EXPECT_EQ(SALVO_STATUS_PENDING, rig_result(rig, seqno)->status);
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(1, self->data[2]);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno)->status);
}

TEST_F(gpu, B6_one_interrupt_for_a_batch_of_33)
{
	struct rig *rig = self->rig;
	struct drm_salvo_command commands[33];
	const uint32_t before = rig->fence_irqs;
	uint32_t i;

	for (i = 0; i < 33; i++)
		commands[i] = (struct drm_salvo_command) {
			.type = DRM_SALVO_FILL, .dst = rig->data_address + 64 * i, .size = 64,
			.pattern = i,
		};
	for (i = 0; i < 10; i++)
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, commands, 33, NULL, 0));
	/* The units have ended: nothing can come late. */
	rig_stop(rig);
	EXPECT_EQ(before + 10, rig->fence_irqs);
	EXPECT_EQ(0, rig->fault_irqs);
}

TEST_F(gpu, B11_fences_retire_in_the_order_of_the_ring)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args));
	const struct drm_salvo_command quick = {
		.type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[8], .size = 8, .pattern = 1,
	};
	const struct salvo_batch_desc first = {
		.commands = &slow, .count = 1, .args = &args, .args_size = sizeof(args),
	}, second = { .commands = &quick, .count = 1 };
	uint64_t seqno[2];

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	seqno[0] = rig_submit(rig, 1, &first);
	seqno[1] = rig_submit(rig, 2, &second);
	EXPECT_EQ(seqno[0] + 1, seqno[1]);

	/* The second context's batch overlaps, and its fence waits. */
	await(&self->data[8]);
	EXPECT_EQ(seqno[0] - 1, rig_fence(rig, 0));
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno[1]));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno[0])->status);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno[1])->status);
}

TEST_F(gpu, B11_batches_of_one_context_run_one_after_the_other)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args));
	const struct drm_salvo_command copy = {
		.type = DRM_SALVO_COPY, .dst = (uintptr_t)&g[8], .src = (uintptr_t)&g[2], .size = 8,
	}, other = { .type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[16], .size = 8, .pattern = 1 };
	const struct salvo_batch_desc first = {
		.commands = &slow, .count = 1, .args = &args, .args_size = sizeof(args),
	}, second = { .commands = &copy, .count = 1 }, third = { .commands = &other, .count = 1 };
	uint64_t seqno;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	rig_submit(rig, 1, &first);
	seqno = rig_submit(rig, 1, &second);
	seqno = rig_submit(rig, 2, &third);
	await(&self->data[16]);
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(1, self->data[8]);
}

TEST_F(gpu, sleeping_unit_is_woken_while_the_others_are_busy)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args));
	const struct drm_salvo_command quick = {
		.type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[8], .size = 8, .pattern = 1,
	};
	const struct salvo_batch_desc first = {
		.commands = &slow, .count = 1, .args = &args, .args_size = sizeof(args),
	}, second = { .commands = &quick, .count = 1 };
	uint64_t seqno;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	rig_submit(rig, 1, &first);
	await(&self->data[0]);
	/* Far longer than a unit looks for work before it sleeps. */
	usleep(50000);
	seqno = rig_submit(rig, 2, &second);
	await(&self->data[8]);
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
}

/* --- random graphs -------------------------------------------------------------- */

#define GRAPHS		10000u
#define IN_FLIGHT	16u
#define NODES		24u
#define WORDS		4u	/* of a node's result */
#define MAX_INPUTS	4u

struct node_args {
	uint64_t *out;
	uint64_t salt;
	uint64_t inputs;
	const uint64_t *input[MAX_INPUTS];
	uint64_t pad;
};

static inline __attribute__((always_inline)) uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

static inline __attribute__((always_inline)) uint64_t node_word(const struct node_args *a,
								 uint64_t word)
{
	uint64_t value = mix(a->salt + word), i, j;

	for (i = 0; i < a->inputs; i++)
		for (j = 0; j < WORDS; j++)
			value = mix(value ^ a->input[i][j]);
	return value;
}

RIG_KERNEL static void node(RIG_KERNEL_ARGS)
{
	const struct node_args *a = args;
	const uint64_t first = group->group_id[0] * group->local_size[0];
	uint64_t i;

	for (i = first; i < first + group->extent[0]; i++)
		a->out[i] = node_word(a, i);
}

struct graph {
	struct drm_salvo_command commands[4 * NODES];
	struct node_args args[NODES];
	uint64_t expected[NODES][WORDS];
	uint32_t command_of[NODES];
	uint32_t count;
	uint64_t seqno;
};

/* Which nodes a new node may read without a pair: those before the last ALL. */
static void add_node(struct rig *rig, struct graph *graph, uint32_t n, uint32_t settled,
		     uint64_t area, unsigned int *seed)
{
	struct node_args *args = &graph->args[n], host;
	const uint32_t self = graph->count;
	struct drm_salvo_command *command = &graph->commands[graph->count++];
	uint32_t inputs = n ? rand_r(seed) % (MAX_INPUTS + 1) : 0, i;
	const bool copy = inputs == 1 && rand_r(seed) % 2;

	memset(args, 0, sizeof(*args));
	args->out = (void *)(uintptr_t)(rig->data_address + area + n * WORDS * 8);
	args->salt = (uint64_t)rand_r(seed) << 32 | rand_r(seed);
	args->inputs = inputs;
	host = *args;
	graph->command_of[n] = self;
	for (i = 0; i < inputs; i++) {
		const uint32_t from = rand_r(seed) % n;

		args->input[i] = (void *)(uintptr_t)(rig->data_address + area + from * WORDS * 8);
		host.input[i] = graph->expected[from];
		if (from >= settled)
			graph->commands[graph->count++] = rig_pair(self, graph->command_of[from]);
	}
	for (i = 0; i < WORDS; i++)
		graph->expected[n][i] = copy ? host.input[0][i] : node_word(&host, i);
	if (copy)
		*command = (struct drm_salvo_command) {
			.type = DRM_SALVO_COPY, .dst = (uintptr_t)args->out,
			.src = (uintptr_t)args->input[0], .size = WORDS * 8,
		};
	else
		*command = rig_dispatch(rig, node, WORDS, 1 + rand_r(seed) % WORDS,
					n * sizeof(*args), sizeof(*args));
}

static void make_graph(struct rig *rig, struct graph *graph, uint64_t area, unsigned int *seed)
{
	const uint32_t nodes = 2 + rand_r(seed) % (NODES - 2);
	uint32_t n, settled = 0;

	graph->count = 0;
	for (n = 0; n < nodes; n++) {
		if (rand_r(seed) % 8 == 0) {
			graph->commands[graph->count++] = rig_all();
			settled = n;
		}
		add_node(rig, graph, n, settled, area, seed);
	}
	memset(rig->data + area, 0, NODES * WORDS * 8);
	memset(graph->expected[nodes], 0, (NODES - nodes) * WORDS * 8);
}

TEST_F(gpu, B3_10000_random_graphs_give_what_the_host_computes)
{
	struct graph *graphs = calloc(IN_FLIGHT, sizeof(*graphs));
	struct rig *rig = self->rig;
	unsigned int seed = 42;
	uint32_t i, j;

	ASSERT_NE(NULL, graphs);
	for (i = 0; i < GRAPHS; i += IN_FLIGHT) {
		for (j = 0; j < IN_FLIGHT; j++) {
			struct graph *graph = &graphs[j];
			struct salvo_batch_desc batch = {
				.commands = graph->commands,
				.args = graph->args, .args_size = sizeof(graph->args),
			};

			make_graph(rig, graph, j * 4096, &seed);
			batch.count = graph->count;
			graph->seqno = rig_submit(rig, 1 + j % 5, &batch);
		}
		for (j = 0; j < IN_FLIGHT; j++) {
			ASSERT_TRUE(rig_wait(rig, graphs[j].seqno));
			ASSERT_EQ(SALVO_STATUS_DONE, rig_result(rig, graphs[j].seqno)->status);
			ASSERT_EQ(0, memcmp(rig->data + j * 4096, graphs[j].expected,
					    sizeof(graphs[j].expected)));
		}
	}
	free(graphs);
}

TEST_F(gpu, B3_consumer_waits_for_its_producer_only)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command commands[] = {
		/* Written first, though the producers stand behind it. */
		rig_pair(3, 1), rig_dispatch(rig, gate, 1, 1, 0, sizeof(args)),
		{ .type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[16], .size = 8, .pattern = 1 },
		{ .type = DRM_SALVO_COPY, .dst = (uintptr_t)&g[8], .src = (uintptr_t)&g[2],
		  .size = 8 },
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 4, .args = &args, .args_size = sizeof(args),
	};
	uint64_t seqno;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	seqno = rig_submit(rig, 1, &batch);
	await(&self->data[16]);
	EXPECT_EQ(0, self->data[8]);
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(1, self->data[8]);
}

TEST_F(gpu, B3_many_to_many_through_ALL)
{
	struct rig *rig = self->rig;
	const uint32_t half = 2000;
	struct drm_salvo_command *commands = calloc(2 * half + 1, sizeof(*commands));
	struct node_args *args = calloc(2 * half, sizeof(*args));
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 2 * half + 1, .args = args,
		.args_size = 2 * half * sizeof(*args),
	};
	uint64_t seqno;
	uint32_t i, round;

	ASSERT_TRUE(commands && args);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 2 * half; i++) {
			args[i].out = self->gpu_data + i * WORDS;
			args[i].salt = round << 16 | i;
			args[i].inputs = i >= half;
			args[i].input[0] = self->gpu_data + (i - half) * WORDS;
			commands[i + (i >= half)] = rig_dispatch(rig, node, WORDS, 2,
								 i * sizeof(*args),
								 sizeof(*args));
		}
		commands[half] = rig_all();
		seqno = rig_submit(rig, 1, &batch);
		ASSERT_TRUE(rig_wait(rig, seqno));
		ASSERT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno)->status);
		for (i = 0; i < 2 * half; i++) {
			struct node_args host = args[i];

			host.input[0] = self->data + (i - half) * WORDS;
			ASSERT_EQ(node_word(&host, 3), self->data[i * WORDS + 3]);
		}
	}
	free(commands);
	free(args);
}

TEST_F(gpu, batch_of_ALLs_only_and_ALLs_at_both_ends)
{
	struct rig *rig = self->rig;
	const struct drm_salvo_command commands[] = {
		rig_all(), rig_all(),
		{ .type = DRM_SALVO_FILL, .dst = rig->data_address, .size = 8, .pattern = 3 },
		rig_all(), rig_all(),
		{ .type = DRM_SALVO_COPY, .dst = rig->data_address + 8, .src = rig->data_address,
		  .size = 8 },
		rig_all(),
	};

	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, commands, 2, NULL, 0));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, commands, 7, NULL, 0));
	EXPECT_EQ(0x300000003ull, self->data[1]);
}

/* --- ranges, copies, clock --------------------------------------------------------- */

struct mark_args {
	uint32_t *out;
};

/* Counts each item at its own place of the whole range. */
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
				uint32_t *at = a->out + (gz * group->global_size[1] + gy) *
					       group->global_size[0] + gx;

				__atomic_fetch_add(at, 1 + gx + 100 * gy + 10000 * gz,
						   __ATOMIC_RELAXED);
			}
}

TEST_F(gpu, N2_ragged_ranges_run_every_item_once_and_none_outside)
{
	static const uint32_t shapes[][6] = {
		{ 1, 1, 1, 1, 1, 1 }, { 10, 1, 1, 4, 1, 1 }, { 17, 9, 5, 4, 2, 3 },
		{ 3, 3, 3, 8, 8, 8 }, { 64, 64, 1, 16, 16, 1 }, { 1, 50, 7, 1, 7, 2 },
	};
	struct rig *rig = self->rig;
	const struct mark_args args = { (void *)self->gpu_data };
	uint32_t *out = (void *)self->data;
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const uint32_t *s = shapes[i];
		const uint32_t items = s[0] * s[1] * s[2];
		struct drm_salvo_command command = rig_dispatch(rig, mark, 1, 1, 0, sizeof(args));
		uint32_t n;

		memcpy(command.items, s, 12);
		memcpy(command.group, s + 3, 12);
		command.dims = 3;
		memset(out, 0, 4 * (items + 1000));
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
		for (n = 0; n < items; n++)
			ASSERT_EQ(1 + n % s[0] + 100 * (n / s[0] % s[1]) + 10000 * (n / s[0] / s[1]),
				  out[n]);
		for (; n < items + 1000; n++)
			ASSERT_EQ(0, out[n]);
	}
}

struct who_args {
	uint64_t *out;
};

/* Leaves the thread's own address, which tells the units apart. */
RIG_KERNEL static void who(RIG_KERNEL_ARGS)
{
	const struct who_args *a = args;
	uint64_t self;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(self));
	a->out[group->group_id[0]] = self;
}

TEST_F(gpu, N3_mask_of_a_dispatch_names_its_units)
{
	struct rig *rig = self->rig;
	const struct who_args args = { self->gpu_data };
	uint64_t unit[2];
	uint32_t u, i;

	if (rig->regs->units < 2)
		SKIP(return, "needs two execution units");
	for (u = 0; u < 2; u++) {
		struct drm_salvo_command command = rig_dispatch(rig, who, 500, 1, 0, sizeof(args));

		command.eu_mask = 1ull << u;
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
		unit[u] = self->data[0];
		for (i = 0; i < 500; i++)
			ASSERT_EQ(unit[u], self->data[i]);
	}
	EXPECT_NE(unit[0], unit[1]);
}

TEST_F(gpu, copies_and_fills_of_any_size_touch_exactly_their_range)
{
	static const uint64_t sizes[] = { 1, 7, 64, 65535, 65536, 65537, 300001, 5u << 20 };
	struct rig *rig = self->rig;
	uint8_t *src = rig->data, *dst = rig->data + (16u << 20);
	unsigned int i;
	uint64_t n;

	for (n = 0; n < 6u << 20; n++)
		src[n] = mix(n);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint64_t fill = sizes[i] / 4 * 4 + 4;
		const struct drm_salvo_command commands[2] = {
			{ .type = DRM_SALVO_COPY, .dst = rig->data_address + (16u << 20) + 3,
			  .src = rig->data_address + 1, .size = sizes[i] },
			{ .type = DRM_SALVO_FILL, .dst = rig->data_address + (32u << 20) + 4,
			  .size = fill, .pattern = 0x01020304 },
		};

		memset(dst, 0xee, (32u << 20) - RIG_CODE_BYTES);
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, commands, 2, NULL, 0));
		EXPECT_EQ(0xee, dst[2]);
		EXPECT_EQ(0, memcmp(dst + 3, src + 1, sizes[i]));
		EXPECT_EQ(0xee, dst[3 + sizes[i]]);
		EXPECT_EQ(0xee, dst[(16u << 20) + 3]);
		for (n = 0; n < fill; n++)
			ASSERT_EQ(4 - n % 4, dst[(16u << 20) + 4 + n]);
		EXPECT_EQ(0xee, dst[(16u << 20) + 4 + fill]);
	}
}

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

TEST_F(gpu, timestamps_profile_and_result_are_in_order)
{
	struct rig *rig = self->rig;
	const struct drm_salvo_profile *profile = (void *)(rig->data + 4096);
	const struct salvo_packet_result *result;
	struct drm_salvo_command commands[] = {
		{ .type = DRM_SALVO_TIMESTAMP, .dst = rig->data_address },
		{ .type = DRM_SALVO_FILL, .dst = rig->data_address + 65536, .size = 4u << 20 },
		{ .type = DRM_SALVO_TIMESTAMP, .dst = rig->data_address + 8 },
		rig_pair(1, 0), rig_pair(2, 1),
	};
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 5, .profile = rig->data_address + 4096,
	};
	const uint64_t before = clock_now();
	uint64_t seqno, after, busy;
	unsigned int i;

	memset(rig->data + 4096, 0xff, 4096);
	seqno = rig_submit(rig, 1, &batch);
	ASSERT_TRUE(rig_wait(rig, seqno));
	after = clock_now();
	result = rig_result(rig, seqno);
	busy = rig->regs->busy_ns;

	EXPECT_EQ(SALVO_STATUS_DONE, result->status);
	EXPECT_EQ(~0u, result->command);
	EXPECT_LE(before, result->started);
	EXPECT_LE(result->started, self->data[0]);
	EXPECT_LE(self->data[0], self->data[1]);
	EXPECT_LE(self->data[1], result->ended);
	EXPECT_LE(result->ended, after);
	EXPECT_LT(0, result->busy_ns);
	EXPECT_LE(result->busy_ns, busy);
	EXPECT_EQ(1000000000ull, rig->regs->clock_hz);

	for (i = 0; i < 3; i++) {
		EXPECT_LE(before, profile[i].queued);
		EXPECT_LE(profile[i].queued, profile[i].ready);
		EXPECT_LE(profile[i].ready, profile[i].started);
		EXPECT_LE(profile[i].started, profile[i].ended);
		EXPECT_LE(profile[i].ended, result->ended);
		if (i)
			EXPECT_LE(profile[i - 1].ended, profile[i].ready);
	}
	for (i = 3; i < 5; i++)
		EXPECT_EQ(0, profile[i].queued | profile[i].ready | profile[i].started |
			     profile[i].ended);
	EXPECT_EQ(~0ull, profile[5].queued);
}

TEST_F(gpu, more_packets_than_the_device_holds_wait_in_the_ring)
{
	struct rig *rig = self->rig;
	uint64_t *g = self->gpu_data;
	const struct meet_args args = { &g[0], &g[1], &g[2], ~0ull };
	const struct drm_salvo_command slow = rig_dispatch(rig, gate, 1, 1, 0, sizeof(args));
	const struct drm_salvo_command quick = {
		.type = DRM_SALVO_FILL, .dst = (uintptr_t)&g[8], .size = 8, .pattern = 1,
	};
	const struct salvo_batch_desc first = {
		.commands = &slow, .count = 1, .args = &args, .args_size = sizeof(args),
	}, other = { .commands = &quick, .count = 1 };
	uint64_t seqno;
	unsigned int i;

	/* One ring is smaller than the device; the test needs both full. */
	ASSERT_EQ(0, rig->regs->ring[1].enable);
	rig->regs->ring[1].base = 8192 + 4096;
	rig->regs->ring[1].entries = 256;
	rig->regs->ring[1].enable = 1;
	seqno = rig_submit(rig, 1, &first);
	await(&self->data[0]);
	{
		struct salvo_ring_entry *ring = (void *)(rig->system + 8192 + 4096);
		const uint32_t bytes = rig_pack(rig, 1, &other);
		const uint8_t *packet = rig_next_packet(rig);
		uint8_t *to = rig->system + 20 * RIG_SLOT_BYTES;

		for (i = 0; i < 200; i++) {
			const uint64_t id = 1000 + i;

			memcpy(to + i * 1024, packet, bytes);
			((struct salvo_packet *)(to + i * 1024))->result = rig_result_address(id);
			salvo_pack_set_fence(to + i * 1024, id);
			ring[i] = (struct salvo_ring_entry) {
				.packet = 20 * RIG_SLOT_BYTES + i * 1024, .packet_bytes = bytes,
				.seqno = id, .asid = RIG_ASID, .ctx = 1,
			};
		}
		__atomic_store_n(&rig->regs->ring[1].tail, 200, __ATOMIC_RELEASE);
		salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_RING(1));
	}
	EXPECT_LT(rig_head(rig, 1), 200);
	EXPECT_EQ(0, rig_fence(rig, 1));
	set(&self->data[1]);
	ASSERT_TRUE(rig_wait(rig, seqno));
	for (i = 0; i < 20000000 && rig_fence(rig, 1) != 1199; i++)
		sched_yield();
	EXPECT_EQ(1199, rig_fence(rig, 1));
	EXPECT_EQ(200, rig_head(rig, 1));
	for (i = 0; i < 200; i++)
		EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, 1000 + i)->status);
}

TEST_HARNESS_MAIN
