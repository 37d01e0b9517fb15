// SPDX-License-Identifier: MIT
/*
 * hang.c - batches that never end and batches that fault
 *
 * After the timeout, two seconds, the driver considers a batch hung, has the GPU kill its
 * context, and writes a devcoredump; everything else continues.
 */
#include "kselftest_harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rendernode.h"
#include "salvo.h"
#include "system.h"

#define SECONDS(n)	((n) * INT64_C(1000000000))

FIXTURE(hang) {
	struct salvo_device *device;
	struct salvo_queue *queue, *other;
	struct salvo_program *program;
	struct salvo_batch *batch;
	struct salvo_bo *bo, *later;
	uint32_t *words;
};

FIXTURE_SETUP(hang)
{
	ASSERT_EQ(salvo_device_open(node_path(), &self->device), 0);
	ASSERT_EQ(salvo_queue_create(self->device, 0, &self->queue), 0);
	ASSERT_EQ(salvo_queue_create(self->device, 0, &self->other), 0);
	ASSERT_EQ(salvo_program_load_file(self->device, "kernels/rendezvous.salvo",
					  &self->program), 0);
	ASSERT_EQ(salvo_batch_create(self->device, &self->batch), 0);
	ASSERT_EQ(salvo_bo_create(self->device, 4096, 0, &self->bo), 0);
	ASSERT_EQ(salvo_bo_create(self->device, 4096, 0, &self->later), 0);
	ASSERT_EQ(salvo_bo_map(self->bo, (void **)&self->words), 0);
}

FIXTURE_TEARDOWN(hang)
{
	salvo_bo_destroy(self->later);
	salvo_bo_destroy(self->bo);
	salvo_batch_destroy(self->batch);
	salvo_program_destroy(self->program);
	salvo_queue_destroy(self->other);
	salvo_queue_destroy(self->queue);
	salvo_device_close(self->device);
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", 0));
}

static int submit_kernel(FIXTURE_DATA(hang) *self, const char *name, struct salvo_fence **fence)
{
	const uint32_t one = 1;
	struct salvo_kernel *kernel;
	int ret;

	salvo_batch_reset(self->batch);
	ret = salvo_kernel_create(self->program, name, &kernel);
	if (ret)
		return ret;
	ret = salvo_kernel_set_bo(kernel, 0, self->bo, 0);
	if (!ret)
		ret = salvo_kernel_set_grid(kernel, 1, &one, &one);
	if (!ret)
		ret = salvo_batch_dispatch(self->batch, kernel);
	salvo_kernel_destroy(kernel);
	return ret < 0 ? ret : salvo_queue_submit(self->queue, self->batch, NULL, 0, fence);
}

static int fill_and_wait(FIXTURE_DATA(hang) *self, struct salvo_queue *queue,
			 struct salvo_bo *bo, uint32_t value)
{
	struct salvo_fence *fence;
	int ret;

	salvo_batch_reset(self->batch);
	ret = salvo_batch_fill(self->batch, bo, 0, 4096, value);
	if (ret >= 0)
		ret = salvo_queue_submit(queue, self->batch, NULL, 0, &fence);
	if (ret)
		return ret;
	ret = salvo_fence_wait(fence, SECONDS(20));
	salvo_fence_destroy(fence);
	return ret;
}

/* Buffers, contexts and programs of all files survive. */
TEST_F(hang, endless_kernel_costs_its_context_alone)
{
	struct salvo_fence *endless, *queued, *good;
	long long resets = device_counter("resets"), kills = device_counter("kills");
	struct salvo_queue *third;
	struct salvo_bo *closed;

	ASSERT_EQ(salvo_bo_create(self->device, 4096, 0, &closed), 0);
	ASSERT_EQ(salvo_queue_create(self->device, 0, &third), 0);
	ASSERT_EQ(submit_kernel(self, "endless", &endless), 0);
	/* Two batches wait for it, one of the same context and one of another. */
	salvo_batch_reset(self->batch);
	ASSERT_GE(salvo_batch_fill(self->batch, self->later, 0, 4096, 1), 0);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, &endless, 1, &queued), 0);
	salvo_batch_reset(self->batch);
	ASSERT_GE(salvo_batch_fill(self->batch, closed, 0, 4096, 2), 0);
	ASSERT_GE(salvo_batch_fill(self->batch, self->later, 0, 4096, 2), 0);
	ASSERT_EQ(salvo_queue_submit(third, self->batch, &endless, 1, &good), 0);
	/* A closed buffer that a queued batch uses. */
	salvo_bo_destroy(closed);

	EXPECT_EQ(salvo_fence_wait(endless, SECONDS(30)), -ECANCELED);
	EXPECT_EQ(salvo_fence_wait(queued, SECONDS(30)), -ECANCELED);
	EXPECT_EQ(salvo_fence_wait(good, SECONDS(30)), 0);
	EXPECT_EQ(device_counter("kills"), kills + 1);
	EXPECT_EQ(device_counter("resets"), resets);
	EXPECT_EQ(fill_and_wait(self, self->queue, self->later, 3), -EIO);
	EXPECT_EQ(fill_and_wait(self, self->other, self->later, 4), 0);
	EXPECT_EQ(fill_and_wait(self, self->other, self->bo, 5), 0);
	EXPECT_EQ(self->words[1023], 5);
	salvo_fence_destroy(good);
	salvo_fence_destroy(queued);
	salvo_fence_destroy(endless);
	salvo_queue_destroy(third);
}

