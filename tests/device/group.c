// SPDX-License-Identifier: MIT
/*
 * group.c - work-groups on cores, work-items as user-level threads (M1 to M6 of CN102576314)
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpu_fixture.h"
#include "group.h"

struct out_args {
	uint64_t *out;
	uint64_t value;
};

static struct drm_salvo_command with_barriers(struct drm_salvo_command command)
{
	command.flags = DRM_SALVO_DISPATCH_BARRIERS;
	return command;
}

static const struct salvo_fault_regs *fault(const struct rig *rig)
{
	return &rig->regs->fault;
}

/*
 * Counts the unit threads of this process; @all is the union of their cores, @cores_each the sum.
 */
static unsigned int unit_threads(cpu_set_t *all, unsigned int *cores_each)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int count = 0;
	struct dirent *entry;

	CPU_ZERO(all);
	*cores_each = 0;
	while (dir && (entry = readdir(dir))) {
		char path[300], name[32] = "";
		cpu_set_t set;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && !strcmp(name, "salvo-eu\n") &&
		    !sched_getaffinity(atoi(entry->d_name), sizeof(set), &set)) {
			count++;
			*cores_each += CPU_COUNT(&set);
			CPU_OR(all, all, &set);
		}
		fclose(file);
	}
	closedir(dir);
	return count;
}

TEST_F(gpu, M1_one_thread_for_each_core_pinned_to_it)
{
	unsigned int cores;
	cpu_set_t set, all;

	if (self->rig->config.isolation)
		SKIP(return, "looks at threads of this process");
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(set), &set));
	EXPECT_EQ(CPU_COUNT(&set), unit_threads(&all, &cores));
	EXPECT_EQ(CPU_COUNT(&set), cores);
	EXPECT_TRUE(CPU_EQUAL(&set, &all));
	EXPECT_EQ(CPU_COUNT(&set), self->rig->regs->units);
}

static inline __attribute__((always_inline)) uint64_t thread_address(void)
{
	uint64_t address;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(address));
	return address;
}

/* out[0]: groups that another one interrupted; then the thread that each item ran on. */
RIG_KERNEL static void whole_group(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;
	const uint64_t me = group->group_id[0], at = me * group->local_size[0] + item->local_id[0];
	volatile uint64_t *owner = group->local;

	*owner = me;
	group->barrier(group);
	if (*owner != me)
		__atomic_fetch_add(a->out, 1, __ATOMIC_RELAXED);
	a->out[1 + at] = thread_address();
}

TEST_F(gpu, M1_work_group_runs_from_start_to_end_on_one_thread)
{
	struct rig *rig = self->rig;
	const struct out_args args = { self->gpu_data, 0 };
	const struct drm_salvo_command command =
		with_barriers(rig_dispatch(rig, whole_group, 2000 * 16, 16, 0, sizeof(args)));
	uint32_t g, i;

	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	EXPECT_EQ(0, self->data[0]);
	for (g = 0; g < 2000; g++)
		for (i = 0; i < 16; i++)
			ASSERT_EQ(self->data[1 + 16 * g], self->data[1 + 16 * g + i]);
}

/* Logs the order in which items run: item << 8 | phase. */
RIG_KERNEL static void phases(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;
	uint64_t phase;

	for (phase = 0; phase < a->value; phase++) {
		a->out[1 + a->out[0]++] = item->local_id[0] << 8 | phase;
		if (phase + 1 < a->value)
			group->barrier(group);
	}
}

TEST_F(gpu, M2_items_without_barriers_run_one_after_the_other_to_their_end)
{
	struct rig *rig = self->rig;
	const struct out_args args = { self->gpu_data, 1 };
	const struct drm_salvo_command command =
		with_barriers(rig_dispatch(rig, phases, 100, 100, 0, sizeof(args)));
	uint64_t i;

	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	ASSERT_EQ(100, self->data[0]);
	for (i = 0; i < 100; i++)
		EXPECT_EQ(i << 8, self->data[1 + i]);
}

