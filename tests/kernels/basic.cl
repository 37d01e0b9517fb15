// SPDX-License-Identifier: MIT
/* basic.cl - small kernels without barriers that tests of all parts use */

kernel void vadd(global const float *a, global const float *b, global float *out)
{
	size_t i = get_global_id(0);

	out[i] = a[i] + b[i];
}

/* Writes each work-item's row-major number where it belongs. */
kernel void fill_id(global uint *out)
{
	size_t i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) *
		   get_global_size(0) + get_global_id(0);

	out[i] = (uint)i;
}

kernel void tiny(global uint *out, uint value)
{
	out[get_global_id(0)] = value;
}

/* One node of a graph: out = sum of up to four inputs times odd factors, plus a salt. */
kernel void chain(global const uint *in0, global const uint *in1, global const uint *in2,
		  global const uint *in3, global uint *out, uint inputs, uint salt)
{
	size_t i = get_global_id(0);
	uint sum = salt + (uint)i;

	if (inputs > 0)
		sum += in0[i] * 3u;
	if (inputs > 1)
		sum += in1[i] * 5u;
	if (inputs > 2)
		sum += in2[i] * 7u;
	if (inputs > 3)
		sum += in3[i] * 11u;
	out[i] = sum;
}

/* What every id function says to each work-item: 22 words. */
kernel void ids(global uint *out)
{
	size_t i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) *
		   get_global_size(0) + get_global_id(0);
	global uint *o = out + i * 22;

	for (uint d = 0; d < 3; d++) {
		o[d] = get_global_id(d);
		o[3 + d] = get_local_id(d);
		o[6 + d] = get_group_id(d);
		o[9 + d] = get_global_size(d);
		o[12 + d] = get_local_size(d);
		o[15 + d] = get_num_groups(d);
		o[18 + d] = get_global_offset(d);
	}
	o[21] = get_work_dim();
}

/* Transposes a matrix within a frame; order: when each work-item ran */
kernel void turn(global const uint *in, global uint *out, global uint *order, global uint *count,
		 int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < w && y < h) {
		order[y * w + x] = (*count)++;
		out[x * h + y] = x > 0 && x < w - 1 ? in[y * w + x - 1] + in[y * w + x + 1] : 7;
	}
}

/* A matrix of bytes rotated, and rows in reverse, with and without a mask */
kernel void rotate_bytes(global const uchar *in, global uchar *rotated, global uchar *flipped,
			 global uint *wide, global ushort *odd, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x >= w || y >= h)
		return;
	rotated[x * h + h - 1 - y] = in[y * w + x];
	flipped[(h - 1 - y) * w + (w - 1 - x)] = in[y * w + x];
	wide[y * w + (w - 1 - x)] = in[y * w + x] * 1000u;
	if (in[y * w + x] & 1)
		odd[y * w + w - 1 - x] = in[y * w + x];
}

/* Rows and columns of 32 and 64 bits, one of them in place, but not all of them */
kernel void tiles(global const uint *in, global uint *out, global ulong *wide, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x >= 2 && x < w && y > 0 && y < h - 1) {
		const ulong old = wide[y * w + x];
		const uint row = in[y * w + x], column = in[x * h + y];

		out[x * h + y] = row + 3 * column;
		wide[y * w + x] = old * 5 + column;
	}
}
