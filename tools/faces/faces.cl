// SPDX-License-Identifier: MIT
/*
 * faces.cl - the kernels of the face detector
 *
 * Each level of the pyramid is a chain: scale_row, then sum_columns, then
 * cascade_lbp or cascade_haar (with sum_tilted beside sum_columns if the cascade
 * has tilted features). All results are exact: integers, and floats and doubles
 * in the order of OpenCV's own arithmetic.
 *
 * A row of windows is a work-group of one work-item that works on eight windows
 * at a time. First the early stages run on all windows of a block, since their
 * corners are adjacent in memory. Then the remaining windows of the whole row are packed
 * together after every stage, and their corners are gathered.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#include "tables.h"

#define LANES	8

typedef global const uint *sums_t;

/* The index of position x in a row of a level. */
static inline int place(global const struct faces_level *level, int x)
{
	return level->step == 1 ? x : (x & 1) * level->odd + (x >> 1);
}

static inline uint8 running_sum(uint8 v)
{
	v += (uint8)(0, v.s0123, v.s456);
	v += (uint8)(0, 0, v.s0123, v.s45);
	return v + (uint8)(0, 0, 0, 0, v.s0123);
}

/* Store the values of positions x + 1 to x + 8, for x a multiple of eight. */
static inline void store_row(uint8 v, global uint *row, int x, int step, int odd)
{
	if (step == 1) {
		vstore8(v, 0, row + x + 1);
	} else {
		vstore4(v.even, 0, row + odd + x / 2);
		vstore4(v.odd, 0, row + x / 2 + 1);
	}
}

static inline uint pair_at(local const ushort *line, uint x)
{
	return as_uint(vload2(0, line + x));
}

/*
 * One row of a level: scale it, and write the running sums of the row, of its
 * squares too with two planes, and with three the pixels for sum_tilted.
 * The vertical blend of whole source rows comes first, to @line. There are
 * weights, and room in the row, up to a multiple of eight pixels.
 */
kernel void scale_row(global const uchar *frame, int frame_width,
		      global const struct faces_level *level, global const uint *weights,
		      global uint *sums, local ushort *line)
{
	int y = get_global_id(0);
	uint wy = weights[level->y_weights + y];
	global const uchar *top = frame + (size_t)(wy >> FACES_WEIGHT_SHIFT) * frame_width;
	global const uchar *bottom = top + frame_width;
	ushort lower = wy & FACES_WEIGHT_MASK, upper = 256 - lower;
	global const uint *wx = weights + level->x_weights;
	global uint *row = sums + (size_t)(y + 1) * level->pitch;
	int x, width = level->width, planes = level->planes, stride = level->stride;
	int step = level->step, odd = level->odd;
	uint8 total = 0, squares = 0;

	for (x = 0; x < frame_width; x += 16)
		vstore16(convert_ushort16(vload16(0, top + x)) * upper +
			 convert_ushort16(vload16(0, bottom + x)) * lower, 0, line + x);

	for (x = 0; x < width; x += LANES) {
		uint8 weight = vload8(0, wx + x), w = weight & FACES_WEIGHT_MASK;
		uint8 from = weight >> FACES_WEIGHT_SHIFT;
		uint8 pair = (uint8)(pair_at(line, from.s0), pair_at(line, from.s1),
				     pair_at(line, from.s2), pair_at(line, from.s3),
				     pair_at(line, from.s4), pair_at(line, from.s5),
				     pair_at(line, from.s6), pair_at(line, from.s7));
		uint8 left = pair & 0xffff, right = pair >> 16;
		uint8 pixel = (left * 256 + (right - left) * w + 32768) >> 16;

		total = running_sum(pixel) + total.s7;
		store_row(total, row + FACES_PLANE_SUM * stride, x, step, odd);
		if (planes > FACES_PLANE_SQUARE) {
			squares = running_sum(pixel * pixel) + squares.s7;
			store_row(squares, row + FACES_PLANE_SQUARE * stride, x, step, odd);
		}
		if (planes > FACES_PLANE_TILTED)
			store_row(pixel, row + FACES_PLANE_TILTED * stride, x, step, odd);
	}
}

/* Sixteen columns of a plane: running sums downwards. */
kernel void sum_columns(global const struct faces_level *level, global uint *sums)
{
	global uint *at = sums + get_global_id(1) * level->stride + get_global_id(0) * 16;
	int y, height = level->height, pitch = level->pitch;
	uint16 total = 0;

	for (y = 0; y < height; y++) {
		at += pitch;
		total += vload16(0, at);
		vstore16(total, 0, at);
	}
}

