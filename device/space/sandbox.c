// SPDX-License-Identifier: MIT
/*
 * sandbox.c - the process of an address space
 *
 * A kernel can reach what its process can reach. So the process has only: the ranges of memory
 * that its address space has bound, with their access rights and never both writable and
 * executable; the block that it shares with the device; the prio table, of which it can
 * write its own page; no descriptors; no privileges, and no way to gain any; and the system
 * calls with which units wait and wake. A kernel that makes another system call faults: its
 * unit gets SIGSYS and handles it like other traps (trap.c).
 *
 * The process runs a GPU like the embedded one, with its own command processor, queues and
 * units. The block is its system memory. It can allocate nothing after the filter
 * is in place, so the zygote grows the heap once, and it never shrinks. Pages
 * that nobody has touched cost nothing.
 *
 * The order matters: files are mapped and threads started first, then everything is dropped.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "gpu.h"
#include "prio_table.h"
#include "salvo_confine.h"
#include "salvo_hw.h"
#include "space_block.h"

/* Every job may have the largest packet, and twice that, since buffers grow by doubling. */
#define HEAP_BYTES	(SALVO_JOBS * (4ul << 20))

/* Added to the nice value of the device */
#define NICE		5
/* Larger than what the host accepts as command line and environment */
#define STRINGS_MOST	(8 << 20)

/* Placeholder in the filter for the pid, which is not known when the filter is built */
#define OWN_PROCESS	0x7e57ab1eu

/* Made in the zygote, inherited by all processes */
static struct sock_fprog filter;
static struct salvo_prio_table *prio_table;

