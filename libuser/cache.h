/* SPDX-License-Identifier: MIT */
/*
 * cache.h - compiled programs on disk
 */
#ifndef SALVO_LIB_CACHE_H
#define SALVO_LIB_CACHE_H

#include "compiler.h"
#include "sha256.h"

/** salvo_cache_read() - The entry of a key: program and messages. Return: 0, -ENOENT. */
int salvo_cache_read(const uint8_t key[SALVO_SHA256_BYTES], struct salvo_text_block *program,
		     struct salvo_text_block *messages);

/** salvo_cache_write() - Make an entry; a failure has no effect but that it is missing. */
void salvo_cache_write(const uint8_t key[SALVO_SHA256_BYTES],
		       const struct salvo_text_block *program,
		       const struct salvo_text_block *messages);

#endif /* SALVO_LIB_CACHE_H */
