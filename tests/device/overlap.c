// SPDX-License-Identifier: MIT
/*
 * overlap.c - batches of a context that start before the one before is done (SALVO_RING_OVERLAP)
 *
 * A gate is a kernel that waits until the host opens it. What has to run beside it is awaited; that
 * something waits for it is seen in what that read.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "gpu.h"
#include "gpu_fixture.h"
#include "sanitizer.h"

#define CTX		3u
#define GATE		0u	/* words of the data: the gate, what it is entered with */
#define ENTERED		1u
#define BEFORE		2u	/* the first batch writes it last */
#define AFTER		8u	/* the second batch copies it there */
#define MOST		8u

struct gate_args {
	volatile uint64_t *gate;
	volatile uint64_t *entered;
	volatile uint64_t *written;
	uint64_t pad;
};

RIG_KERNEL static void gate(RIG_KERNEL_ARGS)
{
	const struct gate_args *a = args;

	*a->entered = 1;
	while (!*a->gate)
		__builtin_ia32_pause();
	*a->written = 1;
}

struct copy_args {
	const volatile uint64_t *from;
	volatile uint64_t *to;
};

/* Writes 1 more than it reads. */
RIG_KERNEL static void look(RIG_KERNEL_ARGS)
{
	const struct copy_args *a = args;

	*a->to = *a->from + 1;
}

static uint64_t peek(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static bool await(const uint64_t *word)
{
	const time_t deadline = time(NULL) + 20;

	while (!peek(word))
		if (time(NULL) > deadline)
			return false;
	return true;
}

static void open_gate(uint64_t *data)
{
	__atomic_store_n(&data[GATE], 1, __ATOMIC_RELEASE);
}

/* Overlaps, unless @flags is 0. Each command has 32 bytes of @args. */
static uint64_t submit_flags(struct rig *rig, const struct drm_salvo_command *commands,
			     uint32_t count, const void *args, uint32_t flags)
{
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = count, .args = args, .args_size = MOST * 32,
		.flags = flags,
	};

	return rig_submit(rig, CTX, &batch);
}

static uint64_t submit(struct rig *rig, const struct drm_salvo_command *commands, uint32_t count,
		       const void *args)
{
	return submit_flags(rig, commands, count, args, DRM_SALVO_SUBMIT_OVERLAP);
}

union slot {
	struct gate_args gate;
	struct copy_args copy;
	uint8_t bytes[32];
};

FIXTURE(overlap)
{
	struct rig *rig;
	uint64_t *data, *gpu;
	union slot args[MOST];
	struct drm_salvo_command gated[2], look[MOST];
};

FIXTURE_SETUP(overlap)
{
	uint32_t i;

	self->rig = rig_create(3);
	self->data = (void *)self->rig->data;
	self->gpu = (void *)(uintptr_t)self->rig->data_address;
	memset(self->data, 0, 4096);
	memset(self->args, 0, sizeof(self->args));
	self->args[0].gate = (struct gate_args){
		&self->gpu[GATE], &self->gpu[ENTERED], &self->gpu[BEFORE], 0,
	};
	self->gated[0] = rig_dispatch(self->rig, gate, 1, 1, 0, 32);
	/* Done at once, while the gate is still closed */
	self->args[7].copy = (struct copy_args){ &self->gpu[32], &self->gpu[33] };
	self->gated[1] = rig_dispatch(self->rig, look, 1, 1, 7 * 32, 32);
	for (i = 1; i < 7; i++) {
		self->args[i].copy = (struct copy_args){
			&self->gpu[BEFORE], &self->gpu[AFTER + i],
		};
		self->look[i] = rig_dispatch(self->rig, look, 1, 1, i * 32, 32);
	}
}

FIXTURE_TEARDOWN(overlap)
{
	rig_destroy(self->rig);
}

/* Both end, in order. */
#define EXPECT_ENDS(first, second) do { \
	open_gate(self->data); \
	ASSERT_TRUE(rig_wait(self->rig, second)); \
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, first)->status); \
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, second)->status); \
	EXPECT_LE(rig_result(self->rig, first)->ended, rig_result(self->rig, second)->ended); \
} while (0)

