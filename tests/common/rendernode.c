// SPDX-License-Identifier: MIT
/*
 * rendernode.c - wrappers of the driver's ioctls for tests, without libsalvo
 */
#include "rendernode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sync_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#define FIRST_RENDER	128
#define LAST_RENDER	143

static int open_salvo(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	drmVersionPtr version;
	bool ours;

	if (fd < 0)
		return -1;
	version = drmGetVersion(fd);
	ours = version && !strcmp(version->name, "salvo");
	drmFreeVersion(version);
	if (ours)
		return fd;
	close(fd);
	return -1;
}

const char *node_path(void)
{
	static char path[32];
	int minor, fd;

	for (minor = FIRST_RENDER; minor <= LAST_RENDER; minor++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
		fd = open_salvo(path);
		if (fd >= 0) {
			close(fd);
			return path;
		}
	}
	return NULL;
}

int node_open(void)
{
	const char *path = node_path();

	return path ? open_salvo(path) : -1;
}

int call(int fd, unsigned long request, void *arg)
{
	return drmIoctl(fd, request, arg) ? -errno : 0;
}

static int dev_query(int fd, uint32_t type, void *info, uint32_t size)
{
	struct drm_salvo_dev_query query = {
		.type = type, .size = size, .pointer = (uintptr_t)info,
	};

	memset(info, 0, size);
	return call(fd, DRM_IOCTL_SALVO_DEV_QUERY, &query);
}

int device_info(int fd, struct drm_salvo_device_info *info)
{
	return dev_query(fd, DRM_SALVO_QUERY_DEVICE, info, sizeof(*info));
}

int memory_info(int fd, struct drm_salvo_memory_info *info)
{
	return dev_query(fd, DRM_SALVO_QUERY_MEMORY, info, sizeof(*info));
}

int bo_create(int fd, uint64_t size, uint32_t flags, struct bo *bo)
{
	struct drm_salvo_bo_create create = { .size = size, .flags = flags };
	int err = call(fd, DRM_IOCTL_SALVO_BO_CREATE, &create);

	*bo = (struct bo){ create.size, create.address, create.handle, NULL };
	return err;
}

int bo_map(int fd, struct bo *bo)
{
	struct drm_salvo_bo_mmap_offset offset = { .handle = bo->handle };
	int err = call(fd, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &offset);

	if (err)
		return err;
	bo->map = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset.offset);
	if (bo->map != MAP_FAILED)
		return 0;
	bo->map = NULL;
	return -errno;
}

int bo_close(int fd, struct bo *bo)
{
	struct drm_gem_close gem_close = { .handle = bo->handle };

	if (bo->map)
		munmap(bo->map, bo->size);
	bo->map = NULL;
	return call(fd, DRM_IOCTL_GEM_CLOSE, &gem_close);
}

int ctx_create(int fd, uint32_t *id)
{
	struct drm_salvo_ctx_create create = { 0 };
	int err = call(fd, DRM_IOCTL_SALVO_CTX_CREATE, &create);

	*id = create.id;
	return err;
}

int ctx_query(int fd, uint32_t id, struct drm_salvo_ctx_query *query)
{
	*query = (struct drm_salvo_ctx_query){ .id = id };
	return call(fd, DRM_IOCTL_SALVO_CTX_QUERY, query);
}

static struct drm_salvo_array array(const void *elements, uint32_t count, uint32_t stride)
{
	return (struct drm_salvo_array){ stride, count, count ? (uintptr_t)elements : 0 };
}

int submit(int fd, const struct batch *batch)
{
	struct drm_salvo_submit args = {
		.ctx_id = batch->ctx,
		.commands = array(batch->commands, batch->count, sizeof(*batch->commands)),
		.waits = array(batch->waits, batch->wait_count, sizeof(*batch->waits)),
		.signals = array(batch->signals, batch->signal_count, sizeof(*batch->signals)),
		.args = (uintptr_t)batch->args,
		.args_size = batch->args_size,
		.profile = batch->profile,
	};

	return call(fd, DRM_IOCTL_SALVO_SUBMIT, &args);
}

