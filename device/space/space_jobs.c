// SPDX-License-Identifier: MIT
/*
 * space_jobs.c - batches on their way to the process of an address space and back
 *
 * The block that both share holds rings, packets and results as system memory does for a driver
 * (space_block.h). The device's own state is in struct salvo_channel,
 * which the process does not see: what was sent, where its packet lies, what comes next. From the
 * block it reads a fence and a result, each once. A fence counts for no more than was
 * sent, and of a result only what is possible.
 *
 * All functions are called with the address space's lock held. They put jobs that are done
 * on a list, since they are ended without that lock.
 */
#include "space_jobs.h"

#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clock.h"
#include "gpu.h"
#include "space_slots.h"
#include "spaces.h"

struct salvo_sent *salvo_space_sent_at(struct salvo_channel *channel, uint64_t seqno)
{
	return &channel->sent[(seqno - 1) % SALVO_BLOCK_ENTRIES];
}

bool salvo_space_has_sent(struct salvo_space *space)
{
	unsigned int r;
	uint64_t s;

	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		struct salvo_channel *channel = &space->channel[r];

		for (s = channel->first; s != channel->next; s++)
			if (salvo_space_sent_at(channel, s)->job)
				return true;
	}
	return false;
}

uint64_t salvo_space_first_sent(struct salvo_space *space, uint32_t ctx, uint64_t from)
{
	unsigned int r;
	uint64_t s;

	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		struct salvo_channel *channel = &space->channel[r];

		for (s = channel->first; s != channel->next; s++) {
			const struct salvo_gpu_job *job = salvo_space_sent_at(channel, s)->job;

			if (job && job->entry.ctx == ctx && job->entry.seqno >= from)
				return s;
		}
	}
	return 0;
}

/* Allocates contiguous room for a packet. Returns its offset, or -1. */
static int64_t take_room(struct salvo_channel *channel, uint32_t bytes)
{
	const uint32_t size = (bytes + 63) & ~63u;
	uint64_t at;

	/* Start over: these pages are allocated and in the caches. */
	if (channel->first == channel->next) {
		channel->packets_first = 0;
		channel->packets_next = 0;
	}
	at = channel->packets_next;
	if (at % SALVO_BLOCK_PACKETS + size > SALVO_BLOCK_PACKETS)
		at += SALVO_BLOCK_PACKETS - at % SALVO_BLOCK_PACKETS;
	if (channel->next - channel->first == SALVO_BLOCK_ENTRIES ||
	    at + size - channel->packets_first > SALVO_BLOCK_PACKETS)
		return -1;
	channel->packets_next = at + size;
	return (int64_t)(at % SALVO_BLOCK_PACKETS);
}

