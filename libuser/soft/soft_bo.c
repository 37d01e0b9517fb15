// SPDX-License-Identifier: MIT
/*
 * soft_bo.c - buffers of the embedded GPU: allocated, bound, freed when no batch uses them
 *
 * A buffer that is destroyed while batches are in flight becomes a zombie: it is unbound, and
 * its pages and its range are freed, when all jobs that were submitted before have ended.
 * Zombies are reaped whenever buffers come and go and after a wait for a fence, never in an
 * interrupt.
 *
 * The device's lock protects the ranges and the list of zombies.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "salvo_pack.h"
#include "cancel.h"
#include "huge.h"
#include "soft_device.h"

#define PAGE_BYTES 4096ull
/*
 * A buffer of a larger part of VRAM than this gets its pages on first use, as perhaps not all of it
 * is used, and so does what would take more than this part of VRAM in all.
 */
#define HUGE_PART 16
#define HUGE_PART_IN_ALL 2

/*
 * Run one BIND or UNBIND, before all packets that come later. Return: 0, -ENOMEM, or -ENOSPC if
 * the GPU failed it. @retired, unless NULL: It is behind no batch, and the GPU has executed it.
 */
static int space_packet(struct soft_device *dev, uint16_t code, uint64_t address, uint64_t size,
			uint32_t access, bool *retired)
{
	struct soft_job *job;
	int err;

	pthread_mutex_lock(&dev->lock);
	job = salvo_soft_job_get_locked(dev);
	pthread_mutex_unlock(&dev->lock);
	if (!job)
		return -ENOMEM;
	err = salvo_soft_job_reserve_packet(job, SALVO_PACK_SPACE_BYTES);
	if (!err)
		salvo_pack_space(code, address, size, access, (uintptr_t)&job->result, job->packet);

	pthread_mutex_lock(&dev->lock);
	if (err) {
		salvo_soft_job_put_locked(dev, job);
		pthread_mutex_unlock(&dev->lock);
		return err;
	}
	while (!salvo_soft_ring_has_room_locked(&dev->ring[SOFT_RING_NORMAL], SOFT_RING_ENTRIES)) {
		pthread_mutex_unlock(&dev->lock);
		usleep(100);
		salvo_soft_drain(dev);
		pthread_mutex_lock(&dev->lock);
	}
	job->space = SOFT_SPACE_AWAITED;
	salvo_soft_job_account_locked(dev, job);
	salvo_soft_ring_push_locked(dev, job);
	pthread_mutex_unlock(&dev->lock);
	salvo_soft_ring_doorbells(dev, 1u << SOFT_RING_NORMAL);
	salvo_soft_drain(dev);

	/*
	 * The GPU executes the packet when it reads it, but retires it after all before it.
	 * Behind a batch we do not wait for its result: packets hardly ever fail, and a batch
	 * that uses memory which is not bound is rejected.
	 */
	pthread_mutex_lock(&dev->lock);
	if (retired)
		*retired = job->space == SOFT_SPACE_RETIRED;
	if (job->space == SOFT_SPACE_RETIRED) {
		if (job->result.status != SALVO_STATUS_DONE)
			err = job->result.status == SALVO_STATUS_KILLED ? -ENOMEM : -ENOSPC;
		salvo_soft_job_put_locked(dev, job);
	} else {
		job->space = SOFT_SPACE_DETACHED;
	}
	pthread_mutex_unlock(&dev->lock);
	return err;
}

/*
 * Free the memory of a range, and of the guard pages beside it, as some are accessible
 * (device/aspace.c). It reads as zeros afterwards.
 */
static void release_pages(struct soft_device *dev, uint64_t offset, uint64_t bytes)
{
	uint64_t end = offset + bytes + SALVO_VRAM_GUARD_BYTES;

	offset -= offset ? SALVO_VRAM_GUARD_BYTES : 0;
	bytes = (end < dev->vram_bytes ? end : dev->vram_bytes) - offset;
	if (fallocate(dev->vram_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes))
		memset(dev->vram_map + offset, 0, bytes);
}

static void free_range(struct soft_device *dev, struct soft_bo *bo)
{
	pthread_mutex_lock(&dev->lock);
	if (bo->host)
		salvo_soft_host_remove_locked(dev, bo);
	else
		salvo_vram_free(bo->imported ? &dev->window : &dev->vram, bo->offset);
	dev->epoch++;
	pthread_mutex_unlock(&dev->lock);
}

/* Dequeue a zombie that no job can use any more. */
static struct soft_bo *take_zombie(struct soft_device *dev)
{
	struct soft_bo *bo;

	pthread_mutex_lock(&dev->lock);
	bo = dev->zombies;
	if (bo && dev->oldest && dev->oldest->ticket <= bo->ticket)
		bo = NULL;
	if (bo) {
		dev->zombies = bo->next;
		if (!dev->zombies)
			dev->zombies_end = &dev->zombies;
	}
	pthread_mutex_unlock(&dev->lock);
	return bo;
}

