// SPDX-License-Identifier: MIT
/*
 * tables.c - the tables that the kernels read
 *
 * All tables are in one block: the cascade, its stages, its nodes once for each
 * step between windows (with corners as offsets into the integral pictures),
 * the levels, and the weights of the scaling. scale_row works on eight pixels at a
 * time, so widths are rounded up to that.
 */
#include <stdlib.h>
#include <string.h>

#include "cascade.h"
#include "pyramid.h"
#include "tables.h"
#include "tables_make.h"

static int align(int value, int to)
{
	return (value + to - 1) / to * to;
}

static size_t node_bytes(const struct cascade *c)
{
	return c->type == CASCADE_LBP ? sizeof(struct faces_lbp_node) :
					sizeof(struct faces_haar_node);
}

void tables_plan(struct tables *t, const struct cascade *c, const struct pyramid *p)
{
	int widest[3] = { 0 };
	unsigned int i, weights = 0;
	size_t at = 0;

	t->planes = c->type == CASCADE_LBP ? FACES_PLANE_SUM + 1 :
		    c->tilted ? FACES_PLANE_TILTED + 1 : FACES_PLANE_SQUARE + 1;
	for (i = 0; i < p->count; i++) {
		const struct pyramid_level *l = &p->levels[i];

		if (l->width > widest[l->step])
			widest[l->step] = align(l->width, 8);
		weights += align(l->width, 8) + l->height;
	}
	t->odd = align(widest[2] / 2 + 1, 16);
	t->stride = align(widest[1] + 1, 16);
	if (widest[2] && t->stride < 2 * t->odd)
		t->stride = 2 * t->odd;
	t->pitch = t->stride * t->planes;

	t->cascade = at;
	at += align(sizeof(struct faces_cascade), 64);
	t->stages = at;
	at += align(c->stage_count * sizeof(struct faces_stage), 64);
	for (i = 1; i <= 2; i++) {
		t->nodes[i] = at;
		t->used[i] = widest[i] > 0;
		if (t->used[i])
			at += align(c->node_count * node_bytes(c), 64);
	}
	t->levels = at;
	at += align(p->count * sizeof(struct faces_level), 64);
	t->weights = at;
	t->bytes = at + weights * sizeof(unsigned int);
}

/* The offset of a position in a window from the offset of the window. */
static int corner(const struct tables *t, int step, int plane, int x, int y)
{
	int column = step == 1 ? x : (x & 1) * t->odd + (x >> 1);

	return y * t->pitch + plane * t->stride + column;
}

static void rect_corners(const struct tables *t, int step, const struct cascade_rect *r, int *out)
{
	out[0] = corner(t, step, FACES_PLANE_SUM, r->x, r->y);
	out[1] = corner(t, step, FACES_PLANE_SUM, r->x + r->width, r->y);
	out[2] = corner(t, step, FACES_PLANE_SUM, r->x, r->y + r->height);
	out[3] = corner(t, step, FACES_PLANE_SUM, r->x + r->width, r->y + r->height);
}

static void tilted_corners(const struct tables *t, int step, const struct cascade_rect *r, int *out)
{
	int plane = FACES_PLANE_TILTED, w = r->width, h = r->height;

	out[0] = corner(t, step, plane, r->x, r->y);
	out[1] = corner(t, step, plane, r->x - h, r->y + h);
	out[2] = corner(t, step, plane, r->x + w, r->y + w);
	out[3] = corner(t, step, plane, r->x + w - h, r->y + w + h);
}

static void fill_walk(struct faces_walk *out, const struct cascade *c,
		      const struct cascade_tree *tree, unsigned int index)
{
	const struct cascade_node *n = &c->nodes[tree->first_node + index];
	int k;

	out->index = index;
	out->last = index + 1 == tree->node_count;
	for (k = 0; k < 2; k++) {
		out->child[k] = n->child[k] > 0 ? n->child[k] : -1;
		out->leaf[k] = n->child[k] > 0 ? 0 : c->leaves[tree->first_leaf - n->child[k]];
	}
}

static void fill_lbp_node(const struct tables *t, int step, const struct cascade_node *n,
			  const struct cascade_feature *f, struct faces_lbp_node *out)
{
	const struct cascade_rect *r = &f->rect[0];
	int i;

	for (i = 0; i < 16; i++)
		out->corner[i] = corner(t, step, FACES_PLANE_SUM, r->x + i % 4 * r->width,
					r->y + i / 4 * r->height);
	memcpy(out->subset, n->subset, sizeof(out->subset));
}

