#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: accesses of lanes to memory that is not contiguous.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

check "M4 addresses that differ: gathers and scatters where the target has them" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global const int *at, global float *b)
{
	int x = get_global_id(0);

	if (at[x] > 3)
		b[at[x] + 1] = a[at[x]];
}
END
	has code 'vgatherdps.*zmm'
	has code 'vscatterdps.*zmm')"

check "M4 addresses that differ, of all lanes: single accesses where those are faster" "$(
	for index in 'at[x]' '(ushort)at[x]' '(uint)at[x]' 'x*37' 'x*w'; do
		compile "--march x86-64-v4 -DINDEX=$index" <<'END'
kernel void k(global const float *a, global const int *at, global float *b, int w)
{
	int x = get_global_id(0);

	b[INDEX + 1] = sqrt(a[INDEX]);
}
END
		has code 'vsqrtps.*zmm'
		has code 'vinsertps .*\(%r'
		has code 'vextractps .*\(%r'
		lacks code 'vgather|vscatter'
	done
	# Indices of 64 bits take as long to be taken out of their vectors.
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global const long *at, global float *b)
{
	int x = get_global_id(0);

	b[at[x]] = sqrt(a[at[x]]);
}
END
	has code 'vgather'
	has code 'vscatter')"

check "M4 addresses that differ: gathers where they are fast, but for constant steps" "$(
	for tune in generic sapphirerapids; do
		compile "--march x86-64-v4 --tune $tune" <<'END'
kernel void k(global const float *a, global const int *p, global float *b)
{
	int x = get_global_id(0);

	b[x] = a[p[x]] + a[p[x] ^ 5];
}
END
		[ $tune = generic ] && lacks code 'vgather'
		[ $tune = sapphirerapids ] && has code 'vgatherdps.*zmm' && lacks code 'vinsertps'
		compile "--march x86-64-v4 --tune $tune" <<'END'
kernel void k(global const float *a, global float *b)
{
	b[get_global_id(0)] = a[13 * get_global_id(0)];
}
END
		lacks code 'vgather'
	done)"

check "M4 addresses that differ: 16 lanes scatter where that is fast, but for constant steps" "$(
	for tune in generic sapphirerapids; do
		compile "--march x86-64-v4 --tune $tune" <<'END'
kernel void k(global const float *a, global const int *p, global float *b)
{
	b[p[get_global_id(0)]] = a[get_global_id(0)];
}
END
		[ $tune = generic ] && lacks code 'vscatter'
		[ $tune = sapphirerapids ] && has code 'vscatterdps.*zmm'
		compile "--march x86-64-v4 --tune $tune" <<'END'
kernel void k(global const float *a, global float *b)
{
	b[13 * get_global_id(0)] = a[get_global_id(0)];
}
END
		lacks code 'vscatter'
	done)"

check "M4 16 lanes that store one by one keep few addresses in registers" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global const int *p, global float *b)
{
	b[p[get_global_id(0)]] = a[get_global_id(0)];
}
END
	has code 'vextractps .*\(%r'
	times code 'mov +%r.*,.*\(%rsp\)' 0 4)"

check "M4 AVX2 gathers words for some of the lanes, not for all of them nor bytes" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const int *at, global const float *in, global float *out)
{
	int x = get_global_id(0), i = at[x];

	if (i < 0)
		out[x] = in[i & 0xfffff];
}
END
	has code 'vgatherdps.*ymm'
	for in in float uchar; do
		compile "--march x86-64-v3" <<END
kernel void k(global const int *at, global const $in *in, global $in *out)
{
	int x = get_global_id(0), i = at[x];

	if (sizeof(*in) > 1 || i < 0)
		out[x] = in[i & 0xfffff];
}
END
		lacks code 'gather'
	done)"