TEST_F(overlap, what_waits_for_nothing_runs_and_the_rest_waits_for_its_producer)
{
	struct drm_salvo_command second[] = { self->look[1], self->look[2], rig_link(1, 0) };
	const uint64_t a = submit(self->rig, self->gated, 1, self->args);
	uint64_t b;

	ASSERT_TRUE(await(&self->data[ENTERED]));
	b = submit(self->rig, second, 3, self->args);
	ASSERT_TRUE(await(&self->data[AFTER + 1]));
	EXPECT_EQ(0, peek(&self->data[AFTER + 2]));
	EXPECT_LT(rig_fence(self->rig, 0), a);
	EXPECT_ENDS(a, b);
	EXPECT_EQ(1, self->data[AFTER + 1]);
	EXPECT_EQ(2, self->data[AFTER + 2]);
}

TEST_F(overlap, a_producer_that_is_done_holds_up_nothing)
{
	struct drm_salvo_command second[] = { self->look[1], rig_link(0, 1) };
	const uint64_t a = submit(self->rig, self->gated, 2, self->args);
	uint64_t b;

	ASSERT_TRUE(await(&self->data[ENTERED]));
	ASSERT_TRUE(await(&self->data[33]));
	b = submit(self->rig, second, 2, self->args);
	ASSERT_TRUE(await(&self->data[AFTER + 1]));
	EXPECT_ENDS(a, b);
	EXPECT_EQ(1, self->data[AFTER + 1]);
}

TEST_F(overlap, without_the_flag_on_both_the_second_waits)
{
	uint64_t a, b;
	uint32_t flags;

	for (flags = 0; flags < 3; flags++) {
		memset(self->data, 0, 4096);
		a = submit_flags(self->rig, self->gated, 1, self->args, flags == 1);
		b = submit_flags(self->rig, &self->look[1], 1, self->args, flags == 2);
		EXPECT_ENDS(a, b);
		EXPECT_EQ(2, self->data[AFTER + 1]);
	}
}

TEST_F(overlap, the_third_batch_waits_for_the_first)
{
	const uint64_t a = submit(self->rig, self->gated, 1, self->args);
	const uint64_t b = submit(self->rig, &self->look[1], 1, self->args);
	const uint64_t c = submit(self->rig, &self->look[2], 1, self->args);

	ASSERT_TRUE(await(&self->data[AFTER + 1]));
	EXPECT_EQ(0, peek(&self->data[AFTER + 2]));
	EXPECT_ENDS(a, b);
	ASSERT_TRUE(rig_wait(self->rig, c));
	EXPECT_EQ(1, self->data[AFTER + 1]);
	EXPECT_EQ(2, self->data[AFTER + 2]);
}

/* Of batches that wait in the ring, the third may overlap the second once the first is done. */
TEST_F(overlap, the_third_batch_overlaps_the_second)
{
	uint64_t a, b, c;

	self->args[6].gate = (struct gate_args){
		&self->gpu[40], &self->gpu[41], &self->gpu[42], 0,
	};
	a = submit(self->rig, self->gated, 1, self->args);
	self->look[6] = rig_dispatch(self->rig, gate, 1, 1, 6 * 32, 32);
	b = submit_flags(self->rig, &self->look[6], 1, self->args, DRM_SALVO_SUBMIT_OVERLAP);
	c = submit(self->rig, &self->look[1], 1, self->args);
	open_gate(self->data);
	ASSERT_TRUE(await(&self->data[AFTER + 1]));
	EXPECT_EQ(0, peek(&self->data[42]));
	__atomic_store_n(&self->data[40], 1, __ATOMIC_RELEASE);
	ASSERT_TRUE(rig_wait(self->rig, c));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, a)->status);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, b)->status);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, c)->status);
	EXPECT_EQ(2, self->data[AFTER + 1]);
}

