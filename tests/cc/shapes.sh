#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: which accesses and operations of work-items become which instructions.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

check "M4 work-items side by side: wide loads and stores, no masks inside a guard" "$(
	compile "" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	int x = get_global_id(0);

	if (x < n)
		b[x] = a[x] + 1;
}
END
	has code 'vaddps.*ymm'
	# One by one only what is left of a row, and where x could wrap around.
	times code 'vaddss' 1 2
	lacks code 'vmaskmov|vgather')"

check "M4 divisions in relaxed mathematics: estimates of 14 bits, none of 12" "$(
	for level in 2 3 4; do
		compile "-cl-fast-relaxed-math --march x86-64-v$level" <<'END'
kernel void k(global const float *a, global float *b, global float8 *c)
{
	int x = get_global_id(0);

	b[x] = a[x] / b[x];
	c[x] = 1 / c[x];
}
END
		if [ $level = 4 ]; then
			has code 'vrcp14ps'
			lacks code 'div[ps]s'
		else
			has code 'divps'
			lacks code 'rcp'
		fi
	done)"

check "M4 divisions in relaxed mathematics: the processor's where other operations hide them" "$(
	compile "-cl-fast-relaxed-math --march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b)
{
	int x = get_global_id(0);

	b[x] = a[x] / b[x] + exp(a[x]) * sin(b[x]) + rsqrt(a[x]);
}
END
	has code 'vdivps.*zmm'
	has code 'vrsqrt14ps.*zmm'
	lacks code 'vrcp14ps')"

check "M4 neighbouring bytes of some lanes: one load where they are in one page" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const uchar *a, global const int *at, global uint *b)
{
	int x = get_global_id(0);
	uint r = 0;

	if (at[x] > 3)
		r = a[x];
	b[x] = r;
}
END
	has code 'vpmovzxbd +(-?0x[0-9a-f]+)?\(.*ymm|vmovq +(-?0x[0-9a-f]+)?\(.*xmm'
	lacks code 'test +.0x8,')"

check "M4 clamped neighbours are side by side but at the border" "$(
	compile "" <<'END'
kernel void k(global const float *a, global float *b, int w)
{
	int x = get_global_id(0);

	b[x] = a[max(x - 1, 0)] + a[min(x + 1, w - 1)];
}
END
	has code 'vaddps +-?0x[0-9a-f]+\(.*ymm|vaddps +\(.*ymm')"

check "M4 neighbours mirrored at the border are side by side but there" "$(
	compile "" <<'END'
kernel void k(global const float *a, global float *b, int w)
{
	int x = get_global_id(0), p = x - 1, q = x + 1;

	b[x] = a[clamp(min(max(p, -p), 2 * (w - 1) - p), 0, w - 1)] +
	       a[clamp(min(max(q, -q - 1), 2 * (w - 1) - q + 1), 0, w - 1)];
}
END
	has code 'vaddps +-?0x[0-9a-f]+\(.*ymm|vaddps +\(.*ymm')"

check "M4 an index of 32 bits made of group and local id: side by side" "$(
	compile "" <<'END'
kernel void k(long n, global const float *a, global float *b)
{
	int i = (int)get_group_id(0) * 256 + (int)get_local_id(0);

	if (i < n)
		b[i] = a[i] + 1;
}
END
	has code 'vaddps.*ymm'
	lacks code 'vinsertps|vpextrq')"

check "M4 a private array: lanes of an element side by side, gathered where indices differ" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const int *a, global int *b, int n, int m)
{
	int x = get_global_id(0), v[33];

	for (int i = 0; i < n; i++)
		v[i] = i * x;
	for (int j = 0; j < m; j++)
		for (int i = 1; i < n; i++)
			v[i] = min(v[i] + 1, v[i - 1] ^ j);
	b[x] = v[n - 1];
}
END
		has code 'vpminsd'
		lacks code 'vpgather|vpscatter|vpinsrd'
	done
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *a, global int *b, int n)
{
	int x = get_global_id(0), v[33] = { 0 };

	for (int i = 0; i < n; i++)
		v[i] = i * x;
	b[x] = v[a[x]];
}
END
	has code 'vpgather'
	lacks code 'vpscatter')"

check "M4 minima at one address: compared before the locked operation; elsewhere not" "$(
	compile "" <<'END'
kernel void k(global const int *a, global int *least)
{
	atomic_min(least, a[get_global_id(0)]);
}
END
	has code 'j(le|ge|l|g) '
	compile "" <<'END'
