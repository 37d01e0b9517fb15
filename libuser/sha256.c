// SPDX-License-Identifier: MIT
/*
 * sha256.c - SHA-256, as FIPS 180-4 describes it
 *
 * The constants are worked out at first use from what they are: fractional digits of
 * the square and cube roots of the first primes. Integers alone are used for that, so
 * that they are exact.
 */
#include "sha256.h"

#include <pthread.h>
#include <string.h>

static uint32_t first[8], round_constants[64];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* 32 bits behind the point of the @power-th root of @n: the largest x with x^power <= n. */
static uint32_t root_digits(unsigned int n, unsigned int power)
{
	unsigned __int128 low = 0, high = (unsigned __int128)20 << 32;

	/* x has 32 bits behind the point and at most 5 before it; x^3 has 111 bits. */
	while (low + 1 < high) {
		unsigned __int128 x = (low + high) / 2, value = x * x;

		if (power == 3)
			value *= x;
		if (value <= (unsigned __int128)n << (32 * power))
			low = x;
		else
			high = x;
	}
	return low;
}

static void work_out_constants(void)
{
	unsigned int n, d, found = 0;

	for (n = 2; found < 64; n++) {
		for (d = 2; d * d <= n && n % d; d++)
			;
		if (d * d <= n)
			continue;
		if (found < 8)
			first[found] = root_digits(n, 2);
		round_constants[found++] = root_digits(n, 3);
	}
}

static uint32_t rotate(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static void take_block(struct salvo_sha256 *hash)
{
	uint32_t w[64], v[8];
	unsigned int i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)hash->block[4 * i] << 24 | hash->block[4 * i + 1] << 16 |
		       hash->block[4 * i + 2] << 8 | hash->block[4 * i + 3];
	for (i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(v, hash->state, sizeof(v));
	for (i = 0; i < 64; i++) {
		uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t most = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
		uint32_t one = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
			       choose + round_constants[i] + w[i];
		uint32_t two = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + most;

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += one;
		v[0] = one + two;
	}
	for (i = 0; i < 8; i++)
		hash->state[i] += v[i];
}

void salvo_sha256_init(struct salvo_sha256 *hash)
{
	pthread_once(&once, work_out_constants);
	memcpy(hash->state, first, sizeof(first));
	hash->bytes = 0;
}

void salvo_sha256_add(struct salvo_sha256 *hash, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	while (bytes) {
		size_t at = hash->bytes % sizeof(hash->block);
		size_t n = sizeof(hash->block) - at < bytes ? sizeof(hash->block) - at : bytes;

		memcpy(hash->block + at, p, n);
		hash->bytes += n;
		p += n;
		bytes -= n;
		if (at + n == sizeof(hash->block))
			take_block(hash);
	}
}

void salvo_sha256_end(struct salvo_sha256 *hash, uint8_t out[SALVO_SHA256_BYTES])
{
	const uint64_t bits = hash->bytes * 8;
	uint8_t byte = 0x80;
	unsigned int i;

	do {
		salvo_sha256_add(hash, &byte, 1);
		byte = 0;
	} while (hash->bytes % 64 != 56);
	for (i = 0; i < 8; i++) {
		byte = bits >> (56 - 8 * i);
		salvo_sha256_add(hash, &byte, 1);
	}
	for (i = 0; i < SALVO_SHA256_BYTES; i++)
		out[i] = hash->state[i / 4] >> (24 - i % 4 * 8);
}
