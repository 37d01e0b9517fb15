/* SPDX-License-Identifier: MIT */
/*
 * headers.h - headers that the application has in memory, as files for the compiler
 */
#ifndef SALVO_LIB_HEADERS_H
#define SALVO_LIB_HEADERS_H

#include <limits.h>

#include "compiler.h"
#include "salvo.h"

/**
 * struct salvo_header_folder - The folder that they are in; "" without headers.
 */
struct salvo_header_folder {
	char path[PATH_MAX];
};

/** salvo_headers_write() - Write them. Return: 0, -EINVAL (a name), -ENOMEM, an error of open(). */
int salvo_headers_write(struct salvo_header_folder *folder, const struct salvo_header *headers,
			unsigned int count);
/** salvo_headers_remove() - Remove the folder and all in it. */
void salvo_headers_remove(const struct salvo_header_folder *folder);
/** salvo_headers_hide() - Take the folder's path out of a text: its name is random. */
void salvo_headers_hide(const struct salvo_header_folder *folder, struct salvo_text_block *text);

#endif /* SALVO_LIB_HEADERS_H */
