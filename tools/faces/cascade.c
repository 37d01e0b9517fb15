// SPDX-License-Identifier: MIT
/*
 * cascade.c - read OpenCV's cascade files
 *
 * The current format ("opencv-cascade-classifier") stores features, trees and leaves
 * separately; the old one ("opencv-haar-classifier") nests them. Both are loaded into
 * struct cascade; features of the old format are numbered in file order, as OpenCV's
 * conversion does. The file is not trusted: every index and length is checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cascade.h"
#include "io.h"
#include "xml.h"

#define MAX_FILE_BYTES	(64u << 20)
#define MAX_WINDOW	256
#define MAX_PARTS	100000u		/* features, trees, nodes or leaves */
#define MAX_TREE_NODES	64u		/* each window may take all; OpenCV's own have 3 */

/* OpenCV lowers each stage's threshold by this. */
#define THRESHOLD_EPSILON	1e-5f

static int damaged(struct faces_error *error, const char *what)
{
	return faces_fail(error, -EINVAL, "damaged cascade: %s", what);
}

/* Appends a zeroed element to an array of the cascade; NULL at the limit or without memory. */
static void *append(void *array, unsigned int *count, size_t size)
{
	return *count == MAX_PARTS ? NULL : salvo_array_append(array, count, size);
}

/* The error for an append() that returned NULL. */
static int no_room(struct faces_error *error, unsigned int count, const char *what)
{
	if (count < MAX_PARTS)
		return faces_fail(error, -ENOMEM, "out of memory");
	return faces_fail(error, -E2BIG, "the cascade has more than %u %s", MAX_PARTS, what);
}

/* Counts a node of a tree. */
static int count_node(struct cascade_tree *t, struct faces_error *error)
{
	if (t->node_count++ < MAX_TREE_NODES)
		return 0;
	return faces_fail(error, -E2BIG, "a tree of the cascade has more than %u nodes",
			  MAX_TREE_NODES);
}

static struct cascade_tree *add_tree(struct cascade *c)
{
	struct cascade_tree *t = append(&c->trees, &c->tree_count, sizeof(*t));

	if (t) {
		t->first_node = c->node_count;
		t->first_leaf = c->leaf_count;
	}
	return t;
}

static struct cascade_node *add_node(struct cascade *c)
{
	return append(&c->nodes, &c->node_count, sizeof(struct cascade_node));
}

static float *add_leaf(struct cascade *c)
{
	return append(&c->leaves, &c->leaf_count, sizeof(float));
}

static struct cascade_feature *add_feature(struct cascade *c)
{
	return append(&c->features, &c->feature_count, sizeof(struct cascade_feature));
}

/* The value of a child element that holds exactly one integer. */
static bool int_of(const struct xml_element *e, const char *name, int *out)
{
	const struct xml_element *child = xml_child(e, name);
	const char *at = child ? child->text : NULL;

	return xml_int(&at, out) && xml_end(at);
}

static bool float_of(const struct xml_element *e, const char *name, float *out)
{
	const struct xml_element *child = xml_child(e, name);
	const char *at = child ? child->text : NULL;

	return xml_float(&at, out) && xml_end(at);
}

static const char *text_of(const struct xml_element *e, const char *name)
{
	const struct xml_element *child = xml_child(e, name);
	const char *text = child && child->text ? child->text : "";

	return text + strspn(text, " \t\r\n");
}

static bool is_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(text, word, n) && xml_end(text + n);
}

static bool parse_rect(const char **at, struct cascade_rect *r)
{
	return xml_int(at, &r->x) && xml_int(at, &r->y) &&
	       xml_int(at, &r->width) && xml_int(at, &r->height);
}

static int parse_haar_feature(const struct xml_element *e, struct cascade_feature *f,
			      struct faces_error *error)
{
	const struct xml_element *rects = xml_child(e, "rects"), *r;
	unsigned int n = 0;
	int tilted = 0;

