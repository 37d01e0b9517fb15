// SPDX-License-Identifier: MIT
/*
 * soft_device.c - the embedded GPU: bring-up and counters
 *
 * The GPU is a library in this process (device/include/salvo_gpu.h). Its registers are a
 * page of plain memory and system addresses are pointers. Video memory is a
 * sparse memfd that is mapped twice: by the GPU at its GPU addresses, with the
 * access that each buffer has there, and by us, readable and writable, for the
 * application and the program loader.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "huge.h"
#include "salvo_march.h"
#include "soft_device.h"
#include "soft_record.h"

#define VRAM_BYTES (4ull << 30)
#define VRAM_LEAST (16ull << 20)
/* About as long as it takes to wake a thread */
#define SOFT_POLLING_NS 30000

static int soft_get_stats(struct salvo_device *device, struct salvo_device_stats *stats)
{
	struct soft_device *dev = to_soft_device(device);

	pthread_mutex_lock(&dev->lock);
	stats->packets = dev->public->packets;
	stats->completions = dev->public->completions;
	pthread_mutex_unlock(&dev->lock);
	stats->doorbells = __atomic_load_n(&dev->public->doorbells, __ATOMIC_RELAXED);
	stats->interrupts = __atomic_load_n(&dev->public->interrupts, __ATOMIC_RELAXED);
	stats->busy_ns = __atomic_load_n(&dev->regs->busy_ns, __ATOMIC_RELAXED);
	return 0;
}

/* --- bring-up --------------------------------------------------------------- */

/*
 * Half of the machine's memory at most. VRAM is mapped twice, and a part of the addresses that a
 * process may have is enough.
 */
static uint64_t most_vram(void)
{
	uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;
	struct rlimit limit;

	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur / 16 < most)
		most = limit.rlim_cur / 16;
	return most;
}

/* 4 GiB, or what there may be of it; pages are allocated on first use. */
static int create_vram(struct soft_device *dev)
{
	const uint64_t most = most_vram();
	uint64_t bytes = VRAM_BYTES;
	void *map;

	dev->vram_fd = memfd_create("salvo-vram", MFD_CLOEXEC);
	if (dev->vram_fd < 0)
		return -errno;
	while (bytes > most && bytes > VRAM_LEAST)
		bytes /= 2;
	for (; bytes >= VRAM_LEAST; bytes /= 2) {
		if (ftruncate(dev->vram_fd, bytes))
			continue;
		map = salvo_huge_reserve(bytes, 0);
		if (!map)
			continue;
		if (mmap(map, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
			 dev->vram_fd, 0) == MAP_FAILED) {
			munmap(map, bytes);
			continue;
		}
		dev->vram_map = map;
		dev->vram_bytes = bytes;
		return 0;
	}
	return -ENOMEM;
}

