// SPDX-License-Identifier: MIT
/*
 * spaces.c - all address spaces of a GPU whose address spaces are processes
 *
 * The command processor has fetched a packet and checked its head. This code copies it into the
 * block that the device shares with the process of its address space (space_block.h), where
 * a second GPU checks the rest and runs it inside a sandbox (sandbox.c). The device acts as
 * that GPU's driver and trusts little of what it reads in the block (space_jobs.c). A kernel that
 * overwrites everything its process can write damages only its own address space: at worst a
 * batch fails or does not end, and then the driver's kill ends the process. A process that claims
 * to be done and keeps computing is killed at a heartbeat.
 *
 * Locks: that of the list, then that of an address space, then those of jobs.c and aspace.c. Jobs
 * are ended with none of them held, as that may run the rings.
 */
#include "spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"
#include "gpu.h"
#include "isolation.h"
#include "space.h"
#include "space_jobs.h"
#include "space_slots.h"

/* The heartbeat continues while processes exit, which takes long on a loaded machine. */
#define BEAT_NS		50000000u

void salvo_spaces_end_jobs(struct salvo_spaces *spaces, struct salvo_gpu_job *job)
{
	bool starved = false;

	while (job) {
		struct salvo_gpu_job *next = job->ctx_next;

		starved |= salvo_gpu_jobs_end(job);
		job = next;
	}
	if (starved)
		salvo_gpu_run_rings(spaces->gpu, ~0u);
}

bool salvo_spaces_remove(struct salvo_space *space)
{
	struct salvo_spaces *spaces = space->spaces;
	struct salvo_space **at;
	bool over;

	pthread_mutex_lock(&spaces->lock);
	pthread_mutex_lock(&space->lock);
	over = salvo_space_is_over(space);
	pthread_mutex_unlock(&space->lock);
	if (over) {
		for (at = &spaces->list; *at != space; at = &(*at)->next)
			;
		*at = space->next;
		spaces->count--;
		if (space->prio_slot < SALVO_PRIO_SLOTS)
			spaces->prio_slots &= ~(1ull << space->prio_slot);
		if (!spaces->list)
			pthread_cond_broadcast(&spaces->empty);
	}
	pthread_mutex_unlock(&spaces->lock);
	return over;
}

static struct salvo_space *find_locked(struct salvo_spaces *spaces, uint32_t asid)
{
	struct salvo_space *space;

	for (space = spaces->list; space && space->asid != asid; space = space->next)
		;
	return space;
}

static struct salvo_space *create_locked(struct salvo_spaces *spaces, uint32_t asid)
{
	uint32_t slot = SALVO_PRIO_NO_SLOT;
	struct salvo_space *space;

	if (spaces->count == SALVO_SPACES_MOST)
		return NULL;
	if (~spaces->prio_slots)
		slot = __builtin_ctzll(~spaces->prio_slots);
	space = salvo_space_create(spaces, asid, slot);
	if (!space)
		return NULL;
	if (slot < SALVO_PRIO_SLOTS)
		spaces->prio_slots |= 1ull << slot;
	space->next = spaces->list;
	spaces->list = space;
	spaces->count++;
	return space;
}

static void submit(struct salvo_spaces *spaces, struct salvo_gpu_job *job)
{
	const struct salvo_packet_result nothing = { .item = SALVO_FAULT_NO_ITEM };
	struct salvo_space *space;

	job->ctx_next = NULL;
	pthread_mutex_lock(&spaces->lock);
	space = find_locked(spaces, job->entry.asid);
	if (!space && job->entry.ctx) {
		space = create_locked(spaces, job->entry.asid);
		if (!space)
			salvo_space_fail(job, SALVO_FAULT_NO_COMMAND, SALVO_FAULT_KERNEL, &nothing);
	}
	if (!space) {
		pthread_mutex_unlock(&spaces->lock);
		salvo_spaces_end_jobs(spaces, job);
		return;
	}
	pthread_mutex_lock(&space->lock);
	pthread_mutex_unlock(&spaces->lock);
	salvo_space_submit(space, job);
	pthread_mutex_unlock(&space->lock);
}

