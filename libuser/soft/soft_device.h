/* SPDX-License-Identifier: MIT */
/*
 * soft_device.h - the embedded GPU's back end, for its own files
 *
 * A submission takes this way: soft_queue.c packs the batch into a job, soft_ring.c puts that into
 * a ring, soft_complete.c takes it off when the GPU is done and signals its fence (soft_fence.c),
 * for which soft_wait.c waits. soft_device.c brings the GPU up, soft_bo.c manages video memory,
 * soft_import.c maps memory of others, soft_watchdog.c kills what runs too long.
 */
#ifndef SALVO_SOFT_DEVICE_H
#define SALVO_SOFT_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "salvo_gpu.h"
#include "salvo_hw.h"
#include "salvo_hang.h"
#include "bo.h"
#include "container_of.h"
#include "device.h"
#include "fence.h"
#include "queue.h"
#include "soft_public.h"
#include "vram.h"
#include "winsys.h"
#include "yield.h"

#define SOFT_RING_ENTRIES 4096u
/*
 * Most packets of batches on a ring; the rest is reserved for BIND and UNBIND. The GPU fetches up
 * to 128 packets of a ring at once, and polls the next ring only when it has fetched all.
 */
#define SOFT_RING_BATCHES 96u
#define SOFT_ASID 1u

/**
 * struct soft_fence - A fence; referenced by its job, too, and by jobs that wait for it.
 */
struct soft_fence {
	struct salvo_fence base;
	/** @eventfd: Readable when done; -1 until it is created on demand. */
	atomic_int eventfd;
	/** @state: SOFT_FENCE_*; threads sleep on it. */
	atomic_uint state;
	/** @error: How the batch ended; written before @state. */
	int error;
	/** @ctx: Context of the batch, or 0 of an imported fence. */
	uint32_t ctx;
	/** @result: Of the batch's packet, for errors; written before @state. */
	struct salvo_packet_result result;
	/** @hung: It was killed because it exceeded the time limit. */
	bool hung;
};

#define SOFT_FENCE_PENDING	0u
#define SOFT_FENCE_DONE		1u
#define SOFT_FENCE_AWAITED	2u	/* pending, with sleeping waiters */

/**
 * struct soft_job - A packet: held, in a ring or done. Recycled through a free list.
 */
struct soft_job {
	/** @next: In the free list, in its queue's held list or in a list of done jobs. */
	struct soft_job *next;
	/** @older, @newer: All jobs that are not done, in the order of submission. */
	struct soft_job *older;
	struct soft_job *newer;
	/** @ticket: Place in that order. */
	uint64_t ticket;
	/** @queue: NULL for an address space packet. */
	struct soft_queue *queue;
	struct soft_fence *fence;
	/** @waits: Fences to wait for before the job may enter its ring. */
	struct soft_fence **waits;
	unsigned int wait_count;
	unsigned int wait_capacity;
	uint32_t packet_bytes;
	uint32_t packet_capacity;
	void *packet;
	struct salvo_packet_result result;
	int error;
	/** @hang: How long it has run, since it was pushed to the ring. */
	struct salvo_hang hang;
	/** @overlaps: It may start before the batch before it in its queue is done. */
	bool overlaps;
	/** @hung: The watchdog killed it, in this command and near this work-group. */
	bool hung;
	uint32_t hung_command;
	uint64_t hung_group;
	/** @space: SOFT_SPACE_*, of an address space packet. */
	unsigned int space;
};

#define SOFT_SPACE_AWAITED	0u	/* its submitter will read the result and free it */
#define SOFT_SPACE_DETACHED	1u	/* freed when it retires */
#define SOFT_SPACE_RETIRED	2u

/**
 * struct soft_bo - A buffer.
 */
struct soft_bo {
	struct salvo_bo base;
	/** @imported: It is in the window, not in video memory. */
	bool imported;
	/** @host: It is memory of the application. */
	bool host;
	uint32_t access;	/* to such memory: SALVO_ACCESS_* */
	/** @next_host: In the device's list of them. */
	struct soft_bo *next_host;
	/**
	 * @destroyed: It is unbound as soon as no job can use it. @unbound: The packet that
	 * does so is on its way.
	 */
	bool destroyed;
	bool unbound;
	uint64_t offset;	/* in video memory or in the window */
	uint64_t bytes;		/* whole pages */
	void *map;
	/** @next, @ticket: Destroyed, waiting for jobs before @ticket. */
	struct soft_bo *next;
	uint64_t ticket;
};

/**
 * struct soft_ring - A command ring of the GPU; the device's lock protects it.
 */
