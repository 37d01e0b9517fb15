// SPDX-License-Identifier: MIT
/*
 * space.c - address spaces as processes, as the device sees them
 *
 * The command processor has read a packet when it comes here, and has checked its head. It is
 * copied into the block that the device shares with the process of its address space
 * (space_block.h), where another GPU checks all the rest and runs it inside of a sandbox
 * (sandbox.c). The device plays the driver to that one, and believes little of what it reads in
 * the block (space_jobs.c). So a kernel that overwrites whatever its process can write spoils its
 * own address space; the worst is that a batch fails or does not end, and then the driver's kill
 * ends the process. One that says it is done and computes on is ended when the heart beats.
 *
 * A process has the bindings that its address space had when it was forked. After a
 * change the next batch needs the next process, which starts while the old one ends; an
 * UNBIND packet is done when no process has the range any more. Both wait until the
 * batches that the old process has are done.
 *
 * Each address space has a thread that waits for its process: it takes what is done,
 * buries the process, starts the next, sends what had to wait. The command
 * processor sends by itself if nothing is in the way, so that a batch in a warm address
 * space goes straight to the process.
 *
 * That thread sleeps. To wake it takes longer than a small batch, and it would compete
 * with units for a core; so a thread of the owner that is awake anyway, as it has just rung
 * a doorbell, may take what is done itself for a while (salvo_gpu_poll()). While it promises to
 * come again the process wakes nobody. When it leaves it says that in the block first and
 * looks at the fences once more, and the process counts @told up before it reads that; so one
 * of the two sees the other (tests/spin/completion.pml).
 *
 * Locks: that of the list, then that of an address space, then those of job.c and aspace.c. Jobs
 * are ended with none of them held, as that may call the command processor.
 */
#include "space.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"
#include "gpu.h"
#include "isolation.h"
#include "space_jobs.h"

/*
 * A context that its process does not kill in this time goes with the process, and so do
 * other contexts of the address space: on a loaded machine an honest process needs a while.
 */
#define KILL_NS		1000000000u
/* CPU time between two looks of a process that has nothing to do but to look, on all units */
#define IDLE_NS		5000000u
/* On a loaded machine processes take their time to end: the heart goes on meanwhile. */
#define BEAT_NS		50000000u

