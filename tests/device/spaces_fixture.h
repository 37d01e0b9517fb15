/* SPDX-License-Identifier: MIT */
/*
 * spaces_fixture.h - a GPU with two address spaces that are processes, for tests
 *
 * RIG_ASID is the hostile one. OTHER has its own memory and runs good(), whose result must stay
 * right whatever the first one does.
 *
 * Included once by a test program; brings the harness.
 */
#ifndef SPACES_FIXTURE_H
#define SPACES_FIXTURE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "rig.h"
#include "sanitizer.h"

#define OTHER		(RIG_ASID + 1)
#define PAGE		4096u
/* Memory of the other address space: the end of VRAM */
#define OTHER_BYTES	(1u << 20)
#define OTHER_AT	(RIG_DATA_BYTES - OTHER_BYTES)

FIXTURE(spaces)
{
	struct rig *rig;
};

static inline uint32_t unbind(struct rig *rig, uint64_t address, uint64_t size)
{
	return rig_space(rig, RIG_ASID, SALVO_OP_UNBIND, address, size, 0);
}

/* Two address spaces that share the code and nothing else. */
FIXTURE_SETUP(spaces)
{
	const uint32_t rw = SALVO_ACCESS_READ | SALVO_ACCESS_WRITE;
	struct rig *rig;

	NEED_SANDBOX();
	rig = rig_create_isolated(0);
	self->rig = rig;
	ASSERT_EQ(SALVO_STATUS_DONE, unbind(rig, rig->data_address, RIG_DATA_BYTES));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->data_address,
					       OTHER_AT, rw));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, OTHER, SALVO_OP_BIND, rig->code_address,
					       RIG_CODE_BYTES, SALVO_ACCESS_READ |
					       SALVO_ACCESS_EXEC));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, OTHER, SALVO_OP_BIND,
					       rig->data_address + OTHER_AT, OTHER_BYTES, rw));
}

FIXTURE_TEARDOWN(spaces)
{
	rig_destroy(self->rig);
}

static inline uint64_t submit_to(struct rig *rig, uint32_t asid,
				 const struct drm_salvo_command *command,
				 const void *args, uint32_t args_size)
{
	const struct salvo_batch_desc batch = {
		.commands = command, .count = 1, .args = args, .args_size = args_size,
	};

	return rig_submit_to(rig, asid, asid, &batch);
}

static inline uint32_t run_in(struct rig *rig, uint32_t asid,
			      const struct drm_salvo_command *command,
			      const void *args, uint32_t args_size)
{
	const uint64_t seqno = submit_to(rig, asid, command, args, args_size);

	return rig_wait(rig, seqno) ? rig_result(rig, seqno)->status : ~0u;
}

struct good_args {
	uint64_t *out;
	uint64_t value;
};

RIG_KERNEL static void good(RIG_KERNEL_ARGS)
{
	const struct good_args *a = args;

	a->out[group->group_id[0]] = a->value + group->group_id[0];
}

static inline uint64_t submit_good(struct rig *rig, uint64_t value)
{
	const struct good_args args = { (void *)(uintptr_t)(rig->data_address + OTHER_AT), value };
	const struct drm_salvo_command command = rig_dispatch(rig, good, 64, 1, 0, sizeof(args));

	return submit_to(rig, OTHER, &command, &args, sizeof(args));
}

/* The other address space computed the right result. */
static inline void expect_good(struct __test_metadata *_metadata, struct rig *rig, uint64_t seqno,
			uint64_t value)
{
	const uint64_t *out = (const uint64_t *)(rig->data + OTHER_AT);
	unsigned int i;

	ASSERT_TRUE(rig_wait(rig, seqno));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_result(rig, seqno)->status);
	for (i = 0; i < 64; i++)
		ASSERT_EQ(value + i, out[i]);
}

static inline void expect_others_right(struct __test_metadata *_metadata, struct rig *rig,
				       uint64_t value)
{
	expect_good(_metadata, rig, submit_good(rig, value), value);
}

/* Processes whose parent is the zygote, and descriptors of this process */
static inline unsigned int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* Calls @call for each process of that name in the process group of this test. */
static inline unsigned int for_processes(const char *wanted,
					 void (*call)(void *cookie, const char *pid), void *cookie)
{
	DIR *dir = opendir("/proc");
	unsigned int count = 0;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[300], name[32] = "";
		pid_t group;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%*d (%31[^)]) %*c %*d %d", name, &group) == 2 &&
		    !strcmp(name, wanted) && group == getpgrp()) {
			count++;
			if (call)
				call(cookie, entry->d_name);
		}
		fclose(file);
	}
	closedir(dir);
	return count;
}

static inline unsigned int count_spaces(void)
{
	return for_processes("salvo-space", NULL, NULL);
}

static inline long kilobytes(const char *pid)
{
	long pages = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/statm", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d %ld", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (PAGE / 1024);
}

/* A batch with a hostile kernel ends with any status, or is killed as the driver does it. */
static inline void end_somehow(struct __test_metadata *_metadata, struct rig *rig, uint64_t seqno)
{
	unsigned int i;

	for (i = 0; i < 1000 && rig_fence(rig, 0) < seqno; i++)
		usleep(200);
	if (rig_fence(rig, 0) >= seqno)
		return;
	rig->regs->kill_ctx = RIG_ASID;
	rig->regs->kill_request++;
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_KILL);
	for (i = 0; i < 1000 && rig->regs->kill_ack != rig->regs->kill_request; i++) {
		usleep(10000);
		salvo_gpu_heartbeat(rig->gpu);
	}
	ASSERT_EQ(rig->regs->kill_request, rig->regs->kill_ack);
	ASSERT_TRUE(rig_wait(rig, seqno));
}

#endif /* SPACES_FIXTURE_H */
