#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: loops of work-items: on lanes, on vectors of iterations, or one by one.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

check "M4 columns and a gather: what the next iterations load is prefetched" "$(
	columns() {
		cat <<END
kernel void k(global const double *a, global const int *column, global const double *v,
	      global const int *length, int rows, global double *out)
{
	const int y = get_global_id(0), n = length[y];
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += a[i * $1 + y] * $2;
	out[y] = sum;
}
END
	}
	columns rows 'v[column[i * rows + y]]' | compile "--march x86-64-v4 --global-offset"
	has code vgatherdpd
	times code prefetcht0 3 6
	columns rows 'column[i * rows + y]' | compile "--march x86-64-v4 --global-offset"
	lacks code prefetch
	columns 16 'v[column[i * 16 + y]]' | compile "--march x86-64-v4 --global-offset"
	times code prefetcht0 1 6
	# A loop over lanes inside of it
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uint *in, global uint *counts, uint n)
{
	for (uint j = 0; j < n; j += get_local_size(0)) {
		uint i = j + get_local_id(0), which;

		if (i < n) {
			which = in[i];
			if (counts[which] < 255)
				atomic_inc(counts + which);
		}
	}
}
END
	times code prefetcht0 1 4)"

check "M4 columns whose starts are in a table: what the next lanes load is prefetched" "$(
	for index in 'in[at]' 'at'; do
		compile "--march x86-64-v4" <<END
kernel void k(global const float *a, global const int *in, global const float *v,
	      constant int *start, constant int *length, global float *out)
{
	const int row = get_global_id(0), n = length[row / 32];
	float sum = 0;

	for (int i = 0; i < n; i++) {
		const int at = start[i] + row;

		sum += a[at] * v[$index];
	}
	out[row] = sum;
}
END
		if [ "$index" = at ]; then
			lacks code prefetch
		else
			has code vgatherdps
			times code prefetcht0 2 4
		fi
	done)"

check "M4 the part of a row whose work-items store to rows of their own: one after the other" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *m, global const float *v, int w)
{
	int x = get_local_id(0);

	if (x < 16) {
		for (int i = 1; i < 16; i++)
			for (int j = 0; j < i; j++)
				m[i * w + x] -= m[i * w + j] * m[j * w + x];
	} else {
		for (int i = 0; i < 16; i++)
			for (int j = 0; j < i; j++)
				m[x * w + i] -= m[x * w + j] * v[j];
	}
}
END
	has code 'v(mul|fn?m(add|sub).*)ps.*zmm'
	lacks code 'gather|scatter')"

rounds() {
	cat <<END
kernel void k(global $1 *state, int length)
{
	$1 a = state[get_global_id(0)], b = a ^ 1, c = a ^ 2, d = a ^ 3;

	for (int i = 0; i < length; i++) {
#pragma unroll
		for (int j = 0; j < 64; j++) {
			$1 next = rotate(a + bitselect(d, c, b) + j * 99, ($1)7) + b;
			a = d, d = c, c = b, b = next;
		}
	}
	state[get_global_id(0)] = a;
}
END
}

check "M4 what is left of rows: lanes under a mask, where all accesses are contiguous" "$(
	rows() {
		compile "--march x86-64-v4 -DINDEX=$1" <<'END'
kernel void k(global const float *a, global const int *at, global float *b, int w)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < w - 1)
		b[y * w + x] = sqrt(a[INDEX]) + a[y * w + x + 1];
}
END
	}
	rows 'y*w+x'
	has code 'vsqrtps.*zmm'
	has code 'vsqrtps.*ymm'
	has code 'vmovups.*ymm.*\{%k'
	# Gathers of a few lanes would take as long as those of all.
	rows 'at[x]'
	lacks code 'gather|vmovups.*\{%k')"

check "M4 rounds that wait for each other: two vectors, of one register each" "$(
	rounds uint | compile "--march x86-64-v4"
	times code 'vprold.*zmm' 180 220
	rounds ulong | compile "--march x86-64-v4"
	times code 'vprolq.*zmm' 120 140)"

check "M4 a short loop: two vectors; one of rows, of vectors, or where lanes leave it" "$(
	sum() {
		compile "--march x86-64-v4" <<END
kernel void k(global const float *a, global const float *b, global float *c, int n)
{
	int x = get_global_id(0);
	float sum = 0;

	for (int i = 0; i < $1; i++)
		sum = fma(a[$2], b[i], sum);
	c[x] = sum;
}
END
		times code 'vmovup.*zmm[0-9]+,0x40\(' "$3" "$4"
	}
	sum n 'i * 1024 + x' 1 9
	sum n 'x * 1000 + i' 0 0
	sum 'b[x]' 'i * 1024 + x' 0 0
	compile "--march x86-64-v4" <<'END'