static void bury(struct soft_device *dev, struct soft_bo *bo)
{
	pthread_mutex_lock(&dev->lock);
	bo->ticket = dev->tickets;
	bo->destroyed = true;
	bo->next = NULL;
	*dev->zombies_end = bo;
	dev->zombies_end = &bo->next;
	atomic_fetch_add(&dev->zombie_count, 1);
	pthread_mutex_unlock(&dev->lock);
}

/* Return: whether its range is free now. */
static bool unbind(struct soft_device *dev, struct soft_bo *bo)
{
	bool retired;

	if (bo->imported) {
		munmap(bo->map, bo->bytes);
	} else if (!bo->host) {
		release_pages(dev, bo->offset, bo->bytes);
		__atomic_fetch_sub(&dev->public->vram_used, bo->bytes, __ATOMIC_RELAXED);
	}
	/*
	 * A range that is still bound must not be reused with other access rights: without
	 * memory for the packet it leaks.
	 */
	if (space_packet(dev, SALVO_OP_UNBIND, bo->base.address, bo->bytes, 0, &retired)) {
		if (bo->host)
			salvo_soft_host_keep(dev, bo);
		else
			free(bo);
		return false;
	}
	/* Packets bind video memory, behind this one; the application's is bound at once. */
	if (!bo->host || retired)
		return true;
	bo->unbound = true;
	bury(dev, bo);
	return false;
}

void salvo_soft_reap(struct soft_device *dev)
{
	struct soft_bo *bo;
	int state;

	if (!atomic_load_explicit(&dev->zombie_count, memory_order_relaxed) ||
	    salvo_device_is_inherited(&dev->base))
		return;
	state = salvo_cancel_disable();
	while ((bo = take_zombie(dev))) {
		atomic_fetch_sub(&dev->zombie_count, 1);
		if (!bo->unbound && !unbind(dev, bo))
			continue;
		free_range(dev, bo);
		free(bo);
	}
	salvo_cancel_restore(state);
}

/*
 * A page fault for each 4 KiB takes longer than many a kernel that is the first to write a buffer,
 * and one that walks through many arrays at once has more pages than the TLB has entries.
 */
static void populate(struct soft_device *dev, struct soft_bo *bo)
{
	const uint64_t used = __atomic_add_fetch(&dev->public->vram_used, bo->bytes,
						 __ATOMIC_RELAXED);

	if (bo->bytes <= dev->vram_bytes / HUGE_PART && used <= dev->vram_bytes / HUGE_PART_IN_ALL)
		salvo_huge_populate(bo->map, bo->bytes);
}

int salvo_soft_bo_create(struct salvo_device *device, uint64_t size, uint32_t flags,
			 struct salvo_bo **out)
{
	struct soft_device *dev = to_soft_device(device);
	uint32_t access = SALVO_ACCESS_READ;
	struct soft_bo *bo;
	bool bound;
	int err;

	if (size > dev->vram_bytes)
		return -ENOSPC;
	if (flags & DRM_SALVO_BO_EXEC)
		access |= SALVO_ACCESS_EXEC;
	else if (!(flags & DRM_SALVO_BO_READONLY))
		access |= SALVO_ACCESS_WRITE;
	salvo_soft_reap(dev);

	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return -ENOMEM;
	bo->base.device = device;
	bo->base.size = size;
	bo->bytes = (size + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	pthread_mutex_lock(&dev->lock);
	err = salvo_vram_alloc(&dev->vram, bo->bytes, access, &bo->offset);
	pthread_mutex_unlock(&dev->lock);
	if (err) {
		free(bo);
		return err;
	}
	bo->base.address = dev->regs->va_base + bo->offset;
	err = space_packet(dev, SALVO_OP_BIND, bo->base.address, bo->bytes, access, &bound);
	if (err) {
		free_range(dev, bo);
		free(bo);
		return err;
	}
	/*
	 * The application uses the GPU's mapping if it may do all there that it does. Each
	 * page then faults once, at its first use by either of them.
	 */
	if (bound && access & SALVO_ACCESS_WRITE)
		bo->map = (void *)(uintptr_t)bo->base.address;
	else
		bo->map = dev->vram_map + bo->offset;
	populate(dev, bo);
	*out = &bo->base;
	return 0;
}

void salvo_soft_bo_destroy(struct salvo_bo *base)
{
	struct soft_device *dev = to_soft_device(base->device);
	struct soft_bo *bo = to_soft_bo(base);

	/* The memory, and the lists that name it, are the parent's. */
	if (salvo_device_is_inherited(base->device)) {
		free(bo);
		return;
	}
	bury(dev, bo);
	salvo_soft_reap(dev);
}

int salvo_soft_bo_map(struct salvo_bo *base, void **out)
{
	struct soft_bo *bo = to_soft_bo(base);

	*out = bo->map;
	return 0;
}
