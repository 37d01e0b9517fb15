// SPDX-License-Identifier: MIT
/*
 * memcg.c - packets are charged to the memory cgroup of the process that submits them
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include "dmabuf.h"
#include "rendernode.h"
#include "system.h"

#define TREE	"/tmp/cgroup2"
#define GROUP	TREE "/salvo"
#define MIB	(1u << 20)

/* Below a power of two of pages with the packet's head, and just above one with it. */
#define ARGS	MIB

FIXTURE(memcg) {
	int fd, vgem;
	uint32_t ctx, fence;
	struct bo bo;
	struct vgem_bo frame;
	struct drm_salvo_sync held;
	void *args;
};

FIXTURE_SETUP(memcg)
{
	mkdir(TREE, 0755);
	if (mount("none", TREE, "cgroup2", 0, NULL) && errno != EBUSY)
		SKIP_TEST("there is no cgroup2");
	if (write_file(TREE "/cgroup.subtree_control", "+memory"))
		SKIP_TEST("there is no memory controller");
	mkdir(GROUP, 0755);
	self->vgem = vgem_open();
	if (self->vgem < 0)
		SKIP_TEST("there is no vgem");
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &self->bo), 0);
	self->args = calloc(1, ARGS);
	ASSERT_NE(self->args, NULL);
	/* A fence that keeps all batches waiting. */
	ASSERT_EQ(vgem_create(self->vgem, 4096, DRM_CLOEXEC | DRM_RDWR, &self->frame), 0);
	self->held.handle = syncobj_create(self->fd);
	ASSERT_EQ(vgem_fence_syncobj(self->vgem, &self->frame, &self->fence, self->fd,
				     self->held.handle), 0);
}

FIXTURE_TEARDOWN(memcg)
{
	vgem_fence_signal(self->vgem, self->fence);
	vgem_destroy(self->vgem, &self->frame);
	close(self->fd);
	close(self->vgem);
	free(self->args);
	write_file(TREE "/cgroup.procs", "0");
	rmdir(GROUP);
}

static int submit_waiting(FIXTURE_DATA(memcg) *self)
{
	const struct drm_salvo_command command = fill(self->bo.address, 64, 1);
	const struct batch batch = {
		.ctx = self->ctx, .commands = &command, .count = 1,
		.waits = &self->held, .wait_count = 1, .args = self->args, .args_size = ARGS,
	};

	return submit(self->fd, &batch);
}

static long current_bytes(void)
{
	return read_number(GROUP "/memory.current");
}

TEST_F(memcg, packets_are_charged_to_the_page)
{
	enum { BATCHES = 24 };
	/* The kernel charges each CPU for up to 64 pages ahead. */
	const long long ahead = sysconf(_SC_NPROCESSORS_ONLN) * 64 * 4096;
	long long before, bytes;
	int i;

	ASSERT_EQ(write_file(GROUP "/cgroup.procs", "0"), 0);
	before = current_bytes();
	ASSERT_GE(before, 0);
	for (i = 0; i < BATCHES; i++)
		ASSERT_EQ(submit_waiting(self), 0);
	bytes = (current_bytes() - before) / BATCHES;
	EXPECT_GE(bytes, ARGS - ahead / BATCHES);
	/* Not the next power of two, which is twice as much. */
	EXPECT_LT(bytes, ARGS + ARGS / 2);
}

TEST_F(memcg, a_process_cannot_exceed_its_limit_by_packets)
{
	const unsigned int limit = 24 * MIB;
	int err = 0, batches;
	char text[16];

	snprintf(text, sizeof(text), "%u", limit);
	ASSERT_EQ(write_file(GROUP "/memory.max", text), 0);
	ASSERT_EQ(write_file(GROUP "/cgroup.procs", "0"), 0);
	/* Well below the limit of the packets of one file. */
	for (batches = 0; batches < 48 && !err; batches++)
		err = submit_waiting(self);
	EXPECT_EQ(err, -ENOMEM);
	EXPECT_LE(batches, limit / MIB);
	EXPECT_LE(current_bytes(), limit);
	write_file(GROUP "/memory.max", "max");
}

TEST_HARNESS_MAIN
