/* SPDX-License-Identifier: MIT */
/*
 * exclusion.h - a unit that runs while all others are idle
 */
#ifndef SALVO_EXCLUSION_H
#define SALVO_EXCLUSION_H

#include <stdbool.h>
#include <stdint.h>

struct salvo_gcq_chunk;
struct salvo_queues;

/**
 * salvo_exclusion_claim() - Keep other units from running anything, if all of them are idle.
 * @unit: The caller's unit.
 * @chunk: What it is about to run.
 *
 * Return: whether it may use plain operations; then the caller must call salvo_exclusion_release()
 * after the chunk.
 */
bool salvo_exclusion_claim(struct salvo_queues *queues, unsigned int unit,
			   const struct salvo_gcq_chunk *chunk);
void salvo_exclusion_release(struct salvo_queues *queues);

/**
 * salvo_exclusion_wait() - A unit that counts as idle no more waits until it may run.
 */
void salvo_exclusion_wait(struct salvo_queues *queues, unsigned int unit);

#endif /* SALVO_EXCLUSION_H */