/* A sleeping unit handles the doorbell, or the main thread of the process if all are busy. */
void salvo_space_ring(struct salvo_space *space)
{
	const struct salvo_queues *queues = &space->spaces->gpu->queues;
	struct salvo_space_block *block = space->block;

	atomic_fetch_add(&block->doorbell_seq, 1);
	if (!atomic_load(&block->parking.polling) &&
	    !salvo_parking_wake_one(&block->parking,
				    queues->all & atomic_load(&block->parking.sleeping),
				    queues->core, true))
		syscall(SYS_futex, &block->doorbell_seq, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Units of other processes yield to jobs of a higher priority. */
static void count_job(struct salvo_space *space, const struct salvo_gpu_job *job, int by)
{
	const unsigned int prio = salvo_queues_prio(job->entry.priority);

	space->jobs[prio] += by;
	salvo_prio_table_set_pending(space->spaces->prio_table, space->prio_slot, prio,
				     space->jobs[prio]);
}

bool salvo_space_send(struct salvo_space *space, struct salvo_gpu_job *job)
{
	const unsigned int r = job->ring;
	struct salvo_channel *channel = &space->channel[r];
	struct salvo_space_block *block = space->block;
	const uint64_t seqno = channel->next;
	const unsigned int slot = (seqno - 1) % SALVO_BLOCK_ENTRIES;
	const int64_t room = take_room(channel, job->entry.packet_bytes);
	const struct salvo_packet *from = job->packet;
	struct salvo_ring_entry entry = job->entry;
	struct salvo_op_close *close;
	struct salvo_packet *head;

	if (room < 0)
		return false;
	head = (struct salvo_packet *)(block->packets[r] + room);
	memcpy(head, from, job->entry.packet_bytes);
	head->fence_id = seqno;
	head->result = (uint8_t *)&block->results[r][slot] - (uint8_t *)block;
	close = (struct salvo_op_close *)((uint8_t *)(head + 1) + from->command_bytes) - 1;
	close->fence_id = seqno;
	memset(&block->results[r][slot], 0, sizeof(block->results[r][slot]));

	entry.packet = (uint8_t *)head - (uint8_t *)block;
	entry.seqno = seqno;
	entry.flags = SALVO_RING_IRQ | (job->entry.flags & SALVO_RING_OVERLAP);
	block->entries[r][slot] = entry;
	channel->sent[slot] = (struct salvo_sent){
		.job = job, .at = salvo_clock(), .packets_end = channel->packets_next,
	};
	channel->next++;
	count_job(space, job, 1);
	__atomic_store_n(&block->regs.ring[r].tail, seqno, __ATOMIC_RELEASE);
	salvo_space_ring(space);
	return true;
}

void salvo_space_add_done(struct salvo_gpu_job **done, struct salvo_gpu_job *job)
{
	if (!job)
		return;
	job->ctx_next = *done;
	*done = job;
}

void salvo_space_fail(struct salvo_gpu_job *job, uint32_t command, uint32_t kind,
		      const struct salvo_packet_result *result)
{
	struct salvo_fault fault = {
		.kind = kind, .address = result->address, .group = result->group,
		.item = result->item, .access = result->access,
	};

	if (kind == SALVO_FAULT_PAGE)
		salvo_aspaces_nearest(job->jobs->aspaces, job->entry.asid, fault.address,
				      &fault.nearest, &fault.nearest_bytes);
	salvo_gpu_job_fail(job, command, &fault);
}

/* A copy; the compiler must not read again from memory that the process can write. */
static struct salvo_packet_result read_once(const struct salvo_packet_result *shared)
{
	struct salvo_packet_result result = *shared;

	__asm__ volatile("" : "+m"(result));
	return result;
}

/* Can a batch that failed have this result? */
static bool is_possible(const struct salvo_gpu_job *job, const struct salvo_packet_result *result)
{
	const bool names_command = result->command < job->commands;

	if (result->status == SALVO_STATUS_BAD_PACKET)
		return result->fault == SALVO_FAULT_PACKET &&
		       (names_command || result->command == SALVO_FAULT_NO_COMMAND);
	return result->status == SALVO_STATUS_FAULT && names_command &&
	       result->fault >= SALVO_FAULT_PAGE && result->fault <= SALVO_FAULT_SYSCALL;
}

/* Takes from a result what is possible. */
static void take_result(const struct salvo_space *space, const struct salvo_sent *sent,
			const struct salvo_packet_result *shared)
{
	const struct salvo_gpu *gpu = space->spaces->gpu;
	const struct salvo_packet_result result = read_once(shared);
	struct salvo_gpu_job *job = sent->job;
	const uint64_t now = salvo_clock();
	uint64_t most = (now - sent->at) * gpu->queues.topology.units;

	job->started = result.started > sent->at && result.started < now ? result.started :
									   sent->at;
	job->ended = result.ended >= job->started && result.ended < now ? result.ended : now;
	job->busy_ns = result.busy_ns < most ? result.busy_ns : most;
	job->ended_well = result.done < job->commands ? result.done : job->commands;
	__atomic_fetch_add(&gpu->regs->busy_ns, job->busy_ns, __ATOMIC_RELAXED);
	if (result.status == SALVO_STATUS_DONE)
		return;
	if (is_possible(job, &result))
		salvo_space_fail(job, result.command, result.fault, &result);
	else
		salvo_space_fail(job, SALVO_FAULT_NO_COMMAND, SALVO_FAULT_KERNEL,
		     &(const struct salvo_packet_result){ .item = SALVO_FAULT_NO_ITEM });
}

/* Returns NULL for a job that was killed before. */
static struct salvo_gpu_job *take_first(struct salvo_space *space, struct salvo_channel *channel)
{
	const struct salvo_sent *sent = salvo_space_sent_at(channel, channel->first);

	if (sent->job)
		count_job(space, sent->job, -1);
	channel->packets_first = sent->packets_end;
	channel->first++;
	return sent->job;
}

void salvo_space_collect(struct salvo_space *space, struct salvo_gpu_job **done)
{
	unsigned int r;

	/* Before the fences: the process increments it after them. */
	space->completion_seen = atomic_load(&space->block->completion_seq);
	if (atomic_load(&space->block->slot_events) &&
	    atomic_exchange(&space->block->slot_events, 0))
		salvo_space_slots_notify(space);
	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		struct salvo_channel *channel = &space->channel[r];
		const uint64_t fence = __atomic_load_n(&space->block->regs.ring[r].fence,
						       __ATOMIC_ACQUIRE);

		while (channel->first != channel->next && channel->first <= fence) {
			const unsigned int slot = (channel->first - 1) % SALVO_BLOCK_ENTRIES;

			if (channel->sent[slot].job)
				take_result(space, &channel->sent[slot],
					    &space->block->results[r][slot]);
			salvo_space_add_done(done, take_first(space, channel));
		}
	}
}

/* The process has acknowledged: no unit works for them, but their fences may have to wait. */
static void end_killed(struct salvo_space *space, struct salvo_gpu_job **done)
{
	unsigned int r;
	uint64_t s;

	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		struct salvo_channel *channel = &space->channel[r];

		for (s = channel->first; s != channel->next; s++) {
			struct salvo_sent *sent = salvo_space_sent_at(channel, s);

			if (!sent->job || sent->job->entry.ctx != space->kill_ctx ||
			    sent->job->entry.seqno < space->kill_from)
				continue;
			count_job(space, sent->job, -1);
			salvo_space_add_done(done, sent->job);
			sent->job = NULL;
		}
	}
}

