// SPDX-License-Identifier: MIT
/*
 * eu.c - execution units
 *
 * A unit is one thread, pinned to one core (M1 of CN102576314). It claims a chunk
 * of work-groups from the command queues (worker_queue.c), runs it, and claims the next. The
 * unit that finishes the last group of an element pushes the elements that
 * depend on it; the command processor is not involved.
 *
 * A consumer of one item, as in a chain of tiny dispatches, is run by the unit that has finished
 * its last producer, without the queue, up to MOST_CHAINED of them after each other. The unit does
 * not do that while it has others to run: work of a higher priority, leaves, or the rest of a chunk
 * of elements.
 *
 * While its chunks are of the same job the unit counts finished elements and busy time
 * locally, and flushes the counts to the job when it changes to another job or finds
 * no work. So many small dispatches do not contend for the job's counters, and
 * the clock is read twice for all of them. A unit that accounts for a job holds a reference to
 * it, so the job cannot end before the flush.
 *
 * A unit without work polls for a short while, since the next batch of
 * a frame usually follows soon and a wake-up costs more than a small batch. It yields its
 * core meanwhile, as the thread that submits may need it, unless another program wants the core
 * as well (yield.h). Then it sleeps (parking.c). Where work comes only after long pauses
 * it polls for less and less time; what it finds after it was woken in advance does not count.
 *
 * A push wakes no unit if an approved one is polling. So a unit that stops polling
 * because it took work wakes the next one if there is more, unless it does that sooner alone. A
 * unit of a far node may sleep while another one of its node fetches: that one wakes others when
 * the fetch is done.
 *
 * In the process of an address space a unit may have to yield its core to another process
 * (prio_table.c). It is neither polling nor sleeping then, so that nobody relies on it, and
 * checks again after YIELD_NS.
 *
 * No locks: each unit touches only its own struct salvo_eu. Elements: fields above the comment in
 * element.h are constant once pushed; an item belongs to the unit that claimed it.
 */
#include "eu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "aspace.h"
#include "clock.h"
#include "element.h"
#include "exclusion.h"
#include "group.h"
#include "irq.h"
#include "job.h"
#include "leaf.h"
#include "prio_table.h"
#include "queues.h"
#include "salvo_gpu.h"
#include "worker_queue.h"
#include "yield.h"

/* How long a unit polls for work before it sleeps, at most and about at least */
#define SPIN_NS		50000u
#define SPIN_LEAST_NS	3000u
/* Polls before the unit starts to yield its core in between */
#define SPIN_POLLS	64u
/* Leaves are counted in the registers after this time, or when the unit is idle. */
#define LEAF_FLUSH_NS	1000000u
/* Elements of one item that a unit runs after their producer without asking for other work */
#define MOST_CHAINED	16u
/* How long it leaves the core to another process before it checks again */
#define YIELD_NS	500000u

/**
 * struct salvo_eu - One execution unit. Only its own thread touches it.
 */
struct salvo_eu {
	struct salvo_eus *eus;
	/** @bit: Its bit in masks of units. */
	uint64_t bit;
	/** @queue: Where it gets its work. */
	struct salvo_worker_queue queue;
	/** @job: That it accounts for and holds a reference to, or NULL. */
	struct salvo_gpu_job *job;
	/** @finished: Elements of @job that it finished, @well of them before anything failed. */
	uint32_t finished;
	uint32_t well;
	/** @since: When accounting began. */
	uint64_t since;
	/** @leaf_ns: Time in leaves that is not counted in @eus->leaf_ns yet. */
	uint64_t leaf_ns;
	/** @polling: Its bit in the mask of that name is set. */
	bool polling;
	/** @idle: It may have counted as idle since it last ran anything. */
	bool idle;
	/** @spin_ns: How long it polls now: twice as long after a success, half after a failure. */
	uint32_t spin_ns;
	/** @yield: Whether another program wants its core. */
	struct salvo_yield yield;
	pthread_t thread;
	struct salvo_runner runner;
} __attribute__((aligned(64)));

