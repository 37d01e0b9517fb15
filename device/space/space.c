// SPDX-License-Identifier: MIT
/*
 * space.c - one address space and its process, as the device sees them
 *
 * A process has the bindings that its address space had when it was forked. After a
 * change the next batch needs a new process, which starts while the old one exits; an
 * UNBIND packet is done when no process has the range mapped any more. Both wait until the
 * batches of the old process are done.
 *
 * Each address space has a thread. It collects jobs that are done, reaps the process, starts the
 * next one, and sends jobs that had to wait. The command processor sends a job itself if nothing is
 * in the way, so that a batch in a warm address space is sent directly to the process.
 *
 * The thread sleeps. Waking it takes longer than a small batch, and it would compete
 * with units for a core. So a thread of the owner that is awake anyway, because it has just
 * rung a doorbell, may collect jobs itself for a while (salvo_gpu_poll()). While it promises to
 * poll again the process wakes nobody. Before it leaves it sets @wants_wake in the block and
 * then reads the fences once more; the process increments @completion_seq before it reads
 * @wants_wake. So at least one of the two sees the other (tests/spin/completion.pml).
 *
 * Locks: that of the list, then that of the address space, then those of jobs.c and aspace.c. Jobs
 * are ended with none of them held, as that may run the rings.
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
#include "space_jobs.h"
#include "space_slots.h"
#include "spaces.h"

/*
 * Time that a process has to kill a context before the process is killed, with the
 * other contexts of the address space: an honest process on a loaded machine may be slow.
 */
#define KILL_NS		1000000000u
/* CPU time of an idle process between two samples that only polling can explain, on all units */
#define IDLE_NS		5000000u

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

