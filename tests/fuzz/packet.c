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

#include "small_gpu.h"

#define MAX_PACKET	(SYSTEM_BYTES - PACKET_AT)

/* What the first byte corrects */
#define FIX_HEAD	(1u << 0)
#define SPACE_PACKET	(1u << 1)
#define FIX_CLOSE	(1u << 2)
/* The packet is three batches that overlap */
#define OVERLAP		(1u << 3)

static void correct(struct salvo_packet *head, size_t size, uint8_t fix, uint64_t seqno)
{
	const struct salvo_op_close close = {
		.op = { SALVO_OP_CLOSE, sizeof(close), 0 }, .fence_id = seqno,
	};

	if (fix & FIX_HEAD) {
		head->magic = SALVO_PACKET_MAGIC;
		head->bytes = size;
		head->fence_id = seqno;
		head->result = RESULT_AT;
	}
	if (fix & FIX_CLOSE && head->command_bytes >= sizeof(close) &&
	    head->command_bytes % 8 == 0 && head->command_bytes <= size - sizeof(*head))
		memcpy((uint8_t *)(head + 1) + head->command_bytes - sizeof(close), &close,
		       sizeof(close));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct salvo_packet *head;
	unsigned int i, last;
	uint8_t fix;

	if (!gpu)
		create(1);
	if (size < 1 + sizeof(*head) || size > MAX_PACKET)
		return -1;
	fix = data[0];
	size = (size - 1) & ~7ull;
	reset();
	bind();
	memset(system_memory + RESULT_AT, 0, sizeof(struct salvo_packet_result));
	head = (struct salvo_packet *)(system_memory + PACKET_AT);
	memcpy(head, data + 1, size);
	for (i = 0; i < (fix & OVERLAP ? 3 : 1); i++) {
		correct(head, size, fix, 2 + i);
		push(fix & SPACE_PACKET ? 0 : 1, size, fix & OVERLAP ? SALVO_RING_OVERLAP : 0);
	}
	last = 1 + i;
	for (i = 0; i < 1000 && __atomic_load_n(&regs->ring[0].fence, __ATOMIC_ACQUIRE) < last; i++)
		__builtin_ia32_pause();
	return 0;
}