/* A file that is not involved is not affected. */
TEST_F(hang, other_file_goes_on)
{
	struct drm_salvo_command command;
	struct salvo_fence *endless;
	int fd = node_open();
	uint32_t ctx;
	struct bo bo;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(ctx_create(fd, &ctx), 0);
	ASSERT_EQ(bo_create(fd, 4096, 0, &bo), 0);
	ASSERT_EQ(bo_map(fd, &bo), 0);
	ASSERT_EQ(submit_kernel(self, "endless", &endless), 0);
	EXPECT_EQ(salvo_fence_wait(endless, SECONDS(30)), -ECANCELED);
	command = fill(bo.address, 4096, 7);
	EXPECT_EQ(run(fd, ctx, &command, 1), 0);
	EXPECT_EQ(*(uint32_t *)bo.map, 7);
	salvo_fence_destroy(endless);
	bo_close(fd, &bo);
	close(fd);
}

/*
 * Batches of other contexts are on the ring before and behind the hung one, more than the
 * units can run at once: each succeeds and has done all of its work.
 */
TEST_F(hang, batches_of_other_contexts_are_not_lost)
{
	enum { CONTEXTS = 4, EACH = 6, BYTES = 1 << 20 };
	struct salvo_fence *fences[CONTEXTS][EACH], *endless;
	long long resets = device_counter("resets");
	struct salvo_queue *queues[CONTEXTS];
	struct salvo_bo *bos[CONTEXTS];
	uint32_t *words, c, i, at;

	for (c = 0; c < CONTEXTS; c++) {
		ASSERT_EQ(salvo_queue_create(self->device, 0, &queues[c]), 0);
		ASSERT_EQ(salvo_bo_create(self->device, EACH * BYTES, 0, &bos[c]), 0);
	}
	for (i = 0; i < EACH; i++) {
		for (c = 0; c < CONTEXTS; c++) {
			salvo_batch_reset(self->batch);
			ASSERT_GE(salvo_batch_fill(self->batch, bos[c], i * BYTES, BYTES,
						   c * EACH + i + 1), 0);
			ASSERT_EQ(salvo_queue_submit(queues[c], self->batch, NULL, 0,
						     &fences[c][i]), 0);
		}
		if (i == EACH / 2)
			ASSERT_EQ(submit_kernel(self, "endless", &endless), 0);
	}
	EXPECT_EQ(salvo_fence_wait(endless, SECONDS(30)), -ECANCELED);
	for (c = 0; c < CONTEXTS; c++) {
		for (i = 0; i < EACH; i++) {
			EXPECT_EQ(salvo_fence_wait(fences[c][i], SECONDS(30)), 0);
			salvo_fence_destroy(fences[c][i]);
		}
		ASSERT_EQ(salvo_bo_map(bos[c], (void **)&words), 0);
		for (at = 0; at < EACH * BYTES / 4; at++)
			ASSERT_EQ(words[at], c * EACH + at / (BYTES / 4) + 1);
		EXPECT_EQ(fill_and_wait(self, queues[c], bos[c], 1), 0);
		salvo_bo_destroy(bos[c]);
		salvo_queue_destroy(queues[c]);
	}
	EXPECT_EQ(device_counter("resets"), resets);
	salvo_fence_destroy(endless);
}

/*
 * The oldest batch of the ring waits for units that another batch took between two of its
 * commands. That time does not count against it.
 */
