#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: rows and branches: what runs on lanes, what one by one.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

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

check "M4 scatters behind a branch: one active lane after the other" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *edges, global const uchar *mask, global int *cost)
{
	int x = get_global_id(0);

	if (mask[x])
		for (int i = 0; i < 8; i++)
			cost[edges[8 * x + i]] = 3;
}
END
	lacks code 'scatter|gather'
	# A seventh of the lanes
	compile "--march x86-64-v4" <<'END'
kernel void k(global double *all, uint n)
{
	uint x = get_global_id(0);

	if (x % 7 == 0)
		all[500 * x + x % n] *= 0.5;
}
END
	lacks code 'scatter|gather')"

check "M4 a loop for one work-item of a row, between barriers: no lanes" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uint *row, global const uint *column, global const float *all,
	      global float *x, uint n)
{
	local float part[128];
	uint id = get_local_id(0), size = get_local_size(0), at = 0, next = row[1];
	float sum = x[0], diagonal = 1;

	for (uint i = id; i < n * size; i += size) {
		part[id] = all[i];
		barrier(CLK_LOCAL_MEM_FENCE);
		if (id == 0) {
			for (uint k = 0; k < size; k++) {
				if (i + k == next) {
					x[at++] = sum / diagonal;
					next = row[at + 1];
					sum = x[at];
				}
				if (column[k] < at)
					sum -= part[k] * x[column[k]];
				else if (column[k] == at)
					diagonal = part[k];
			}
		}
		barrier(CLK_GLOBAL_MEM_FENCE);
	}
}
END
	lacks code 'vdivps'
	has code 'vdivss')"

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

check "M4 one after the other for vectors that fill a register or are blended, before AVX-512" "$(
	compile "" <<'END'
kernel void k(global const double4 *a, global double4 *b, global const double *c)
{
	size_t x = get_global_id(0);

	b[x] = a[x] - c[x] * a[0];
}
END
	times code 'vmov[au]p[sd] +%ymm' 1 4
	compile "" <<'END'
kernel void k(global const uint4 *a, global uint4 *b, int by, int n)
{
	int x = get_global_id(0);
	uint4 sum = 0;

	for (int i = 0; i < n; i++) {
		if (x - i * by < 0) {
			b[x] = sum;
			return;
		}
		sum += a[x - i * by];
	}
	b[x] = sum;
}
END
	lacks code 'maskmov')"

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

check "M4 rows of one work-group run as one where a kernel cannot tell" "$(
	for id in get_global_id get_group_id get_local_id; do
		compile "-DID=$id" <<'END'
kernel void k(global int *a)
{
	a[get_global_id(1) * 64 + get_local_id(0)] += ID(1);
}
END
		[ $id = get_global_id ] && has code 'mov .*,0x90\(%rsi\)'
		[ $id = get_global_id ] || lacks code ',0x90\(%rsi\)'
	done)"

check "M4 a number made of group and local id: rows of work-groups run as one" "$(
	strip() {
		compile "-DNUMBER=$1" <<'END'
#define GROUP	get_group_id(0)
#define SIZE	get_local_size(0)
#define LOCAL	get_local_id(0)

kernel void k(global float *a, uint n)
{
	uint i = NUMBER;

	if (i < n && get_group_id(1) < n)
		a[get_group_id(1) * n + i] *= SIZE;
}
END
	}
	for number in "GROUP*SIZE+LOCAL" "LOCAL+(int)SIZE*(int)GROUP" \
		"(uint)GROUP*(uint)SIZE+(uint)LOCAL" "(GROUP-GROUP/n*n)*SIZE+LOCAL" \
		"GROUP%n*SIZE+LOCAL+GROUP/n*512" "(int)GROUP%(int)n*SIZE+LOCAL" \
		"(GROUP+get_group_id(1)*get_num_groups(0))*SIZE+LOCAL" "(GROUP+n)*SIZE+LOCAL"; do
		strip "$number"
		has code '0x90\(%r'
	done
	for number in "GROUP*SIZE+LOCAL+GROUP" "GROUP*64+LOCAL" "LOCAL" "GROUP*SIZE" \
		"GROUP*SIZE*2+LOCAL" "GROUP%n+get_global_id(0)" "GROUP/n*SIZE+LOCAL" \
		"GROUP%get_global_id(1)*SIZE+LOCAL" "(GROUP-GROUP/2*n)*SIZE+LOCAL" \
		"(GROUP+LOCAL)*SIZE+LOCAL" "(GROUP+n)*n+LOCAL"; do
		strip "$number"
		lacks code '0x90\(%r'
	done)"

