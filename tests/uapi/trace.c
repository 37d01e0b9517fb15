// SPDX-License-Identifier: MIT
/*
 * trace.c - the driver's tracepoints, read from tracefs: Documentation/tracing.md
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rendernode.h"
#include "slot_client.h"
#include "system.h"

#define TRACEFS		"/sys/kernel/tracing"
#define INSTANCE	TRACEFS "/instances/salvo-test"
#define BATCHES		3

FIXTURE(trace) {
	int fd;
	uint32_t ctx;
	struct bo bo;
};

FIXTURE_SETUP(trace)
{
	if (access(TRACEFS "/instances", F_OK) && mount("tracefs", TRACEFS, "tracefs", 0, NULL))
		SKIP_TEST("no tracefs");
	ASSERT_EQ(mkdir(INSTANCE, 0755), 0);
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &self->bo), 0);
}

FIXTURE_TEARDOWN(trace)
{
	close(self->fd);
	rmdir(INSTANCE);
}

/*
 * The value of a field of event NAME, of our context or of none; else -1. Lines of
 * the trace are "task-pid [cpu] flags time: name: fields".
 */
static long long field(const char *line, const char *name, const char *key)
{
	char event[64], pattern[64];
	const char *at;

	snprintf(event, sizeof(event), ": %s: ", name);
	snprintf(pattern, sizeof(pattern), " %s=", key);
	at = strstr(line, event);
	at = at ? strstr(at + 1, pattern) : NULL;
	return at ? atoll(at + strlen(pattern)) : -1;
}

/* A batch passes all five tracepoints in this order, and each identifies it. */
TEST_F(trace, batch_is_seen_from_submit_to_completion)
{
	static const char *const names[] = {
		"salvo_submit", "salvo_run", "salvo_doorbell", "salvo_interrupt",
		"salvo_complete",
	};
	const struct drm_salvo_command commands[] = {
		fill(self->bo.address, 64, 1), pipe_control_all(), fill(self->bo.address, 64, 2),
	};
	unsigned int stage = 0, batches = 0;
	long long fence = -1, batch = -1;
	char line[512];
	FILE *file;
	int i;

	ASSERT_EQ(write_file(INSTANCE "/events/salvo/enable", "1"), 0);
	for (i = 0; i < BATCHES; i++)
		ASSERT_EQ(run(self->fd, self->ctx, commands, 3), 0);
	ASSERT_EQ(write_file(INSTANCE "/events/salvo/enable", "0"), 0);

	file = fopen(INSTANCE "/trace", "re");
	ASSERT_NE(file, NULL);
	while (fgets(line, sizeof(line), file)) {
		/* Address space packets ring doorbells as well. */
		if (stage > 4 || field(line, names[stage], stage == 0 ? "ctx" : "fence") < 0)
			continue;
		if (stage == 0) {
			batch = field(line, names[0], "batch");
			EXPECT_EQ(batch, batches + 1);
			EXPECT_EQ(field(line, names[0], "commands"), 3);
			EXPECT_GT(field(line, names[0], "bytes"), 0);
		} else if (stage == 1) {
			fence = field(line, names[1], "fence");
			EXPECT_EQ(field(line, names[1], "batch"), batch);
		} else if (field(line, names[stage], "fence") < fence) {
			continue;
		}
		if (stage == 3) {
			EXPECT_EQ(field(line, names[3], "batches"), 1);
		} else if (stage == 4) {
			EXPECT_EQ(field(line, names[4], "batch"), batch);
			EXPECT_EQ(field(line, names[4], "fence"), fence);
			EXPECT_EQ(field(line, names[4], "error"), 0);
			batches++;
		}
		stage = (stage + 1) % 5;
	}
	fclose(file);
	EXPECT_EQ(batches, BATCHES);
}

/* Tasks run meanwhile, of which the driver sees only that a unit had to be woken. */
TEST_F(trace, slot_is_seen_from_attach_to_detach)
{
	static const char *const names[] = {
		"salvo_slot_attach", "salvo_slot_wake", "salvo_slot_detach",
	};
	struct drm_salvo_device_info info;
	unsigned int found[3] = { 0 }, i;
	long long ctx = -1, slot = -1;
	struct client client;
	char line[512];
	FILE *file;

	ASSERT_EQ(device_info(self->fd, &info), 0);
	if (!info.max_slots)
		SKIP_TEST("the GPU has no slots");
	ASSERT_EQ(client_open(&client), 0);
	ASSERT_EQ(write_file(INSTANCE "/events/salvo/enable", "1"), 0);
	ASSERT_EQ(attach(&client), 0);
	for (i = 0; i < 3; i++) {
		usleep(20000);
		ASSERT_EQ(run_task(&client, add_word, 0, 3), SALVO_SLOT_DONE);
	}
	EXPECT_EQ(wake(&client), 0);
	client_close(&client);
	EXPECT_TRUE(wait_value("slots", 0));
	ASSERT_EQ(write_file(INSTANCE "/events/salvo/enable", "0"), 0);

	file = fopen(INSTANCE "/trace", "re");
	ASSERT_NE(file, NULL);
	while (fgets(line, sizeof(line), file)) {
		for (i = 0; i < 3 && field(line, names[i], "ctx") < 0; i++)
			;
		if (i == 3)
			continue;
		if (!i) {
			ctx = field(line, names[0], "ctx");
			slot = field(line, names[0], "slot");
			EXPECT_NE(strstr(line, " units=0x1\n"), NULL);
		}
		EXPECT_EQ(field(line, names[i], "ctx"), ctx);
		EXPECT_EQ(field(line, names[i], "slot"), slot);
		/* No wake before the attach or after the detach. */
		EXPECT_EQ(found[2], 0);
		EXPECT_EQ(found[0], !!i);
		found[i]++;
	}
	fclose(file);
	EXPECT_EQ(found[0], 1);
	EXPECT_LE(1, found[1]);
	EXPECT_EQ(found[2], 1);
}

TEST_HARNESS_MAIN
