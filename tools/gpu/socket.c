// SPDX-License-Identifier: MIT
/*
 * socket.c - the socket to QEMU
 *
 * It exists from the moment that the GPU is ready until QEMU has connected: there is one guest.
 */
#include "socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "log.h"
#include "salvo_link.h"
#include "supervisor.h"

#define SEND_TIMEOUT_SECONDS 5

/* Removes a socket that nobody listens on, which a killed salvo-gpu has left. */
static bool remove_stale(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat status;
	bool refused;
	int fd;

	if (lstat(path, &status) || !S_ISSOCK(status.st_mode))
		return false;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	refused = connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
		  errno == ECONNREFUSED;
	close(fd);
	return refused && !unlink(path);
}

static int bind_to(int fd, const struct sockaddr_un *address)
{
	int ret = bind(fd, (const struct sockaddr *)address, sizeof(*address));

	if (ret && errno == EADDRINUSE && remove_stale(address->sun_path))
		ret = bind(fd, (const struct sockaddr *)address, sizeof(*address));
	return ret;
}

static int link_to(const char *from, const char *path)
{
	int ret = link(from, path);

	if (ret && errno == EEXIST) {
		if (remove_stale(path))
			ret = link(from, path);
		else
			errno = EEXIST;
	}
	return ret;
}

/*
 * A client that waits for the path may connect as soon as it exists, so the socket is bound to
 * another name beside it and linked to the path when it listens.
 */
int socket_listen(struct supervisor *sv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = sv->options.socket_path;
	int fd;

	if (strlen(path) + 1 >= sizeof(address.sun_path)) {
		log_error("%s: longer than %zu bytes", path, sizeof(address.sun_path) - 2);
		return -1;
	}
	strcat(strcpy(address.sun_path, path), "~");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind_to(fd, &address)) {
		log_error("%s: %s", address.sun_path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (listen(fd, 1) < 0 || link_to(address.sun_path, path)) {
		log_error("%s: %s", path, strerror(errno));
		unlink(address.sun_path);
		close(fd);
		return -1;
	}
	unlink(address.sun_path);
	log_info("listening on %s", path);
	sv->listen_fd = fd;
	return 0;
}

void socket_close(struct supervisor *sv)
{
	if (sv->listen_fd < 0)
		return;
	unlink(sv->options.socket_path);
	close(sv->listen_fd);
	sv->listen_fd = -1;
}

int socket_accept(struct supervisor *sv)
{
	const struct timeval timeout = { .tv_sec = SEND_TIMEOUT_SECONDS };
	int err;

	sv->qemu_fd = accept4(sv->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (sv->qemu_fd < 0) {
		if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)
			return 0;
		log_error("accept: %s", strerror(errno));
		return -1;
	}
	socket_close(sv);
	setsockopt(sv->qemu_fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	err = salvo_link_greet(sv->link, sv->qemu_fd);
	if (err) {
		log_error("cannot send to QEMU: %s", strerror(-err));
		return -1;
	}
	log_info("QEMU has connected");
	return 0;
}

int socket_poll(struct supervisor *sv)
{
	char byte;
	ssize_t got = recv(sv->qemu_fd, &byte, 1, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got > 0) {
		log_error("the other end of the socket sends data: it is not an ivshmem-doorbell");
		return -1;
	}
	log_info("QEMU has closed");
	return 1;
}
