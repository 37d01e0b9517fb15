// SPDX-License-Identifier: MIT
// Kernels of pipeline.batch: two chains of a prefix sum and a difference.

kernel void row_sums(global const uchar *in, global uint *out, uint width)
{
	size_t y = get_global_id(0);
	uint sum = 0;

	for (uint x = 0; x < width; x++) {
		sum += in[y * width + x];
		out[y * width + x] = sum;
	}
}

kernel void column_sums(global uint *data, uint width, uint height)
{
	size_t x = get_global_id(0);
	uint sum = 0;

	for (uint y = 0; y < height; y++) {
		sum += data[y * width + x];
		data[y * width + x] = sum;
	}
}

kernel void block_sum(global const uint *data, global uint *out, uint width, uint block)
{
	size_t x = get_global_id(0), y = get_global_id(1);
	size_t right = x * block + block - 1, bottom = y * block + block - 1;
	uint sum = data[bottom * width + right];

	if (x)
		sum -= data[bottom * width + right - block];
	if (y)
		sum -= data[(bottom - block) * width + right];
	if (x && y)
		sum += data[(bottom - block) * width + right - block];
	out[y * get_global_size(0) + x] = sum;
}