TEST_F(hang, batch_that_waits_for_a_hung_one_is_not_taken_for_it)
{
	const uint32_t many = 256, one = 1;
	struct salvo_fence *victim, *endless;
	struct salvo_kernel *kernel;
	struct salvo_bo *big;
	int i;

	ASSERT_EQ(salvo_bo_create(self->device, 32 << 20, 0, &big), 0);
	for (i = 0; i < 20; i++) {
		ASSERT_GE(salvo_batch_fill(self->batch, big, 0, 32 << 20, i), 0);
		ASSERT_GE(salvo_batch_barrier(self->batch), 0);
	}
	ASSERT_GE(salvo_batch_fill(self->batch, self->later, 0, 4096, 9), 0);
	ASSERT_EQ(salvo_queue_submit(self->other, self->batch, NULL, 0, &victim), 0);

	salvo_batch_reset(self->batch);
	ASSERT_EQ(salvo_kernel_create(self->program, "endless", &kernel), 0);
	ASSERT_EQ(salvo_kernel_set_bo(kernel, 0, self->bo, 0), 0);
	ASSERT_EQ(salvo_kernel_set_grid(kernel, 1, &many, &one), 0);
	ASSERT_GE(salvo_batch_dispatch(self->batch, kernel), 0);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, NULL, 0, &endless), 0);

	EXPECT_EQ(salvo_fence_wait(victim, SECONDS(60)), 0);
	EXPECT_EQ(salvo_fence_wait(endless, SECONDS(30)), -ECANCELED);
	EXPECT_EQ(fill_and_wait(self, self->other, self->bo, 5), 0);
	salvo_fence_destroy(victim);
	salvo_fence_destroy(endless);
	salvo_kernel_destroy(kernel);
	salvo_bo_destroy(big);
}

static bool find_dump(glob_t *found)
{
	int i;

	for (i = 0; i < 100; i++) {
		if (!glob("/sys/class/devcoredump/devcd*/data", 0, NULL, found))
			return true;
		usleep(20000);
	}
	return false;
}

/* Writing anything to a dump frees it. */
static void drop_dumps(void)
{
	glob_t found;
	size_t i;

	if (glob("/sys/class/devcoredump/devcd*/data", 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		write_number(found.gl_pathv[i], 0);
	globfree(&found);
}

static char *read_dump(void)
{
	size_t bytes = 0, room = 8 << 20;
	char *text = calloc(1, room);
	glob_t found;
	FILE *file;

	if (!text || !find_dump(&found))
		return text;
	file = fopen(found.gl_pathv[0], "r");
	if (file) {
		bytes = fread(text, 1, room - 1, file);
		fclose(file);
	}
	text[bytes] = 0;
	globfree(&found);
	return text;
}

TEST_F(hang, dump_tells_ring_packet_context_and_units)
{
	static const char *const lines[] = {
		"salvo devcoredump 1\n", "reason: a batch hung\n", "process: hang[", "context: ",
		"batch: ring 0 fence ", "result: pending", "units: ", "busy fence ",
		"ring 0: submitted ", "ring 1: submitted ",
		"packet: kind batch fence ", "commands 3\n", "  setup state space ",
		"  0: fill ", "  1: dispatch entry 0x", " items 1,1,1 group 1,1,1 dims 1 args ",
		"  2: timestamp 0x", "  close fence ", "fault: ",
	};
	const uint32_t one = 1;
	struct salvo_fence *fence;
	struct salvo_kernel *kernel;
	char *text;
	size_t i;

	if (access("/sys/class/devcoredump", F_OK))
		SKIP(return, "the kernel has no devcoredump");
	drop_dumps();
	ASSERT_EQ(salvo_kernel_create(self->program, "endless", &kernel), 0);
	ASSERT_EQ(salvo_kernel_set_bo(kernel, 0, self->bo, 0), 0);
	ASSERT_EQ(salvo_kernel_set_grid(kernel, 1, &one, &one), 0);
	ASSERT_EQ(salvo_batch_fill(self->batch, self->later, 0, 64, 1), 0);
	ASSERT_EQ(salvo_batch_dispatch(self->batch, kernel), 1);
	ASSERT_EQ(salvo_batch_timestamp(self->batch, self->later, 128), 2);
	ASSERT_EQ(salvo_queue_submit(self->queue, self->batch, NULL, 0, &fence), 0);
	EXPECT_EQ(salvo_fence_wait(fence, SECONDS(30)), -ECANCELED);
	text = read_dump();
	ASSERT_NE(text, NULL);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		EXPECT_NE(strstr(text, lines[i]), NULL)
			TH_LOG("no \"%s\" in:\n%s", lines[i], text);
	}
	free(text);
	drop_dumps();
	salvo_fence_destroy(fence);
	salvo_kernel_destroy(kernel);
}

static bool force_reset(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%s/salvo_reset",
		 strstr(node_path(), "renderD") + 7);
	return write_number(path, 1);
}

