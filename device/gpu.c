// SPDX-License-Identifier: MIT
/*
 * gpu.c - lifetime, reset handshake, ring registers, doorbells
 *
 * The registers are memory that the other side may write at any time: each is
 * read once and checked, and the device uses its own copy.
 *
 * Doorbells coalesce. A doorbell sets a bit and then tries to take the command processor's
 * lock. If another thread holds it, that thread checks the bits again after it has dropped the
 * lock, so nobody but a reset waits for the lock, and no doorbell is lost
 * (tests/spin/doorbell.pml). A unit that retires a packet runs a ring that had no free job.
 *
 * Locks: cp_lock (rings, address spaces, parsing), then the lock of jobs.c, then
 * that of fault.c. Interrupts are counted under them and raised without any.
 */
#include "gpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cancel.h"
#include "clock.h"
#include "isolation.h"
#include "salvo_march.h"
#include "trap.h"

#define ALL_RINGS ((1u << SALVO_MAX_RINGS) - 1)

/* How long a drain waits for work-groups to end before it stops their kernels */
#define DRAIN_NS 20000000u

/* Records a fault; the ring is ignored until a reset. */
static void halt_ring(struct salvo_gpu *gpu, unsigned int number, uint64_t address,
		      uint64_t seqno)
{
	const struct salvo_fault fault = {
		.kind = SALVO_FAULT_RING, .address = address, .seqno = seqno,
		.command = SALVO_FAULT_NO_COMMAND, .item = SALVO_FAULT_NO_ITEM,
	};

	gpu->ring[number].halted = true;
	salvo_fault_record(&gpu->faults, &fault);
	atomic_fetch_add(&gpu->irqs.fault, 1);
}

/* Reads the registers of a ring that was not live. */
static bool enable_ring(struct salvo_gpu *gpu, unsigned int number)
{
	struct salvo_ring_regs *regs = &gpu->regs->ring[number];
	struct salvo_gpu_ring *ring = &gpu->ring[number];
	uint64_t bytes;

	ring->base = __atomic_load_n(&regs->base, __ATOMIC_RELAXED);
	ring->entries = __atomic_load_n(&regs->entries, __ATOMIC_RELAXED);
	bytes = ring->entries * sizeof(struct salvo_ring_entry);
	if (!gpu->was_reset || ring->entries < SALVO_RING_MIN_ENTRIES ||
	    ring->entries > SALVO_RING_MAX_ENTRIES || ring->entries & (ring->entries - 1) ||
	    ring->base % sizeof(struct salvo_ring_entry) ||
	    !salvo_dma_covers(&gpu->dma, ring->base, bytes)) {
		halt_ring(gpu, number, ring->base, 0);
		return false;
	}
	ring->live = true;
	return true;
}

/* Consumes one entry. Returns false if the ring must wait or is halted. */
static bool run_entry(struct salvo_gpu *gpu, unsigned int number)
{
	struct salvo_gpu_ring *ring = &gpu->ring[number];
	const uint64_t at = ring->base + (ring->head & (ring->entries - 1)) *
			    sizeof(struct salvo_ring_entry);
	struct salvo_gpu_job *job = salvo_gpu_jobs_take(&gpu->jobs, number);

	if (!job)
		return false;
	if (!salvo_dma_read(&gpu->dma, &job->entry, at, sizeof(job->entry)) ||
	    !job->entry.seqno || (ring->seqno && job->entry.seqno != ring->seqno + 1)) {
		halt_ring(gpu, number, at, ring->seqno + 1);
		salvo_gpu_jobs_discard(job);
		return false;
	}
	ring->seqno = job->entry.seqno;
	salvo_cp_run(&gpu->cp, job);
	ring->head++;
	__atomic_store_n(&gpu->regs->ring[number].head, ring->head, __ATOMIC_RELEASE);
	return true;
}

/*
 * Rings with lower numbers are read first, so that a batch finds what was bound for it before.
 * Returns whether a ring has to wait.
 */
