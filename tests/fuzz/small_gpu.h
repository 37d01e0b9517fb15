/* SPDX-License-Identifier: MIT */
/*
 * small_gpu.h - a GPU with little memory, whose code is full of return instructions
 */
#ifndef FUZZ_SMALL_GPU_H
#define FUZZ_SMALL_GPU_H

#include <stdint.h>
#include <string.h>

#include "memory.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"

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

/* Also maps @vram. */
static inline void create(unsigned int units)
{
	struct salvo_gpu_config config = {
		.vram_fd = file(VRAM_BYTES), .vram_bytes = VRAM_BYTES, .va_base = VA_BASE,
		.units = units, .system_bytes = SYSTEM_BYTES, .system_fd = file(SYSTEM_BYTES),
		.contain_faults = true,
	};

	vram = map(config.vram_fd, VRAM_BYTES);
	memset(vram, 0xc3, CODE_BYTES);
	regs = map(file(SALVO_REGS_BYTES), SALVO_REGS_BYTES);
	system_memory = map(config.system_fd, SYSTEM_BYTES);
	config.regs = regs;
	config.system_base = system_memory;
	need(!salvo_gpu_create(&config, &gpu));
}

/* The handshake, then an empty ring */
static inline void reset(void)
{
	regs->bus_master = 1;
	regs->reset_request = regs->reset_ack + 1;
	salvo_gpu_doorbell(gpu, SALVO_DOORBELL_RESET);
	need(regs->reset_ack == regs->reset_request);
	regs->ring[0].base = RING_AT;
	regs->ring[0].entries = SALVO_RING_MIN_ENTRIES;
	regs->ring[0].enable = 1;
}

static inline void push(uint32_t ctx, uint32_t bytes, uint32_t flags)
{
	const uint64_t tail = regs->ring[0].tail;
	const struct salvo_ring_entry entry = {
		.packet = PACKET_AT, .packet_bytes = bytes, .seqno = tail + 1, .asid = 1,
		.ctx = ctx, .flags = flags,
	};

	((struct salvo_ring_entry *)(system_memory + RING_AT))[tail] = entry;
	__atomic_store_n(&regs->ring[0].tail, tail + 1, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(gpu, SALVO_DOORBELL_RING(0));
}

/* Code, followed by data */
static inline void bind(void)
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
	const struct salvo_packet_result *result = (void *)(system_memory + RESULT_AT);

	memcpy(system_memory + PACKET_AT, &packet, sizeof(packet));
	push(0, sizeof(packet), 0);
	need(result->status == SALVO_STATUS_DONE);
}

#endif /* FUZZ_SMALL_GPU_H */
