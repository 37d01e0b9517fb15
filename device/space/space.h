/* SPDX-License-Identifier: MIT */
/*
 * space.h - one address space and its process, as the device sees them
 */
#ifndef SALVO_SPACE_H
#define SALVO_SPACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "jobs.h"
#include "prio_table.h"
#include "salvo_hw.h"
#include "space_block.h"

/* Processes of one address space that may be exiting at one time */
#define SALVO_SPACE_LEAVING	4u

struct salvo_spaces;
struct salvo_zygote_event;

/**
 * struct salvo_sent - A job that was sent to the process.
 */
struct salvo_sent {
	/** @job: NULL once it was killed. */
	struct salvo_gpu_job *job;
	/** @at: When it was sent, in ticks of the clock. */
	uint64_t at;
	/** @packets_end: @packets_next of the channel after its packet. */
	uint64_t packets_end;
};

/**
 * struct salvo_channel - The device's state of one ring of the process.
 *
 * The process cannot see or change it.
 */
struct salvo_channel {
	/** @sent: By sequence number. */
	struct salvo_sent sent[SALVO_BLOCK_ENTRIES];
	/** @first, @next: Seqnos: the oldest that is not done, and the next to be sent. */
	uint64_t first;
	uint64_t next;
	/** @packets_first, @packets_next: The same in bytes of packets; never wrapped. */
	uint64_t packets_first;
	uint64_t packets_next;
};

/**
 * struct salvo_space_slot - A slot of an address space; no slot if @ctx is 0.
 */
struct salvo_space_slot {
	uint32_t ctx;
	int32_t priority;
	uint64_t units;
	uint64_t address;
	/** @wake_seen: Value of slot_wake in the registers for which its unit was woken last. */
	uint32_t wake_seen;
};

/**
 * struct salvo_space - One address space.
 */
struct salvo_space {
	struct salvo_spaces *spaces;
	uint32_t asid;
	pthread_t thread;
	/** @kick: Futex: incremented when the thread has something to do. */
	_Atomic uint32_t kick;
	/** @prio_slot: In the prio table, or SALVO_PRIO_NO_SLOT; kept by successive processes. */
	uint32_t prio_slot;
	/** @next: In the list of struct salvo_spaces; under its lock. */
	struct salvo_space *next;

	/** @lock: Protects all below. */
	pthread_mutex_t lock;
	/** @block: Shared with the process; NULL while there is none. */
	struct salvo_space_block *block;
	/** @completion_seen: The block's completion_seq when its fences were read last. */
	uint32_t completion_seen;
	/** @id: Names the process to the zygote. */
	uint64_t id;
	/** @pid: Of the process, once the zygote has reported it; else 0. */
	pid_t pid;
	/** @last_cpu, @last_sent: At the last sample: CPU ns; packets sent, ~0 if it was busy. */
	uint64_t last_cpu;
	uint64_t last_sent;
	/** @leaving: Earlier processes that were killed and have not exited; @leaving_count. */
	uint64_t leaving[SALVO_SPACE_LEAVING];
	unsigned int leaving_count;
	/** @stopped: The device has killed it. */
	bool stopped;
	/** @gone: It has exited, with @status. */
	bool gone;
	int status;
	/** @stale: The bindings have changed since the process was forked. */
	bool stale;
	/** @ending: The address space, or the GPU, ends. */
	bool ending;
	/** @killing: It was asked to kill jobs of @kill_ctx from @kill_from on, and has some. */
	bool killing;
	uint32_t kill_ctx;
	uint64_t kill_from;
	/** @kill_since: When the process was asked. */
	uint64_t kill_since;
	/** @kill_request: The last request of the GPU's registers that concerned a job here. */
	uint32_t kill_request;
	struct salvo_channel channel[SALVO_MAX_RINGS];
	/** @jobs: Jobs in the process and slots, by priority, for the prio table. */
	uint32_t jobs[SALVO_PRIOS];
	/** @slots: By number; @slot_mask are those that are attached. */
	struct salvo_space_slot slots[SALVO_MAX_SLOTS];
	uint64_t slot_mask;
	/** @given: Slots that the process was started with, with the contexts @given_ctx. */
	uint64_t given;
	uint32_t given_ctx[SALVO_MAX_SLOTS];
	/** @drained_from: The leaves that ran when the process was told to begin no more. */
	uint32_t drained_from[SALVO_MAX_SLOTS];
	/** @shown: The leaf that each slot showed last, since @shown_since of CPU time. */
	uint32_t shown[SALVO_MAX_SLOTS];
	uint64_t shown_since[SALVO_MAX_SLOTS];
	/** @longest_leaf: The longest CPU time for which the process showed one leaf. */
	uint64_t longest_leaf;
	/** @leaf_ns, @leaf_at: The block's leaf_ns when it was read last, and when that was. */
	uint64_t leaf_ns;
	uint64_t leaf_at;
	/** @refused: A batch was refused before it was sent: the next one overlaps none. */
	bool refused;
	/** @waiting: Jobs that could not be sent yet, in order, linked by @ctx_next. */
	struct salvo_gpu_job *waiting;
	struct salvo_gpu_job *last_waiting;
};

/**
 * salvo_space_create() - Create an address space without a process, and its thread.
 * @prio_slot: For its processes.
 *
 * The thread frees it after salvo_spaces_remove().
 *
 * Return: NULL if there is no memory or no thread.
 */
struct salvo_space *salvo_space_create(struct salvo_spaces *spaces, uint32_t asid,
				       uint32_t prio_slot);

/* The following are called with the lock of the address space held. */

/** salvo_space_submit() - Send a job to the process, or let the thread do it once it can. */
void salvo_space_submit(struct salvo_space *space, struct salvo_gpu_job *job);

/** salvo_space_refused() - A batch was refused: the next one is sent when all others have ended. */
void salvo_space_refused(struct salvo_space *space);

/** salvo_space_changed() - The bindings or slots have changed: the process must be replaced. */
void salvo_space_changed(struct salvo_space *space);

/**
 * salvo_space_kill() - Have what runs of a context killed; end a process that does not comply.
 * @from: Seqno of the first batch that is killed.
 *
 * Return: whether the process has such jobs, or slots of the context.
 */
bool salvo_space_kill(struct salvo_space *space, uint32_t ctx, uint64_t from);

/** salvo_space_end() - The address space ends, with its jobs. */
void salvo_space_end(struct salvo_space *space);

/** salvo_space_is_over() - Is there nothing left to do for an address space that ends? */
bool salvo_space_is_over(const struct salvo_space *space);

/**
 * salvo_space_poll() - Collect what is done; see salvo_gpu_poll().
 *
 * Return: whether the process has jobs, or will get some.
 */
bool salvo_space_poll(struct salvo_space *space, bool stay, struct salvo_gpu_job **done);

/** salvo_space_check_idle() - End a process that computes without a job. */
void salvo_space_check_idle(struct salvo_space *space);

/**
 * salvo_space_sample_unit() - Copy a unit's registers if it runs a job that was sent.
 * @since: When the job that is shown for the unit was sent, or 0; the oldest one is shown.
 */
void salvo_space_sample_unit(struct salvo_space *space, unsigned int unit, uint64_t *since);

/** salvo_space_handle_event() - The zygote reports a process, maybe of this address space. */
void salvo_space_handle_event(struct salvo_space *space, const struct salvo_zygote_event *event);

/** salvo_space_lost() - The zygote has exited, and so have all processes. */
void salvo_space_lost(struct salvo_space *space);

#endif /* SALVO_SPACE_H */