static bool run_ring(struct salvo_gpu *gpu, unsigned int number)
{
	struct salvo_ring_regs *regs = &gpu->regs->ring[number];
	struct salvo_gpu_ring *ring = &gpu->ring[number];
	uint64_t tail;
	unsigned int i;

	if (__atomic_load_n(&regs->enable, __ATOMIC_ACQUIRE) != 1) {
		ring->live = false;
		return false;
	}
	if (ring->halted || (!ring->live && !enable_ring(gpu, number)))
		return false;
	tail = __atomic_load_n(&regs->tail, __ATOMIC_ACQUIRE);
	if (tail - ring->head > ring->entries) {
		halt_ring(gpu, number, 0, ring->seqno + 1);
		return false;
	}
	if (ring->head == tail)
		return false;
	for (i = 0; i < number; i++)
		if (run_ring(gpu, i))
			return true;
	/* Waking a unit takes about as long as parsing a large packet. */
	if (!gpu->spaces)
		salvo_queues_expect(&gpu->queues);
	while (ring->head != tail && run_entry(gpu, number))
		;
	return ring->head != tail && !ring->halted;
}

void salvo_gpu_run_rings(struct salvo_gpu *gpu, uint32_t mask)
{
	atomic_fetch_or(&gpu->rung, mask & ALL_RINGS);
	while (atomic_load(&gpu->rung) && !pthread_mutex_trylock(&gpu->cp_lock)) {
		const uint32_t rung = atomic_exchange(&gpu->rung, 0);
		unsigned int i;

		for (i = 0; i < SALVO_MAX_RINGS; i++)
			if (rung & (1u << i))
				run_ring(gpu, i);
		pthread_mutex_unlock(&gpu->cp_lock);
	}
}

/* Kills all jobs and waits until no unit works for one. */
static void drain(struct salvo_gpu *gpu)
{
	salvo_gpu_jobs_kill_all(&gpu->jobs);
	if (gpu->spaces)
		gpu->config.isolation->stop(gpu->spaces);
	salvo_gpu_beat(gpu);
	while (!salvo_gpu_jobs_wait_idle(&gpu->jobs, DRAIN_NS)) {
		salvo_gpu_beat(gpu);
		if (!gpu->spaces && gpu->config.contain_faults)
			salvo_eus_stop_kernels(&gpu->eus);
	}
	salvo_gpu_jobs_reset(&gpu->jobs);
}

