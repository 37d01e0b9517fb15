// SPDX-License-Identifier: MIT
/*
 * text_image.c - images and samplers of the human-readable form, written
 *
 *	WIDTH[,HEIGHT[,DEPTH]] ORDER FORMAT [layers COUNT] [pitch ROW[,SLICE]]
 *	[normalized,][ADDRESS,]FILTER | NUMBER
 *
 * The numbers of orders, formats and sampler bits are those of struct salvo_image_info and
 * SALVO_SAMPLER_*; the words are made from OpenCL's names. libuser/parse/parse_image.c reads them.
 */
#include "text_image.h"

#include <inttypes.h>

/* The bits of a sampler that say how coordinates outside are treated, and how pixels are mixed. */
#define ADDRESSES	0x0eu
#define FILTERS		(SALVO_SAMPLER_NEAREST | SALVO_SAMPLER_LINEAR)

const struct salvo_text_word salvo_text_orders[] = {
	{ "r", SALVO_IMAGE_R }, { "a", SALVO_IMAGE_A }, { "rg", SALVO_IMAGE_RG },
	{ "ra", SALVO_IMAGE_RA }, { "rgba", SALVO_IMAGE_RGBA }, { "bgra", SALVO_IMAGE_BGRA },
	{ "argb", SALVO_IMAGE_ARGB }, { "intensity", SALVO_IMAGE_INTENSITY },
	{ "luminance", SALVO_IMAGE_LUMINANCE }, { }
};

const struct salvo_text_word salvo_text_formats[] = {
	{ "snorm8", SALVO_IMAGE_SNORM_INT8 }, { "snorm16", SALVO_IMAGE_SNORM_INT16 },
	{ "unorm8", SALVO_IMAGE_UNORM_INT8 }, { "unorm16", SALVO_IMAGE_UNORM_INT16 },
	{ "i8", SALVO_IMAGE_SIGNED_INT8 }, { "i16", SALVO_IMAGE_SIGNED_INT16 },
	{ "i32", SALVO_IMAGE_SIGNED_INT32 }, { "u8", SALVO_IMAGE_UNSIGNED_INT8 },
	{ "u16", SALVO_IMAGE_UNSIGNED_INT16 }, { "u32", SALVO_IMAGE_UNSIGNED_INT32 },
	{ "f16", SALVO_IMAGE_HALF_FLOAT }, { "f32", SALVO_IMAGE_FLOAT }, { }
};

const struct salvo_text_word salvo_text_addresses[] = {
	{ "clamp_to_edge", SALVO_SAMPLER_CLAMP_TO_EDGE }, { "clamp", SALVO_SAMPLER_CLAMP },
	{ "repeat", SALVO_SAMPLER_REPEAT },
	{ "mirrored_repeat", SALVO_SAMPLER_MIRRORED_REPEAT }, { }
};

const struct salvo_text_word salvo_text_filters[] = {
	{ "nearest", SALVO_SAMPLER_NEAREST }, { "linear", SALVO_SAMPLER_LINEAR }, { }
};

/* NULL if there is no such word. */
static const char *word_of(const struct salvo_text_word *words, uint32_t number)
{
	while (words->text && words->number != number)
		words++;
	return words->text;
}

void salvo_text_write_sampler(uint32_t sampler, FILE *file)
{
	const char *filter = word_of(salvo_text_filters, sampler & FILTERS);
	const char *address = word_of(salvo_text_addresses, sampler & ADDRESSES);

	if (!filter || (!address && (sampler & ADDRESSES)) ||
	    (sampler & ~(SALVO_SAMPLER_NORMALIZED | ADDRESSES | FILTERS))) {
		fprintf(file, "0x%" PRIx32, sampler);
		return;
	}
	fprintf(file, "%s%s%s%s", sampler & SALVO_SAMPLER_NORMALIZED ? "normalized," : "",
		address ? address : "", address ? "," : "", filter);
}

void salvo_text_write_image(const struct salvo_image_info *info, FILE *file)
{
	fprintf(file, "%" PRIu32, info->width);
	if (info->height || info->depth)
		fprintf(file, ",%" PRIu32, info->height ? info->height : 1);
	if (info->depth)
		fprintf(file, ",%" PRIu32, info->depth);
	fprintf(file, " %s %s", word_of(salvo_text_orders, info->order),
		word_of(salvo_text_formats, info->type));
	if (info->layers)
		fprintf(file, " layers %" PRIu32, info->layers);
	if (info->row_pitch || info->slice_pitch)
		fprintf(file, " pitch %" PRIu64, info->row_pitch);
	if (info->slice_pitch)
		fprintf(file, ",%" PRIu64, info->slice_pitch);
}
