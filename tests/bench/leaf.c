// SPDX-License-Identifier: MIT
/*
 * leaf.c - how long does it take to pass an empty kernel to a unit and to see its completion?
 *
 * Alternately through a slot of one unit, and as a batch of one dispatch by submit and wait. The
 * unit is awake. Prints the median, and the fastest 5 % of the rounds, since other programs may
 * preempt.
 *
 * usage: leaf [--json] [--rounds N]
 */
#include <sched.h>
#include "bench.h"
#include "salvo.h"
#include "salvo_slot.h"

#define ROUNDS_MAX 1000000u

static const char source[] = "kernel void nothing(int n) { }";

static struct salvo_device *device;
static struct salvo_queue *queue;
static struct salvo_batch *batch;
static struct salvo_kernel *kernel;

static void create(void)
{
	const uint32_t items[1] = { 1 }, group[1] = { 1 };
	struct salvo_program *program;
	const int n = 0;

	need(!salvo_device_open("soft", &device), "salvo_device_open");
	need(!salvo_program_build(device, source, 0, NULL, NULL, &program), "salvo_program_build");
	need(!salvo_kernel_create(program, "nothing", &kernel), "salvo_kernel_create");
	need(!salvo_kernel_set_value(kernel, 0, &n, sizeof(n)), "salvo_kernel_set_value");
	need(!salvo_kernel_set_grid(kernel, 1, items, group), "salvo_kernel_set_grid");
	need(!salvo_queue_create(device, 0, &queue), "salvo_queue_create");
	need(!salvo_batch_create(device, &batch), "salvo_batch_create");
	need(salvo_batch_dispatch(batch, kernel) == 0, "salvo_batch_dispatch");
}

/* Pins this thread to the last core, which is not the first unit's. */
static void pin(void)
{
	cpu_set_t allowed, one;
	int i;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (i = CPU_SETSIZE - 1; i > 0 && !CPU_ISSET(i, &allowed); i--)
		;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static double through_slot(struct salvo_slot *slot)
{
	const double start = clock_us(CLOCK_MONOTONIC);

	need(!salvo_slot_start(slot, kernel), "salvo_slot_start");
	while (salvo_slot_poll(slot))
		__builtin_ia32_pause();
	return clock_us(CLOCK_MONOTONIC) - start;
}

static double as_batch(void)
{
	const double start = clock_us(CLOCK_MONOTONIC);
	struct salvo_fence *fence;

	need(!salvo_queue_submit(queue, batch, NULL, 0, &fence), "salvo_queue_submit");
	need(!salvo_fence_wait(fence, -1), "salvo_fence_wait");
	salvo_fence_destroy(fence);
	return clock_us(CLOCK_MONOTONIC) - start;
}

static void show(const char *name, double *us, unsigned int rounds, bool json)
{
	const double middle = median(us, rounds);

	printf(json ? "{\"way\":\"%s\",\"median_us\":%.3f,\"p5_us\":%.3f}\n" :
		      "%-16s %9.3f %9.3f\n", name, middle, us[rounds / 20]);
}

int main(int argc, char **argv)
{
	static double us[2][ROUNDS_MAX];
	struct salvo_slot *slot;
	unsigned int rounds = 20000, i;
	bool json = false;
	int arg;

	for (arg = 1; arg < argc; arg++)
		need(bench_option(argv, &arg, &json, &rounds), "usage: leaf [--json] [--rounds N]: the arguments");
	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	create();
	pin();
	need(!salvo_slot_attach(queue, 1, NULL, NULL, &slot), "salvo_slot_attach");
	for (i = 0; i < rounds; i++) {
		/* The first round finds the unit's caches filled by the batch. */
		through_slot(slot);
		us[0][i] = through_slot(slot);
		us[1][i] = as_batch();
	}
	if (!json)
		printf("us                  median       5 %%\n");
	show("slot", us[0], rounds, json);
	show("batch of one", us[1], rounds, json);
	salvo_slot_detach(slot);
	return 0;
}
