/* SPDX-License-Identifier: MIT */
/*
 * sha256.h - the hash that names the programs in the cache (FIPS 180-4)
 */
#ifndef SALVO_SHA256_H
#define SALVO_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SALVO_SHA256_BYTES 32

/**
 * struct salvo_sha256 - A hash that is being taken.
 */
struct salvo_sha256 {
	uint32_t state[8];
	uint64_t bytes;
	uint8_t block[64];
};

void salvo_sha256_init(struct salvo_sha256 *hash);
void salvo_sha256_add(struct salvo_sha256 *hash, const void *data, size_t bytes);
void salvo_sha256_end(struct salvo_sha256 *hash, uint8_t out[SALVO_SHA256_BYTES]);

#endif /* SALVO_SHA256_H */
