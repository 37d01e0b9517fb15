#!/bin/bash
# SPDX-License-Identifier: MIT
# M2, M4: what the compiler makes of which shape of kernel, seen in its notes and its instructions.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

cc=${BUILD:-build}/bin/salvo-cc
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# compile OPTIONS: the kernel on the standard input; leaves its notes and instructions in files
compile() {
	cat >"$dir/k.cl"
	# shellcheck disable=SC2086
	"$cc" $1 -o "$dir/k.salvo" "$dir/k.cl" && "$cc" --inspect "$dir/k.salvo" >"$dir/notes" &&
		objdump -d --no-show-raw-insn "$dir/k.salvo" >"$dir/code"
}

has() { grep -qE "$2" "$dir/$1" || echo "no '$2' in the $1"; }
# times FILE PATTERN LEAST MOST: in so many lines
times() {
	local n
	n=$(grep -cE "$2" "$dir/$1")
	[ "$n" -ge "$3" ] && [ "$n" -le "$4" ] || echo "$n times '$2' in the $1"
}
lacks() { ! grep -E "$2" "$dir/$1"; }

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

check "M4 addresses that differ: gathers and scatters where the target has them" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global const int *at, global float *b)
{
	int x = get_global_id(0);

	b[at[x] + 1] = a[at[x]];
}
END
	has code 'vgatherdps.*zmm'
	has code 'vscatterdps.*zmm')"

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

check "M4 a flag that work-items set on a condition: stored only where it is not set" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const int *a, global char *flag, int n)
{
	if (a[get_global_id(0)] > n)
		*flag = 1;
}
END
		has code 'cmpb +.0x1,\('
	done)"

check "M4 a work-item that walks along a row of bytes: a vector of iterations" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const uchar *a, global int *b, int m)
{
	global const uchar *row = a + get_global_id(0) * m;
	int sum = 0;

	for (int i = 0; i < m; i++)
		sum += row[i];
	b[get_global_id(0)] = sum;
}
END
		has code 'vpmovzxbd'
		lacks code 'vgather|vpinsr'
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

check "M4 few active lanes and no vector form: one active lane after the other" "$(
	compile "" <<'END'
kernel void k(global const char *active, global const int *first, global const int *next,
	      global const char *seen, global int *cost)
{
	int x = get_global_id(0);

	if (!active[x])
		return;
	for (int i = first[x]; i < first[x + 1]; i++)
		if (!seen[next[i]])
			cost[next[i]] = cost[x] + 1;
}
END
	has code 'tzcnt|bsf'
	lacks code 'vpinsr|vinsertps')"

check "M4 a branch that saves little: all lanes at once" "$(
	compile "" <<'END'
kernel void k(global const float *a, global float *b)
{
	int x = get_global_id(0);

	if (a[x] > 0)
		b[x] = a[x] * 2;
}
END
	has code 'vmaskmovps.*ymm'
	lacks code 'tzcnt|bsf')"

check "M4 lanes that part: a masked store" "$(
	compile "" <<'END'
kernel void k(global const float *a, global float *b)
{
	int x = get_global_id(0);

	if (a[x] < 0)
		b[x] = a[x] * 3;
}
END
	has code 'vmaskmovps')"

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

check "M4 vectors of the source become longer ones" "$(
	compile "" <<'END'
kernel void k(global const uchar4 *a, global uchar4 *b)
{
	b[get_global_id(0)] = a[get_global_id(0)] + (uchar4)(1, 2, 3, 4);
}
END
	has code 'vpaddb.*ymm')"

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

# A strip says in ran, at 0x90 of struct salvo_group, how many work-groups it ran.
check "M4 work-groups of a row run as one where a kernel cannot tell" "$(
	compile "" <<'END'
kernel void k(global int *a)
{
	a[get_global_id(0)] = get_local_id(1);
}
END
	has code 'mov .*,0x90\(%rsi\)'
	compile "" <<'END'
kernel void k(global int *a)
{
	a[get_global_id(0)] = get_local_id(0);
}
END
	lacks code ',0x90\(%rsi\)')"

check "M4 the oldest processor has lanes too" "$(
	compile "--march x86-64-v2" <<'END'
kernel void k(global const float *a, global float *b)
{
	b[get_global_id(0)] = a[get_global_id(0)] * 3;
}
END
	has code 'mulps')"

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

