// SPDX-License-Identifier: MIT
/*
 * submit_insns.c - the calls of a frame of 33 workloads, marked for insn_count.c
 *
 * Runs in the virtual machine; tests/bench/results prints the results. Span 0 is the submission of
 * one batch of 33 dispatches, span 1 that of one dispatch; span 2 and 3 are waits for the two after
 * they are done. The counts include user space, kernel and interrupts on that CPU; hence the
 * medians.
 *
 * usage: submit_insns DEVICE PROGRAM.salvo
 */
#include <sched.h>
#include <unistd.h>

#include "bench.h"
#include "insn_marker.h"
#include "salvo.h"

#define WORKLOADS	33
#define ROUNDS		300

/* Fills the batch with @count tiny dispatches. */
static void record(struct salvo_batch *batch, struct salvo_kernel *kernel, struct salvo_bo *bo,
		   unsigned int count)
{
	unsigned int i;

	salvo_batch_reset(batch);
	for (i = 0; i < count; i++) {
		const uint32_t value = i;

		need(!salvo_kernel_set_bo(kernel, 0, bo, i * 64), "salvo_kernel_set_bo");
		need(!salvo_kernel_set_value(kernel, 1, &value, sizeof(value)),
		     "salvo_kernel_set_value");
		need(salvo_batch_dispatch(batch, kernel) >= 0, "salvo_batch_dispatch");
	}
}

int main(int argc, char **argv)
{
	const uint32_t one = 1;
	struct salvo_fence *fences[WORKLOADS], *fence;
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	struct salvo_device *device;
	struct salvo_batch *batch;
	struct salvo_queue *queue;
	struct salvo_bo *bo;
	unsigned int round, i;
	cpu_set_t cpu;

	need(argc == 3, "usage: submit_insns DEVICE PROGRAM.salvo: it");
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	need(!sched_setaffinity(0, sizeof(cpu), &cpu), "sched_setaffinity");
	need(!salvo_device_open(argv[1], &device), "salvo_device_open");
	need(!salvo_program_load_file(device, argv[2], &program), "salvo_program_load_file");
	need(!salvo_kernel_create(program, "tiny", &kernel), "salvo_kernel_create");
	need(!salvo_kernel_set_grid(kernel, 1, &one, &one), "salvo_kernel_set_grid");
	need(!salvo_queue_create(device, 0, &queue), "salvo_queue_create");
	need(!salvo_bo_create(device, WORKLOADS * 64, 0, &bo), "salvo_bo_create");
	need(!salvo_batch_create(device, &batch), "salvo_batch_create");

	for (round = 0; round < ROUNDS; round++) {
		record(batch, kernel, bo, WORKLOADS);
		INSN_SPAN_START(0);
		need(!salvo_queue_submit(queue, batch, NULL, 0, &fence), "salvo_queue_submit");
		INSN_SPAN_END(0);
		/* Long after completion, so that only the call itself is counted. */
		usleep(5000);
		INSN_SPAN_START(2);
		need(!salvo_fence_wait(fence, -1), "salvo_fence_wait");
		INSN_SPAN_END(2);
		salvo_fence_destroy(fence);

		record(batch, kernel, bo, 1);
		for (i = 0; i < WORKLOADS; i++) {
			INSN_SPAN_START(1);
			need(!salvo_queue_submit(queue, batch, NULL, 0, &fences[i]),
			     "salvo_queue_submit");
			INSN_SPAN_END(1);
		}
		usleep(5000);
		for (i = 0; i < WORKLOADS; i++) {
			INSN_SPAN_START(3);
			need(!salvo_fence_wait(fences[i], -1), "salvo_fence_wait");
			INSN_SPAN_END(3);
			salvo_fence_destroy(fences[i]);
		}
	}

	salvo_batch_destroy(batch);
	salvo_bo_destroy(bo);
	salvo_queue_destroy(queue);
	salvo_kernel_destroy(kernel);
	salvo_program_destroy(program);
	salvo_device_close(device);
	return 0;
}
