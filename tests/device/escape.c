// SPDX-License-Identifier: MIT
/*
 * escape.c - kernels in native code that try to leave their address space
 *
 * Address spaces are processes here. Whatever a kernel does, only its own batch fails: another
 * address space computes the right result meanwhile, the device survives, and no process,
 * descriptor or memory leaks. The environment variable SALVO_ROUNDS replaces the default of ROUNDS
 * rounds.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "spaces_fixture.h"

#define MIB		(1ull << 20)

#define ROUNDS		200u
struct hostile_args {
	uint64_t how;
	uint64_t a[6];
};

enum {
	READ, WRITE, EXECUTE, CALL, OLD_CALL, DEEP, ILLEGAL, BREAKPOINT, DIVIDE, SMASH, CONTEXT,
	STACK_AWAY, ENDLESS,
};

static __attribute__((always_inline)) inline int64_t call_system(int64_t number, int64_t a,
								  int64_t b, int64_t c, int64_t d)
{
	register int64_t r10 __asm__("r10") = d;
	int64_t result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

RIG_KERNEL static void hostile(RIG_KERNEL_ARGS)
{
	const struct hostile_args *h = args;
	volatile uint8_t frame[64];
	uint64_t i;

	switch (h->how) {
	case READ:
		(void)*(volatile uint64_t *)h->a[0];
		break;
	case WRITE:
		*(volatile uint64_t *)h->a[0] = ~0ull;
		break;
	case EXECUTE:
		((void (*)(void))h->a[0])();
		break;
	case CALL:
		call_system(h->a[0], h->a[1], h->a[2], h->a[3], h->a[4]);
		break;
	case OLD_CALL:
		/* The 32-bit entry: the same numbers name other system calls. */
		__asm__ volatile("int $0x80" :: "a"(h->a[0]), "b"(h->a[1]), "c"(h->a[2]) : "memory");
		break;
	case DEEP:
		for (i = 0;; i++)
			*(frame - i) = 1;
		break;
	case ILLEGAL:
		__asm__ volatile("ud2");
		break;
	case BREAKPOINT:
		__asm__ volatile("int3");
		break;
	case DIVIDE:
		__asm__ volatile("xor %%ecx, %%ecx; div %%ecx" ::: "eax", "ecx", "edx");
		break;
	case SMASH:
		/* Overwrites the unit's state behind struct salvo_group. */
		for (i = 0;; i++)
			((volatile uint64_t *)group)[i] = h->a[0];
		break;
	case CONTEXT:
		for (i = 0; i < 4096; i++)
			((volatile uint8_t *)args)[i] = 0xff;
		((volatile uint64_t *)group)[-1] = 0;
		break;
	case STACK_AWAY:
		__asm__ volatile("mov %0, %%rsp; push %%rax; ret" :: "r"(h->a[0]));
		break;
	case ENDLESS:
		for (;;)
			__builtin_ia32_pause();
	}
}

static uint32_t run_hostile(struct rig *rig, const struct hostile_args *args)
{
	const struct drm_salvo_command command = rig_dispatch(rig, hostile, 1, 1, 0, sizeof(*args));

	return run_in(rig, RIG_ASID, &command, args, sizeof(*args));
}

TEST_F(spaces, memory_of_others_is_not_there)
{
	struct rig *rig = self->rig;
	const struct {
		uint64_t how, address;
		uint32_t kind;
	} cases[] = {
		{ READ, rig->data_address + OTHER_AT, SALVO_FAULT_PAGE },
		{ WRITE, rig->data_address + OTHER_AT, SALVO_FAULT_PAGE },
		{ WRITE, rig->code_address, SALVO_FAULT_PAGE },
		{ EXECUTE, rig->data_address, SALVO_FAULT_PAGE },
		{ READ, rig->regs->va_base + rig->regs->vram_bytes, SALVO_FAULT_PAGE },
		/* Mappings of the device do not exist in the process. */
		{ READ, (uintptr_t)rig->vram, SALVO_FAULT_PAGE },
		{ READ, (uintptr_t)rig->system, SALVO_FAULT_PAGE },
		{ WRITE, (uintptr_t)rig->regs, SALVO_FAULT_PAGE },
		{ READ, 0, SALVO_FAULT_PAGE },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hostile_args args = { cases[i].how, { cases[i].address } };
		const struct salvo_packet_result *result = rig_result(rig, rig->seqno + 1);

		ASSERT_EQ(SALVO_STATUS_FAULT, run_hostile(rig, &args))
			TH_LOG("case %u", i);
		EXPECT_EQ(cases[i].kind, result->fault)
			TH_LOG("case %u", i);
		EXPECT_EQ(cases[i].address, result->address);
		EXPECT_EQ(0, result->command);
		expect_others_right(_metadata, rig, i);
	}
}

