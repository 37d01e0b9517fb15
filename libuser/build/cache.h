/* SPDX-License-Identifier: MIT */
/*
 * cache.h - compiled programs on disk
 */
#ifndef SALVO_LIB_CACHE_H
#define SALVO_LIB_CACHE_H

#include <sha2.h>
#include <stdint.h>

#include "compiler.h"

/** salvo_cache_hash() - Add bytes to a hash. */
static inline void salvo_cache_hash(SHA2_CTX *hash, const void *data, size_t bytes)
{
	SHA256Update(hash, (const uint8_t *)data, bytes);
}

/**
 * salvo_cache_read() - The entry of a key: program and messages, which the caller frees
 *
 * Return: 0, -ENOENT, -ENOMEM; on failure there is nothing to free.
 */
int salvo_cache_read(const uint8_t key[SHA256_DIGEST_LENGTH], struct salvo_text_block *program,
		     struct salvo_text_block *messages);

/** salvo_cache_write() - Add an entry; a failure only means a later miss. */
void salvo_cache_write(const uint8_t key[SHA256_DIGEST_LENGTH],
		       const struct salvo_text_block *program,
		       const struct salvo_text_block *messages);

/** salvo_cache_limit() - Bytes that all entries may take: SALVO_CACHE_MIB, or 256 MiB. */
uint64_t salvo_cache_limit(void);

/**
 * salvo_cache_account() - An entry of @bytes was written to @folder
 *
 * Removes the least recently used entries if they are over the limit.
 */
void salvo_cache_account(int folder, uint64_t bytes);

#endif /* SALVO_LIB_CACHE_H */
