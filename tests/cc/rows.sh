#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: rows of matrices: which way lanes run, and loops over short ones.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

check "M4 barriers, and memory that is contiguous along y, but not along x: lanes along y" "$(
	rows() {
		cat <<END
kernel $1 void k(global const float *a, global float *b, local float *s, int n)
{
	const int x = get_local_id(0), y = get_local_id(1), h = get_local_size(1);
	const int row = get_global_id(0), column = get_global_id(1), at = row * n + column;

	s[x * h + y] = a[at];
	barrier(CLK_LOCAL_MEM_FENCE);
	b[at] = s[x * h + h - 1 - y] * s[x * h + y];
}
END
	}
	rows "" | compile "--march x86-64-v4"
	has code 'vmulps.*zmm'
	lacks code 'gather|scatter'
	has notes '^  columns '
	rows "__attribute__((reqd_work_group_size(64, 2, 1)))" | compile "--march x86-64-v4"
	lacks notes '^  columns ')"

check "M4 barriers, and a sum of columns by the neighbours in x: lanes along x" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(int w, int h, global const float *in, global float *out, int pitch, int rows)
{
	const int x = get_local_id(0), y = get_global_id(1);
	local float s[64];
	float sum = 0;

	if (get_global_id(0) >= w || y >= h)
		return;
	for (int i = x; i < rows; i += 64)
		sum += in[i * pitch + y];
	s[x] = sum;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int i = 32; i > 0; i /= 2) {
		if (x < i)
			s[x] += s[x + i];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[y] = s[0];
}
END
	has code 'vaddps.*zmm'
	lacks notes '^  columns ')"

check "M4 a border that is stored otherwise: the interior is where most is done" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const uchar *in, global uchar *out, int w, int h)
{
	const int x = get_global_id(0), y = get_global_id(1);

	if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) {
		out[y * w + x] = 0;
		return;
	}
	global const uchar *p = in + y * w + x;
	const int across = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[w - 1];
	const int down = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[1 - w];
	out[y * w + x] = min(abs(across) + abs(down), 255);
}
END
	# Eight loads without a mask in versions with 8, 16 and 32 lanes
	times code 'vpmovzx.*\(' 8 99)"

check "M4 vectors at a border in parts: one after the other" "$(
	compile "--march x86-64-v4" <<'END'
int4 some(global const int4 *from, uint at, uint ints)
{
	int4 v = 0;

	if ((at + 1) * 4 <= ints)
		return from[at];
	if (at * 4 < ints)
		v.x = from[at].x;
	if (at * 4 + 1 < ints)
		v.y = from[at].y;
	if (at * 4 + 2 < ints)
		v.z = from[at].z;
	return v;
}

kernel void k(global const int4 *in, global int *out, uint ints)
{
	const uint x = get_global_id(0);
	const int4 a = some(in, 2 * x, ints), b = some(in, 2 * x + 1, ints);

	out[x] = a.x * b.x ^ a.y * b.y ^ a.z * b.z ^ a.w * b.w;
}
END
	has code 'vpmulld.*zmm'
	times code '^ ' 50 500)"

check "M4 sums of rows whose lengths are loaded: one loop of four iterations, each with an end" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const int *first, global const int *index, global const float *weights,
	      global const float *in, global float *out)
{
	const int x = get_global_id(0);
	float sum = 0;

	for (int i = first[x]; i < first[x + 1]; i++)
		sum += weights[i] * in[index[i]];
	out[x] = sum;
}
END
	lacks code 'and[a-z]* +[$]0x(3|7|1f),'
	times code 'vmulss ' 4 4)"

check "M4 loops that lanes run one after the other, and gathers before them: no lanes" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level --global-offset" <<'END'
kernel void k(global const float *times, global const uint2 *from, global uint *count, float least,
	      float most)
{
	uint x = get_global_id(0), at = from[x].x, sum = 0;
	const float start = times[at];
	float now = start;

	while (start - now < least && at > 0)
		now = times[--at];
	for (; start - now <= most && at > 0; sum++)
		now = times[--at];
	count[x] = sum;
}
END
		lacks code 'tzcnt|gather'
	done)"

check "M4 vectors of pixels: lanes along x in segments, not along y" "$(
	compile "--march x86-64-v4 --global-offset" <<'END'
kernel void k(global const float *in, global const float *weights, global float *out, int w,
	      int h, int channels)
{
	const int g = get_global_id(0), y = get_global_id(1), c = g / w, x = g % w;
	float4 sum = 0;

	for (int i = 0; i < channels; i++) {
		float4 v = vload4((i * h + y) * w + x, in);

		sum = mad(v.x, vload4(c, weights + 8 * i), sum);
		sum = mad(v.y, vload4(c, weights + 8 * i + 4), sum);
	}
	vstore4(sum, (c * h + y) * w + x, out);
}
END
	has code 'vmulps.*zmm'
	lacks notes '^  columns ')"

check "M4 an index that is taken apart and put together again is not divided" "$(
	for type in int uint; do
		compile "--march x86-64-v4 --global-offset" <<END
kernel void k(global const float *a, global float *b, $type w, $type n)
{
	$type i = get_global_id(0), x = i % w, y = i / w;

	b[y * w + x] = a[(y + n) * w + x];
}
END
		has code 'vmovups.*zmm'
		lacks code 'div|scatter'
	done)"

