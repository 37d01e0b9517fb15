/* SPDX-License-Identifier: MIT */
/*
 * inject.h - fault injection
 */
#ifndef SALVO_INJECT_H
#define SALVO_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct salvo_packet_result;
struct salvo_regs;

#define SALVO_INJECT_ITEMS	16u
#define SALVO_INJECT_MAX_BATCH	1000000000u
#define SALVO_INJECT_MAX_MS	60000u

enum salvo_inject_kind {
	SALVO_INJECT_LOST_IRQ,
	SALVO_INJECT_LATE_FENCE,
	SALVO_INJECT_WRONG_SEQNO,
	SALVO_INJECT_CORRUPT,
	SALVO_INJECT_BAD_RESULT,
	SALVO_INJECT_STUCK_UNITS,
	SALVO_INJECT_CRASH,
};

/**
 * struct salvo_inject - Faults that batches are to have.
 */
struct salvo_inject {
	struct {
		enum salvo_inject_kind kind;
		/** @batch: Which batch, counted from 1. */
		uint32_t batch;
		/** @value: Milliseconds, difference of the seqno, or number of the register. */
		int64_t value;
	} item[SALVO_INJECT_ITEMS];
	/** @count: Of @item; 0 if off. */
	uint32_t count;
	/** @batches: Batches counted so far. */
	uint32_t batches;
	/** @stuck_units: A batch has triggered that fault: see salvo_inject_stick(). */
	bool stuck_units;
};

/**
 * struct salvo_injected - The faults of one batch.
 */
struct salvo_injected {
	/** @counted: It has been counted. */
	bool counted;
	bool lost_irq;
	/** @until: Its fence retires no earlier, in ticks of the clock. */
	uint64_t until;
	/** @add: Added to the seqno in the fence register. */
	uint64_t add;
	/** @corrupt: Mask of registers. */
	uint32_t corrupt;
	bool bad_result;
};

/**
 * salvo_inject_parse() - Parse a list of faults.
 * @inject: Gets them; @batches is 0.
 * @text: See salvo_gpu_check_inject(). An empty text is an empty list.
 * @why: Gets what is wrong; SALVO_GPU_WHY bytes.
 *
 * Return: 0 or -EINVAL.
 */
int salvo_inject_parse(struct salvo_inject *inject, const char *text, char *why);

/**
 * salvo_inject_count() - Count a batch that is ready to retire, and look up its faults.
 *
 * Does not return if that is a crash.
 */
void salvo_inject_count(struct salvo_inject *inject, struct salvo_injected *injected);

/**
 * salvo_inject_corrupt() - Overwrite the registers of the fault, after the fence was written.
 */
void salvo_inject_corrupt(const struct salvo_injected *injected, struct salvo_regs *regs);

/**
 * salvo_inject_spoil() - Change a result to a fault with impossible details.
 */
void salvo_inject_spoil(struct salvo_packet_result *result);

/**
 * salvo_inject_stick() - Make all unit registers claim a batch that does not exist.
 */
void salvo_inject_stick(struct salvo_regs *regs);

/**
 * struct salvo_inject_control - Lines from a FIFO.
 */
struct salvo_inject_control {
	/** @line: What has been read of the next line; dropped if it is too long. */
	char line[512];
	size_t length;
	bool too_long;
};

/**
 * salvo_inject_control_read() - Read and split what is available.
 * @fd: The FIFO, non-blocking.
 * @take: Called with each line without its newline, or with NULL for one that is too long.
 */
void salvo_inject_control_read(struct salvo_inject_control *control, int fd,
			       void (*take)(void *cookie, const char *line), void *cookie);

#endif /* SALVO_INJECT_H */