/* The handshake of salvo_hw.h: afterwards the device is in its initial state. */
static void reset(struct salvo_gpu *gpu)
{
	struct salvo_regs *regs = gpu->regs;
	uint32_t request;

	pthread_mutex_lock(&gpu->cp_lock);
	request = __atomic_load_n(&regs->reset_request, __ATOMIC_ACQUIRE);
	if (request != regs->reset_ack) {
		drain(gpu);
		salvo_aspaces_clear(&gpu->aspaces);
		memset(gpu->ring, 0, sizeof(gpu->ring));
		memset(regs->ring, 0, sizeof(regs->ring));
		gpu->was_reset = true;
		/* No job of the killed context is left, and its number may be reused. */
		gpu->kill_request = __atomic_load_n(&regs->kill_request, __ATOMIC_RELAXED);
		__atomic_store_n(&regs->kill_ack, gpu->kill_request, __ATOMIC_RELEASE);
		__atomic_store_n(&regs->reset_ack, request, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&gpu->cp_lock);
	/* Doorbells that came while the lock was held. */
	salvo_gpu_run_rings(gpu, 0);
}

/* A new request concerns what the rings hold now. */
static void begin_kill(struct salvo_gpu *gpu, uint32_t request)
{
	unsigned int i;

	gpu->kill_request = request;
	for (i = 0; i < SALVO_MAX_RINGS; i++)
		gpu->kill_tail[i] = __atomic_load_n(&gpu->regs->ring[i].tail, __ATOMIC_ACQUIRE);
}

/* Are there entries from before the request that were not read for lack of a free job? */
static bool kill_has_unread(const struct salvo_gpu *gpu)
{
	unsigned int i;

	for (i = 0; i < SALVO_MAX_RINGS; i++)
		if (gpu->ring[i].live && !gpu->ring[i].halted &&
		    (int64_t)(gpu->kill_tail[i] - gpu->ring[i].head) > 0)
			return true;
	return false;
}

/*
 * Ends the jobs of a context from seqno @from on, and its slots; units that work for others ignore
 * the signal. Returns whether any is left.
 */
static bool kill_step(struct salvo_gpu *gpu, uint32_t ctx, uint64_t from)
{
	bool left = salvo_gpu_jobs_kill(&gpu->jobs, ctx, from);

	if (gpu->spaces)
		return gpu->config.isolation->kill(gpu->spaces, ctx, from, left);
	left |= salvo_leaf_slots_kill(&gpu->slots, ctx);
	if (left && gpu->config.contain_faults)
		salvo_eus_stop_kernels(&gpu->eus);
	return left;
}

/*
 * A step of the kill that the driver requests, repeated with every heartbeat until it is
 * done. Never waits: other contexts keep running.
 */
static void kill_context(struct salvo_gpu *gpu)
{
	struct salvo_regs *regs = gpu->regs;
	const uint32_t request = __atomic_load_n(&regs->kill_request, __ATOMIC_ACQUIRE);
	uint64_t from;
	uint32_t ctx;

	if (request == regs->kill_ack)
		return;
	salvo_gpu_run_rings(gpu, ALL_RINGS);
	pthread_mutex_lock(&gpu->cp_lock);
	if (request != gpu->kill_request)
		begin_kill(gpu, request);
	ctx = __atomic_load_n(&regs->kill_ctx, __ATOMIC_RELAXED);
	from = __atomic_load_n(&regs->kill_seqno, __ATOMIC_RELAXED);
	if (!kill_step(gpu, ctx, from) && !kill_has_unread(gpu))
		__atomic_store_n(&regs->kill_ack, request, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&gpu->cp_lock);
	/* Doorbells that came while the lock was held. */
	salvo_gpu_run_rings(gpu, 0);
}

/* Calls that take locks or call the owner back are no cancellation points. */
void salvo_gpu_doorbell(struct salvo_gpu *gpu, unsigned int doorbell)
{
	const int state = salvo_cancel_disable();

	if (doorbell < SALVO_MAX_RINGS) {
		salvo_gpu_run_rings(gpu, 1u << doorbell);
		if (gpu->spaces)
			gpu->config.isolation->wake_slots(gpu->spaces);
	} else if (doorbell == SALVO_DOORBELL_KILL) {
		kill_context(gpu);
	} else if (doorbell == SALVO_DOORBELL_RESET) {
		reset(gpu);
	}
	salvo_irqs_raise(&gpu->irqs);
	salvo_cancel_restore(state);
}

void salvo_gpu_record(struct salvo_gpu *gpu, struct salvo_gpu_recording *recording)
{
	atomic_store(&gpu->eus.recording, recording);
}

static int map(struct salvo_gpu *gpu, const struct salvo_gpu_mapping *mapping, bool is_memory)
{
	const int state = salvo_cancel_disable();
	bool ok;

	pthread_mutex_lock(&gpu->cp_lock);
	ok = is_memory ? salvo_aspaces_bind_host(&gpu->aspaces, mapping->asid, mapping->address,
						 mapping->size, mapping->access) :
			 salvo_aspaces_map_fd(&gpu->aspaces, mapping);
	pthread_mutex_unlock(&gpu->cp_lock);
	/* Doorbells that came while the lock was held. */
	salvo_gpu_run_rings(gpu, 0);
	salvo_irqs_raise(&gpu->irqs);
	salvo_cancel_restore(state);
	return ok ? 0 : -EINVAL;
}

int salvo_gpu_map_fd(struct salvo_gpu *gpu, const struct salvo_gpu_mapping *mapping)
{
	return map(gpu, mapping, false);
}

int salvo_gpu_map_memory(struct salvo_gpu *gpu, const struct salvo_gpu_mapping *mapping)
{
	return map(gpu, mapping, true);
}

void salvo_gpu_beat(struct salvo_gpu *gpu)
{
	__atomic_fetch_add(&gpu->regs->heartbeat, 1, __ATOMIC_RELAXED);
}

bool salvo_gpu_poll(struct salvo_gpu *gpu, bool stay)
{
	bool busy;
	int state;

	if (!gpu->spaces)
		return false;
	state = salvo_cancel_disable();
	busy = gpu->config.isolation->poll(gpu->spaces, stay);
	salvo_irqs_raise(&gpu->irqs);
	salvo_cancel_restore(state);
	return busy;
}

void salvo_gpu_note_wait(struct salvo_gpu *gpu)
{
	salvo_queues_note_wait(&gpu->queues);
}

void salvo_gpu_begin_wait(struct salvo_gpu *gpu)
{
	salvo_queues_begin_wait(&gpu->queues);
}

void salvo_gpu_end_wait(struct salvo_gpu *gpu)
{
	salvo_queues_end_wait(&gpu->queues);
}

void salvo_gpu_heartbeat(struct salvo_gpu *gpu)
{
	salvo_gpu_beat(gpu);
	if (gpu->spaces)
		gpu->config.isolation->sample(gpu->spaces);
	if (salvo_gpu_jobs_retire(&gpu->jobs))
		salvo_gpu_run_rings(gpu, ALL_RINGS);
	kill_context(gpu);
	salvo_irqs_raise(&gpu->irqs);
}

int salvo_gpu_inject(struct salvo_gpu *gpu, const char *text, char *why)
{
	struct salvo_inject inject;
	int err = salvo_inject_parse(&inject, text, why);

	if (err)
		return err;
	salvo_gpu_jobs_inject(&gpu->jobs, &inject);
	atomic_fetch_add(&gpu->irqs.fault, 1);
	salvo_irqs_raise(&gpu->irqs);
	return 0;
}

void salvo_gpu_enable_doorbell(struct salvo_gpu *gpu, _Atomic uint32_t *seq)
{
	atomic_store(&gpu->doorbell_seq, seq);
}

bool salvo_gpu_poll_doorbell(struct salvo_gpu *gpu)
{
	_Atomic uint32_t *seq = atomic_load_explicit(&gpu->doorbell_seq, memory_order_relaxed);
	uint32_t count;

	if (!seq)
		return false;
	count = atomic_load(seq);
	if (count == atomic_load_explicit(&gpu->doorbell_seen, memory_order_relaxed))
		return false;
	atomic_store(&gpu->doorbell_seen, count);
	salvo_gpu_run_rings(gpu, ALL_RINGS);
	kill_context(gpu);
	salvo_irqs_raise(&gpu->irqs);
	return true;
}

static bool poll_doorbell(void *cookie)
{
	return salvo_gpu_poll_doorbell(cookie);
}

static void run_rings(void *cookie)
{
	salvo_gpu_run_rings(cookie, ALL_RINGS);
}

uint32_t salvo_gpu_isa_level(void)
{
	if (__builtin_cpu_supports("x86-64-v4"))
		return __builtin_cpu_supports("avx512vpopcntdq") &&
		       __builtin_cpu_supports("avx512bitalg") ? SALVO_LEVEL_POPCNT : 4;
	if (__builtin_cpu_supports("x86-64-v3"))
		return 3;
	return __builtin_cpu_supports("x86-64-v2") ? 2 : 1;
}

static void init_regs(struct salvo_gpu *gpu)
{
	struct salvo_regs *regs = gpu->regs;

	regs->version = SALVO_VERSION;
	regs->generation = gpu->config.generation;
	regs->units = gpu->queues.topology.units;
	regs->nodes = gpu->queues.topology.nodes;
	regs->rings = SALVO_MAX_RINGS;
	regs->features = SALVO_FEATURE_OVERLAP | SALVO_FEATURE_REPORT | SALVO_FEATURE_CONTENDS;
	/* Others attach slots by calls. */
	regs->slots = gpu->spaces ? SALVO_MAX_SLOTS : 0;
	regs->isa_level = salvo_gpu_isa_level();
	regs->vram_offset = gpu->config.vram_offset;
	regs->vram_bytes = gpu->config.vram_bytes;
	regs->va_base = (uintptr_t)gpu->aspaces.base;
	regs->va_bytes = gpu->aspaces.bytes + gpu->aspaces.window_bytes;
	regs->clock_hz = SALVO_CLOCK_HZ;
	__atomic_store_n(&regs->magic, SALVO_MAGIC, __ATOMIC_RELEASE);
}

/* Every access past the end of the file would be a bus error. */
static bool holds_vram(const struct salvo_gpu_config *config)
{
	struct stat st;

	return !fstat(config->vram_fd, &st) && st.st_size >= 0 &&
	       config->vram_offset <= (uint64_t)st.st_size &&
	       config->vram_bytes <= (uint64_t)st.st_size - config->vram_offset;
}

static int find_topology(const struct salvo_gpu_config *config, struct salvo_topology *topology)
{
	char why[SALVO_GPU_WHY];

	if (!config->topology)
		return salvo_topology_detect(topology, config->units);
	return config->units ? -EINVAL : salvo_topology_parse(topology, config->topology, why);
}

/* Starts the units, or what runs batches instead. */
static int init_units(struct salvo_gpu *gpu)
{
	const struct salvo_isolation *isolation = gpu->config.isolation;
	int ret;

	if (isolation) {
		ret = isolation->create(gpu, &gpu->spaces);
		gpu->jobs.isolation = isolation;
		gpu->jobs.spaces = gpu->spaces;
		gpu->cp.isolation = isolation;
		gpu->cp.spaces = gpu->spaces;
		return ret;
	}
	if (gpu->config.contain_faults)
		salvo_traps_get();
	ret = salvo_eus_init(&gpu->eus);
	if (ret && gpu->config.contain_faults)
		salvo_traps_put();
	return ret;
}

static void fini_units(struct salvo_gpu *gpu)
{
	if (gpu->spaces) {
		gpu->config.isolation->destroy(gpu->spaces);
		return;
	}
	salvo_eus_fini(&gpu->eus);
	if (gpu->config.contain_faults)
		salvo_traps_put();
}

/* Connects the parts, none of which is initialised yet. */
static void connect_parts(struct salvo_gpu *gpu, bool inside)
{
	const struct salvo_gpu_config *config = &gpu->config;

	gpu->regs = config->regs;
	gpu->dma.regs = config->regs;
	gpu->dma.base = config->system_base;
	gpu->dma.bytes = config->system_bytes;
	gpu->irqs.interrupt = config->interrupt;
	gpu->irqs.cookie = config->cookie;
	gpu->jobs.regs = config->regs;
	gpu->jobs.dma = &gpu->dma;
	gpu->jobs.aspaces = &gpu->aspaces;
	gpu->jobs.faults = &gpu->faults;
	gpu->jobs.irqs = &gpu->irqs;
	gpu->jobs.queues = &gpu->queues;
	gpu->cp.dma = &gpu->dma;
	gpu->cp.aspaces = &gpu->aspaces;
	gpu->eus.regs = config->regs;
	gpu->eus.queues = &gpu->queues;
	gpu->eus.aspaces = &gpu->aspaces;
	gpu->eus.irqs = &gpu->irqs;
	gpu->eus.prio_slot = &gpu->prio_slot;
	gpu->eus.poll_doorbell = inside ? poll_doorbell : NULL;
	gpu->eus.run_rings = run_rings;
	gpu->eus.cookie = gpu;
	gpu->eus.slots = &gpu->slots;
	gpu->eus.leaf_ns = &config->regs->busy_ns;
	gpu->slots.aspaces = &gpu->aspaces;
	gpu->slots.regs = config->regs->unit;
	gpu->slots.recording = &gpu->eus.recording;
	gpu->slots.prio_slot = &gpu->prio_slot;
}

static int init_aspaces(struct salvo_gpu *gpu, const struct salvo_inside *inside)
{
	if (!inside)
		return salvo_aspaces_init(&gpu->aspaces, &gpu->config);
	gpu->was_reset = true;
	gpu->prio_slot = inside->prio_slot;
	return salvo_aspaces_init_given(&gpu->aspaces, &gpu->config, inside->asid, inside->ranges,
					inside->count);
}

static int create(const struct salvo_gpu_config *config, const struct salvo_topology *topology,
		  const struct salvo_inside *inside, struct salvo_gpu **out)
{
	struct salvo_gpu *gpu = aligned_alloc(64, (sizeof(*gpu) + 63) / 64 * 64);
	int ret;

	if (!gpu)
		return -ENOMEM;
	memset(gpu, 0, sizeof(*gpu));
	gpu->config = *config;
	connect_parts(gpu, inside);
	ret = init_aspaces(gpu, inside);
	if (ret)
		goto err_free;
	ret = salvo_queues_init(&gpu->queues, topology, inside ? inside->parking : NULL);
	if (ret)
		goto err_aspaces;
	gpu->queues.counts_waiters = config->counts_waiters;
	gpu->queues.excludes = config->owns_memory;
	gpu->cp.units = gpu->queues.all;
	gpu->slots.all = gpu->queues.all;
	gpu->slots.parking = gpu->queues.parking;
	ret = salvo_gpu_jobs_init(&gpu->jobs);
	if (ret)
		goto err_queues;
	salvo_faults_init(&gpu->faults, gpu->regs);
	pthread_mutex_init(&gpu->cp_lock, NULL);
	salvo_leaf_slots_init(&gpu->slots);
	ret = init_units(gpu);
	if (ret)
		goto err_faults;
	init_regs(gpu);
	*out = gpu;
	return 0;

err_faults:
	salvo_leaf_slots_fini(&gpu->slots);
	pthread_mutex_destroy(&gpu->cp_lock);
	salvo_faults_fini(&gpu->faults);
	salvo_gpu_jobs_fini(&gpu->jobs);
err_queues:
	salvo_queues_fini(&gpu->queues);
err_aspaces:
	salvo_aspaces_fini(&gpu->aspaces);
err_free:
	free(gpu);
	return ret;
}

int salvo_gpu_create(const struct salvo_gpu_config *config, struct salvo_gpu **out)
{
	struct salvo_topology topology;
	int ret;

	if (!config->regs || config->units > SALVO_MAX_UNITS || !holds_vram(config) ||
	    !config->system_base != !config->system_bytes ||
	    (config->isolation && !config->system_base))
		return -EINVAL;
	ret = find_topology(config, &topology);
	return ret ? ret : create(config, &topology, NULL, out);
}

int salvo_gpu_create_inside(const struct salvo_gpu_config *config,
			    const struct salvo_inside *inside, struct salvo_gpu **out)
{
	return create(config, inside->topology, inside, out);
}

/* Their units are running, and their kernels may not end by themselves. */
static void end_leaves(struct salvo_gpu *gpu)
{
	if (salvo_leaf_slots_close(&gpu->slots) && !gpu->spaces && gpu->config.contain_faults)
		salvo_eus_stop_kernels(&gpu->eus);
	salvo_leaf_slots_fini(&gpu->slots);
}

void salvo_gpu_destroy(struct salvo_gpu *gpu)
{
	unsigned int i;

	if (!gpu)
		return;
	__atomic_store_n(&gpu->regs->magic, 0, __ATOMIC_RELAXED);
	end_leaves(gpu);
	pthread_mutex_lock(&gpu->cp_lock);
	for (i = 0; i < SALVO_MAX_RINGS; i++)
		gpu->ring[i].halted = true;
	drain(gpu);
	pthread_mutex_unlock(&gpu->cp_lock);
	fini_units(gpu);
	pthread_mutex_destroy(&gpu->cp_lock);
	salvo_faults_fini(&gpu->faults);
	salvo_gpu_jobs_fini(&gpu->jobs);
	salvo_queues_fini(&gpu->queues);
	salvo_aspaces_fini(&gpu->aspaces);
	free(gpu);
}
