// SPDX-License-Identifier: MIT
/*
 * isolation.c - what do address spaces that are processes cost?
 *
 * The same GPU twice, with threads and with processes; they alternate, also in which one runs
 * first, so that noise affects both. Figures are medians, and the first decile, which is close to
 * the value on an idle machine:
 *
 * - warm: microseconds of one batch in an address space that runs already, from the
 *   doorbell to the fence, for a batch of one tiny dispatch, of a frame of 33, of 1000, and
 *   of a frame of 33 with some work in each; and the ratio of processes to threads
 * - bind: from a BIND to the end of the first batch that sees it, less a warm batch
 * - switch: a batch in each of two address spaces in turn, less a warm batch
 *
 * The thread that rings the doorbell also polls for completion, as in salvo-gpu (salvo_gpu_poll()).
 *
 * usage: isolation [ROUNDS]
 */
#include <string.h>
#include "bench.h"
#include "rig.h"

#define FRAME	33u
#define MANY	1000u
/* Samples of each figure in a round, except those that take long */
#define TIMES	5u
#define OTHER	(RIG_ASID + 1)
#define PAGE	4096u
#define RW	(SALVO_ACCESS_READ | SALVO_ACCESS_WRITE)

struct work_args {
	uint64_t *out;
	uint64_t loops;
};

RIG_KERNEL static void work(RIG_KERNEL_ARGS)
{
	const struct work_args *a = args;
	volatile uint64_t *out = a->out + 8 * group->group_id[0];
	uint64_t i;

	for (i = 0; i < a->loops; i++)
		*out += i;
}

/* Runs one batch of @count dispatches in @asid. Returns microseconds. */
static double run(struct rig *rig, uint32_t asid, unsigned int count, uint64_t loops)
{
	const struct work_args args = { (void *)(uintptr_t)rig->data_address, loops };
	static struct drm_salvo_command commands[MANY];
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = count, .args = &args, .args_size = sizeof(args),
	};
	struct salvo_op_setup_state *state;
	struct salvo_ring_entry entry;
	unsigned int i;
	double start;

	for (i = 0; i < count; i++)
		commands[i] = rig_dispatch(rig, work, 4, 1, 0, sizeof(args));
	entry = rig_next_entry(rig, asid, rig_pack(rig, asid, &batch));
	entry.asid = asid;
	state = (void *)((struct salvo_packet *)rig_next_packet(rig) + 1);
	while (state->op.code != SALVO_OP_SETUP_STATE)
		state = (void *)((uint8_t *)state + state->op.bytes);
	state->asid = asid;
	start = clock_us(CLOCK_MONOTONIC);
	rig_push(rig, &entry);
	rig_ring(rig);
	need(rig_wait(rig, entry.seqno) &&
	     rig_result(rig, entry.seqno)->status == SALVO_STATUS_DONE, "a batch");
	return clock_us(CLOCK_MONOTONIC) - start;
}

/* Binds the same memory in a second address space. */
static void bind_other(struct rig *rig)
{
	rig_space(rig, OTHER, SALVO_OP_BIND, rig->code_address, RIG_CODE_BYTES,
		  SALVO_ACCESS_READ | SALVO_ACCESS_EXEC);
	rig_space(rig, OTHER, SALVO_OP_BIND, rig->data_address, RIG_DATA_BYTES, RW);
}

/* Binds a page behind those of rig_create(), runs a batch, and unbinds it. */
static double bind_and_run(struct rig *rig)
{
	const uint64_t window = rig->regs->va_base + rig->regs->vram_bytes;
	const struct {
		struct salvo_packet head;
		struct salvo_op_bind_system op;
		struct salvo_op_close close;
	} packet = {
		.head = { .magic = SALVO_PACKET_MAGIC, .bytes = sizeof(packet),
			  .fence_id = rig->seqno + 1, .kind = SALVO_PACKET_SPACE,
			  .command_count = 1, .command_bytes = sizeof(packet) - sizeof(packet.head),
			  .result = rig_result_address(rig->seqno + 1) },
		.op = { .op = { SALVO_OP_BIND_SYSTEM, sizeof(packet.op), 0 }, .address = window,
			.size = PAGE, .system = RIG_SYSTEM_BYTES - PAGE, .access = RW },
		.close = { .op = { SALVO_OP_CLOSE, sizeof(packet.close), 0 },
			   .fence_id = rig->seqno + 1 },
	};
	const struct salvo_ring_entry entry = rig_next_entry(rig, 0, sizeof(packet));
	const double start = clock_us(CLOCK_MONOTONIC);
	double end;

	memcpy(rig_next_packet(rig), &packet, sizeof(packet));
	rig_push(rig, &entry);
	rig_ring(rig);
	run(rig, RIG_ASID, 1, 1);
	end = clock_us(CLOCK_MONOTONIC);
	rig_space(rig, RIG_ASID, SALVO_OP_UNBIND, window, PAGE, 0);
	run(rig, RIG_ASID, 1, 1);
	return end - start;
}

