// SPDX-License-Identifier: MIT
/*
 * nth.c - allocations and user copies fail, one after the other, in each ioctl
 *
 * On a kernel with fault injection /proc/thread-self/fail-nth makes the nth thing
 * that can fail in the next system call fail. Each operation is done with n = 1, 2, ...
 * nothing fails. It must succeed, or fail with an appropriate errno, and leak nothing: the
 * driver's counters return to their previous values, and kmemleak scans at the end.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "dmabuf.h"
#include "rendernode.h"
#include "system.h"

#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define DEBUGFS		"/sys/kernel/debug/"
/* More failure points than any operation has. */
#define MOST		2000

/* Let sleeping and single-page allocations fail as well, without a message. */
static void prepare_injection(void)
{
	write_file(DEBUGFS "failslab/ignore-gfp-wait", "N");
	write_file(DEBUGFS "failslab/verbose", "0");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	write_file(DEBUGFS "fail_page_alloc/min-order", "0");
	write_file(DEBUGFS "fail_page_alloc/verbose", "0");
	write_file(DEBUGFS "fail_usercopy/verbose", "0");
}

/*
 * struct state - Objects that the operations use, and the result of one.
 */
struct state {
	int fd;
	uint32_t ctx, binary, other, timeline;
	struct bo bo;
	struct bo made;
	uint32_t made_id;
	int made_fd;
	const char *path;
	struct vgem_bo frame;
};

FIXTURE(nth) {
	struct state state;
	int nth;
};

FIXTURE_SETUP(nth)
{
	struct state *s = &self->state;

	self->nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (self->nth < 0)
		SKIP_TEST("the kernel cannot inject faults");
	prepare_injection();
	s->path = node_path();
	s->fd = node_open();
	ASSERT_GE(s->fd, 0);
	ASSERT_EQ(ctx_create(s->fd, &s->ctx), 0);
	ASSERT_EQ(bo_create(s->fd, 65536, 0, &s->bo), 0);
	s->binary = syncobj_create(s->fd);
	s->other = syncobj_create(s->fd);
	s->timeline = syncobj_create(s->fd);
}

FIXTURE_TEARDOWN(nth)
{
	close(self->state.fd);
	close(self->nth);
	EXPECT_TRUE(wait_value("jobs", 0));
	EXPECT_TRUE(wait_value("vram-used", 0));
}

/* Runs @op with the nth failure. Returns whether there was one; *result is that of @op. */
static bool inject(int nth, int n, int (*op)(struct state *), struct state *s, int *result)
{
	char number[16], left[16] = "";
	ssize_t got;

	snprintf(number, sizeof(number), "%d", n);
	if (write(nth, number, strlen(number)) < 0)
		return false;
	*result = op(s);
	got = pread(nth, left, sizeof(left) - 1, 0);
	if (write(nth, "0", 1) < 0)
		return false;
	/* If the read itself failed, the operation had fewer than n failure points. */
	return got > 0 && !atoi(left);
}

static void sweep(struct __test_metadata *_metadata, FIXTURE_DATA(nth) *self, const char *name,
		  int (*op)(struct state *), void (*undo)(struct state *))
{
	int n, result = 0, failed = 0;

	for (n = 1; n < MOST && inject(self->nth, n, op, &self->state, &result); n++) {
		failed += result < 0;
		EXPECT_TRUE(result == 0 || result == -ENOMEM || result == -EFAULT)
			TH_LOG("%s with failure %d: %s", name, n, strerror(-result));
		if (!result && undo)
			undo(&self->state);
		/* Imports end a moment later, and DMA_API_DEBUG counts to seven of a page. */
		EXPECT_TRUE(wait_value("reclaiming", 0));
	}
	/* Without a failure it succeeds. */
	EXPECT_EQ(result, 0) TH_LOG("%s: %s", name, strerror(-result));
	if (!result && undo)
		undo(&self->state);
	EXPECT_LT(n, MOST);
	TH_LOG("%s: %d points, %d made it fail", name, n - 1, failed);
}

static int op_open(struct state *s)
{
	s->made_fd = open(s->path, O_RDWR | O_CLOEXEC);
	return s->made_fd < 0 ? -errno : 0;
}

static void undo_open(struct state *s)
{
	close(s->made_fd);
}

static int op_query(struct state *s)
{
	struct drm_salvo_device_info info;
	struct drm_salvo_dev_query query = {
		.type = DRM_SALVO_QUERY_DEVICE, .size = sizeof(info), .pointer = (uintptr_t)&info,
	};

	return call(s->fd, DRM_IOCTL_SALVO_DEV_QUERY, &query);
}

