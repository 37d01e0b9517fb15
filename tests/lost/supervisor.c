// SPDX-License-Identifier: MIT
/*
 * supervisor.c - the GPU dies for good: no worker is started again
 *
 * A program of its own, whose name puts it behind the others: there is no GPU afterwards.
 * Harnesses of newer kernels run the tests of a program in another order.
 */
#include "kselftest_harness.h"

#include <unistd.h>

#include "binding.h"
#include "host.h"
#include "rendernode.h"

TEST(supervisor_dies)
{
	int fd = node_open(), i;
	uint32_t ctx, syncobj;
	struct bo exec, bo;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(ctx_create(fd, &ctx), 0);
	ASSERT_EQ(bo_create(fd, 4096, DRM_SALVO_BO_EXEC, &exec), 0);
	ASSERT_EQ(bo_map(fd, &exec), 0);
	syncobj = syncobj_create(fd);
	ASSERT_EQ(submit_endless(fd, ctx, &exec, syncobj), 0);
	ask_host("kill all");
	ASSERT_EQ(syncobj_wait(fd, syncobj, 30), 0);
	EXPECT_EQ(syncobj_error(fd, syncobj), -ENODEV);
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
