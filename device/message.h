/* SPDX-License-Identifier: MIT */
/*
 * message.h - send descriptors over a UNIX socket
 */
#ifndef SALVO_MESSAGE_H
#define SALVO_MESSAGE_H

#include <stddef.h>

/* Descriptors in one message, at most */
#define SALVO_MESSAGE_FDS 3u

/**
 * salvo_message_send() - Send bytes and @count descriptors. Blocks while the socket is full.
 *
 * Return: 0 or -errno; -EIO if only a part was sent.
 */
int salvo_message_send(int sock, const void *data, size_t bytes, const int *fds,
		       unsigned int count);

#endif /* SALVO_MESSAGE_H */