/* What is measured */
enum figure {
	ONE, SMALL, LARGE, BUSY, BOTH, BIND, FIGURES,
};

struct samples {
	double *at;
	unsigned int count;
};

struct figures {
	struct rig *rig;
	struct samples of[FIGURES];
};

static void add(struct figures *f, enum figure figure, double us)
{
	struct samples *samples = &f->of[figure];

	samples->at[samples->count++] = us;
}

/* The median of a figure, or the first decile */
static double value(const struct figures *f, enum figure figure, bool best)
{
	const struct samples *samples = &f->of[figure];
	const double middle = median(samples->at, samples->count);

	return best ? samples->at[samples->count / 10] : middle;
}

static void measure(struct figures *f, unsigned int round)
{
	struct rig *rig = f->rig;
	unsigned int i;

	/* Warm, as within a frame */
	for (i = 0; i < 5; i++)
		run(rig, RIG_ASID, 1, 1);
	for (i = 0; i < TIMES; i++)
		add(f, ONE, run(rig, RIG_ASID, 1, 1));
	for (i = 0; i < TIMES; i++)
		add(f, SMALL, run(rig, RIG_ASID, FRAME, 1));
	add(f, LARGE, run(rig, RIG_ASID, MANY, 1));
	add(f, BUSY, run(rig, RIG_ASID, FRAME, 20000));
	run(rig, OTHER, 1, 1);
	for (i = 0; i < TIMES; i++)
		add(f, BOTH, (run(rig, RIG_ASID, 1, 1) + run(rig, OTHER, 1, 1)) / 2);
	if (round % 10 == 0)
		add(f, BIND, bind_and_run(rig));
}

static void print(const struct figures f[2], enum figure figure, bool best)
{
	const double threads = value(&f[0], figure, best), processes = value(&f[1], figure, best);

	if (figure < BOTH)
		printf(" %9.1f %9.1f %6.2f", threads, processes, processes / threads);
	else
		printf(" %9.1f %9.1f %6s", threads - value(&f[0], ONE, best),
		       processes - value(&f[1], ONE, best), "");
}

int main(int argc, char **argv)
{
	static const char *const name[FIGURES] = {
		"warm, one tiny dispatch", "warm, 33 tiny dispatches", "warm, 1000 tiny dispatches",
		"warm, 33 busy dispatches", "switch of address spaces", "bind until it is seen",
	};
	const unsigned int rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 500;
	struct figures f[2] = { 0 };
	unsigned int i, k;

	/* The zygote inherits the malloc() arenas of threads, so it must be created first. */
	f[1].rig = rig_create_isolated(0);
	f[0].rig = rig_create(0);
	for (k = 0; k < 2; k++) {
		f[k].rig->polls = true;
		for (i = 0; i < FIGURES; i++)
			f[k].of[i].at = calloc(rounds * TIMES, sizeof(double));
		bind_other(f[k].rig);
	}
	for (i = 0; i < 2 * rounds; i++)
		measure(&f[(i + i / 2) % 2], i / 2);

	printf("%-26s %26s %26s\n%-26s", "microseconds", "medians", "first deciles", "");
	for (k = 0; k < 2; k++)
		printf(" %9s %9s %6s", "threads", "processes", "ratio");
	for (i = 0; i < FIGURES; i++) {
		printf("\n%-26s", name[i]);
		print(f, i, false);
		print(f, i, true);
	}
	putchar('\n');
	for (k = 0; k < 2; k++) {
		rig_destroy(f[k].rig);
		for (i = 0; i < FIGURES; i++)
			free(f[k].of[i].at);
	}
	return 0;
}
