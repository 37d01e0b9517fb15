// SPDX-License-Identifier: MIT
/*
 * share.c - batches of several address spaces, which are processes, share the units
 *
 * As nodes.c tests it for the contexts of one address space: all address spaces may run at the same
 * time, masks are obeyed, priorities pre-empt at chunk boundaries; and no idle process uses CPU
 * time.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "aligned.h"
#include "element.h"
#include "gpu.h"
#include "kselftest_harness.h"
#include "queues.h"
#include "rig.h"
#include "sanitizer.h"
#include "space.h"
#include "spaces.h"
#include "worker_queue.h"

#define OTHER	(RIG_ASID + 1)
/* Long enough that only a broken GPU reaches the limit */
#define LONG_SPIN (1ull << 29)

FIXTURE(share)
{
	struct rig *rig;
	uint64_t *data;
	uint64_t *gpu_data;	/* the same on the GPU, in both address spaces */
};

FIXTURE_VARIANT(share)
{
	unsigned int units;
};

FIXTURE_VARIANT_ADD(share, one_unit) { .units = 1 };
FIXTURE_VARIANT_ADD(share, two_units) { .units = 2 };

FIXTURE_SETUP(share)
{
	struct rig *rig;

	NEED_SANDBOX();
	rig = rig_create_isolated(variant->units);
	self->rig = rig;
	self->data = (void *)rig->data;
	self->gpu_data = (void *)(uintptr_t)rig->data_address;
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, OTHER, SALVO_OP_BIND, rig->code_address,
					       RIG_CODE_BYTES, SALVO_ACCESS_READ |
					       SALVO_ACCESS_EXEC));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, OTHER, SALVO_OP_BIND, rig->data_address,
					       RIG_DATA_BYTES, SALVO_ACCESS_READ |
					       SALVO_ACCESS_WRITE));
}

FIXTURE_TEARDOWN(share)
{
	rig_destroy(self->rig);
}

struct args {
	/* Results of the batch: it has begun; groups that ended; when and where each group began */
	uint64_t *begun;
	uint64_t *ended;
	struct begin {
		uint64_t when;
		uint64_t core;
	} *begin;
	/* Each group runs for @ticks and waits until @open is not 0. */
	uint64_t ticks;
	const uint64_t *open;
	uint64_t limit;
};

RIG_KERNEL static void work(RIG_KERNEL_ARGS)
{
	const struct args *a = args;
	struct begin *begin = &a->begin[group->group_id[0]];
	uint32_t core;
	uint64_t i;

	begin->when = __builtin_ia32_rdtscp(&core);
	begin->core = core;
	__atomic_store_n(a->begun, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < a->limit && !__atomic_load_n(a->open, __ATOMIC_SEQ_CST); i++)
		__builtin_ia32_pause();
	while (__builtin_ia32_rdtsc() - begin->when < a->ticks)
		__builtin_ia32_pause();
	__atomic_fetch_add(a->ended, 1, __ATOMIC_SEQ_CST);
}

#define CORE		0xfff		/* in the result of rdtscp: above is the node */
#define BEGINS_AT	(1u << 16)	/* in words, of the first address space */
#define BEGINS_OF(asid)	(BEGINS_AT * ((asid) - RIG_ASID + 1))

static struct args args_of(FIXTURE_DATA(share) *self, uint32_t asid)
{
	uint64_t *own = self->gpu_data + 64 * (asid - RIG_ASID);

	return (struct args){
		.begun = own, .ended = own + 8, .open = own + 16, .limit = LONG_SPIN,
		.begin = (void *)(self->gpu_data + BEGINS_OF(asid)),
	};
}

static struct begin *begins_of(FIXTURE_DATA(share) *self, uint32_t asid)
{
	return (void *)(self->data + BEGINS_OF(asid));
}

static volatile uint64_t *words_of(FIXTURE_DATA(share) *self, uint32_t asid)
{
	return self->data + 64 * (asid - RIG_ASID);
}