TEST_F(gpu, M2_items_stop_at_the_barrier_until_all_have_arrived)
{
	static const uint32_t groups[] = { 1, 2, 7, 64, 1000, 1024 };
	struct rig *rig = self->rig;
	const struct out_args args = { self->gpu_data, 5 };
	unsigned int g;

	for (g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		const uint32_t n = groups[g];
		const struct drm_salvo_command command =
			with_barriers(rig_dispatch(rig, phases, n, n, 0, sizeof(args)));
		uint64_t i;

		self->data[0] = 0;
		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
		ASSERT_EQ(5 * n, self->data[0]);
		for (i = 0; i < 5 * n; i++)
			ASSERT_EQ(i % n << 8 | i / n, self->data[1 + i]);
	}
}

/* Keeps more values live than there are registers, across barriers where other items run. */
RIG_KERNEL static void state(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;
	uint64_t v[24], i, round, sum = 0;
	const uint64_t me = item->local_id[0];

	for (i = 0; i < 24; i++)
		v[i] = me * 1000 + i;
	for (round = 0; round < 10; round++) {
		group->barrier(group);
		for (i = 0; i < 24; i++)
			v[i] = v[i] * 3 + round;
	}
	for (i = 0; i < 24; i++)
		sum = sum * 7 + v[i];
	a->out[me] = sum;
}

TEST_F(gpu, M3_an_item_keeps_its_state_across_barriers)
{
	struct rig *rig = self->rig;
	const struct out_args args = { self->gpu_data, 0 };
	const struct drm_salvo_command command =
		with_barriers(rig_dispatch(rig, state, 256, 256, 0, sizeof(args)));
	uint64_t me, i, round;

	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	for (me = 0; me < 256; me++) {
		uint64_t sum = 0;

		for (i = 0; i < 24; i++) {
			uint64_t v = me * 1000 + i;

			for (round = 0; round < 10; round++)
				v = v * 3 + round;
			sum = sum * 7 + v;
		}
		ASSERT_EQ(sum, self->data[me]);
	}
}

/* Reverses a row of local memory: each item reads what another wrote. */
RIG_KERNEL static void reverse(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;
	uint64_t *local = group->local;
	const uint64_t n = group->extent[0] * group->extent[1] * group->extent[2];
	const uint64_t me = (item->local_id[2] * group->extent[1] + item->local_id[1]) *
			    group->extent[0] + item->local_id[0];
	const uint64_t base = (group->group_id[2] * group->num_groups[1] + group->group_id[1]) *
			      group->num_groups[0] + group->group_id[0];

	local[me] = a->value + me;
	group->barrier(group);
	a->out[base * 64 + me] = local[n - 1 - me];
}

TEST_F(gpu, M2_ragged_groups_of_three_dimensions_have_their_own_extent)
{
	struct rig *rig = self->rig;
	const struct out_args args = { self->gpu_data, 9 };
	struct drm_salvo_command command =
		with_barriers(rig_dispatch(rig, reverse, 1, 1, 0, sizeof(args)));
	uint32_t x, y, z, i;

	memcpy(command.items, (uint32_t[]) { 10, 7, 5 }, 12);
	memcpy(command.group, (uint32_t[]) { 4, 4, 4 }, 12);
	command.dims = 3;
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	for (z = 0; z < 2; z++)
		for (y = 0; y < 2; y++)
			for (x = 0; x < 3; x++) {
				const uint32_t n = (x < 2 ? 4 : 2) * (y < 1 ? 4 : 3) *
						   (z < 1 ? 4 : 1);
				const uint64_t *out = self->data + ((z * 2 + y) * 3 + x) * 64;

				for (i = 0; i < n; i++)
					ASSERT_EQ(9 + n - 1 - i, out[i]);
				for (; i < 64; i++)
					ASSERT_EQ(0, out[i]);
			}
}

