/* SPDX-License-Identifier: MIT */
/*
 * worker.h - the process that is the GPU
 */
#ifndef GPU_WORKER_H
#define GPU_WORKER_H

struct supervisor;

/* Forks the next worker and waits until its GPU is ready. Returns 0 or -errno. */
int worker_start(struct supervisor *sv);

/* Ends the worker, if there is one. */
void worker_stop(struct supervisor *sv);

/*
 * After SIGCHLD: if the worker has exited starts the next one. Returns 0, or -1 after a message
 * if the supervisor has to end.
 */
int worker_reap(struct supervisor *sv);

#endif /* GPU_WORKER_H */