	if (!xml_count(rects))
		return damaged(error, "a feature without rectangles");
	for (r = rects->children; r; r = r->next, n++) {
		const char *at = r->text;

		if (n == 3)
			return damaged(error, "a feature with more than three rectangles");
		if (!parse_rect(&at, &f->rect[n]) || !xml_float(&at, &f->rect[n].weight) ||
		    !xml_end(at))
			return damaged(error, "a feature's rectangle");
	}
	if (xml_child(e, "tilted") && !int_of(e, "tilted", &tilted))
		return damaged(error, "a feature's tilt");
	f->tilted = tilted != 0;
	return 0;
}

static bool rect_fits(const struct cascade *c, const struct cascade_feature *f,
		      const struct cascade_rect *r)
{
	int cells = c->type == CASCADE_LBP ? 3 : 1;

	if (r->x < 0 || r->y < 0 || r->width < 1 || r->height < 1 ||
	    r->x > c->width || r->y > c->height || r->width > c->width || r->height > c->height)
		return false;
	if (f->tilted)
		return r->x - r->height >= 0 && r->x + r->width <= c->width &&
		       r->y + r->width + r->height <= c->height;
	return r->x + cells * r->width <= c->width && r->y + cells * r->height <= c->height;
}

/* Checks that apply to both formats, on the loaded cascade. */
static int check(struct cascade *c, struct faces_error *error)
{
	unsigned int i, j;

	if (!c->stage_count || !c->tree_count)
		return damaged(error, "no stages");
	for (i = 0; i < c->feature_count; i++) {
		const struct cascade_feature *f = &c->features[i];

		for (j = 0; j < 3; j++) {
			bool used = c->type == CASCADE_LBP ? j == 0 : f->rect[j].weight != 0;

			if (used && !rect_fits(c, f, &f->rect[j]))
				return damaged(error, "a feature reaches out of the window");
		}
		c->tilted |= f->tilted;
	}
	c->stumps = true;
	for (i = 0; i < c->tree_count; i++) {
		const struct cascade_tree *t = &c->trees[i];

		c->stumps &= t->node_count == 1;
		for (j = 0; j < t->node_count; j++) {
			const struct cascade_node *n = &c->nodes[t->first_node + j];
			unsigned int k;

			if (n->feature < 0 || (unsigned int)n->feature >= c->feature_count)
				return damaged(error, "a feature's index");
			for (k = 0; k < 2; k++)
				if (n->child[k] > 0 ? n->child[k] <= (int)j ||
						      n->child[k] >= (int)t->node_count :
						      -(long)n->child[k] > t->node_count)
					return damaged(error, "a tree's structure");
		}
	}
	return 0;
}

static int parse_tree(struct cascade *c, const struct xml_element *e, struct faces_error *error)
{
	const struct xml_element *nodes = xml_child(e, "internalNodes");
	const struct xml_element *leaves = xml_child(e, "leafValues");
	struct cascade_tree *t = add_tree(c);
	const char *at = nodes ? nodes->text : NULL;
	unsigned int i;

	if (!t)
		return no_room(error, c->tree_count, "trees");
	while (!xml_end(at)) {
		struct cascade_node *n = add_node(c);
		bool fine;

		if (!n)
			return no_room(error, c->node_count, "nodes");
		if (count_node(t, error))
			return -E2BIG;
		fine = xml_int(&at, &n->child[0]) && xml_int(&at, &n->child[1]) &&
		       xml_int(&at, &n->feature);
		if (c->type == CASCADE_HAAR)
			fine = fine && xml_float(&at, &n->threshold);
		for (i = 0; c->type == CASCADE_LBP && i < 8; i++)
			fine = fine && xml_int(&at, (int *)&n->subset[i]);
		if (!fine)
			return damaged(error, "a tree's nodes");
	}
	at = leaves ? leaves->text : NULL;
	for (i = 0; i <= t->node_count; i++) {
		float *leaf = add_leaf(c);

		if (!leaf)
			return no_room(error, c->leaf_count, "leaves");
		if (!xml_float(&at, leaf))
			return damaged(error, "a tree's leaves");
	}
	if (!t->node_count || !xml_end(at))
		return damaged(error, "a tree's leaves");
	return 0;
}