struct soft_ring {
	struct salvo_ring_regs *regs;
	/** @entries: What the GPU reads. */
	struct salvo_ring_entry *entries;
	/** @seqno: Of the last packet that was pushed; @retired: of the last that retired. */
	uint64_t seqno;
	uint64_t retired;
	/** @slots: The job of each entry. */
	struct soft_job *slots[SOFT_RING_ENTRIES];
};

/* Batches of high priority have a ring of their own, as with the driver. */
#define SOFT_RING_NORMAL	0u
#define SOFT_RING_HIGH		(SALVO_MAX_RINGS - 1u)

struct soft_device {
	struct salvo_device base;
	struct salvo_gpu *gpu;
	struct salvo_regs *regs;
	/** @public: Counters, in the page behind @regs; those without a lock are atomic. */
	struct soft_public *public;
	int public_fd;
	uint8_t *vram_map;
	uint64_t vram_bytes;
	int vram_fd;

	/** @lock: Protects all below it but the atomics. */
	pthread_mutex_t lock;
	struct salvo_vram vram;
	/** @hosts: Memory of the application, until it is unbound. */
	struct soft_bo *hosts;
	/** @window: GPU addresses behind video memory, for imported buffers. */
	struct salvo_vram window;
	struct soft_watchdog *watchdog;
	struct soft_ring ring[SALVO_MAX_RINGS];
	struct soft_job *free_jobs;
	struct soft_job *oldest;
	struct soft_job *newest;
	uint64_t tickets;
	/** @held_queues: Queues that have held jobs. */
	struct soft_queue *held_queues;
	/** @zombies: Destroyed buffers that a batch may still use, oldest first. */
	struct soft_bo *zombies;
	struct soft_bo **zombies_end;
	uint32_t contexts;
	/** @epoch: Incremented when a range of addresses is freed; starts at 1. */
	uint64_t epoch;

	/** @yield: Whether other programs want the cores of waiters. */
	struct salvo_yield yield;
	/** @completed: Number of completions; @awaited: of threads that sleep on it. */
	atomic_uint completed;
	atomic_uint awaited;
	atomic_uint zombie_count;
	/** @pending_interrupts: Not yet handled; who increments it from 0 handles them. */
	atomic_uint pending_interrupts;
};

struct soft_queue {
	struct salvo_queue base;
	/** @refs: The application's and one for each job; protected by the device's lock. */
	unsigned int refs;
	uint32_t ctx;
	uint64_t eu_mask;
	int priority;
	/** @ring: Number of the ring that its batches go to. */
	unsigned int ring;
	/** @banned: A batch faulted or hung; protected by the device's lock. */
	bool banned;
	/** @banned_from: Seqno in its ring of the first such batch; likewise. */
	uint64_t banned_from;
	/** @held: Jobs that may not enter their ring yet, in order. */
	struct soft_job *held;
	struct soft_job **held_end;
	/** @next_held: In the device's list of queues with held jobs. */
	struct soft_queue *next_held;
};

static inline struct soft_device *to_soft_device(struct salvo_device *device)
{
	return container_of(device, struct soft_device, base);
}

static inline struct soft_bo *to_soft_bo(struct salvo_bo *bo)
{
	return container_of(bo, struct soft_bo, base);
}

static inline struct soft_queue *to_soft_queue(struct salvo_queue *queue)
{
	return container_of(queue, struct soft_queue, base);
}

static inline struct soft_fence *to_soft_fence(struct salvo_fence *fence)
{
	return container_of(fence, struct soft_fence, base);
}

/* soft_queue.c */
int salvo_soft_queue_create(struct salvo_device *device, const struct salvo_queue_config *config,
			    struct salvo_queue **out);
void salvo_soft_queue_destroy(struct salvo_queue *queue);
int salvo_soft_queue_submit(struct salvo_queue *queue, struct salvo_winsys_submit *submission,
			    struct salvo_fence **out);
/** salvo_soft_queue_ban_locked() - A batch faulted or hangs: it and later ones fail. */
void salvo_soft_queue_ban_locked(struct soft_queue *queue, const struct soft_job *guilty);

/**
 * salvo_soft_run_held_locked() - Push the held jobs that may run; those of banned queues: @done.
 *
 * Return: bits of the rings that got some, to ring their doorbells.
 */
unsigned int salvo_soft_run_held_locked(struct soft_device *dev, struct soft_job **done);

/* soft_slot.c */
int salvo_soft_slot_attach(struct salvo_winsys_slot *slot);
void salvo_soft_slot_detach(struct salvo_winsys_slot *slot);
void salvo_soft_slot_wake(struct salvo_winsys_slot *slot);