static int op_bo_create(struct state *s)
{
	return bo_create(s->fd, 65536, 0, &s->made);
}

static void undo_bo_create(struct state *s)
{
	bo_close(s->fd, &s->made);
}

static int op_bo_map(struct state *s)
{
	return bo_map(s->fd, &s->bo);
}

static void undo_bo_map(struct state *s)
{
	munmap(s->bo.map, s->bo.size);
	s->bo.map = NULL;
}

static int op_bo_close(struct state *s)
{
	struct drm_gem_close gem_close = { .handle = s->made.handle };

	return call(s->fd, DRM_IOCTL_GEM_CLOSE, &gem_close);
}

static int op_bo_query(struct state *s)
{
	struct drm_salvo_bo_query query = { .handle = s->bo.handle };

	return call(s->fd, DRM_IOCTL_SALVO_BO_QUERY, &query);
}

static int op_bo_set_label(struct state *s)
{
	static const char text[] = "a label";
	struct drm_salvo_bo_set_label label = {
		.handle = s->bo.handle, .label = (uintptr_t)text,
	};

	return call(s->fd, DRM_IOCTL_SALVO_BO_SET_LABEL, &label);
}

static int op_slot_attach(struct state *s)
{
	struct drm_salvo_slot_attach attach = {
		.ctx_id = s->ctx, .handle = s->bo.handle, .units = 1,
	};
	int err = call(s->fd, DRM_IOCTL_SALVO_SLOT_ATTACH, &attach);

	s->made_id = attach.id;
	return err;
}

static void undo_slot_attach(struct state *s)
{
	struct drm_salvo_slot_detach detach = { .id = s->made_id };

	call(s->fd, DRM_IOCTL_SALVO_SLOT_DETACH, &detach);
}

static int op_slot_wait(struct state *s)
{
	struct drm_salvo_slot_wake wake = { .id = s->made_id };
	struct drm_salvo_slot_wait wait = { .id = s->made_id };

	return call(s->fd, DRM_IOCTL_SALVO_SLOT_WAKE, &wake) ?:
	       call(s->fd, DRM_IOCTL_SALVO_SLOT_WAIT, &wait);
}

static int op_export(struct state *s)
{
	return drmPrimeHandleToFD(s->fd, s->made.handle, DRM_CLOEXEC | DRM_RDWR, &s->made_fd) ?
	       -errno : 0;
}

static void undo_export(struct state *s)
{
	close(s->made_fd);
}

static int op_ctx_create(struct state *s)
{
	return ctx_create(s->fd, &s->made_id);
}

static void undo_ctx_create(struct state *s)
{
	struct drm_salvo_ctx_destroy destroy = { .id = s->made_id };

	call(s->fd, DRM_IOCTL_SALVO_CTX_DESTROY, &destroy);
}

static int op_ctx_query(struct state *s)
{
	struct drm_salvo_ctx_query query;

	return ctx_query(s->fd, s->ctx, &query);
}

/* A batch with everything; it waits for the previous one. */
static int op_submit(struct state *s)
{
	const struct drm_salvo_sync waits[] = { { .handle = s->other } };
	const struct drm_salvo_sync signals[] = {
		{ .handle = s->binary },
		{ .handle = s->timeline, .flags = DRM_SALVO_SYNC_TIMELINE, .point = 1 },
	};
	const struct drm_salvo_command commands[] = {
		fill(s->bo.address, 4096, 1), pipe_control_all(), fill(s->bo.address, 4096, 2),
	};
	const uint64_t args[64] = { 0 };
	const struct batch batch = {
		.ctx = s->ctx, .commands = commands, .count = 3,
		.waits = waits, .wait_count = 1, .signals = signals, .signal_count = 2,
		.args = args, .args_size = sizeof(args),
	};

	return submit(s->fd, &batch);
}

static void undo_submit(struct state *s)
{
	syncobj_wait(s->fd, s->binary, 20);
	/* Timelines only grow. */
	drmSyncobjDestroy(s->fd, s->timeline);
	s->timeline = syncobj_create(s->fd);
}

static int op_import(struct state *s)
{
	return drmPrimeFDToHandle(s->fd, s->frame.fd, &s->made.handle) ? -errno : 0;
}

static void undo_import(struct state *s)
{
	s->made.map = NULL;
	bo_close(s->fd, &s->made);
}

TEST_F_TIMEOUT(nth, open, 300)
{
	sweep(_metadata, self, "open", op_open, undo_open);
}

TEST_F_TIMEOUT(nth, dev_query, 300)
{
	sweep(_metadata, self, "DEV_QUERY", op_query, NULL);
}