kernel void k(global uint4 *a, int width, int height)
{
	int x = get_global_id(0);
	uint4 sum = 0;

	for (int y = 0; y < height; y++)
		a[y * width + x] = sum += a[y * width + x];
}
END
	has code 'vpaddd 0xc0\('
	lacks code '0x1c0\(')"

check "M4 lanes that leave a loop at different times stay vectors" "$(
	compile "" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	int x = get_global_id(0), i;
	float v = a[x];

	for (i = 0; i < n && v < 100; i++)
		v = v * v + 1;
	b[x] = v;
}
END
	# Twice for sixteen work-items, whose steps go side by side, and once for eight.
	times code 'vfmadd.*ps.*ymm' 3 3)"

check "a private array whose indices are constants once loops are unrolled is in registers" "$(
	compile "" <<'END'
void mix(uchar *s)
{
	for (int i = 0; i < 4; i++) {
		uchar a[4], b[4], c;

		for (c = 0; c < 4; c++) {
			a[c] = s[4 * i + c];
			b[c] = a[c] << 1;
			if (a[c] & 0x80)
				b[c] ^= 0x1b;
		}
		for (c = 0; c < 4; c++)
			s[4 * i + c] = b[c] ^ a[(c + 3) & 3] ^ a[(c + 2) & 3] ^ b[(c + 1) & 3];
	}
}

kernel void k(global uchar *out, uint n)
{
	uchar s[16];

	for (int i = 0; i < 16; i++)
		s[i] = out[i * n + get_global_id(0)];
	for (uint r = 0; r < n; r++)
		mix(s);
	for (int i = 0; i < 16; i++)
		out[i * n + get_global_id(0)] = s[i];
}
END
	times code 'p(ext|ins)rb' 0 100)"

check "corners of areas of one work-item after the other: loads, no gather" "$(
	compile "--march x86-64-v4" <<'END'
int area(global const int *p, int a, int b, int c, int d)
{
	return p[a] - p[b] - p[c] + p[d];
}

kernel void k(global const int16 *at, global const int *sums, global const int *n, global int *out)
{
	global const int *p = sums + get_global_id(0);
	int bits = 0;

	for (int i = 0; i < 99; i++) {
		int16 o = at[n[i]];
		int c = area(p, o.s5, o.s6, o.s9, o.sa);

		bits = area(p, o.s0, o.s1, o.s4, o.s5) >= c ? 4 : 0;
		bits |= area(p, o.s1, o.s2, o.s5, o.s6) >= c ? 2 : 0;
		bits |= area(p, o.s2, o.s3, o.s6, o.s7) >= c ? 1 : 0;
		bits |= area(p, o.s6, o.s7, o.sa, o.sb) >= c ? 16 : 0;
		bits |= area(p, o.sa, o.sb, o.se, o.sf) >= c ? 8 : 0;
		bits |= area(p, o.s9, o.sa, o.sd, o.se) >= c ? 32 : 0;
		bits |= area(p, o.s8, o.s9, o.sc, o.sd) >= c ? 64 : 0;
		bits |= area(p, o.s4, o.s5, o.s8, o.s9) >= c ? 128 : 0;
		if (n[bits] & 1)
			break;
	}
	out[get_global_id(0)] = bits;
}
END
	lacks code 'vpgather|vpextr|vpinsr')"

check "M4 windows whose sizes are loaded: the loop inside is not unrolled" "$(
	window() {
		cat <<END
kernel void k(global const float4 *in, global const int *rows, global const int *columns,
	      global const float *weights, int w, global float4 *out)
{
	const int x = get_global_id(0), y = get_global_id(1);
	float4 sum = 1;

	for (int v = $1; v < $2; v++) {
		float4 row = weights[v];

		for (int u = columns[x]; u < columns[x + 1]; u++)
			row *= in[v * w + u] - weights[u];
		sum += row;
	}
	out[y * w + x] = sum;
}
END
	}
	window 'rows[y]' 'rows[y + 1]' | compile "--march x86-64-v2"
	times code mulps 1 1
	window 0 w | compile "--march x86-64-v2"
	times code mulps 3 99)"

check "a loop of the few work-items that lanes leave is not unrolled" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global const float *b, global float *c, int n)
{
	int x = get_global_id(0);
	float s = 0;

	for (int i = 0; i < n; i++)
		s = fma(a[i], b[x + i], s);
	c[x] = s;
}
END
	times code 'vfmadd...ss' 1 1
	times code 'vfmadd...ps' 4 99)"