/*
 * The tilted sums of a level, row after row: position (x, y) holds the sum of
 * the triangle that opens upwards from pixel (x - 1, y - 1). @before keeps the
 * pixels of the row above, whose place the sums have taken.
 */
kernel void sum_tilted(global const struct faces_level *level, global uint *sums,
		       local uchar *before)
{
	global uint *row = sums + FACES_PLANE_TILTED * level->stride;
	int x, y, width = level->width, pitch = level->pitch;

	for (x = 0; x <= width; x++)
		before[x] = 0;
	for (y = 1; y <= level->height; y++) {
		row += pitch;
		for (x = 0; x <= width; x++) {
			global uint *at = row + place(level, x);
			uint sum = 0, pixel = *at;

			if (x > 0) {
				sum += pixel + before[x];
				sum += row[place(level, x - 1) - pitch];
				before[x] = pixel;
			}
			if (x < width) {
				sum += row[place(level, x + 1) - pitch];
				if (x > 0 && y > 1)
					sum -= at[-2 * pitch];
			}
			*at = sum;
		}
	}
}

/*
 * Eight windows: neighbours from @at on, or those at the indices @lane; of a few,
 * only the first FEW lanes count and are loaded. The kind is known when compiling.
 */
enum kind { NEIGHBOURS, SCATTERED, SCATTERED_FEW };

#define FEW	2

struct windows {
	sums_t at;
	int8 lane;
	enum kind kind;
};

static inline int8 corner(struct windows w, int offset)
{
	sums_t p = w.at + offset;

	if (w.kind == NEIGHBOURS)
		return as_int8(vload8(0, p));
	if (w.kind == SCATTERED_FEW)
		return as_int8((uint8)(p[w.lane.s0], p[w.lane.s1], 0, 0, 0, 0, 0, 0));
	return as_int8((uint8)(p[w.lane.s0], p[w.lane.s1], p[w.lane.s2], p[w.lane.s3],
			       p[w.lane.s4], p[w.lane.s5], p[w.lane.s6], p[w.lane.s7]));
}

/* The lanes of a mask as bits. */
static inline uint bits_of(int8 mask)
{
	int8 b = mask & (int8)(1, 2, 4, 8, 16, 32, 64, 128);
	int4 c = b.lo | b.hi;
	int2 d = c.lo | c.hi;

	return d.x | d.y;
}

/* Eight walks through the trees of a stage. */
struct walks {
	double8 sum;
	int8 node;
};

static inline void walk_step(struct walks *w, global const struct faces_walk *n, int8 first)
{
	float8 leaf = first ? (float8)n->leaf[0] : (float8)n->leaf[1];
	int8 here, next;

	if (n->index == 0 && n->last) {
		w->sum += convert_double8(leaf);
		return;
	}
	here = w->node == n->index;
	next = first ? (int8)n->child[0] : (int8)n->child[1];
	w->sum += convert_double8((here & (next < 0)) ? leaf : (float8)0);
	w->node = n->last ? (int8)0 : here ? next : w->node;
}

static inline int8 stage_end(const struct walks *w, global const struct faces_stage *s)
{
	return convert_int8(w->sum >= (double8)s->threshold);
}

/* Local binary patterns: compare the eight cells around the centre with it. */
static inline int8 lbp_first(global const struct faces_lbp_node *n, struct windows w)
{
	int8 p0 = corner(w, n->corner[0]), p1 = corner(w, n->corner[1]);
	int8 p2 = corner(w, n->corner[2]), p3 = corner(w, n->corner[3]);
	int8 a0 = p0 - p1, a1 = p1 - p2, a2 = p2 - p3;
	int8 q0 = corner(w, n->corner[4]), q1 = corner(w, n->corner[5]);
	int8 q2 = corner(w, n->corner[6]), q3 = corner(w, n->corner[7]);
	int8 b0 = q0 - q1, b1 = q1 - q2, b2 = q2 - q3;
	int8 r0 = corner(w, n->corner[8]), r1 = corner(w, n->corner[9]);
	int8 r2 = corner(w, n->corner[10]), r3 = corner(w, n->corner[11]);
	int8 c0 = r0 - r1, c1 = r1 - r2, c2 = r2 - r3;
	int8 s0 = corner(w, n->corner[12]), s1 = corner(w, n->corner[13]);
	int8 s2 = corner(w, n->corner[14]), s3 = corner(w, n->corner[15]);
	int8 d0 = s0 - s1, d1 = s1 - s2, d2 = s2 - s3;
	int8 centre = b1 - c1;
	int8 bit7 = a0 - b0 >= centre, bit6 = a1 - b1 >= centre, bit5 = a2 - b2 >= centre;
	int8 low = ((b2 - c2 >= centre) & 16) | ((c2 - d2 >= centre) & 8) |
		   ((c1 - d1 >= centre) & 4) | ((c0 - d0 >= centre) & 2) |
		   ((b0 - c0 >= centre) & 1);
	int8 t01 = bit5 ? (int8)n->subset[1] : (int8)n->subset[0];
	int8 t23 = bit5 ? (int8)n->subset[3] : (int8)n->subset[2];
	int8 t45 = bit5 ? (int8)n->subset[5] : (int8)n->subset[4];
	int8 t67 = bit5 ? (int8)n->subset[7] : (int8)n->subset[6];
	int8 t03 = bit6 ? t23 : t01, t47 = bit6 ? t67 : t45;
	int8 word = bit7 ? t47 : t03;

	return word << (31 - low) < 0;
}

