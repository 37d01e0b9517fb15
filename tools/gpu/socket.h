/* SPDX-License-Identifier: MIT */
/*
 * socket.h - the socket to QEMU
 */
#ifndef GPU_SOCKET_H
#define GPU_SOCKET_H

struct supervisor;

/* Makes the socket. Returns 0, or -1 after a message. */
int socket_listen(struct supervisor *sv);

/* Removes the socket, if there is one. */
void socket_close(struct supervisor *sv);

/* QEMU connects: sends it memory and eventfds. Returns 0, or -1 after a message. */
int socket_accept(struct supervisor *sv);

/* The connection is readable. Returns 0 to go on, 1 when QEMU has closed it, -1 after a message. */
int socket_poll(struct supervisor *sv);

#endif /* GPU_SOCKET_H */