check "a loop that indexes a private array is unrolled, however large its body" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int n, float f)
{
	int x = get_global_id(0);
	float sum[32] = { 0 };

	for (int i = 0; i < n; i++)
		for (int j = 0; j < 32; j++)
			sum[j] += a[i * n + x] * b[j];
	for (int j = 0; j < 32; j++)
		b[x + j * n] = b[x + j * n] * f + f * sum[j] + sqrt(fabs(sum[j]));
}
END
	has code 'vfmadd.*zmm'
	lacks code 'vgather|vscatter')"

check "loops that index private arrays are unrolled to a limit for all of a kernel" "$(
	compile "--march x86-64-v4" <<'END'
#define USE(K) \
	for (int j = 0; j < 32; j++) \
		b[x + (j + 32 * K) * n] = b[x + (K + 1) * j * n] * f + f * p[j] + \
			sqrt(fabs(p[j]) + b[j * n + K]) * (a[x + (K + 3) * j] + K) + \
			a[(j ^ K) * n + x] / b[j * n + K + 40];

kernel void k(global const float *a, global float *b, int n, float f)
{
	int x = get_global_id(0);
	float p[32];

	for (int j = 0; j < 32; j++)
		p[j] = a[x + j * n];
	USE(0) USE(1) USE(2) USE(3) USE(4) USE(5) USE(6) USE(7) USE(8) USE(9) USE(10) USE(11)
}
END
	times code 'v.*' 100 4000
	# Each of the loops inside is small enough, but not all of them twice: arrays stay in memory.
	compile "--march x86-64-v4" <<'END'
#define MAKE(P, K) \
	for (int j = 0; j < 32; j++) \
		P[j] = (i ? P[j] : K) / f + sqrt(a[x + (i + K) * n]) * b[j * n + x] / a[j * (K + 3)];

kernel void k(global const float *a, global float *b, int n, float f)
{
	int x = get_global_id(0);
	float p[32], q[32], r[32], s[32], t[32], u[32];

	for (int i = 0; i < 2; i++) {
		MAKE(p, 0) MAKE(q, 1) MAKE(r, 2) MAKE(s, 3) MAKE(t, 4) MAKE(u, 5)
	}
	for (int j = 0; j < 32; j++)
		b[x + j * n] = p[j] + q[j] + r[j] + s[j] + t[j] + u[j];
}
END
	times code 'vsqrtps' 1 60)"

check "selects in a loop stay conditional moves, as what they depend on mostly is data" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const uchar *in, global uchar *out, int n)
{
	int y = get_global_id(0);
	float error = 0;

	for (int x = 0; x < n; x++) {
		float v = in[y * n + x] + error * .4375f;
		int w = v > 127 ? 255 : 0;

		error = v - w;
		out[y * n + x] = w;
	}
}
END
		times code 'cmov' 2 100
	done)"

check "a search of one lane after the other: branches make its choices" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const int *a, global const int *keys, global int *out, int n)
{
	int low = 0, high = n - 1, key = keys[get_global_id(0)];

	while (low <= high) {
		int at = (low + high) / 2;

		if (a[at] == key) {
			out[key] = at;
			return;
		}
		if (a[at] > key)
			high = at - 1;
		else
			low = at + 1;
	}
}
END
		times code 'cmov' 0 2
	done
	# Choices as numbers that are added, in a merge that few lanes come to
	for tune in generic sapphirerapids; do
		compile "--march x86-64-v4 --tune $tune" <<'END'
kernel void k(global const int *first, global const int *list, global int *out)
{
	int i = get_global_id(0), n = 0;

	for (int k = first[i]; k < first[i + 1]; k++) {
		int a = first[i], b = first[list[k]];

		while (a < first[i + 1] && b < first[list[k] + 1]) {
			int p = list[a], q = list[b];

			a += p <= q;
			b += q <= p;
			n += p == q;
		}
	}
	out[i] = n;
}
END
		if [ $tune = generic ]; then
			lacks code 'set(ge|le|g|l) '
		else
			times code 'set(ge|le|g|l) ' 2 6
		fi
	done)"

