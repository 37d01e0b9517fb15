/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - the process of an address space
 */
#ifndef SALVO_SANDBOX_H
#define SALVO_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "topology.h"

/**
 * struct salvo_sandbox - What all processes have in common.
 *
 * The device sends it to the zygote. It has no pointers: they would say where the device is.
 */
struct salvo_sandbox {
	/** @va_base, @va_bytes: GPU addresses: VRAM, and behind it the window. */
	uint64_t va_base;
	uint64_t va_bytes;
	/** @vram_offset, @vram_bytes: Place of VRAM in its file. */
	uint64_t vram_offset;
	uint64_t vram_bytes;
	/** @topology: Units of the GPU. */
	struct salvo_topology topology;
	/** @vram_fd, @system_fd: Files of VRAM and of system memory. */
	int vram_fd;
	int system_fd;
	/** @prio_fd: File of the prio table, which all processes share. */
	int prio_fd;
};

/**
 * struct salvo_sandbox_files - What belongs to one process.
 */
struct salvo_sandbox_files {
	/** @block_fd: File with the struct salvo_space_block. */
	int block_fd;
	/** @ranges_fd: File with @ranges struct salvo_space_range. */
	int ranges_fd;
	uint32_t ranges;
};

/**
 * salvo_sandbox_prepare() - In the zygote: drop all privileges that no process may have.
 * @sock: The zygote's socket, which stays open, as do the files of VRAM and of system memory.
 *
 * Return: 0 or -errno; -EEXIST if the zygote has something at a GPU address.
 */
int salvo_sandbox_prepare(const struct salvo_sandbox *sandbox, int sock);

/**
 * salvo_sandbox_run() - In a new process of one thread: run the address space.
 * @parent: The zygote; the process exits with it.
 */
__attribute__((noreturn)) void salvo_sandbox_run(const struct salvo_sandbox *sandbox,
						 const struct salvo_sandbox_files *files,
						 pid_t parent);

#endif /* SALVO_SANDBOX_H */
