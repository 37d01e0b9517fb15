// SPDX-License-Identifier: MIT
/*
 * link_pci.c - the GPU behind QEMU's ivshmem-doorbell PCI function
 *
 * One memfd is BAR2: the registers at its head, VRAM from SALVO_LINK_VRAM_OFFSET.
 * Each doorbell of the guest and each interrupt vector is an eventfd. QEMU gets them
 * all over a UNIX socket in the protocol of ivshmem-server and sends nothing itself:
 * a write to BAR0 adds 1 to a doorbell's eventfd, and adding 1 to a vector's eventfd
 * sends an MSI-X message. Both coalesce and carry no data.
 *
 * A link outlives the process that serves it. A supervisor creates it and
 * forks workers; a worker runs the GPU and may die at any instruction. So the only state
 * across workers is the memory itself, and the virtual addresses of VRAM,
 * which are reserved once so that GPU addresses stay the same.
 *
 * No locks: one thread at a time uses a link. The GPU's threads raise
 * interrupts, which is one write() to an eventfd.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "aspace.h"
#include "clock.h"
#include "inject.h"
#include "message.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"
#include "salvo_link.h"

/* ivshmem-server's protocol */
#define IVSHMEM_VERSION		0
#define IVSHMEM_MEMORY		(-1)
#define PEER_GUEST		1

#define HEARTBEATS_PER_SECOND	20
/* How long a worker polls for completion after a doorbell: small batches end in that time */
#define STAY_NS			50000u

struct salvo_link {
	/* BAR2 */
	int bar_fd;
	uint64_t bar_bytes;
	struct salvo_regs *regs;
	/* GPU addresses, reserved for the workers, which map VRAM and the window there */
	void *reserved;
	uint64_t va_bytes;

	/* The guest's RAM: system address 0 is @ram. */
	int ram_fd;
	void *ram;
	uint64_t ram_bytes;

	int doorbell[SALVO_VECTORS];
	int vector[SALVO_VECTORS];
};

static bool sizes_are_valid(uint64_t ram_bytes, uint64_t bar_bytes)
{
	if (ram_bytes == 0 || ram_bytes > SALVO_LINK_MAX_RAM || ram_bytes % 4096)
		return false;
	return bar_bytes >= SALVO_LINK_MIN_BAR && bar_bytes <= SALVO_LINK_MAX_BAR &&
	       (bar_bytes & (bar_bytes - 1)) == 0;
}