static inline int8 lbp_stage(global const struct faces_stage *s,
			     global const struct faces_lbp_node *nodes, struct windows w)
{
	struct walks walks = { 0, 0 };
	int i;

	for (i = s->first_node; i < s->end_node; i++)
		walk_step(&walks, &nodes[i].walk, lbp_first(&nodes[i], w));
	return stage_end(&walks, s);
}

static inline int8 rect_sum(struct windows w, global const int *c)
{
	return corner(w, c[0]) - corner(w, c[1]) - corner(w, c[2]) + corner(w, c[3]);
}

static inline int8 haar_first(global const struct faces_haar_node *n, struct windows w,
			      float8 factor)
{
	float8 value = n->weight[0] * convert_float8(rect_sum(w, n->corner)) +
		       n->weight[1] * convert_float8(rect_sum(w, n->corner + 4));

	if (n->weight[2] != 0)
		value += n->weight[2] * convert_float8(rect_sum(w, n->corner + 8));
	return value * factor < n->threshold;
}

static inline int8 haar_stage(global const struct faces_stage *s,
			      global const struct faces_haar_node *nodes, struct windows w,
			      float8 factor)
{
	struct walks walks = { 0, 0 };
	int i;

	for (i = s->first_node; i < s->end_node; i++)
		walk_step(&walks, &nodes[i].walk, haar_first(&nodes[i], w, factor));
	return stage_end(&walks, s);
}

/* The factor that makes windows of different contrast comparable; 0 for a flat one. */
static inline float8 haar_factor(global const struct faces_cascade *cascade,
				 global const int *norm, struct windows w)
{
	double8 area = cascade->norm_area;
	struct windows squares = w;
	double8 sum = convert_double8(rect_sum(w, norm));
	double8 n, root;
	float8 factor;

	squares.at += cascade->squares;
	n = area * convert_double8(as_uint8(rect_sum(squares, norm))) - sum * sum;
	root = sqrt(n > 0 ? n : (double8)1);
	factor = convert_float8(1 / root);
	return convert_int8(n > 0 & area * convert_double8(factor) < 1e-1) ? factor : (float8)0;
}

/*
 * OpenCV skips the window after one that the first stage rejects. So a run of
 * rejected windows is visited every other time, beginning with its first.
 * @rejected has a bit for each of 32 windows. @skip: whether the first of them
 * is skipped, and then whether the first after them is. Returns those skipped.
 */
static inline uint skipped(uint rejected, uint *skip)
{
	uint run, starts, even, visited;

	run = rejected & ~*skip;
	starts = run & ~(run << 1) & 0x55555555;
	even = run & ~(run + starts);
	visited = (even & 0x55555555) | (run & ~even & 0xaaaaaaaa);
	rejected = visited << 1 | *skip;
	*skip = visited >> 31;
	return rejected;
}

/* Mask of the windows that exist in the word that begins with @column. */
static inline uint existing(int columns, int column)
{
	return columns - column >= 32 ? ~0u : (1u << (columns - column)) - 1;
}

/* Add the windows of a mask of eight to a list of @count columns. */
static inline int add_windows(local ushort *list, int count, int column, uint mask)
{
	for (; mask; mask &= mask - 1)
		list[count++] = column + popcount((mask & -mask) - 1);
	return count;
}

/* Mask of the lanes of a list's next eight windows, with @rest of them to come. */
static inline uint lanes_used(int rest)
{
	return rest < LANES ? (1u << rest) - 1 : (1u << LANES) - 1;
}

static inline void clear_row(global uint *row, int words)
{
	int i;

	for (i = 0; i < words; i++)
		row[i] = 0;
}

