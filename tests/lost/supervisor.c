// SPDX-License-Identifier: MIT
/*
 * supervisor.c - the GPU dies for good: no worker is started again
 *
 * A program of its own, whose name puts it behind the others: there is no GPU afterwards.
 * Harnesses of newer kernels run the tests of a program in another order.
 */
#include "kselftest_harness.h"

#include <string.h>
#include <unistd.h>

#include "binding.h"
#include "host.h"
#include "rendernode.h"

TEST(supervisor_dies)
{
	struct drm_salvo_command command = {
		.type = DRM_SALVO_DISPATCH, .dims = 1, .items = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	struct drm_salvo_sync signal;
	struct batch batch = {
		.commands = &command, .count = 1, .signals = &signal, .signal_count = 1,
	};
	int fd = node_open(), i;
	struct bo exec, bo;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(ctx_create(fd, &batch.ctx), 0);
	ASSERT_EQ(bo_create(fd, 4096, DRM_SALVO_BO_EXEC, &exec), 0);
	ASSERT_EQ(bo_map(fd, &exec), 0);
	/* jmp to itself */
	memcpy(exec.map, "\xeb\xfe", 2);
	command.entry = exec.address;
	signal = (struct drm_salvo_sync){ .handle = syncobj_create(fd) };
	ASSERT_EQ(submit(fd, &batch), 0);
	ask_host("kill all");
	ASSERT_EQ(syncobj_wait(fd, signal.handle, 30), 0);
	EXPECT_EQ(syncobj_error(fd, signal.handle), -ENODEV);
	for (i = 0; i < 600 && node_path(); i++)
		usleep(50000);
	EXPECT_EQ(node_path(), NULL);
	EXPECT_EQ(bo_create(fd, 4096, 0, &bo), -ENODEV);
	*(volatile int *)exec.map = 1;
	EXPECT_EQ(driver_rebind(), -ENODEV);
	EXPECT_EQ(node_path(), NULL);
	*(volatile int *)exec.map = 2;
	close(fd);
}

TEST_HARNESS_MAIN