TEST_F(spaces, system_calls_are_faults_and_have_no_effect)
{
	struct rig *rig = self->rig;
	const int64_t calls[][5] = {
		{ SYS_open, rig->data_address, 0 }, { SYS_openat, -100, rig->data_address, 0 },
		{ SYS_socket, 1, 1, 0 }, { SYS_kill, getpid(), 9 }, { SYS_kill, -1, 9 },
		{ SYS_tkill, getpid(), 9 }, { SYS_tgkill, getpid(), getpid(), 9 },
		{ SYS_ptrace, 16, getpid(), 0, 0 }, { SYS_mmap, 0, PAGE, 7, 0x22 },
		{ SYS_mprotect, rig->code_address, PAGE, 7 },
		{ SYS_munmap, rig->code_address, PAGE }, { SYS_fork },
		{ SYS_clone, 0, 0, 0, 0 }, { SYS_execve, rig->data_address, 0, 0 },
		{ SYS_write, 1, rig->data_address, 1 }, { SYS_read, 0, rig->data_address, 1 },
		{ SYS_process_vm_readv, getpid(), 0, 0, 0 }, { SYS_prctl, 1, 0, 0, 0 },
		{ SYS_rt_sigaction, 11, 0, 0, 8 }, { SYS_brk, 0 }, { SYS_getpid },
		{ SYS_exit, 0 }, { SYS_exit_group, 0 }, { 100000 },
		{ SYS_tgkill, getpid(), getpid(), SIGURG }, { SYS_clone3, 0, 0 }, { SYS_vfork },
		{ SYS_memfd_create, rig->data_address, 0 },
		{ SYS_mremap, rig->data_address, PAGE, PAGE },
		{ SYS_bpf, 0, 0, 0 }, { SYS_io_uring_setup, 1, rig->data_address },
		{ SYS_userfaultfd, 0 }, { SYS_perf_event_open, 0, 0, 0, 0 },
		{ SYS_pidfd_open, 1, 0 }, { SYS_unshare, 0 }, { SYS_setns, 0, 0 },
		{ SYS_keyctl, 0, 0 },
		{ SYS_sched_setaffinity, 0, 8, rig->data_address }, { SYS_setpriority, 0, 0, -20 },
		{ SYS_sigaltstack, 0, 0 }, { SYS_arch_prctl, 0x1002, 0 },
		{ SYS_modify_ldt, 0, 0, 0 }, { SYS_seccomp, 0, 0, 0 }, { SYS_shmget, 0, PAGE, 0 },
		{ SYS_set_robust_list, 0, 24 },
		/* Futex operations other than wait and wake: FUTEX_REQUEUE, _LOCK_PI, _WAKE_OP */
		{ SYS_futex, rig->data_address, 3, 1, 1 },
		{ SYS_futex, rig->data_address, 6, 0, 0 },
		{ SYS_futex, rig->data_address, 5 | 128, 1, 1 }, { SYS_futex_waitv, 0, 0, 0, 0 },
		/* The x32 ABI */
		{ 0x40000000 | SYS_getpid }, { 0x40000000 | SYS_write, 1, rig->data_address, 1 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct hostile_args args = {
			CALL, { calls[i][0], calls[i][1], calls[i][2], calls[i][3], calls[i][4] },
		};
		const struct salvo_packet_result *result = rig_result(rig, rig->seqno + 1);

		ASSERT_EQ(SALVO_STATUS_FAULT, run_hostile(rig, &args))
			TH_LOG("call %ld", calls[i][0]);
		EXPECT_EQ(SALVO_FAULT_SYSCALL, result->fault)
			TH_LOG("call %ld", calls[i][0]);
		EXPECT_EQ(0, result->command);
		expect_others_right(_metadata, rig, i);
	}
}

/* A host kernel without this entry raises a fault instead; either way no system call is made. */
TEST_F(spaces, system_calls_of_32_bits_have_no_effect)
{
	struct rig *rig = self->rig;
	/* exit, fork, write, exit_group */
	const uint64_t calls[][2] = { { 1, 0 }, { 2, 0 }, { 4, 1 }, { 252, 0 } };
	unsigned int i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct hostile_args args = { OLD_CALL, { calls[i][0], calls[i][1] } };

		ASSERT_EQ(SALVO_STATUS_FAULT, run_hostile(rig, &args))
			TH_LOG("call %lu", calls[i][0]);
		expect_others_right(_metadata, rig, i);
	}
}

