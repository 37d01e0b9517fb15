// SPDX-License-Identifier: MIT
/*
 * eu.c - execution units
 *
 * A unit is one thread, pinned to one core (M1 of CN102576314). It asks the
 * command queues (queues.c) for a chunk of work-groups, runs them, and asks again. The
 * unit that finishes the last group of an element releases the elements that
 * waited for it by itself; nothing goes back to the command processor.
 *
 * While the chunks it gets are of the same job the unit counts what it finished
 * on its own, and settles the account when it goes on to another job or finds
 * nothing to do: then it tells the job how many elements it finished and how long
 * it was busy. So many small dispatches do not fight for the job's counters, and
 * the clock is read twice for all of them. The open account is a reference to
 * the job, so the job cannot end under a unit that still has one.
 *
 * A unit that finds nothing looks again for a short while, as the next batch of
 * a frame is near and waking costs more than all of a small batch. It yields its
 * core meanwhile, as the thread that submits may want to run there. Then it sleeps
 * (parking.c). If an approved unit is looking when an element is pushed, that one will find it.
 * Else the push wakes one that sleeps, as the others may be busy for long. A unit that
 * stops looking because it took work wakes the next if it sees more (a serial
 * chain), as pushes may have relied on it. A unit of a far node may also sleep while
 * another of its node fetches: that one looks at @sleeping when it is done.
 *
 * In the process of an address space a unit may have to leave its core to another process
 * (prio_table.c). It is neither looking nor sleeping then, so that nobody relies on it, and looks
 * again after a moment.
 */
#include "eu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "prio_table.h"
#include "clock.h"
#include "element.h"
#include "gpu.h"
#include "group.h"

/* How long a unit looks for more work before it sleeps */
#define SPIN_NS		50000u
/* Looks before the unit starts to yield its core */
#define SPIN_POLLS 64u
/* How long it leaves the core to another process before it looks again */
#define YIELD_NS 500000u

/**
 * struct salvo_eu - One execution unit. Only its own thread touches it.
 */
struct salvo_eu {
	struct salvo_eus *eus;
	/** @bit: Its bit in masks of units. */
	uint64_t bit;
	/** @queue: Its place in the queues. */
	struct salvo_worker_queue queue;
	/** @job: Whose account is open, or NULL. */
	struct salvo_gpu_job *job;
	/** @finished: Elements of @job that it finished, @well of them before anything failed. */
	uint32_t finished;
	uint32_t well;
	/** @since: When the account was opened. */
	uint64_t since;
	/** @polling: Its bit in the mask of that name. */
	bool polling;
	pthread_t thread;
	struct salvo_runner runner;
} __attribute__((aligned(64)));

void salvo_eus_push(struct salvo_eus *eus, struct salvo_element *element)
{
	const uint64_t mask = element->apu_mask;
	const bool entered = salvo_queues_push(&eus->gpu->queues, element);

	atomic_thread_fence(memory_order_seq_cst);
	if (!entered)
		salvo_parking_wake_all(eus->parking);
	else if (!(mask & atomic_load(&eus->parking->polling)))
		salvo_parking_wake_one(eus->parking, mask & atomic_load(&eus->parking->sleeping),
				       eus->core, false);
}

void salvo_eus_expect(struct salvo_eus *eus)
{
	uint64_t sleeping;

	/* Units of another process are woken when they are sent something. */
	if (!eus->units)
		return;
	sleeping = atomic_load_explicit(&eus->parking->sleeping, memory_order_relaxed);
	if (sleeping == eus->all)
		salvo_parking_wake_one(eus->parking, sleeping, eus->core, false);
}

/* A unit that took or fetched work and sees more calls another of its node and one elsewhere. */
static void wake_next(struct salvo_eu *eu)
{
	const struct salvo_worker_queue *queue = &eu->queue;
	const uint64_t mates = queue->queues->topology.node[queue->node].units;
	struct salvo_eus *eus = eu->eus;
	const uint64_t sleeping = atomic_load(&eus->parking->sleeping);
	uint64_t others;

	if (!sleeping)
		return;
	others = salvo_worker_queue_others(queue, sleeping);
	salvo_parking_wake_one(eus->parking, others & mates, eus->core, false);
	salvo_parking_wake_one(eus->parking, others & ~mates, eus->core, false);
}

static struct salvo_unit_regs *regs_of(const struct salvo_eu *eu)
{
	return &eu->eus->gpu->regs->unit[eu - eu->eus->units];
}

