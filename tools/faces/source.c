// SPDX-License-Identifier: MIT
/*
 * source.c - read frames from pictures and videos
 *
 * The first byte distinguishes a Y4M video, which is read frame by frame, from a picture,
 * which is read as a whole.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
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
	/* No supported picture format begins with this letter. */
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

int source_next(struct source *s, struct image *out, struct faces_error *error)
{
	size_t bytes;
	char *data;
	int r;

	if (s->video)
		return y4m_next(s->video, out, error);
	if (s->done)
		return 0;
	s->done = true;
	r = file_read_all(s->file, IMAGE_MAX_FILE_BYTES, &data, &bytes);
	if (r == -EFBIG)
		return faces_fail(error, r, "the file has more than %u MiB",
				  IMAGE_MAX_FILE_BYTES >> 20);
	if (r)
		return faces_fail(error, r, "%s", strerror(-r));
	r = image_decode((const uint8_t *)data, bytes, out, error);
	free(data);
	return r ? r : 1;
}

bool source_is_video(const struct source *s)
{
	return s->video;
}
