// SPDX-License-Identifier: MIT
/*
 * graph.c - graphs of commands compute the same as the host (B3 of WO2015/123840)
 */
#include <stdlib.h>
#include <string.h>
#include "gpu_fixture.h"

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

/* A new node may read the first @settled nodes, which are before the last ALL, without a pair. */
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

/*
 * Elements of one work-group, single, coalesced or with different masks, on both sides of an ALL.
 */
TEST_F(gpu, B3_each_tiny_command_runs_once_and_on_its_side_of_an_ALL)
{
	struct rig *rig = self->rig;
	const uint32_t half = 700;
	struct drm_salvo_command *commands = calloc(2 * half + 1, sizeof(*commands));
	struct node_args *args = calloc(2 * half, sizeof(*args));
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = 2 * half + 1, .args = args,
		.args_size = 2 * half * sizeof(*args),
	};
	unsigned int seed = 7;
	uint32_t i, round;
	uint64_t seqno;

	ASSERT_TRUE(commands && args);
	for (round = 0; round < 50; round++) {
		for (i = 0; i < 2 * half; i++) {
			struct drm_salvo_command *command = &commands[i + (i >= half)];

			args[i].out = self->gpu_data + i * WORDS;
			args[i].salt = round << 16 | i;
			args[i].inputs = i >= half;
			args[i].input[0] = self->gpu_data + rand_r(&seed) % half * WORDS;
			*command = rig_dispatch(rig, node, WORDS, rand_r(&seed) % 8 ? WORDS : 1,
						i * sizeof(*args), sizeof(*args));
			if (rand_r(&seed) % 16 == 0)
				command->eu_mask = 1 + rand_r(&seed) % rig->regs->units;
		}
		commands[half] = rig_all();
		seqno = rig_submit(rig, 1, &batch);
		ASSERT_TRUE(rig_wait(rig, seqno));
		ASSERT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno)->status);
		ASSERT_EQ(2 * half + 1, rig_result(rig, seqno)->done);
		for (i = 0; i < 2 * half * WORDS; i++) {
			struct node_args host = args[i / WORDS];

			host.input[0] = self->data + (host.input[0] - self->gpu_data);
			ASSERT_EQ(node_word(&host, i % WORDS), self->data[i]);
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

TEST_HARNESS_MAIN
