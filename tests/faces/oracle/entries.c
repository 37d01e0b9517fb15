// SPDX-License-Identifier: MIT
/*
 * entries.c - OpenCV's detections, and the pictures and cascades they were made with
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "entries.h"
#include "source.h"

static const char *from_environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &room, 0, f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

static int number(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItem(object, name)->valueint;
}

static void read_entry(const cJSON *json, struct entry *e)
{
	const cJSON *rects = cJSON_GetObjectItem(json, "rects"), *r;

	snprintf(e->image, sizeof(e->image), "%s", cJSON_GetObjectItem(json, "image")->valuestring);
	snprintf(e->cascade, sizeof(e->cascade), "%s",
		 cJSON_GetObjectItem(json, "cascade")->valuestring);
	if (cJSON_HasObjectItem(json, "x")) {
		e->x = number(json, "x");
		e->y = number(json, "y");
	}
	e->width = number(json, "width");
	e->height = number(json, "height");
	e->options.scale_factor = cJSON_GetObjectItem(json, "scaleFactor")->valuedouble;
	e->options.min_width = e->options.min_height = number(json, "minSize");
	e->options.max_width = e->options.max_height = number(json, "maxSize");
	e->min_neighbors = number(json, "minNeighbors");
	e->faces = calloc(cJSON_GetArraySize(rects) + 1, sizeof(*e->faces));
	cJSON_ArrayForEach(r, rects) {
		struct face *f = &e->faces[e->count++];

		f->x = cJSON_GetArrayItem(r, 0)->valueint;
		f->y = cJSON_GetArrayItem(r, 1)->valueint;
		f->width = cJSON_GetArrayItem(r, 2)->valueint;
		f->height = cJSON_GetArrayItem(r, 3)->valueint;
		if (cJSON_GetArraySize(r) > 4)
			f->neighbors = cJSON_GetArrayItem(r, 4)->valueint;
	}
}

int entries_load(struct entry **out)
{
	cJSON *json, *item;
	char path[4096], *text;
	int count = 0;

	snprintf(path, sizeof(path), "%s/opencv-4.6-rects.json",
		 from_environment("SALVO_TEST_DATA", "tests/data"));
	text = read_text(path);
	json = text ? cJSON_Parse(text) : NULL;
	free(text);
	if (!json)
		return -1;
	*out = calloc(cJSON_GetArraySize(json) + 1, sizeof(**out));
	cJSON_ArrayForEach(item, json)
		read_entry(item, &(*out)[count++]);
	cJSON_Delete(json);
	return count;
}

void entries_free(struct entry *entries, int count)
{
	while (count--)
		free(entries[count].faces);
	free(entries);
}

bool entry_same_pyramid(const struct entry *a, const struct entry *b)
{
	return !strcmp(a->image, b->image) && !strcmp(a->cascade, b->cascade) &&
	       a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height &&
	       a->options.scale_factor == b->options.scale_factor &&
	       a->options.min_width == b->options.min_width &&
	       a->options.max_width == b->options.max_width;
}

bool entry_matches(const struct entry *e, const struct face *raw, int count)
{
	struct face *faces = malloc((count + 1) * sizeof(*faces));
	bool same;

	if (count)
		memcpy(faces, raw, count * sizeof(*faces));
	count = faces_group(faces, count, e->min_neighbors);
	count = faces_clip(faces, count, e->width, e->height);
	same = count == e->count && !memcmp(faces, e->faces, count * sizeof(*faces));
	if (!same)
		printf("# %s %s scale factor %g neighbors %d: %d rectangles, OpenCV has %d\n",
		       e->image, e->cascade, e->options.scale_factor, e->min_neighbors, count,
		       e->count);
	free(faces);
	return same;
}

int test_picture(const char *name, struct image *out)
{
	struct faces_error error;
	struct source *source;
	char path[4096];
	int r;

	snprintf(path, sizeof(path), "%s/%s", from_environment("SALVO_TEST_DATA", "tests/data"),
		 name);
	r = source_open(path, &source, &error);
	if (!r) {
		r = source_next(source, out, &error) == 1 ? 0 : -1;
		source_close(source);
	}
	if (r)
		printf("# %s: %s\n", path, error.text);
	return r;
}

int entry_picture(const struct entry *e, struct image *out)
{
	int y, r = test_picture(e->image, out);

	if (r)
		return r;
	if (out->channels != 1 || e->x + e->width > out->width || e->y + e->height > out->height) {
		image_fini(out);
		return -1;
	}
	for (y = 0; y < e->height; y++)
		memmove(out->pixels + (size_t)y * e->width,
			out->pixels + (size_t)(e->y + y) * out->width + e->x, e->width);
	out->width = e->width;
	out->height = e->height;
	return 0;
}

int test_cascade(const char *name, struct cascade **out)
{
	struct faces_error error;
	char path[4096];
	int r;

	snprintf(path, sizeof(path), "%s/%scascades/%s.xml",
		 from_environment("SALVO_CASCADES", "/usr/share/opencv4"),
		 strncmp(name, "lbp", 3) ? "haar" : "lbp", name);
	r = cascade_load(path, out, &error);
	if (r)
		printf("# %s\n", error.text);
	return r;
}

const char *test_device(void)
{
	return from_environment("SALVO_DEVICE", "soft");
}
