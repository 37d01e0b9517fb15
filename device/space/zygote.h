/* SPDX-License-Identifier: MIT */
/*
 * zygote.h - the process that forks the processes of address spaces
 */
#ifndef SALVO_ZYGOTE_H
#define SALVO_ZYGOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "sandbox.h"

/**
 * struct salvo_zygote - The device's end.
 */
struct salvo_zygote {
	/** @sock: Requests and events; may be used by any thread. */
	int sock;
	pid_t pid;
};

/**
 * struct salvo_zygote_event - A process has started, or has exited.
 */
struct salvo_zygote_event {
	uint64_t id;
	/** @pid: Of a process that has started; 0 if it has exited. */
	int32_t pid;
	/** @status: Of one that has exited, as of waitpid(); negative if fork() failed. */
	int32_t status;
};

/**
 * salvo_zygote_create() - Start the zygote.
 * @sandbox: What all processes have in common.
 *
 * Return: 0 or -errno: -ENOENT without /proc, -EACCES if this user cannot execute the program.
 */
int salvo_zygote_create(struct salvo_zygote *zygote, const struct salvo_sandbox *sandbox);

/**
 * salvo_zygote_destroy() - End it, and all processes that are left.
 */
void salvo_zygote_destroy(struct salvo_zygote *zygote);

/**
 * salvo_zygote_fork() - Ask for a process.
 * @id: Names the process in salvo_zygote_kill() and in events.
 * @block_fd: File with its struct salvo_space_block.
 * @ranges_fd: File with @ranges struct salvo_space_range.
 *
 * Return: false if the zygote has exited.
 */
bool salvo_zygote_fork(struct salvo_zygote *zygote, uint64_t id, int block_fd, int ranges_fd,
		       uint32_t ranges);

/**
 * salvo_zygote_kill() - End a process. An event follows, unless it was sent before.
 */
void salvo_zygote_kill(struct salvo_zygote *zygote, uint64_t id);

/**
 * salvo_zygote_next() - Wait for events.
 *
 * Return: false if there are no more: the zygote has ended, or salvo_zygote_hang_up() was called.
 */
bool salvo_zygote_next(struct salvo_zygote *zygote, struct salvo_zygote_event *event);

/**
 * salvo_zygote_hang_up() - Let salvo_zygote_next() return.
 */
void salvo_zygote_hang_up(struct salvo_zygote *zygote);

#endif /* SALVO_ZYGOTE_H */
