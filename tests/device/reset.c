// SPDX-License-Identifier: MIT
/*
 * reset.c - resets in every state of the processes of address spaces
 *
 * A reset ends all processes: those that run endless kernels, those that are starting, and those
 * that are exiting while their successor starts. Each reset must be acknowledged and leave no
 * process behind, and the GPU must work afterwards. The environment variable SALVO_ROUNDS replaces
 * the default of ROUNDS rounds.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"
#include "kselftest_harness.h"
#include "rig.h"
#include "sanitizer.h"
#include "spaces.h"

#define ROUNDS		150u
#define SPACES		3u
#define PAGE		4096u
/* The driver's time-out; a reset takes milliseconds on a quiet machine. */
#define LIMIT_NS	20000000000ull
/* Heartbeats, 10 ms apart, for which a process is stopped; it has a second to handle a kill. */
#define SLOW_BEATS	20u

FIXTURE(reset)
{
	struct rig *rig;
};

FIXTURE_SETUP(reset)
{
	NEED_SANDBOX();
	self->rig = rig_create_isolated(0);
	/* Nothing is bound: each test binds what it needs. */
	rig_reset(self->rig);
}

FIXTURE_TEARDOWN(reset)
{
	rig_destroy(self->rig);
}

/* Never ends, and reports that it runs. */
RIG_KERNEL static void endless(RIG_KERNEL_ARGS)
{
	volatile uint64_t *running = *(uint64_t *const *)args;

	for (;;)
		*running = 1;
}

RIG_KERNEL static void set(RIG_KERNEL_ARGS)
{
	**(uint64_t *const *)args = 5;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static uint64_t submit_kernel(struct rig *rig, uint32_t asid, uint32_t ctx, salvo_kernel_fn fn,
			      uint64_t address)
{
	const struct drm_salvo_command command = rig_dispatch(rig, fn, 4, 1, 0, sizeof(address));
	const struct salvo_batch_desc batch = {
		.commands = &command, .count = 1, .args = &address, .args_size = sizeof(address),
	};

	return rig_submit_to(rig, asid, ctx, &batch);
}

/* Binds the code, and a page of data that a test may unbind. */
static void bind_space(struct rig *rig, uint32_t asid)
{
	const uint64_t data = rig->data_address + asid * PAGE;

	rig_submit_space(rig, asid, SALVO_OP_BIND, rig->code_address, RIG_CODE_BYTES,
			 SALVO_ACCESS_READ | SALVO_ACCESS_EXEC);
	rig_submit_space(rig, asid, SALVO_OP_BIND, data, PAGE,
			 SALVO_ACCESS_READ | SALVO_ACCESS_WRITE);
}

/* Sends a random request that a driver may send, without waiting for its end. */
static void send_something(struct rig *rig, unsigned int *seed)
{
	const uint32_t asid = 1 + rand_r(seed) % SPACES, ctx = 10 * asid + rand_r(seed) % 2;
	const uint64_t data = rig->data_address + asid * PAGE;
	const uint64_t extra = rig->data_address + (64 + rand_r(seed) % 1024) * PAGE;

	switch (rand_r(seed) % 6) {
	case 0:
	case 1:
		submit_kernel(rig, asid, ctx, endless, data);
		break;
	case 2:
		submit_kernel(rig, asid, ctx, set, data);
		break;
	case 3:
		rig_submit_space(rig, asid, SALVO_OP_BIND, extra, PAGE, SALVO_ACCESS_READ);
		break;
	case 4:
		rig_submit_space(rig, asid, SALVO_OP_UNBIND, data, PAGE, 0);
		rig_submit_space(rig, asid, SALVO_OP_BIND, data, PAGE,
				 SALVO_ACCESS_READ | SALVO_ACCESS_WRITE);
		break;
	case 5:
		rig_submit_space(rig, asid, SALVO_OP_SPACE_END, 0, 0, 0);
		bind_space(rig, asid);
		break;
	}
}

/*
 * Sends a signal, or none if 0, to the children of a process and counts them; @last is the last
 * one.
 */
static unsigned int signal_children(int parent, int signal, int *last)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	unsigned int count = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300], line[512] = "";
		int pid, of = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file) &&
		    sscanf(line, "%d (%*[^)]) %*c %d", &pid, &of) == 2 && of == parent) {
			count++;
			*last = pid;
			kill(pid, signal);
		}
		fclose(file);
	}
	if (proc)
		closedir(proc);
	return count;
}

