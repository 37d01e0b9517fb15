// SPDX-License-Identifier: MIT
/*
 * worker.c - the process that is the GPU
 *
 * It has a process for each GPU address space, in a sandbox; with --threads all kernels
 * run in the worker itself. It drops root and all capabilities at its start, and most system
 * calls once the GPU is ready.
 *
 * When a worker dies, the supervisor waits until all processes of its address spaces are gone
 * too, and forks the next one with the next generation.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "log.h"
#include "salvo_confine.h"
#include "salvo_gpu.h"
#include "salvo_link.h"
#include "supervisor.h"

/* Exit code of a worker that could not create its GPU: the next one could not either */
#define EXIT_NO_GPU 3
/* The supervisor gives up after so many workers in a row that lived less than a second. */
#define MAX_SHORT_LIVES 5
#define STOP_TIMEOUT_MS 2000

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

struct ready {
	int fd;
	bool threads;
};

/* From now on the worker reads packets of the guest; everything it needs is open. */
static void worker_is_ready(void *cookie)
{
	const struct ready *ready = cookie;
	const int err = salvo_confine(ready->threads);

	if (err)
		log_error("cannot restrict system calls: %s", strerror(-err));
	if (err || write(ready->fd, "", 1) != 1)
		_exit(EXIT_NO_GPU);
	close(ready->fd);
}

static void control_error(const char *why)
{
	log_error("--control: %s", why);
}

/* Returns the exit code of the worker's process. */
static int worker_run(struct supervisor *sv, pid_t parent, int ready_fd)
{
	struct ready ready = { .fd = ready_fd, .threads = sv->options.threads };
	struct salvo_link_worker worker = {
		.units = sv->options.units,
		.topology = sv->options.topology,
		.isolation = sv->options.threads ? NULL : &salvo_processes,
		.generation = sv->generation,
		/* Later generations start without faults. */
		.inject = sv->generation == 1 ? sv->options.inject : NULL,
		.control_fd = sv->control_fd,
		.line_error = control_error,
		.ready = worker_is_ready,
		.cookie = &ready,
	};
	sigset_t stop, child;
	int err;

	/* Everything it needs is open and mapped. */
	err = salvo_confine_drop_user();
	if (err) {
		log_error("cannot drop privileges: %s", strerror(-err));
		return EXIT_NO_GPU;
	}
	/* After the change of the user, which clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return EXIT_FAILURE;
	prctl(PR_SET_NAME, "salvo-gpu-eu");

	/* Signals from a terminal reach both processes; only the supervisor handles them. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_UNBLOCK, &child, NULL);
	close(sv->signal_fd);
	if (sv->listen_fd >= 0)
		close(sv->listen_fd);
	if (sv->qemu_fd >= 0)
		close(sv->qemu_fd);

	worker.stop_fd = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
	err = worker.stop_fd < 0 ? -errno : salvo_link_serve(sv->link, &worker);
	salvo_link_destroy(sv->link);
	if (err == -EACCES || err == -ENOENT)
		log_error("cannot create the GPU: user %u cannot execute /proc/self/exe: %s",
			  geteuid(), strerror(-err));
	else if (err)
		log_error("cannot create the GPU: %s", strerror(-err));
	return err ? EXIT_NO_GPU : EXIT_SUCCESS;
}

int worker_start(struct supervisor *sv)
{
	pid_t parent = getpid();
	int ready[2];
	char byte;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return -errno;
	sv->generation++;
	sv->worker_start = seconds();
	fflush(NULL);
	sv->worker = fork();
	if (sv->worker < 0) {
		int err = -errno;

		sv->worker = 0;
		close(ready[0]);
		close(ready[1]);
		return err;
	}
	if (sv->worker == 0) {
		close(ready[0]);
		exit(worker_run(sv, parent, ready[1]));
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1)
		log_info("generation %u of the GPU is process %d", sv->generation, (int)sv->worker);
	/* Otherwise it has died already, and SIGCHLD follows. */
	close(ready[0]);
	return 0;
}

void worker_stop(struct supervisor *sv)
{
	struct pollfd child = { .fd = sv->signal_fd, .events = POLLIN };
	int waited = 0;

	if (!sv->worker)
		return;
	kill(sv->worker, SIGTERM);
	/* SIGCHLD or any other signal ends the poll; a worker that does not exit is killed. */
	while (waitpid(sv->worker, NULL, WNOHANG) == 0) {
		struct signalfd_siginfo info;

		if (waited >= STOP_TIMEOUT_MS)
			kill(sv->worker, SIGKILL);
		if (poll(&child, 1, 100) > 0)
			(void)!read(sv->signal_fd, &info, sizeof(info));
		waited += 100;
	}
	sv->worker = 0;
}

/*
 * The processes of the address spaces die with their worker, but not at once; until then they
 * write to VRAM and to the guest's memory, which the next worker promises that nobody does.
 */
static void reap_orphans(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

int worker_reap(struct supervisor *sv)
{
	int status, err;

	if (!sv->worker || waitpid(sv->worker, &status, WNOHANG) != sv->worker)
		return 0;
	sv->worker = 0;
	reap_orphans();
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_GPU)
		return -1;
	if (WIFSIGNALED(status))
		log_error("generation %u of the GPU died: %s", sv->generation,
			  strsignal(WTERMSIG(status)));
	else
		log_error("generation %u of the GPU ended with code %d", sv->generation,
			  WEXITSTATUS(status));

	sv->short_lives = seconds() - sv->worker_start < 1 ? sv->short_lives + 1 : 0;
	if (sv->short_lives == MAX_SHORT_LIVES) {
		log_error("%d GPUs in a row died at once; giving up", MAX_SHORT_LIVES);
		return -1;
	}
	err = worker_start(sv);
	if (err) {
		log_error("cannot start the next GPU: %s", strerror(-err));
		return -1;
	}
	return 0;
}