static void show(uint32_t *field, uint32_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELAXED);
}

/* Returns whether that was the end of a job. */
static bool flush(struct salvo_eu *eu)
{
	struct salvo_gpu *gpu = eu->eus->gpu;
	struct salvo_gpu_job *job = eu->job;
	uint64_t busy;
	bool ended;

	if (!job)
		return false;
	busy = salvo_clock() - eu->since;
	atomic_fetch_add_explicit(&job->busy_ns, busy, memory_order_relaxed);
	atomic_fetch_add_explicit(&job->ended_well, eu->well, memory_order_relaxed);
	__atomic_fetch_add(&gpu->regs->busy_ns, busy, __ATOMIC_RELAXED);
	eu->job = NULL;
	ended = salvo_gpu_job_put(job, eu->finished + 1);
	eu->finished = 0;
	eu->well = 0;
	show(&regs_of(eu)->state, SALVO_UNIT_IDLE);
	salvo_gpu_raise(gpu);
	return ended;
}

static void begin_accounting(struct salvo_eu *eu, struct salvo_gpu_job *job)
{
	uint64_t none = 0;

	flush(eu);
	salvo_gpu_job_get(job);
	eu->job = job;
	eu->since = salvo_clock();
	atomic_compare_exchange_strong(&job->started, &none, eu->since);
	show(&regs_of(eu)->ctx, job->entry.ctx);
	show(&regs_of(eu)->asid, job->entry.asid);
	__atomic_store_n(&regs_of(eu)->seqno, job->entry.seqno, __ATOMIC_RELAXED);
	show(&regs_of(eu)->state, SALVO_UNIT_BUSY);
}

static void report_fault(struct salvo_eu *eu, const struct salvo_element *element)
{
	const struct salvo_runner *runner = &eu->runner;
	struct salvo_fault fault = {
		.kind = runner->trap.kind, .address = runner->trap.address,
		.access = runner->trap.access, .group = runner->at, .item = runner->item,
	};

	if (fault.kind == SALVO_FAULT_PAGE)
		salvo_aspaces_nearest(&eu->eus->gpu->aspaces, element->job->entry.asid,
				      fault.address, &fault.nearest, &fault.nearest_bytes);
	salvo_gpu_job_fail(element->job, element->index, &fault);
}

/* Runs the chunk, and notes when it did if someone records. Return: did it go well? */
static bool run_recorded(struct salvo_eu *eu, const struct salvo_gcq_chunk *chunk)
{
	const struct salvo_element *element = chunk->element;
	struct salvo_gpu_recording *recording =
		atomic_load_explicit(&eu->eus->gpu->recording, memory_order_acquire);
	struct salvo_gpu_span span;
	uint32_t place;
	bool good;

	if (!recording)
		return salvo_runner_run(&eu->runner, chunk, &element->job->status);
	span = (struct salvo_gpu_span){
		.started = salvo_clock(),
		.seqno = element->job->entry.seqno,
		.group = chunk->first,
		.count = chunk->count,
		.command = element->index,
		.unit = eu - eu->eus->units,
	};
	good = salvo_runner_run(&eu->runner, chunk, &element->job->status);
	span.ended = salvo_clock();
	place = atomic_fetch_add_explicit(&recording->next, 1, memory_order_relaxed);
	if (place < recording->capacity)
		recording->spans[place] = span;
	return good;
}

/* Runs items of one element. */
static void run_items(struct salvo_eu *eu, const struct salvo_gcq_chunk *chunk)
{
	struct salvo_element *element = chunk->element;

	show(&regs_of(eu)->command, element->index);
	__atomic_store_n(&regs_of(eu)->group, chunk->first, __ATOMIC_RELAXED);
	if (element->job->profile &&
	    !atomic_load_explicit(&element->started, memory_order_relaxed)) {
		uint64_t none = 0;

		atomic_compare_exchange_strong(&element->started, &none, salvo_clock());
	}
	if (!run_recorded(eu, chunk) && eu->runner.trap.kind != SALVO_FAULT_NONE)
		report_fault(eu, element);
}

/* All items of the element are done. */
static void end_element(struct salvo_eu *eu, struct salvo_element *element)
{
	struct salvo_gpu_job *job = element->job;

	if (!atomic_load_explicit(&job->status, memory_order_relaxed))
		eu->well++;
	salvo_gpu_job_release(job, element);
	eu->finished++;
}