TEST_F(overlap, work_after_a_barrier_waits_for_all_of_the_batch_before)
{
	struct drm_salvo_command first[] = { self->gated[0] };
	struct drm_salvo_command second[] = { self->look[1], rig_all(), self->look[2] };
	struct drm_salvo_command third[] = { rig_all(), self->look[3] };
	const uint64_t a = submit(self->rig, first, 1, self->args);
	const uint64_t b = submit(self->rig, second, 3, self->args);
	uint64_t c;

	ASSERT_TRUE(await(&self->data[AFTER + 1]));
	EXPECT_EQ(0, peek(&self->data[AFTER + 2]));
	EXPECT_ENDS(a, b);
	EXPECT_EQ(2, self->data[AFTER + 2]);

	memset(self->data, 0, 4096);
	submit(self->rig, first, 1, self->args);
	c = submit(self->rig, third, 2, self->args);
	open_gate(self->data);
	ASSERT_TRUE(rig_wait(self->rig, c));
	EXPECT_EQ(2, self->data[AFTER + 3]);
}

TEST_F(overlap, a_link_to_the_barrier_of_the_batch_before_waits_for_what_is_before_it)
{
	struct drm_salvo_command first[] = { self->gated[0], rig_all(), self->gated[1] };
	struct drm_salvo_command second[] = { self->look[1], self->look[2], rig_link(1, 1) };
	const uint64_t a = submit(self->rig, first, 3, self->args);
	const uint64_t b = submit(self->rig, second, 3, self->args);

	ASSERT_TRUE(await(&self->data[AFTER + 1]));
	EXPECT_EQ(0, peek(&self->data[AFTER + 2]));
	EXPECT_ENDS(a, b);
	EXPECT_EQ(2, self->data[AFTER + 2]);
}

/* The index of no command, and that of a pipe control */
TEST_F(overlap, a_link_to_no_work_waits_for_all_of_the_batch_before)
{
	struct drm_salvo_command first[] = { self->gated[0], self->gated[1], rig_pair(1, 0) };
	struct drm_salvo_command second[] = {
		self->look[1], self->look[2], rig_link(0, 2), rig_link(1, SALVO_MAX_COMMANDS - 1),
	};
	const uint64_t a = submit(self->rig, first, 3, self->args);
	const uint64_t b = submit(self->rig, second, 4, self->args);

	EXPECT_ENDS(a, b);
	EXPECT_EQ(2, self->data[AFTER + 1]);
	EXPECT_EQ(2, self->data[AFTER + 2]);
}

TEST_F(overlap, each_batch_has_its_own_fault)
{
	struct drm_salvo_command first[] = { self->gated[0], self->look[1], rig_pair(1, 0) };
	struct drm_salvo_command second[] = { self->look[2], self->look[3] };
	struct drm_salvo_command third[] = { self->look[2], self->look[1], rig_pair(1, 0) };
	uint64_t a, b;

	/* It faults when the gate is open. What it returns does not change the second. */
	self->args[1].copy.to = NULL;
	a = submit(self->rig, first, 3, self->args);
	b = submit(self->rig, second, 2, self->args);
	ASSERT_TRUE(await(&self->data[AFTER + 3]));
	open_gate(self->data);
	ASSERT_TRUE(rig_wait(self->rig, b));
	EXPECT_EQ(SALVO_STATUS_FAULT, rig_result(self->rig, a)->status);
	EXPECT_EQ(1, rig_result(self->rig, a)->command);
	EXPECT_EQ(1, rig_result(self->rig, a)->done);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, b)->status);
	EXPECT_EQ(a, self->rig->regs->fault.seqno);

	/* The second one faults while the first one still runs. */
	memset(self->data, 0, 4096);
	a = submit(self->rig, self->gated, 1, self->args);
	b = submit(self->rig, third, 3, self->args);
	ASSERT_TRUE(await(&self->data[AFTER + 2]));
	EXPECT_LT(rig_fence(self->rig, 0), a);
	open_gate(self->data);
	ASSERT_TRUE(rig_wait(self->rig, b));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, a)->status);
	EXPECT_EQ(1, rig_result(self->rig, a)->done);
	EXPECT_EQ(SALVO_STATUS_FAULT, rig_result(self->rig, b)->status);
	EXPECT_EQ(1, rig_result(self->rig, b)->command);
	EXPECT_EQ(1, rig_result(self->rig, b)->done);
	EXPECT_EQ(b, self->rig->regs->fault.seqno);
}

