// SPDX-License-Identifier: MIT
/*
 * message.c - send descriptors over a UNIX socket
 *
 * To QEMU, which gets the memory and the eventfds of the GPU (link_pci.c), and to the zygote, which
 * gets the files of a new process (zygote.c). Raises no SIGPIPE if the other end is closed.
 */
#include "message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int salvo_message_send(int sock, const void *data, size_t bytes, const int *fds,
		       unsigned int count)
{
	union {
		char bytes[CMSG_SPACE(SALVO_MESSAGE_FDS * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec vector = { .iov_base = (void *)data, .iov_len = bytes };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	ssize_t sent;

	if (count) {
		struct cmsghdr *header;

		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(header), fds, count * sizeof(int));
	}
	do {
		sent = sendmsg(sock, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return (size_t)sent == bytes ? 0 : -EIO;
}