check "M4 a division by less than the number of lanes has no segments" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global float *a, global const float *b)
{
	uint x = get_global_id(0);

	a[x] = b[x / 7];
}
END
	times code 'imul' 0 3)"

check "M4 a transposition of long vectors: few columns at once" "$(
	for type in double4 uint8 long8; do
		compile "--march x86-64-v4" <<END
kernel void k(global const $type *in, global $type *out, int w, int h)
{
	const int x = get_global_id(0), y = get_global_id(1);

	out[x * h + y] = in[y * w + x];
}
END
		has code '[$]0x10,%[er]'
	done)"

check "M4 many barriers, and rows that may be short: half the lanes, too" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *in, global int *out, local int *s)
{
	const int x = get_local_id(0), y = get_local_id(1), w = get_local_size(0) + 2;
	const int at = (y + 1) * w + x + 1, i = get_global_id(1) * get_global_size(0) + get_global_id(0);

	s[at] = in[i];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int k = 0; k < 4; k++) {
		int sum = s[at - 1] + s[at + 1] + s[at - w] + s[at + w];

		barrier(CLK_LOCAL_MEM_FENCE);
		s[at] = sum;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[i] = s[at];
}
END
	times code 'vpaddd.*zmm' 12 48
	times code 'vpaddd.*ymm' 12 48)"

check "M4 strides of vectors: contiguous where they are one, but rows are longer than that" "$(
	for product in "x*step" "step*(x+3)" "x*step+first"; do
		compile "--march x86-64-v4 -DPRODUCT=$product" <<'END'
kernel void k(global const float *a, global float *b, int n, int step, int first)
{
	int x = (get_group_id(0) + get_group_id(1) * get_num_groups(0)) * get_local_size(0) +
		get_local_id(0);

	if (x < n)
		b[PRODUCT] += a[x * step + first];
}
END
		has code 'vaddps +(-?0x[0-9a-f]+)?\(.*zmm'
	done
	compile "--march x86-64-v4" <<'END'
kernel void k(global const char *a, global char *b, uint step, uint line)
{
	int x = get_global_id(0), y = get_global_id(1);

	*(global float *)(b + x * step + y * line) =
		*(global const float *)(a + x * step + y * line) + 1;
}
END
	has code 'vaddps +(-?0x[0-9a-f]+)?\(.*zmm'
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *a, int n, int column)
{
	int x = get_global_id(0);

	if (x < n - 1)
		a[x * n + column] += 1;
}
END
	lacks code 'vaddps +(-?0x[0-9a-f]+)?\(.*zmm')"

check "M4 contiguous memory along z, but not along x and y: rows of few work-items of all planes" "$(
	for c in 'z' 'z % channels'; do
		compile "--march x86-64-v4" <<END
kernel void k(global const float4 *in, global float4 *out, int w, int h, int channels)
{
	const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);

	out[(y * w + x) * channels + $c] = in[(z * h + y) * w + x];
}
END
		has code 'mov +[$]0x10,%e'
	done)"

check "M4 contiguous memory along z alone: lanes along z" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *in, global float *out, int w, int channels)
{
	const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
	const int at = (y * w + x) * channels + z;

	out[at] = in[at] * 3;
}
END
	has code 'vmulps.*\(.*zmm'
	has notes '^  columns '
	has notes '^  planes ')"

check "M4 vectors at addresses of their own: lanes if there is enough to compute" "$(
	for work in 'a[0] * b[3]' 'exp(a[0]) * b[3]'; do
		compile "--march x86-64-v4" <<END
kernel void k(global const float4 *in, global float4 *out, int pitch, uint flip)
{
	const uint x = get_global_id(0), at = (x ^ flip) % 1000;
	global const float4 *a = in + at * pitch, *b = a + pitch / 2;

	out[at] = $work;
}
END
		if [ "$work" = 'a[0] * b[3]' ]; then
			times code 'vmulps' 1 1
		else
			has code 'vmulps.*zmm'
		fi
	done)"

check "M4 an int id of work-items that run one after the other is extended once" "$(
	compile "--global-offset" <<'END'
kernel void k(global const int *which, global int8 *of)
{
	int i = get_global_id(0);

	switch (which[i]) {
	case 0: of[i] *= 3; break;
	case 1: of[i] -= 1; break;
	case 2: of[i] += of[i] * 5; break;
	default: of[i] = 7 - of[i];
	}
}
END
	times code "movslq|cltq|sar +[$]0x20" 1 1)"

check "M4 a quarter turn within a border: four of a row and lanes along the column, as transposed" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < 480 && y < 640)
		b[y * 480 + x] = a[x * 640 + clamp((int)get_global_size(1) - 1 - y, 0, 639)];
}
END
	has notes '^  columns '
	has code 'vunpck'
	lacks code 'vscatter')"

check "M4 a row as long as half of the lanes: they run its borders, too" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int w)
{
	local float t[8][9];
	int x = get_local_id(0), y = get_local_id(1), i = get_global_id(1) * w + get_global_id(0);

	t[y][x] = a[i];
	barrier(CLK_LOCAL_MEM_FENCE);
	b[i] = t[y][x] + (x > 0 ? t[y][x - 1] : 0) + (x < 7 ? t[y][x + 1] : 0);
}
END
	has code 'v(movups|addps).*ymm.*{%k')"

finish
