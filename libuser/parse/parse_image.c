// SPDX-License-Identifier: MIT
/*
 * parse_image.c - images and samplers of the human-readable form, read
 */
#include "image.h"
#include "parse_words.h"
#include "text_image.h"

static bool take_one(struct salvo_text_parser *p, const struct salvo_text_word *words,
		     uint32_t *number)
{
	for (; words->text; words++) {
		if (salvo_text_take_word(p, words->text)) {
			*number = words->number;
			return true;
		}
	}
	return false;
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
	if (!take_one(p, salvo_text_orders, &info->order))
		return salvo_text_fail(p, "the order of channels is missing: r, rg, rgba, bgra, ...");
	if (!take_one(p, salvo_text_formats, &info->type))
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
				  "no image: a size over 65536 (of one row 2^27), layers with a depth, or a pitch that does not fit");
}

/* Words in this order, with commas between them; or a number. */
bool salvo_text_need_sampler(struct salvo_text_parser *p, uint32_t *sampler)
{
	uint32_t address = 0, filter = 0, normalized = 0;

	if (salvo_text_take_word(p, "normalized"))
		normalized = SALVO_SAMPLER_NORMALIZED;
	if (normalized && !salvo_text_need(p, ','))
		return false;
	if (take_one(p, salvo_text_addresses, &address) && !salvo_text_need(p, ','))
		return false;
	if (!take_one(p, salvo_text_filters, &filter)) {
		if (normalized || address)
			return salvo_text_fail(p, "'nearest' or 'linear' is missing");
		return salvo_text_need_u32(p, sampler, "a sampler");
	}
	*sampler = normalized | address | filter;
	return true;
}