/* What follows a refused batch does not know which commands those of its links are. */
TEST_F(overlap, nothing_overlaps_across_a_refused_batch)
{
	struct drm_salvo_command refused = self->look[1];
	uint64_t a, b, c;

	refused.entry = 8;
	a = submit(self->rig, self->gated, 1, self->args);
	b = submit(self->rig, &refused, 1, self->args);
	c = submit(self->rig, &self->look[2], 1, self->args);
	open_gate(self->data);
	ASSERT_TRUE(rig_wait(self->rig, c));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, a)->status);
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, rig_result(self->rig, b)->status);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, c)->status);
	EXPECT_EQ(2, self->data[AFTER + 2]);
}

/* The same where the head of the packet is wrong, which the process of a space does not see. */
TEST_F(overlap, nothing_overlaps_across_a_wrong_head)
{
	const struct salvo_batch_desc refused = {
		.commands = &self->look[1], .count = 1, .args = self->args,
		.args_size = sizeof(self->args), .flags = DRM_SALVO_SUBMIT_OVERLAP,
	};
	struct salvo_ring_entry entry;
	struct salvo_packet *head;
	uint64_t a, c;

	a = submit(self->rig, self->gated, 1, self->args);
	ASSERT_TRUE(await(&self->data[ENTERED]));
	head = rig_next_packet(self->rig);
	entry = rig_next_entry(self->rig, CTX, rig_pack(self->rig, CTX, &refused));
	head->kind = 0;
	rig_push(self->rig, &entry);
	rig_ring(self->rig);
	c = submit(self->rig, &self->look[2], 1, self->args);
	/* It would run now. */
	usleep(50000);
	open_gate(self->data);
	ASSERT_TRUE(rig_wait(self->rig, c));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, a)->status);
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, rig_result(self->rig, entry.seqno)->status);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, c)->status);
	EXPECT_EQ(2, self->data[AFTER + 2]);
}