/*
 * A reset, as after a failed kill: batches on the ring are lost, but no context is banned,
 * and all address spaces are restored.
 */
TEST_F(hang, reset_takes_what_is_on_the_ring)
{
	long long resets = device_counter("resets"), kills = device_counter("kills");
	struct salvo_fence *endless;
	struct drm_salvo_ctx_query query;
	struct drm_salvo_command command;
	int fd = node_open(), err, i;
	uint32_t ctx;
	struct bo bo;

	ASSERT_EQ(ctx_create(fd, &ctx), 0);
	ASSERT_EQ(bo_create(fd, 4096, 0, &bo), 0);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(submit_kernel(self, "endless", &endless), 0);
		usleep(100000);
		ASSERT_TRUE(force_reset());
		EXPECT_EQ(salvo_fence_wait(endless, SECONDS(10)), -ECANCELED);
		salvo_fence_destroy(endless);
	}
	EXPECT_EQ(device_counter("resets"), resets + 3);
	EXPECT_EQ(device_counter("kills"), kills);
	EXPECT_EQ(fill_and_wait(self, self->queue, self->later, 3), 0);
	EXPECT_EQ(fill_and_wait(self, self->other, self->bo, 5), 0);
	EXPECT_EQ(self->words[1023], 5);
	/* With an empty ring nothing is lost. */
	ASSERT_TRUE(force_reset());
	command = fill(bo.address, 4096, 1);
	err = run(fd, ctx, &command, 1);
	EXPECT_EQ(err, 0);
	ASSERT_EQ(ctx_query(fd, ctx, &query), 0);
	EXPECT_EQ(query.innocent, 0);
	EXPECT_EQ(query.guilty, 0);
	close(fd);
}

/* The interrupt whose thread completes batches: the kernel names the thread after it. */
static int completion_irq(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int found = -1;

	while (proc && found < 0 && (entry = readdir(proc))) {
		char path[300], name[64] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && strstr(name, "salvo-fen"))
			sscanf(name, "irq/%d-", &found);
		fclose(file);
	}
	if (proc)
		closedir(proc);
	return found;
}

/* Where an interrupt is handled, and its thread runs. */
static bool irq_set_cpus(int irq, const char *cpus)
{
	char path[64];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", irq);
	file = fopen(path, "w");
	if (!file)
		return false;
	ok = fputs(cpus, file) >= 0;
	return !fclose(file) && ok;
}

/* Occupy a CPU with real-time priority, until killed. */
static pid_t seize_cpu(int cpu)
{
	const struct sched_param highest = { .sched_priority = 99 };
	int ready[2];
	cpu_set_t set;
	pid_t child;
	char byte;

	if (pipe(ready))
		return -1;
	child = fork();
	if (!child) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) ||
		    sched_setscheduler(0, SCHED_FIFO, &highest) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			;
	}
	close(ready[1]);
	if (child > 0 && read(ready[0], &byte, 1) != 1) {
		waitpid(child, NULL, 0);
		child = -1;
	}
	close(ready[0]);
	return child;
}

/*
 * A batch is done, but its completion is delayed beyond the timeout: the batch succeeds,
 * and other batches on the ring continue.
 */
TEST_F(hang, late_completion_ends_no_other_batch)
{
	static const char rt_runtime[] = "/proc/sys/kernel/sched_rt_runtime_us";
	long timeout_ms = read_number("/sys/module/salvo/parameters/timeout_ms");
	long runtime = read_number(rt_runtime);
	long long kills = device_counter("kills");
	struct salvo_fence *late, *endless;
	int irq = completion_irq();
	pid_t hog;
	cpu_set_t all, set;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one processor only");
	ASSERT_GT(timeout_ms, 0);
	ASSERT_GT(irq, 0);
	ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	ASSERT_TRUE(irq_set_cpus(irq, "1"));
	ASSERT_TRUE(write_number(rt_runtime, -1));
	hog = seize_cpu(1);
	ASSERT_GT(hog, 0);

	salvo_batch_reset(self->batch);
	EXPECT_GE(salvo_batch_fill(self->batch, self->later, 0, 4096, 1), 0);
	EXPECT_EQ(salvo_queue_submit(self->other, self->batch, NULL, 0, &late), 0);
	EXPECT_EQ(submit_kernel(self, "endless", &endless), 0);
	usleep((timeout_ms + 500) * 1000);
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	EXPECT_TRUE(write_number(rt_runtime, runtime));
	EXPECT_TRUE(irq_set_cpus(irq, "0-1"));
	EXPECT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);

	EXPECT_EQ(salvo_fence_wait(late, SECONDS(30)), 0);
	EXPECT_EQ(salvo_fence_wait(endless, SECONDS(30)), -ECANCELED);
	EXPECT_EQ(device_counter("kills"), kills + 1);
	salvo_fence_destroy(endless);
	salvo_fence_destroy(late);
}