static int bar_create(struct salvo_link *link)
{
	link->bar_fd = memfd_create("salvo-bar2", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (link->bar_fd < 0)
		return -errno;
	if (ftruncate(link->bar_fd, (off_t)link->bar_bytes) < 0)
		return -errno;
	/* QEMU has the file too; our mappings rely on its size. */
	if (fcntl(link->bar_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;

	link->regs = mmap(NULL, SALVO_REGS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			  link->bar_fd, 0);
	if (link->regs == MAP_FAILED) {
		link->regs = NULL;
		return -errno;
	}
	link->va_bytes = link->bar_bytes - SALVO_LINK_VRAM_OFFSET + SALVO_GPU_WINDOW_BYTES;
	link->reserved = salvo_aspaces_reserve(link->va_bytes + 2 * SALVO_GPU_GUARD_BYTES);
	return link->reserved ? 0 : -errno;
}

static int ram_map(struct salvo_link *link, int ram_fd)
{
	link->ram = mmap(NULL, link->ram_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ram_fd, 0);
	if (link->ram == MAP_FAILED) {
		link->ram = NULL;
		return -errno;
	}
	/* For BIND_SYSTEM. */
	link->ram_fd = fcntl(ram_fd, F_DUPFD_CLOEXEC, 0);
	return link->ram_fd < 0 ? -errno : 0;
}

static int eventfds_create(struct salvo_link *link)
{
	for (int i = 0; i < SALVO_VECTORS; i++) {
		link->doorbell[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		link->vector[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (link->doorbell[i] < 0 || link->vector[i] < 0)
			return -errno;
	}
	return 0;
}

int salvo_link_create(int ram_fd, uint64_t ram_bytes, uint64_t bar_bytes, struct salvo_link **out)
{
	struct salvo_link *link;
	int err;

	if (!sizes_are_valid(ram_bytes, bar_bytes))
		return -EINVAL;
	link = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	link->bar_bytes = bar_bytes;
	link->ram_bytes = ram_bytes;
	link->bar_fd = -1;
	link->ram_fd = -1;
	for (int i = 0; i < SALVO_VECTORS; i++)
		link->doorbell[i] = link->vector[i] = -1;

	err = bar_create(link);
	if (!err)
		err = ram_map(link, ram_fd);
	if (!err)
		err = eventfds_create(link);
	if (err) {
		salvo_link_destroy(link);
		return err;
	}
	*out = link;
	return 0;
}

void salvo_link_destroy(struct salvo_link *link)
{
	if (!link)
		return;
	for (int i = 0; i < SALVO_VECTORS; i++) {
		if (link->doorbell[i] >= 0)
			close(link->doorbell[i]);
		if (link->vector[i] >= 0)
			close(link->vector[i]);
	}
	if (link->ram_fd >= 0)
		close(link->ram_fd);
	if (link->ram)
		munmap(link->ram, link->ram_bytes);
	if (link->reserved)
		munmap(link->reserved, link->va_bytes + 2 * SALVO_GPU_GUARD_BYTES);
	if (link->regs)
		munmap(link->regs, SALVO_REGS_BYTES);
	if (link->bar_fd >= 0)
		close(link->bar_fd);
	free(link);
}

/* One message: a number, with a descriptor or with none (-1). */
static int send_number(int sock, int64_t number, int fd)
{
	return salvo_message_send(sock, &number, sizeof(number), &fd, fd >= 0);
}

static int send_peer(int sock, int64_t peer, const int *eventfds)
{
	int err = 0;

	for (int i = 0; i < SALVO_VECTORS && !err; i++)
		err = send_number(sock, peer, eventfds[i]);
	return err;
}

int salvo_link_greet(const struct salvo_link *link, int sock)
{
	int err = send_number(sock, IVSHMEM_VERSION, -1);

	if (!err)
		err = send_number(sock, PEER_GUEST, -1);
	if (!err)
		err = send_number(sock, IVSHMEM_MEMORY, link->bar_fd);
	/* Without a peer for the device the guest's doorbells vanish silently. */
	if (!err)
		err = send_peer(sock, SALVO_PEER_DEVICE, link->doorbell);
	if (!err)
		err = send_peer(sock, PEER_GUEST, link->vector);
	return err;
}

/* Called by any thread of the GPU. */
static void raise_vector(void *cookie, unsigned int vector)
{
	const struct salvo_link *link = cookie;

	if (vector < SALVO_VECTORS)
		eventfd_write(link->vector[vector], 1);
}

/* The zygote is gone: the supervisor starts another worker. */
static void end_worker(void *cookie)
{
	(void)cookie;
	kill(getpid(), SIGKILL);
}

/* Doorbells for a dead worker are handled too. Returns whether there was one. */
static bool serve_doorbells(struct salvo_link *link, struct salvo_gpu *gpu,
			    const struct pollfd *doorbells)
{
	bool any = false;

	for (unsigned int i = 0; i < SALVO_VECTORS; i++) {
		eventfd_t count;

		if (!(doorbells[i].revents & POLLIN))
			continue;
		if (eventfd_read(link->doorbell[i], &count) < 0)
			continue;
		salvo_gpu_doorbell(gpu, i);
		any = true;
	}
	return any;
}

static int heartbeat_timer(void)
{
	const struct timespec period = { .tv_nsec = 1000000000 / HEARTBEATS_PER_SECOND };
	const struct itimerspec timer = { .it_value = period, .it_interval = period };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	timerfd_settime(fd, 0, &timer, NULL);
	return fd;
}

struct control {
	struct salvo_inject_control fifo;
	struct salvo_gpu *gpu;
	const struct salvo_link_worker *worker;
};

static void take_control(void *cookie, const char *line)
{
	const struct control *control = cookie;
	char why[SALVO_GPU_WHY] = "a line is too long";

	if (!line || salvo_gpu_inject(control->gpu, line, why))
		control->worker->line_error(why);
}

static void serve_until(struct salvo_link *link, struct salvo_gpu *gpu, int timer,
			const struct salvo_link_worker *worker)
{
	struct control control = { .gpu = gpu, .worker = worker };
	struct pollfd polled[SALVO_VECTORS + 3];
	struct pollfd *beat = &polled[SALVO_VECTORS];
	struct pollfd *stop = &polled[SALVO_VECTORS + 1];
	struct pollfd *fifo = &polled[SALVO_VECTORS + 2];
	uint64_t until = 0;
	bool stay = false;

	for (int i = 0; i < SALVO_VECTORS; i++)
		polled[i] = (struct pollfd){ .fd = link->doorbell[i], .events = POLLIN };
	*beat = (struct pollfd){ .fd = timer, .events = POLLIN };
	*stop = (struct pollfd){ .fd = worker->stop_fd, .events = POLLIN };
	*fifo = (struct pollfd){ .fd = worker->control_fd, .events = POLLIN };

	while (!stop->revents) {
		uint64_t expirations;

		if (stay)
			sched_yield();
		if (poll(polled, SALVO_VECTORS + 3, stay ? 0 : -1) < 0)
			continue;
		if (serve_doorbells(link, gpu, polled))
			until = salvo_clock() + STAY_NS;
		stay = salvo_clock() < until;
		stay = salvo_gpu_poll(gpu, stay) && stay;
		if (beat->revents && read(timer, &expirations, sizeof(expirations)) > 0)
			salvo_gpu_heartbeat(gpu);
		if (fifo->revents & POLLIN)
			salvo_inject_control_read(&control.fifo, worker->control_fd, take_control,
						  &control);
	}
}

int salvo_link_serve(struct salvo_link *link, const struct salvo_link_worker *worker)
{
	uint64_t vram_bytes = link->bar_bytes - SALVO_LINK_VRAM_OFFSET;
	struct salvo_gpu_config config = {
		.regs = link->regs,
		.vram_fd = link->bar_fd,
		.vram_offset = SALVO_LINK_VRAM_OFFSET,
		.vram_bytes = vram_bytes,
		.va_base = (uintptr_t)link->reserved + SALVO_GPU_GUARD_BYTES,
		.units = worker->units,
		.topology = worker->topology,
		.generation = worker->generation,
		.system_base = link->ram,
		.system_bytes = link->ram_bytes,
		.system_fd = link->ram_fd,
		.contain_faults = true,
		.isolation = worker->isolation,
		.interrupt = raise_vector,
		.lost = end_worker,
		.cookie = link,
	};
	struct salvo_gpu *gpu;
	int timer, err;

	timer = heartbeat_timer();
	if (timer < 0)
		return timer;

	/*
	 * The GPU's own mapping replaces the reservation, which stays until then:
	 * a library that is loaded meanwhile could be mapped there.
	 */
	link->reserved = NULL;
	memset(link->regs, 0, SALVO_REGS_BYTES);
	err = salvo_gpu_create(&config, &gpu);
	if (err)
		goto out;

	if (worker->inject)
		salvo_gpu_inject(gpu, worker->inject, (char [SALVO_GPU_WHY]){ 0 });
	if (worker->generation > 1)
		raise_vector(link, SALVO_VECTOR_LOST);
	if (worker->ready)
		worker->ready(worker->cookie);
	serve_until(link, gpu, timer, worker);
	salvo_gpu_destroy(gpu);
out:
	close(timer);
	return err;
}