kernel void k(global const int *at, global int *least)
{
	int x = get_global_id(0);

	atomic_min(least + at[x], x);
}
END
	lacks code 'j(le|ge|l|g) ')"

check "M4 an id that is cut to 32 bits and indexes an array without more: side by side" "$(
	compile "--march x86-64-v4 --global-offset" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	int x = get_global_id(0);

	if (x < n)
		b[x + n] -= a[x];
}
END
	has code 'vsubps.*zmm'
	lacks code 'vgather')"

check "M4 neighbours in reverse order: one load and one store" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const uchar *a, global uchar *b, int w)
{
	int x = get_global_id(0);

	b[w - 1 - x] = a[x] + 1;
}
END
		lacks code 'vpextr'
	done)"

check "M4 columns of bytes: addresses in general registers" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const uchar *a, global uchar *b, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1);

	b[x * h + h - 1 - y] = a[y * w + x];
}
END
	lacks code 'vpextrq')"

check "M4 a loop whose stride is the grid: side by side, though its index is cut to 32 bits" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	float sum = 0;

	for (int i = get_global_id(0); i < n; i += get_global_size(0))
		sum += a[i];
	b[get_global_id(0)] = sum;
}
END
		lacks code 'vgather|vinsertps|vpinsr'
	done)"

check "M4 quotients of integers: those of doubles, by a product where the divisor is uniform" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global int *a, int m)
{
	int x = get_global_id(0);

	a[x] = a[x] / m + a[x] % m;
}
END
		has code 'vmulpd'
		# What is left of a row.
		times code "idiv" 0 4
		compile "--march x86-64-v$level" <<'END'
kernel void k(global int *a, global const uint *b)
{
	int x = get_global_id(0);

	a[x] = (uint)a[x] / b[x];
}
END
		has code 'vdivpd'
		times code " div " 0 4
	done)"

check "M4 lanes a few elements apart, or in reverse order: all between them is loaded" "$(
	for level in 2 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const float *a, global const float *c, global float *b)
{
	size_t x = get_global_id(0);

	b[x] = a[2 * x] + a[3 * x + 1] + c[-x];
}
END
		# What is left of a row is loaded by one instruction or two.
		times code 'v?movss .*,%xmm' 0 4
		lacks code 'gather|vinsertps'
	done)"

check "M4 vectors of the source become longer ones" "$(
	compile "" <<'END'
kernel void k(global const uchar4 *a, global uchar4 *b)
{
	b[get_global_id(0)] = a[get_global_id(0)] + (uchar4)(1, 2, 3, 4);
}
END
	has code 'vpaddb.*ymm')"

check "M4 bytes fill registers, also where C computes with more bits" "$(
	compile "" <<'END'
kernel void k(global const uchar *a, global const uchar *b, global uchar *c, int limit)
{
	int x = get_global_id(0);
	uchar least = min(a[x], b[x]);

	c[x] = abs(a[x] - b[x]) > limit ? least : 255;
}
END
	has code 'vpminub.*ymm'
	has code 'vpblendvb.*ymm|vpor.*ymm'
	for bits in '' 'if (a[x] > 9)'; do
		compile "--march x86-64-v4" <<END
kernel void k(global const uchar *a, global uchar *c)
{
	int x = get_global_id(0);

	$bits
		c[x] = a[x] * 3;
}
END
		has code 'vpaddb.*zmm'
	done
	compile "" <<'END'
kernel void k(global const uchar *a, global const uchar *b, global const uchar *w,
	      global uchar *c)
{
	int x = get_global_id(0);

	c[x] = (a[x] * w[x] + b[x] * (255 - w[x])) / 255;
}
END
	has code 'vpmullw.*ymm'
	has code 'vpmulhuw.*ymm')"

check "M4 the bits of a comparison that a kernel puts together are one instruction" "$(
	compile "" <<'END'
kernel void k(global const int4 *a, global uint *b)
{
	uint4 bits = as_uint4(a[0] < a[1]) & (uint4)(1, 2, 4, 8);
	uint2 half_bits = bits.lo | bits.hi;

	b[0] = half_bits.x | half_bits.y;
}
END
	has code 'vmovmskps')"

check "atomic operations lock the bus for global memory only" "$(
	compile "" <<'END'
kernel void k(local int *l)
{
	atomic_inc(&l[get_local_id(0) & 3]);
}
END
	lacks code 'lock'
	compile "" <<'END'