static void fill_haar_node(const struct tables *t, int step, const struct cascade_node *n,
			   const struct cascade_feature *f, struct faces_haar_node *out)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (f->rect[i].weight == 0)
			continue;
		if (f->tilted)
			tilted_corners(t, step, &f->rect[i], &out->corner[4 * i]);
		else
			rect_corners(t, step, &f->rect[i], &out->corner[4 * i]);
		out->weight[i] = f->rect[i].weight;
	}
	out->threshold = n->threshold;
}

static void fill_nodes(const struct tables *t, const struct cascade *c, int step, char *out)
{
	unsigned int i, j;

	for (i = 0; i < c->tree_count; i++) {
		const struct cascade_tree *tree = &c->trees[i];

		for (j = 0; j < tree->node_count; j++, out += node_bytes(c)) {
			const struct cascade_node *n = &c->nodes[tree->first_node + j];
			const struct cascade_feature *f = &c->features[n->feature];

			if (c->type == CASCADE_LBP) {
				struct faces_lbp_node *node = (struct faces_lbp_node *)out;

				fill_lbp_node(t, step, n, f, node);
				fill_walk(&node->walk, c, tree, j);
			} else {
				struct faces_haar_node *node = (struct faces_haar_node *)out;

				fill_haar_node(t, step, n, f, node);
				fill_walk(&node->walk, c, tree, j);
			}
		}
	}
}

static void fill_stages(const struct cascade *c, struct faces_stage *out)
{
	unsigned int i;

	for (i = 0; i < c->stage_count; i++) {
		const struct cascade_stage *s = &c->stages[i];
		const struct cascade_tree *last = &c->trees[s->first_tree + s->tree_count - 1];

		out[i].first_node = c->trees[s->first_tree].first_node;
		out[i].end_node = last->first_node + last->node_count;
		out[i].threshold = s->threshold;
	}
}

static int fill_weights(int from, int to, unsigned int *out)
{
	int (*pairs)[2] = malloc(to * sizeof(*pairs));
	int i;

	if (!pairs)
		return -1;
	pyramid_weights(from, to, pairs);
	for (i = 0; i < to; i++)
		out[i] = (unsigned int)pairs[i][0] << FACES_WEIGHT_SHIFT | pairs[i][1];
	free(pairs);
	return 0;
}

int tables_fill(const struct tables *t, const struct cascade *c, const struct pyramid *p,
		int width, int height, void *memory)
{
	struct faces_cascade *cascade = memory + t->cascade;
	struct faces_level *levels = memory + t->levels;
	unsigned int *weights = memory + t->weights;
	struct cascade_rect norm = { 1, 1, c->width - 2, c->height - 2, 0 };
	int used = 0, step;
	unsigned int i;

	cascade->stages = c->stage_count;
	cascade->dense_stages = c->type == CASCADE_LBP ? TABLES_DENSE_LBP : TABLES_DENSE_HAAR;
	if (cascade->dense_stages > cascade->stages)
		cascade->dense_stages = cascade->stages;
	cascade->squares = FACES_PLANE_SQUARE * t->stride;
	cascade->norm_area = norm.width * norm.height;
	fill_stages(c, memory + t->stages);
	for (step = 1; step <= 2; step++) {
		rect_corners(t, step, &norm, cascade->norm[step - 1]);
		if (t->used[step])
			fill_nodes(t, c, step, memory + t->nodes[step]);
	}
	for (i = 0; i < p->count; i++) {
		const struct pyramid_level *l = &p->levels[i];

		levels[i] = (struct faces_level) {
			.width = l->width, .height = l->height, .step = l->step,
			.columns = l->columns, .words = (l->columns + 31) / 32,
			.x_weights = used, .y_weights = used + align(l->width, 8),
			.planes = t->planes, .stride = t->stride, .odd = t->odd, .pitch = t->pitch,
		};
		if (fill_weights(width, l->width, weights + used) ||
		    fill_weights(height, l->height, weights + levels[i].y_weights))
			return -1;
		used += align(l->width, 8) + l->height;
	}
	return 0;
}