check "M4 the oldest processor has lanes too" "$(
	compile "--march x86-64-v2" <<'END'
kernel void k(global const float *a, global float *b)
{
	b[get_global_id(0)] = a[get_global_id(0)] * 3;
}
END
	has code 'mulps')"

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
	out[gid] = sqrt(gid + 2.0f) / (gid + 3.0f) * 100;
	for (int i = first[gid]; i < first[gid + 1]; i += 4) {
		int value = *(global const int *)(a + i);
		atomic_inc(bins + (value & 255));
		atomic_inc(bins + (value >> 8 & 255));
		atomic_inc(bins + (value >> 16 & 255));
		atomic_inc(bins + (value >> 24 & 255));
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	out[gid] += bins[x & 255];
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

check "M4 a large function of a kernel that is not too large with it: lanes" "$(
	compile "--march x86-64-v4" < <(
		echo "static void body(global uint *a, global const uint *b, size_t x, uint k) {"
		echo "uint s = a[x], t = b[x];"
		seq -f "s += rotate(t ^ k, %gu); t ^= rotate(s, 7u) * (s | 3);" 400
		echo "a[x] = s + t; }"
		for k in 1 2; do
			echo "kernel void k$k(global uint *a, global const uint *b)"
			echo "{ body(a, b, get_global_id(0), $k); }"
		done)
	times code 'vprol' 1500 9999)"

check "M4 a large function that reads an image, of a kernel that is not too large with it: lanes" "$(
	compile "--march x86-64-v4" < <(
		echo "static void body(read_only image2d_t m, global uint *a, int x, uint k) {"
		echo "const sampler_t s = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;"
		echo "float4 f = read_imagef(m, s, (int2)(x, x & k));"
		echo "uint u = as_uint(f.x), t = as_uint(f.y);"
		seq -f "u += rotate(t ^ k, %gu); t ^= rotate(u, 7u) * (u | 3);" 400
		echo "a[x] = u + t; }"
		for k in 1 2; do
			echo "kernel void k$k(read_only image2d_t m, global uint *a)"
			echo "{ body(m, a, get_global_id(0), $k); }"
		done)
	times code 'vprol' 1500 9999)"

check "a function that a large function calls several times is there once" "$(
	compile "--march x86-64-v3" < <(
		echo "static void rounds(uint *s, const uint *w) {"
		echo "uint a = s[0], b = s[1], c = s[2];"
		seq -f "a += rotate(a ^ (b & c), w[%g & 15]); b ^= a; c += b;" 64
		cat <<'END'
	s[0] += a;
	s[1] ^= b;
	s[2] += c;
}

static void digest(uint *s, uint *w, global const uint *text, uint n)
{
	for (uint i = 0; i < n; i++) {
		w[i % 16] = text[i];
		if (i % 16 == 15)
			rounds(s, w);
	}
	rounds(s, w);
	w[0] = 1;
	rounds(s, w);
}

kernel void k(global const uint *text, global uint *out, uint n)
{
	uint s[3] = { 1, 2, 3 }, w[16] = { 0 };
	int x = get_global_id(0);

#define TWICE(i) digest(s, w, text + x * n, n - i); digest(s, w, text + x * n, n - i - 1);
	TWICE(0) TWICE(2) TWICE(4) TWICE(6) TWICE(8) TWICE(10)
	out[x] = s[0] + s[1] + s[2];
}
END
	)
	times code 'ro[lr]' 64 64)"

check "a function that a kernel would have hundreds of copies of is there once" "$(
	compile "" < <(
		cat <<'END'
void verify(global int *out, global const int *a, int n)
{
	for (int i = 0; i < n; i++)
		if (a[i] != n) {
			printf("%d: %d\n", i, a[i]);
			out[0] = 0x1234567;
		}
}

kernel void k(global const int *a, global int *out, int n)
{
END
		seq -f "verify(out, a + %g * n, n);" 300
		echo "}")
	times code '0x1234567' 1 1
	has notes 'prints')"