kernel void k(global int *g)
{
	atomic_inc(g);
}
END
	has code 'lock')"

check "M4 saturating conversions of floating-point vectors are vector instructions" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float16 *a, global uchar16 *b)
{
	int x = get_global_id(0);

	b[x] = convert_uchar16_sat_rte(a[x]);
}
END
	has code 'vcvttps2dq.*zmm'
	lacks code 'vcvttss2si|vpinsrb')"

check "M4 long vectors that go through a loop: several work-items hide the latency" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *a, int n)
{
	float8 x = a[get_global_id(0)], y = x + 1;

	for (int i = 0; i < n; i++) {
		x = mad(x, y, x);
		y = mad(x, x, y);
	}
	a[get_global_id(0)] = dot(x.lo, y.hi);
}
END
	has code 'vfmadd.*zmm')"

check "M4 long vectors that are loaded before a long loop, too, but not in it or before a short one" "$(
	loop() {
		compile "--march x86-64-v4" <<END
kernel void k(global const float8 *a, global float8 *b, int n)
{
	int x = get_global_id(0);
	float8 v = a[x];

	for (int i = 0; i < n; i++)
		v = $1;
	b[x] = v;
}
END
	}
	loop 'exp(v) + 1'
	has code 'vfmadd.*zmm'
	loop 'exp(v) + a[i]'
	lacks code 'zmm'
	loop 'v + 1'
	lacks code 'zmm')"

check "M4 functions that take long vectors element by element: lanes compute each" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float8 *a, global float8 *b)
{
	int x = get_global_id(0);

	b[x] = tgamma(a[x]);
}
END
	has code 'vfmadd.*pd.*zmm')"

check "M4 bytes are divided by a constant as shorts, of which there are halves of products" "$(
	for type in char uchar; do
		compile "--march x86-64-v4 -DT=$type" <<'END'
kernel void k(global const T *a, global T *b)
{
	int x = get_global_id(0);

	b[x] = a[x] % 10;
}
END
		has code 'vpmulhu?w'
	done)"

check "M4 longs that doubles represent are divided as doubles, in checked mode one by one" "$(
	source='kernel void k(global long *a, global const long *b)
	{
		size_t x = get_global_id(0);

		a[x] /= b[x];
	}'
	compile "--march x86-64-v4" <<<"$source"
	has code 'vdivpd.*zmm'
	compile "--march x86-64-v4 --checked" <<<"$source"
	lacks code 'vdivpd'
	compile "--march x86-64-v4" <<<"${source/b\[x\]/10}"
	has code 'vcvttpd2qq.*zmm'
	lacks code 'vdivpd')"

check "M4 halves of sums: a multiple of two beside what is not known keeps its lanes" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	size_t x = (get_group_id(0) * get_local_size(0) + 2 * get_local_id(0)) / 2;

	if ((int)x < n)
		b[x] = a[x] + 1;
}
END
	has code 'vaddps.*zmm'
	# Of what is left of the row.
	times code 'vmovups.*\{%k' 2 2
	lacks code 'vgather|vscatter'
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *a, global int *b, int n)
{
	int x = get_global_id(0);
	b[x] = *(global const int *)(a + (4 * x + n - 1 & ~3)) + 3;
}
END
	lacks code 'vp?gather|vpinsr')"

check "M4 halves of sums that may wrap around, or carry, stay as they are" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *b, uint d)
{
	uint x = get_local_id(0);

	b[(x * 2 + d) >> 1] += 1;
}
END
	has code 'vextractps'
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *b, ushort d)
{
	uint x = get_local_id(0);

	b[(x * 2 + d) >> 2] += 1;
}
END
	has code 'vscatter')"

check "M4 vectors of 128 bits that lie apart are transposed, not gathered" "$(
	for type in float4 float3 int3 double2; do
		for march in x86-64-v4 x86-64-v3; do
			compile "--march $march -DT=$type" <<'END'
kernel void k(global const T *a, global T *b)
{
	local T v[200];
	size_t x = get_local_id(0);

	v[x] = a[x];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (x < 64)
		b[x] = (T)(v[2 * x].x + v[3 * x + 1].y);
}
END
			has code 'v(unpck|punpck|shufp)'
			lacks code 'vgather|vpinsr|vinsertps'
		done
		# Under a mask
		compile "--march x86-64-v4 -DT=$type" <<'END'