static uint64_t submit(struct rig *rig, uint32_t asid, int32_t priority, uint64_t mask,
		       uint32_t groups, const struct args *args)
{
	struct drm_salvo_command command = rig_dispatch(rig, work, groups, 1, 0, sizeof(*args));
	const struct salvo_batch_desc batch = {
		.commands = &command, .count = 1, .args = args, .args_size = sizeof(*args),
	};
	struct salvo_ring_entry entry;

	command.eu_mask = mask;
	entry = rig_next_entry(rig, asid, rig_pack_for(rig, asid, asid, &batch));
	entry.asid = asid;
	entry.priority = priority;
	rig_push(rig, &entry);
	rig_ring(rig);
	return entry.seqno;
}

/* NULL until the thread of the ring has seen the first batch of the address space. */
static struct salvo_space_block *block_of(struct rig *rig)
{
	const struct salvo_space *space = rig->gpu->spaces->list;

	return space ? space->block : NULL;
}

/* Submits a batch and polls for its end if @stay. Returns its fence. */
static uint64_t submit_and_poll(struct rig *rig, const struct args *args, bool stay)
{
	const uint64_t seqno = submit(rig, RIG_ASID, 0, 0, 1, args);

	while (!block_of(rig))
		sched_yield();
	rig->polls = stay;
	return salvo_gpu_poll(rig->gpu, true) && salvo_gpu_poll(rig->gpu, stay) ? seqno : 0;
}

/* The thread that raises the interrupts */
static void note_thread(struct rig *rig, void *cookie)
{
	(void)rig;
	*(pid_t *)cookie = gettid();
}

TEST_F(share, a_caller_that_stays_ends_batches_itself)
{
	const struct args args = args_of(self, RIG_ASID);
	pid_t by = 0;
	uint64_t seqno;

	self->rig->on_fence_cookie = &by;
	self->rig->on_fence = note_thread;
	seqno = submit_and_poll(self->rig, &args, true);
	ASSERT_NE(0, seqno);
	EXPECT_EQ(0, block_of(self->rig)->wants_wake);
	words_of(self, RIG_ASID)[16] = 1;
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, seqno)->status);
	EXPECT_EQ(gettid(), by);
	EXPECT_EQ(1, block_of(self->rig)->wants_wake);
	EXPECT_FALSE(salvo_gpu_poll(self->rig->gpu, true));
}

TEST_F(share, what_a_caller_that_leaves_did_not_see_ends_all_the_same)
{
	const struct args args = args_of(self, RIG_ASID);
	static pid_t by; /* The interrupt follows the fence, maybe after the end of this test. */
	uint64_t seqno;

	self->rig->on_fence_cookie = &by;
	self->rig->on_fence = note_thread;
	seqno = submit_and_poll(self->rig, &args, false);
	ASSERT_NE(0, seqno);
	EXPECT_EQ(1, block_of(self->rig)->wants_wake);
	words_of(self, RIG_ASID)[16] = 1;
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, seqno)->status);
	EXPECT_NE(gettid(), by);
}

TEST_F(share, batches_of_two_address_spaces_run_at_the_same_time)
{
	struct args args = args_of(self, RIG_ASID), other = args_of(self, OTHER);
	uint64_t seqno;

	/* Each batch opens the other's gate. */
	args.open = other.begun;
	other.open = args.begun;
	submit(self->rig, RIG_ASID, SALVO_PRIORITY_NORMAL, 0, 1, &args);
	seqno = submit(self->rig, OTHER, SALVO_PRIORITY_NORMAL, 0, 1, &other);
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, seqno - 1)->status);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, seqno)->status);
	EXPECT_EQ(1, words_of(self, RIG_ASID)[8]);
	EXPECT_EQ(1, words_of(self, OTHER)[8]);
}

