// SPDX-License-Identifier: MIT
/*
 * ioctl.c - a batch with the kernel's interface alone: no libsalvo, no libdrm
 *
 *	cc -I/usr/include/libdrm -Iuapi -o ioctl ioctl.c && ./ioctl [/dev/dri/renderD128]
 *
 * Creates two buffers and a context; one batch fills the first buffer, then copies it to the
 * second, and stores the GPU's clock before and after. A syncobj signals the end of the
 * batch. Needs only what uapi/drm/salvo_drm.h declares.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/salvo_drm.h>

#define BYTES	4096u
#define PATTERN	0x5a17e0u

struct buffer {
	uint32_t handle;
	uint64_t address;	/* on the GPU */
	uint32_t *words;	/* mapped for the CPU */
};

/* An ioctl that must succeed; restarted if a signal interrupts it. */
static void call(int fd, unsigned long request, void *arg, const char *name)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	if (!ret)
		return;
	fprintf(stderr, "%s: %s\n", name, strerror(errno));
	exit(1);
}

#define CALL(fd, request, arg) call(fd, request, arg, #request)

/* Queries the name of the driver of a node. */
static int open_node(const char *path)
{
	char name[16] = "";
	struct drm_version version = { .name_len = sizeof(name) - 1, .name = name };
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0 && !ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "salvo"))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_first(void)
{
	char path[32];
	int fd = -1, i;

	for (i = 128; i < 192 && fd < 0; i++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", i);
		fd = open_node(path);
	}
	return fd;
}

static struct buffer make_buffer(int fd)
{
	struct drm_salvo_bo_create create = { .size = BYTES };
	struct drm_salvo_bo_mmap_offset offset = { 0 };
	struct buffer buffer;
	void *map;

	CALL(fd, DRM_IOCTL_SALVO_BO_CREATE, &create);
	offset.handle = create.handle;
	CALL(fd, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &offset);
	map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset.offset);
	if (map == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	buffer.handle = create.handle;
	buffer.address = create.address;
	buffer.words = map;
	return buffer;
}

static uint32_t submit(int fd, uint32_t ctx, const struct drm_salvo_command *commands,
		       uint32_t count)
{
	struct drm_syncobj_create syncobj = { 0 };
	struct drm_salvo_sync signal = { 0 };
	struct drm_salvo_submit args = {
		.ctx_id = ctx,
		.commands = {
			.stride = sizeof(*commands),
			.count = count,
			.pointer = (uintptr_t)commands,
		},
		.signals = {
			.stride = sizeof(signal),
			.count = 1,
			.pointer = (uintptr_t)&signal,
		},
	};

	CALL(fd, DRM_IOCTL_SYNCOBJ_CREATE, &syncobj);
	signal.handle = syncobj.handle;
	CALL(fd, DRM_IOCTL_SALVO_SUBMIT, &args);
	return syncobj.handle;
}

static void wait_for(int fd, uint32_t syncobj)
{
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&syncobj,
		.count_handles = 1,
		.timeout_nsec = INT64_MAX,
	};
	struct drm_syncobj_destroy destroy = { .handle = syncobj };

	CALL(fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
	CALL(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
}

int main(int argc, char **argv)
{
	const int fd = argc > 1 ? open_node(argv[1]) : open_first();
	struct drm_salvo_ctx_create ctx = { 0 };
	struct buffer from, to, times;
	uint64_t *clock;
	unsigned int i;

	if (fd < 0) {
		fprintf(stderr, "no Salvo render node\n");
		return 1;
	}
	from = make_buffer(fd);
	to = make_buffer(fd);
	times = make_buffer(fd);
	CALL(fd, DRM_IOCTL_SALVO_CTX_CREATE, &ctx);

	/* Work runs in any order unless a pipe control orders a consumer after a producer. */
	const struct drm_salvo_command commands[] = {
		{ .type = DRM_SALVO_TIMESTAMP, .dst = times.address },
		{ .type = DRM_SALVO_FILL, .dst = from.address, .size = BYTES, .pattern = PATTERN },
		{ .type = DRM_SALVO_COPY, .dst = to.address, .src = from.address, .size = BYTES },
		{ .type = DRM_SALVO_PIPE_CONTROL, .consumer = 1, .producer = 0 },
		{ .type = DRM_SALVO_PIPE_CONTROL, .consumer = 2, .producer = 1 },
		{ .type = DRM_SALVO_PIPE_CONTROL, .flags = DRM_SALVO_PIPE_CONTROL_ALL },
		{ .type = DRM_SALVO_TIMESTAMP, .dst = times.address + 8 },
	};

	wait_for(fd, submit(fd, ctx.id, commands, sizeof(commands) / sizeof(commands[0])));

	for (i = 0; i < BYTES / sizeof(uint32_t); i++) {
		if (to.words[i] != PATTERN) {
			fprintf(stderr, "word %u is 0x%x, expected 0x%x\n", i, to.words[i], PATTERN);
			return 1;
		}
	}
	clock = (uint64_t *)times.words;
	printf("%u bytes filled and copied in %" PRIu64 " ticks of the GPU's clock\n", BYTES,
	       clock[1] - clock[0]);
	/* Closing the file frees its objects. */
	close(fd);
	return 0;
}