struct privileges {
	unsigned int filtered, bound, capable;
	/* The OOM killer selects it first. */
	unsigned int volunteers;
	/* Writable and executable mappings; open descriptors; whether this test could read them */
	unsigned int writable_code, files;
	/* Bytes that it can write, without VRAM */
	uint64_t own;
	bool seen;
};

/* A line of /proc/PID/maps */
static void look_at_mapping(struct privileges *all, const char *line)
{
	unsigned long start, end;
	char access[8];

	all->seen = true;
	if (sscanf(line, "%lx-%lx %7s", &start, &end, access) != 3 || access[1] != 'w')
		return;
	all->writable_code += access[2] == 'x';
	if (!strstr(line, "vram"))
		all->own += end - start;
}

static void look_at(void *cookie, const char *pid)
{
	struct privileges *all = cookie;
	unsigned long long value;
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		all->filtered += sscanf(line, "Seccomp: %llu", &value) == 1 && value == 2;
		all->bound += sscanf(line, "NoNewPrivs: %llu", &value) == 1 && value == 1;
		all->capable += sscanf(line, "CapPrm: %llx", &value) == 1 && value;
		all->capable += sscanf(line, "CapEff: %llx", &value) == 1 && value;
	}
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%.20s/oom_score_adj", pid);
	file = fopen(path, "r");
	if (file) {
		all->volunteers += fscanf(file, "%llu", &value) == 1 && value == 1000;
		fclose(file);
	}
	/* The host's kernel shows these to root only. */
	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		look_at_mapping(all, line);
	if (file)
		fclose(file);
	/* But for . and .. */
	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	if (all->seen)
		all->files += count_entries(path) - 2;
}

TEST_F(spaces, process_has_a_filter_and_no_privileges_files_or_writable_code)
{
	struct privileges all = { 0 };

	expect_others_right(_metadata, self->rig, 1);
	ASSERT_EQ(1, for_processes("salvo-space", look_at, &all));
	EXPECT_EQ(1, all.filtered);
	EXPECT_EQ(1, all.bound);
	EXPECT_EQ(0, all.capable);
	EXPECT_EQ(1, all.volunteers);
	if (!all.seen)
		SKIP(return, "mappings and descriptors: the kernel tells them to root only");
	EXPECT_EQ(0, all.writable_code);
	EXPECT_EQ(0, all.files);
}

/* As much as Documentation/hardware.rst says, with some MiB of a sanitizer for its main stack. */
TEST_F(spaces, process_can_fill_what_the_manual_says)
{
	struct privileges all = { 0 };
	struct rlimit stack;

	expect_others_right(_metadata, self->rig, 1);
	ASSERT_EQ(0, getrlimit(RLIMIT_STACK, &stack));
	ASSERT_EQ(1, for_processes("salvo-space", look_at, &all));
	if (!all.seen)
		SKIP(return, "the kernel shows mappings to root only");
	if (stack.rlim_cur == RLIM_INFINITY)
		SKIP(return, "threads have stacks of another size");
	EXPECT_LT(1024ull * MIB, all.own);
	EXPECT_GE(1042 * MIB + self->rig->regs->units * (17 * MIB + stack.rlim_cur), all.own);
}

TEST_F(spaces, fence_of_a_packet_that_unbinds_and_fails_waits_for_the_process)
{
	struct rig *rig = self->rig;
	struct {
		struct salvo_packet head;
		struct salvo_op_bind op[2];
		struct salvo_op_close close;
	} packet = {
		.head = { .magic = SALVO_PACKET_MAGIC, .bytes = sizeof(packet),
			  .kind = SALVO_PACKET_SPACE, .command_count = 2,
			  .command_bytes = sizeof(packet) - sizeof(packet.head) },
		.op = {
			{ .op = { SALVO_OP_UNBIND, sizeof(packet.op[0]), 0 },
			  .address = rig->data_address + OTHER_AT, .size = OTHER_BYTES },
			{ .op = { SALVO_OP_BIND, sizeof(packet.op[0]), 0 },
			  .address = rig->data_address + OTHER_AT, .size = 1 },
		},
		.close = { .op = { SALVO_OP_CLOSE, sizeof(packet.close), 0 } },
	};
	struct salvo_ring_entry entry;

	expect_others_right(_metadata, rig, 0);
	ASSERT_EQ(1, count_spaces());
	entry = rig_next_entry(rig, 0, sizeof(packet));
	entry.asid = OTHER;
	packet.head.fence_id = entry.seqno;
	packet.head.result = rig_result_address(entry.seqno);
	packet.close.fence_id = entry.seqno;
	memcpy(rig_next_packet(rig), &packet, sizeof(packet));
	rig_push(rig, &entry);
	rig_ring(rig);
	ASSERT_TRUE(rig_wait(rig, entry.seqno));
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, rig_result(rig, entry.seqno)->status);
	EXPECT_EQ(0, count_spaces());
}