/* Two processes share a core; the driver must see the job that may hang. */
TEST_F(share, a_unit_shows_who_has_been_there_for_longest)
{
	static const uint32_t asids[] = { RIG_ASID, OTHER, RIG_ASID };
	unsigned int i, j;
	uint64_t seqno = 0;

	for (i = 0; i < 2; i++) {
		for (j = i; j < i + 2; j++) {
			const struct args args = args_of(self, asids[j]);
			volatile uint64_t *words = words_of(self, asids[j]);

			words[0] = 0;
			words[16] = 0;
			seqno = submit(self->rig, asids[j], 0, 1, 1, &args);
			while (!words[0])
				sched_yield();
		}
		salvo_gpu_heartbeat(self->rig->gpu);
		EXPECT_EQ(SALVO_UNIT_BUSY, self->rig->regs->unit[0].state);
		EXPECT_EQ(asids[i], self->rig->regs->unit[0].asid);
		EXPECT_EQ(seqno - 1, self->rig->regs->unit[0].seqno);
		words_of(self, RIG_ASID)[16] = 1;
		words_of(self, OTHER)[16] = 1;
		ASSERT_TRUE(rig_wait(self->rig, seqno));
	}
}

/* Some hypervisors leave their own number of the processor in what rdtscp reads. */
static bool rdtscp_tells_cores(void)
{
	cpu_set_t before, one;
	bool right = !sched_getaffinity(0, sizeof(before), &before);
	uint32_t core;
	int i;

	for (i = 0; right && i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &before))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		right = !sched_setaffinity(0, sizeof(one), &one);
		__builtin_ia32_rdtscp(&core);
		right = right && (core & CORE) == (uint32_t)i;
	}
	sched_setaffinity(0, sizeof(before), &before);
	return right;
}

#define NEED_RDTSCP() \
	do { \
		if (!rdtscp_tells_cores()) \
			SKIP(return, "rdtscp reads no number of a processor of this system"); \
	} while (0)

TEST_F(share, masks_of_two_address_spaces_are_obeyed)
{
	const int *core = self->rig->gpu->queues.topology.core;
	const unsigned int units = variant->units;
	uint64_t seqno = 0;
	uint32_t asid, i;

	NEED_RDTSCP();
	if (units > 1 && core[0] == core[1])
		SKIP(return, "the units are not on cores of their own");
	for (asid = RIG_ASID; asid <= OTHER; asid++) {
		struct args args = args_of(self, asid);

		args.limit = 0;
		args.ticks = 10000;
		seqno = submit(self->rig, asid, SALVO_PRIORITY_NORMAL,
			       1ull << (asid - RIG_ASID) % units, 1000, &args);
	}
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	for (asid = RIG_ASID; asid <= OTHER; asid++)
		for (i = 0; i < 1000; i++)
			ASSERT_EQ(core[(asid - RIG_ASID) % units],
				  begins_of(self, asid)[i].core & CORE);
}

#define TICKS	400000u	/* some hundred us */
#define FEW	100u

static int by_time(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;

	return x->when < y->when ? -1 : x->when > y->when;
}

/*
 * On a core that ran @few groups of the second address space: how many groups of the first began
 * there meanwhile, without those of the chunk that was running?
 */
static uint32_t began_on(FIXTURE_DATA(share) *self, uint64_t core, uint32_t groups, uint32_t few)
{
	const struct begin *first = begins_of(self, RIG_ASID), *second = begins_of(self, OTHER);
	uint64_t start = 0, end = 0;
	uint32_t i, n = 0, count = 0;

	for (i = 0; i < few; i++) {
		if (second[i].core != core)
			continue;
		if (++n == FEW / 4)
			start = second[i].when;
		end = second[i].when;
	}
	for (i = 0; i < groups && n > FEW / 2; i++)
		count += first[i].core == core && first[i].when > start && first[i].when < end;
	return count;
}