static void kick(struct salvo_space *space)
{
	atomic_fetch_add(&space->kick, 1);
	syscall(SYS_futex, &space->kick, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- the process --------------------------------------------------------------------- */

static int memory_file(const char *name, size_t bytes)
{
	const int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, (off_t)bytes)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int ranges_file(struct salvo_space *space, uint32_t *count)
{
	struct salvo_space_range *ranges;
	size_t bytes;
	int fd;

	if (!salvo_aspaces_export(&space->spaces->gpu->aspaces, space->asid, &ranges, count))
		return -1;
	bytes = *count * sizeof(*ranges);
	fd = memory_file("salvo-ranges", bytes);
	if (fd >= 0 && bytes && pwrite(fd, ranges, bytes, 0) != (ssize_t)bytes) {
		close(fd);
		fd = -1;
	}
	free(ranges);
	return fd;
}

static struct salvo_space_block *make_block(int fd)
{
	struct salvo_space_block *block;
	unsigned int r;

	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (block == MAP_FAILED)
		return NULL;
	block->regs.bus_master = 1;
	block->wants_wake = 1;
	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		block->regs.ring[r].base = offsetof(struct salvo_space_block, entries) +
					   r * sizeof(block->entries[0]);
		block->regs.ring[r].entries = SALVO_BLOCK_ENTRIES;
		block->regs.ring[r].enable = 1;
	}
	return block;
}

/* The process finds what is sent meanwhile when it is there. */
static bool start_process(struct salvo_space *space)
{
	const int block_fd = memory_file("salvo-block", sizeof(*space->block));
	int ranges_fd;
	uint32_t ranges = 0;
	unsigned int r;

	/* Before the bindings are read: what changes afterwards is a change. */
	space->stale = false;
	ranges_fd = ranges_file(space, &ranges);
	if (block_fd >= 0 && ranges_fd >= 0)
		space->block = make_block(block_fd);
	if (space->block) {
		space->block->prio_slot = space->prio_slot;
		space->block->asid = space->asid;
		salvo_prio_table_clear(space->spaces->prio_table, space->prio_slot);
		space->id = atomic_fetch_add(&space->spaces->ids, 1) + 1;
		space->stopped = false;
		space->killing = false;
		space->gone = false;
		space->pid = 0;
		space->last_sent = ~0ull;
		space->completion_seen = 0;
		for (r = 0; r < SALVO_MAX_RINGS; r++) {
			space->channel[r].first = 1;
			space->channel[r].next = 1;
			space->channel[r].packets_first = 0;
			space->channel[r].packets_next = 0;
		}
		if (!salvo_zygote_fork(&space->spaces->zygote, space->id, block_fd, ranges_fd,
				       ranges)) {
			munmap(space->block, sizeof(*space->block));
			space->block = NULL;
		}
	}
	if (block_fd >= 0)
		close(block_fd);
	if (ranges_fd >= 0)
		close(ranges_fd);
	return space->block;
}

static void stop_process(struct salvo_space *space)
{
	if (!space->block || space->stopped)
		return;
	space->stopped = true;
	salvo_zygote_kill(&space->spaces->zygote, space->id);
}

/* Ends a process that has no jobs, without waiting. Returns false if too many are on their way. */
static bool leave_process(struct salvo_space *space)
{
	stop_process(space);
	if (space->gone || space->leaving_count == SALVO_SPACE_LEAVING)
		return false;
	space->leaving[space->leaving_count++] = space->id;
	munmap(space->block, sizeof(*space->block));
	space->block = NULL;
	return true;
}

/* --- the thread -------------------------------------------------------------------------- */

static void take_waiting(struct salvo_space *space, struct salvo_gpu_job **done)
{
	struct salvo_gpu_job *job = space->waiting;

	space->waiting = job->ctx_next;
	if (done)
		salvo_space_add_done(done, job);
}

/* Sends what waits, as far as it can be sent now. */
static void advance(struct salvo_space *space, struct salvo_gpu_job **done)
{
	const struct salvo_packet_result nothing = { .item = SALVO_FAULT_NO_ITEM };

	while (space->waiting) {
		struct salvo_gpu_job *job = space->waiting;

		if (job->entry.ctx && job->status != SALVO_STATUS_PENDING) {
			take_waiting(space, done);
			continue;
		}
		if (space->block && (!job->entry.ctx || space->stale)) {
			if (salvo_space_has_sent(space, 0))
				return;
			if (!leave_process(space))
				return;
		}
		if (!job->entry.ctx) {
			if (space->leaving_count)
				return;
			take_waiting(space, done);
			continue;
		}
		if (!space->block && !start_process(space)) {
			salvo_space_fail(job, SALVO_FAULT_NO_COMMAND, SALVO_FAULT_KERNEL, &nothing);
			take_waiting(space, done);
			continue;
		}
		if (space->stopped || space->killing || !salvo_space_send(space, job))
			return;
		take_waiting(space, NULL);
	}
}

/* Ends the jobs of a list, with no lock held. */
static void end_jobs(struct salvo_spaces *spaces, struct salvo_gpu_job *job)
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

/* Returns when there may be something new, with the lock held as before. */
static void wait_for_events(struct salvo_space *space, uint32_t kicked)
{
	struct salvo_space_block *block = space->block;
	struct futex_waitv words[2] = {
		{ .uaddr = (uintptr_t)&space->kick, .val = kicked, .flags = FUTEX_32 },
		{ .uaddr = (uintptr_t)(block ? &block->completion_seq : NULL),
		  .val = space->completion_seen,
		  .flags = FUTEX_32 },
	};
	const struct timespec moment = { .tv_nsec = 1000000 };

	/* Only this thread unmaps the block. */
	pthread_mutex_unlock(&space->lock);
	if (syscall(SYS_futex_waitv, words, block ? 2 : 1, 0, NULL, 0) < 0 && errno == ENOSYS)
		nanosleep(&moment, NULL);
	pthread_mutex_lock(&space->lock);
}

/* Leaves the list, unless there is something to do after all. */
static bool leave(struct salvo_space *space)
{
	struct salvo_spaces *spaces = space->spaces;
	struct salvo_space **at;
	bool over;

	pthread_mutex_lock(&spaces->lock);
	pthread_mutex_lock(&space->lock);
	over = space->ending && !space->waiting && !space->block &&
		       !space->leaving_count;
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

static void *space_main(void *arg)
{
	struct salvo_space *space = arg;

	for (;;) {
		const uint32_t kicked = atomic_load(&space->kick);
		struct salvo_gpu_job *done = NULL;
		bool over;

		pthread_mutex_lock(&space->lock);
		if (space->block) {
			salvo_space_collect(space, &done);
			salvo_space_end_kill(space, &done);
			if (space->gone)
				salvo_space_reap(space, &done);
		}
		if (space->ending && space->block && !salvo_space_has_sent(space, 0))
			stop_process(space);
		advance(space, &done);
		over = space->ending && !space->waiting && !space->block &&
		       !space->leaving_count;
		if (!done && !over)
			wait_for_events(space, kicked);
		pthread_mutex_unlock(&space->lock);
		if (done) {
			end_jobs(space->spaces, done);
			salvo_irqs_raise(&space->spaces->gpu->irqs);
		}
		if (!done && over && leave(space))
			break;
	}
	pthread_mutex_destroy(&space->lock);
	free(space);
	return NULL;
}

/* --- what the GPU asks for ---------------------------------------------------------------- */

static struct salvo_space *find_locked(struct salvo_spaces *spaces, uint32_t asid)
{
	struct salvo_space *space;

	for (space = spaces->list; space && space->asid != asid; space = space->next)
		;
	return space;
}

static struct salvo_space *create_locked(struct salvo_spaces *spaces, uint32_t asid)
{
	struct salvo_space *space;
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	if (spaces->count == SALVO_SPACES_MOST)
		return NULL;
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	space->spaces = spaces;
	space->asid = asid;
	space->prio_slot = SALVO_PRIO_NO_SLOT;
	if (~spaces->prio_slots)
		space->prio_slot = __builtin_ctzll(~spaces->prio_slots);
	pthread_mutex_init(&space->lock, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&space->thread, &attr, space_main, space);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (err) {
		pthread_mutex_destroy(&space->lock);
		free(space);
		return NULL;
	}
	if (space->prio_slot < SALVO_PRIO_SLOTS)
		spaces->prio_slots |= 1ull << space->prio_slot;
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
		end_jobs(spaces, job);
		return;
	}
	pthread_mutex_lock(&space->lock);
	pthread_mutex_unlock(&spaces->lock);
	/* The end of an address space may be followed by a new one of the same number. */
	space->ending = !job->entry.ctx && job->ends_space;
	if (space->waiting || !job->entry.ctx || !space->block || space->stale ||
	    space->stopped || space->killing || space->gone || !salvo_space_send(space, job)) {
		if (space->waiting)
			space->last_waiting->ctx_next = job;
		else
			space->waiting = job;
		space->last_waiting = job;
		kick(space);
	}
	pthread_mutex_unlock(&space->lock);
}

static void changed(struct salvo_spaces *spaces, uint32_t asid)
{
	struct salvo_space *space;

	pthread_mutex_lock(&spaces->lock);
	space = find_locked(spaces, asid);
	if (space) {
		pthread_mutex_lock(&space->lock);
		space->stale = true;
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
}

/* The process is asked first; if it does not obey it has to go. */
static void kill_in(struct salvo_space *space, uint32_t ctx)
{
	const uint32_t request = space->spaces->gpu->kill_request;
	struct salvo_space_block *block = space->block;

	if (block && salvo_space_has_sent(space, ctx)) {
		if (space->kill_request != request) {
			space->kill_request = request;
			space->kill_ctx = ctx;
			space->killing = true;
			space->kill_since = salvo_clock();
			block->regs.kill_ctx = ctx;
			__atomic_store_n(&block->regs.kill_request, request, __ATOMIC_RELEASE);
		}
		if (salvo_clock() - space->kill_since < KILL_NS)
			salvo_space_ring(space);
		else
			stop_process(space);
	}
	kick(space);
}

static void kill_context(struct salvo_spaces *spaces, uint32_t ctx)
{
	struct salvo_space *space;

	pthread_mutex_lock(&spaces->lock);
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		kill_in(space, ctx);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
}

/* Returns whether the process has jobs, or will get some. */
static bool poll_space(struct salvo_space *space, bool stay, struct salvo_gpu_job **done)
{
	struct salvo_space_block *block = space->block;
	const bool busy = block && salvo_space_has_sent(space, 0);
	const uint32_t waiting = !(busy && stay);

	if (!block)
		return space->waiting;
	if (atomic_load_explicit(&block->wants_wake, memory_order_relaxed) != waiting)
		atomic_store(&block->wants_wake, waiting);
	if (!busy || atomic_load(&block->completion_seq) == space->completion_seen)
		return busy || space->waiting;
	salvo_space_collect(space, done);
	/* Its thread does all the rest. */
	if (space->waiting || space->killing || space->ending)
		kick(space);
	if (salvo_space_has_sent(space, 0))
		return true;
	atomic_store(&block->wants_wake, 1);
	return space->waiting;
}

static bool poll_all(struct salvo_spaces *spaces, bool stay)
{
	struct salvo_gpu_job *done = NULL;
	struct salvo_space *space;
	bool busy = false;

	pthread_mutex_lock(&spaces->lock);
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		busy |= poll_space(space, stay, &done);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
	end_jobs(spaces, done);
	return busy;
}

static uint64_t cpu_time(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return time.tv_sec * SALVO_CLOCK_HZ + time.tv_nsec;
}

/* Nobody asks for a kill of a process that has nothing to do, but it may have said so only. */
static void check_idle(struct salvo_space *space)
{
	uint64_t cpu, sent = 0;
	unsigned int r;

	if (!space->block || !space->pid || space->stopped)
		return;
	cpu = cpu_time(space->pid);
	for (r = 0; r < SALVO_MAX_RINGS; r++)
		sent += space->channel[r].next;
	if (salvo_space_has_sent(space, 0))
		sent = ~0ull;
	else if (sent == space->last_sent && cpu - space->last_cpu > IDLE_NS)
		stop_process(space);
	space->last_cpu = cpu;
	space->last_sent = sent;
}

/* Of several processes on one core it shows who has been at its batch for longest: it may hang. */
static void show_unit(struct salvo_space *space, unsigned int number, uint64_t *since)
{
	struct salvo_unit_regs *out = &space->spaces->gpu->regs->unit[number];
	struct salvo_unit_regs unit;
	unsigned int r;
	uint64_t s;

	unit = space->block->regs.unit[number];
	/* A copy that the compiler does not read again from where the process may write. */
	__asm__ volatile("" : "+m"(unit));
	if (unit.state != SALVO_UNIT_BUSY)
		return;
	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		struct salvo_channel *channel = &space->channel[r];

		for (s = channel->first; s != channel->next; s++) {
			const struct salvo_sent *sent = salvo_space_sent_at(channel, s);
			const struct salvo_gpu_job *job = sent->job;

			if (s != unit.seqno || !job || job->entry.ctx != unit.ctx)
				continue;
			if (*since && *since <= sent->at)
				return;
			*since = sent->at;
			unit.seqno = job->entry.seqno;
			unit.asid = space->asid;
			*out = unit;
			return;
		}
	}
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
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		for (i = 0; space->block && i < gpu->queues.topology.units; i++)
			show_unit(space, i, &since[i]);
		check_idle(space);
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
		space->ending = true;
		stop_process(space);
		kick(space);
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

/* --- lifetime --------------------------------------------------------------------------- */

static void handle_event(struct salvo_space *space, const struct salvo_zygote_event *event)
{
	unsigned int i;

	if (event->pid) {
		if (space->id == event->id)
			space->pid = event->pid;
		return;
	}
	if (space->block && space->id == event->id) {
		space->gone = true;
		space->status = event->status < 0 ? 0 : event->status;
		kick(space);
	}
	for (i = 0; i < space->leaving_count; i++) {
		if (space->leaving[i] != event->id)
			continue;
		space->leaving[i] = space->leaving[--space->leaving_count];
		kick(space);
	}
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
			handle_event(space, &event);
			pthread_mutex_unlock(&space->lock);
		}
		pthread_mutex_unlock(&spaces->lock);
	}
	if (!atomic_load(&spaces->ending) && spaces->gpu->config.lost)
		spaces->gpu->config.lost(spaces->gpu->config.cookie);
	/* Without the zygote its children are gone too. */
	pthread_mutex_lock(&spaces->lock);
	for (space = spaces->list; space; space = space->next) {
		pthread_mutex_lock(&space->lock);
		space->gone = true;
		space->leaving_count = 0;
		kick(space);
		pthread_mutex_unlock(&space->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
	return NULL;
}

static int create(struct salvo_gpu *gpu, struct salvo_spaces **out)
{
	struct salvo_sandbox sandbox = {
		.config = gpu->config, .topology = &gpu->queues.topology,
		.va_bytes = gpu->aspaces.bytes + gpu->aspaces.window_bytes,
	};
	struct salvo_spaces *spaces = calloc(1, sizeof(*spaces));
	int err;

	if (!spaces)
		return -ENOMEM;
	spaces->gpu = gpu;
	spaces->prio_table = salvo_prio_table_create();
	if (!spaces->prio_table) {
		err = -ENOMEM;
		goto err_free;
	}
	sandbox.config.va_base = (uintptr_t)gpu->aspaces.base;
	sandbox.prio_table = spaces->prio_table;
	err = salvo_zygote_create(&spaces->zygote, &sandbox);
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
	.changed = changed,
	.kill = kill_context,
	.stop = stop,
	.poll = poll_all,
	.sample = sample,
};