check "functions of a large kernel that print stay functions" "$(
	compile "" < <(
		cat <<'END'
#define FOUR x = rotate(x, 7u) * 3 + n, x = rotate(x, 5u) * n + 9, \
	x = rotate(x, 9u) * 7 + n, x = rotate(x, 3u) * n + 5;
#define SIXTEEN FOUR FOUR FOUR FOUR
#define CHECK(f) uint f(uint x, uint n) { \
	SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN \
	if (x == 0x1234567) printf("%u\n", n); \
	return x; }
END
		seq -f "CHECK(f%g)" 40
		echo "kernel void k(global uint *a, uint n) { uint x = get_global_id(0);"
		seq -f "a[x] += f%g(x, n);" 40
		echo "}")
	times code '0x1234567' 40 40
	times code 'call.*<f[0-9]+>' 40 999)"

check "M4 an id that may be negative as an int: one vector version, one of a work-item" "$(
	compile "--march x86-64-v4 --global-offset" <<'END'
kernel void k(global const float *in, global float *out, int w)
{
	int x = get_global_id(0);

	if (x < w)
		out[x] = x >= 0 ? in[x] * 3 : in[0];
}
END
	times code 'vmulps.*zmm' 1 1
	times code 'vmulss' 1 1)"

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

check "M4 loads of neighbours from addresses that depend on the way: each way loads" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void k(global const float *left, global const float *in, global float *out, int w)
{
	int x = get_local_id(0), y = get_group_id(0);
	float v, u;

	if (x == 0) {
		v = left[y];
		u = in[y * w + x + 1];
	} else if (x == 63) {
		v = in[y * w + x - 1];
		u = left[y + 1];
	} else {
		v = in[y * w + x - 1];
		u = in[y * w + x + 1];
	}
	out[y * w + x] = v * u;
}
END
		has code 'v(mask)?movu?ps.*(%k|ymm)'
		lacks code 'vgather'
	done
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *a, global const int *b, global const int *c, global int *out)
{
	int x = get_global_id(0);

	out[x] = *(c[x] > 0 ? &a[x] : &b[x + 1]);
}
END
	lacks code 'vpgather'
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *a, global const int *b, global const int *c, global int *out)
{
	int x = get_global_id(0);
	global const int *p = &a[x];

	if (c[x] > 0) {
		out[x] = 1;
		p = &b[x + 1];
	}
	out[x] += *p;
}
END
	has code 'vmovdqu')"

check "M4 an atomic operation of few lanes: one work-item after the other" "$(
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
	lacks code 'vpextr|vpinsr|gather')"

check "M4 a structure that only passes through private memory is copied once" "$(
	compile "--march x86-64-v4" <<'END'
typedef struct { float re, im, x, y, z, w; } sample;

kernel void k(global const uint *order, global const sample *in, global sample *out)
{
	sample one = in[order[get_global_id(0)]];

	out[get_global_id(0)] = one;
}
END
	times code 'vmov.*\(.*%xmm' 16 20)"

check "M4 neighbours of an id of 32 bits are side by side, whatever its offset" "$(
	compile "--global-offset" <<'END'
kernel void k(global const float *a, global const uchar *c, global float *b, int n)
{
	int x = get_global_id(0);

	if (x < n)
		b[x] = a[x - 1] + a[x + 1] + a[3 * x + 1] + c[x + 2];
}
END
	has code 'v(movups|addps).*ymm'
	lacks code 'vpextrq|vinsertps|vpinsrb'
	compile "--march x86-64-v4 --global-offset" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	int x = get_global_id(0);

	if (x < n)
		b[x] = a[x + 1];
}
END
	lacks code 'gather')"

check "M4 rare cases of lengths and remainders: behind a branch, or a call" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	int x = get_global_id(0);
	float3 v = normalize((float3)(a[x], a[x + n], a[x + 2 * n]));

	b[x] = fmod(v.x, a[x]) + ldexp(v.y, n) + hypot(v.z, a[x + 3 * n]);
}
END
	times code 'vrsqrt14ps.*zmm' 1 1
	times code 'vsqrtps.*zmm' 1 1
	times code 'call.*fmod' 1 2)"

