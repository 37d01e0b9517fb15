/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - the process of an address space
 */
#ifndef SALVO_SANDBOX_H
#define SALVO_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "salvo_gpu.h"
#include "topology.h"

struct salvo_prio_table;

/**
 * struct salvo_sandbox - What a process is made of.
 */
struct salvo_sandbox {
	/** @config: Of the device's GPU. */
	struct salvo_gpu_config config;
	/** @topology: Its units. */
	const struct salvo_topology *topology;
	/** @va_bytes: Size of the GPU address range that starts at @config.va_base. */
	uint64_t va_bytes;
	/** @prio_table: Shared by all processes. */
	struct salvo_prio_table *prio_table;
	/** @block_fd: File with the struct salvo_space_block. */
	int block_fd;
	/** @ranges_fd: File with @ranges struct salvo_space_range. */
	int ranges_fd;
	uint32_t ranges;
};

/**
 * salvo_sandbox_prepare() - In the zygote: drop all privileges that no process may have.
 * @sock: The zygote's socket, which stays open.
 */
void salvo_sandbox_prepare(const struct salvo_sandbox *sandbox, int sock);

/**
 * salvo_sandbox_run() - In a new process of one thread: run the address space.
 * @parent: The zygote; the process exits with it.
 */
__attribute__((noreturn)) void salvo_sandbox_run(const struct salvo_sandbox *sandbox,
						 pid_t parent);

#endif /* SALVO_SANDBOX_H */
