// SPDX-License-Identifier: MIT
/*
 * zygote.c - the process that forks those of the address spaces
 *
 * It is forked from the device before that has threads or has looked at anything of a
 * guest, has one thread, and maps neither VRAM nor system memory. So what it forks
 * starts from a clean state, and quickly. It does as the device says: fork, kill; and
 * tells which process has started and which has ended. As it alone reaps them, a process number it
 * kills cannot have come to mean another process.
 *
 * The socket keeps messages apart (SOCK_SEQPACKET). If either end goes, all go: the
 * zygote sees the end of the socket, and every process dies with its parent. Who asks for
 * something may wait for room in the socket, and with a lock that who takes the news needs too.
 * So the zygote never waits for room: it keeps the news until there is some.
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

/* A process that has not ended */
struct child {
	uint64_t id;
	pid_t pid;
	struct child *next;
};

/* News for which the socket has no room yet */
struct untold {
	struct salvo_zygote_news news;
	struct untold *next;
};

struct state {
	int sock;
	const struct salvo_sandbox *common;
	struct child *children;
	/* In order; @last is valid unless @first is NULL. */
	struct untold *first, *last;
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
	/* Fewer come if no more can be open. */
	if (header && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(fds, CMSG_DATA(header), 2 * sizeof(int));
	return true;
}

/* Returns false if there is no room. */
static bool send_news(int sock, const struct salvo_zygote_news *news)
{
	ssize_t sent;

	do {
		sent = send(sock, news, sizeof(*news), MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	return sent >= 0 || errno != EAGAIN;
}

static void tell_kept(struct state *state)
{
	while (state->first && send_news(state->sock, &state->first->news)) {
		struct untold *told = state->first;

		state->first = told->next;
		free(told);
	}
}

static void tell(struct state *state, uint64_t id, pid_t pid, int status)
{
	const struct salvo_zygote_news news = { .id = id, .pid = pid, .status = status };
	struct untold *untold;

	if (!state->first && send_news(state->sock, &news))
		return;
	untold = malloc(sizeof(*untold));
	/* The device would wait for them for ever. */
	if (!untold)
		_exit(1);
	*untold = (struct untold){ .news = news };
	if (state->first)
		state->last->next = untold;
	else
		state->first = untold;
	state->last = untold;
}

static void fork_one(struct state *state, const struct request *request, const int fds[2])
{
	struct child *child = malloc(sizeof(*child));
	const pid_t parent = getpid();

	if (!child) {
		tell(state, request->id, 0, -1);
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
		tell(state, request->id, 0, -1);
		return;
	}
	child->next = state->children;
	state->children = child;
	tell(state, child->id, child->pid, 0);
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
		tell(state, gone->id, 0, status);
		free(gone);
	}
}

static void obey(struct state *state)
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
			tell_kept(&state);
		if (polled[1].revents && read(polled[1].fd, &info, sizeof(info)) > 0)
			reap(&state);
		if (polled[0].revents & ~POLLOUT)
			obey(&state);
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

bool salvo_zygote_next(struct salvo_zygote *zygote, struct salvo_zygote_news *news)
{
	ssize_t got;

	do {
		got = recv(zygote->sock, news, sizeof(*news), 0);
	} while (got < 0 && errno == EINTR);
	return got == sizeof(*news);
}

void salvo_zygote_hang_up(struct salvo_zygote *zygote)
{
	shutdown(zygote->sock, SHUT_RDWR);
}
