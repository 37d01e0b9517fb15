// SPDX-License-Identifier: MIT
/*
 * packet.c - fuzz the command processor: any bytes as a packet
 *
 * The first byte of the input selects the fields of the packet that are corrected, so that the
 * fuzzer gets past the head; the rest is the packet. VRAM is small and its code is full of return
 * instructions, so that every kernel ends; a reset ends batches that would take long. All inputs
 * use the same GPU; the handshake restores its initial state.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"

#define VRAM_BYTES	(256u << 10)
#define CODE_BYTES	4096u
#define SYSTEM_BYTES	(128u << 10)
#define RING_AT		4096u
#define RESULT_AT	8192u
#define PACKET_AT	16384u
#define MAX_PACKET	(SYSTEM_BYTES - PACKET_AT)
#define VA_BASE		0x200000000000ull

/* What the first byte corrects */
#define FIX_HEAD	(1u << 0)
#define SPACE_PACKET	(1u << 1)
#define FIX_CLOSE	(1u << 2)

static struct salvo_gpu *gpu;
static struct salvo_regs *regs;
static uint8_t *system_memory;

static void create(void)
{
	struct salvo_gpu_config config = {
		.vram_fd = file(VRAM_BYTES), .vram_bytes = VRAM_BYTES, .va_base = VA_BASE,
		.units = 1, .system_bytes = SYSTEM_BYTES, .system_fd = file(SYSTEM_BYTES),
		.contain_faults = true,
	};
	uint8_t *vram = map(config.vram_fd, VRAM_BYTES);

	memset(vram, 0xc3, CODE_BYTES);
	munmap(vram, VRAM_BYTES);
	regs = map(file(SALVO_REGS_BYTES), SALVO_REGS_BYTES);
	system_memory = map(config.system_fd, SYSTEM_BYTES);
	config.regs = regs;
	config.system_base = system_memory;
	need(!salvo_gpu_create(&config, &gpu));
}

/* The handshake, then an empty ring */
static void reset(void)
{
	regs->bus_master = 1;
	regs->reset_request = regs->reset_ack + 1;
	salvo_gpu_doorbell(gpu, SALVO_DOORBELL_RESET);
	need(regs->reset_ack == regs->reset_request);
	regs->ring[0].base = RING_AT;
	regs->ring[0].entries = SALVO_RING_MIN_ENTRIES;
	regs->ring[0].enable = 1;
}

static void push(uint32_t ctx, uint32_t bytes)
{
	const uint64_t tail = regs->ring[0].tail;
	const struct salvo_ring_entry entry = {
		.packet = PACKET_AT, .packet_bytes = bytes, .seqno = tail + 1, .asid = 1,
		.ctx = ctx,
	};

	((struct salvo_ring_entry *)(system_memory + RING_AT))[tail] = entry;
	__atomic_store_n(&regs->ring[0].tail, tail + 1, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(gpu, SALVO_DOORBELL_RING(0));
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
	const struct salvo_packet_result *result = (void *)(system_memory + RESULT_AT);

	memcpy(system_memory + PACKET_AT, &packet, sizeof(packet));
	push(0, sizeof(packet));
	need(result->status == SALVO_STATUS_DONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct salvo_packet *head;
	uint8_t fix;
	unsigned int i;

	if (!gpu)
		create();
	if (size < 1 + sizeof(*head) || size > MAX_PACKET)
		return -1;
	fix = data[0];
	size = (size - 1) & ~7ull;
	reset();
	bind();
	memset(system_memory + RESULT_AT, 0, sizeof(struct salvo_packet_result));
	head = (struct salvo_packet *)(system_memory + PACKET_AT);
	memcpy(head, data + 1, size);
	if (fix & FIX_HEAD) {
		head->magic = SALVO_PACKET_MAGIC;
		head->bytes = size;
		head->fence_id = 2;
		head->result = RESULT_AT;
	}
	if (fix & FIX_CLOSE && head->command_bytes >= sizeof(struct salvo_op_close) &&
	    head->command_bytes % 8 == 0 && head->command_bytes <= size - sizeof(*head)) {
		const struct salvo_op_close close = {
			.op = { SALVO_OP_CLOSE, sizeof(close), 0 }, .fence_id = 2,
		};

		memcpy((uint8_t *)(head + 1) + head->command_bytes - sizeof(close), &close,
		       sizeof(close));
	}
	push(fix & SPACE_PACKET ? 0 : 1, size);
	for (i = 0; i < 1000 && __atomic_load_n(&regs->ring[0].fence, __ATOMIC_ACQUIRE) < 2; i++)
		__builtin_ia32_pause();
	return 0;
}
