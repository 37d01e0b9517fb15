/* SPDX-License-Identifier: MIT */
/*
 * spaces.h - all address spaces of a GPU whose address spaces are processes
 */
#ifndef SALVO_SPACES_H
#define SALVO_SPACES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "zygote.h"

struct salvo_gpu;
struct salvo_gpu_job;
struct salvo_prio_table;
struct salvo_space;

/*
 * Address spaces that may have a process at one time. Each takes some threads of the host, and
 * nothing else limits how many a hostile driver creates.
 */
#define SALVO_SPACES_MOST 1024u

/**
 * struct salvo_spaces - All address spaces of a GPU.
 */
struct salvo_spaces {
	struct salvo_gpu *gpu;
	struct salvo_zygote zygote;
	/** @prio_table: Shared with all processes. */
	struct salvo_prio_table *prio_table;
	/** @reaper: The thread that receives events of the zygote. */
	pthread_t reaper;
	/** @lock: Protects the list. Before that of an address space. */
	pthread_mutex_t lock;
	/** @empty: Signalled when the list becomes empty. */
	pthread_cond_t empty;
	struct salvo_space *list;
	/** @count: Of @list. */
	unsigned int count;
	/** @slots: Number of slots that are attached; each is under its address space's lock. */
	_Atomic unsigned int slots;
	/** @prio_slots: Mask of those in use; under the lock. */
	uint64_t prio_slots;
	_Atomic uint64_t ids;
	/** @ending: The zygote exits because the GPU ends. */
	_Atomic bool ending;
};

/**
 * salvo_spaces_end_jobs() - End the jobs of a list, linked by @ctx_next. No lock is held.
 */
void salvo_spaces_end_jobs(struct salvo_spaces *spaces, struct salvo_gpu_job *job);

/**
 * salvo_spaces_remove() - Remove an address space from the list, if it is over.
 *
 * Return: whether it was; then the caller frees it.
 */
bool salvo_spaces_remove(struct salvo_space *space);

#endif /* SALVO_SPACES_H */
