// SPDX-License-Identifier: MIT
/*
 * image_pnm.c - PGM and PPM pictures (binary, up to 255 levels)
 */
#include <errno.h>
#include <string.h>

#include "image.h"

struct cursor {
	const uint8_t *at, *end;
};

/* The next number of the header, after white space and comments; -1 if there is none. */
static int64_t next_number(struct cursor *c)
{
	int64_t value = 0;
	int digits;

	for (;;) {
		while (c->at < c->end && *c->at && strchr(" \t\r\n\v\f", *c->at))
			c->at++;
		if (c->at == c->end || *c->at != '#')
			break;
		while (c->at < c->end && *c->at != '\n')
			c->at++;
	}
	for (digits = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9'; digits++) {
		if (digits == 9)
			return -1;
		value = value * 10 + *c->at++ - '0';
	}
	return digits ? value : -1;
}

int image_decode_pnm(const uint8_t *data, size_t bytes, struct image *out,
		     struct faces_error *error)
{
	struct cursor c = { data + 2, data + bytes };
	int channels = data[1] == '6' ? 3 : 1;
	int64_t width = next_number(&c), height = next_number(&c), levels = next_number(&c);
	size_t i, size;
	int r;

	if (width < 0 || height < 0 || levels < 1 || c.at == c.end)
		return faces_fail(error, -EINVAL, "damaged PGM or PPM header");
	if (levels > 255)
		return faces_fail(error, -EINVAL, "more than 8 bits a channel are not supported");
	c.at++;
	/* Before the allocation: a short file must not cause a large one. */
	if ((int64_t)(c.end - c.at) / channels < width * height)
		return faces_fail(error, -EINVAL, "the file is cut off");
	r = image_init(out, width, height, channels, error);
	if (r)
		return r;
	size = (size_t)width * height * channels;
	memcpy(out->pixels, c.at, size);
	for (i = 0; levels != 255 && i < size; i++) {
		int64_t v = out->pixels[i] > levels ? levels : out->pixels[i];

		out->pixels[i] = (v * 255 + levels / 2) / levels;
	}
	return 0;
}
