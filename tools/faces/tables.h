/* SPDX-License-Identifier: MIT */
/*
 * tables.h - what the host prepares and the kernels read; included by both
 *
 * The integral images of a level are in one buffer. A row of it has @pitch
 * values: @planes parts of @stride, the plain sums first, then the sums of
 * squares, then the tilted sums, as far as the cascade needs them. Where windows
 * are two pixels apart, a row's even positions come first and its odd positions
 * from @odd on, so that neighbouring windows always read neighbouring values.
 */
#ifndef FACES_TABLES_H
#define FACES_TABLES_H

#define FACES_PLANE_SUM		0
#define FACES_PLANE_SQUARE	1
#define FACES_PLANE_TILTED	2

/* Values past the end of a row or buffer that kernels may read and do not use. */
#define FACES_PADDING		32

struct faces_level {
	int width, height;	/* of the scaled picture */
	int step;		/* from one window to the next: 1 or 2 */
	int columns;		/* windows in a row */
	int words;		/* of 32 windows in a row of the result */
	int x_weights;		/* index of the first of @width weights, rounded up to 8 */
	int y_weights;		/* index of the first of @height weights */
	int planes;
	int stride, odd, pitch;
	int reserved;
};

/* A weight: index of a source pixel and weight of the next one, of 256. */
#define FACES_WEIGHT_SHIFT	9
#define FACES_WEIGHT_MASK	511

struct faces_stage {
	int first_node, end_node;
	float threshold;
	int reserved;
};

/*
 * The nodes of all trees, in order. A child is the index of a node in its tree,
 * or -1 for the leaf on that side. Corners are relative to the window.
 */
struct faces_walk {
	int child[2];
	float leaf[2];
	int index;		/* of this node in its tree */
	int last;		/* it is the last of its tree */
};

struct faces_lbp_node {
	int corner[16];		/* of 3 x 3 cells, row by row */
	unsigned int subset[8];	/* codes that go to child 0 */
	struct faces_walk walk;
	int reserved[2];
};

struct faces_haar_node {
	int corner[12];		/* of three rectangles */
	float weight[3];
	float threshold;	/* values below it go to child 0 */
	struct faces_walk walk;
	int reserved[2];
};

struct faces_cascade {
	int stages;
	int dense_stages;	/* to run on all windows of a block before picking out survivors */
	int norm[2][4];		/* Haar: corners of the rectangle that is the norm, by step - 1 */
	int norm_area;
	int squares;		/* from a sum to the sum of squares at the same place */
};

#endif