kernel void k(global const T *a, global const int *at, global T *b)
{
	uint x = get_global_id(0);
	int i = at[x];

	if (i >= 0)
		b[x] = (T)(a[i].x + a[i].y);
}
END
		has code 'v(unpck|punpck|shufp)'
		lacks code 'vp?gather'
	done)"

check "M4 neighbours in memory of a work-item: one access for all of them" "$(
	compile "--march x86-64-v4" <<'END'
struct sample { float a, b, c, d; };

kernel void k(global const struct sample *in, global const uint *at, global float *out)
{
	int x = get_global_id(0);
	struct sample s = in[at[x]];

	out[2 * x] = s.a * s.b;
	out[2 * x + 1] = s.c * s.d;
}
END
	lacks code 'vgather|vscatter'
	# Indices of 32 bits, of which LLVM does not know that they do not wrap around
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *in, global const uint *at, global float *out)
{
	uint x = get_global_id(0), i = at[x];

	out[x] = in[i - 1] + in[i] * in[i + 1] + in[i + 2];
}
END
	has code 'v(unpck|punpck|shufp)'
	lacks code 'vgather|vinsertps'
	compile "" <<'END'
kernel void k(global const uint *in, global uchar *out)
{
	uint x = get_global_id(0), v = in[x];

	out[4 * x] = v / 3;
	out[4 * x + 1] = v / 5;
	out[4 * x + 2] = v / 7;
	out[4 * x + 3] = v / 9;
}
END
	lacks code 'vpextrb'
	# A work-item that reads what it stored does so in its order.
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *in, global float *out)
{
	int x = get_global_id(0);

	out[2 * x] = in[2 * x];
	out[2 * x + 1] = in[2 * x + 1];
}
END
	has code 'vextractps')"

check "M4 work-items that come to an access on the same way stay side by side" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1), i = y * w + x;
	int above = y ? i - w : x;
	float n, s;

	if (y < 8) {
		n = a[above];
		s = a[i + 1];
	} else if (y > h - 8) {
		n = a[i - 2 * w];
		s = a[i + w];
	} else {
		n = a[i - w + 3];
		s = a[x];
	}
	b[i] = n * s;
}
END
	has code 'vmulps.*zmm'
	lacks code 'vgather')"

check "M4 divisions of x by what a row has in common: contiguous within a segment" "$(
	for divisor in 'get_local_size(0)' w 64; do
		compile "--march x86-64-v4 --global-offset" <<END
kernel void k(global const float *a, global float *b, uint w)
{
	uint g = get_global_id(0), y = g / $divisor, x = g % $divisor;

	b[y * 1000 + x] = a[y * 500 + x] * 2;
}
END
		has code 'vmovups .*\(.*,%zmm'
	done)"

check "M4 an index that wraps around where no lane is active: no access far away" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const float *in, global float *out, uint n)
{
	uint x = get_global_id(0);
	float sum = 0;

	for (uint i = 0; i < n; i++)
		if (x >= i)
			sum += in[x - i];
		else
			sum += in[i - x] * 2;
	out[x] = sum;
}
END
		has code 'and +.0xffffffffffffff[80]0,%rsp'
	done)"

check "M4 lanes a stride apart, which the kernel computes: one counter for all of them" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const int *in, global int *out, local int *tile, uint w, uint h, uint n)
{
	uint x = get_global_id(0), y = get_global_id(1);
	uint at = get_local_id(1) * n + get_local_id(0);

	tile[at] = in[y * w + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[x * h + y] = tile[at];
}
END
		times code '(inc|add)[lq]? .*\(%rsp\)$' 0 8
	done)"

check "M4 elements that branches replace, or that a loop adds to, are vectors of their own" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global float4 *position, global float4 *speed, float left, float top)
{
	int i = get_global_id(0);
	float4 p = position[i], s = speed[i];

	p += s;
	if (p.x < left)
		p.x = left, s.x *= -.5f;
	if (p.y < top)
		p.y = top, s.y *= -.5f;
	position[i] = p;
	speed[i] = s;
}
END
	lacks code 'vpmovm2|kshift'
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar4 *in, global float4 *out, int n)
{
	int x = get_global_id(0);
	float4 sum = 0;

	for (int i = x - n; i <= x + n; i++) {
		sum.x += in[i].x;
		sum.y += in[i].y;
		sum.z += in[i].z;
		sum.w += in[i].w;
	}
	out[x] = sum;
}
END
	times code 'vperm[it]2' 4 50)"