check "M4 a loop that lanes leave by what each loads: one lane after the other" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *a, global int *b)
{
	int i = 4 * get_global_id(0), value = a[i], n = 0;

	while (--i >= 0 && a[i] == value)
		n++;
	b[get_global_id(0)] = n;
}
END
	lacks code 'vgather|vpgather'
	# Also by a difference of what they loaded in the last iteration.
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *times, global const uchar *events, global const uint *at,
	      global uint *b, float most)
{
	uint i = at[get_global_id(0)], n = 0;
	float start = times[i], now = start;

	while (start - now <= most && i > 0) {
		n += events[i] == 7;
		now = times[--i];
	}
	b[get_global_id(0)] = n;
}
END
	lacks code 'vgather|vpgather'
	# Also by a break, which clang numbers among the ways out of a block with variables.
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *map, global const float2 *steps, global int *b, int n)
{
	float x = n / 2, y = n / 2;
	int i = get_global_id(0), count = 0;

	while (count < 200) {
		int column = x, row = y;

		if (row < 0 || column < 0 || row >= n || column >= n)
			break;
		if (map[row * n + column] > 250)
			break;
		x += steps[i].x;
		y += steps[i].y;
		count++;
	}
	b[i] = count;
}
END
	lacks code 'vgather|vpgather')"

check "M4 searches that go back, with a stack each: one lane after the other" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uint *first, global uint *found, uint all, int depth)
{
	uint used[20], next[20], n = 0;
	int i = 0;

	used[0] = first[get_global_id(0)];
	next[0] = ~used[0] & all;
	while (i >= 0) {
		uint one = next[i] & -next[i];

		if (one && i < depth) {
			next[i] ^= one;
			used[i + 1] = used[i] | one << 1 | one >> 1;
			next[i + 1] = ~used[i + 1] & all;
			i++;
		} else {
			n += i == depth;
			i--;
		}
	}
	found[get_global_id(0)] = n;
}
END
	lacks code 'vpgather|vpscatter')"

check "M4 bytes that each lane counts in a place of its own: one lane after the other" "$(
	count_up() {
		compile "--march x86-64-v4" <<END
kernel void k(global const uint4 *in, global uchar *out, uint n)
{
	local uchar bins[64 * 64];
	uint l = get_local_id(0);

	for (uint i = 0; i < 64; i++)
		bins[i * 64 + l] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
		uint4 v = in[i];

		$1
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint i = 0; i < 64; i++)
		out[get_group_id(0) * 4096 + i * 64 + l] = bins[i * 64 + l];
}
END
	}
	count_up 'bins[(v.x & 63) * 64 + l]++; bins[(v.y & 63) * 64 + l]++;'
	has code 'incb'
	lacks code 'vpgather|vpextrb'
	count_up 'bins[i % 64 * 64 + l] = v.x * v.y ^ v.z;'
	has code 'vpmulld.*[yz]mm')"

check "M4 a loop over the work-item's own part of contiguous memory is a loop of vectors" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *text, global uint *counts, uint n, uint chunk)
{
	uint i = get_global_id(0), first = i * chunk, last = min(first + chunk, n), c = 0;

	for (uint k = first; k < last; k++)
		if ((text[k] & 0xC0) != 0x80)
			c++;
	counts[i] = c;
}
END
	has code 'vpcmp.*zmm|vptestn?m.*zmm|vpsubd.*zmm|vpaddd.*zmm'
	lacks code 'vpgather')"

check "M4 a transposition: lanes along y store a line together, for four work-items of a row" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *in, global float *out, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < w && y < h)
		out[y + h * x] = in[x + w * y];
}
END
	has code 'vpunpck|vunpck|vshufps'
	times code 'vmov[a-z0-9]+ +%zmm[0-9]+,.*\(' 4 8
	has notes '^  columns ')"

check "M4 lanes sample a plane of floats at the same time; other formats by one function" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(read_only image2d_t image, global float *out, float x, float y)
{
	const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |
			    CLK_FILTER_LINEAR;
	float2 at = (float2)(x + get_local_id(0), y);

	out[get_global_id(0)] = read_imagef(image, s, at).x;
}
END
	times code 'v(fmadd|mulps).*zmm' 5 99
	times code 'call.*salvo_outline_sample' 1 4)"

check "M4 lanes sample a volume of bytes, with a sampler of the host, at the same time" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(read_only image3d_t image, sampler_t s, global float *out, float x, float y)
{
	out[get_global_id(0)] = read_imagef(image, s, (float4)(x + get_local_id(0), y, 1, 0)).x;
}
END
	times code 'v(fmadd|mulps).*zmm' 20 99
	times code 'call.*salvo_outline_sample' 1 4)"

