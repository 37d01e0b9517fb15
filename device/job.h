/* SPDX-License-Identifier: MIT */
/*
 * job.h - one packet in the device, from its ring entry to its fence
 */
#ifndef SALVO_JOB_H
#define SALVO_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "fault.h"
#include "inject.h"
#include "salvo_hw.h"

struct salvo_edge;
struct salvo_element;
struct salvo_gpu_jobs;

/**
 * struct salvo_gpu_job - A packet, its elements and how it ended.
 */
struct salvo_gpu_job {
	struct salvo_gpu_jobs *jobs;
	/** @ring: Number of the ring that it came from. */
	unsigned int ring;
	/** @entry: The ring entry. */
	struct salvo_ring_entry entry;
	/** @result: System address of the result, or 0. */
	uint64_t result;
	/** @profile: GPU address of the profile, or 0. */
	uint64_t profile;
	/** @queued: When it was parsed, in ticks of the clock. */
	uint64_t queued;
	/** @packet: Copy of the packet in device memory; @packet_capacity bytes. */
	void *packet;
	size_t packet_capacity;
	/** @elements: One for each command, @commands of @element_capacity. */
	struct salvo_element *elements;
	uint32_t commands;
	uint32_t element_capacity;
	/** @unbinds: It unmaps memory: it is done when no process has that mapped any more. */
	bool unbinds;
	/** @ends_space: It ends its address space. */
	bool ends_space;
	/** @work: Elements that have items. */
	uint32_t work;
	/** @overlaps: It may overlap those of its context that have this set, too. */
	bool overlaps;
	/** @previous: Its pipe controls for commands of the job before, linked by @next. */
	struct salvo_element *previous;
	/** @turn: Pipe controls and joins that wait for the end of the job before. */
	struct salvo_element *turn;
	/** @edges: @edge_count of @edge_capacity. */
	struct salvo_edge *edges;
	uint32_t edge_count;
	uint32_t edge_capacity;
	/** @failed_command, @fault: If @status is SALVO_STATUS_FAULT or BAD_PACKET. */
	uint32_t failed_command;
	struct salvo_fault fault;

	/** @status: SALVO_STATUS_*; units drop the work of a job whose status is not PENDING. */
	_Atomic uint32_t status __attribute__((aligned(64)));
	/** @left: Elements not accounted for, and references. */
	_Atomic uint32_t left __attribute__((aligned(64)));
	/** @ended_well: Elements with items that ended without a fault. */
	_Atomic uint32_t ended_well;
	/** @faulted: SALVO_STATUS_FAULT if a command has: the status, unless it is killed. */
	_Atomic uint32_t faulted;
	_Atomic uint64_t started;
	_Atomic uint64_t busy_ns;

	/* Protected by the lock of struct salvo_gpu_jobs. */
	uint64_t ended;
	/** @fence: Seqno of the last packet that retires with it, and @irqs that they raise. */
	uint64_t fence;
	uint32_t irqs;
	/** @done: Ready to retire. */
	bool done;
	/** @reported: Its result is written, and its interrupt is counted. */
	bool reported;
	/** @has_turn: All jobs before it in its context are done. */
	bool has_turn;
	/** @early: It was started before it had its turn. */
	bool early;
	/** @sealed: The batch after it in the context was refused. */
	bool sealed;
	/** @apart: It is sent to its process when that has no other job. */
	bool apart;
	/** @injected: Faults that it has when it retires. */
	struct salvo_injected injected;
	/** @ring_next: Next in its ring, or in the list of free jobs. */
	struct salvo_gpu_job *ring_next;
	/** @ctx_next: Next of its context, or of its address space if that is a process. */
	struct salvo_gpu_job *ctx_next;
};

/**
 * enum salvo_gpu_job_events - What the end of a job means to others; a mask.
 */
enum salvo_gpu_job_events {
	/** @SALVO_GPU_JOB_ENDED: A job has ended: a waiter may run. */
	SALVO_GPU_JOB_ENDED = 1 << 0,
	/** @SALVO_GPU_JOB_STARVED: A ring that had no free job has one: run the rings. */
	SALVO_GPU_JOB_STARVED = 1 << 1,
};

/**
 * salvo_gpu_job_reserve_packet() - Make room for a packet; its old contents are lost.
 *
 * Return: false if there is no memory.
 */
bool salvo_gpu_job_reserve_packet(struct salvo_gpu_job *job, size_t bytes);

/**
 * salvo_gpu_job_reserve_elements() - As salvo_gpu_job_reserve_packet(), for elements and edges.
 */
bool salvo_gpu_job_reserve_elements(struct salvo_gpu_job *job, uint32_t elements, uint32_t edges);

/**
 * salvo_gpu_job_free_buffers() - Free what the two functions above have reserved.
 */
void salvo_gpu_job_free_buffers(struct salvo_gpu_job *job);

/**
 * salvo_gpu_job_start() - All jobs before it in its context are done: push what is ready.
 *
 * Publishes the job to the units, unless it was started early. The caller holds a reference.
 */
void salvo_gpu_job_start(struct salvo_gpu_job *job);

/**
 * salvo_gpu_job_push_roots() - Push the elements without producers.
 */
void salvo_gpu_job_push_roots(struct salvo_gpu_job *job);

/**
 * salvo_gpu_job_set_ready() - Note for the profile that all elements are ready.
 *
 * Before the first push: from then on units change elements.
 */
void salvo_gpu_job_set_ready(struct salvo_gpu_job *job);

/**
 * salvo_gpu_job_push() - Coalesce an element with others of the job, or push those.
 * @head: Elements that are not pushed yet, or NULL.
 * @element: An element that became ready.
 *
 * Return: The elements that are not pushed yet.
 */
struct salvo_element *salvo_gpu_job_push(const struct salvo_gpu_job *job,
					 struct salvo_element *head,
					 struct salvo_element *element);

/**
 * salvo_gpu_job_release() - An element is done: push the consumers that waited for it last.
 *
 * Return: the one of them that is not pushed, since it has only one item: the caller runs it, or
 * pushes it; or NULL.
 */
struct salvo_element *salvo_gpu_job_release(struct salvo_gpu_job *job,
					    struct salvo_element *element);

/**
 * salvo_gpu_job_get() - Take a reference to a job that cannot end meanwhile.
 */
static inline void salvo_gpu_job_get(struct salvo_gpu_job *job)
{
	atomic_fetch_add_explicit(&job->left, 1, memory_order_relaxed);
}

/**
 * salvo_gpu_job_put() - Account for finished elements and dropped references together.
 *
 * The last put ends the job and starts the next one of its context.
 *
 * Return: enum salvo_gpu_job_events.
 */
unsigned int salvo_gpu_job_put(struct salvo_gpu_job *job, uint32_t count);

/**
 * salvo_gpu_job_fault() - A command faulted: it is not run further, nor is what waits for it.
 * @fault: What happened; the job's identity is filled in.
 *
 * The first fault of a job is recorded. The caller raises interrupts when it holds no lock.
 */
void salvo_gpu_job_fault(struct salvo_gpu_job *job, struct salvo_element *element,
			 const struct salvo_fault *fault);

/**
 * salvo_gpu_job_fail() - The job is refused, or its process has failed: it is not run further.
 * @fault: As for salvo_gpu_job_fault().
 *
 * The first failure counts. The caller raises interrupts when it holds no lock.
 */
void salvo_gpu_job_fail(struct salvo_gpu_job *job, uint32_t command,
			const struct salvo_fault *fault);

#endif /* SALVO_JOB_H */