RIG_KERNEL static void skips_barrier(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;

	__atomic_fetch_add(a->out, 1, __ATOMIC_RELAXED);
	if (item->local_id[0] != a->value)
		group->barrier(group);
}

TEST_F(gpu, M2_barrier_that_not_all_items_reach_is_a_fault)
{
	struct rig *rig = self->rig;
	struct drm_salvo_command command =
		with_barriers(rig_dispatch(rig, skips_barrier, 64, 16, 0, sizeof(struct out_args)));
	uint64_t who[] = { 0, 7, 15, 16 };
	unsigned int i;

	command.eu_mask = 1;
	for (i = 0; i < 4; i++) {
		const struct out_args args = { self->gpu_data, who[i] };
		const uint64_t faults = fault(rig)->sequence;

		self->data[0] = 0;
		ASSERT_EQ(i < 3 ? SALVO_STATUS_FAULT : SALVO_STATUS_DONE,
			  rig_run(rig, &command, 1, &args, sizeof(args)));
		ASSERT_EQ(faults + (i < 3), fault(rig)->sequence);
		/* No item ran twice, and no group ran after the one that failed. */
		EXPECT_EQ(i < 3 ? 16 : 64, self->data[0]);
		EXPECT_EQ(SALVO_FAULT_BARRIER, fault(rig)->kind);
		/* The first item that was waiting for the one that returned */
		EXPECT_EQ(who[0] == who[i] ? 1 : 0, fault(rig)->item);
	}
	EXPECT_EQ(0, fault(rig)->group);
}

RIG_KERNEL static void plain_barrier(RIG_KERNEL_ARGS)
{
	group->barrier(group);
}

TEST_F(gpu, M2_barrier_in_a_kernel_that_declared_none_is_a_fault)
{
	struct rig *rig = self->rig;
	const struct drm_salvo_command command = rig_dispatch(rig, plain_barrier, 8, 4, 0, 0);

	EXPECT_EQ(SALVO_STATUS_FAULT, rig_run(rig, &command, 1, NULL, 0));
	EXPECT_EQ(SALVO_FAULT_BARRIER, fault(rig)->kind);
}

/* Reports for each group: the thread, its local memory, the stacks of the first two items. */
RIG_KERNEL static void memory_of(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;
	uint64_t *out = a->out + 4 * group->group_id[0];
	volatile uint8_t private[64];

	private[0] = 1;
	group->barrier(group);
	if (item->local_id[0] == 0) {
		out[0] = thread_address();
		out[1] = (uintptr_t)group->local;
	}
	if (item->local_id[0] < 2)
		out[2 + item->local_id[0]] = (uintptr_t)&private[private[0]];
}

TEST_F(gpu, M5_memory_is_one_block_and_one_series_for_each_core)
{
	struct rig *rig = self->rig;
	const struct out_args args = { self->gpu_data, 0 };
	const struct drm_salvo_command command =
		with_barriers(rig_dispatch(rig, memory_of, 3000 * 8, 8, 0, sizeof(args)));
	const uint64_t *first = self->data, *out;
	uint32_t g;

	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	for (g = 0; g < 3000; g++) {
		out = self->data + 4 * g;
		EXPECT_EQ(0, out[1] % 64);
		/* Groups on one core share its memory; other cores have their own. */
		ASSERT_EQ(out[0] == first[0], out[1] == first[1]);
		ASSERT_EQ(out[0] == first[0], out[2] == first[2]);
		/* Stacks of adjacent items are whole pages and a skew apart. */
		ASSERT_EQ(192, (out[3] - out[2]) % 4096);
		ASSERT_EQ(first[3] - first[2], out[3] - out[2]);
	}
}

RIG_KERNEL static void stray(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;

	if (group->group_id[0] == 3)
		*(volatile uint8_t *)((uint8_t *)group->local + a->value) = 1;
	a->out[group->group_id[0]] = (uintptr_t)group->local;
}

