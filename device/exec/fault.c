// SPDX-License-Identifier: MIT
/*
 * fault.c - the fault record
 *
 * The record in the registers holds the last fault. Its number is written before
 * the fields and again after them. A reader that reads the second one first and the
 * first one last, and finds them equal, has a consistent record.
 */
#include "fault.h"

#include "salvo_hw.h"

void salvo_faults_init(struct salvo_faults *faults, struct salvo_regs *regs)
{
	faults->regs = regs;
	faults->count = 0;
	pthread_mutex_init(&faults->lock, NULL);
}

void salvo_faults_fini(struct salvo_faults *faults)
{
	pthread_mutex_destroy(&faults->lock);
}

void salvo_fault_record(struct salvo_faults *faults, const struct salvo_fault *fault)
{
	struct salvo_fault_regs *record = &faults->regs->fault;

	pthread_mutex_lock(&faults->lock);
	__atomic_store_n(&record->begun, ++faults->count, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	record->seqno = fault->seqno;
	record->address = fault->address;
	record->kind = fault->kind;
	record->asid = fault->asid;
	record->ctx = fault->ctx;
	record->command = fault->command;
	record->group = fault->group;
	record->access = fault->access;
	record->item = fault->item;
	record->nearest = fault->nearest;
	record->nearest_bytes = fault->nearest_bytes;
	__atomic_store_n(&record->sequence, faults->count, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&faults->lock);
}