static unsigned int count_children(int parent, int *last)
{
	return signal_children(parent, 0, last);
}

/*
 * The processes of address spaces are children of the zygote, which is the only child of this one.
 */
static unsigned int count_spaces(int *zygote)
{
	int last;

	return count_children(getpid(), zygote) == 1 ? count_children(*zygote, &last) : ~0u;
}

static unsigned int rounds(void)
{
	const char *wanted = getenv("SALVO_ROUNDS");

	return wanted ? strtoul(wanted, NULL, 10) : ROUNDS;
}

TEST_F_TIMEOUT(reset, reset_is_acknowledged_whatever_processes_do, 3600)
{
	struct rig *rig = self->rig;
	unsigned int i, n, asid, seed = 7;
	int zygote;

	for (i = 0; i < rounds(); i++) {
		uint64_t start;

		for (asid = 1; asid <= SPACES; asid++)
			bind_space(rig, asid);
		for (n = rand_r(&seed) % 12; n; n--) {
			send_something(rig, &seed);
			if (rand_r(&seed) % 3 == 0)
				usleep(rand_r(&seed) % 3000);
			if (rand_r(&seed) % 3 == 0)
				salvo_gpu_heartbeat(rig->gpu);
		}
		start = now_ns();
		rig_reset(rig);
		EXPECT_LT(now_ns() - start, LIMIT_NS);
		ASSERT_EQ(0, count_spaces(&zygote));
	}
	bind_space(rig, 1);
	ASSERT_TRUE(rig_wait(rig, submit_kernel(rig, 1, 1, set, rig->data_address + PAGE)));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, rig->seqno)->status);
	EXPECT_EQ(5, *(uint64_t *)(rig->data + PAGE));
}

static void *reset_main(void *rig)
{
	rig_reset(rig);
	return NULL;
}

/*
 * Processes take long to exit on a loaded machine. The heartbeat must continue meanwhile, or the
 * driver takes the GPU for dead. Here no process is reaped: the zygote is stopped.
 */
TEST_F(reset, heart_beats_while_a_reset_waits_for_processes)
{
	struct rig *rig = self->rig;
	const uint64_t data = rig->data_address + PAGE;
	uint32_t before, i;
	pthread_t thread;
	int zygote;

	bind_space(rig, 1);
	submit_kernel(rig, 1, 1, endless, data);
	for (i = 0; i < 20000 && !*(volatile uint64_t *)(rig->data + PAGE); i++)
		usleep(1000);
	ASSERT_LT(i, 20000);
	ASSERT_EQ(1, count_spaces(&zygote));
	kill(zygote, SIGSTOP);
	before = __atomic_load_n(&rig->regs->heartbeat, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_create(&thread, NULL, reset_main, rig));
	for (i = 0; i < 5000 &&
	     __atomic_load_n(&rig->regs->heartbeat, __ATOMIC_RELAXED) - before < 20; i++)
		usleep(1000);
	EXPECT_LT(i, 5000);
	EXPECT_NE(rig->regs->reset_ack, rig->regs->reset_request);
	kill(zygote, SIGCONT);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, count_spaces(&zygote));
}

#define MANY	SALVO_SPACES_MOST

/*
 * The largest number of address spaces. The zygote's socket holds some hundred messages in each
 * direction, and here both ends send more: all processes exit by themselves while the device asks
 * the zygote, which is stopped, to kill them.
 */
FIXTURE(many) {
	int unused;
};