TEST_F_TIMEOUT(nth, bo, 300)
{
	sweep(_metadata, self, "BO_CREATE", op_bo_create, undo_bo_create);
	sweep(_metadata, self, "BO_MMAP_OFFSET and mmap", op_bo_map, undo_bo_map);
	sweep(_metadata, self, "BO_QUERY", op_bo_query, NULL);
	sweep(_metadata, self, "BO_SET_LABEL", op_bo_set_label, NULL);
}

/* An exported buffer keeps its dma-buf, so each time it is another. */
TEST_F_TIMEOUT(nth, export, 300)
{
	int n, result = 0, next;
	bool injected = true;

	for (n = 1; n < MOST && injected; n++) {
		ASSERT_EQ(op_bo_create(&self->state), 0);
		next = dup(self->nth);
		close(next);
		injected = inject(self->nth, n, op_export, &self->state, &result);
		EXPECT_TRUE(result == 0 || result == -ENOMEM || result == -EFAULT)
			TH_LOG("export with failure %d: %s", n, strerror(-result));
		/* The descriptor is there, but the copy of its number failed. */
		if (result == -EFAULT)
			close(next);
		if (!result)
			undo_export(&self->state);
		undo_bo_create(&self->state);
	}
	EXPECT_EQ(result, 0);
}

/* Memory of another driver, and batches that wait for and add to its fences. */
TEST_F_TIMEOUT(nth, import, 300)
{
	int vgem = vgem_open();
	uint32_t fence;

	if (vgem < 0)
		SKIP(return, "there is no vgem");
	ASSERT_EQ(vgem_create(vgem, 65536, DRM_CLOEXEC | DRM_RDWR, &self->state.frame), 0);
	sweep(_metadata, self, "PRIME_FD_TO_HANDLE", op_import, undo_import);
	ASSERT_EQ(op_import(&self->state), 0);
	ASSERT_EQ(run(self->state.fd, self->state.ctx,
		      &(struct drm_salvo_command){ .type = DRM_SALVO_FILL, .size = 4096,
						   .dst = self->state.bo.address }, 1), 0);
	ASSERT_EQ(vgem_fence_attach(vgem, &self->state.frame, true, &fence), 0);
	/* op_submit() waits for this one. */
	ASSERT_EQ(drmSyncobjSignal(self->state.fd, &self->state.other, 1), 0);
	sweep(_metadata, self, "SUBMIT with an imported buffer", op_submit, undo_submit);
	vgem_destroy(vgem, &self->state.frame);
	close(vgem);
}

/* Only the copy of the arguments of GEM_CLOSE can fail. */
TEST_F_TIMEOUT(nth, close, 300)
{
	int n, result = 0;
	bool injected = true;

	for (n = 1; n < MOST && injected; n++) {
		ASSERT_EQ(op_bo_create(&self->state), 0);
		injected = inject(self->nth, n, op_bo_close, &self->state, &result);
		EXPECT_TRUE(result == 0 || result == -EFAULT)
			TH_LOG("close with failure %d: %s", n, strerror(-result));
		if (result)
			undo_bo_create(&self->state);
	}
	EXPECT_EQ(result, 0);
}

TEST_F_TIMEOUT(nth, ctx, 300)
{
	sweep(_metadata, self, "CTX_CREATE", op_ctx_create, undo_ctx_create);
	sweep(_metadata, self, "CTX_QUERY", op_ctx_query, NULL);
}

TEST_F_TIMEOUT(nth, slot, 300)
{
	sweep(_metadata, self, "SLOT_ATTACH", op_slot_attach, undo_slot_attach);
	ASSERT_EQ(op_slot_attach(&self->state), 0);
	sweep(_metadata, self, "SLOT_WAKE and SLOT_WAIT", op_slot_wait, NULL);
}

TEST_F_TIMEOUT(nth, submit, 300)
{
	const struct drm_salvo_sync signal = { .handle = self->state.other };
	const struct drm_salvo_command command = fill(self->state.bo.address, 4096, 1);
	const struct batch first = {
		.ctx = self->state.ctx, .commands = &command, .count = 1,
		.signals = &signal, .signal_count = 1,
	};
	struct drm_salvo_ctx_query query;

	ASSERT_EQ(submit(self->state.fd, &first), 0);
	sweep(_metadata, self, "SUBMIT", op_submit, undo_submit);
	ASSERT_TRUE(wait_value("jobs", 0));
	ASSERT_EQ(ctx_query(self->state.fd, self->state.ctx, &query), 0);
	EXPECT_EQ(query.failed, 0);
	EXPECT_EQ(query.submitted, query.completed);
}

TEST_HARNESS_MAIN
