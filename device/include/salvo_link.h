/* SPDX-License-Identifier: MIT */
/*
 * salvo_link.h - the GPU behind QEMU's ivshmem-doorbell PCI function
 */
#ifndef SALVO_LINK_PCI_H
#define SALVO_LINK_PCI_H

#include <stdbool.h>
#include <stdint.h>

struct salvo_isolation;
struct salvo_link;

/* Where VRAM starts in BAR2, and the sizes BAR2 may have: powers of two. */
#define SALVO_LINK_VRAM_OFFSET	(1ull << 20)
#define SALVO_LINK_MIN_BAR	(2ull << 20)
#define SALVO_LINK_MAX_BAR	(4ull << 30)

/* Above it guest physical addresses of a PC are not offsets into the RAM file. */
#define SALVO_LINK_MAX_RAM	(2ull << 30)

/**
 * salvo_link_create() - Create BAR2's memory, doorbells and interrupts, and map the guest's RAM.
 * @ram_fd: File with the guest's RAM; the caller may close it afterwards.
 * @ram_bytes: Its size, at most SALVO_LINK_MAX_RAM.
 * @bar_bytes: Size of BAR2.
 * @out: The link; destroy it with salvo_link_destroy().
 *
 * Starts no thread, so that the caller can fork afterwards.
 *
 * Return: 0 or -errno; -EINVAL if a size is out of range.
 */
int salvo_link_create(int ram_fd, uint64_t ram_bytes, uint64_t bar_bytes, struct salvo_link **out);

/**
 * salvo_link_destroy() - Unmap and close everything.
 * @link: May be NULL.
 */
void salvo_link_destroy(struct salvo_link *link);

/**
 * salvo_link_greet() - Send memory and eventfds to QEMU, as ivshmem-server does.
 * @link: The link.
 * @sock: Connected UNIX socket.
 *
 * Return: 0 or -errno.
 */
int salvo_link_greet(const struct salvo_link *link, int sock);

/**
 * struct salvo_link_worker - Parameters of the process that serves a link.
 */
struct salvo_link_worker {
	/** @units: Execution units, or 0 for one for each core. */
	unsigned int units;
	/** @topology: Units and nodes instead; see struct salvo_gpu_config. */
	const char *topology;
	/** @generation: Counts the workers of this link from 1. */
	uint32_t generation;
	/** @isolation: As in struct salvo_gpu_config. */
	const struct salvo_isolation *isolation;
	/** @inject: Faults from the start on, as salvo_gpu_inject() takes them; NULL for none. */
	const char *inject;
	/** @control_fd: Non-blocking FIFO for lines of the same; -1 for none. */
	int control_fd;
	/** @line_error: Called with what is wrong with such a line. */
	void (*line_error)(const char *why);
	/** @stop_fd: The worker ends when it becomes readable. */
	int stop_fd;
	/** @ready: Called once, when registers are valid and doorbells work; may be NULL. */
	void (*ready)(void *cookie);
	void *cookie;
};

/**
 * salvo_link_serve() - Run a GPU until @worker->stop_fd becomes readable.
 * @link: The link. One worker at a time.
 * @worker: Parameters.
 *
 * Clears the registers, creates the GPU and passes doorbells to it. From
 * generation 2 on it raises SALVO_VECTOR_LOST.
 *
 * Return: 0, or -errno if the GPU could not be created.
 */
int salvo_link_serve(struct salvo_link *link, const struct salvo_link_worker *worker);

#endif /* SALVO_LINK_PCI_H */
