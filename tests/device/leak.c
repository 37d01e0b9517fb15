// SPDX-License-Identifier: MIT
/*
 * leak.c - no address space can read what another one left behind
 *
 * One address space fills its local memory, stacks and registers with a pattern, on every unit.
 * Another one searches its own for the pattern, and so does one that reuses the first one's number
 * after it has ended. Nor can a kernel read the command line and the environment of the device.
 * tests/uapi/bo.c checks that new buffers are zeroed, escape.c that memory of other address spaces
 * is not mapped.
 */
#include "spaces_fixture.h"

#define STACK_WORDS	4096u
#define LOCAL_WORDS	(SALVO_MAX_LOCAL_BYTES / 8)

struct leak_args {
	uint64_t *out;
};

/* Results of a search */
struct found {
	uint64_t local, stack, registers;
	/* Non-zero words in local memory */
	uint64_t dirty;
	uint64_t looked;
};

RIG_KERNEL static void leave(RIG_KERNEL_ARGS)
{
	volatile uint64_t stack[STACK_WORDS], *local = (void *)group->local;
	const uint64_t pattern = 0x5ec2e75ec2e75ec2ull;
	uint64_t i;

	for (i = 0; i < STACK_WORDS; i++)
		stack[i] = pattern;
	for (i = 0; i < LOCAL_WORDS; i++)
		local[i] = pattern;
	(void)stack[0];
	__asm__ volatile("movq %0, %%xmm0; punpcklqdq %%xmm0, %%xmm0; movdqa %%xmm0, %%xmm1;"
			 "movdqa %%xmm0, %%xmm7; movdqa %%xmm0, %%xmm15; mov %0, %%r8; mov %0, %%r9;"
			 "mov %0, %%r10; mov %0, %%r11" :: "r"(pattern)
			 : "xmm0", "xmm1", "xmm7", "xmm15", "r8", "r9", "r10", "r11");
}

/* Volatile, as it reads memory that was never written. */
RIG_KERNEL static void look(RIG_KERNEL_ARGS)
{
	uint64_t registers[12];
	volatile uint64_t stack[STACK_WORDS], *local = (void *)group->local;
	struct found *found = (struct found *)((const struct leak_args *)args)->out +
			      group->group_id[0];
	const uint64_t pattern = 0x5ec2e75ec2e75ec2ull;
	uint64_t i;

	__asm__ volatile("movdqu %%xmm0, (%0); movdqu %%xmm1, 16(%0); movdqu %%xmm7, 32(%0);"
			 "movdqu %%xmm15, 48(%0); mov %%r8, 64(%0); mov %%r9, 72(%0);"
			 "mov %%r10, 80(%0); mov %%r11, 88(%0)" :: "r"(registers) : "memory");
	for (i = 0; i < 12; i++)
		found->registers += registers[i] == pattern;
	for (i = 0; i < STACK_WORDS; i++)
		found->stack += stack[i] == pattern;
	for (i = 0; i < LOCAL_WORDS; i++) {
		found->local += local[i] == pattern;
		found->dirty += !!local[i];
	}
	found->looked = 1;
}

/* A batch that runs @fn once on each unit. */
static void run_everywhere(struct __test_metadata *_metadata, struct rig *rig, uint32_t asid,
			   salvo_kernel_fn fn, uint64_t at)
{
	unsigned int i;

	for (i = 0; i < rig->regs->units; i++) {
		const struct leak_args args = {
			(uint64_t *)((struct found *)(uintptr_t)(rig->data_address + at) + i),
		};
		struct drm_salvo_command command = rig_dispatch(rig, fn, 1, 1, 0, sizeof(args));

		command.local_size = SALVO_MAX_LOCAL_BYTES;
		command.eu_mask = 1ull << i;
		ASSERT_EQ(SALVO_STATUS_DONE, run_in(rig, asid, &command, &args, sizeof(args)));
	}
}

static struct found sum(const struct rig *rig, uint64_t at)
{
	const struct found *found = (const void *)(rig->data + at);
	struct found all = { 0 };
	unsigned int i;

	for (i = 0; i < rig->regs->units; i++) {
		all.local += found[i].local;
		all.stack += found[i].stack;
		all.registers += found[i].registers;
		all.dirty += found[i].dirty;
		all.looked += found[i].looked;
	}
	return all;
}