static int parse_present(struct cascade *c, const struct xml_element *root,
			 struct faces_error *error)
{
	const struct xml_element *stages = xml_child(root, "stages");
	const struct xml_element *features = xml_child(root, "features"), *e, *w;
	int categories = 0, r;

	if (!is_word(text_of(root, "stageType"), "BOOST"))
		return faces_fail(error, -EINVAL, "the cascade is not of the stage type BOOST");
	if (is_word(text_of(root, "featureType"), "LBP"))
		c->type = CASCADE_LBP;
	else if (is_word(text_of(root, "featureType"), "HAAR"))
		c->type = CASCADE_HAAR;
	else
		return faces_fail(error, -EINVAL, "the cascade's features are not LBP or HAAR");
	if (xml_child(xml_child(root, "featureParams"), "maxCatCount"))
		int_of(xml_child(root, "featureParams"), "maxCatCount", &categories);
	if (categories != (c->type == CASCADE_LBP ? 256 : 0))
		return damaged(error, "maxCatCount");
	if (!int_of(root, "width", &c->width) || !int_of(root, "height", &c->height))
		return damaged(error, "the window's size");

	for (e = features ? features->children : NULL; e; e = e->next) {
		struct cascade_feature *f = add_feature(c);

		if (!f)
			return no_room(error, c->feature_count, "features");
		if (c->type == CASCADE_LBP) {
			const struct xml_element *rect = xml_child(e, "rect");
			const char *at = rect ? rect->text : NULL;

			if (!parse_rect(&at, &f->rect[0]) || !xml_end(at))
				return damaged(error, "a feature's rectangle");
		} else {
			r = parse_haar_feature(e, f, error);
			if (r)
				return r;
		}
	}

	c->stages = calloc(xml_count(stages) + 1, sizeof(*c->stages));
	if (!c->stages)
		return faces_fail(error, -ENOMEM, "out of memory");
	for (e = stages ? stages->children : NULL; e; e = e->next) {
		struct cascade_stage *s = &c->stages[c->stage_count++];
		const struct xml_element *weak = xml_child(e, "weakClassifiers");

		s->first_tree = c->tree_count;
		if (!float_of(e, "stageThreshold", &s->threshold) || !xml_count(weak))
			return damaged(error, "a stage");
		s->threshold -= THRESHOLD_EPSILON;
		for (w = weak->children; w; w = w->next) {
			r = parse_tree(c, w, error);
			if (r)
				return r;
		}
		s->tree_count = c->tree_count - s->first_tree;
	}
	return 0;
}

/* One side of a node of the old format: a value or the index of a node. */
static bool parse_old_child(struct cascade *c, struct cascade_tree *t,
			    const struct xml_element *e, unsigned int side, int *child)
{
	static const char *const value[] = { "left_val", "right_val" };
	static const char *const node[] = { "left_node", "right_node" };
	float *leaf;

	if (!xml_child(e, value[side]))
		return int_of(e, node[side], child) && *child > 0;
	*child = -(int)(c->leaf_count - t->first_leaf);
	leaf = add_leaf(c);
	return leaf && float_of(e, value[side], leaf);
}

static int parse_old_tree(struct cascade *c, const struct xml_element *tree,
			  struct faces_error *error)
{
	struct cascade_tree *t = add_tree(c);
	const struct xml_element *e;
	int r;