/* The registers and the counters, in a memfd that salvo-top finds. */
static int create_public(struct soft_device *dev)
{
	void *map;

	dev->public_fd = memfd_create(SOFT_PUBLIC_NAME, MFD_CLOEXEC);
	if (dev->public_fd < 0)
		return -errno;
	if (ftruncate(dev->public_fd, SOFT_PUBLIC_BYTES))
		return -errno;
	map = mmap(NULL, SOFT_PUBLIC_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, dev->public_fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	dev->regs = map;
	dev->public = map + SALVO_REGS_BYTES;
	dev->public->bytes = sizeof(*dev->public);
	__atomic_store_n(&dev->public->magic, SOFT_PUBLIC_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

/* SALVO_TOPOLOGY: units and nodes other than the machine's. */
static int read_topology(const char **topology)
{
	char why[SALVO_GPU_WHY];

	*topology = getenv("SALVO_TOPOLOGY");
	if (!*topology || !salvo_gpu_check_topology(*topology, why))
		return 0;
	fprintf(stderr, "libsalvo: SALVO_TOPOLOGY: %s\n", why);
	return -EINVAL;
}

/* SALVO_MARCH: a lower level than the processor's, by the names of salvo-cc's --march. */
static int limit_level(struct soft_device *dev)
{
	const char *text = getenv("SALVO_MARCH");
	const uint32_t most = dev->regs->isa_level;
	uint32_t level;

	if (!text)
		return 0;
	for (level = SALVO_LEVEL_MIN; level <= most; level++) {
		if (!strcmp(text, salvo_march(level))) {
			dev->regs->isa_level = level;
			return 0;
		}
	}
	fprintf(stderr, "libsalvo: SALVO_MARCH: %s to %s, not '%s'\n",
		salvo_march(SALVO_LEVEL_MIN), salvo_march(most), text);
	return -EINVAL;
}

static int alloc_rings(struct soft_device *dev)
{
	const size_t bytes = SOFT_RING_ENTRIES * sizeof(*dev->ring[0].entries);
	unsigned int r;

	for (r = 0; r < SALVO_MAX_RINGS; r++) {
		dev->ring[r].regs = &dev->regs->ring[r];
		dev->ring[r].entries = aligned_alloc(64, bytes);
		if (!dev->ring[r].entries)
			return -ENOMEM;
		memset(dev->ring[r].entries, 0, bytes);
	}
	return 0;
}

static void enable_ring(struct soft_ring *ring)
{
	ring->regs->base = (uintptr_t)ring->entries;
	ring->regs->entries = SOFT_RING_ENTRIES;
	__atomic_store_n(&ring->regs->enable, 1, __ATOMIC_RELEASE);
}

static int create_gpu(struct soft_device *dev)
{
	struct salvo_gpu_config config = {
		.vram_fd = dev->vram_fd,
		.vram_bytes = dev->vram_bytes,
		.contain_faults = true,
		.counts_waiters = true,
		.owns_memory = true,
		.interrupt = salvo_soft_interrupt,
		.cookie = dev,
	};
	unsigned int r;
	int err;

	err = read_topology(&config.topology);
	if (!err)
		err = alloc_rings(dev);
	if (err)
		return err;
	config.regs = dev->regs;
	err = salvo_gpu_create(&config, &dev->gpu);
	if (err)
		return err;
	/* The bring-up of salvo_hw.h. */
	dev->regs->bus_master = 1;
	dev->regs->reset_request = 1;
	salvo_gpu_doorbell(dev->gpu, SALVO_DOORBELL_RESET);
	if (__atomic_load_n(&dev->regs->reset_ack, __ATOMIC_ACQUIRE) != 1)
		return -ENODEV;
	err = limit_level(dev);
	if (err)
		return err;
	for (r = 0; r < SALVO_MAX_RINGS; r++)
		enable_ring(&dev->ring[r]);
	return 0;
}

static void soft_close(struct salvo_device *device)
{
	struct soft_device *dev = to_soft_device(device);
	struct soft_bo *bo;
	unsigned int r;

	salvo_soft_watchdog_destroy(dev->watchdog);
	salvo_gpu_destroy(dev->gpu);
	salvo_soft_give_up(dev);
	while ((bo = dev->zombies)) {
		dev->zombies = bo->next;
		if (bo->imported)
			munmap(bo->map, bo->bytes);
		free(bo);
	}
	salvo_vram_fini(&dev->window);
	salvo_vram_fini(&dev->vram);
	for (r = 0; r < SALVO_MAX_RINGS; r++)
		free(dev->ring[r].entries);
	if (dev->regs)
		munmap(dev->regs, SOFT_PUBLIC_BYTES);
	if (dev->public_fd >= 0)
		close(dev->public_fd);
	if (dev->vram_map)
		munmap(dev->vram_map, dev->vram_bytes);
	if (dev->vram_fd >= 0)
		close(dev->vram_fd);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}

static const struct salvo_winsys soft_winsys = {
	.close = soft_close,
	.get_stats = soft_get_stats,
	.bo_create = salvo_soft_bo_create,
	.bo_destroy = salvo_soft_bo_destroy,
	.bo_map = salvo_soft_bo_map,
	.bo_import = salvo_soft_bo_import,
	.bo_from_memory = salvo_soft_bo_from_memory,
	.set_timeout = salvo_soft_set_timeout,
	.queue_create = salvo_soft_queue_create,
	.queue_destroy = salvo_soft_queue_destroy,
	.queue_submit = salvo_soft_queue_submit,
	.fence_wait = salvo_soft_fence_wait,
	.fence_wait_many = salvo_soft_fence_wait_many,
	.fence_get_fd = salvo_soft_fence_get_fd,
	.fence_import_fd = salvo_soft_fence_import_fd,
	.fence_get_error = salvo_soft_fence_get_error,
	.fence_free = salvo_soft_fence_free,
	.slot_attach = salvo_soft_slot_attach,
	.slot_detach = salvo_soft_slot_detach,
	.slot_wake = salvo_soft_slot_wake,
};

int salvo_soft_record(struct salvo_device *device, struct salvo_gpu_recording *recording)
{
	if (device->winsys != &soft_winsys)
		return -ENOTSUP;
	salvo_gpu_record(to_soft_device(device)->gpu, recording);
	return 0;
}

static void fill_info(struct soft_device *dev)
{
	dev->base.info = (struct salvo_device_info){
		.name = "soft",
		.units = dev->regs->units,
		.nodes = dev->regs->nodes,
		.isa_level = dev->regs->isa_level,
		.max_commands = SALVO_MAX_COMMANDS,
		.max_argument_bytes = SALVO_MAX_ARGUMENT_BYTES,
		.max_dispatch_argument_bytes = SALVO_MAX_DISPATCH_ARGUMENT_BYTES,
		.max_group_items = SALVO_MAX_GROUP_ITEMS,
		.max_local_bytes = SALVO_MAX_LOCAL_BYTES,
		.max_items = SALVO_MAX_ITEMS,
		.vram_bytes = dev->vram_bytes,
		.clock_hz = dev->regs->clock_hz,
	};
}

int salvo_soft_open(struct salvo_device **out)
{
	struct soft_device *dev = calloc(1, sizeof(*dev));
	int err;

	if (!dev)
		return -ENOMEM;
	salvo_device_init(&dev->base);
	dev->base.winsys = &soft_winsys;
	dev->base.embedded = true;
	dev->base.overlaps = true;
	dev->base.contends = true;
	atomic_init(&dev->base.polling_ns, SOFT_POLLING_NS);
	dev->epoch = 1;
	dev->zombies_end = &dev->zombies;
	dev->vram_fd = -1;
	dev->public_fd = -1;
	pthread_mutex_init(&dev->lock, NULL);
	err = create_vram(dev);
	if (!err)
		err = create_public(dev);
	if (!err)
		err = create_gpu(dev);
	if (err) {
		soft_close(&dev->base);
		return err;
	}
	salvo_vram_init(&dev->vram, dev->vram_bytes);
	salvo_vram_init(&dev->window, dev->regs->va_bytes - dev->vram_bytes);
	fill_info(dev);
	*out = &dev->base;
	return 0;
}