static void expect_nothing(struct __test_metadata *_metadata, const struct rig *rig, uint64_t at)
{
	const struct found all = sum(rig, at);

	ASSERT_EQ(rig->regs->units, all.looked);
	EXPECT_EQ(0, all.registers);
	EXPECT_EQ(0, all.stack);
	EXPECT_EQ(0, all.local);
	EXPECT_EQ(0, all.dirty);
}

TEST_F(spaces, local_memory_stacks_and_registers_of_others_are_not_seen)
{
	struct rig *rig = self->rig;

	run_everywhere(_metadata, rig, RIG_ASID, leave, 0);
	run_everywhere(_metadata, rig, OTHER, look, OTHER_AT);
	expect_nothing(_metadata, rig, OTHER_AT);

	/* Control: the address space that wrote the pattern finds it. */
	run_everywhere(_metadata, rig, RIG_ASID, look, 0);
	EXPECT_EQ((uint64_t)LOCAL_WORDS * rig->regs->units, sum(rig, 0).local);
}

TEST_F(spaces, next_address_space_of_the_same_number_sees_nothing)
{
	const uint32_t rw = SALVO_ACCESS_READ | SALVO_ACCESS_WRITE;
	struct rig *rig = self->rig;

	run_everywhere(_metadata, rig, RIG_ASID, leave, 0);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_SPACE_END, 0, 0, 0));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->code_address,
					       RIG_CODE_BYTES, SALVO_ACCESS_READ |
					       SALVO_ACCESS_EXEC));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->data_address,
					       OTHER_AT, rw));
	run_everywhere(_metadata, rig, RIG_ASID, look, 0);
	expect_nothing(_metadata, rig, 0);
}

struct range_args {
	uint64_t *out;
	uint64_t start, bytes;
};

/* Counts the bytes of a range that are not zero. */
RIG_KERNEL static void count_bytes(RIG_KERNEL_ARGS)
{
	const struct range_args *a = args;
	const volatile uint8_t *at = (const volatile uint8_t *)a->start;
	uint64_t i, count = 0;

	for (i = 0; i < a->bytes; i++)
		count += !!at[i];
	a->out[0] = count;
	a->out[1] = 1;
}

struct strings {
	uint64_t start, end;
};

/*
 * Where the strings of a process's command line begin, and where those of its environment end; 0 if
 * this test may not read it.
 */
static void find_strings(void *cookie, const char *pid)
{
	struct strings *strings = cookie;
	char line[4096], path[64], *at;
	uint64_t between[2];
	unsigned int field;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	file = fopen(path, "r");
	at = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (file)
		fclose(file);
	/* Fields 48 to 51. */
	for (field = 2; at && field < 48; field++)
		at = strchr(at + 1, ' ');
	if (at)
		sscanf(at, "%lu %lu %lu %lu", &strings->start, &between[0], &between[1],
		       &strings->end);
}

static void expect_zero(struct __test_metadata *_metadata, struct rig *rig, uint64_t start,
			uint64_t bytes)
{
	const struct range_args args = { (void *)(uintptr_t)rig->data_address, start, bytes };
	const struct drm_salvo_command command = rig_dispatch(rig, count_bytes, 1, 1, 0,
							      sizeof(args));
	const uint64_t *found = (const void *)rig->data;

	memset(rig->data, 0, 16);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	EXPECT_EQ(1, found[1]);
	EXPECT_EQ(0, found[0]);
}

TEST(command_line_and_environment_of_the_device_are_not_seen)
{
	struct strings own = { 0 }, strings = { 0 };
	struct rig *rig;

	NEED_SANDBOX();
	/* The zygote starts with variables of this kind. */
	setenv("LD_SALVO_TEST_SECRET", "not for kernels", 1);
	setenv("SALVO_TEST_SECRET", "nor this", 1);
	rig = rig_create_isolated(1);
	find_strings(&own, "self");
	ASSERT_LT(own.start, own.end);
	ASSERT_EQ(1, for_processes("salvo-zygote", find_strings, &strings));
	if (!strings.start)
		SKIP(goto out, "the kernel tells their address to root only");
	/* Of the environment of the device, which is this process, it has but few strings. */
	EXPECT_LT(strings.end - strings.start, own.end - own.start);
	EXPECT_LT(strlen("LD_SALVO_TEST_SECRET=not for kernels"), strings.end - strings.start);
	expect_zero(_metadata, rig, strings.start, strings.end - strings.start);
out:
	rig_destroy(rig);
}

TEST_HARNESS_MAIN