/* Once all jobs have ended the request is over, and new jobs can be sent. */
void salvo_space_end_kill(struct salvo_space *space, struct salvo_gpu_job **done)
{
	const bool acknowledged = __atomic_load_n(&space->block->regs.kill_ack, __ATOMIC_ACQUIRE) ==
				  space->kill_request;

	if (space->killing && acknowledged) {
		end_killed(space, done);
		salvo_space_slots_forget(space, space->kill_ctx);
	}
	if (!space->killing || salvo_space_first_sent(space, space->kill_ctx, space->kill_from) ||
	    salvo_space_slots_given_to(space, space->kill_ctx, false))
		return;
	space->killing = false;
	__atomic_store_n(&space->block->regs.kill_ack, space->kill_request, __ATOMIC_RELEASE);
}

/* The process has exited: its jobs fail, its slots are detached. */
void salvo_space_reap(struct salvo_space *space, struct salvo_gpu_job **done)
{
	const struct salvo_packet_result nothing = { .item = SALVO_FAULT_NO_ITEM };
	const bool by_call = WIFSIGNALED(space->status) && WTERMSIG(space->status) == SIGSYS;
	uint32_t pending;
	unsigned int r;

	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		struct salvo_channel *channel = &space->channel[r];

		while (channel->first != channel->next) {
			struct salvo_gpu_job *job = take_first(space, channel);

			if (!job)
				continue;
			pending = SALVO_STATUS_PENDING;
			if (space->stopped)
				atomic_compare_exchange_strong(&job->status, &pending,
							       SALVO_STATUS_KILLED);
			else
				salvo_space_fail(job, SALVO_FAULT_NO_COMMAND,
				     by_call ? SALVO_FAULT_SYSCALL : SALVO_FAULT_KERNEL, &nothing);
			salvo_space_add_done(done, job);
		}
	}
	salvo_space_slots_count_time(space);
	/* So that a process that dies of its kernels is not forked again and again. */
	salvo_space_slots_lost(space, space->given);
	munmap(space->block, sizeof(*space->block));
	space->block = NULL;
}