check "M4 indices that neighbours load are loaded one by one" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const ushort *at, global const float *in, global float *out)
{
	int x = get_global_id(0);

	out[x] = sqrt(in[at[x]] * 3 + 1) * (2 + in[at[x]]);
}
END
		has code 'vinsertps'
		lacks code 'gather|vpextr'
	done)"

check "M4 other accesses of some of the lanes: addresses chosen for all of them at once" "$(
	for index in 'at[x]' 'x*37'; do
		compile "--march x86-64-v3 -DINDEX=$index" <<'END'
kernel void k(global const uchar *a, global const int *at, global uint *b)
{
	int x = get_global_id(0);

	if (at[x] > 3)
		b[INDEX + 1] = a[INDEX] * 7;
}
END
		times code 'vblendvpd .*ymm' 4 8
		lacks code 'vpextrw|test +.0x1,|gather'
	done)"

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

check "M4 bytes and shorts of a table: one by one, or gathered with indices of 32 bits if that is fast" "$(
	for type in uchar ushort; do
		for tune in generic sapphirerapids; do
			for index in 'at[x]' '(uint)at[x] / 3'; do
				compile "--march x86-64-v4 --tune $tune -DTYPE=$type" <<END
kernel void k(global const TYPE *in, global const int *at, global uint *out)
{
	int x = get_global_id(0);

	out[x] = in[$index];
}
END
				lacks code 'vpgatherqd'
				[ $tune = generic ] && lacks code vpgatherdd && has code 'vpinsr[bw] .*\('
				[ $tune = generic ] || has code 'vpgatherdd.*zmm'
			done
		done
	done)"

check "M4 indices that fit in 32 bits have these, also where they are computed in 64" "$(
	for index in 'in[x] * 3 + 5' 'in[x] + x' '(int)(in[x] - 4 * in[x + 1]) ^ x'; do
		for tune in generic sapphirerapids; do
			compile "--march x86-64-v4 --tune $tune" <<END
kernel void k(global const ushort *in, global const float *table, global float *out)
{
	int x = get_global_id(0);

	out[x] = table[($index) & 255];
}
END
			lacks code 'v.?gatherq'
			lacks code 'vpaddq|vpxorq.*zmm|vpmovzxwq'
		done
		has code 'vgatherdps.*zmm'
	done
	# Whose upper bits decide stay.
	compile "--march x86-64-v4 --tune sapphirerapids" <<'END'
kernel void k(global const uint *in, global const float *table, global float *out)
{
	int x = get_global_id(0);

	out[x] = table[in[x] * 3UL];
}
END
	has code 'vgatherqps')"

check "M4 a table of the program: single accesses, unless gathers are fast or there are many" "$(
	for tune in generic sapphirerapids; do
		compile "--march x86-64-v4 --tune $tune" <<'END'
constant float table[256] = { 3, 1, 4, 1 };

kernel void k(global const uint *in, global float *out)
{
	int x = get_global_id(0);

	out[x] = table[(in[x] >> 5) * 7];
}
END
		if [ $tune = generic ]; then
			lacks code 'gather'
		else
			has code 'vgatherdps.*zmm'
		fi
	done
	compile "--march x86-64-v4" <<END
constant float table[256] = { 3, 1, 4, 1 };

kernel void k(global const uint *in, global float *out)
{
	int x = get_global_id(0);

	out[x] = 0$(printf ' + table[(in[x] >> %d) * 7]' {1..20});
}
END
	has code 'gather')"

check "M4 so are bytes of a table in local memory" "$(
	for tune in generic sapphirerapids; do
		compile "--march x86-64-v4 --tune $tune" <<'END'
kernel void k(global const uchar *in, global const int *at, global uchar *out, local uchar *table)
{
	int x = get_global_id(0);

	table[get_local_id(0)] = in[get_local_id(0) * 3];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[x] = table[at[x]];
}
END
		[ $tune = generic ] && has code 'vpinsrb .*\(' && lacks code gather
		[ $tune = generic ] || { has code 'vpgatherdd.*zmm' && lacks code vpinsrb; }
	done)"