/* soft_ring.c */
void salvo_soft_queue_put_locked(struct soft_queue *queue);
struct soft_job *salvo_soft_job_get_locked(struct soft_device *dev);
/** salvo_soft_job_put_locked() - Back to the free list. */
void salvo_soft_job_put_locked(struct soft_device *dev, struct soft_job *job);
int salvo_soft_job_reserve_packet(struct soft_job *job, uint32_t bytes);
/** salvo_soft_job_account_locked() - From here on buffers that are destroyed wait for the job. */
void salvo_soft_job_account_locked(struct soft_device *dev, struct soft_job *job);
void salvo_soft_job_unaccount_locked(struct soft_device *dev, struct soft_job *job);
/** salvo_soft_job_is_ready() - Drop the waits that are done. Return: are none left? */
bool salvo_soft_job_is_ready(struct soft_job *job);
bool salvo_soft_ring_has_room_locked(const struct soft_ring *ring, uint64_t most);
/** salvo_soft_ring_push_locked() - The caller rings the doorbell after it has unlocked. */
void salvo_soft_ring_push_locked(struct soft_device *dev, struct soft_job *job);
/** salvo_soft_ring_doorbells() - @rings: bits of the rings that have new entries. */
void salvo_soft_ring_doorbells(struct soft_device *dev, unsigned int rings);
/** salvo_soft_free_jobs() - Free the free list. */
void salvo_soft_free_jobs(struct soft_device *dev);

/* soft_complete.c */
/** salvo_soft_drain() - Handle an interrupt, here or in the thread that handles one already. */
void salvo_soft_drain(struct soft_device *dev);
void salvo_soft_interrupt(void *cookie, unsigned int vector);
/** salvo_soft_give_up() - The GPU is gone: end all jobs with -ENODEV and free them. */
void salvo_soft_give_up(struct soft_device *dev);

/* soft_watchdog.c */
int salvo_soft_set_timeout(struct salvo_device *device, int64_t timeout_ns);
void salvo_soft_watchdog_destroy(struct soft_watchdog *watchdog);

/* soft_bo.c */
int salvo_soft_bo_create(struct salvo_device *device, uint64_t size, uint32_t flags,
			 struct salvo_bo **out);
void salvo_soft_bo_destroy(struct salvo_bo *bo);
int salvo_soft_bo_map(struct salvo_bo *bo, void **out);
/** salvo_soft_reap() - Free destroyed buffers that no batch can use any more. */
void salvo_soft_reap(struct soft_device *dev);

/* soft_import.c */
int salvo_soft_bo_import(struct salvo_device *device, int fd, uint32_t flags,
			 struct salvo_bo **out);

/* soft_host.c */
int salvo_soft_bo_from_memory(struct salvo_device *device, void *memory, uint64_t size,
			      uint32_t flags, struct salvo_bo **out);
/** salvo_soft_host_covers_locked() - May commands access the range? @access: SALVO_ACCESS_*. */
bool salvo_soft_host_covers_locked(const struct soft_device *dev, uint64_t address, uint64_t size,
				   uint32_t access);
/** salvo_soft_host_remove_locked() - Take a buffer that was unbound off the list. */
void salvo_soft_host_remove_locked(struct soft_device *dev, struct soft_bo *bo);
/** salvo_soft_host_keep() - A destroyed buffer could not be unbound: its memory stays in use. */
void salvo_soft_host_keep(struct soft_device *dev, struct soft_bo *bo);

/* soft_fence.c */
struct soft_fence *salvo_soft_fence_create(struct soft_device *dev, uint32_t ctx);
static inline void salvo_soft_fence_put(struct soft_fence *fence)
{
	salvo_fence_put(&fence->base);
}
bool salvo_soft_fence_is_done(struct soft_fence *fence);
void salvo_soft_fence_signal(struct soft_fence *fence, int error);
int salvo_soft_fence_get_fd(struct salvo_fence *fence, int *out);
void salvo_soft_fence_get_error(struct salvo_fence *fence, struct salvo_error *error);
void salvo_soft_fence_free(struct salvo_fence *fence);

/* soft_wait.c */
int salvo_soft_fence_wait(struct salvo_fence *fence, int64_t timeout_ns);
int salvo_soft_fence_wait_many(struct salvo_device *device, struct salvo_fence *const *fences,
			       unsigned int count, bool all, int64_t timeout_ns,
			       unsigned int *first);
int salvo_soft_fence_import_fd(struct salvo_device *device, int fd, struct salvo_fence **out);

#endif /* SALVO_SOFT_DEVICE_H */
