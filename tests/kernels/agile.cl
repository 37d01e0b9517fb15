// SPDX-License-Identifier: MIT
// Kernels of the tests of agile arrays. PART: a part of a field, as salvo_agile.h says.

#define PART(type, name) \
	global type *name, uint4 name##_stride, uint4 name##_first, uint4 name##_extent
#define AT(name, row, col) name[(row) * name##_stride.x + (col) * name##_stride.y]

// Each element says where it is.
kernel void where2(PART(uint, c), uint salt)
{
	const uint x = get_global_id(0), y = get_global_id(1);

	AT(c, y, x) = (c_first.x + y) * 65536 + c_first.y + x + salt;
}

// Values that tell where they are.
kernel void ramp(PART(float, c), uint rows, uint columns)
{
	const uint x = get_global_id(0), y = get_global_id(1);

	AT(c, y, x) = (float)(((c_first.x + y) * rows + (c_first.y + x) * columns) % 4096);
}

kernel void add(PART(float, c), PART(const float, a), PART(const float, b))
{
	const uint x = get_global_id(0), y = get_global_id(1);

	AT(c, y, x) = AT(a, y, x) + AT(b, y, x);
}

kernel void add_transposed(PART(float, c), PART(const float, a), PART(const float, b))
{
	const uint x = get_global_id(0), y = get_global_id(1);

	AT(c, y, x) = AT(a, y, x) + AT(b, x, y);
}

// The five points; outside of the array is its edge.
kernel void stencil(PART(float, c), PART(const float, a))
{
	const uint x = get_global_id(0) + c_first.y - a_first.y;
	const uint y = get_global_id(1) + c_first.x - a_first.x;
	const uint left = x ? x - 1 : 0, up = y ? y - 1 : 0;
	const uint right = min(x + 1, a_extent.y - 1), down = min(y + 1, a_extent.x - 1);

	AT(c, get_global_id(1), get_global_id(0)) = 0.5f * AT(a, y, x) +
		0.125f * (AT(a, y, left) + AT(a, y, right) + AT(a, up, x) + AT(a, down, x));
}

// Rank 1: the nearest of the centroids.
kernel void nearest(PART(uint, label), PART(const float, pixel), PART(const float, centroid))
{
	const uint i = get_global_id(0);
	const float p = pixel[i * pixel_stride.x];
	uint best = 0;

	for (uint k = 1; k < centroid_extent.x; k++)
		if (fabs(p - centroid[k * centroid_stride.x]) <
		    fabs(p - centroid[best * centroid_stride.x]))
			best = k;
	label[i * label_stride.x] = best;
}

// Partial result: how many of each of 8 values, and the sum of their numbers.
kernel void histogram(PART(uint, out), PART(const uint, label))
{
	uint count[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };

	for (uint i = 0; i < label_extent.x; i++)
		count[label[i * label_stride.x] % 8]++;
	for (uint k = 0; k < 8; k++)
		out[k] = count[k];
}

kernel void sum2(PART(ulong, out), PART(const uint, a))
{
	ulong sum = 0;

	for (uint y = 0; y < a_extent.x; y++)
		for (uint x = 0; x < a_extent.y; x++)
			sum += AT(a, y, x);
	out[0] = sum;
}

// c += a b, of panels: a has the columns, b the rows that are added now.
kernel void multiply(PART(float, c), PART(const float, a), PART(const float, b))
{
	const uint x = get_global_id(0), y = get_global_id(1);
	float sum = AT(c, y, x);

	for (uint k = 0; k < a_extent.y; k++)
		sum += AT(a, y, k) * AT(b, k, x);
	AT(c, y, x) = sum;
}

// Whole rows: out[k] = sum of in[n] w^(kn), complex, as it is written.
kernel void dft_rows(PART(float2, c), PART(const float2, a))
{
	const uint k = get_global_id(0) + c_first.y, y = get_global_id(1), n = a_extent.y;
	float2 sum = (float2)(0, 0);

	for (uint i = 0; i < n; i++) {
		const float angle = -6.28318530717958647692f * (float)(i * k % n) / (float)n;
		const float2 w = (float2)(cos(angle), sin(angle)), v = AT(a, y, i);

		sum += (float2)(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
	}
	AT(c, y, get_global_id(0)) = sum;
}

kernel void transpose(PART(float2, c), PART(const float2, a))
{
	const uint x = get_global_id(0), y = get_global_id(1);

	AT(c, y, x) = AT(a, x, y);
}

// Says so in gate[0] and waits for gate[1], which the host writes.
kernel void gated(PART(uint, c), PART(volatile uint, gate))
{
	if (get_global_id(0) == 0) {
		gate[0] = 1;
		for (uint i = 0; i < 2000000000u && !gate[1]; i++)
			;
	}
	c[get_global_id(0)] = gate[1];
}

kernel void sum1(PART(uint, out), PART(const uint, a))
{
	uint sum = 0;

	for (uint i = 0; i < a_extent.x; i++)
		sum += a[i];
	out[0] = sum;
}

kernel void scan1(PART(uint, out), PART(const uint, a), PART(const uint, before))
{
	uint sum = before[0];

	for (uint i = 0; i < a_extent.x; i++)
		out[i] = sum += a[i];
}

// By the upper 16 bits, so that the lower ones show whether it is stable.
kernel void sort1(PART(uint, a))
{
	for (uint i = 1; i < a_extent.x; i++) {
		const uint value = a[i];
		uint at = i;

		for (; at && a[at - 1] >> 16 > value >> 16; at--)
			a[at] = a[at - 1];
		a[at] = value;
	}
}

// Rank 4: each element says where it is.
kernel void where4(PART(uint, c))
{
	const uint x = get_global_id(0), y = get_global_id(1);
	const uint z = get_global_id(2) % c_extent.y, w = get_global_id(2) / c_extent.y;

	c[w * c_stride.x + z * c_stride.y + y * c_stride.z + x * c_stride.w] =
		(((c_first.x + w) * 100 + c_first.y + z) * 100 + c_first.z + y) * 100 +
		c_first.w + x;
}

// Rank 4, one work-item; from the last row to the first, as the last are copied last.
kernel void sum4(PART(ulong, out), PART(const uint, a))
{
	ulong sum = 0;

	for (uint w = a_extent.x; w-- > 0;)
		for (uint z = 0; z < a_extent.y; z++)
			for (uint y = 0; y < a_extent.z; y++)
				for (uint x = 0; x < a_extent.w; x++)
					sum += a[w * a_stride.x + z * a_stride.y +
						 y * a_stride.z + x * a_stride.w];
	out[0] = sum;
}
