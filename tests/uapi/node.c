// SPDX-License-Identifier: MIT
/*
 * node.c - unsupported: a primary node, DRM master, unknown ioctls
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "rendernode.h"

FIXTURE(node) {
	int fd;
};

FIXTURE_SETUP(node)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(node)
{
	close(self->fd);
}

TEST_F(node, driver_is_called_salvo)
{
	drmVersionPtr version = drmGetVersion(self->fd);

	ASSERT_NE(version, NULL);
	EXPECT_STREQ(version->name, "salvo");
	drmFreeVersion(version);
}

/* DRM creates it for every driver. */
TEST_F(node, primary_node_cannot_be_opened)
{
	char pattern[96], path[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/sys/class/drm/%s/device/drm/card*",
		 strrchr(node_path(), '/') + 1);
	ASSERT_EQ(glob(pattern, 0, NULL, &found), 0);
	snprintf(path, sizeof(path), "/dev/dri%s", strrchr(found.gl_pathv[0], '/'));
	globfree(&found);
	ASSERT_EQ(access(path, F_OK), 0);
	EXPECT_EQ(open(path, O_RDWR | O_CLOEXEC), -1);
	EXPECT_EQ(errno, EACCES);
}

TEST_F(node, there_is_no_master_and_no_name_for_all)
{
	struct drm_gem_flink flink = { 0 };
	struct drm_gem_open named = { .name = 1 };
	drm_magic_t magic;
	struct bo bo;

	EXPECT_NE(drmSetMaster(self->fd), 0);
	EXPECT_EQ(errno, EACCES);
	EXPECT_NE(drmGetMagic(self->fd, &magic), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &bo), 0);
	flink.handle = bo.handle;
	EXPECT_EQ(call(self->fd, DRM_IOCTL_GEM_FLINK, &flink), -EACCES);
	EXPECT_EQ(call(self->fd, DRM_IOCTL_GEM_OPEN, &named), -EACCES);
}

/* All driver-specific ioctl numbers that are not defined. */
TEST_F(node, other_ioctls_are_refused)
{
	unsigned int nr;
	char args[64] = { 0 };

	for (nr = DRM_SALVO_SLOT_WAIT + 1; nr < DRM_COMMAND_END - DRM_COMMAND_BASE; nr++)
		EXPECT_EQ(call(self->fd, DRM_IOWR(DRM_COMMAND_BASE + nr, args), args), -EINVAL);
}

TEST_HARNESS_MAIN