static struct salvo_unit_regs *regs_of(const struct salvo_eu *eu)
{
	return &eu->eus->regs->unit[eu->queue.unit];
}

static void show(uint32_t *field, uint32_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELAXED);
}

/* Flushes the unit's counts to its job. Returns whether a job ended. */
static bool flush(struct salvo_eu *eu)
{
	struct salvo_eus *eus = eu->eus;
	struct salvo_gpu_job *job = eu->job;
	unsigned int events;
	uint64_t busy;

	if (!job)
		return false;
	busy = salvo_clock() - eu->since;
	atomic_fetch_add_explicit(&job->busy_ns, busy, memory_order_relaxed);
	atomic_fetch_add_explicit(&job->ended_well, eu->well, memory_order_relaxed);
	__atomic_fetch_add(&eus->regs->busy_ns, busy, __ATOMIC_RELAXED);
	eu->job = NULL;
	events = salvo_gpu_job_put(job, eu->finished + 1);
	eu->finished = 0;
	eu->well = 0;
	show(&regs_of(eu)->state, SALVO_UNIT_IDLE);
	if (events & SALVO_GPU_JOB_STARVED)
		eus->run_rings(eus->cookie);
	salvo_irqs_raise(eus->irqs);
	return events;
}

static void flush_leaves(struct salvo_eu *eu)
{
	if (!eu->leaf_ns)
		return;
	__atomic_fetch_add(eu->eus->leaf_ns, eu->leaf_ns, __ATOMIC_RELAXED);
	eu->leaf_ns = 0;
}

static void begin_accounting(struct salvo_eu *eu, struct salvo_gpu_job *job)
{
	uint64_t none = 0;

	flush(eu);
	salvo_fiber_reset_fpu();
	salvo_gpu_job_get(job);
	eu->job = job;
	eu->since = salvo_clock();
	atomic_compare_exchange_strong(&job->started, &none, eu->since);
	show(&regs_of(eu)->ctx, job->entry.ctx);
	show(&regs_of(eu)->asid, job->entry.asid);
	__atomic_store_n(&regs_of(eu)->seqno, job->entry.seqno, __ATOMIC_RELAXED);
	show(&regs_of(eu)->state, SALVO_UNIT_BUSY);
}

static void report_fault(struct salvo_eu *eu, struct salvo_element *element)
{
	const struct salvo_runner *runner = &eu->runner;
	struct salvo_fault fault = {
		.kind = runner->trap.kind, .address = runner->trap.address,
		.access = runner->trap.access, .group = runner->at, .item = runner->item,
	};

	if (fault.kind == SALVO_FAULT_PAGE)
		salvo_aspaces_nearest(eu->eus->aspaces, element->job->entry.asid, fault.address,
				      &fault.nearest, &fault.nearest_bytes);
	salvo_gpu_job_fault(element->job, element, &fault);
}

/* Runs the chunk and records when. Returns whether it went well. */
static bool run_recorded(struct salvo_eu *eu, const struct salvo_gcq_chunk *chunk)
{
	const struct salvo_element *element = chunk->element;
	struct salvo_gpu_recording *recording =
		atomic_load_explicit(&eu->eus->recording, memory_order_acquire);
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
		.unit = eu->queue.unit,
	};
	good = salvo_runner_run(&eu->runner, chunk, &element->job->status);
	span.ended = salvo_clock();
	place = atomic_fetch_add_explicit(&recording->next, 1, memory_order_relaxed);
	if (place < recording->capacity)
		recording->spans[place] = span;
	return good;
}

/* Has it failed, or its job? Then what is left of it is not run. */
static bool is_dropped(const struct salvo_element *element)
{
	return atomic_load_explicit(&element->failed, memory_order_relaxed) ||
	       atomic_load_explicit(&element->job->status, memory_order_relaxed);
}