/* The heap cannot grow later: brk() is filtered. */
static void reserve_heap(void)
{
	void *volatile heap;

	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	/* Volatile, or the compiler removes both calls. */
	heap = malloc(HEAP_BYTES);
	free(heap);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void close_all_but(int a, int b, int c)
{
	int sorted[3] = { a, b, c };
	unsigned int i, from = 0;

	qsort(sorted, 3, sizeof(sorted[0]), compare);
	for (i = 0; i < 3; i++) {
		if (sorted[i] > (int)from)
			syscall(SYS_close_range, from, sorted[i] - 1, 0);
		if (sorted[i] >= (int)from)
			from = sorted[i] + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
}

/*
 * Other system calls trap. Units sleep, wake and poll; clock_gettime() is for hosts without a clock
 * in the vDSO. A unit may signal others of its own process: that stops kernels.
 */
static bool add_rules(scmp_filter_ctx rules)
{
	static const int allowed[] = {
		SCMP_SYS(sched_yield), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall),
		SCMP_SYS(clock_gettime),
	};
	unsigned int i;
	int err;

	/* Also for the system call numbers of other ABIs, which would kill the thread otherwise. */
	err = seccomp_attr_set(rules, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_TRAP);
	for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		err |= seccomp_rule_add(rules, SCMP_ACT_ALLOW, allowed[i], 0);
	/* Of futexes only waiting and waking. */
	err |= seccomp_rule_add(rules, SCMP_ACT_ALLOW, SCMP_SYS(futex), 1,
				SCMP_A1(SCMP_CMP_MASKED_EQ, (uint32_t)~(FUTEX_PRIVATE_FLAG |
					FUTEX_WAIT | FUTEX_WAKE), 0));
	err |= seccomp_rule_add(rules, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 2,
				SCMP_A0(SCMP_CMP_EQ, OWN_PROCESS), SCMP_A2(SCMP_CMP_EQ, SIGURG));
	return !err;
}

/* Once: building a filter takes longer than loading it. */
static bool prepare_filter(void)
{
	scmp_filter_ctx rules = seccomp_init(SCMP_ACT_TRAP);
	const int fd = memfd_create("salvo-filter", MFD_CLOEXEC);
	struct stat st;

	if (!rules || fd < 0 || !add_rules(rules) || seccomp_export_bpf(rules, fd) ||
	    fstat(fd, &st))
		return false;
	filter.len = st.st_size / sizeof(filter.filter[0]);
	filter.filter = malloc(st.st_size);
	seccomp_release(rules);
	return filter.filter && pread(fd, filter.filter, st.st_size, 0) == st.st_size && !close(fd);
}

/* A kernel can fill the heap: if the host runs out of memory, this process is killed first. */
static void volunteer_for_oom(void)
{
	int fd;

	/* Otherwise, after a change of the user, root owns the file. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	/* Without /proc the host chooses by itself. */
	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	close(fd);
}

/*
 * Kernels must not read even what the zygote was started with. The strings are contiguous, from
 * argv[0] to the program's path behind the environment.
 */
static void wipe_strings(void)
{
	char *start = program_invocation_name, **string;
	char *path = (char *)(uintptr_t)getauxval(AT_EXECFN);

	for (string = environ; string && *string; string++)
		explicit_bzero(*string, strlen(*string));
	clearenv();
	/* Unless the program has given itself another name. */
	if (path && start < path && path - start < STRINGS_MOST)
		explicit_bzero(start, path + strlen(path) - start);
}

/*
 * Addresses that are not bound stay unmapped. A program that was just started has its libraries
 * anywhere, also where the device has its GPU addresses.
 */
static int reserve_addresses(const struct salvo_sandbox *sandbox)
{
	void *const start = (void *)(uintptr_t)(sandbox->va_base - SALVO_GPU_GUARD_BYTES);

	return mmap(start, sandbox->va_bytes + 2 * SALVO_GPU_GUARD_BYTES, PROT_NONE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ?
	       -errno : 0;
}

int salvo_sandbox_prepare(const struct salvo_sandbox *sandbox, int sock)
{
	const struct rlimit none = { 0, 0 };
	int err = reserve_addresses(sandbox);

	if (err)
		return err;
	prio_table = salvo_prio_table_map(sandbox->prio_fd);
	if (!prio_table)
		return -ENOMEM;
	close_all_but(sock, sandbox->vram_fd, sandbox->system_fd);
	reserve_heap();
	wipe_strings();
	setrlimit(RLIMIT_CORE, &none);
	/* The device's own threads, as its heartbeat, must run beside any number of busy units. */
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
	volunteer_for_oom();
	if (!prepare_filter())
		return -ENOSYS;
	err = salvo_confine_drop_user();
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return err;
}

static void need(bool ok)
{
	if (!ok)
		_exit(1);
}

static void map_range(const struct salvo_sandbox *sandbox, const struct salvo_space_range *range)
{
	const int fd = range->system ? sandbox->system_fd : sandbox->vram_fd;
	int prot = PROT_READ;

	if (range->access & SALVO_ACCESS_EXEC)
		prot |= PROT_EXEC;
	else if (range->access & SALVO_ACCESS_WRITE)
		prot |= PROT_WRITE;
	need(mmap((void *)(uintptr_t)range->address, range->size, prot, MAP_SHARED | MAP_FIXED,
		  fd, (off_t)range->offset) != MAP_FAILED);
}

/* Merges adjacent ranges into one mapping. */
static void map_ranges(const struct salvo_sandbox *sandbox,
		       const struct salvo_space_range *ranges, uint32_t count)
{
	struct salvo_space_range whole;
	uint32_t i;

	if (!count)
		return;
	whole = ranges[0];
	for (i = 1; i < count; i++) {
		const struct salvo_space_range *next = &ranges[i];

		if (next->address == whole.address + whole.size && next->access == whole.access &&
		    next->offset == whole.offset + whole.size && next->system == whole.system) {
			whole.size += next->size;
		} else {
			map_range(sandbox, &whole);
			whole = *next;
		}
	}
	map_range(sandbox, &whole);
}

static void notify(struct salvo_space_block *block)
{
	atomic_fetch_add(&block->completion_seq, 1);
	if (atomic_load(&block->wants_wake))
		syscall(SYS_futex, &block->completion_seq, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* A fence has moved. The device checks it. */
static void on_interrupt(void *cookie, unsigned int vector)
{
	if (vector == SALVO_VECTOR_FENCE)
		notify(cookie);
}

/* A leaf has ended: the device waits for it, as it is going to replace the process. */
static void on_drained(void *cookie)
{
	notify(cookie);
}

/* A leaf has ended, and its worker waits. */
static void on_ended(void *cookie)
{
	struct salvo_space_block *block = cookie;

	atomic_store(&block->slot_events, 1);
	notify(block);
}

static void attach_slots(struct salvo_gpu *gpu, struct salvo_space_block *block)
{
	unsigned int i;

	gpu->slots.draining = &block->draining;
	gpu->slots.drained = on_drained;
	gpu->slots.cookie = block;
	gpu->eus.leaf_ns = &block->leaf_ns;
	for (i = 0; i < SALVO_MAX_SLOTS; i++) {
		struct salvo_block_slot *slot = &block->slots[i];
		const struct salvo_gpu_slot_config config = {
			.asid = block->asid, .priority = slot->priority, .units = slot->units,
			.ended = on_ended, .cookie = block,
		};
		const struct salvo_leaf_attach attach = {
			.config = &config, .regs = (void *)(uintptr_t)slot->address,
			.ctx = slot->ctx, .running = &slot->running,
		};

		if (slot->ctx)
			need(salvo_leaf_slots_attach(&gpu->slots, &attach) >= 0);
	}
}

/* For all threads. */
static void drop_system_calls(void)
{
	unsigned int i;

	for (i = 0; i < filter.len; i++)
		if (filter.filter[i].k == OWN_PROCESS)
			filter.filter[i].k = getpid();
	need(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter));
}

void salvo_sandbox_run(const struct salvo_sandbox *sandbox,
		       const struct salvo_sandbox_files *files, pid_t parent)
{
	const size_t ranges_bytes = files->ranges * sizeof(struct salvo_space_range);
	struct salvo_inside inside = { .topology = &sandbox->topology, .count = files->ranges };
	struct salvo_gpu_config config = {
		.va_base = sandbox->va_base, .vram_offset = sandbox->vram_offset,
		.vram_bytes = sandbox->vram_bytes, .system_bytes = sizeof(struct salvo_space_block),
		.contain_faults = true, .interrupt = on_interrupt,
	};
	struct salvo_space_range *ranges = NULL;
	struct salvo_space_block *block;
	struct salvo_gpu *gpu;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	need(getppid() == parent);
	prctl(PR_SET_NAME, "salvo-space");
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED, files->block_fd, 0);
	need(block != MAP_FAILED);
	inside.parking = &block->parking;
	inside.asid = block->asid;
	inside.prio_slot =
		(struct salvo_prio_slot){ .table = prio_table, .index = block->prio_slot };
	need(salvo_prio_slot_attach(&inside.prio_slot));
	if (ranges_bytes)
		ranges = mmap(NULL, ranges_bytes, PROT_READ, MAP_PRIVATE, files->ranges_fd, 0);
	need(ranges != MAP_FAILED);
	inside.ranges = ranges;
	map_ranges(sandbox, ranges, files->ranges);
	need(!syscall(SYS_close_range, 0, ~0u, 0));

	config.regs = &block->regs;
	config.system_base = block;
	config.cookie = block;
	need(!salvo_gpu_create_inside(&config, &inside, &gpu));
	if (ranges)
		munmap(ranges, ranges_bytes);
	drop_system_calls();
	/* Kernels may run from now on. */
	attach_slots(gpu, block);
	salvo_gpu_enable_doorbell(gpu, &block->doorbell_seq);

	/* Handles doorbells while all units are busy. */
	for (;;) {
		const uint32_t count = atomic_load(&block->doorbell_seq);

		salvo_gpu_poll_doorbell(gpu);
		syscall(SYS_futex, &block->doorbell_seq, FUTEX_WAIT, count, NULL, NULL, 0);
	}
}
