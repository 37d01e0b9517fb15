/* SPDX-License-Identifier: MIT */
/*
 * io.h - whole reads and writes of file descriptors
 */
#ifndef SALVO_IO_H
#define SALVO_IO_H

#include <stddef.h>

/** salvo_write_all() - Write @bytes bytes, over interruptions. Return: 0 or -errno. */
int salvo_write_all(int fd, const void *data, size_t bytes);

/**
 * salvo_read_regular() - Read a regular file from its start to its end.
 * @limit: The most bytes that are accepted.
 * @data: On success the caller frees it; a zero byte follows the contents.
 *
 * Open @fd with O_NONBLOCK where the path may be a FIFO.
 *
 * Return: 0, -EINVAL (not a regular file), -EFBIG (longer than @limit), -ENOMEM, -errno.
 */
int salvo_read_regular(int fd, size_t limit, char **data, size_t *bytes);

#endif /* SALVO_IO_H */
