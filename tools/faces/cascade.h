/* SPDX-License-Identifier: MIT */
/*
 * cascade.h - a boosted cascade of OpenCV in memory
 */
#ifndef FACES_CASCADE_H
#define FACES_CASCADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum cascade_type {
	CASCADE_LBP,
	CASCADE_HAAR,
};

/**
 * struct cascade_rect - A rectangle in the window; for LBP one of 3 x 3 cells.
 */
struct cascade_rect {
	int x, y, width, height;
	float weight;
};

struct cascade_feature {
	struct cascade_rect rect[3];	/* LBP uses the first; an unused one has weight 0 */
	bool tilted;			/* turned by 45 degrees */
};

/**
 * struct cascade_node - A decision.
 *
 * @child[0] is taken if the value is below @threshold, or, for LBP, if the value's bit in
 * @subset is set; else @child[1]. A child above 0 is the index of a node in the same tree,
 * above that of this node; otherwise -child is the index of a leaf of the tree.
 */
struct cascade_node {
	int feature;
	float threshold;
	uint32_t subset[8];
	int child[2];
};

struct cascade_tree {
	unsigned int first_node, node_count;
	unsigned int first_leaf;	/* node_count + 1 of them */
};

struct cascade_stage {
	unsigned int first_tree, tree_count;
	float threshold;		/* a window passes if its sum is not below it */
};

struct cascade {
	enum cascade_type type;
	int width, height;		/* of the window */
	bool tilted;			/* a feature is */
	bool stumps;			/* each tree has one node */
	struct cascade_feature *features;
	struct cascade_stage *stages;
	struct cascade_tree *trees;
	struct cascade_node *nodes;	/* of all trees, in order */
	float *leaves;
	unsigned int feature_count, stage_count, tree_count, node_count, leaf_count;
};

/**
 * cascade_load() - Read an OpenCV cascade file: LBP or Haar, current or old format.
 *
 * The file is not trusted: in an accepted cascade all indices are in bounds, rectangles are
 * inside the window and trees have no cycles.
 *
 * Return: 0 or a negative errno with @error set.
 */
int cascade_load(const char *path, struct cascade **out, struct faces_error *error);
/** cascade_parse() - The same from memory. */
int cascade_parse(const char *data, size_t bytes, struct cascade **out,
		  struct faces_error *error);
void cascade_free(struct cascade *cascade);

#endif
