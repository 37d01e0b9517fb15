// SPDX-License-Identifier: MIT
/* example.c - double a thousand numbers on the GPU; the example of Documentation/uapi.rst */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xf86drm.h>

#include "drm/salvo_drm.h"
#include "salvo_kernel.h"

#define ITEMS	1000u
#define GROUP	64u

/* The argument blob of the dispatch: what the kernel gets a pointer to. */
struct twice_args {
	uint64_t numbers;
};

/*
 * The kernel: the GPU executes x86-64 code, so this program can bring its own. It is
 * called once for each work-group, and must neither call anything nor use global data.
 */
__attribute__((section("kernel"), noinline, used))
static void twice(const void *args, struct salvo_group *group, const struct salvo_item *item)
{
	uint32_t *numbers = (uint32_t *)((const struct twice_args *)args)->numbers;
	uint64_t first = group->group_id[0] * group->local_size[0], i;

	for (i = first; i < first + group->extent[0]; i++)
		numbers[i] *= 2;
}

/* The linker knows where the section begins and ends. */
extern const char __start_kernel[], __stop_kernel[];

static int open_gpu(void)
{
	drmVersionPtr version;
	char path[32];
	int minor, fd;

	for (minor = 128; minor < 192; minor++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		version = fd < 0 ? NULL : drmGetVersion(fd);
		if (version && !strcmp(version->name, "salvo") && version->version_major == 1)
			return fd;
	}
	fprintf(stderr, "there is no Salvo GPU\n");
	exit(1);
}

/* drmIoctl() calls again when a signal came in between. */
static void call(int fd, unsigned long request, void *args, const char *what)
{
	if (!drmIoctl(fd, request, args))
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* A buffer that the CPU can reach at @map and the GPU at the address returned. */
static uint64_t create_buffer(int fd, uint64_t size, uint32_t flags, void **map)
{
	struct drm_salvo_bo_create create = { .size = size, .flags = flags };
	struct drm_salvo_bo_mmap_offset offset = { 0 };

	call(fd, DRM_IOCTL_SALVO_BO_CREATE, &create, "BO_CREATE");
	offset.handle = create.handle;
	call(fd, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &offset, "BO_MMAP_OFFSET");
	*map = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset.offset);
	if (*map == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return create.address;
}

int main(void)
{
	int fd = open_gpu();
	struct drm_salvo_ctx_create ctx = { 0 };
	struct drm_salvo_ctx_query state = { 0 };
	struct drm_syncobj_create done = { 0 };
	struct drm_salvo_sync signal = { 0 };
	struct twice_args args;
	uint64_t numbers_address, code_address;
	uint32_t *numbers, i;
	void *map;

	/* A context, and a syncobj to be told of the end. */
	call(fd, DRM_IOCTL_SALVO_CTX_CREATE, &ctx, "CTX_CREATE");
	call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &done, "SYNCOBJ_CREATE");

	/* Code and data. The CPU may write to code, the GPU may not. */
	code_address = create_buffer(fd, __stop_kernel - __start_kernel, DRM_SALVO_BO_EXEC, &map);
	memcpy(map, __start_kernel, __stop_kernel - __start_kernel);
	numbers_address = create_buffer(fd, ITEMS * sizeof(*numbers), 0, &map);
	numbers = map;
	for (i = 0; i < ITEMS; i++)
		numbers[i] = i;

	/* A batch: double them, and when that is done, double them again. */
	const struct drm_salvo_command commands[] = {
		{
			.type = DRM_SALVO_DISPATCH,
			.entry = code_address + ((const char *)twice - __start_kernel),
			.items = { ITEMS, 1, 1 }, .group = { GROUP, 1, 1 }, .dims = 1,
			.args_offset = 0, .args_size = sizeof(args),
		},
		{ .type = DRM_SALVO_PIPE_CONTROL, .consumer = 2, .producer = 0 },
		{
			.type = DRM_SALVO_DISPATCH,
			.entry = code_address + ((const char *)twice - __start_kernel),
			.items = { ITEMS, 1, 1 }, .group = { GROUP, 1, 1 }, .dims = 1,
			.args_offset = 0, .args_size = sizeof(args),
		},
	};
	struct drm_salvo_submit submit = {
		.ctx_id = ctx.id,
		.commands = { sizeof(commands[0]), 3, (uintptr_t)commands },
		.signals = { sizeof(signal), 1, (uintptr_t)&signal },
		.args = (uintptr_t)&args,
		.args_size = sizeof(args),
	};

	args.numbers = numbers_address;
	signal.handle = done.handle;
	call(fd, DRM_IOCTL_SALVO_SUBMIT, &submit, "SUBMIT");

	/* The fence signals however the batch ends; the context tells how. */
	if (drmSyncobjWait(fd, &done.handle, 1, INT64_MAX, 0, NULL)) {
		perror("SYNCOBJ_WAIT");
		return 1;
	}
	state.id = ctx.id;
	call(fd, DRM_IOCTL_SALVO_CTX_QUERY, &state, "CTX_QUERY");
	if (state.failed) {
		fprintf(stderr, "fault %u in command %u at %#llx\n", state.fault.kind,
			state.fault.command, (unsigned long long)state.fault.address);
		return 1;
	}
	for (i = 0; i < ITEMS; i++) {
		if (numbers[i] != 4 * i) {
			printf("not ok 1 - number %u is %u\n", i, numbers[i]);
			return 1;
		}
	}
	printf("ok 1 - %u numbers were doubled twice\n", ITEMS);
	return 0;
}
