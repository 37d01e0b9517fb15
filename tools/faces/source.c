// SPDX-License-Identifier: MIT
/*
 * source.c - where frames come from
 *
 * The first bytes tell a Y4M video, which is read frame by frame, from a picture,
 * which is read whole.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "y4m.h"

struct source {
	FILE *file;
	struct y4m *video;		/* NULL for a picture */
	bool done;
};

int source_open(const char *name, struct source **out, struct faces_error *error)
{
	struct source *s = calloc(1, sizeof(*s));
	int c, r = 0;

	if (!s)
		return faces_fail(error, -ENOMEM, "out of memory");
	s->file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	if (!s->file) {
		r = faces_fail(error, -errno, "%s", strerror(errno));
		free(s);
		return r;
	}
	/* No picture that we read begins with this letter. */
	c = getc(s->file);
	if (c != EOF)
		ungetc(c, s->file);
	if (c == Y4M_MAGIC[0])
		r = y4m_open(s->file, &s->video, error);
	if (r) {
		source_close(s);
		return r;
	}
	*out = s;
	return 0;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	y4m_close(s->video);
	if (s->file != stdin)
		fclose(s->file);
	free(s);
}

/* All of the file, grown as it comes: it may be a pipe. */
static int read_all(FILE *f, uint8_t **out, size_t *bytes, struct faces_error *error)
{
	size_t room = 1 << 16, used = 0, n;
	uint8_t *data = malloc(room), *grown;

	while (data && (n = fread(data + used, 1, room - used, f)) > 0) {
		used += n;
		if (used < room)
			continue;
		if (room >= IMAGE_MAX_FILE_BYTES) {
			free(data);
			return faces_fail(error, -EFBIG, "the file is too big");
		}
		room *= 2;
		grown = realloc(data, room);
		if (!grown)
			free(data);
		data = grown;
	}
	if (!data)
		return faces_fail(error, -ENOMEM, "out of memory");
	if (ferror(f)) {
		free(data);
		return faces_fail(error, -EIO, "%s", strerror(errno));
	}
	*out = data;
	*bytes = used;
	return 0;
}

int source_next(struct source *s, struct image *out, struct faces_error *error)
{
	uint8_t *data = NULL;
	size_t bytes = 0;
	int r;

	if (s->video)
		return y4m_next(s->video, out, error);
	if (s->done)
		return 0;
	s->done = true;
	r = read_all(s->file, &data, &bytes, error);
	if (r)
		return r;
	r = image_decode(data, bytes, out, error);
	free(data);
	return r ? r : 1;
}

bool source_is_video(const struct source *s)
{
	return s->video;
}
