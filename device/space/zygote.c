// SPDX-License-Identifier: MIT
/*
 * zygote.c - the process that forks the processes of address spaces
 *
 * It has one thread, and maps neither VRAM nor system memory. So each fork is cheap and starts
 * from a clean state. It handles two requests, fork and kill, and reports which process has
 * started and which has exited. As only the zygote reaps its children, a pid that it kills
 * cannot have been reused.
 *
 * Kernels can read all that they inherit from it. So it is no copy of the device but a program of
 * its own: the device's program once more, which the host's kernel loads at other addresses and
 * with another stack canary. A constructor finds out that the program is the zygote, and main()
 * does not run. The device sends what the zygote needs, with the files. Libraries may have been
 * loaded where the device has its GPU addresses; then the device starts another one.
 *
 * The socket keeps message boundaries (SOCK_SEQPACKET). If either end goes away all processes end:
 * the zygote sees the end of file, and each child dies with its parent. A sender of a request
 * may block on a full socket while it holds a lock that the receiver of events takes too. So
 * the zygote never blocks on the socket: it queues events until there is room.
 */
#include "zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "message.h"

/* argv[0] of the zygote; argv[1] is its socket */
#define NAME		"salvo-zygote"
/* How often a zygote may have something at a GPU address: that is rare. */
#define STARTS_MOST	16
/* Of the environment it gets only what the dynamic linker needs. */
#define LINKER_VARIABLES "LD_"

struct request {
	uint64_t id;
	/* FORK comes with the descriptors of the block and of the ranges. */
	enum { FORK, KILL } what;
	uint32_t ranges;
};

/* A process that has not exited */
struct child {
	uint64_t id;
	pid_t pid;
	struct child *next;
};

/* An event for which the socket had no room */
struct queued_event {
	struct salvo_zygote_event event;
	struct queued_event *next;
};

struct state {
	int sock;
	struct salvo_sandbox sandbox;
	struct child *children;
	/* In order; @last is valid unless @first is NULL. */
	struct queued_event *first, *last;
};

static bool send_request(int sock, const struct request *request, const int fds[2])
{
	return !salvo_message_send(sock, request, sizeof(*request), fds, fds ? 2 : 0);
}