TEST_F(gpu, M6_access_past_local_memory_is_caught_with_its_address)
{
	/* Local memory and its margin end with a page. */
	const int64_t start = -(int64_t)SALVO_LOCAL_MARGIN;
	const int64_t end = SALVO_MAX_LOCAL_BYTES + 4096 + start;
	const int64_t strays[] = { start - 1, end, end + 4095 };
	struct rig *rig = self->rig;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		const struct out_args args = { self->gpu_data, strays[i] };
		struct drm_salvo_command command =
			rig_dispatch(rig, stray, 8, 1, 0, sizeof(args));

		command.eu_mask = 1;
		ASSERT_EQ(SALVO_STATUS_FAULT, rig_run(rig, &command, 1, &args, sizeof(args)));
		EXPECT_EQ(SALVO_FAULT_LOCAL, fault(rig)->kind);
		EXPECT_EQ(self->data[0] + strays[i], fault(rig)->address);
		EXPECT_EQ(SALVO_ACCESS_WRITE, fault(rig)->access);
		EXPECT_EQ(3, fault(rig)->group);
		EXPECT_EQ(0, fault(rig)->item);
	}
}

/* Uses much stack without a stack check, and leaves some to what ThreadSanitizer calls. */
RIG_KERNEL static void deep(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;
	volatile uint8_t private[13000];
	uint64_t i;

	for (i = 0; i < a->value; i++)
		*(private + sizeof(private) - 1 - i) = i;
	group->barrier(group);
}

TEST_F(gpu, M6_item_that_runs_over_its_stack_is_caught)
{
	struct rig *rig = self->rig;
	const struct drm_salvo_command command =
		with_barriers(rig_dispatch(rig, deep, 1024, 1024, 0, sizeof(struct out_args)));
	struct out_args args = { self->gpu_data, 13000 };

	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	args.value = 17000;
	EXPECT_EQ(SALVO_STATUS_FAULT, rig_run(rig, &command, 1, &args, sizeof(args)));
	EXPECT_EQ(SALVO_FAULT_STACK, fault(rig)->kind);
	EXPECT_EQ(0, fault(rig)->item);
}

/* The last item writes from its stack towards the end of the series of stacks. */
RIG_KERNEL static void past_the_series(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;
	volatile uint8_t *at = (volatile uint8_t *)__builtin_frame_address(0);

	group->barrier(group);
	if (item->local_id[0] != 1023)
		return;
	for (;; at += 4096)
		*at = *at;
	a->out[0] = 1;
}

/* Behind the stacks lies the unit's signal stack, which no kernel may access. */
TEST_F(gpu, M6_access_past_private_memory_is_caught)
{
	struct rig *rig = self->rig;
	const struct out_args args = { self->gpu_data, 0 };
	struct drm_salvo_command command =
		with_barriers(rig_dispatch(rig, past_the_series, 1024, 1024, 0, sizeof(args)));

	command.eu_mask = 1;
	self->data[0] = 0;
	ASSERT_EQ(SALVO_STATUS_FAULT, rig_run(rig, &command, 1, &args, sizeof(args)));
	EXPECT_EQ(SALVO_FAULT_STACK, fault(rig)->kind);
	EXPECT_EQ(1023, fault(rig)->item);
	EXPECT_EQ(0, self->data[0]);
}

/* --- faults of kernels ------------------------------------------------------------- */

RIG_KERNEL static void faulty(RIG_KERNEL_ARGS)
{
	const struct out_args *a = args;

	switch (a->value) {
	case 1:
		*(volatile uint8_t *)a->out;
		break;
	case 2:
		*(volatile uint8_t *)a->out = 1;
		break;
	case 3:
		((void (*)(void))a->out)();
		break;
	case 4:
		__asm__ volatile("xor %%ecx, %%ecx; div %%ecx" ::: "eax", "ecx", "edx");
		break;
	case 5:
		__asm__ volatile("ud2");
		break;
	}
}