static void refused(struct salvo_spaces *spaces, uint32_t asid)
{
	struct salvo_space *space;

	pthread_mutex_lock(&spaces->lock);
	space = find_locked(spaces, asid);
	if (space) {
		pthread_mutex_lock(&space->lock);
		salvo_space_refused(space);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
}

static void changed(struct salvo_spaces *spaces, uint32_t asid)
{
	struct salvo_space *space;

	pthread_mutex_lock(&spaces->lock);
	space = find_locked(spaces, asid);
	if (space) {
		pthread_mutex_lock(&space->lock);
		salvo_space_changed(space);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
}

static bool is_free_locked(struct salvo_spaces *spaces, uint32_t slot)
{
	struct salvo_space *space;
	bool found = false;

	for (space = spaces->list; space && !found; space = space->next) {
		pthread_mutex_lock(&space->lock);
		found = space->slot_mask >> slot & 1;
		pthread_mutex_unlock(&space->lock);
	}
	return !found;
}

static bool attach(struct salvo_spaces *spaces, uint32_t asid, const struct salvo_op_attach *op)
{
	struct salvo_space *space;

	pthread_mutex_lock(&spaces->lock);
	space = is_free_locked(spaces, op->slot) ? find_locked(spaces, asid) : NULL;
	if (!space && is_free_locked(spaces, op->slot))
		space = create_locked(spaces, asid);
	if (space) {
		pthread_mutex_lock(&space->lock);
		salvo_space_slots_add(space, op);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
	return space;
}

static void remove_slots(struct salvo_spaces *spaces, uint32_t asid, uint64_t mask)
{
	struct salvo_space *space;

	pthread_mutex_lock(&spaces->lock);
	space = find_locked(spaces, asid);
	if (space) {
		pthread_mutex_lock(&space->lock);
		salvo_space_slots_remove(space, mask);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
}

static void detach(struct salvo_spaces *spaces, uint32_t asid, uint32_t slot)
{
	remove_slots(spaces, asid, 1ull << slot);
}

static void end_slots(struct salvo_spaces *spaces, uint32_t asid)
{
	remove_slots(spaces, asid, ~0ull);
}

static void wake_slots(struct salvo_spaces *spaces)
{
	struct salvo_space *space;

	if (!atomic_load(&spaces->slots))
		return;
	pthread_mutex_lock(&spaces->lock);
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		salvo_space_slots_wake(space);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
}

static bool kill_context(struct salvo_spaces *spaces, uint32_t ctx, uint64_t from, bool jobs)
{
	struct salvo_space *space;
	bool left = jobs;

	pthread_mutex_lock(&spaces->lock);
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		left |= salvo_space_kill(space, ctx, from);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
	return left;
}

static bool poll_all(struct salvo_spaces *spaces, bool stay)
{
	struct salvo_gpu_job *done = NULL;
	struct salvo_space *space;
	bool busy = false;

	pthread_mutex_lock(&spaces->lock);
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		busy |= salvo_space_poll(space, stay, &done);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
	salvo_spaces_end_jobs(spaces, done);
	return busy;
}

static void sample(struct salvo_spaces *spaces)
{
	struct salvo_gpu *gpu = spaces->gpu;
	struct salvo_space *space;
	uint64_t since[SALVO_MAX_UNITS] = { 0 };
	unsigned int i;

	pthread_mutex_lock(&spaces->lock);
	for (i = 0; i < gpu->queues.topology.units; i++)
		gpu->regs->unit[i].state = SALVO_UNIT_IDLE;
	memset(gpu->regs->slot_task, 0, sizeof(gpu->regs->slot_task));
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		for (i = 0; space->block && i < gpu->queues.topology.units; i++)
			salvo_space_sample_unit(space, i, &since[i]);
		salvo_space_check_idle(space);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
}

static void stop(struct salvo_spaces *spaces)
{
	struct salvo_space *space;

	pthread_mutex_lock(&spaces->lock);
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		salvo_space_end(space);
		pthread_mutex_unlock(&space->lock);
	}
	while (spaces->list) {
		const struct timespec time = salvo_clock_in(BEAT_NS);

		pthread_cond_clockwait(&spaces->empty, &spaces->lock, CLOCK_MONOTONIC, &time);
		salvo_gpu_beat(spaces->gpu);
	}
	pthread_mutex_unlock(&spaces->lock);
	sample(spaces);
}

static void *reaper_main(void *arg)
{
	struct salvo_spaces *spaces = arg;
	struct salvo_zygote_event event;
	struct salvo_space *space;

	while (salvo_zygote_next(&spaces->zygote, &event)) {
		pthread_mutex_lock(&spaces->lock);
		for (space = spaces->list; space; space = space->next) {
			pthread_mutex_lock(&space->lock);
			salvo_space_handle_event(space, &event);
			pthread_mutex_unlock(&space->lock);
		}
		pthread_mutex_unlock(&spaces->lock);
	}
	if (!atomic_load(&spaces->ending) && spaces->gpu->config.lost)
		spaces->gpu->config.lost(spaces->gpu->config.cookie);
	/* The processes have died with the zygote. */
	pthread_mutex_lock(&spaces->lock);
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		salvo_space_lost(space);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
	return NULL;
}

static int create(struct salvo_gpu *gpu, struct salvo_spaces **out)
{
	struct salvo_sandbox sandbox = {
		.va_base = (uintptr_t)gpu->aspaces.base,
		.va_bytes = gpu->aspaces.bytes + gpu->aspaces.window_bytes,
		.vram_offset = gpu->config.vram_offset, .vram_bytes = gpu->config.vram_bytes,
		.topology = gpu->queues.topology,
		.vram_fd = gpu->config.vram_fd, .system_fd = gpu->config.system_fd,
	};
	struct salvo_spaces *spaces = calloc(1, sizeof(*spaces));
	int err;

	if (!spaces)
		return -ENOMEM;
	spaces->gpu = gpu;
	spaces->prio_table = salvo_prio_table_create(&sandbox.prio_fd);
	if (!spaces->prio_table) {
		err = -ENOMEM;
		goto err_free;
	}
	err = salvo_zygote_create(&spaces->zygote, &sandbox);
	close(sandbox.prio_fd);
	if (err)
		goto err_board;
	pthread_mutex_init(&spaces->lock, NULL);
	pthread_cond_init(&spaces->empty, NULL);
	if (pthread_create(&spaces->reaper, NULL, reaper_main, spaces)) {
		err = -EAGAIN;
		goto err_zygote;
	}
	*out = spaces;
	return 0;

err_zygote:
	pthread_cond_destroy(&spaces->empty);
	pthread_mutex_destroy(&spaces->lock);
	salvo_zygote_destroy(&spaces->zygote);
err_board:
	salvo_prio_table_destroy(spaces->prio_table);
err_free:
	free(spaces);
	return err;
}

static void destroy(struct salvo_spaces *spaces)
{
	atomic_store(&spaces->ending, true);
	salvo_zygote_hang_up(&spaces->zygote);
	pthread_join(spaces->reaper, NULL);
	salvo_zygote_destroy(&spaces->zygote);
	salvo_prio_table_destroy(spaces->prio_table);
	pthread_cond_destroy(&spaces->empty);
	pthread_mutex_destroy(&spaces->lock);
	free(spaces);
}

const struct salvo_isolation salvo_processes = {
	.create = create,
	.destroy = destroy,
	.submit = submit,
	.refused = refused,
	.changed = changed,
	.attach = attach,
	.detach = detach,
	.end_slots = end_slots,
	.wake_slots = wake_slots,
	.kill = kill_context,
	.stop = stop,
	.poll = poll_all,
	.sample = sample,
};
