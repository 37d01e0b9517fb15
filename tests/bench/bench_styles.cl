// SPDX-License-Identifier: MIT
/*
 * bench_styles.cl - kernels that are no filters: irregular, sparse, dynamic programming, for
 * tests/bench/styles
 *
 * All have the same arguments: two inputs and an output of integers, their length and a
 * number that each kernel uses as it likes.
 */
#define ARGS global const int *a, global const int *b, global int *out, int n, int m

/* Breadth-first search: each active node, one of 64, marks its m neighbours. */
kernel void visit(ARGS)
{
	int node = get_global_id(0);

	if (node < n / m && (a[node] & 63) == 0)
		for (int i = node * m; i < (node + 1) * m; i++)
			if (a[b[i]] & 1)
				out[b[i]] = 1;
}

/* A sparse matrix with up to m entries a row times a vector. */
kernel void sparse(ARGS)
{
	int row = get_global_id(0), sum = 0;

	if (row >= n / m)
		return;
	for (int i = row * m; i < row * m + a[row] % m; i++)
		sum += a[i] * a[b[i]];
	out[row] = sum;
}

#define TILE 16

/* Alignment of two sequences: a tile's antidiagonals one after the other, in local memory. */
kernel void align(ARGS)
{
	local int score[TILE + 1][TILE + 1], weight[TILE][TILE];
	int x = get_local_id(0), from = (int)get_group_id(0) * TILE * TILE;

	for (int y = 0; y < TILE; y++)
		weight[y][x] = a[from + y * TILE + x] & 15;
	score[0][x + 1] = score[x + 1][0] = -m * (x + 1);
	if (x == 0)
		score[0][0] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int d = 0; d < 2 * TILE - 1; d++) {
		int y = d - x;

		if (y >= 0 && y < TILE)
			score[y + 1][x + 1] = max(score[y][x] + weight[y][x],
						  max(score[y][x + 1], score[y + 1][x]) - m);
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	for (int y = 0; y < TILE; y++)
		out[from + y * TILE + x] = score[y + 1][x + 1];
}

/* Two steps of diffusion along a row in a tile with a halo; neighbours are clamped to the row. */
kernel void diffuse(ARGS)
{
	local int old[256], new[256];
	int x = get_local_id(0), at = 252 * (int)get_group_id(0) - 2;
	int low = at < 0 ? -at : 0, high = at + 255 > n - 1 ? 255 - (at + 255 - n + 1) : 255;
	int left = max(x - 1, low), right = min(x + 1, high);
	bool inside = false;

	if (at + x >= 0 && at + x < n)
		old[x] = a[at + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int i = 0; i < 2; i++) {
		inside = x > i && x < 255 - i && x >= low && x <= high;
		if (inside)
			new[x] = (old[left] + m * old[x] + old[right]) >> 2;
		barrier(CLK_LOCAL_MEM_FENCE);
		if (inside)
			old[x] = new[x];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (inside)
		out[at + x] = old[x];
}

/* One pass of a bitonic sort, at distance m. */
kernel void exchange(ARGS)
{
	int i = get_global_id(0), left = i % m + i / m * 2 * m, right = left + m;
	int l = out[left], r = out[right];

	if ((l > r) != ((i >> 8) & 1)) {
		out[left] = r;
		out[right] = l;
	}
}

/* A rare branch: most elements are below the threshold. */
kernel void suppress(ARGS)
{
	int i = get_global_id(0), result = 0;

	if (i >= n)
		return;
	if ((a[i] & 127) > 125) {
		int step = b[i] & 1 ? 1 : m;
		int before = a[max(i - step, 0)], after = a[min(i + step, n - 1)];

		result = a[i] >= before && a[i] >= after ? 255 : 128;
	}
	out[i] = result;
}

/* A table, for a grid of a few work-groups. */
kernel void lookup(ARGS)
{
	int x = get_global_id(0), y = get_global_id(1);

	out[y * m + x] = b[a[y * m + x] & 255];
}

/* A step of Gauss's elimination on an m x m matrix: x is the row, so that lanes are m apart. */
kernel void eliminate(ARGS)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < m - 1 && y < m)
		out[m * (x + 1) + y] -= (b[m * (x + 1)] & 255) * a[y];
}

/* The sum of the bytes of a row, with a work-item for each row. */
kernel void total(ARGS)
{
	global const uchar *row = (global const uchar *)a + get_global_id(0) * m;
	int sum = 0;

	for (int i = 0; i < m; i++)
		sum += row[i];
	out[get_global_id(0)] = sum;
}

/* Pixels of three bytes: lanes are three bytes apart. */
kernel void luma(ARGS)
{
	int i = get_global_id(0);
	global const uchar *pixel = (global const uchar *)a + 3 * i;

	if (i < n)
		out[i] = (pixel[0] * 77 + pixel[1] * 150 + pixel[2] * 29) >> 8;
}

/* Differences along a row, from its end on and in place, with a work-item for each row. */
kernel void delta(ARGS)
{
	int row = get_global_id(0) * m;

	for (int i = 0; i < m - 1; i++)
		out[row + m - 1 - i] -= out[row + m - 2 - i] * b[row + m - 1 - i];
}

/* A histogram in global memory, in which work-groups count at the same time. */
kernel void tally(ARGS)
{
	int i = get_global_id(0);

	if (i < n)
		atomic_inc(&out[a[i] & m]);
}

#define SCAN 64

/* The prefix sums of a work-group, by steps that double. */
kernel void prefix(ARGS)
{
	local int sums[SCAN];
	int i = get_global_id(0), l = get_local_id(0);

	sums[l] = a[i];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int step = 1; step < SCAN; step <<= 1) {
		int before = l >= step ? sums[l - step] : 0;

		barrier(CLK_LOCAL_MEM_FENCE);
		sums[l] += before;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[i] = sums[l];
}

/* Local maxima of an image of m pixels a row: a search that a flag ends. */
kernel void maxima(ARGS)
{
	int x = get_global_id(0), y = get_global_id(1);
	bool largest = (a[y * m + x] & 7) == 7;

	if (x < 1 || y < 1 || x >= m - 1 || y >= m - 1)
		return;
	for (int j = -1; j <= 1 && largest; j++)
		for (int i = -1; i <= 1 && largest; i++)
			if ((i || j) && a[(y + j) * m + x + i] >= a[y * m + x])
				largest = false;
	out[y * m + x] = largest ? a[y * m + x] : 0;
}

/* The costs of m disparities for a pixel of a stereo pair: the other image is read backwards. */
kernel void disparities(ARGS)
{
	int d = get_global_id(0), x = get_global_id(1);

	out[x * m + d] = x >= d ? popcount(a[x] ^ b[x - d]) : 32;
}

/*
 * Images of a batch of 64 x 64 pixels: sizes, places, and the distance of their m channels are in
 * tables, here in the first elements of b and a, made to fit.
 */
kernel void batch(ARGS)
{
	int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
	int width = 48 + (b[z] & 15), height = 48 + (b[z + 4] & 15);
	ulong i = (z & 3) * 16384 + (a[z] & 31) + (x + y * 64) * (m / 3);

	if (x < width && y < height)
		for (int c = 0; c < m; c++) {
			out[i] = max(a[i], b[i]);
			i += 4096;
		}
}
