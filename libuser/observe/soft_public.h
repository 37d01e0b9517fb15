/* SPDX-License-Identifier: MIT */
/*
 * soft_public.h - what an embedded GPU shows to salvo-top
 *
 * The registers of an embedded GPU and its counters are kept in a memfd of the name
 * SOFT_PUBLIC_NAME, so that another process which may look into ours finds it as
 * /proc/PID/fd/N and reads it there. That costs nothing while nobody looks, leaves
 * nothing behind, and the kernel decides who may look: those who might trace us. The
 * first page is struct salvo_regs, the second struct soft_public. Readers use pread(): they
 * must trust neither the size nor the contents.
 */
#ifndef SALVO_SOFT_PUBLIC_H
#define SALVO_SOFT_PUBLIC_H

#include <stdint.h>

#include "salvo_hw.h"

#define SOFT_PUBLIC_NAME	"salvo-soft"
#define SOFT_PUBLIC_MAGIC	0x54464f53u	/* "SOFT" */
#define SOFT_PUBLIC_BYTES	(2 * SALVO_REGS_BYTES)

/**
 * struct soft_public - Counters since the device was opened; each is read and written whole.
 */
struct soft_public {
	/** @magic: SOFT_PUBLIC_MAGIC, written last. */
	uint32_t magic;
	/** @bytes: Of this structure, which may grow. */
	uint32_t bytes;
	/** @packets: In the ring so far, those of buffers included. */
	uint64_t packets;
	uint64_t doorbells;
	uint64_t interrupts;
	uint64_t completions;
	/** @queues: That exist. */
	uint64_t queues;
	/** @batches: Submitted and not done. */
	uint64_t batches;
	/** @vram_used: Bytes of buffers. */
	uint64_t vram_used;
	/** @slots: That units are attached to. */
	uint64_t slots;
};

#endif /* SALVO_SOFT_PUBLIC_H */
