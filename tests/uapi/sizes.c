// SPDX-License-Identifier: MIT
/*
 * sizes.c - every ioctl with a structure shorter and longer than the driver's
 *
 * The unknown tail of a longer one must be zero; the missing tail of a shorter one is zero.
 */
#include "kselftest_harness.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "rendernode.h"

#define ROOM	4096u

FIXTURE(sizes) {
	int fd;
	uint32_t ctx;
	uint32_t slot;
	struct bo bo;
	struct drm_salvo_command command;
	/* The argument can end at the end of mapped memory. */
	unsigned char *room;
};

FIXTURE_SETUP(sizes)
{
	struct drm_salvo_slot_attach attach;

	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 5 * 4096, 0, &self->bo), 0);
	attach = (struct drm_salvo_slot_attach){
		.ctx_id = self->ctx, .handle = self->bo.handle, .units = 1,
	};
	ASSERT_EQ(call(self->fd, DRM_IOCTL_SALVO_SLOT_ATTACH, &attach), 0);
	self->slot = attach.id;
	self->command = fill(self->bo.address, 64, 1);
	self->room = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	ASSERT_NE(self->room, MAP_FAILED);
	ASSERT_EQ(munmap(self->room + ROOM, ROOM), 0);
}

FIXTURE_TEARDOWN(sizes)
{
	munmap(self->room, ROOM);
	close(self->fd);
}

FIXTURE_VARIANT(sizes) {
	unsigned long request;
};

#define VARIANT(name) \
	FIXTURE_VARIANT_ADD(sizes, name) { .request = DRM_IOCTL_SALVO_ ## name }

VARIANT(DEV_QUERY);
VARIANT(BO_CREATE);
VARIANT(BO_MMAP_OFFSET);
VARIANT(BO_QUERY);
VARIANT(BO_SET_LABEL);
VARIANT(CTX_CREATE);
VARIANT(CTX_DESTROY);
VARIANT(CTX_QUERY);
VARIANT(SUBMIT);
VARIANT(SLOT_ATTACH);
VARIANT(SLOT_DETACH);
VARIANT(SLOT_WAKE);
VARIANT(SLOT_WAIT);

/* Arguments with which the ioctl succeeds. */
static void make_valid(struct _test_data_sizes *self, unsigned long request, void *args)
{
	memset(args, 0, _IOC_SIZE(request));
	switch (_IOC_NR(request) - DRM_COMMAND_BASE) {
	case DRM_SALVO_BO_CREATE:
		((struct drm_salvo_bo_create *)args)->size = 4096;
		break;
	case DRM_SALVO_BO_MMAP_OFFSET:
	case DRM_SALVO_BO_QUERY:
	case DRM_SALVO_BO_SET_LABEL:
		/* All begin with it. */
		*(uint32_t *)args = self->bo.handle;
		break;
	case DRM_SALVO_CTX_DESTROY:
	case DRM_SALVO_CTX_QUERY:
		*(uint32_t *)args = self->ctx;
		break;
	case DRM_SALVO_SLOT_ATTACH:
		*(struct drm_salvo_slot_attach *)args = (struct drm_salvo_slot_attach){
			.ctx_id = self->ctx, .handle = self->bo.handle, .units = 1,
		};
		break;
	case DRM_SALVO_SLOT_DETACH:
	case DRM_SALVO_SLOT_WAKE:
	case DRM_SALVO_SLOT_WAIT:
		*(uint32_t *)args = self->slot;
		break;
	case DRM_SALVO_SUBMIT:
		*(struct drm_salvo_submit *)args = (struct drm_salvo_submit){
			.ctx_id = self->ctx,
			.commands = { sizeof(self->command), 1, (uintptr_t)&self->command },
		};
		break;
	}
}

static unsigned long resized(unsigned long request, size_t size)
{
	return _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request), size);
}

TEST_F(sizes, longer_with_zeros_is_taken)
{
	const size_t known = _IOC_SIZE(variant->request);

	make_valid(self, variant->request, self->room);
	EXPECT_EQ(call(self->fd, resized(variant->request, known + 200), self->room), 0);
}

TEST_F(sizes, longer_with_anything_else_is_refused)
{
	const size_t known = _IOC_SIZE(variant->request);

	make_valid(self, variant->request, self->room);
	self->room[known + 8] = 1;
	EXPECT_EQ(call(self->fd, resized(variant->request, known + 9), self->room), -EINVAL);
	self->room[known + 8] = 0;
	self->room[known] = 1;
	EXPECT_EQ(call(self->fd, resized(variant->request, known + 9), self->room), -EINVAL);
	/* The failed call had no effect: the valid one succeeds. */
	EXPECT_EQ(call(self->fd, variant->request, self->room), 0);
}

TEST_F(sizes, longer_than_memory_is_refused)
{
	const size_t known = _IOC_SIZE(variant->request);
	void *args = self->room + ROOM - known;

	make_valid(self, variant->request, args);
	EXPECT_EQ(call(self->fd, resized(variant->request, known + 8), args), -EFAULT);
	EXPECT_EQ(call(self->fd, variant->request, args), 0);
}

TEST_F(sizes, no_structure_at_all)
{
	/* All zeros: the result depends on the ioctl, but it must do no harm. */
	const int err = call(self->fd, resized(variant->request, 0), NULL);

	EXPECT_TRUE(err == 0 || err == -EINVAL || err == -ENOENT);
}

/* Sizes in version 1.0 of the structures that have grown since. */
FIXTURE(version) {
	int fd;
};

FIXTURE_SETUP(version)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(version)
{
	close(self->fd);
}

TEST_F(version, is_told)
{
	drmVersionPtr version = drmGetVersion(self->fd);

	ASSERT_NE(version, NULL);
	EXPECT_EQ(version->version_major, 1);
	EXPECT_GE(version->version_minor, 1);
	drmFreeVersion(version);
}

TEST_F(version, programs_of_1_0_still_work)
{
	struct {
		uint32_t flags, id;
		uint64_t eu_mask, guard;
	} create = { .guard = ~0ull };
	struct {
		uint32_t id, state;
		uint64_t submitted, completed, failed, guard;
	} query = { .submitted = ~0ull, .guard = ~0ull };

	ASSERT_EQ(call(self->fd, resized(DRM_IOCTL_SALVO_CTX_CREATE, 16), &create), 0);
	EXPECT_NE(create.id, 0);
	EXPECT_EQ(create.guard, ~0ull);
	query.id = create.id;
	ASSERT_EQ(call(self->fd, resized(DRM_IOCTL_SALVO_CTX_QUERY, 32), &query), 0);
	EXPECT_EQ(query.submitted, 0);
	EXPECT_EQ(query.guard, ~0ull);
}

TEST_HARNESS_MAIN
