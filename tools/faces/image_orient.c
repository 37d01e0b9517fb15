// SPDX-License-Identifier: MIT
/*
 * image_orient.c - turn a photo the way the camera was held
 *
 * Cameras store the pixels in the order of the sensor, and the orientation in an Exif tag
 * with one of eight values. The Exif block is a small TIFF file: byte order, then a
 * directory of 12-byte entries. It is not trusted: all reads go through get(), which
 * returns 0 outside the block.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

#define EXIF_HEAD	"Exif\0"
#define TAG_ORIENTATION	0x0112

struct tiff {
	const uint8_t *data;
	size_t bytes;
	bool big_endian;
};

static uint32_t get(const struct tiff *t, size_t at, unsigned int size)
{
	uint32_t value = 0;
	unsigned int i;

	if (at > t->bytes || t->bytes - at < size)
		return 0;
	for (i = 0; i < size; i++)
		value |= (uint32_t)t->data[at + i] << 8 * (t->big_endian ? size - 1 - i : i);
	return value;
}

int image_exif_orientation(const uint8_t *data, size_t bytes)
{
	size_t head = sizeof(EXIF_HEAD);
	uint32_t directory, entries, i, value;
	struct tiff t;

	if (bytes < head + 8 || memcmp(data, EXIF_HEAD, head))
		return 1;
	t = (struct tiff) { data + head, bytes - head, data[head] == 'M' };
	if (get(&t, 2, 2) != 42)
		return 1;
	directory = get(&t, 4, 4);
	entries = get(&t, directory, 2);
	for (i = 0; i < entries; i++) {
		size_t at = (size_t)directory + 2 + 12 * i;

		if (get(&t, at, 2) != TAG_ORIENTATION)
			continue;
		value = get(&t, at + 8, 2);
		return value >= 1 && value <= 8 ? value : 1;
	}
	return 1;
}

int image_orient(struct image *image, int orientation, struct faces_error *error)
{
	/* For each orientation: whether to transpose, and what to mirror then. */
	static const struct {
		bool swap, mirror_x, mirror_y;
	} ways[9] = {
		[2] = { false, true, false }, [3] = { false, true, true },
		[4] = { false, false, true }, [5] = { true, false, false },
		[6] = { true, true, false },  [7] = { true, true, true },
		[8] = { true, false, true },
	};
	bool swap = ways[orientation].swap;
	struct image turned;
	int x, y, r;

	if (orientation == 1)
		return 0;
	r = image_init(&turned, swap ? image->height : image->width,
		       swap ? image->width : image->height, image->channels, error);
	if (r)
		return r;
	for (y = 0; y < turned.height; y++) {
		for (x = 0; x < turned.width; x++) {
			int u = ways[orientation].mirror_x ? turned.width - 1 - x : x;
			int v = ways[orientation].mirror_y ? turned.height - 1 - y : y;
			size_t from = swap ? (size_t)u * image->width + v :
					     (size_t)v * image->width + u;
			size_t to = (size_t)y * turned.width + x;

			memcpy(turned.pixels + to * turned.channels,
			       image->pixels + from * image->channels, image->channels);
		}
	}
	image_fini(image);
	*image = turned;
	return 0;
}