/* Returns false at the end of the socket. Descriptors that do not come are -1. */
static bool receive(int sock, void *bytes, size_t size, int *fds, unsigned int count)
{
	union {
		char bytes[CMSG_SPACE(SALVO_MESSAGE_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec data = { .iov_base = bytes, .iov_len = size };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};
	struct cmsghdr *header;

	memset(fds, 0xff, count * sizeof(int));
	if (recvmsg(sock, &message, MSG_CMSG_CLOEXEC) != (ssize_t)size)
		return false;
	header = CMSG_FIRSTHDR(&message);
	/* Fewer come if the limit of open files is reached. */
	if (header && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(count * sizeof(int)))
		memcpy(fds, CMSG_DATA(header), count * sizeof(int));
	return true;
}

/* Returns false if there is no room. */
static bool send_event(int sock, const struct salvo_zygote_event *event)
{
	ssize_t sent;

	do {
		sent = send(sock, event, sizeof(*event), MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	return sent >= 0 || errno != EAGAIN;
}

static void flush_events(struct state *state)
{
	while (state->first && send_event(state->sock, &state->first->event)) {
		struct queued_event *sent = state->first;

		state->first = sent->next;
		free(sent);
	}
}

static void report(struct state *state, uint64_t id, pid_t pid, int status)
{
	const struct salvo_zygote_event event = { .id = id, .pid = pid, .status = status };
	struct queued_event *queued;

	if (!state->first && send_event(state->sock, &event))
		return;
	queued = malloc(sizeof(*queued));
	/* A lost event would make the device wait for ever. */
	if (!queued)
		_exit(1);
	*queued = (struct queued_event){ .event = event };
	if (state->first)
		state->last->next = queued;
	else
		state->first = queued;
	state->last = queued;
}

static void fork_one(struct state *state, const struct request *request, const int fds[2])
{
	struct child *child = malloc(sizeof(*child));
	const pid_t parent = getpid();

	if (!child) {
		report(state, request->id, 0, -1);
		return;
	}
	child->id = request->id;
	child->pid = fork();
	if (child->pid == 0) {
		const struct salvo_sandbox_files files = {
			.block_fd = fds[0], .ranges_fd = fds[1], .ranges = request->ranges,
		};

		salvo_sandbox_run(&state->sandbox, &files, parent);
	}
	if (child->pid < 0) {
		free(child);
		report(state, request->id, 0, -1);
		return;
	}
	child->next = state->children;
	state->children = child;
	report(state, child->id, child->pid, 0);
}

static void reap(struct state *state)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct child **at = &state->children, *gone;

		while (*at && (*at)->pid != pid)
			at = &(*at)->next;
		gone = *at;
		if (!gone)
			continue;
		*at = gone->next;
		report(state, gone->id, 0, status);
		free(gone);
	}
}

static void handle_request(struct state *state)
{
	const struct child *child;
	struct request request;
	int fds[2];

	if (!receive(state->sock, &request, sizeof(request), fds, 2))
		_exit(0);
	if (request.what == FORK) {
		fork_one(state, &request, fds);
	} else {
		for (child = state->children; child && child->id != request.id;
		     child = child->next)
			;
		if (child)
			kill(child->pid, SIGKILL);
	}
	if (fds[0] >= 0)
		close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
}

/* Tells the device whether the zygote has started. */
static void reply(int sock, int err)
{
	if (send(sock, &err, sizeof(err), MSG_NOSIGNAL) != sizeof(err))
		_exit(1);
}

static bool start(struct state *state)
{
	struct salvo_sandbox *sandbox = &state->sandbox;
	int fds[3], err = -EMFILE;

	if (!receive(state->sock, sandbox, sizeof(*sandbox), fds, 3))
		return false;
	sandbox->vram_fd = fds[0];
	sandbox->system_fd = fds[1];
	sandbox->prio_fd = fds[2];
	if (fds[0] >= 0)
		err = salvo_sandbox_prepare(sandbox, state->sock);
	/* After a change of the user, which forgets it. If the device has died, reply() fails. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, NAME);
	reply(state->sock, err);
	return !err;
}

static __attribute__((noreturn)) void zygote_main(int sock)
{
	struct state state = { .sock = sock };
	struct pollfd polled[2];
	sigset_t set;

	if (!start(&state))
		_exit(1);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	polled[0] = (struct pollfd){ .fd = sock };
	polled[1] = (struct pollfd){ .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
				     .events = POLLIN };
	for (;;) {
		struct signalfd_siginfo info;

		polled[0].events = state.first ? POLLIN | POLLOUT : POLLIN;
		if (poll(polled, 2, -1) < 0)
			continue;
		if (polled[0].revents & POLLOUT)
			flush_events(&state);
		if (polled[1].revents && read(polled[1].fd, &info, sizeof(info)) > 0)
			reap(&state);
		if (polled[0].revents & ~POLLOUT)
			handle_request(&state);
	}
}

/* Runs before main() in each program that can create address spaces as processes. */
static __attribute__((constructor)) void run_if_zygote(int argc, char **argv)
{
	socklen_t size = sizeof(int);
	int sock, type;

	if (argc != 2 || strcmp(argv[0], NAME))
		return;
	sock = atoi(argv[1]);
	if (!getsockopt(sock, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET)
		zygote_main(sock);
}

/* In the child of a fork: the zygote gets other addresses also under a debugger. */
static __attribute__((noreturn)) void execute(int sock, char **environment)
{
	char number[16];
	char *const arguments[] = { NAME, number, NULL };

	snprintf(number, sizeof(number), "%d", sock);
	fcntl(sock, F_SETFD, 0);
	personality(personality(~0u) & ~(unsigned int)ADDR_NO_RANDOMIZE);
	execve("/proc/self/exe", arguments, environment);
	reply(sock, -errno);
	_exit(1);
}

static int receive_reply(int sock)
{
	ssize_t got;
	int err;

	do {
		got = recv(sock, &err, sizeof(err), 0);
	} while (got < 0 && errno == EINTR);
	/* It has died. */
	return got == sizeof(err) ? err : -ECHILD;
}

static int start_once(struct salvo_zygote *zygote, const struct salvo_sandbox *sandbox,
		      char **environment)
{
	const int fds[3] = { sandbox->vram_fd, sandbox->system_fd, sandbox->prio_fd };
	int socks[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	zygote->pid = fork();
	if (zygote->pid == 0)
		execute(socks[1], environment);
	err = zygote->pid < 0 ? -errno : 0;
	close(socks[1]);
	if (!err)
		err = salvo_message_send(socks[0], sandbox, sizeof(*sandbox), fds, 3);
	/* A zygote that has died first could say why. */
	if (!err || err == -EPIPE || err == -ECONNRESET)
		err = receive_reply(socks[0]);
	zygote->sock = socks[0];
	if (err && zygote->pid > 0)
		salvo_zygote_destroy(zygote);
	else if (err)
		close(socks[0]);
	return err;
}

int salvo_zygote_create(struct salvo_zygote *zygote, const struct salvo_sandbox *sandbox)
{
	unsigned int i, count = 0;
	char **environment;
	int err = -EEXIST;

	for (i = 0; environ && environ[i]; i++)
		;
	environment = calloc(i + 1, sizeof(*environment));
	if (!environment)
		return -ENOMEM;
	for (i = 0; environ && environ[i]; i++)
		if (!strncmp(environ[i], LINKER_VARIABLES, strlen(LINKER_VARIABLES)))
			environment[count++] = environ[i];
	for (i = 0; i < STARTS_MOST && err == -EEXIST; i++)
		err = start_once(zygote, sandbox, environment);
	free(environment);
	return err == -EEXIST ? -ENOMEM : err;
}

void salvo_zygote_destroy(struct salvo_zygote *zygote)
{
	close(zygote->sock);
	waitpid(zygote->pid, NULL, 0);
}

bool salvo_zygote_fork(struct salvo_zygote *zygote, uint64_t id, int block_fd, int ranges_fd,
		       uint32_t ranges)
{
	const struct request request = { .id = id, .what = FORK, .ranges = ranges };
	const int fds[2] = { block_fd, ranges_fd };

	return send_request(zygote->sock, &request, fds);
}

void salvo_zygote_kill(struct salvo_zygote *zygote, uint64_t id)
{
	const struct request request = { .id = id, .what = KILL };

	send_request(zygote->sock, &request, NULL);
}

bool salvo_zygote_next(struct salvo_zygote *zygote, struct salvo_zygote_event *event)
{
	ssize_t got;

	do {
		got = recv(zygote->sock, event, sizeof(*event), 0);
	} while (got < 0 && errno == EINTR);
	return got == sizeof(*event);
}

void salvo_zygote_hang_up(struct salvo_zygote *zygote)
{
	shutdown(zygote->sock, SHUT_RDWR);
}
