// SPDX-License-Identifier: MIT
/*
 * layout.c - the addresses that a kernel can find out say nothing about the device
 *
 * A kernel in native code reads what is on its stack: where the code is that called it, and the
 * stack canary. Neither may be the device's, which is this process. The layouts are random, so two
 * are equal once in some 2^28 runs.
 */
#include <sys/mman.h>
#include <sys/personality.h>
#include "spaces_fixture.h"

/* Linux has the program, libraries and stacks above. */
#define PROGRAMS_FROM	(5ull << 44)
#define GIB		(1ull << 30)
#define GPUS		40u

struct seen {
	uint64_t code;
	uint64_t canary;
};

struct look_args {
	struct seen *out;
	uint64_t pad;
};

RIG_KERNEL static void look(RIG_KERNEL_ARGS)
{
	const struct look_args *a = args;
	uint64_t canary;

	__asm__ volatile("mov %%fs:0x28, %0" : "=r"(canary));
	a->out->code = (uintptr_t)__builtin_return_address(0);
	a->out->canary = canary;
}

static struct seen seen_by_a_kernel(struct __test_metadata *_metadata, struct rig *rig)
{
	const struct look_args args = { (void *)(uintptr_t)(rig->data_address), 0 };
	const struct drm_salvo_command command = rig_dispatch(rig, look, 1, 1, 0, sizeof(args));

	memset(rig->data, 0, sizeof(struct seen));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	return *(const struct seen *)rig->data;
}

/* What of a process is executable */
struct code {
	unsigned int count;
	uint64_t start[64], end[64];
};

static void find_code(void *cookie, const char *pid)
{
	struct code *code = cookie;
	unsigned long start, end;
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		char access[8];

		if (sscanf(line, "%lx-%lx %7s", &start, &end, access) != 3 || access[2] != 'x' ||
		    strstr(line, "vram") || strstr(line, "[vsyscall]") || code->count == 64)
			continue;
		code->start[code->count] = start;
		code->end[code->count++] = end;
	}
	if (file)
		fclose(file);
}

static bool contains(const struct code *code, uint64_t address)
{
	unsigned int i;

	for (i = 0; i < code->count; i++)
		if (address >= code->start[i] && address < code->end[i])
			return true;
	return false;
}

static uint64_t own_canary(void)
{
	uint64_t canary;

	__asm__ volatile("mov %%fs:0x28, %0" : "=r"(canary));
	return canary;
}

TEST(kernel_learns_no_addresses_and_no_canary_of_the_device)
{
	struct code own = { 0 };
	struct seen seen;
	struct rig *rig;

	NEED_SANDBOX();
	rig = rig_create_isolated(1);
	find_code(&own, "self");
	ASSERT_TRUE(contains(&own, (uintptr_t)find_code));
	seen = seen_by_a_kernel(_metadata, rig);
	EXPECT_NE(0, seen.code);
	EXPECT_FALSE(contains(&own, seen.code));
	EXPECT_NE(own_canary(), seen.canary);
	rig_destroy(rig);
}

TEST(process_shares_no_address_of_code_with_the_device)
{
	struct code own = { 0 }, space = { 0 };
	struct rig *rig;
	unsigned int i;

	NEED_SANDBOX();
	rig = rig_create_isolated(1);
	seen_by_a_kernel(_metadata, rig);
	find_code(&own, "self");
	ASSERT_EQ(1, for_processes("salvo-space", find_code, &space));
	if (!space.count)
		SKIP(goto out, "the kernel shows mappings to root only");
	for (i = 0; i < space.count; i++)
		EXPECT_FALSE(contains(&own, space.start[i]))
			TH_LOG("%lx", space.start[i]);
out:
	rig_destroy(rig);
}

TEST(two_gpus_of_one_process_have_different_addresses)
{
	struct rig *one, *two;
	struct seen seen[2];

	NEED_SANDBOX();
	one = rig_create_isolated(1);
	two = rig_create_isolated(1);
	seen[0] = seen_by_a_kernel(_metadata, one);
	seen[1] = seen_by_a_kernel(_metadata, two);
	EXPECT_NE(seen[0].code, seen[1].code);
	EXPECT_NE(seen[0].canary, seen[1].canary);
	/* Those of the GPU are near nothing else. */
	EXPECT_GT(PROGRAMS_FROM, one->code_address);
	EXPECT_GT(PROGRAMS_FROM, two->code_address);
	EXPECT_LT(PROGRAMS_FROM, (uintptr_t)find_code);
	rig_destroy(one);
	rig_destroy(two);
}

/* With that many addresses, some of the zygotes have libraries there at first. */
TEST(gpu_starts_wherever_its_addresses_are)
{
	const uint64_t bytes = 64 * GIB, reserved = bytes + SALVO_GPU_WINDOW_BYTES +
						    2 * SALVO_GPU_GUARD_BYTES;
	struct salvo_gpu_config config = { .vram_bytes = bytes, .units = 1 };
	struct salvo_gpu *gpu;
	unsigned int i;
	char *start;

	NEED_SANDBOX();
	/* As under a debugger: then they are where each zygote has its stack. */
	if (personality(~0u) & ADDR_NO_RANDOMIZE)
		SKIP(return, "the addresses of this process are not random");
	config.vram_fd = memfd_create("vram", MFD_CLOEXEC);
	config.system_fd = memfd_create("system", MFD_CLOEXEC);
	config.system_bytes = RIG_SYSTEM_BYTES;
	config.isolation = &salvo_processes;
	ASSERT_EQ(0, ftruncate(config.vram_fd, (off_t)bytes));
	ASSERT_EQ(0, ftruncate(config.system_fd, RIG_SYSTEM_BYTES));
	config.system_base = mmap(NULL, RIG_SYSTEM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
				  config.system_fd, 0);
	ASSERT_NE(MAP_FAILED, config.system_base);
	config.regs = mmap(NULL, SALVO_REGS_BYTES, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)config.regs);
	for (i = 0; i < GPUS; i++) {
		/* Where this process has its libraries. */
		start = mmap(NULL, reserved, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (start == MAP_FAILED)
			SKIP(return, "the host allows fewer addresses");
		config.va_base = (uintptr_t)start + SALVO_GPU_GUARD_BYTES;
		ASSERT_EQ(0, salvo_gpu_create(&config, &gpu))
			TH_LOG("GPU %u", i);
		salvo_gpu_destroy(gpu);
	}
}

TEST_HARNESS_MAIN