/* One row of windows: a bit of @result for each says whether it passes all stages. */
kernel void cascade_lbp(global const struct faces_level *level,
			global const struct faces_cascade *cascade,
			global const struct faces_stage *stages,
			global const struct faces_lbp_node *nodes,
			sums_t sums, global uint *result, local ushort *list)
{
	int y = get_global_id(0), columns = level->columns, count = 0, stage, column, i, k;
	sums_t base = sums + (size_t)y * level->step * level->pitch;
	global uint *row = result + (size_t)y * level->words;
	uint skip = 0;

	for (column = 0; column < columns; column += 32) {
		uint passed = 0, real = existing(columns, column);

		for (k = 0; k < 32 && column + k < columns; k += LANES) {
			struct windows w = { base + column + k, 0, NEIGHBOURS };

			passed |= bits_of(lbp_stage(stages, nodes, w)) << k;
		}
		passed &= real & ~skipped(real & ~passed, &skip);
		for (k = 0; k < 32; k += LANES) {
			struct windows w = { base + column + k, 0, NEIGHBOURS };
			uint left = passed >> k & 0xff;

			for (stage = 1; left && stage < cascade->dense_stages; stage++)
				left &= bits_of(lbp_stage(stages + stage, nodes, w));
			count = add_windows(list, count, column + k, left);
		}
	}

	for (stage = cascade->dense_stages; count && stage < cascade->stages; stage++) {
		int kept = 0;

		vstore8((ushort8)0, 0, list + count);
		for (i = 0; i < count; i += LANES) {
			struct windows w = { base, convert_int8(vload8(0, list + i)), SCATTERED };
			uint left;

			if (count - i <= FEW) {
				w.kind = SCATTERED_FEW;
				left = bits_of(lbp_stage(stages + stage, nodes, w));
			} else {
				left = bits_of(lbp_stage(stages + stage, nodes, w));
			}
			left &= lanes_used(count - i);
			for (; left; left &= left - 1)
				list[kept++] = list[i + popcount((left & -left) - 1)];
		}
		count = kept;
	}
	clear_row(row, level->words);
	for (i = 0; i < count; i++)
		row[list[i] >> 5] |= 1u << (list[i] & 31);
}

/* The same for Haar features; @factors keeps the factors of the windows of @list. */
kernel void cascade_haar(global const struct faces_level *level,
			 global const struct faces_cascade *cascade,
			 global const struct faces_stage *stages,
			 global const struct faces_haar_node *nodes,
			 sums_t sums, global uint *result, local ushort *list,
			 local float *factors)
{
	int y = get_global_id(0), columns = level->columns, count = 0, stage, column, i, k;
	sums_t base = sums + (size_t)y * level->step * level->pitch;
	global uint *row = result + (size_t)y * level->words;
	global const int *norm = cascade->norm[level->step - 1];
	uint skip = 0;

	for (column = 0; column < columns; column += 32) {
		uint passed = 0, flat = 0, real = existing(columns, column);
		float8 factor[32 / LANES];

		for (k = 0; k < 32 && column + k < columns; k += LANES) {
			struct windows w = { base + column + k, 0, NEIGHBOURS };
			float8 f = haar_factor(cascade, norm, w);

			factor[k / LANES] = f;
			flat |= bits_of(f == 0) << k;
			passed |= bits_of(haar_stage(stages, nodes, w, f)) << k;
		}
		real &= ~flat;
		passed &= real & ~skipped(real & ~passed, &skip);
		for (k = 0; k < 32; k += LANES) {
			struct windows w = { base + column + k, 0, NEIGHBOURS };
			uint left = passed >> k & 0xff;
			float8 f = factor[k / LANES];
			local float *kept = factors + count;

			for (stage = 1; left && stage < cascade->dense_stages; stage++)
				left &= bits_of(haar_stage(stages + stage, nodes, w, f));
			count = add_windows(list, count, column + k, left);
			for (; left; left &= left - 1)
				*kept++ = ((float *)&f)[popcount((left & -left) - 1)];
		}
	}

	for (stage = cascade->dense_stages; count && stage < cascade->stages; stage++) {
		int kept = 0;

		vstore8((ushort8)0, 0, list + count);
		for (i = 0; i < count; i += LANES) {
			struct windows w = { base, convert_int8(vload8(0, list + i)), SCATTERED };
			float8 f = vload8(0, factors + i);
			uint left;

			if (count - i <= FEW) {
				w.kind = SCATTERED_FEW;
				left = bits_of(haar_stage(stages + stage, nodes, w, f));
			} else {
				left = bits_of(haar_stage(stages + stage, nodes, w, f));
			}
			left &= lanes_used(count - i);
			for (; left; left &= left - 1) {
				int lane = i + popcount((left & -left) - 1);

				factors[kept] = factors[lane];
				list[kept++] = list[lane];
			}
		}
		count = kept;
	}
	clear_row(row, level->words);
	for (i = 0; i < count; i++)
		row[list[i] >> 5] |= 1u << (list[i] & 31);
}