/* Jobs can be sent before the process has started. */
static bool start_process(struct salvo_space *space)
{
	const int block_fd = memory_file("salvo-block", sizeof(*space->block));
	int ranges_fd;
	uint32_t ranges = 0;
	unsigned int r;

	/* Before the bindings are read: a later change makes the process stale. */
	space->stale = false;
	ranges_fd = ranges_file(space, &ranges);
	if (block_fd >= 0 && ranges_fd >= 0)
		space->block = make_block(block_fd);
	if (space->block) {
		space->block->prio_slot = space->prio_slot;
		space->block->asid = space->asid;
		salvo_space_slots_give(space);
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

/* Kills a process without jobs and does not wait. Returns false if too many are exiting. */
static bool leave_process(struct salvo_space *space)
{
	/* It is not stopped yet then: that would detach its slots. */
	if (space->gone || space->leaving_count == SALVO_SPACE_LEAVING)
		return false;
	stop_process(space);
	salvo_space_slots_count_time(space);
	/* The last leaves may have ended a moment ago. */
	if (space->given)
		salvo_space_slots_notify(space);
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
	/* What follows one that is not sent is in its place. */
	if (done && job->apart && space->waiting)
		space->waiting->apart = true;
	else if (done && job->apart)
		space->refused = true;
	if (done)
		salvo_space_add_done(done, job);
}

/* Sends jobs that wait, as far as possible now. */
static void advance(struct salvo_space *space, struct salvo_gpu_job **done)
{
	const struct salvo_packet_result nothing = { .item = SALVO_FAULT_NO_ITEM };

	while (space->waiting) {
		struct salvo_gpu_job *job = space->waiting;

		if (job->entry.ctx && job->status != SALVO_STATUS_PENDING) {
			take_waiting(space, done);
			continue;
		}
		/*
		 * A process that is not stale was started after the change of bindings that the job
		 * is about. Its units may begin leaves at any time: they were not told to stop.
		 */
		if (space->block && (space->stale || job->ends_space)) {
			if (salvo_space_has_sent(space) ||
			    (!job->ends_space && !salvo_space_slots_are_drained(space)))
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
		if (job->apart && salvo_space_has_sent(space))
			return;
		if (space->stopped || space->killing || !salvo_space_send(space, job))
			return;
		take_waiting(space, NULL);
	}
}

/* Slots need a process that knows what is bound, also without jobs. */
static void serve_slots(struct salvo_space *space)
{
	if (space->waiting || space->ending || !(space->slot_mask | space->given))
		return;
	if (space->block && space->stale &&
	    (space->stopped || salvo_space_has_sent(space) ||
	     !salvo_space_slots_are_drained(space) || !leave_process(space)))
		return;
	if (!space->block && space->slot_mask && !start_process(space))
		salvo_space_slots_lost(space, space->slot_mask);
}

/* Sleeps until something may have happened. Drops the lock meanwhile. */
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

bool salvo_space_is_over(const struct salvo_space *space)
{
	return space->ending && !space->waiting && !space->block && !space->leaving_count;
}

static void *space_main(void *arg)
{
	struct salvo_space *space = arg;
	struct salvo_irqs *irqs = &space->spaces->gpu->irqs;

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
		if (space->ending && space->block && !salvo_space_has_sent(space))
			stop_process(space);
		advance(space, &done);
		serve_slots(space);
		over = salvo_space_is_over(space);
		if (!done && !over && !atomic_load(&irqs->slot))
			wait_for_events(space, kicked);
		pthread_mutex_unlock(&space->lock);
		salvo_spaces_end_jobs(space->spaces, done);
		salvo_irqs_raise(irqs);
		if (over && !done && salvo_spaces_remove(space)) {
			break;
		}
	}
	pthread_mutex_destroy(&space->lock);
	free(space);
	return NULL;
}

struct salvo_space *salvo_space_create(struct salvo_spaces *spaces, uint32_t asid,
				       uint32_t prio_slot)
{
	struct salvo_space *space = calloc(1, sizeof(*space));
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	if (!space)
		return NULL;
	space->spaces = spaces;
	space->asid = asid;
	space->prio_slot = prio_slot;
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
	return space;
}

/* --- requests of the GPU, with the lock held ---------------------------------------------- */

void salvo_space_submit(struct salvo_space *space, struct salvo_gpu_job *job)
{
	/* The end of an address space may be followed by a new one of the same number. */
	space->ending = !job->entry.ctx && job->ends_space;
	job->apart = space->refused;
	space->refused = false;
	if (!space->waiting && job->entry.ctx && space->block && !space->stale && !job->apart &&
	    !space->stopped && !space->killing && !space->gone && salvo_space_send(space, job))
		return;
	if (space->waiting)
		space->last_waiting->ctx_next = job;
	else
		space->waiting = job;
	space->last_waiting = job;
	kick(space);
}

void salvo_space_refused(struct salvo_space *space)
{
	space->refused = true;
}

void salvo_space_changed(struct salvo_space *space)
{
	space->stale = true;
	salvo_space_slots_drain(space);
	if (space->slot_mask | space->given)
		kick(space);
}

void salvo_space_end(struct salvo_space *space)
{
	space->ending = true;
	salvo_space_slots_remove(space, ~0ull);
	stop_process(space);
	kick(space);
}

/* Has the process jobs and slots of no context but this one? */
static bool is_alone(struct salvo_space *space, uint32_t ctx, uint64_t from)
{
	unsigned int r;
	uint64_t s;

	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		struct salvo_channel *channel = &space->channel[r];

		for (s = channel->first; s != channel->next; s++) {
			const struct salvo_gpu_job *job = salvo_space_sent_at(channel, s)->job;

			if (job && (job->entry.ctx != ctx || job->entry.seqno < from))
				return false;
		}
	}
	return !salvo_space_slots_given_to(space, ctx, true);
}

bool salvo_space_kill(struct salvo_space *space, uint32_t ctx, uint64_t from)
{
	const uint32_t request = space->spaces->gpu->kill_request;
	const uint64_t slots = salvo_space_slots_of(space, ctx);
	struct salvo_space_block *block = space->block;
	const uint64_t first = block ? salvo_space_first_sent(space, ctx, from) : 0;
	bool left;

	if (slots) {
		salvo_space_slots_remove(space, slots);
		salvo_space_changed(space);
	}
	left = first || (block && salvo_space_slots_given_to(space, ctx, false));

	/*
	 * The process is killed at once if that hurts no other batch. With many hostile
	 * processes on each core, each of them would take long to handle a request.
	 */
	if (left) {
		if (space->kill_request != request) {
			space->kill_request = request;
			space->kill_ctx = ctx;
			space->kill_from = from;
			space->killing = true;
			space->kill_since = salvo_clock();
			block->regs.kill_ctx = ctx;
			/* Its packets have other numbers there. */
			block->regs.kill_seqno = first ? first : ~0ull;
			__atomic_store_n(&block->regs.kill_request, request, __ATOMIC_RELEASE);
		}
		if (salvo_clock() - space->kill_since >= KILL_NS || is_alone(space, ctx, from))
			stop_process(space);
		else
			salvo_space_ring(space);
	}
	kick(space);
	return left;
}

bool salvo_space_poll(struct salvo_space *space, bool stay, struct salvo_gpu_job **done)
{
	struct salvo_space_block *block = space->block;
	const bool busy = block && salvo_space_has_sent(space);
	const uint32_t waiting = !(busy && stay);

	if (!block)
		return space->waiting;
	if (atomic_load_explicit(&block->wants_wake, memory_order_relaxed) != waiting)
		atomic_store(&block->wants_wake, waiting);
	/* Also when the thread has collected the last job: a leaf may have ended since. */
	if (atomic_load(&block->completion_seq) == space->completion_seen)
		return busy || space->waiting;
	salvo_space_collect(space, done);
	/* Its thread does the rest. */
	if (space->waiting || space->killing || space->ending || space->given)
		kick(space);
	if (salvo_space_has_sent(space))
		return true;
	atomic_store(&block->wants_wake, 1);
	return space->waiting;
}

static uint64_t cpu_time(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return time.tv_sec * SALVO_CLOCK_HZ + time.tv_nsec;
}

/* The driver asks for no kill of a process that claims to be idle. */
void salvo_space_check_idle(struct salvo_space *space)
{
	uint64_t cpu, sent = 0;
	unsigned int r;

	if (!space->block || !space->pid || space->stopped)
		return;
	cpu = cpu_time(space->pid);
	/* Its units poll the slots, and run leaves. */
	if (space->given) {
		if (!salvo_space_slots_sample(space, cpu))
			stop_process(space);
		else if (salvo_space_slots_is_audit_due(space, cpu))
			salvo_space_changed(space);
		return;
	}
	for (r = 0; r < SALVO_MAX_RINGS; r++)
		sent += space->channel[r].next;
	if (salvo_space_has_sent(space))
		sent = ~0ull;
	else if (sent == space->last_sent && cpu - space->last_cpu > IDLE_NS)
		stop_process(space);
	space->last_cpu = cpu;
	space->last_sent = sent;
}

/* Of several processes on one core it shows the job that was sent first: it may hang. */
void salvo_space_sample_unit(struct salvo_space *space, unsigned int number, uint64_t *since)
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
	if (!unit.seqno && !*since && salvo_space_slots_given_to(space, unit.ctx, false)) {
		unit.asid = space->asid;
		*out = unit;
		return;
	}
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

void salvo_space_handle_event(struct salvo_space *space, const struct salvo_zygote_event *event)
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

void salvo_space_lost(struct salvo_space *space)
{
	space->gone = true;
	space->leaving_count = 0;
	kick(space);
}