check "M4 contiguous vectors of four floats are transposed in halves of registers with AVX2" "$(
	compile "" <<'END'
kernel void k(global const float4 *in, global float4 *out)
{
	int x = get_global_id(0);
	float4 v = in[x];

	v.xyz = 1 - v.xyz * v.w;
	out[x] = v;
}
END
	times code 'vunpck[lh]p[sd].*ymm' 16 16
	lacks code 'vperm(ps|pd|d|q)')"

check "M4 a table that registers hold: a permutation, and a gather only where its page ends" "$(
	compile "--march x86-64-v4" <<'END'
constant uchar ones[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };

kernel void k(global const uint *in, global uchar *out)
{
	int x = get_global_id(0);

	out[x] = ones[in[x] & 15] + ones[(in[x] >> 4) & 15];
}
END
	has code 'vperm(d|ps) .*zmm'
	lacks code 'vpgather|vpinsr'
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uint *in, global float *out, constant float *table)
{
	int x = get_global_id(0);

	out[x] = table[in[x] % 20];
}
END
	has code 'vperm(d|ps) .*zmm'
	times code 'gather' 1 4)"

check "M4 lanes along y where memory is contiguous, though one work-item does more" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global float *a, global const float *m, global float *b, int n)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < n && y < n) {
		a[x * n + y] -= m[x * n] * a[y];
		if (y == 0)
			b[x] -= m[x * n + y] * b[0];
	}
}
END
		has notes '^  columns '
	done
	compile "" <<'END'
kernel void k(global float *a, int n)
{
	a[get_global_id(1) * n + get_global_id(0)] = 1;
}
END
	lacks notes '^  columns ')"

# @1: the type, @2: the assignment
elimination() {
	cat <<END
#define A(i) a[(i) * n + x]
#define B(i) b[(i) * n + x]
#define ROW(i) B(i) $2 A(i) * A(i + 1) + A(i + 2) * A(i + 3)
kernel void k(global const $1 *a, global $1 *b, int n)
{
	int x = get_global_id(0);

	ROW(0); ROW(4); ROW(8); ROW(12); ROW(16); ROW(20);
}
END
}

check "M4 doubles of many places in memory: lanes of one register, but not for updates in place" "$(
	elimination double '=' | compile "--march x86-64-v4"
	times code 'vmulpd.*zmm' 6 6
	elimination double '=' | sed 's/global const double/global double/; s/B(i) = /A(i) = A(i + 1) = A(i + 2) = /' |
		compile "--march x86-64-v4"
	times code 'vmulpd.*zmm' 12 12
	elimination float '=' | compile "--march x86-64-v4"
	times code 'vmulps.*zmm' 6 6
	elimination double '=' | compile "--march x86-64-v3"
	times code 'vmulpd.*ymm' 12 12)"

check "M4 the lower half of an element is no long vector, for which there are no lanes" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uint4 *a, global ushort *b, global float4 *c)
{
	int x = get_global_id(0);
	uint4 v = a[x];

	b[x] = (ushort)v.x;
	c[x] = convert_float4(v) * 2;
}
END
	has code 'zmm')"

check "M4 bytes between two products stay shorts; a chain of them runs in four vectors" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global char *out, char a)
{
	char x = a, c = get_local_id(0);

	for (int i = 0; i < 64; i++) {
		x = x * x + c;
		x = x * x + c;
		x = x * x + c;
		x = x * x + c;
	}
	out[get_global_id(0)] = x;
}
END
	times code 'vpmullw.*zmm' 16 20
	times code 'vpmov(w|d)b|vpmov[sz]xb' 1 20)"

check "M4 an index with a mask: neighbours where it does not wrap around among the lanes" "$(
	compile "--march x86-64-v4 --tune sapphirerapids" <<'END'
kernel void k(global const float *a, global float *b, int width)
{
	int x = get_global_id(0), y = get_global_id(1);

	b[y * width + x] = sqrt(a[y * width + ((x + 1) & (width - 1))]);
}
END
	has code 'vpcmp.*zmm'
	has code 'vsqrtps.*zmm|vmovups .*\(%r.*zmm'
	has code 'vgatherdps.*zmm'
	compile "--march x86-64-v3" <<'END'
kernel void k(global const uchar *a, global uchar *b, int mask)
{
	int x = get_global_id(0);

	b[x] = a[(x + mask / 2) & mask] + 1;
}
END
	has code 'vpaddb|vpsubb')"

finish
