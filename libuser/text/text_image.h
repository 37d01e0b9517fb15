/* SPDX-License-Identifier: MIT */
/*
 * text_image.h - the words for images and samplers in the human-readable form
 */
#ifndef SALVO_TEXT_IMAGE_H
#define SALVO_TEXT_IMAGE_H

#include <stdint.h>
#include <stdio.h>

#include "salvo.h"

/**
 * struct salvo_text_word - A word and the number that it stands for.
 */
struct salvo_text_word {
	const char *text;
	uint32_t number;
};

/* Each ends with a word that is NULL. */
extern const struct salvo_text_word salvo_text_orders[];
extern const struct salvo_text_word salvo_text_formats[];
extern const struct salvo_text_word salvo_text_addresses[];
extern const struct salvo_text_word salvo_text_filters[];

void salvo_text_write_image(const struct salvo_image_info *info, FILE *file);
void salvo_text_write_sampler(uint32_t sampler, FILE *file);

#endif /* SALVO_TEXT_IMAGE_H */
