// SPDX-License-Identifier: MIT
/*
 * io.c - whole reads and writes of file descriptors
 */
#include "io.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int salvo_write_all(int fd, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	while (bytes) {
		const ssize_t n = write(fd, at, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		bytes -= n;
	}
	return 0;
}

int salvo_read_regular(int fd, size_t limit, char **data, size_t *bytes)
{
	struct stat st;
	size_t have = 0;
	char *memory;
	ssize_t n = 1;
	int err = 0;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > limit)
		return -EFBIG;
	memory = malloc(st.st_size + 1);
	if (!memory)
		return -ENOMEM;
	while (n && have < (size_t)st.st_size && !err) {
		n = pread(fd, memory + have, st.st_size - have, have);
		if (n > 0)
			have += n;
		else if (n < 0 && errno != EINTR)
			err = -errno;
	}
	if (err) {
		free(memory);
		return err;
	}
	memory[have] = 0;
	*data = memory;
	*bytes = have;
	return 0;
}
