// SPDX-License-Identifier: MIT
/*
 * handover.c - how soon does a dispatch start after the one that it waits for?
 *
 * Chains of dispatches of one batch, each waiting for the one before by a pipe control; from the
 * end of one to the start of the next as the units record it, in microseconds: on the unit that
 * ended the first, and on another one that is polling.
 *
 * usage: handover [--json] [ROUNDS]
 */
#include <string.h>
#include "bench.h"
#include "rig.h"

#define CHAIN 200u

struct count_args {
	uint64_t *count;
	uint64_t pad;
};

RIG_KERNEL static void count(RIG_KERNEL_ARGS)
{
	const struct count_args *a = args;

	(*a->count)++;
}

struct figures {
	double median;
	double p95;
};

static struct figures measure(struct rig *rig, unsigned int units, unsigned int rounds)
{
	struct salvo_gpu_recording recording = { .capacity = CHAIN };
	const size_t steps = (size_t)rounds * (CHAIN - 1);
	double *us = calloc(steps, sizeof(*us));
	struct drm_salvo_command commands[2 * CHAIN];
	struct count_args args = { (void *)(uintptr_t)rig->data_address, 0 };
	struct figures figures;
	unsigned int i, round;
	size_t n = 0;

	recording.spans = calloc(CHAIN, sizeof(*recording.spans));
	need(us && recording.spans, "calloc");
	for (i = 0; i < CHAIN; i++) {
		commands[i] = rig_dispatch(rig, count, 1, 1, 0, sizeof(args));
		commands[i].eu_mask = 1ull << i % units;
	}
	for (i = 1; i < CHAIN; i++)
		commands[CHAIN + i - 1] = rig_pair(i, i - 1);
	salvo_gpu_record(rig->gpu, &recording);
	for (round = 0; round < rounds; round++) {
		recording.next = 0;
		need(rig_run(rig, commands, 2 * CHAIN - 1, &args, sizeof(args)) ==
		     SALVO_STATUS_DONE && recording.next == CHAIN, "a batch");
		for (i = 1; i < CHAIN; i++)
			us[n++] = (recording.spans[i].started - recording.spans[i - 1].ended) / 1e3;
	}
	salvo_gpu_record(rig->gpu, NULL);
	figures.median = median(us, steps);
	figures.p95 = us[steps * 95 / 100];
	free(recording.spans);
	free(us);
	return figures;
}

int main(int argc, char **argv)
{
	const bool json = argc > 1 && !strcmp(argv[1], "--json");
	const unsigned int rounds = argc > 1 + json ? atoi(argv[1 + json]) : 100;
	struct rig *rig = rig_create(2);
	unsigned int units;

	if (!json)
		printf("us from end to start   median     95 %%\n");
	for (units = 1; units <= 2; units++) {
		const struct figures f = measure(rig, units, rounds ? rounds : 1);

		printf(json ? "{\"unit\":\"%s\",\"median_us\":%.3f,\"p95_us\":%.3f}\n"
			    : "%-20s %8.3f %8.3f\n", units == 1 ? "same" : "other", f.median, f.p95);
	}
	rig_destroy(rig);
	return 0;
}