check "M4 neighbours in global memory are stored at once, loads of local memory between them or not" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *in, global uchar *out, local uchar *table)
{
	int x = get_global_id(0);
	uchar3 v;

	table[get_local_id(0)] = in[get_local_id(0) * 3];
	barrier(CLK_LOCAL_MEM_FENCE);
	v = vload3(x, in);
	out[3 * x] = table[v.x];
	out[3 * x + 1] = table[v.y];
	out[3 * x + 2] = table[v.z];
}
END
	has code 'vmovdqu.*,.*\(%r'
	lacks code 'vpextrb .*\(%r'
	lacks code 'vpscatter')"

check "M4 a pixel of three bytes that is only copied is gathered, too" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *in, global const int *at, global uchar *out)
{
	int x = get_global_id(0);

	vstore3(vload3(at[x], in), x, out);
}
END
	has code 'vpgather.*zmm'
	lacks code 'vpinsrb')"

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

check "M4 vectors of which one element is used: that is gathered" "$(
	compile "--march x86-64-v4 --tune sapphirerapids" <<'END'
kernel void k(global const uchar4 *a, global const ushort4 *table, global ushort4 *b)
{
	int x = get_global_id(0);
	uchar4 v = a[x];

	b[x] = (ushort4)(table[v.x].z, table[v.y].z, table[v.z].z, table[v.w].z);
}
END
	times code 'vmovq .*\(.*xmm' 0 8
	has code 'gather'
	# As a word of the vector, without finding out which
	lacks code 'vpsrlvd')"

# sort_from START: inserts each element into a large array, from its element START - 1 on
sort_from() {
	compile "--march x86-64-v4 -DSTART=$1" <<'END'
kernel void k(global const float *a, global float *b, global const int *c, int n)
{
	int x = get_global_id(0);
	float v[1000];

	for (int i = 0; i < n; i++) {
		float now = a[x + i];
		int j;

		for (j = START - 1; j >= 0 && now < v[j]; j--)
			v[j + 1] = v[j];
		v[j + 1] = now;
	}
	b[x] = v[n / 2];
}
END
}
check "M4 a large private array: lanes if they mostly index it alike, none where each has its own" "$(
	sort_from i
	has code 'vcmp[a-z_]*ps.*zmm'
	sort_from 'c[x+i]'
	lacks code 'vcmp[a-z_]*ps.*zmm')"

check "M4 what is behind a test for infinity or NaN: lanes search, as nearly all of them come to it" "$(
	for test in isinf isnan; do
		compile "--march x86-64-v4 -DTEST=$test" <<'END'
float map(float v, global const float *from, global const float *to, int n)
{
	int first = 0, count = n, step;

	if (v <= from[0])
		return to[0];
	if (v >= from[n - 1])
		return to[n - 1];
	while (count > 0) {
		step = count / 2;
		if (v < from[first + step]) {
			count = step;
		} else {
			first += step + 1;
			count -= step + 1;
		}
	}
	return mix(to[first - 1], to[first], v - from[first - 1]);
}
kernel void k(global float *a, global const float *from, global const float *to, int n)
{
	a += get_global_id(0) * 3;
	if (!TEST(a[0]))
		for (int i = 0; i < 3; i++)
			a[i] = map(a[i], from + i * n, to + i * n, n);
}
END
		has code 'vgatherdps'
	done)"

for march in v3:ymm:vpermd v4:zmm:'vperm(d|ps)'
do
	IFS=: read -r level register permutation <<END
$march
END
	check "M4 lanes that exchange elements of local memory: a block, permuted ($level)" "$(
		compile "--march x86-64-$level" <<'END'
kernel void k(global const float *a, global float *b, local float *t, int d)
{
	size_t i = get_local_id(0);

	t[i] = a[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	b[get_global_id(0)] = sqrt(t[i ^ d]);
}
END
		has code "$permutation.*$register")"
done

finish
