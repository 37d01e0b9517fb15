// SPDX-License-Identifier: MIT
/*
 * file.c - read files of unknown length with a limit
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ROOM 65536u

int file_read_all(FILE *file, size_t limit, char **data, size_t *bytes)
{
	size_t room = 0, used = 0, got;
	char *text = NULL, *grown;
	int err;

	do {
		/* One byte more than the limit, to see that a file passes it, and the zero byte. */
		if (room - used < 2) {
			room = room ? 2 * room : FIRST_ROOM;
			if (room > limit + 2)
				room = limit + 2;
			grown = realloc(text, room);
			if (!grown) {
				err = -ENOMEM;
				goto err_free;
			}
			text = grown;
		}
		errno = 0;
		got = fread(text + used, 1, room - used - 1, file);
		used += got;
		if (used > limit) {
			err = -EFBIG;
			goto err_free;
		}
	} while (got);
	if (ferror(file)) {
		err = errno ? -errno : -EIO;
		goto err_free;
	}
	text[used] = 0;
	*data = text;
	*bytes = used;
	return 0;

err_free:
	free(text);
	return err;
}

bool file_read_text(const char *path, char *out, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = -1;

	if (fd >= 0) {
		got = read(fd, out, bytes - 1);
		close(fd);
	}
	out[got > 0 ? got : 0] = 0;
	return got > 0;
}

bool file_read_word(const char *path, char *out, size_t bytes)
{
	const bool got = file_read_text(path, out, bytes);

	out[strcspn(out, " \t\n")] = 0;
	return got;
}