/* The largest count on any core, if the second is submitted while the first runs. */
static uint32_t began_meanwhile(struct __test_metadata *_metadata, FIXTURE_DATA(share) *self,
				unsigned int units, int32_t first, int32_t second)
{
	const uint32_t groups = 6 * FEW * units, few = FEW * units;
	struct args args = args_of(self, RIG_ASID), other = args_of(self, OTHER);
	const int *core = self->rig->gpu->queues.topology.core;
	volatile uint64_t *words = words_of(self, RIG_ASID);
	uint32_t i, count, most = 0;
	uint64_t seqno;

	memset(self->data, 0, 4096);
	args.limit = 0;
	args.ticks = TICKS;
	other.limit = 0;
	other.ticks = TICKS;
	/* So that the other process exists, and units have estimated the time of the groups. */
	ASSERT_TRUE(rig_wait(self->rig, submit(self->rig, OTHER, second, 0, 1, &other)));
	for (i = 0; i < units; i++)
		submit(self->rig, RIG_ASID, first, 1ull << i, 8, &args);
	submit(self->rig, RIG_ASID, first, 0, groups, &args);
	while (words[8] < groups / 4)
		sched_yield();
	seqno = submit(self->rig, OTHER, second, 0, few, &other);
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_result(self->rig, seqno)->status);
	EXPECT_EQ(8 * units + groups, words[8]);
	for (i = 0; i < groups; i++)
		begins_of(self, RIG_ASID)[i].core &= CORE;
	for (i = 0; i < few; i++)
		begins_of(self, OTHER)[i].core &= CORE;
	qsort(begins_of(self, OTHER), few, sizeof(struct begin), by_time);
	for (i = 0; i < units; i++) {
		count = began_on(self, core[i], groups, few);
		most = count > most ? count : most;
	}
	return most;
}

TEST_F(share, priorities_pre_empt_across_address_spaces)
{
	const unsigned int units = variant->units;

	NEED_RDTSCP();
	EXPECT_LE(began_meanwhile(_metadata, self, units, SALVO_PRIORITY_NORMAL,
				  SALVO_PRIORITY_HIGH), FEW / 5);
	EXPECT_LE(began_meanwhile(_metadata, self, units, SALVO_PRIORITY_LOW,
				  SALVO_PRIORITY_NORMAL), FEW / 5);
	EXPECT_NE(0, began_meanwhile(_metadata, self, units, SALVO_PRIORITY_NORMAL,
				     SALVO_PRIORITY_NORMAL));
}

/* A unit of the other process blocks only the unit of the same number. */
TEST_F(share, a_high_priority_holds_only_the_units_it_runs_on)
{
	struct args args = args_of(self, RIG_ASID), other = args_of(self, OTHER);
	uint64_t seqno;

	if (variant->units < 2)
		SKIP(return, "one unit");
	/* The high-priority batch ends only after all groups of the low-priority one. */
	other.open = args.ended;
	args.limit = 0;
	args.ticks = TICKS;
	submit(self->rig, OTHER, SALVO_PRIORITY_HIGH, 1, 1, &other);
	while (!words_of(self, OTHER)[0])
		sched_yield();
	seqno = submit(self->rig, RIG_ASID, SALVO_PRIORITY_LOW, 0, 20, &args);
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	EXPECT_EQ(20, words_of(self, RIG_ASID)[8]);
}

TEST(a_unit_yields_to_slots_whose_batches_the_device_confirms)
{
	int fd = -1;
	struct salvo_prio_table *table = salvo_prio_table_create(&fd);
	const struct salvo_prio_slot one = { table, 0 }, two = { table, 63 };
	const struct salvo_prio_slot late = { table, SALVO_PRIO_NO_SLOT };

	ASSERT_NE(NULL, table);
	/* A published priority without a pending batch blocks no unit. */
	salvo_prio_slot_publish(&one, 5, 0);
	EXPECT_FALSE(salvo_prio_slot_must_yield(&two, 5, 2));
	salvo_prio_table_set_pending(table, one.index, 0, 1);
	EXPECT_TRUE(salvo_prio_slot_must_yield(&two, 5, 1));
	EXPECT_TRUE(salvo_prio_slot_must_yield(&two, 5, 2));
	EXPECT_TRUE(salvo_prio_slot_must_yield(&late, 5, 1));
	/* An equal priority, another unit and the unit itself do not block. */
	EXPECT_FALSE(salvo_prio_slot_must_yield(&two, 5, 0));
	EXPECT_FALSE(salvo_prio_slot_must_yield(&two, 4, 2));
	EXPECT_FALSE(salvo_prio_slot_must_yield(&one, 5, 2));
	/* If a process has batches of two priorities, the one that the unit runs counts. */
	salvo_prio_table_set_pending(table, one.index, 1, 3);
	salvo_prio_slot_publish(&one, 5, 1);
	EXPECT_FALSE(salvo_prio_slot_must_yield(&two, 5, 1));
	EXPECT_TRUE(salvo_prio_slot_must_yield(&two, 5, 2));
	salvo_prio_table_set_pending(table, one.index, 1, 0);
	EXPECT_FALSE(salvo_prio_slot_must_yield(&two, 5, 2));
	salvo_prio_slot_publish(&one, 5, 0);
	salvo_prio_table_clear(table, one.index);
	EXPECT_FALSE(salvo_prio_slot_must_yield(&two, 5, 2));

	/* There may be more processes than slots: those without a slot are not seen. */
	salvo_prio_slot_publish(&late, 5, 0);
	salvo_prio_table_set_pending(table, late.index, 0, 1);
	salvo_prio_table_clear(table, late.index);
	salvo_prio_table_set_pending(table, one.index, 0, 0);
	EXPECT_EQ(0, table->pending[0]);
	EXPECT_FALSE(salvo_prio_slot_must_yield(&two, 5, 2));
	salvo_prio_table_destroy(table);
	close(fd);
}

