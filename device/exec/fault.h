/* SPDX-License-Identifier: MIT */
/*
 * fault.h - the fault record
 */
#ifndef SALVO_FAULT_H
#define SALVO_FAULT_H

#include <pthread.h>
#include <stdint.h>

struct salvo_regs;

#define SALVO_FAULT_NO_COMMAND (~0u)
#define SALVO_FAULT_NO_ITEM (~0u)

/**
 * struct salvo_fault - What happened; fields as in struct salvo_fault_regs.
 */
struct salvo_fault {
	uint64_t seqno;
	uint64_t address;
	uint64_t group;
	uint32_t kind;
	uint32_t asid;
	uint32_t ctx;
	uint32_t command;
	uint32_t access;
	uint32_t item;
	uint64_t nearest;
	uint64_t nearest_bytes;
};

/**
 * struct salvo_faults - The writer of the fault record.
 */
struct salvo_faults {
	struct salvo_regs *regs;
	/** @lock: Protects the record: one writer at a time. */
	pthread_mutex_t lock;
	/** @count: Faults so far. */
	uint64_t count;
};

void salvo_faults_init(struct salvo_faults *faults, struct salvo_regs *regs);
void salvo_faults_fini(struct salvo_faults *faults);

/**
 * salvo_fault_record() - Write the record.
 *
 * The caller raises SALVO_VECTOR_FAULT when it holds no lock.
 */
void salvo_fault_record(struct salvo_faults *faults, const struct salvo_fault *fault);

#endif /* SALVO_FAULT_H */