int submit_endless(int fd, uint32_t ctx, struct bo *exec, uint32_t syncobj)
{
	const struct drm_salvo_command command = {
		.type = DRM_SALVO_DISPATCH, .entry = exec->address, .dims = 1,
		.items = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	const struct drm_salvo_sync signal = { .handle = syncobj };
	const struct batch batch = {
		.ctx = ctx, .commands = &command, .count = 1,
		.signals = &signal, .signal_count = 1,
	};

	/* jmp to itself */
	memcpy(exec->map, "\xeb\xfe", 2);
	return submit(fd, &batch);
}

uint32_t syncobj_create(int fd)
{
	uint32_t handle = 0;

	drmSyncobjCreate(fd, 0, &handle);
	return handle;
}

int syncobj_wait(int fd, uint32_t syncobj, double seconds)
{
	struct timespec now;
	int64_t until;

	clock_gettime(CLOCK_MONOTONIC, &now);
	until = now.tv_sec * INT64_C(1000000000) + now.tv_nsec + (int64_t)(seconds * 1e9);
	return drmSyncobjWait(fd, &syncobj, 1, until, 0, NULL);
}

int syncobj_error(int fd, uint32_t syncobj)
{
	struct sync_file_info info = { 0 };
	int sync_file, err = 0;

	if (drmSyncobjExportSyncFile(fd, syncobj, &sync_file))
		return -errno;
	if (ioctl(sync_file, SYNC_IOC_FILE_INFO, &info))
		err = -errno;
	else if (info.status < 0)
		err = info.status;
	close(sync_file);
	return err;
}

int run(int fd, uint32_t ctx, const struct drm_salvo_command *commands, uint32_t count)
{
	struct drm_salvo_sync signal = { .handle = syncobj_create(fd) };
	const struct batch batch = {
		.ctx = ctx, .commands = commands, .count = count,
		.signals = &signal, .signal_count = 1,
	};
	int err = submit(fd, &batch);

	if (!err)
		err = syncobj_wait(fd, signal.handle, 20);
	if (!err)
		err = syncobj_error(fd, signal.handle);
	drmSyncobjDestroy(fd, signal.handle);
	return err;
}

uint64_t fence_irqs(void)
{
	uint64_t irqs = 0;
	char line[512], *at, *end;
	FILE *file = fopen("/proc/interrupts", "re");

	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, "salvo-fence"))
			continue;
		at = strchr(line, ':') + 1;
		/* One number for each CPU, then the name */
		for (;;) {
			uint64_t number = strtoull(at, &end, 10);

			if (end == at)
				break;
			irqs += number;
			at = end;
		}
	}
	if (file)
		fclose(file);
	return irqs;
}

int read_counters(int fd, struct counters *counters)
{
	char path[64], line[256];
	FILE *file;

	memset(counters, 0, sizeof(*counters));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "salvo-packets: %" SCNu64, &counters->packets);
		sscanf(line, "salvo-doorbells: %" SCNu64, &counters->doorbells);
		sscanf(line, "salvo-interrupts: %" SCNu64, &counters->interrupts);
		sscanf(line, "salvo-completions: %" SCNu64, &counters->completions);
		sscanf(line, "drm-engine-eu: %" SCNu64, &counters->busy_ns);
		sscanf(line, "drm-memory-vram: %" SCNu64, &counters->vram_kib);
	}
	fclose(file);
	counters->irqs = fence_irqs();
	return 0;
}

static FILE *open_debugfs(const char *name)
{
	const char *node = node_path();
	char path[96];

	if (!node)
		return NULL;
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%s/%s", strstr(node, "renderD") + 7,
		 name);
	return fopen(path, "re");
}

long long device_counter(const char *name)
{
	FILE *file = open_debugfs("salvo");
	size_t length = strlen(name);
	long long value = -1;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length) && line[length] == ':')
			value = atoll(line + length + 1);
	if (file)
		fclose(file);
	return value;
}

bool buffer_listed(const char *label)
{
	FILE *file = open_debugfs("salvo_buffers");
	size_t length = strlen(label);
	bool found = false;
	char line[1200];

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = strlen(line) > length &&
			!strcmp(line + strlen(line) - length, label);
	}
	if (file)
		fclose(file);
	return found;
}

bool wait_value(const char *name, long long value)
{
	int i;

	for (i = 0; i < 500; i++) {
		if (device_counter(name) == value)
			return true;
		usleep(10000);
	}
	printf("# %s is %lld, not %lld\n", name, device_counter(name), value);
	return false;
}

bool ring_wait_busy(unsigned int ring)
{
	char submitted[32], retired[32];
	int i;

	snprintf(submitted, sizeof(submitted), "ring%u-submitted", ring);
	snprintf(retired, sizeof(retired), "ring%u-retired", ring);
	for (i = 0; i < 500 && device_counter(submitted) == device_counter(retired); i++)
		usleep(10000);
	return i < 500;
}

struct drm_salvo_command fill(uint64_t dst, uint64_t size, uint32_t pattern)
{
	return (struct drm_salvo_command){
		.type = DRM_SALVO_FILL, .dst = dst, .size = size, .pattern = pattern,
	};
}

struct drm_salvo_command copy(uint64_t dst, uint64_t src, uint64_t size)
{
	return (struct drm_salvo_command){
		.type = DRM_SALVO_COPY, .dst = dst, .src = src, .size = size,
	};
}

struct drm_salvo_command pipe_control(uint32_t consumer, uint32_t producer)
{
	return (struct drm_salvo_command){
		.type = DRM_SALVO_PIPE_CONTROL, .consumer = consumer, .producer = producer,
	};
}

struct drm_salvo_command pipe_control_all(void)
{
	return (struct drm_salvo_command){
		.type = DRM_SALVO_PIPE_CONTROL, .flags = DRM_SALVO_PIPE_CONTROL_ALL,
	};
}
