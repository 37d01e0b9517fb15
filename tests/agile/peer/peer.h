/* SPDX-License-Identifier: MIT */
/*
 * peer.h - a second rank that says what it should not
 *
 * The plugin libsalvo-agile-peer.so.1 is two ranks in one process. Rank 1 says at each exchange
 * what rank 0 does, so it is at the same calls, but at one of them some bytes are others.
 */
#ifndef AGILE_PEER_H
#define AGILE_PEER_H

#include <stddef.h>
#include <stdint.h>

#define PEER_ALWAYS (~0u)

/**
 * struct peer - What rank 1 does.
 */
struct peer {
	/** @exchange: Number of the exchange, from 1, at which it lies; 0: none; PEER_ALWAYS. */
	unsigned int exchange;
	/** @exchanges: How many there were. */
	unsigned int exchanges;
	/** @lie: Change what it says. */
	void (*lie)(struct peer *peer, uint8_t *said, size_t bytes);
	uint64_t seed;
	/** @word: What its queue of tasks says. */
	uint64_t word;
};

#endif