barrier='kernel void k(global float *a, local float *l)
{
	int x = get_local_id(0), s;

	l[x] = a[get_global_id(0)];
	for (s = 1; s < 8; s *= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (x < s)
			l[x] += l[x + s];
	}
	a[get_global_id(0)] = l[0];
}'
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
	lacks code 'vgather|vpgather')"

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

check "M4 lists of lengths that lanes load, as a graph's edges: one lane after the other" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *first, global const int *to, global const float *rank,
	      global const int *degree, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;

	if (i >= n)
		return;
	for (int k = first[i]; k < first[i + 1]; k++)
		sum += rank[to[k]] / degree[to[k]];
	out[i] = .15f / n + .85f * sum;
}
END
	lacks code 'vgather|vpgather')"

check "M4 loops in loops that few lanes run: one lane after the other" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *first, global const int *to, global int *count, int n)
{
	int i = get_global_id(0), c = 0;

	if (i >= n)
		return;
	for (int k = first[i]; k < first[i + 1]; k++) {
		int j = to[k];

		if (j <= i)
			continue;
		int a = first[i], b = first[j];
		while (a < first[i + 1] && b < first[j + 1]) {
			int p = to[a], q = to[b];

			c += p == q;
			a += p <= q;
			b += p >= q;
		}
	}
	count[i] = c;
}
END
	lacks code 'vgather|vpgather')"

check "M4 a merge of two lists of one length for all: lanes" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *in, global int *out, int n, int width)
{
	int l = get_global_id(0) * 2 * width, m = min(l + width, n), r = m;
	int end = min(l + 2 * width, n);

	for (int k = l; k < end; k++)
		if (l < m && (r >= end || in[l] <= in[r]))
			out[k] = in[l++];
		else
			out[k] = in[r++];
}
END
	has code 'vpgather')"

check "M2 a loop with a barrier is split" "$(
	compile "" <<<"$barrier"
	has notes 'split at its barriers')"
check "M2 --fibers splits nothing" "$(
	compile "--fibers" <<<"$barrier"
	has notes 'a work-item a call')"
check "M2 neither does -O0" "$(
	compile "-O0" <<<"$barrier"
	has notes 'a work-item a call')"
check "M2 a barrier behind a condition that work-items must agree on is split" "$(
	compile "" <<'END'
kernel void k(global int *a)
{
	if (a[get_global_id(0)] > 3)
		barrier(CLK_GLOBAL_MEM_FENCE);
	a[get_global_id(0)] = 1;
}
END
	has notes 'split at its barriers')"
check "M2 private memory that is too large for all work-items is left to user-level threads" "$(
	compile "" <<'END'
kernel void k(global int *a)
{
	int p[1024], i;

	for (i = 0; i < 1024; i++)
		p[i] = a[i];
	barrier(CLK_GLOBAL_MEM_FENCE);
	a[get_global_id(0)] = p[a[0] & 1023];
}
END
	has notes 'a work-item a call')"

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

# scattered_bytes N: N times eight lines of accesses that lanes have no instruction for
scattered_bytes() {
	cat <<'END'
#define ROW(i) o[p[16 * x + i]] = v[p[16 * X + i] + i] + i; \
	o[p[16 * x + i] + 99] = v[p[16 * X + i] + 2 * i] * i;
#define ROWS(i) ROW(i) ROW(i + 1) ROW(i + 2) ROW(i + 3) ROW(i + 4) ROW(i + 5) ROW(i + 6) ROW(i + 7)
kernel void k(global uchar *o, global const ushort *p, global const uchar *v)
{
	int x = get_global_id(0);
END
	seq -f "ROWS(8 * %g)" "$1"
	echo "}"
}

check "atomic operations in a loop that lanes do not gain from do not lock local memory" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *a, global const int *first, global int *out)
{
	local int bins[256];
	int x = get_local_id(0), gid = get_global_id(0);

	bins[x & 255] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int i = first[gid]; i < first[gid + 1]; i += 4) {
		int value = *(global const int *)(a + i);
		atomic_inc(bins + (value & 255));
		atomic_inc(bins + (value >> 8 & 255));
		atomic_inc(bins + (value >> 16 & 255));
		atomic_inc(bins + (value >> 24 & 255));
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	out[gid] = bins[x & 255];
}
END
	has code 'tzcnt'
	lacks code 'lock')"

