// SPDX-License-Identifier: MIT
/*
 * slot.c - fuzz the slot of a worker: any bytes as a task, also written while units read it
 *
 * The input is a list of writes to the slot: two bytes of offset, one of length; the highest bit of
 * the first byte rings the doorbell afterwards. Writes after that race with the units. VRAM is
 * small and its code is full of return instructions; a leaf that takes long is abandoned. Two units
 * share the slot.
 */
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "salvo_leaf.h"
#include "small_gpu.h"

static void ended(void *cookie)
{
	++*(unsigned int *)cookie;
}

/* A valid task, so that the writes change something that would run. */
static void init_slot(struct salvo_slot_regs *slot)
{
	memset(slot, 0, sizeof(*slot));
	slot->opcode = SALVO_SLOT_RUN;
	slot->dispatch = (struct salvo_op_dispatch){
		.entry = VA_BASE + 16, .items = { 100, 3, 1 }, .group = { 8, 1, 1 },
		.args_size = 16, .local_size = 64, .dims = 2,
	};
}

/* Waits until the doorbell is 0 or the unit has left the slot. */
static void wait_for_end(struct salvo_slot_regs *slot, unsigned int number)
{
	unsigned int i;

	for (i = 0; __atomic_load_n(&slot->doorbell, __ATOMIC_ACQUIRE) == 1; i++) {
		if (__atomic_load_n(&slot->status, __ATOMIC_RELAXED) == SALVO_SLOT_DETACHED)
			return;
		salvo_gpu_slot_wake(gpu, number);
		if (i > 200)
			salvo_gpu_slot_sample(gpu, 50);
		sched_yield();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct salvo_slot_regs *slot;
	unsigned int notified = 0;
	struct salvo_gpu_slot_config config = {
		.asid = 1, .units = 3, .address = VA_BASE + CODE_BYTES, .ended = ended,
		.cookie = &notified,
	};
	int number;

	if (!gpu) {
		create(2);
		reset();
		bind();
	}
	slot = (struct salvo_slot_regs *)(vram + CODE_BYTES);
	init_slot(slot);
	number = salvo_gpu_slot_attach(gpu, &config);
	need(number >= 0);
	while (size >= 3) {
		const size_t at = (data[0] & 0x7f) << 8 | data[1];
		size_t bytes = data[2] < size - 3 ? data[2] : size - 3;
		const bool ring = data[0] & 0x80;

		if (at < sizeof(*slot))
			memcpy((uint8_t *)slot + at, data + 3,
			       bytes < sizeof(*slot) - at ? bytes : sizeof(*slot) - at);
		data += 3 + bytes;
		size -= 3 + bytes;
		if (ring) {
			__atomic_store_n(&slot->doorbell, 1, __ATOMIC_RELEASE);
			salvo_gpu_slot_wake(gpu, number);
		}
	}
	wait_for_end(slot, number);
	/* The unit must take the next task, unless it left or the input wrote to the doorbell. */
	salvo_gpu_slot_detach(gpu, number);
	return 0;
}