TEST_F(gpu, fault_of_a_kernel_fails_its_batch_alone)
{
	static const struct {
		uint64_t how;
		uint32_t kind, access;
	} cases[] = {
		{ 1, SALVO_FAULT_PAGE, SALVO_ACCESS_READ },
		{ 2, SALVO_FAULT_PAGE, SALVO_ACCESS_WRITE },
		{ 3, SALVO_FAULT_PAGE, SALVO_ACCESS_EXEC },
		{ 4, SALVO_FAULT_ARITHMETIC, 0 }, { 5, SALVO_FAULT_INSTRUCTION, 0 },
	};
	struct rig *rig = self->rig;
	unsigned int i, fibers;

	for (i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const struct out_args args[2] = {
			{ (void *)0x1234567000, cases[i / 2].how }, { self->gpu_data, 1 },
		};
		const uint64_t faults = fault(rig)->sequence, seqno = rig->seqno + 1;
		struct drm_salvo_command commands[] = {
			{ .type = DRM_SALVO_FILL, .dst = rig->data_address, .size = 4 },
			rig_dispatch(rig, faulty, 40, 4, 0, sizeof(args[0])),
			rig_pair(1, 0),
			rig_dispatch(rig, phases, 1, 1, 16, sizeof(args[0])),
			rig_pair(3, 1),
		};

		fibers = i % 2;
		if (fibers)
			commands[1] = with_barriers(commands[1]);
		self->data[0] = 0;
		commands[3] = with_barriers(commands[3]);
		ASSERT_EQ(SALVO_STATUS_FAULT, rig_run(rig, commands, 5, args, sizeof(args)));
		EXPECT_EQ(1, rig_result(rig, seqno)->command);
		EXPECT_EQ(faults + 1, fault(rig)->sequence);
		EXPECT_EQ(cases[i / 2].kind, fault(rig)->kind);
		EXPECT_EQ(cases[i / 2].access, fault(rig)->access);
		EXPECT_EQ(RIG_ASID, fault(rig)->asid);
		EXPECT_EQ(1, fault(rig)->ctx);
		EXPECT_EQ(1, fault(rig)->command);
		EXPECT_EQ(seqno, fault(rig)->seqno);
		if (cases[i / 2].kind == SALVO_FAULT_PAGE)
			EXPECT_EQ(0x1234567000, fault(rig)->address);
		/* Its consumer did not run. */
		EXPECT_EQ(0, self->data[0]);

		ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &commands[3], 1, args, sizeof(args)));
		EXPECT_EQ(1, self->data[0]);
	}
}

TEST_F(gpu, writing_to_code_and_executing_data_are_faults)
{
	struct rig *rig = self->rig;
	struct out_args args = { (void *)(uintptr_t)rig->code_address, 2 };
	struct drm_salvo_command command = rig_dispatch(rig, faulty, 1, 1, 0, sizeof(args));

	EXPECT_EQ(SALVO_STATUS_FAULT, rig_run(rig, &command, 1, &args, sizeof(args)));
	EXPECT_EQ(rig->code_address, fault(rig)->address);
	args.out = self->gpu_data;
	args.value = 3;
	EXPECT_EQ(SALVO_STATUS_FAULT, rig_run(rig, &command, 1, &args, sizeof(args)));
	EXPECT_EQ(SALVO_ACCESS_EXEC, fault(rig)->access);
	EXPECT_EQ(rig->data_address, fault(rig)->address);
}

static volatile sig_atomic_t handled;

static void own_handler(int signal)
{
	(void)signal;
	handled = 1;
	_exit(42);
}

TEST(faults_outside_of_kernels_go_to_the_handler_that_was_there)
{
	int status;
	volatile int *volatile nowhere = (void *)16;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, own_handler);
		rig_create(0);
		*nowhere = 1;
		_exit(1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(42, WEXITSTATUS(status));
}

TEST_HARNESS_MAIN
