/* SPDX-License-Identifier: MIT */
/*
 * job.h - one packet in the device, from its ring entry to its fence
 */
#ifndef SALVO_JOB_H
#define SALVO_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "fault.h"
#include "inject.h"
#include "salvo_hw.h"

struct salvo_edge;
struct salvo_element;
struct salvo_gpu;

/* Packets of one ring, and of all, in the device at one time; the ring holds what is more. */
#define SALVO_RING_JOBS 128u
#define SALVO_JOBS (SALVO_MAX_RINGS * SALVO_RING_JOBS)

/**
 * struct salvo_gpu_job - A packet, its elements and how it ended.
 */
struct salvo_gpu_job {
	struct salvo_gpu *gpu;
	/** @ring: That it came from. */
	unsigned int ring;
	/** @entry: The ring entry. */
	struct salvo_ring_entry entry;
	/** @result: System address of the result, or 0. */
	uint64_t result;
	/** @profile: GPU address of the profile, or 0. */
	uint64_t profile;
	/** @queued: When it was parsed. */
	uint64_t queued;
	/** @packet: Copy of the packet in device memory; @packet_capacity bytes. */
	void *packet;
	size_t packet_capacity;
	/** @elements: One for each command, @commands of @element_capacity. */
	struct salvo_element *elements;
	uint32_t commands;
	uint32_t element_capacity;
	/** @unbinds: It hides memory, which takes until no process has it any more. */
	bool unbinds;
	/** @ends_space: It ends its address space. */
	bool ends_space;
	/** @work: Elements that have items. */
	uint32_t work;
	/** @edges: @edge_count of @edge_capacity. */
	struct salvo_edge *edges;
	uint32_t edge_count;
	uint32_t edge_capacity;
	/** @failed_command: Valid when @status is SALVO_STATUS_FAULT or BAD_PACKET. */
	uint32_t failed_command;
	/** @fault: Valid when @status is SALVO_STATUS_FAULT or BAD_PACKET. */
	struct salvo_fault fault;

	/** @status: SALVO_STATUS_*; units give up a job whose status is not 0. */
	_Atomic uint32_t status __attribute__((aligned(64)));
	/** @left: Elements not accounted for, and references. */
	_Atomic uint32_t left __attribute__((aligned(64)));
	/** @ended_well: Elements with items that ended before anything failed. */
	_Atomic uint32_t ended_well;
	_Atomic uint64_t started;
	_Atomic uint64_t busy_ns;

	/* Under the lock of struct salvo_gpu_jobs. */
	uint64_t ended;
	/** @fence: Of the last packet that retires with it, and @irqs that they raise. */
	uint64_t fence;
	uint32_t irqs;
	/** @done: May retire. */
	bool done;
	/** @injected: What it suffers when it retires. */
	struct salvo_injected injected;
	/** @ring_next: Next in its ring, or in the list of free jobs. */
	struct salvo_gpu_job *ring_next;
	/** @ctx_next: Next of its context, or of its address space if that is a process. */
	struct salvo_gpu_job *ctx_next;
};

/**
 * struct salvo_gpu_jobs - All packets in the device.
 */
struct salvo_gpu_jobs {
	struct salvo_gpu *gpu;
	struct salvo_gpu_job *all;
	/** @lock: Protects all below, and the jobs' fields that say so. */
	pthread_mutex_t lock;
	/** @idle: Signalled when @in_flight becomes 0. */
	pthread_cond_t idle;
	unsigned int in_flight;
	struct salvo_gpu_job *free;
	struct {
		struct salvo_gpu_job *first;
		struct salvo_gpu_job *last;
		/** @room: Jobs that it may take. */
		unsigned int room;
		/** @starved: The command processor waits for one of them to come free. */
		bool starved;
	} ring[SALVO_MAX_RINGS];
	/** @contexts: Those with a job in flight, and their last job. */
	struct {
		uint64_t key;
		struct salvo_gpu_job *last;
	} contexts[SALVO_JOBS];
	unsigned int context_count;
	/** @inject: Faults that batches are to have. */
	struct salvo_inject inject;
};

int salvo_gpu_jobs_init(struct salvo_gpu_jobs *jobs, struct salvo_gpu *gpu);
void salvo_gpu_jobs_fini(struct salvo_gpu_jobs *jobs);

/**
 * salvo_gpu_jobs_take() - A job for a new packet of a ring, or NULL if all of it are in flight.
 */
struct salvo_gpu_job *salvo_gpu_jobs_take(struct salvo_gpu_jobs *jobs, unsigned int ring);

/**
 * salvo_gpu_job_discard() - Give back a job that was not submitted.
 */
void salvo_gpu_job_discard(struct salvo_gpu_job *job);

/**
 * salvo_gpu_job_reserve_packet() - Make room for a packet; what was in it is lost.
 *
 * Return: false if there is no memory.
 */
bool salvo_gpu_job_reserve_packet(struct salvo_gpu_job *job, size_t bytes);

/**
 * salvo_gpu_job_reserve_elements() - As salvo_gpu_job_reserve_packet(), for elements and edges.
 */
bool salvo_gpu_job_reserve_elements(struct salvo_gpu_job *job, uint32_t elements, uint32_t edges);

/**
 * salvo_gpu_job_submit() - Put a job into the order of its ring and context.
 *
 * A job with a status, or of context 0, is done at once, unless it hides memory from a process.
 * Others start when the job before in their context is done.
 */
void salvo_gpu_job_submit(struct salvo_gpu_job *job);

/**
 * salvo_gpu_job_release() - An element is done: start those that waited for it.
 */
void salvo_gpu_job_release(struct salvo_gpu_job *job, struct salvo_element *element);

/**
 * salvo_gpu_job_get() - Take a reference to a job that cannot end meanwhile.
 */
static inline void salvo_gpu_job_get(struct salvo_gpu_job *job)
{
	atomic_fetch_add_explicit(&job->left, 1, memory_order_relaxed);
}

/**
 * salvo_gpu_job_put() - Account for finished elements and references together.
 *
 * Return: whether that was the end of the job.
 */
bool salvo_gpu_job_put(struct salvo_gpu_job *job, uint32_t count);

/**
 * salvo_gpu_job_end() - A job that units of another process ran is done.
 */
void salvo_gpu_job_end(struct salvo_gpu_job *job);

/**
 * salvo_gpu_job_fail() - A command faulted or is refused: nothing more of the job is run.
 * @fault: What happened; the job's identity is filled in.
 */
void salvo_gpu_job_fail(struct salvo_gpu_job *job, uint32_t command,
			const struct salvo_fault *fault);

/**
 * salvo_gpu_jobs_kill() - Give up all jobs of a context, and leave its kernels by force.
 *
 * Return: whether a unit may still work for one of them; then ask again a little later.
 */
bool salvo_gpu_jobs_kill(struct salvo_gpu_jobs *jobs, uint32_t ctx);

/**
 * salvo_gpu_jobs_inject() - Wish for faults, instead of those before.
 */
void salvo_gpu_jobs_inject(struct salvo_gpu_jobs *jobs, const struct salvo_inject *inject);

/**
 * salvo_gpu_jobs_retire() - Retire what an injected fault kept from it, if it is time.
 */
void salvo_gpu_jobs_retire(struct salvo_gpu_jobs *jobs);

/**
 * salvo_gpu_jobs_drain() - Give up all jobs and wait until none is in flight.
 */
void salvo_gpu_jobs_drain(struct salvo_gpu_jobs *jobs);

#endif /* SALVO_JOB_H */
