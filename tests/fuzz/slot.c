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
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"
#include "salvo_leaf.h"

#define VRAM_BYTES	(256u << 10)
#define CODE_BYTES	4096u
#define SYSTEM_BYTES	(128u << 10)
#define RING_AT		4096u
#define RESULT_AT	8192u
#define PACKET_AT	16384u
#define VA_BASE		0x200000000000ull

static struct salvo_gpu *gpu;
static struct salvo_regs *regs;
static uint8_t *system_memory;
static uint8_t *vram;

static void ended(void *cookie)
{
	++*(unsigned int *)cookie;
}

/* Code, followed by data */
static void bind(void)
{
	struct {
		struct salvo_packet head;
		struct salvo_op_bind op[2];
		struct salvo_op_close close;
	} packet = {
		.head = { .magic = SALVO_PACKET_MAGIC, .bytes = sizeof(packet), .fence_id = 1,
			  .kind = SALVO_PACKET_SPACE, .command_count = 2,
			  .command_bytes = sizeof(packet) - sizeof(packet.head),
			  .result = RESULT_AT },
		.op = {
			{ .op = { SALVO_OP_BIND, sizeof(packet.op[0]), 0 }, .address = VA_BASE,
			  .size = CODE_BYTES, .access = SALVO_ACCESS_READ | SALVO_ACCESS_EXEC },
			{ .op = { SALVO_OP_BIND, sizeof(packet.op[0]), 0 },
			  .address = VA_BASE + CODE_BYTES, .size = VRAM_BYTES / 2,
			  .access = SALVO_ACCESS_READ | SALVO_ACCESS_WRITE },
		},
		.close = { .op = { SALVO_OP_CLOSE, sizeof(packet.close), 0 }, .fence_id = 1 },
	};
	const struct salvo_ring_entry entry = {
		.packet = PACKET_AT, .packet_bytes = sizeof(packet), .seqno = 1, .asid = 1,
	};
	const struct salvo_packet_result *result = (void *)(system_memory + RESULT_AT);

	memcpy(system_memory + PACKET_AT, &packet, sizeof(packet));
	*(struct salvo_ring_entry *)(system_memory + RING_AT) = entry;
	__atomic_store_n(&regs->ring[0].tail, 1, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(gpu, SALVO_DOORBELL_RING(0));
	need(result->status == SALVO_STATUS_DONE);
}

static void create(void)
{
	struct salvo_gpu_config config = {
		.vram_fd = file(VRAM_BYTES), .vram_bytes = VRAM_BYTES, .va_base = VA_BASE,
		.units = 2, .system_bytes = SYSTEM_BYTES, .system_fd = file(SYSTEM_BYTES),
		.contain_faults = true,
	};

	vram = map(config.vram_fd, VRAM_BYTES);
	memset(vram, 0xc3, CODE_BYTES);
	regs = map(file(SALVO_REGS_BYTES), SALVO_REGS_BYTES);
	system_memory = map(config.system_fd, SYSTEM_BYTES);
	config.regs = regs;
	config.system_base = system_memory;
	need(!salvo_gpu_create(&config, &gpu));
	regs->bus_master = 1;
	regs->reset_request = regs->reset_ack + 1;
	salvo_gpu_doorbell(gpu, SALVO_DOORBELL_RESET);
	regs->ring[0].base = RING_AT;
	regs->ring[0].entries = SALVO_RING_MIN_ENTRIES;
	regs->ring[0].enable = 1;
	bind();
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

	if (!gpu)
		create();
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