static void send_signal(void *cookie, const char *pid)
{
	kill(atoi(pid), *(const int *)cookie);
}

/* Exiting processes are not reaped for a while: the zygote is stopped. */
TEST_F(spaces, fence_of_an_unbind_waits_until_no_process_has_the_memory)
{
	const uint64_t at = self->rig->data_address + OTHER_AT;
	struct rig *rig = self->rig;
	uint64_t seqno;

	expect_others_right(_metadata, rig, 0);
	ASSERT_EQ(1, for_processes("salvo-zygote", send_signal, &(int){ SIGSTOP }));
	seqno = rig_submit_space(rig, OTHER, SALVO_OP_UNBIND, at, OTHER_BYTES, 0);
	usleep(200000);
	EXPECT_EQ(1, count_spaces());
	EXPECT_LT(rig_fence(rig, 0), seqno);
	for_processes("salvo-zygote", send_signal, &(int){ SIGCONT });
	ASSERT_TRUE(rig_wait(rig, seqno));
	EXPECT_EQ(0, count_spaces());
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno)->status);
}

static void one_round(struct __test_metadata *_metadata, struct rig *rig, unsigned int round,
		      unsigned int *seed)
{
	/* Killing takes long, so only every 32nd kernel is endless. */
	struct hostile_args args = { round % 32 ? rand_r(seed) % ENDLESS : ENDLESS, { 0 } };
	const struct drm_salvo_command command = rig_dispatch(rig, hostile, 1 + round % 4, 1, 0,
							      sizeof(args));
	uint64_t seqno, others;

	args.a[0] = rand_r(seed) % 2 ? rig->data_address + OTHER_AT : rand_r(seed) * 4096ull;
	if (args.how == CALL || args.how == OLD_CALL) {
		/*
		 * Not the system calls that a unit needs itself: they do no harm, but do not fail.
		 */
		args.a[0] = 1 + rand_r(seed) % 13;
		args.a[1] = rand_r(seed) % 4;
	}
	seqno = submit_to(rig, RIG_ASID, &command, &args, sizeof(args));
	others = submit_good(rig, round);
	end_somehow(_metadata, rig, seqno);
	expect_good(_metadata, rig, others, round);
	ASSERT_NE(SALVO_STATUS_PENDING, rig_result(rig, seqno)->status);
}

/* Resources that may leak: of the device, which is this process, and of its zygote */
struct holdings {
	unsigned int descriptors, threads, zygotes, zygote_descriptors;
	long memory, zygote_memory;
};

static void look_at_zygote(void *cookie, const char *pid)
{
	struct holdings *all = cookie;
	char path[64];

	/* Only root can read the descriptors. */
	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	all->zygote_descriptors += count_entries(path);
	all->zygote_memory += kilobytes(pid);
}

static struct holdings take_stock(void)
{
	struct holdings all = {
		.descriptors = count_entries("/proc/self/fd"),
		.threads = count_entries("/proc/self/task"), .memory = kilobytes("self"),
	};

	all.zygotes = for_processes("salvo-zygote", look_at_zygote, &all);
	return all;
}

TEST_F_TIMEOUT(spaces, hostile_kernels_hurt_only_themselves_and_leave_nothing, 7200)
{
	const char *wanted = getenv("SALVO_ROUNDS");
	const unsigned int rounds = wanted ? strtoul(wanted, NULL, 10) : ROUNDS;
	struct rig *rig = self->rig;
	struct holdings before, after;
	unsigned int i, seed = 11;

	/* Until every cache is filled. */
	for (i = 0; i < 100; i++)
		one_round(_metadata, rig, i, &seed);
	before = take_stock();
	for (i = 0; i < rounds; i++)
		one_round(_metadata, rig, i, &seed);
	after = take_stock();
	EXPECT_EQ(before.descriptors, after.descriptors);
	EXPECT_EQ(before.threads, after.threads);
	EXPECT_EQ(1, after.zygotes);
	EXPECT_EQ(before.zygote_descriptors, after.zygote_descriptors);
	EXPECT_LE(after.memory, before.memory + 1024);
	EXPECT_LE(after.zygote_memory, before.zygote_memory + 128);
	EXPECT_LE(count_spaces(), 2);
	if (wanted)
		TH_LOG("%u rounds; kilobytes of the device %ld, then %ld; of the zygote %ld, then %ld",
		       rounds, before.memory, after.memory, before.zygote_memory,
		       after.zygote_memory);
	rig_reset(rig);
	EXPECT_EQ(0, count_spaces());
}

TEST_HARNESS_MAIN