TEST_F(overlap, a_kill_ends_both)
{
	struct drm_salvo_command second[] = { self->look[1], self->look[2], rig_link(1, 0) };
	const time_t deadline = time(NULL) + 20;
	uint64_t a, b;

	NEED_SIGNALS();
	a = submit(self->rig, self->gated, 1, self->args);
	b = submit(self->rig, second, 3, self->args);
	ASSERT_TRUE(await(&self->data[AFTER + 1]));
	self->rig->regs->kill_ctx = CTX;
	__atomic_store_n(&self->rig->regs->kill_request, 1, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(self->rig->gpu, SALVO_DOORBELL_KILL);
	while (__atomic_load_n(&self->rig->regs->kill_ack, __ATOMIC_ACQUIRE) != 1) {
		ASSERT_LT(time(NULL), deadline);
		salvo_gpu_heartbeat(self->rig->gpu);
	}
	ASSERT_TRUE(rig_wait(self->rig, b));
	EXPECT_EQ(SALVO_STATUS_KILLED, rig_result(self->rig, a)->status);
	EXPECT_EQ(SALVO_STATUS_KILLED, rig_result(self->rig, b)->status);
	EXPECT_EQ(0, self->data[AFTER + 2]);
}

/* From the second on, while the first waits at the gate: that is not even held up. */
TEST_F(overlap, a_kill_from_the_second_on_leaves_the_first)
{
	struct drm_salvo_command first[] = { self->gated[0], self->look[1], rig_pair(1, 0) };
	struct drm_salvo_command second[] = { self->gated[0], self->look[2], rig_pair(1, 0) };
	struct drm_salvo_command third[] = { self->look[3] };
	const time_t deadline = time(NULL) + 20;
	struct rig *rig = self->rig;
	uint64_t a, b, c;

	NEED_SIGNALS();
	self->args[6].gate = (struct gate_args){
		&self->gpu[40], &self->gpu[41], &self->gpu[42], 0,
	};
	second[0].args_offset = 6 * 32;
	/* The second one takes the unit that the first needs. */
	second[0].eu_mask = 2;
	first[0].eu_mask = 1;
	first[1].eu_mask = 2;
	a = submit(rig, first, 3, self->args);
	b = submit(rig, second, 3, self->args);
	c = submit(rig, third, 1, self->args);
	ASSERT_TRUE(await(&self->data[41]));
	ASSERT_TRUE(await(&self->data[ENTERED]));
	rig->regs->kill_ctx = CTX;
	rig->regs->kill_seqno = b;
	__atomic_store_n(&rig->regs->kill_request, 1, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_KILL);
	while (__atomic_load_n(&rig->regs->kill_ack, __ATOMIC_ACQUIRE) != 1) {
		ASSERT_LT(time(NULL), deadline);
		salvo_gpu_heartbeat(rig->gpu);
	}
	EXPECT_EQ(0, peek(&self->data[BEFORE]));
	open_gate(self->data);
	ASSERT_TRUE(rig_wait(rig, c));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, a)->status);
	EXPECT_EQ(SALVO_STATUS_KILLED, rig_result(rig, b)->status);
	EXPECT_EQ(SALVO_STATUS_KILLED, rig_result(rig, c)->status);
	EXPECT_EQ(2, self->data[AFTER + 1]);
	EXPECT_EQ(0, self->data[42]);
	EXPECT_EQ(0, self->data[AFTER + 2]);
	EXPECT_EQ(0, self->data[AFTER + 3]);
}

TEST_F(overlap, wrong_links_are_refused)
{
	const struct {
		struct drm_salvo_command control;
		uint32_t flags;
	} cases[] = {
		{ rig_link(0, 0), 0 },
		{ rig_link(0, SALVO_MAX_COMMANDS), DRM_SALVO_SUBMIT_OVERLAP },
		{ rig_link(1, 0), DRM_SALVO_SUBMIT_OVERLAP },
		{ rig_link(2, 0), DRM_SALVO_SUBMIT_OVERLAP },
		{ { .type = DRM_SALVO_PIPE_CONTROL, .flags = 3 }, DRM_SALVO_SUBMIT_OVERLAP },
		{ { .type = DRM_SALVO_PIPE_CONTROL, .flags = 4 }, DRM_SALVO_SUBMIT_OVERLAP },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct drm_salvo_command commands[] = { self->look[1], cases[i].control };
		const uint64_t seqno = submit_flags(self->rig, commands, 2, self->args,
						    cases[i].flags);

		ASSERT_TRUE(rig_wait(self->rig, seqno));
		EXPECT_EQ(SALVO_STATUS_BAD_PACKET, rig_result(self->rig, seqno)->status)
			TH_LOG("case %u", i);
	}
}

/* --- chains of random batches ------------------------------------------------ */

#define ROUNDS		300u
#define IN_FLIGHT	24u
#define NODES		12u
#define MOST_INPUTS	3u

struct node_args {
	uint64_t *out;
	uint64_t salt;
	uint64_t inputs;
	const uint64_t *input[MOST_INPUTS];
};

static inline __attribute__((always_inline)) uint64_t node_value(const struct node_args *a)
{
	uint64_t value = a->salt, i;

	for (i = 0; i < a->inputs; i++) {
		value ^= *a->input[i];
		value = (value ^ value >> 31) * 0x9e3779b97f4a7c15ull;
	}
	return value;
}

RIG_KERNEL static void node(RIG_KERNEL_ARGS)
{
	const struct node_args *a = args;

	*a->out = node_value(a);
}

