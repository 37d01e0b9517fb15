// SPDX-License-Identifier: MIT
/*
 * bench_kernels.cl - image operations as they are commonly written, for tests/bench/kernels
 *
 * Both compilers get this very text. Images are rows of @w elements without padding.
 */

kernel void copy(global const float *in, global float *out, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x >= w || y >= h)
		return;
	out[y * w + x] = in[y * w + x];
}

kernel void sobel_float(global const float *in, global float *out, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
		return;
	global const float *p = in + y * w + x;
	float a = p[-w - 1], b = p[-w], c = p[-w + 1], d = p[-1], f = p[1];
	float g = p[w - 1], i = p[w], j = p[w + 1];
	float gx = c + 2 * f + j - a - 2 * d - g;
	float gy = g + 2 * i + j - a - 2 * b - c;

	out[y * w + x] = sqrt(gx * gx + gy * gy);
}

kernel void sobel_uchar4(global const uchar4 *in, global uchar4 *out, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
		return;
	global const uchar4 *p = in + y * w + x;
	short4 a = convert_short4(p[-w - 1]), b = convert_short4(p[-w]);
	short4 c = convert_short4(p[-w + 1]), d = convert_short4(p[-1]);
	short4 f = convert_short4(p[1]), g = convert_short4(p[w - 1]);
	short4 i = convert_short4(p[w]), j = convert_short4(p[w + 1]);
	short4 gx = c + f + f + j - a - d - d - g;
	short4 gy = g + i + i + j - a - b - b - c;

	out[y * w + x] = convert_uchar4_sat(abs(gx) + abs(gy));
}

#define RADIUS 4

kernel void gauss_rows(global const float *in, global float *out, int w, int h,
		       constant float *weights)
{
	int x = get_global_id(0), y = get_global_id(1), k;
	float sum = 0;

	if (x >= w || y >= h)
		return;
	for (k = -RADIUS; k <= RADIUS; k++)
		sum += weights[k + RADIUS] * in[y * w + clamp(x + k, 0, w - 1)];
	out[y * w + x] = sum;
}

kernel void gauss_columns(global const float *in, global float *out, int w, int h,
			  constant float *weights)
{
	int x = get_global_id(0), y = get_global_id(1), k;
	float sum = 0;

	if (x >= w || y >= h)
		return;
	for (k = -RADIUS; k <= RADIUS; k++)
		sum += weights[k + RADIUS] * in[clamp(y + k, 0, h - 1) * w + x];
	out[y * w + x] = sum;
}

#define TILE 16

kernel void transpose(global const float *in, global float *out, int w, int h)
{
	local float tile[TILE][TILE + 1];
	int lx = get_local_id(0), ly = get_local_id(1);
	int x = get_group_id(0) * TILE + lx, y = get_group_id(1) * TILE + ly;

	if (x < w && y < h)
		tile[ly][lx] = in[y * w + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	x = get_group_id(1) * TILE + lx;
	y = get_group_id(0) * TILE + ly;
	if (x < h && y < w)
		out[y * h + x] = tile[lx][ly];
}

/* Each group adds up its share of the image. */
kernel void reduce(global const float *in, global float *sums, int n)
{
	local float part[256];
	int l = get_local_id(0), i, s;
	float sum = 0;

	for (i = get_global_id(0); i < n; i += get_global_size(0))
		sum += in[i];
	part[l] = sum;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (s = 128; s > 0; s >>= 1) {
		if (l < s)
			part[l] += part[l + s];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (l == 0)
		sums[get_group_id(0)] = part[0];
}

/* A group a row: inclusive sums, block by block, after Hillis and Steele. */
kernel void row_scan(global const uint *in, global uint *out, int w)
{
	local uint a[256], b[256];
	int l = get_local_id(0), n = get_local_size(0), base, s;
	global const uint *from = in + get_group_id(1) * w;
	global uint *to = out + get_group_id(1) * w;
	uint carry = 0;

	for (base = 0; base < w; base += n) {
		local uint *p = a, *q = b;

		p[l] = base + l < w ? from[base + l] : 0;
		barrier(CLK_LOCAL_MEM_FENCE);
		for (s = 1; s < n; s <<= 1) {
			local uint *t = p;

			q[l] = l >= s ? p[l] + p[l - s] : p[l];
			barrier(CLK_LOCAL_MEM_FENCE);
			p = q;
			q = t;
		}
		if (base + l < w)
			to[base + l] = carry + p[l];
		carry += p[n - 1];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
}

kernel void mandelbrot(global uint *out, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1), i;

	if (x >= w || y >= h)
		return;
	float cx = -2.2f + x * (3.2f / w), cy = -1.2f + y * (2.4f / h), zx = 0, zy = 0;

	for (i = 0; i < 64 && zx * zx + zy * zy < 4; i++) {
		float t = zx * zx - zy * zy + cx;

		zy = 2 * zx * zy + cy;
		zx = t;
	}
	out[y * w + x] = i;
}

kernel void histogram(global const uint *in, global uint *bins, int n)
{
	local uint count[256];
	int l = get_local_id(0), i;

	count[l] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (i = get_global_id(0); i < n; i += get_global_size(0))
		atomic_inc(&count[in[i] & 255]);
	barrier(CLK_LOCAL_MEM_FENCE);
	if (count[l])
		atomic_add(&bins[l], count[l]);
}