/* The items of the chunk are elements themselves. */
static void run_elements(struct salvo_eu *eu, const struct salvo_gcq_chunk *chunk)
{
	struct salvo_gcq_chunk one = { .element = chunk->element + chunk->first, .count = 1 };
	const struct salvo_element *end = one.element + chunk->count;

	for (; one.element != end; one.element++) {
		run_items(eu, &one);
		end_element(eu, one.element);
	}
	salvo_worker_queue_done(&eu->queue, chunk);
}

static void run_chunk(struct salvo_eu *eu, const struct salvo_gcq_chunk *chunk)
{
	struct salvo_element *element = chunk->element;
	uint32_t done;

	if (eu->job != element->job)
		begin_accounting(eu, element->job);
	salvo_prio_slot_publish(&eu->eus->gpu->prio_slot, eu->queue.unit, element->prio);
	if (element->coalesced > 1) {
		run_elements(eu, chunk);
		return;
	}
	run_items(eu, chunk);
	done = salvo_worker_queue_done(&eu->queue, chunk);
	if (done && (done == element->total ||
		     atomic_fetch_sub_explicit(&element->left, done,
					       memory_order_acq_rel) == done))
		end_element(eu, element);
}

/* Who rings a bell may have relied on this unit to look at it. */
static void stop_polling(struct salvo_eu *eu)
{
	atomic_fetch_and(&eu->eus->parking->polling, ~eu->bit);
	eu->polling = false;
	salvo_gpu_poll_doorbell(eu->eus->gpu);
}

static void park_until_work(struct salvo_eu *eu)
{
	struct salvo_eus *eus = eu->eus;
	const unsigned int unit = eu - eus->units;

	salvo_parking_prepare_wait(eus->parking, unit);
	stop_polling(eu);
	/*
	 * Not while the entry at the cursor is being written: entries behind it may be
	 * there already, and whoever writes it wakes only a unit that it is for.
	 */
	while (salvo_worker_queue_may_sleep(&eu->queue) && !atomic_load(&eus->stop) &&
	       salvo_parking_wait(eus->parking, unit))
		;
	salvo_parking_finish_wait(eus->parking, unit);
	/* It may have been woken for the bell, and find work to do at once. */
	salvo_gpu_poll_doorbell(eus->gpu);
}

/* A unit of another process works for a higher priority on this core. */
static void yield_core(struct salvo_eu *eu)
{
	if (eu->polling)
		stop_polling(eu);
	wake_next(eu);
	salvo_parking_pause(eu->eus->parking, eu->queue.unit, YIELD_NS);
}

/* Returns when there may be work. */
static void wait_for_work(struct salvo_eu *eu)
{
	struct salvo_eus *eus = eu->eus;
	const uint64_t deadline = salvo_clock() + SPIN_NS;
	unsigned int polls = 0;

	if (!eu->polling) {
		eu->polling = true;
		atomic_fetch_or(&eus->parking->polling, eu->bit);
	}
	do {
		if (salvo_worker_queue_has_work(&eu->queue) || salvo_gpu_poll_doorbell(eus->gpu) ||
		    atomic_load_explicit(&eus->stop, memory_order_relaxed))
			return;
		if (++polls < SPIN_POLLS)
			__builtin_ia32_pause();
		else
			sched_yield();
	} while (polls < SPIN_POLLS || salvo_clock() < deadline);
	park_until_work(eu);
}

static void *unit_main(void *arg)
{
	struct salvo_eu *eu = arg;

	pthread_setname_np(pthread_self(), "salvo-eu");
	salvo_runner_attach(&eu->runner);
	atomic_fetch_add(&eu->eus->ready, 1);
	while (!atomic_load_explicit(&eu->eus->stop, memory_order_relaxed)) {
		struct salvo_worker_events events;
		const struct salvo_gcq_chunk chunk = salvo_worker_queue_take(&eu->queue, &events);

		if (events.admitted) {
			atomic_thread_fence(memory_order_seq_cst);
			salvo_parking_wake_all(eu->eus->parking);
		}
		if (chunk.count && eu->polling)
			stop_polling(eu);
		if (chunk.count || events.fetched)
			wake_next(eu);
		if (chunk.count) {
			run_chunk(eu, &chunk);
			continue;
		}
		/* Who waits for the job may want to go on on this core. */
		if (flush(eu))
			sched_yield();
		salvo_prio_slot_publish(&eu->eus->gpu->prio_slot, eu->queue.unit, SALVO_PRIOS);
		if (events.yield)
			yield_core(eu);
		else
			wait_for_work(eu);
	}
	return NULL;
}