struct chained {
	struct drm_salvo_command commands[NODES * (MOST_INPUTS + 2)];
	struct node_args args[NODES];
	uint64_t expected[NODES];
	uint32_t command_of[NODES];
	uint32_t nodes;
	uint32_t count;
	uint32_t settled;	/* nodes before the last barrier */
	uint64_t seqno;
};

/* Node @n reads nodes of its batch and of the one before, as far as it waits for them. */
static void add_input(struct rig *rig, struct chained *self, const struct chained *before,
		      uint64_t area, uint64_t before_area, uint32_t n, unsigned int *seed,
		      struct node_args *host)
{
	struct node_args *args = &self->args[n];
	uint64_t from_area = area;
	uint32_t from;

	if (before && rand_r(seed) % 2) {
		from = rand_r(seed) % before->nodes;
		from_area = before_area;
		host->input[host->inputs++] = &before->expected[from];
		/* A barrier of this batch has waited for it. */
		if (!self->settled)
			self->commands[self->count++] = rig_link(self->command_of[n],
								 before->command_of[from]);
	} else if (n) {
		from = rand_r(seed) % n;
		host->input[host->inputs++] = &self->expected[from];
		if (from >= self->settled)
			self->commands[self->count++] = rig_pair(self->command_of[n],
								 self->command_of[from]);
	} else {
		return;
	}
	args->input[args->inputs++] = (void *)(uintptr_t)(rig->data_address + from_area +
							   from * 8);
}

static void make_chained(struct rig *rig, struct chained *self, const struct chained *before,
			 uint64_t area, uint64_t before_area, unsigned int *seed)
{
	uint32_t n, i, inputs;

	self->count = 0;
	self->settled = 0;
	self->nodes = 1 + rand_r(seed) % NODES;
	for (n = 0; n < self->nodes; n++) {
		struct node_args *args = &self->args[n], host;

		if (n && rand_r(seed) % 16 == 0) {
			self->commands[self->count++] = rig_all();
			self->settled = n;
		}
		self->command_of[n] = self->count;
		self->commands[self->count++] = rig_dispatch(rig, node, 1, 1, n * sizeof(*args),
							     sizeof(*args));
		*args = (struct node_args){
			.out = (void *)(uintptr_t)(rig->data_address + area + n * 8),
			.salt = rand_r(seed),
		};
		host = *args;
		inputs = rand_r(seed) % (MOST_INPUTS + 1);
		for (i = 0; i < inputs; i++)
			add_input(rig, self, before, area, before_area, n, seed, &host);
		self->expected[n] = node_value(&host);
	}
	memset(rig->data + area, 0, NODES * 8);
}

TEST_F(overlap, random_chains_give_what_the_host_computes)
{
	struct chained *chain = calloc(IN_FLIGHT, sizeof(*chain));
	unsigned int seed = 7;
	uint32_t i, j;

	ASSERT_NE(NULL, chain);
	for (i = 0; i < ROUNDS; i++) {
		for (j = 0; j < IN_FLIGHT; j++) {
			struct salvo_batch_desc batch = {
				.commands = chain[j].commands,
				.args = chain[j].args, .args_size = sizeof(chain[j].args),
				.flags = DRM_SALVO_SUBMIT_OVERLAP,
			};

			/* Two contexts, whose batches alternate */
			make_chained(self->rig, &chain[j], j > 1 ? &chain[j - 2] : NULL, j * 4096,
				     (j - 2) * 4096, &seed);
			batch.count = chain[j].count;
			chain[j].seqno = rig_submit(self->rig, 1 + j % 2, &batch);
		}
		for (j = 0; j < IN_FLIGHT; j++) {
			ASSERT_TRUE(rig_wait(self->rig, chain[j].seqno));
			ASSERT_EQ(SALVO_STATUS_DONE,
				  rig_result(self->rig, chain[j].seqno)->status);
			ASSERT_EQ(0, memcmp(self->rig->data + j * 4096, chain[j].expected,
					    chain[j].nodes * 8));
		}
	}
	free(chain);
}

TEST_HARNESS_MAIN