	if (!t)
		return no_room(error, c->tree_count, "trees");
	for (e = tree->children; e; e = e->next) {
		struct cascade_feature *f = add_feature(c);
		struct cascade_node *n = add_node(c);

		if (!f || !n)
			return no_room(error, f ? c->node_count : c->feature_count,
				       f ? "nodes" : "features");
		if (count_node(t, error))
			return -E2BIG;
		r = parse_haar_feature(xml_child(e, "feature"), f, error);
		if (r)
			return r;
		n->feature = c->feature_count - 1;
		if (!float_of(e, "threshold", &n->threshold) ||
		    !parse_old_child(c, t, e, 0, &n->child[0]) ||
		    !parse_old_child(c, t, e, 1, &n->child[1]))
			return damaged(error, "a node");
	}
	if (!t->node_count || c->leaf_count - t->first_leaf != t->node_count + 1)
		return damaged(error, "a tree's leaves");
	return 0;
}

static int parse_old(struct cascade *c, const struct xml_element *root, struct faces_error *error)
{
	const struct xml_element *stages = xml_child(root, "stages"), *e, *w;
	const char *size = text_of(root, "size");
	int r;

	c->type = CASCADE_HAAR;
	if (!xml_int(&size, &c->width) || !xml_int(&size, &c->height) || !xml_end(size))
		return damaged(error, "the window's size");
	c->stages = calloc(xml_count(stages) + 1, sizeof(*c->stages));
	if (!c->stages)
		return faces_fail(error, -ENOMEM, "out of memory");
	for (e = stages ? stages->children : NULL; e; e = e->next) {
		struct cascade_stage *s = &c->stages[c->stage_count++];
		const struct xml_element *trees = xml_child(e, "trees");

		s->first_tree = c->tree_count;
		if (!float_of(e, "stage_threshold", &s->threshold) || !xml_count(trees))
			return damaged(error, "a stage");
		s->threshold -= THRESHOLD_EPSILON;
		for (w = trees->children; w; w = w->next) {
			r = parse_old_tree(c, w, error);
			if (r)
				return r;
		}
		s->tree_count = c->tree_count - s->first_tree;
	}
	return 0;
}

int cascade_parse(const char *data, size_t bytes, struct cascade **out, struct faces_error *error)
{
	const struct xml_element *e;
	struct xml_element *root;
	struct cascade *c;
	int r;

	r = xml_parse(data, bytes, &root, error);
	if (r)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c) {
		xml_free(root);
		return faces_fail(error, -ENOMEM, "out of memory");
	}
	e = strcmp(root->name, "opencv_storage") ? NULL : root->children;
	if (e && e->type_id && !strcmp(e->type_id, "opencv-haar-classifier"))
		r = parse_old(c, e, error);
	else if (e && xml_child(e, "stageType"))
		r = parse_present(c, e, error);
	else
		r = faces_fail(error, -EINVAL, "not an OpenCV cascade");
	xml_free(root);

	if (!r && (c->width < 3 || c->height < 3 || c->width > MAX_WINDOW ||
		   c->height > MAX_WINDOW))
		r = damaged(error, "the window's size");
	if (!r)
		r = check(c, error);
	if (r) {
		cascade_free(c);
		return r;
	}
	*out = c;
	return 0;
}

int cascade_load(const char *path, struct cascade **out, struct faces_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct faces_error why;
	size_t bytes;
	char *data;
	int r;

	if (fd < 0)
		return faces_fail(error, -errno, "%s: %s", path, strerror(errno));
	r = salvo_read_regular(fd, MAX_FILE_BYTES, &data, &bytes);
	close(fd);
	if (r == -EFBIG)
		return faces_fail(error, r, "%s: a cascade file has at most %u MiB", path,
				  MAX_FILE_BYTES >> 20);
	if (r)
		return faces_fail(error, r, "%s: %s", path,
				  r == -EINVAL ? "not a regular file" : strerror(-r));
	r = cascade_parse(data, bytes, out, &why);
	if (r)
		faces_fail(error, r, "%.100s: %.150s", path, why.text);
	free(data);
	return r;
}

void cascade_free(struct cascade *c)
{
	if (!c)
		return;
	free(c->features);
	free(c->stages);
	free(c->trees);
	free(c->nodes);
	free(c->leaves);
	free(c);
}