struct spoil_args {
	uint8_t *at;
	uint64_t pad;
};

RIG_KERNEL static void spoil(RIG_KERNEL_ARGS)
{
	const struct spoil_args *a = args;

	*(volatile uint8_t *)a->at = 1;
}

/* Where a process has the prio table, or NULL: only root can read that. */
static struct salvo_prio_table *find_table(pid_t pid)
{
	uint64_t address = 0;
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "r");
	while (file && !address && fgets(line, sizeof(line), file))
		if (strstr(line, "memfd:salvo-prio"))
			address = strtoull(line, NULL, 16);
	if (file)
		fclose(file);
	return (struct salvo_prio_table *)(uintptr_t)address;
}

TEST_F(share, a_process_writes_only_its_own_page_of_the_prio_table)
{
	const struct salvo_spaces *spaces = self->rig->gpu->spaces;
	const struct salvo_prio_table *own = spaces->prio_table;
	struct salvo_prio_table *table = find_table(spaces->zygote.pid);
	struct spoil_args args[3];
	uint32_t slot, i;

	if (!table)
		SKIP(return, "the kernel shows mappings to root only");
	args[0] = (struct spoil_args){ .pad = 0 };
	/* The first address space with a process has the first slot. */
	for (i = 0; i < 3; i++) {
		const struct drm_salvo_command command = rig_dispatch(self->rig, spoil, 1, 1, 0,
								      sizeof(args[0]));

		args[i].at = i == 0   ? (void *)&table->page[0].prio[40]
			     : i == 1 ? (void *)&table->page[1].prio[40]
				      : (void *)&table->pending[0];
		EXPECT_EQ(i ? SALVO_STATUS_FAULT : SALVO_STATUS_DONE,
			  rig_run(self->rig, &command, 1, &args[i], sizeof(args[i])));
		if (i)
			EXPECT_EQ((uintptr_t)args[i].at, self->rig->regs->fault.address);
	}
	slot = __builtin_ctzll(spaces->prio_slots);
	EXPECT_EQ(0, slot);
	EXPECT_EQ(1, own->page[0].prio[40]);
}

/* CPU time of a process; 0 is this one. */
static uint64_t cpu_ns(pid_t pid)
{
	struct timespec used = { 0 };
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &used);
	return used.tv_sec * 1000000000ull + used.tv_nsec;
}

/* CPU time of the device, the zygote and the @count processes of address spaces. */
static uint64_t all_cpu_ns(pid_t zygote, unsigned int *count)
{
	uint64_t ns = cpu_ns(0) + cpu_ns(zygote);
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", zygote, zygote);
	file = fopen(path, "r");
	for (*count = 0; file && fscanf(file, "%d", &pid) == 1; (*count)++)
		ns += cpu_ns(pid);
	if (file)
		fclose(file);
	return ns;
}

