// SPDX-License-Identifier: MIT
/*
 * crowd.c - many processes at once
 */
#include "kselftest_harness.h"

#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "rendernode.h"

#define CROWD		64
#define EACH		12

FIXTURE(crowd) {
	int start[2];
};

FIXTURE_SETUP(crowd)
{
	ASSERT_EQ(pipe(self->start), 0);
}

FIXTURE_TEARDOWN(crowd)
{
	close(self->start[0]);
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", 0));
}

/* Blocks until the parent closes the other end, so that all start together. */
static void wait_for_start(int start)
{
	char byte;

	while (read(start, &byte, 1) > 0)
		;
}

static int submit_and_check(int start, uint32_t seed)
{
	struct drm_salvo_command commands[3];
	int fd = node_open(), i, err;
	uint32_t ctx, at;
	struct bo bo;

	if (fd < 0 || ctx_create(fd, &ctx) || bo_create(fd, 2 * 65536, 0, &bo) || bo_map(fd, &bo))
		return 1;
	wait_for_start(start);
	for (i = 0; i < EACH; i++) {
		const uint32_t value = seed * EACH + i;
		const uint32_t *words = bo.map;

		commands[0] = fill(bo.address, 65536, value);
		commands[1] = pipe_control_all();
		commands[2] = copy(bo.address + 65536, bo.address, 65536);
		err = run(fd, ctx, commands, 3);
		if (err)
			return 2;
		for (at = 0; at < 2 * 65536 / 4; at += 1021)
			if (words[at] != value)
				return 3;
	}
	close(fd);
	return 0;
}

TEST_F_TIMEOUT(crowd, sixty_four_processes_at_once, 200)
{
	pid_t children[CROWD];
	int i, status;

	for (i = 0; i < CROWD; i++) {
		children[i] = fork();
		ASSERT_GE(children[i], 0);
		if (!children[i]) {
			close(self->start[1]);
			_exit(submit_and_check(self->start[0], i));
		}
	}
	close(self->start[1]);
	for (i = 0; i < CROWD; i++) {
		ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
		EXPECT_EQ(status, 0) TH_LOG("process %d: status %#x", i, status);
	}
}

TEST_HARNESS_MAIN