FIXTURE_SETUP(many)
{
}

FIXTURE_TEARDOWN(many)
{
}

/* To start them takes more than 30 seconds on a loaded machine. */
TEST_F_TIMEOUT(many, many_processes_may_end_at_the_moment_of_a_reset, 600)
{
	const struct salvo_packet_result *result;
	struct rlimit limit;
	struct rig *rig;
	pthread_t thread;
	int zygote, last;
	uint32_t asid;

	NEED_SANDBOX();
	if (getrlimit(RLIMIT_NPROC, &limit) || limit.rlim_cur < 4 * MANY)
		SKIP(return, "the host allows fewer processes");
	rig = rig_create_isolated(1);
	rig_reset(rig);
	for (asid = 1; asid <= MANY; asid++) {
		bind_space(rig, asid);
		ASSERT_TRUE(rig_wait(rig, submit_kernel(rig, asid, 1, set,
							rig->data_address + asid * PAGE)));
	}
	ASSERT_EQ(MANY, count_spaces(&zygote));
	/* One address space too many fails, and one that has a process still works. */
	bind_space(rig, asid);
	ASSERT_TRUE(rig_wait(rig, submit_kernel(rig, asid, 1, set,
						rig->data_address + asid * PAGE)));
	result = rig_result(rig, rig->seqno);
	EXPECT_EQ(SALVO_STATUS_FAULT, result->status);
	EXPECT_EQ(SALVO_FAULT_KERNEL, result->fault);
	ASSERT_TRUE(rig_wait(rig, submit_kernel(rig, 1, 1, set, rig->data_address + PAGE)));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, rig->seqno)->status);
	kill(zygote, SIGSTOP);
	ASSERT_EQ(0, pthread_create(&thread, NULL, reset_main, rig));
	usleep(100000);
	signal_children(zygote, SIGKILL, &last);
	kill(zygote, SIGCONT);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, count_spaces(&zygote));
	rig_destroy(rig);
}

/*
 * A process without CPU time cannot handle the kill at once: other contexts in it must not suffer.
 */
TEST_F(reset, slow_process_is_not_ended_for_one_context)
{
	struct rig *rig = self->rig;
	const uint64_t data = rig->data_address + PAGE;
	volatile uint64_t *running = (volatile uint64_t *)(rig->data + PAGE);
	uint64_t hung, innocent, asked;
	int zygote, process;
	uint32_t i;

	bind_space(rig, 1);
	hung = submit_kernel(rig, 1, 1, endless, data);
	for (i = 0; i < 20000 && !*running; i++)
		usleep(1000);
	ASSERT_LT(i, 20000);
	ASSERT_EQ(1, count_spaces(&zygote));
	ASSERT_EQ(1, count_children(zygote, &process));
	kill(process, SIGSTOP);
	innocent = submit_kernel(rig, 1, 2, set, data + 8);
	asked = salvo_clock();
	rig->regs->kill_ctx = 1;
	__atomic_store_n(&rig->regs->kill_request, rig->regs->kill_ack + 1, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_KILL);
	for (i = 0; i < 2000 && rig->regs->kill_ack != rig->regs->kill_request; i++) {
		if (i == SLOW_BEATS)
			kill(process, SIGCONT);
		usleep(10000);
		salvo_gpu_heartbeat(rig->gpu);
	}
	EXPECT_EQ(rig->regs->kill_request, rig->regs->kill_ack);
	ASSERT_TRUE(rig_wait(rig, innocent));
	EXPECT_EQ(SALVO_STATUS_KILLED, rig_result(rig, hung)->status);
	if (salvo_clock() - asked >= SALVO_CLOCK_HZ &&
	    rig_result(rig, innocent)->status == SALVO_STATUS_KILLED)
		SKIP(return, "the process did not run for the second that it has");
	EXPECT_EQ(SALVO_STATUS_DONE, rig_result(rig, innocent)->status);
}

TEST_HARNESS_MAIN