check "M4 indices of 32 bits come out of a vector once for loads and stores" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global uint *a, uint shift)
{
	uint x = get_global_id(0), at = x << 1 >> shift ^ x;

	a[at] = a[at] * 3 + 1;
}
END
	has code 'vpmulld|vpaddd'
	times code 'vpextrq' 1 4
	lacks code 'vpmovzxdq')"

check "M4 bits of x that are those of the lane, or the same for all: one version, contiguous" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const float2 *a, global float *b)
{
	local float tile[1024];
	uint x = get_local_id(0), i = x & 15, j = x >> 4;

	tile[x] = a[j * 1000 + i].x;
	barrier(CLK_LOCAL_MEM_FENCE);
	b[get_group_id(0) * 1024 + x] = tile[((i + 64) << 2 & 0x3c) / 4 + (j & 3) * 16];
}
END
		lacks code 'gather|vpextr|vextract'
	done)"

check "M4 members of a structure by value are the same for all work-items, without a copy for each" "$(
	compile "--global-offset --march x86-64-v4" <<'END'
struct shape { long sizes[4], steps[4]; };

kernel void k(global const float *a, global float *b, struct shape s)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x < s.sizes[0])
		b[x + y * s.steps[1]] = a[x + y * s.steps[1]] + 1;
}
END
	has code 'vaddps +(-?0x[0-9a-f]+)?\(.*zmm'
	lacks code 'gather|scatter|vmovups.*%[xyz]mm[0-9]+,.*\(%rsp')"

check "M4 strides that are arguments: contiguous where that of x is one" "$(
	for type in uint int ulong; do
		compile "--global-offset --march x86-64-v4 -DTYPE=$type" <<'END'
kernel void k(global const float *a, global float *b, int width, long step, long line, TYPE parts)
{
	int x = get_local_size(0) * (get_group_id(0) / parts) + get_local_id(0);
	int y = get_global_id(1);

	if (x < width)
		b[x * step + y * line] = a[x * step + y * line] + 1;
}
END
		has code 'vaddps +(-?0x[0-9a-f]+)?\(.*zmm'
		has code 'vgather'
	done
	# The columns of a matrix, and the channels of a pixel
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int height, int channels)
{
	int x = get_global_id(0), y = get_global_id(1);

	b[x * height + y] = a[y * height + x * channels] + a[y * height + x * channels + 1];
}
END
	lacks code 'vaddps +(-?0x[0-9a-f]+)?\(.*zmm')"

check "M4 a private array whose elements are stored under conditions: in registers once" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int n, int m)
{
	const int x = get_local_id(0), size = get_local_size(0);
	float s[16];
	float *t = s + 4;

	for (int i = 0; i < 16; i++)
		s[i] = 0;
	for (int y = 0; y < m; y++)
		for (int i = x; i < n; i += size) {
			const float v = a[y * n + i];
			if (v < 1) {
				t[11] += v;
				continue;
			}
			for (int k = 0; k < 4; k++)
				s[k] += v * a[k];
			t[0] += v * a[4];
			t[1] += v * a[5];
			t[2] += v * a[6];
		}
	for (int i = 0; i < 16; i++)
		b[x * 16 + i] = s[i];
}
END
	lacks code 'vmov.*\(%rsp')"

check "M4 lanes that leave a loop keep many sums in it, and choose once for each" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	const int x = get_local_id(0), size = get_local_size(0);
	float s[12] = { 0 };

	for (int i = x; i < n; i += size)
		if (a[i] > 0)
			for (int k = 0; k < 12; k++)
				s[k] += a[i] * a[i * 2 + k];
	for (int k = 0; k < 12; k++)
		b[x * 12 + k] = s[k];
}
END
	# Of each of three loops
	times code 'vfmadd.*[{]%k' 12 36
	times code 'vmov.*mm[0-9]+,%[xyz]mm[0-9]+[{]%k' 0 24)"

