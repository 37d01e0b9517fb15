// SPDX-License-Identifier: MIT
/*
 * text_image.c - images and samplers of the human-readable form, read and written
 *
 *	WIDTH[,HEIGHT[,DEPTH]] ORDER FORMAT [layers COUNT] [pitch ROW[,SLICE]]
 *	[normalized,][ADDRESS,]FILTER | NUMBER
 *
 * The numbers of orders, formats and sampler bits are those of struct salvo_image_info and
 * SALVO_SAMPLER_*; the words are made from OpenCL's names.
 */
#include <inttypes.h>
#include <string.h>

#include "image.h"
#include "text_words.h"

/* The bits of a sampler that say how coordinates outside are treated, and how pixels are mixed. */
#define ADDRESSES	0x0eu
#define FILTERS		(SALVO_SAMPLER_NEAREST | SALVO_SAMPLER_LINEAR)

struct word {
	const char *text;
	uint32_t number;
};

static const struct word orders[] = {
	{ "r", SALVO_IMAGE_R }, { "a", SALVO_IMAGE_A }, { "rg", SALVO_IMAGE_RG },
	{ "ra", SALVO_IMAGE_RA }, { "rgba", SALVO_IMAGE_RGBA }, { "bgra", SALVO_IMAGE_BGRA },
	{ "argb", SALVO_IMAGE_ARGB }, { "intensity", SALVO_IMAGE_INTENSITY },
	{ "luminance", SALVO_IMAGE_LUMINANCE }, { }
};

static const struct word formats[] = {
	{ "snorm8", SALVO_IMAGE_SNORM_INT8 }, { "snorm16", SALVO_IMAGE_SNORM_INT16 },
	{ "unorm8", SALVO_IMAGE_UNORM_INT8 }, { "unorm16", SALVO_IMAGE_UNORM_INT16 },
	{ "i8", SALVO_IMAGE_SIGNED_INT8 }, { "i16", SALVO_IMAGE_SIGNED_INT16 },
	{ "i32", SALVO_IMAGE_SIGNED_INT32 }, { "u8", SALVO_IMAGE_UNSIGNED_INT8 },
	{ "u16", SALVO_IMAGE_UNSIGNED_INT16 }, { "u32", SALVO_IMAGE_UNSIGNED_INT32 },
	{ "f16", SALVO_IMAGE_HALF_FLOAT }, { "f32", SALVO_IMAGE_FLOAT }, { }
};

static const struct word addresses[] = {
	{ "clamp_to_edge", SALVO_SAMPLER_CLAMP_TO_EDGE }, { "clamp", SALVO_SAMPLER_CLAMP },
	{ "repeat", SALVO_SAMPLER_REPEAT },
	{ "mirrored_repeat", SALVO_SAMPLER_MIRRORED_REPEAT }, { }
};

static const struct word filters[] = {
	{ "nearest", SALVO_SAMPLER_NEAREST }, { "linear", SALVO_SAMPLER_LINEAR }, { }
};

static bool take_one(struct salvo_text_parser *p, const struct word *words, uint32_t *number)
{
	for (; words->text; words++) {
		if (salvo_text_take_word(p, words->text)) {
			*number = words->number;
			return true;
		}
	}
	return false;
}

/* NULL if there is no such word. */
static const char *word_of(const struct word *words, uint32_t number)
{
	while (words->text && words->number != number)
		words++;
	return words->text;
}

bool salvo_text_need_image(struct salvo_text_parser *p, struct salvo_image_info *info,
			   uint64_t *bytes)
{
	struct salvo_image_view view;
	unsigned int dims;
	uint32_t sizes[3];
	const char *start;

	salvo_text_skip_space(p);
	start = p->at;
	if (!salvo_text_need_range(p, sizes, &dims, "a number of pixels"))
		return false;
	info->width = sizes[0];
	info->height = dims > 1 ? sizes[1] : 0;
	info->depth = dims > 2 ? sizes[2] : 0;
	if (!take_one(p, orders, &info->order))
		return salvo_text_fail(p, "the order of channels is missing: r, rg, rgba, bgra, ...");
	if (!take_one(p, formats, &info->type))
		return salvo_text_fail(p, "the format of channels is missing: unorm8, u8, i16, f32, ...");
	if (salvo_text_take_word(p, "layers") &&
	    !salvo_text_need_u32(p, &info->layers, "the number of layers"))
		return false;
	if (salvo_text_take_word(p, "pitch")) {
		if (!salvo_text_need_size(p, &info->row_pitch, "the pitch of rows"))
			return false;
		if (salvo_text_take(p, ',') &&
		    !salvo_text_need_size(p, &info->slice_pitch, "the pitch of slices"))
			return false;
	}
	return !salvo_image_shape(info, &view, bytes) ||
	       salvo_text_fail_at(p, start,
				  "no image: a size over 65536, layers with a depth, or a pitch that does not fit");
}

/* Words in this order, with commas between them; or a number. */
bool salvo_text_need_sampler(struct salvo_text_parser *p, uint32_t *sampler)
{
	uint32_t address = 0, filter = 0, normalized = 0;

	if (salvo_text_take_word(p, "normalized"))
		normalized = SALVO_SAMPLER_NORMALIZED;
	if (normalized && !salvo_text_need(p, ','))
		return false;
	if (take_one(p, addresses, &address) && !salvo_text_need(p, ','))
		return false;
	if (!take_one(p, filters, &filter)) {
		if (normalized || address)
			return salvo_text_fail(p, "'nearest' or 'linear' is missing");
		return salvo_text_need_u32(p, sampler, "a sampler");
	}
	*sampler = normalized | address | filter;
	return true;
}

void salvo_text_write_sampler(uint32_t sampler, FILE *file)
{
	const char *filter = word_of(filters, sampler & FILTERS);
	const char *address = word_of(addresses, sampler & ADDRESSES);

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
	fprintf(file, " %s %s", word_of(orders, info->order), word_of(formats, info->type));
	if (info->layers)
		fprintf(file, " layers %" PRIu32, info->layers);
	if (info->row_pitch || info->slice_pitch)
		fprintf(file, " pitch %" PRIu64, info->row_pitch);
	if (info->slice_pitch)
		fprintf(file, ",%" PRIu64, info->slice_pitch);
}
