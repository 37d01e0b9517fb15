// SPDX-License-Identifier: MIT
/*
 * zygote.c - the process that forks the processes of address spaces
 *
 * It is forked from the device before the device has threads or has read anything from a
 * guest, has one thread, and maps neither VRAM nor system memory. So each fork is cheap and starts
 * from a clean state. It handles two requests, fork and kill, and reports which process has
 * started and which has exited. As only the zygote reaps its children, a pid that it kills
 * cannot have been reused.
 *
 * The socket keeps message boundaries (SOCK_SEQPACKET). If either end goes away all processes end:
 * the zygote sees the end of file, and each child dies with its parent. A sender of a request
 * may block on a full socket while it holds a lock that the receiver of events takes too. So
 * the zygote never blocks on the socket: it queues events until there is room.
 */
#include "zygote.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "message.h"

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
	const struct salvo_sandbox *common;
	struct child *children;
	/* In order; @last is valid unless @first is NULL. */
	struct queued_event *first, *last;
};

static bool send_request(int sock, const struct request *request, const int fds[2])
{
	return !salvo_message_send(sock, request, sizeof(*request), fds, fds ? 2 : 0);
}

/* Returns false at the end of the socket. */
static bool receive_request(int sock, struct request *request, int fds[2])
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec data = { .iov_base = request, .iov_len = sizeof(*request) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header;

	fds[0] = -1;
	fds[1] = -1;
	if (recvmsg(sock, &message, MSG_CMSG_CLOEXEC) != sizeof(*request))
		return false;
	header = CMSG_FIRSTHDR(&message);
	/* Fewer come if the limit of open files is reached. */
	if (header && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(fds, CMSG_DATA(header), 2 * sizeof(int));
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
		struct salvo_sandbox sandbox = *state->common;

		sandbox.block_fd = fds[0];
		sandbox.ranges_fd = fds[1];
		sandbox.ranges = request->ranges;
		salvo_sandbox_run(&sandbox, parent);
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

	if (!receive_request(state->sock, &request, fds))
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

static __attribute__((noreturn)) void zygote_main(int sock, const struct salvo_sandbox *common)
{
	struct state state = { .sock = sock, .common = common };
	struct pollfd polled[2];
	sigset_t set;

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

int salvo_zygote_create(struct salvo_zygote *zygote, const struct salvo_sandbox *sandbox)
{
	const pid_t parent = getpid();
	int socks[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	zygote->pid = fork();
	if (zygote->pid == 0) {
		close(socks[0]);
		salvo_sandbox_prepare(sandbox, socks[1]);
		/* After a change of the user, which forgets it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "salvo-zygote");
		if (getppid() != parent)
			_exit(0);
		zygote_main(socks[1], sandbox);
	}
	err = errno;
	close(socks[1]);
	if (zygote->pid < 0) {
		close(socks[0]);
		return -err;
	}
	zygote->sock = socks[0];
	return 0;
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