# In the order of their addresses: a jump back to before a division is a loop around it.
check "M4 what is divided for a group is so once, not in each row that a guard lets run" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global char *a, uint groups, long width, long height)
{
	const uint z = get_group_id(0) / groups;
	const int x = get_local_size(0) * (get_group_id(0) - z * groups) + get_local_id(0);
	const int y = get_global_id(1);

	if (x < width && y < height)
		a[z * width * height + y * width + x] += 3;
}
END
	has code '\bdivl? '
	awk '$2 ~ /^divl?$/ { divided[substr($1, 1, length($1) - 1) ""] = 1 }
	     $2 ~ /^j/ { for (d in divided)
				if (length($3) < length(d) || (length($3) == length(d) && $3 "" <= d ""))
					print "looped: " $0 }' "$dir/code")"

check "M4 some lanes load bytes or numbers that are a word apart: whole words, no gather" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *a, global const float *b, global float *c, int n)
{
	for (int i = get_global_id(0); i < n; i += get_global_size(0))
		c[i] = a[4 * i] + a[4 * i + 2] + b[2 * i + 1];
}
END
	lacks code 'gather')"

check "M4 lanes of three elements under a mask: it is repeated at once, not bit by bit" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *a, global int *b, int n, int m)
{
	local int3 tile[32 * 33];
	const int x = get_local_id(0), y = get_local_id(1);
	const int gx = (get_group_id(0) + get_group_id(1)) % get_num_groups(0) * 32 + x;
	const int gy = get_group_id(1) * 32 + y;

	if (gx < n && gy < m)
		for (int i = 0; i < 32; i += 8)
			if (gy + i < m)
				tile[(y + i) * 33 + x] = vload3((gy + i) * n + gx, a);
	barrier(CLK_LOCAL_MEM_FENCE);
	b[gy * n + gx] = tile[x * 33 + y].x;
}
END
	times code 'kshift|kor' 0 40)"

check "M4 a loop that mostly gathers and scatters: one work-item after the other" "$(
	sums() {
		compile "--march x86-64-v$1 -DF=$2" <<'END'
kernel void k(global const float *a, global const uchar *bins, global const int *from,
	      local float *sums, int w)
{
	local float *own = sums + get_local_id(0);
	int at = from[get_global_id(0)];

	for (int i = 0; i < 12; i++, at += w) {
		own[bins[at] * 48] += F(a[at]);
		own[bins[at + 1] * 48] += F(a[at + 1]);
	}
}
END
	}
	for level in 3 4; do
		sums "$level" ''
		lacks code '[yz]mm'
		sums "$level" exp
		has code '[yz]mm'
	done)"

check "M4 AVX2, gathers in a loop whose length was loaded: one work-item after the other" "$(
	for length in 'a[x]' 'a[x] % m' '(a[x] & m)'; do
		compile "--march x86-64-v3 --global-offset" <<END
kernel void k(global const int *a, global const int *b, global int *out, int m)
{
	const int x = get_global_id(0);
	int sum = 0;

	for (int i = x * m; i < x * m + $length; i++)
		sum += a[i] * a[b[i]];
	out[x] = sum;
}
END
		lacks code gather
	done)"

check "M4 a loop along a step that is an argument, maybe a walk: one work-item after the other" "$(
	compile "--march x86-64-v4 --global-offset" <<'END'
kernel void k(global const float *in, global float *out, int x_step, int y_step, int step, int n)
{
	int i = get_global_id(0) * x_step + get_global_id(1) * y_step;
	float before = in[i];

	for (int at = 1; at < n; at++, i += step) {
		const float here = in[i];

		out[i] = here * 0.5f + in[i + step] * 0.25f + before * 0.25f;
		before = here;
	}
}
END
	lacks code 'gather|scatter')"

check "M4 remainders of constants are compared without a division" "$(
	for test in 'x % 7 == 0' '(uint)x % 7 == 3' 'x % 12 == 5' 'a[x] % 6 != 0'; do
		for level in 3 4; do
			compile "--march x86-64-v$level --global-offset" <<END
kernel void k(global const int *a, global int *b)
{
	int x = get_global_id(0);

	if ($test)
		b[x] = a[x] * 3;
}
END
			has code 'vpmulld'
			lacks code 'vpmulu?dq'
		done
	done)"

finish
