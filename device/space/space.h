/* SPDX-License-Identifier: MIT */
/*
 * space.h - address spaces as processes, as the device sees them
 */
#ifndef SALVO_SPACE_H
#define SALVO_SPACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "prio_table.h"
#include "jobs.h"
#include "salvo_hw.h"
#include "space_block.h"
#include "zygote.h"

/*
 * Address spaces that may have a process at one time. Each takes some threads of the host, and
 * nothing but this keeps a hostile driver from having any number of them.
 */
#define SALVO_SPACES_MOST	1024u
/* Processes of one address space that may be on their way out at one time */
#define SALVO_SPACE_LEAVING	4u

/**
 * struct salvo_sent - A job that the process has.
 */
struct salvo_sent {
	/** @job: NULL once it was given up. */
	struct salvo_gpu_job *job;
	/** @at: When it was sent. */
	uint64_t at;
	/** @packets_end: Of struct salvo_channel, when its packet was put there. */
	uint64_t packets_end;
};

/**
 * struct salvo_channel - The device's side of one ring of the process. Nothing is read back.
 */
struct salvo_channel {
	/** @sent: By sequence number. */
	struct salvo_sent sent[SALVO_BLOCK_ENTRIES];
	/** @first, @next: Sequence numbers: the oldest that is not done, the next to be sent. */
	uint64_t first;
	uint64_t next;
	/** @packets_first, @packets_next: The same in bytes of packets, free-running. */
	uint64_t packets_first;
	uint64_t packets_next;
};

/**
 * struct salvo_space - One address space.
 */
struct salvo_space {
	struct salvo_spaces *spaces;
	uint32_t asid;
	pthread_t thread;
	/** @kick: Futex: counted up when the thread has something new to look at. */
	_Atomic uint32_t kick;
	/** @prio_slot: On the board, for whatever process the address space has. */
	uint32_t prio_slot;
	/** @next: In the list of struct salvo_spaces; under its lock. */
	struct salvo_space *next;

	/** @lock: Protects all below. */
	pthread_mutex_t lock;
	/** @block: Shared with the process; NULL while there is none. */
	struct salvo_space_block *block;
	/** @completion_seen: What the block's word of that name was when its fences were looked at. */
	uint32_t completion_seen;
	/** @id: Of the process, for the zygote. */
	uint64_t id;
	/** @pid: Its number, once it is known; else 0. */
	pid_t pid;
	/** @last_cpu, @last_sent: At the last look: its ns, and packets, or ~0 if it had any. */
	uint64_t last_cpu;
	uint64_t last_sent;
	/** @leaving: Processes before it that were ended and are not gone yet, @leaving_count. */
	uint64_t leaving[SALVO_SPACE_LEAVING];
	unsigned int leaving_count;
	/** @stopped: We ended it. */
	bool stopped;
	/** @gone: It has ended, with @status. */
	bool gone;
	int status;
	/** @stale: The bindings are not those that the process was started with. */
	bool stale;
	/** @ending: The address space is no more, or the GPU is. */
	bool ending;
	/** @killing: The process has jobs of @kill_ctx, which it was told to kill. */
	bool killing;
	uint32_t kill_ctx;
	/** @kill_since: When the process was first told of @kill_request. */
	uint64_t kill_since;
	/** @kill_request: Of the GPU's registers, the last that concerned a job here. */
	uint32_t kill_request;
	struct salvo_channel channel[SALVO_MAX_RINGS];
	/** @jobs: Of each lane that the process has, for the board. */
	uint32_t jobs[SALVO_PRIOS];
	/** @waiting: Jobs that could not be sent, in order, by their @ctx_next. */
	struct salvo_gpu_job *waiting;
	struct salvo_gpu_job *last_waiting;
};

/**
 * struct salvo_spaces - All address spaces of a GPU.
 */
struct salvo_spaces {
	struct salvo_gpu *gpu;
	struct salvo_zygote zygote;
	/** @prio_table: What units run, shared with all processes. */
	struct salvo_prio_table *prio_table;
	/** @reaper: The thread that hears of processes that ended. */
	pthread_t reaper;
	/** @lock: Protects the list. Before that of an address space. */
	pthread_mutex_t lock;
	/** @empty: Signalled when the last one leaves the list. */
	pthread_cond_t empty;
	struct salvo_space *list;
	/** @count: Of @list. */
	unsigned int count;
	/** @prio_slots: Those of the board that have an address space; under the lock. */
	uint64_t prio_slots;
	_Atomic uint64_t ids;
	/** @ending: The zygote is to end. */
	_Atomic bool ending;
};

#endif /* SALVO_SPACE_H */