/* Runs items of one element. */
static void run_items(struct salvo_eu *eu, const struct salvo_gcq_chunk *chunk)
{
	struct salvo_element *element = chunk->element;

	if (is_dropped(element))
		return;
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

/* All items of the element are done. Returns a consumer to run, or to push. */
static struct salvo_element *end_element(struct salvo_eu *eu, struct salvo_element *element)
{
	struct salvo_gpu_job *job = element->job;

	if (!is_dropped(element))
		eu->well++;
	eu->finished++;
	return salvo_gpu_job_release(job, element);
}

/* Runs a consumer of one item, and those of one item each that it leads to. Pushes what is left. */
static void run_chain(struct salvo_eu *eu, struct salvo_element *element)
{
	struct salvo_gcq_chunk one = { .element = element, .count = 1 };
	unsigned int i;

	for (i = 0; one.element && i < MOST_CHAINED; i++) {
		if (salvo_element_entry_items(one.element) > 1 ||
		    !(one.element->apu_mask & eu->bit) ||
		    !salvo_worker_queue_may_continue(&eu->queue, one.element->prio) ||
		    salvo_leaf_slots_ring(eu->eus->slots, eu->queue.unit))
			break;
		run_items(eu, &one);
		one.element = end_element(eu, one.element);
	}
	if (one.element)
		salvo_queues_push(eu->eus->queues, one.element);
}

/*
 * The items of the chunk are coalesced elements. Nobody else can run the rest of it, so that does
 * not wait for a consumer. Consumers are coalesced, too.
 */
static void run_elements(struct salvo_eu *eu, const struct salvo_gcq_chunk *chunk)
{
	struct salvo_gcq_chunk one = { .element = chunk->element + chunk->first, .count = 1 };
	const struct salvo_element *end = one.element + chunk->count;
	struct salvo_element *head = NULL, *consumer;

	for (; one.element != end; one.element++) {
		run_items(eu, &one);
		consumer = end_element(eu, one.element);
		if (consumer)
			head = salvo_gpu_job_push(consumer->job, head, consumer);
	}
	salvo_worker_queue_done(&eu->queue, chunk);
	run_chain(eu, head);
}

static void run_chunk(struct salvo_eu *eu, const struct salvo_gcq_chunk *chunk)
{
	struct salvo_element *element = chunk->element;
	uint32_t done;

	if (eu->job != element->job)
		begin_accounting(eu, element->job);
	salvo_prio_slot_publish(eu->eus->prio_slot, eu->queue.unit, element->prio);
	if (element->coalesced > 1) {
		run_elements(eu, chunk);
		return;
	}
	eu->runner.excludes = salvo_exclusion_claim(eu->eus->queues, eu->queue.unit, chunk);
	run_items(eu, chunk);
	if (eu->runner.excludes) {
		salvo_exclusion_release(eu->eus->queues);
		eu->runner.excludes = false;
	}
	done = salvo_worker_queue_done(&eu->queue, chunk);
	if (done && (done == element->total ||
		     atomic_fetch_sub_explicit(&element->left, done,
					       memory_order_acq_rel) == done))
		run_chain(eu, end_element(eu, element));
}

static bool poll_doorbell(const struct salvo_eus *eus)
{
	return eus->poll_doorbell && eus->poll_doorbell(eus->cookie);
}

/* A doorbell that was rung before may rely on this unit: check once more. */
static void stop_polling(struct salvo_eu *eu)
{
	atomic_fetch_and(&eu->eus->queues->parking->polling, ~eu->bit);
	eu->polling = false;
	poll_doorbell(eu->eus);
}

/* It is about to run something, and does not count as idle. */
static void end_idle(struct salvo_eu *eu)
{
	if (eu->idle)
		salvo_exclusion_wait(eu->eus->queues, eu->queue.unit);
	eu->idle = false;
}

static void park_until_work(struct salvo_eu *eu)
{
	struct salvo_eus *eus = eu->eus;
	struct salvo_parking *parking = eus->queues->parking;
	const unsigned int unit = eu->queue.unit;

	flush_leaves(eu);
	salvo_parking_prepare_wait(parking, unit);
	stop_polling(eu);
	/*
	 * Not while the entry at the cursor is being written: entries behind it may be
	 * there already, and its writer wakes only a unit that is approved for it.
	 */
	salvo_leaf_slots_sleep(eus->slots, unit, true);
	while (salvo_worker_queue_may_sleep(&eu->queue) && !atomic_load(&eus->stop) &&
	       !salvo_leaf_slots_ring(eus->slots, unit) && salvo_parking_wait(parking, unit))
		;
	salvo_leaf_slots_sleep(eus->slots, unit, false);
	eu->polling = salvo_parking_finish_wait(parking, unit);
	eu->queue.sleeps = true;
	salvo_queues_note_awake(eus->queues);
	/* It may have been woken for a doorbell, and there may be work too. */
	poll_doorbell(eus);
}

/* Another process runs a higher priority on this core. */
static void yield_core(struct salvo_eu *eu)
{
	if (eu->polling)
		stop_polling(eu);
	salvo_worker_queue_wake_next(&eu->queue, NULL);
	salvo_parking_pause(eu->eus->queues->parking, eu->queue.unit, YIELD_NS);
}

/* A push relies on a unit that polls; one that serves slots may be busy with leaves. */
static void begin_polling(struct salvo_eu *eu)
{
	if (eu->polling || salvo_leaf_slots_serves(eu->eus->slots, eu->queue.unit))
		return;
	eu->polling = true;
	atomic_fetch_or(&eu->eus->queues->parking->polling, eu->bit);
}

/* Returns when there may be work. */
static void wait_for_work(struct salvo_eu *eu)
{
	struct salvo_eus *eus = eu->eus;
	const uint64_t start = salvo_clock();
	/* It was woken in advance, and has run nothing since. */
	const bool woken = eu->idle;
	unsigned int polls = 0;
	uint64_t now = start;

	eu->idle = true;
	begin_polling(eu);
	do {
		if (salvo_worker_queue_has_work(&eu->queue) || poll_doorbell(eus) ||
		    salvo_leaf_slots_ring(eus->slots, eu->queue.unit) ||
		    atomic_load_explicit(&eus->stop, memory_order_relaxed)) {
			if (!woken && eu->spin_ns <= SPIN_NS / 2)
				eu->spin_ns *= 2;
			return;
		}
		if (++polls < SPIN_POLLS)
			__builtin_ia32_pause();
		else if (salvo_yield_is_crowded(&eu->yield, now))
			break;
		else
			now = salvo_yield(&eu->yield, now);
	} while (now - start < eu->spin_ns);
	if (eu->spin_ns > SPIN_LEAST_NS)
		eu->spin_ns /= 2;
	park_until_work(eu);
	/* Would it have paid to poll? */
	if (salvo_clock() - start < SPIN_NS)
		eu->spin_ns = SPIN_NS;
}

/*
 * Leaves of workers, between two chunks; those of low priority only if there is no chunk. Returns
 * whether the unit has to yield its core.
 */
static bool serve_slots(struct salvo_eu *eu, bool idle)
{
	struct salvo_leaf_slots *slots = eu->eus->slots;
	struct salvo_leaf_served served;
	bool wake;

	if (!salvo_leaf_slots_ring(slots, eu->queue.unit))
		return false;
	flush(eu);
	/* A push may have relied on this unit, or it has left the rest of an entry for itself. */
	wake = eu->polling || eu->queue.alone;
	if (eu->polling)
		stop_polling(eu);
	if (wake)
		salvo_worker_queue_wake_next(&eu->queue, NULL);
	end_idle(eu);
	served = salvo_leaf_slots_serve(slots, eu->queue.unit, idle ? 0 : 1, &eu->runner);
	salvo_prio_slot_publish(eu->eus->prio_slot, eu->queue.unit, SALVO_PRIOS);
	eu->leaf_ns += served.busy_ns;
	if (eu->leaf_ns > LEAF_FLUSH_NS)
		flush_leaves(eu);
	return served.yield;
}

static void *unit_main(void *arg)
{
	struct salvo_eu *eu = arg;

	pthread_setname_np(pthread_self(), "salvo-eu");
	salvo_runner_attach(&eu->runner);
	atomic_fetch_add(&eu->eus->ready, 1);
	while (!atomic_load_explicit(&eu->eus->stop, memory_order_relaxed)) {
		struct salvo_worker_events events;
		struct salvo_gcq_chunk chunk;
		bool yield;

		serve_slots(eu, false);
		chunk = salvo_worker_queue_take(&eu->queue, &events);
		if (events.admitted) {
			atomic_thread_fence(memory_order_seq_cst);
			salvo_parking_wake_all(eu->eus->queues->parking);
		}
		if (chunk.count && eu->polling)
			stop_polling(eu);
		if (chunk.count || events.fetched)
			salvo_worker_queue_wake_next(&eu->queue, &chunk);
		if (chunk.count) {
			end_idle(eu);
			run_chunk(eu, &chunk);
			continue;
		}
		/*
		 * A thread that waits for the job may need this core, and may keep it until it
		 * waits for the next one.
		 */
		if (flush(eu)) {
			const uint64_t now = salvo_clock();

			begin_polling(eu);
			if (!salvo_yield_is_crowded(&eu->yield, now))
				salvo_yield(&eu->yield, now);
		}
		salvo_prio_slot_publish(eu->eus->prio_slot, eu->queue.unit, SALVO_PRIOS);
		yield = serve_slots(eu, true);
		if (events.yield || yield)
			yield_core(eu);
		else
			wait_for_work(eu);
	}
	return NULL;
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
	/* Sent by salvo_trap_stop(). */
	sigdelset(&set, SIGURG);
	pthread_sigmask(SIG_SETMASK, &set, old);
}

/* Not pinned if the core is not known, or a sandbox does not allow to pin it. */
static int create_thread(struct salvo_eu *eu, pthread_attr_t *attr)
{
	const int core = eu->eus->queues->core[eu->queue.unit];
	cpu_set_t one;

	if (core >= 0) {
		CPU_ZERO(&one);
		CPU_SET(core, &one);
		pthread_attr_setaffinity_np(attr, sizeof(one), &one);
		if (!pthread_create(&eu->thread, attr, unit_main, eu))
			return 0;
		pthread_attr_setaffinity_np(attr, 0, &one);
	}
	return pthread_create(&eu->thread, attr, unit_main, eu) ? -EAGAIN : 0;
}

static int start_unit(struct salvo_eu *eu, pthread_attr_t *attr)
{
	int ret = salvo_runner_init(&eu->runner);

	if (ret)
		return ret;
	ret = create_thread(eu, attr);
	if (ret)
		salvo_runner_fini(&eu->runner);
	return ret;
}

static void init_unit(struct salvo_eus *eus, unsigned int number)
{
	const struct salvo_prio_slot *slot = eus->prio_slot;
	struct salvo_eu *eu = &eus->units[number];

	eu->eus = eus;
	eu->bit = 1ull << number;
	eu->spin_ns = SPIN_NS;
	salvo_worker_queue_init(&eu->queue, eus->queues, number);
	eu->queue.slot = slot->table ? slot : NULL;
}

int salvo_eus_init(struct salvo_eus *eus)
{
	const unsigned int count = eus->queues->topology.units;
	pthread_attr_t attr;
	unsigned int i;
	sigset_t old;
	int ret = 0;

	eus->units = aligned_alloc(64, count * sizeof(eus->units[0]));
	if (!eus->units)
		return -ENOMEM;
	memset(eus->units, 0, count * sizeof(eus->units[0]));

	pthread_attr_init(&attr);
	/* Fixed sizes, independent of the process's defaults. */
	pthread_attr_setstacksize(&attr, SALVO_UNIT_STACK_BYTES);
	pthread_attr_setguardsize(&attr, SALVO_GUARD_BYTES);
	block_signals(&old);
	for (i = 0; i < count && !ret; i++) {
		init_unit(eus, i);
		ret = start_unit(&eus->units[i], &attr);
		if (!ret)
			eus->count++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	/* From now on kernels can be stopped, and a sandbox can filter system calls. */
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

		salvo_parking_wake(eus->queues->parking, i);
		pthread_join(eu->thread, NULL);
		salvo_runner_fini(&eu->runner);
	}
	free(eus->units);
}
