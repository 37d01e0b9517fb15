/* SPDX-License-Identifier: MIT */
/*
 * supervisor.h - the process that outlives the GPU's worker processes
 */
#ifndef GPU_SUPERVISOR_H
#define GPU_SUPERVISOR_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include "options.h"

struct salvo_link;

struct supervisor {
	struct options options;
	struct salvo_link *link;
	/* SIGTERM, SIGINT, SIGHUP and SIGCHLD */
	int signal_fd;
	/* Open until QEMU has connected; its path exists as long. */
	int listen_fd;
	int qemu_fd;
	/* FIFO of --control, or -1 */
	int control_fd;

	/* 0 while there is none */
	pid_t worker;
	uint32_t generation;
	time_t worker_start;
	unsigned int short_lives;
};

#endif /* GPU_SUPERVISOR_H */