check "M4 pointers that loops with barriers advance: neighbours stay neighbours" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int n, local float *s)
{
	int x = get_local_id(0);
	float sum = 0;

	a += get_global_id(0);
	for (int k = 0; k < n; k++) {
		s[x] = *a;
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int j = 0; j < 8; j++)
			sum += s[j];
		barrier(CLK_LOCAL_MEM_FENCE);
		a += 4 * n;
	}
	b[get_global_id(0)] = sum;
}
END
	lacks code 'vgather')"

check "a row's remainder is tested in each row, with one copy of the loops" "$(
	compile "" <<'END'
kernel void k(global float *a, global const float *b)
{
	int x = get_global_id(0);

	a[x] = b[x] * 3;
}
END
	times code 'vmulps' 1 1
	times code 'vmulss' 1 1)"

check "M4 a division by a constant under a mask is a multiplication, in a loop of some lanes" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const int *a, global int *out, int n)
{
	int i = get_global_id(0), x = a[i];

	if (x > 0)
		for (int j = 0; j < n; j++)
			x = x * 3 % 6571759;
	out[i] = x;
}
END
	times code 'vpmul.*ymm' 2 99
	lacks code 'idiv')"

check "M4 branches that all lanes take alike leave no fewer of them at work" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const float *a, global float *out, int n, int mode)
{
	int i = get_global_id(0);
	float x = a[i];

	if (x > 0)
		for (int j = 0; j < n; j++)
			if (mode > 1) {
				for (int l = 0; l < n; l++)
					if (mode > 2 && l != mode)
						x = sqrt(x) + a[(int)x & 255] + a[(int)(x * 3) & 255];
			}
	out[i] = x;
}
END
	times code 'vsqrtps.*ymm' 1 99)"

check "M4 vectors that would make lanes too large: their elements do not" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float4 *in, global const int2 *at, global float4 *out, int w, int h)
{
	int x = get_global_id(0);
	float4 p[16], sum = 0;

	#pragma unroll
	for (int i = 0; i < 16; i++) {
		int u = at[x].x + i % 4, v = at[x].y + i / 4;

		p[i] = u >= 0 && u < w && v >= 0 && v < h ? in[v * w + u] : 1;
	}
	#pragma unroll
	for (int i = 0; i < 16; i++)
		sum += p[i] * i;
	out[x] = sum;
}
END
	has code 'vfmadd.*zmm|vaddps.*zmm')"

check "M4 a loop for one lane after the other, and little else: no lanes, but with more to do" "$(
	walk() {
		cat <<END
kernel void k(global int *label, global float *a)
{
	int x = get_global_id(0), at = label[x];

	while (at != label[at])
		at = label[at];
	label[x] = at;
	$1;
}
END
	}
	for level in 3 4; do
		walk '' | compile "--march x86-64-v$level"
		lacks code 'tzcnt|[yz]mm'
		walk 'a[x] = sqrt(a[x] * 2 + x) / (a[x] + 3)' | compile "--march x86-64-v$level"
		has code 'tzcnt'
		has code 'sqrtps.*[yz]mm'
	done)"

check "M4 a short loop lies in one line of the cache of decoded instructions" "$(
	for bins in 'global uint *bins' 'global uint *unused, global uint *bins'; do
		compile "--march x86-64-v4" <<END
kernel void k(global const uint *in, uint n, $bins)
{
	global const uint *from = in + n * get_group_id(0);

	for (uint i = get_local_id(0); i < n; i += get_local_size(0))
		if (bins[from[i]] < 255)
			atomic_inc(&bins[from[i]]);
}
END
		first=$(awk '/cmpl +\$0xfe/ { seen = 1 } seen && /\tja / { print $3; exit }' "$dir/code")
		[ -n "$first" ] && [ $((0x$first % 32)) -eq 0 ] || echo "the loop begins at '$first'"
	done)"

check "M4 a loop whose results nobody needs is not run" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *in, global float *out)
{
	float v = in[get_global_id(0)];

	for (int i = 0; v < 10 && i < 20; i++)
		v = v * 1.3f + 1;
	out[get_global_id(0)] = 1;
}
END
	lacks code 'vfmadd|vcmp')"

check "an element behind a private array is 0, which leaves the others' sum as it is" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const float *a, global float *b)
{
	int x = get_global_id(0), w[2][3];
	float sum = 0;

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 3; j++)
			w[i][j] = (i + 3) * (j + 1);
	for (int i = 0; i < 2; i++)
		for (int j = 0; j <= 3; j++)
			sum += w[i][j] * a[x + 4 * i + j];
	b[x] = sqrt(sum);
}
END
		has code 'vsqrtps|vrsqrt14ps'
		has code 'vmovups %[yz]mm[0-9]+,'
	done)"

finish