/* The core that is meant for a unit, else the @index-th that we may run on, counted round. */
static int core_of(const cpu_set_t *set, int wanted, unsigned int index)
{
	unsigned int rest = index % CPU_COUNT(set);
	int core;

	if (wanted >= 0 && wanted < CPU_SETSIZE && CPU_ISSET(wanted, set))
		return wanted;
	for (core = 0;; core++)
		if (CPU_ISSET(core, set) && !rest--)
			return core;
}

/* A unit takes only the signals that its own instructions cause, and the one that stops it. */
static void block_signals(sigset_t *old)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	sigdelset(&set, SIGFPE);
	sigdelset(&set, SIGILL);
	sigdelset(&set, SIGTRAP);
	sigdelset(&set, SIGSYS);
	/* Of trap.c, to stop a kernel. */
	sigdelset(&set, SIGURG);
	pthread_sigmask(SIG_SETMASK, &set, old);
}

static int start_unit(struct salvo_eu *eu, const pthread_attr_t *attr)
{
	int ret = salvo_runner_init(&eu->runner);

	if (ret)
		return ret;
	if (pthread_create(&eu->thread, attr, unit_main, eu)) {
		salvo_runner_fini(&eu->runner);
		return -EAGAIN;
	}
	return 0;
}

static int find_cores(struct salvo_eus *eus, const struct salvo_topology *topology)
{
	cpu_set_t allowed;
	unsigned int i;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -EAGAIN;
	for (i = 0; i < topology->units; i++)
		eus->core[i] = core_of(&allowed, topology->core[i], i);
	eus->all = topology->units == 64 ? ~0ull : (1ull << topology->units) - 1;
	return 0;
}

int salvo_eus_init_none(struct salvo_eus *eus, struct salvo_gpu *gpu)
{
	eus->gpu = gpu;
	eus->count = gpu->queues.topology.units;
	return find_cores(eus, &gpu->queues.topology);
}

int salvo_eus_init(struct salvo_eus *eus, struct salvo_gpu *gpu)
{
	const struct salvo_topology *topology = &gpu->queues.topology;
	const unsigned int count = topology->units;
	pthread_attr_t attr;
	unsigned int i;
	cpu_set_t one;
	sigset_t old;
	int ret;

	eus->gpu = gpu;
	if (!eus->parking)
		eus->parking = &eus->own_parking;
	ret = find_cores(eus, topology);
	if (ret)
		return ret;
	eus->units = aligned_alloc(64, count * sizeof(eus->units[0]));
	if (!eus->units)
		return -ENOMEM;
	memset(eus->units, 0, count * sizeof(eus->units[0]));

	pthread_attr_init(&attr);
	/* No matter what other threads of this process have. */
	pthread_attr_setstacksize(&attr, SALVO_UNIT_STACK_BYTES);
	pthread_attr_setguardsize(&attr, SALVO_GUARD_BYTES);
	block_signals(&old);
	for (i = 0; i < count && !ret; i++) {
		struct salvo_eu *eu = &eus->units[i];

		eu->eus = eus;
		eu->bit = 1ull << i;
		salvo_worker_queue_init(&eu->queue, &gpu->queues, i);
		eu->queue.slot = gpu->prio_slot.table ? &gpu->prio_slot : NULL;
		CPU_ZERO(&one);
		CPU_SET(eus->core[i], &one);
		pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
		ret = start_unit(eu, &attr);
		if (!ret)
			eus->count++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	/* A stop may come at once, and a sandbox wants no more calls from them. */
	while (!ret && atomic_load(&eus->ready) < count)
		sched_yield();
	if (ret)
		salvo_eus_fini(eus);
	return ret;
}

void salvo_eus_stop_kernels(struct salvo_eus *eus)
{
	unsigned int i;

	for (i = 0; i < eus->count; i++)
		salvo_trap_stop(&eus->units[i].runner.trap);
}

void salvo_eus_fini(struct salvo_eus *eus)
{
	unsigned int i;

	atomic_store(&eus->stop, true);
	for (i = 0; i < eus->count; i++) {
		struct salvo_eu *eu = &eus->units[i];

		salvo_parking_wake(eus->parking, i);
		pthread_join(eu->thread, NULL);
		salvo_runner_fini(&eu->runner);
	}
	free(eus->units);
}