for size in 8:ymm 4:xmm; do
	check "M4 rows of ${size%:*} work-items that a kernel requires have as many lanes" "$(
		compile "--march x86-64-v4 -DROW=${size%:*}" <<'END'
kernel __attribute__((reqd_work_group_size(ROW, 8, 1)))
void k(global float *a)
{
	local float v[64];
	size_t x = get_local_id(0), y = get_local_id(1), i = get_group_id(0) * 64 + y * ROW + x;

	v[y * ROW + x] = a[i];
	barrier(CLK_LOCAL_MEM_FENCE);
	a[i] = v[y * ROW + x] + v[(y ^ 1) * ROW + x];
}
END
		has code "vaddps.*${size#*:}"
		lacks code 'vaddps.*zmm')"
done

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
	has code 'vgather'
	times code 'call.*salvo_outline_sample_2d' 1 4)"

check "M4 a large work-item of which lanes would repeat most stays scalar" "$(
	scattered_bytes 2 | compile "-DX=x"
	has code 'ymm'
	scattered_bytes 3 | compile "-DX=x"
	times code 'ymm' 0 0)"

check "M4 the border of a row does not get a second large version" "$(
	scattered_bytes 4 | compile "--march x86-64-v4 -DX=max(x-1,0)"
	has code 'zmm'
	times code '^ ' 3000 9000)"

check "M4 a large work-item of vector instructions has lanes, however large" "$(
	compile "" < <(
		echo "kernel void k(global uint *a) {"
		echo "size_t x = get_global_id(0); uint b = a[x], c = b ^ 5;"
		seq -f "b += (c & b) ^ (b << 3) ^ %g; c ^= (b >> 5) + (b | ~c);" 1200
		echo "a[x] = b + c; }")
	times code 'ymm' 8000 99999)"

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
	lacks code 'vgather|vscatter|vmovups.*\{%k')"

check "M4 halves of sums that may wrap around, or carry, stay as they are" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *b, uint d)
{
	uint x = get_local_id(0);

	b[(x * 2 + d) >> 1] += 1;
}
END
	has code 'vscatter'
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
	has code 'vscatter')"

check "M4 what is left of short rows has half of the lanes" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *in, global float *out, local float *tile)
{
	int x = get_global_id(0), i = get_local_id(0), last = get_local_size(0) - 1;

	tile[i] = in[x];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[x] = tile[last - i] + 1;
}
END
	has code 'vaddps.*zmm'
	has code 'vaddps.*ymm'
	compile "--march x86-64-v4" <<'END'
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void k(global const float *in, global float *out, local float *tile)
{
	int x = get_global_id(0), i = get_local_id(0);

	tile[i] = in[x];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[x] = tile[63 - i] + 1;
}
END
	has code 'vaddps.*zmm'
	lacks code 'vaddps.*ymm')"

check "M4 an atomic operation of few lanes: one active lane after the other" "$(
	compile "" <<'END'
kernel void k(global const uint *in, global uint *out, uint n)
{
	local uint sum[64];

	sum[get_local_id(0) & 63] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint i = get_local_id(0); i < n; i += 64)
		if (in[i] / 64 == get_group_id(0))
			atomic_add(&sum[in[i] % 64], in[i]);
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = sum[get_local_id(0) & 63];
}
END
	has code 'tzcnt')"

check "M4 a uchar3 at a place of 32 bits is gathered with offsets of 32 bits" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *in, global const int *at, global uint *out)
{
	int i = get_global_id(0);
	uchar3 v = vload3(0, in + 3 * at[i]);

	out[i] = v.x + v.y * 3 + v.z * 5;
}
END
	has code 'vpgatherdd.*zmm'
	lacks code 'vpgatherqd')"

check "M4 bytes and shorts of a table are gathered with indices of 32 bits" "$(
	for type in uchar ushort; do
		compile "--march x86-64-v4 -DTYPE=$type" <<'END'
kernel void k(global const TYPE *in, global const int *at, global uint *out)
{
	int x = get_global_id(0);

	out[x] = in[at[x]];
}
END
		has code 'vpgatherdd.*zmm'
		lacks code 'vpgatherqd'
	done)"

check "M4 an index that is known not to be negative has 32 bits in a gather, too" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *in, global const int *at, global float *out)
{
	int x = get_global_id(0);

	if (at[x] >= 0)
		out[x] = in[at[x]];
}
END
	has code 'vgatherdps.*zmm'
	lacks code 'vgatherqps')"

finish
