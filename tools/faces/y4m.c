// SPDX-License-Identifier: MIT
/*
 * y4m.c - uncompressed YUV4MPEG2 video
 *
 * A header line with the size and the kind of chroma, then for each frame a line
 * and its planes. Only luma is used; chroma is skipped.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "y4m.h"

#define MAX_LINE	1024

struct y4m {
	FILE *file;
	int width, height;
	size_t chroma_bytes;		/* of both planes, and alpha */
};

/* A line without its end; false at the end of the file or if it is too long. */
static bool read_line(FILE *f, char *line)
{
	int c, n = 0;

	while ((c = getc(f)) != EOF && c != '\n') {
		if (n == MAX_LINE - 1)
			return false;
		line[n++] = c;
	}
	line[n] = 0;
	return c == '\n';
}

/* Width and height in chroma samples of each of @planes planes. */
static int chroma_size(const char *kind, int width, int height, size_t *out,
		       struct faces_error *error)
{
	static const struct {
		const char *name;
		int across, down, planes;
	} kinds[] = {
		{ "420", 2, 2, 2 }, { "420jpeg", 2, 2, 2 }, { "420mpeg2", 2, 2, 2 },
		{ "420paldv", 2, 2, 2 }, { "422", 2, 1, 2 }, { "444", 1, 1, 2 },
		{ "444alpha", 1, 1, 3 }, { "411", 4, 1, 2 }, { "mono", 1, 1, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t across = (width + kinds[i].across - 1) / kinds[i].across;
		size_t down = (height + kinds[i].down - 1) / kinds[i].down;

		if (strcmp(kind, kinds[i].name))
			continue;
		*out = across * down * kinds[i].planes;
		return 0;
	}
	return faces_fail(error, -EINVAL, "Y4M: colour space \"%.32s\" is not supported", kind);
}

/* Digits and nothing else. */
static bool parse_side(const char *text, int *out)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < 1 || value > IMAGE_MAX_SIDE)
		return false;
	*out = value;
	return true;
}

static int parse_header(struct y4m *v, char *line, struct faces_error *error)
{
	char *save, *word = strtok_r(line, " ", &save), *kind = "420";

	if (!word || strcmp(word, Y4M_MAGIC))
		return faces_fail(error, -EINVAL, "not a JPEG, PNG, PGM, PPM or Y4M file");
	while ((word = strtok_r(NULL, " ", &save))) {
		if ((word[0] == 'W' && !parse_side(word + 1, &v->width)) ||
		    (word[0] == 'H' && !parse_side(word + 1, &v->height)))
			return faces_fail(error, -EINVAL, "Y4M: %.32s: %s must be 1 to %d", word,
					  word[0] == 'W' ? "width" : "height", IMAGE_MAX_SIDE);
		if (word[0] == 'C')
			kind = word + 1;
	}
	if (!v->width || !v->height)
		return faces_fail(error, -EINVAL, "Y4M: the header has no width or no height");
	return chroma_size(kind, v->width, v->height, &v->chroma_bytes, error);
}

int y4m_open(FILE *file, struct y4m **out, struct faces_error *error)
{
	struct y4m *v = calloc(1, sizeof(*v));
	char line[MAX_LINE];
	int r;

	if (!v)
		return faces_fail(error, -ENOMEM, "out of memory");
	v->file = file;
	if (read_line(file, line))
		r = parse_header(v, line, error);
	else
		r = faces_fail(error, -EINVAL, "Y4M: damaged header");
	if (r) {
		free(v);
		return r;
	}
	*out = v;
	return 0;
}

void y4m_close(struct y4m *v)
{
	free(v);
}

static bool skip(FILE *f, size_t bytes)
{
	char buffer[4096];

	while (bytes) {
		size_t n = bytes < sizeof(buffer) ? bytes : sizeof(buffer);

		if (fread(buffer, 1, n, f) != n)
			return false;
		bytes -= n;
	}
	return true;
}

int y4m_next(struct y4m *v, struct image *out, struct faces_error *error)
{
	size_t luma = (size_t)v->width * v->height;
	char line[MAX_LINE];
	int c = getc(v->file), r;

	if (c == EOF)
		return 0;
	ungetc(c, v->file);
	if (!read_line(v->file, line) || strncmp(line, "FRAME", 5))
		return faces_fail(error, -EINVAL, "Y4M: damaged frame");
	r = image_init(out, v->width, v->height, 1, error);
	if (r)
		return r;
	if (fread(out->pixels, 1, luma, v->file) != luma || !skip(v->file, v->chroma_bytes)) {
		image_fini(out);
		return faces_fail(error, -EINVAL, "Y4M: the last frame is cut off");
	}
	return 1;
}
