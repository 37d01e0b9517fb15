// SPDX-License-Identifier: MIT
/*
 * headers.c - headers that the application has in memory, as files for the compiler
 *
 * They are written to a new folder that only the user can read, which exists while the compiler
 * runs. Its path does not leave this file: in messages and in the preprocessed text, which is
 * hashed, headers have the names that the application gave. No locks: each build has a folder.
 */
#include "headers.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"

/* A relative path that does not leave its folder. */
static bool is_inside(const char *name)
{
	const char *part = name;

	if (!name || !*name || *name == '/')
		return false;
	while (part) {
		if (!strncmp(part, "..", 2) && (!part[2] || part[2] == '/'))
			return false;
		part = strchr(part, '/');
		part = part ? part + 1 : NULL;
	}
	return true;
}

/* The folders above a file. */
static void make_parents(char *path, size_t from)
{
	char *slash;

	for (slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
}

static int write_header(const char *folder, const struct salvo_header *header)
{
	const size_t bytes = header->bytes || !header->text ? header->bytes : strlen(header->text);
	char path[PATH_MAX];
	int fd, err;

	if (!is_inside(header->name) ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", folder, header->name) >= sizeof(path))
		return -EINVAL;
	make_parents(path, strlen(folder) + 1);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	err = salvo_write_all(fd, header->text, bytes);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int salvo_headers_write(struct salvo_header_folder *folder, const struct salvo_header *headers,
			unsigned int count)
{
	const char *temporary = secure_getenv("TMPDIR");
	unsigned int i;
	int err = 0;

	folder->path[0] = 0;
	if (!count)
		return 0;
	if (!temporary || *temporary != '/' || strlen(temporary) > sizeof(folder->path) / 2)
		temporary = "/tmp";
	snprintf(folder->path, sizeof(folder->path), "%s/salvo-XXXXXX", temporary);
	if (!mkdtemp(folder->path)) {
		folder->path[0] = 0;
		return -errno;
	}
	for (i = 0; i < count && !err; i++)
		err = write_header(folder->path, &headers[i]);
	if (err) {
		salvo_headers_remove(folder);
		folder->path[0] = 0;
	}
	return err;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	remove(path);
	return 0;
}

void salvo_headers_remove(const struct salvo_header_folder *folder)
{
	if (folder->path[0])
		nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void salvo_headers_hide(const struct salvo_header_folder *folder, struct salvo_text_block *text)
{
	const size_t length = strlen(folder->path) + 1;
	char *from = text->data, *to = text->data, *found;

	if (!folder->path[0] || !from)
		return;
	while ((found = strstr(from, folder->path))) {
		memmove(to, from, found - from);
		to += found - from;
		from = found + (found[length - 1] == '/' ? length : length - 1);
	}
	memmove(to, from, text->data + text->bytes - from + 1);
	text->bytes -= from - to;
}
