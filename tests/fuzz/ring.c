// SPDX-License-Identifier: MIT
/*
 * ring.c - fuzz registers, ring entries and doorbells: any order, any values
 *
 * The input is a list of steps: one byte selects the operation, its operands follow. The driver's
 * side may write any register and any system memory and ring any doorbell at any time; the device
 * must neither crash nor hang, and a handshake must always restore it.
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
#define SYSTEM_BYTES	(64u << 10)
#define RING_AT		4096u
#define PACKET_AT	8192u

enum step {
	STEP_REGISTER,		/* 2 bytes of offset, 8 of value */
	STEP_ENTRY,		/* 1 byte of slot, 64 of entry */
	STEP_MEMORY,		/* 2 bytes of offset, 1 of length, data */
	STEP_DOORBELL,		/* 1 byte */
	STEP_GOOD_ENTRY,	/* the next entry with valid fields: 1 byte of context */
	STEP_TAIL,		/* 1 byte to add */
	STEP_RING,		/* enable a ring with valid registers: 1 byte of which */
	STEP_HANDSHAKE,
	STEP_HEARTBEAT,
	STEPS,
};

static struct salvo_gpu *gpu;
static struct salvo_regs *regs;
static uint8_t *system_memory;

static void create(void)
{
	struct salvo_gpu_config config = {
		.vram_fd = file(VRAM_BYTES), .vram_bytes = VRAM_BYTES, .units = 1,
		.system_bytes = SYSTEM_BYTES, .system_fd = file(SYSTEM_BYTES),
		.contain_faults = true,
	};

	regs = map(file(SALVO_REGS_BYTES), SALVO_REGS_BYTES);
	system_memory = map(config.system_fd, SYSTEM_BYTES);
	config.regs = regs;
	config.system_base = system_memory;
	need(!salvo_gpu_create(&config, &gpu));
}

static void handshake(void)
{
	const uint32_t request = regs->reset_ack + 1;

	regs->bus_master = 1;
	regs->reset_request = request;
	salvo_gpu_doorbell(gpu, SALVO_DOORBELL_RESET);
	need(regs->reset_ack == request);
}

/* The rest of the input */
static const uint8_t *at, *end;

static void take(void *to, size_t bytes)
{
	const size_t left = end - at, got = bytes < left ? bytes : left;

	memset(to, 0, bytes);
	memcpy(to, at, got);
	at += got;
}

static uint8_t take_byte(void)
{
	uint8_t byte;

	take(&byte, 1);
	return byte;
}

/* The device uses its own copies of ring registers, so those may be overwritten too. */
static void write_register(void)
{
	uint16_t offset;
	uint64_t value;

	take(&offset, sizeof(offset));
	take(&value, sizeof(value));
	offset = offset % (SALVO_REGS_BYTES / 8) * 8;
	memcpy((uint8_t *)regs + offset, &value, sizeof(value));
}

static void write_memory(void)
{
	uint16_t offset;
	uint8_t data[255], length;

	take(&offset, sizeof(offset));
	length = take_byte();
	take(data, length);
	if (offset < SYSTEM_BYTES - length)
		memcpy(system_memory + offset, data, length);
}

static void write_entry(void)
{
	const uint8_t slot = take_byte();

	take(system_memory + RING_AT + slot % 64 * sizeof(struct salvo_ring_entry),
	     sizeof(struct salvo_ring_entry));
}

static void write_good_entry(unsigned int ring)
{
	const uint64_t tail = regs->ring[ring].tail;
	const struct salvo_ring_entry entry = {
		.packet = PACKET_AT, .packet_bytes = 256, .seqno = tail + 1, .asid = 1,
		.ctx = take_byte() % 4,
	};

	memcpy(system_memory + RING_AT + tail % SALVO_RING_MIN_ENTRIES * sizeof(entry), &entry,
	       sizeof(entry));
	regs->ring[ring].tail = tail + 1;
}

static void enable_ring(unsigned int ring)
{
	regs->ring[ring].base = RING_AT;
	regs->ring[ring].entries = SALVO_RING_MIN_ENTRIES;
	regs->ring[ring].enable = 1;
}

static void run_step(uint8_t step)
{
	switch (step % STEPS) {
	case STEP_REGISTER:
		write_register();
		break;
	case STEP_ENTRY:
		write_entry();
		break;
	case STEP_MEMORY:
		write_memory();
		break;
	case STEP_DOORBELL:
		salvo_gpu_doorbell(gpu, take_byte());
		break;
	case STEP_GOOD_ENTRY:
		write_good_entry(take_byte() % SALVO_MAX_RINGS);
		break;
	case STEP_TAIL:
		regs->ring[0].tail += take_byte();
		break;
	case STEP_RING:
		enable_ring(take_byte() % SALVO_MAX_RINGS);
		break;
	case STEP_HANDSHAKE:
		handshake();
		break;
	case STEP_HEARTBEAT:
		salvo_gpu_heartbeat(gpu);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!gpu)
		create();
	at = data;
	end = data + size;
	handshake();
	while (at < end)
		run_step(*at++);
	/* The device works again after a handshake. */
	handshake();
	memset(system_memory, 0, PACKET_AT);
	return 0;
}