TEST_F(share, an_idle_gpu_uses_no_cpu_in_any_process)
{
	const pid_t zygote = self->rig->gpu->spaces->zygote.pid;
	const struct timespec second = { .tv_sec = 1 };
	unsigned int count;
	uint64_t before;
	uint32_t asid;

	for (asid = RIG_ASID; asid <= OTHER; asid++) {
		struct args args = args_of(self, asid);
		uint64_t seqno;

		args.limit = 0;
		seqno = submit(self->rig, asid, SALVO_PRIORITY_NORMAL, 0, 64, &args);
		ASSERT_TRUE(rig_wait(self->rig, seqno));
	}
	/* Units poll for a while after the batch, and may have to wait for a core to do so. */
	do {
		before = all_cpu_ns(zygote, &count);
		usleep(10000);
	} while (all_cpu_ns(zygote, &count) - before > 100000);
	ASSERT_EQ(2, count);
	before = all_cpu_ns(zygote, &count);
	nanosleep(&second, NULL);
	EXPECT_LT(all_cpu_ns(zygote, &count) - before, 2000000);
}

/* So that the heartbeat continues beside any number of endless batches. */
TEST_F(share, processes_have_less_weight_than_the_device)
{
	struct args args = args_of(self, RIG_ASID);
	struct salvo_space *space;
	uint64_t seqno;
	pid_t pid = 0;

	if (getpriority(PRIO_PROCESS, 0) > 14)
		SKIP(return, "the test has hardly any weight itself");
	args.limit = 0;
	seqno = submit(self->rig, RIG_ASID, SALVO_PRIORITY_NORMAL, 0, 1, &args);
	ASSERT_TRUE(rig_wait(self->rig, seqno));
	space = self->rig->gpu->spaces->list;
	while (!pid) {
		pthread_mutex_lock(&space->lock);
		pid = space->pid;
		pthread_mutex_unlock(&space->lock);
	}
	EXPECT_LT(getpriority(PRIO_PROCESS, 0), getpriority(PRIO_PROCESS, pid));
}

#define HELD_ELEMENTS	2000u

/* Entries that all but a yielding unit have passed keep no other unit awake and are reused. */
TEST(a_held_unit_does_not_hold_the_others)
{
	const struct salvo_topology topology = {
		.units = 2, .nodes = 1, .node[0] = { .units = 3 },
	};
	struct salvo_element *elements = aligned_zalloc(HELD_ELEMENTS, sizeof(*elements));
	int fd = -1;
	struct salvo_prio_table *table = salvo_prio_table_create(&fd);
	const struct salvo_prio_slot slot = { table, 0 }, other = { table, 1 };
	struct salvo_queues *queues = aligned_zalloc(1, sizeof(*queues));
	const uint32_t size[3] = { 2, 1, 1 };
	struct salvo_worker_events events;
	struct salvo_worker_queue free_unit, held_unit;
	unsigned int i, ran = 0;

	ASSERT_NE(NULL, elements);
	ASSERT_NE(NULL, table);
	ASSERT_NE(NULL, queues);
	ASSERT_EQ(0, salvo_queues_init(queues, &topology, NULL));
	salvo_worker_queue_init(&free_unit, queues, 0);
	salvo_worker_queue_init(&held_unit, queues, 1);
	free_unit.slot = &slot;
	held_unit.slot = &slot;
	salvo_prio_table_set_pending(table, other.index, 0, 1);
	salvo_prio_slot_publish(&other, 1, 0);

	for (i = 0; i < HELD_ELEMENTS; i++) {
		elements[i].apu_mask = 3;
		elements[i].coalesced = 1;
		elements[i].prio = 2;
		salvo_element_set_range(&elements[i], size);
		salvo_queues_push(queues, &elements[i]);
	}
	for (i = 0; i < 4 * HELD_ELEMENTS; i++) {
		ran += salvo_worker_queue_take(&free_unit, &events).count;
		EXPECT_FALSE(events.yield);
		if (!salvo_worker_queue_has_work(&free_unit))
			salvo_worker_queue_take(&held_unit, &events);
	}
	EXPECT_EQ(2 * HELD_ELEMENTS, ran);
	EXPECT_EQ(0, salvo_worker_queue_take(&held_unit, &events).count);
	EXPECT_FALSE(events.yield);
	EXPECT_TRUE(salvo_worker_queue_may_sleep(&held_unit));
	salvo_queues_fini(queues);
	free(queues);
	free(elements);
	salvo_prio_table_destroy(table);
	close(fd);
}

TEST_HARNESS_MAIN