/* Does a line of the kernel's log contain all of these words? */
static bool log_has(const char *const *words, size_t count)
{
	char record[2048];
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool found = false;
	ssize_t got;
	size_t i;

	while (fd >= 0 && !found && ((got = read(fd, record, sizeof(record) - 1)) > 0 ||
				     errno == EPIPE)) {
		record[got > 0 ? got : 0] = 0;
		for (i = 0; i < count && strstr(record, words[i]); i++)
			;
		found = i == count;
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* A pointer in the arguments, which the driver does not validate, to another file's buffer. */
TEST_F(hang, fault_costs_its_context_alone)
{
	/* mov (%rdi),%rax; movl $1,(%rax); ret: writes where its argument points. */
	static const unsigned char code[] = {
		0x48, 0x8b, 0x07, 0xc7, 0x00, 0x01, 0x00, 0x00, 0x00, 0xc3,
	};
	long long resets = device_counter("resets"), faults = device_counter("faults");
	char where[32];
	const char *const words[] = {
		"salvo", " of hang[", "page fault: write at ", where, "command 0 ", "work-group 0 ",
		"work-item ", "banned",
	};
	struct drm_salvo_sync signal = { 0 };
	struct drm_salvo_ctx_query query;
	struct drm_salvo_command command;
	struct batch batch = {
		.commands = &command, .count = 1, .signals = &signal, .signal_count = 1,
	};
	int fd = node_open();
	uint64_t address;
	struct bo exec, bo;
	uint32_t other;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(ctx_create(fd, &batch.ctx), 0);
	ASSERT_EQ(ctx_create(fd, &other), 0);
	ASSERT_EQ(bo_create(fd, 4096, DRM_SALVO_BO_EXEC, &exec), 0);
	ASSERT_EQ(bo_create(fd, 4096, 0, &bo), 0);
	ASSERT_EQ(bo_map(fd, &exec), 0);
	ASSERT_EQ(bo_map(fd, &bo), 0);
	memcpy(exec.map, code, sizeof(code));
	signal.handle = syncobj_create(fd);
	command = (struct drm_salvo_command){
		.type = DRM_SALVO_DISPATCH, .entry = exec.address, .args_size = 8, .dims = 1,
		.items = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	batch.args = &address;
	batch.args_size = 8;

	address = bo.address;
	ASSERT_EQ(submit(fd, &batch), 0);
	ASSERT_EQ(syncobj_wait(fd, signal.handle, 20), 0);
	EXPECT_EQ(syncobj_error(fd, signal.handle), 0);
	EXPECT_EQ(*(uint32_t *)bo.map, 1);

	address = bo.address + (128 << 20);
	ASSERT_EQ(submit(fd, &batch), 0);
	ASSERT_EQ(syncobj_wait(fd, signal.handle, 20), 0);
	EXPECT_EQ(syncobj_error(fd, signal.handle), -ECANCELED);
	EXPECT_EQ(submit(fd, &batch), -EIO);
	ASSERT_EQ(ctx_query(fd, batch.ctx, &query), 0);
	EXPECT_EQ(query.state, DRM_SALVO_CTX_BANNED);
	EXPECT_EQ(query.submitted, 2);
	EXPECT_EQ(query.completed, 2);
	EXPECT_EQ(query.failed, 1);
	EXPECT_TRUE(wait_value("faults", faults + 1));
	snprintf(where, sizeof(where), "%#llx,", (unsigned long long)address);
	EXPECT_TRUE(log_has(words, sizeof(words) / sizeof(words[0])));
	EXPECT_EQ(device_counter("resets"), resets);
	command = fill(bo.address, 4096, 3);
	EXPECT_EQ(run(fd, other, &command, 1), 0);
	bo_close(fd, &exec);
	bo_close(fd, &bo);
	close(fd);
}

TEST_HARNESS_MAIN
