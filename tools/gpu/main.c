// SPDX-License-Identifier: MIT
/*
 * main.c - the GPU as a process, behind a PCI function of QEMU
 *
 * Two processes. The supervisor, which is this program's main(), holds what must
 * survive: the socket to QEMU, the memory of BAR2, the eventfds, the FIFO of --control. It forks
 * the worker, which is the GPU (worker.c). When a worker dies the supervisor forks the next
 * one with the next generation; QEMU does not notice, and the guest's driver gets
 * SALVO_VECTOR_LOST. The supervisor has one thread, so forking is safe, and never reads guest
 * memory, so a guest cannot attack it. It keeps its user, but if that is root only the
 * capabilities that it needs.
 *
 * When QEMU closes its end, or on SIGTERM or SIGINT, both processes end. The worker
 * dies with the supervisor in any case (PR_SET_PDEATHSIG).
 *
 * Exit codes: 0 ended as asked, 1 something failed, 2 wrong usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"
#include "options.h"
#include "salvo_link.h"
#include "socket.h"
#include "supervisor.h"
#include "worker.h"

/* Removes a FIFO of this user that nobody reads, which a killed salvo-gpu has left. */
static bool remove_stale_fifo(const char *path)
{
	struct stat status;
	bool unread;
	int fd;

	if (lstat(path, &status) || !S_ISFIFO(status.st_mode) || status.st_uid != geteuid())
		return false;
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	unread = fd < 0 && errno == ENXIO;
	if (fd >= 0)
		close(fd);
	return unread && !unlink(path);
}

static int make_fifo(const char *path)
{
	int ret = mkfifo(path, 0600);

	if (ret && errno == EEXIST) {
		if (remove_stale_fifo(path))
			ret = mkfifo(path, 0600);
		else
			errno = EEXIST;
	}
	return ret;
}

/* Opened for writing too, so that it always has a writer, and lines wait for the next worker. */
static int control_start(struct supervisor *sv)
{
	const char *path = sv->options.control_path;

	if (!path)
		return 0;
	if (make_fifo(path)) {
		log_error("--control %s: %s", path, strerror(errno));
		sv->options.control_path = NULL;
		return -1;
	}
	sv->control_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (sv->control_fd < 0) {
		log_error("--control %s: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

static void control_stop(struct supervisor *sv)
{
	if (sv->options.control_path)
		unlink(sv->options.control_path);
	if (sv->control_fd >= 0)
		close(sv->control_fd);
}

static int open_ram(struct supervisor *sv)
{
	const char *path = sv->options.ram_path;
	struct stat status;
	int fd, err;

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0) {
		log_error("%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (!S_ISREG(status.st_mode) || status.st_size == 0 || status.st_size % 4096 ||
	    (uint64_t)status.st_size > SALVO_LINK_MAX_RAM) {
		log_error("%s: not a file of whole pages, at most 2G, that can be a guest's memory",
			  path);
		close(fd);
		return -1;
	}
	err = salvo_link_create(fd, status.st_size, sv->options.bar_bytes, &sv->link);
	close(fd);
	if (err) {
		log_error("cannot create the memory and eventfds: %s", strerror(-err));
		return -1;
	}
	return 0;
}

static int supervisor_init(struct supervisor *sv)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	sv->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sv->signal_fd < 0) {
		log_error("signalfd: %s", strerror(errno));
		return -1;
	}

	if (control_start(sv))
		return -1;

	/* Processes that a worker leaves become children of the supervisor. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);

	return open_ram(sv);
}

static void supervisor_fini(struct supervisor *sv)
{
	socket_close(sv);
	if (sv->qemu_fd >= 0)
		close(sv->qemu_fd);
	worker_stop(sv);
	salvo_link_destroy(sv->link);
	control_stop(sv);
	if (sv->signal_fd >= 0)
		close(sv->signal_fd);
}

/* Returns 0 to go on, 1 to end as asked, -1 to end because of an error. */
static int supervisor_signal(struct supervisor *sv)
{
	struct signalfd_siginfo info;

	if (read(sv->signal_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo != SIGCHLD)
		return 1;
	return worker_reap(sv);
}

/*
 * Everything but the socket is open. As root the supervisor still creates and removes the
 * socket, wherever it is, starts workers, which drop root, and ends them.
 */
static int supervisor_drop(void)
{
	const uint32_t needed = 1u << CAP_DAC_OVERRIDE | 1u << CAP_KILL | 1u << CAP_SETUID |
				1u << CAP_SETGID;
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data))
		return -1;
	data[0].effective &= needed;
	data[0].permitted &= needed;
	data[1].effective = 0;
	data[1].permitted = 0;
	data[0].inheritable = 0;
	data[1].inheritable = 0;
	return syscall(SYS_capset, &head, data) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -1 : 0;
}

static int supervisor_run(struct supervisor *sv)
{
	int end = 0, err;

	if (supervisor_drop()) {
		log_error("cannot drop capabilities: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	err = worker_start(sv);
	if (err) {
		log_error("cannot start the GPU: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	if (socket_listen(sv))
		return EXIT_FAILURE;

	while (!end) {
		struct pollfd polled[] = {
			{ .fd = sv->signal_fd, .events = POLLIN },
			{ .fd = sv->listen_fd, .events = POLLIN },
			{ .fd = sv->qemu_fd, .events = POLLIN },
		};

		if (poll(polled, 3, -1) < 0)
			continue;
		if (polled[0].revents)
			end = supervisor_signal(sv);
		if (!end && polled[1].revents)
			end = socket_accept(sv);
		if (!end && polled[2].revents)
			end = socket_poll(sv);
	}
	return end > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct supervisor sv = {
		.signal_fd = -1, .listen_fd = -1, .qemu_fd = -1, .control_fd = -1,
	};
	int code;

	code = options_parse(argc, argv, &sv.options);
	if (code)
		return code;
	code = EXIT_FAILURE;
	if (supervisor_init(&sv) == 0)
		code = supervisor_run(&sv);
	supervisor_fini(&sv);
	return code;
}
