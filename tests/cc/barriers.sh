#!/bin/bash
# SPDX-License-Identifier: MIT
# M2, M3, M4, M7: kernels with barriers: what is split into regions, and their rows.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

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
check "M2 a loop with a barrier is split" "$(
	compile "" <<<"$barrier"
	has notes 'split at its barriers')"
check "M4 a guard in a loop with barriers keeps work-items from being run" "$(
	compile "--march x86-64-v3 --global-offset" <<'END'
kernel void k(global const float *a, global float *b, local float *s)
{
	uint x = get_local_id(0);

	s[x] = a[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint i = get_local_size(0) / 2; i > 0; i /= 2) {
		if (x < i)
			s[x] += s[x + i];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (x == 0)
		b[get_group_id(0)] = s[0];
}
END
	has code 'vaddps.*ymm'
	lacks code 'vmaskmov|vblendv|vmovmskps'
	compile "--march x86-64-v3 --global-offset" <<'END'
kernel void k(global float *a, local float *s, int n)
{
	int x = get_local_id(0);

	s[x] = a[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int d = 0; d < 2 * n; d++) {
		int y = d - x;

		if (y >= 0 && y < n)
			s[x] = s[x] * 3 + 1;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	a[get_global_id(0)] = s[x];
}
END
	has code 'vmulps.*ymm|vfmadd.*ymm'
	lacks code 'vmaskmov|vblendv|vmovmskps')"

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

# 4 KiB of private memory that is live across a barrier
cat >"$dir/private.cl" <<'END'
kernel void k(global int *a)
{
	int p[1024], i;

	for (i = 0; i < 1024; i++)
		p[i] = a[i];
	barrier(CLK_GLOBAL_MEM_FENCE);
	a[get_global_id(0)] = p[a[0] & 1023];
}
END
check "M2 private memory that is too large for all work-items is left to user-level threads" "$(
	compile "" <"$dir/private.cl"
	has notes 'a work-item a call')"
check "M7 the size of private memory is known without optimisation, too" "$(
	compile "-O0" <"$dir/private.cl"
	has notes 'private memory 4[0-9]{3} bytes')"

check "M4 a private array on one side of a barrier: elements of lanes side by side" "$(
	array_of() {
		compile "--march x86-64-v4 -DSIZE=$1" <<'END'
kernel void k(global const int *a, global int *b, int n)
{
	local int all[256];
	int v[SIZE], x = get_local_id(0);

	all[x] = a[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int i = 0; i < SIZE; i++)
		v[i] = all[x] + i;
	for (int i = 1; i < n; i++)
		v[i % SIZE] = max(v[i % SIZE], v[(i - 1) % SIZE]) * 3;
	b[get_global_id(0)] = v[n % SIZE];
}
END
	}
	array_of 20
	has code 'vpmaxsd.*zmm'
	lacks code 'gather|scatter'
	# A region with one that is as large would have no lanes.
	array_of 300
	has code 'vpmaxsd.*zmm')"

check "M4 barriers, and work-groups that are one work-item wide: lanes along y" "$(
	compile "" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	local float s[256];
	int x = get_group_id(0), y = get_local_id(1);

	s[y] = a[y * n + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	b[y * n + x] = s[255 - y] * s[y];
}
END
	has code 'vmulps.*ymm')"

check "M4 local memory that all work-items along x share: lanes along y, unless one is chosen" "$(
	shared() {
		compile "" <<END
kernel void k(global const float *a, global float *b, int n)
{
	local float s[256];
	int x = get_global_id(0), y = get_local_id(1);

	$1
		s[y] = a[y * n + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (x < n)
		b[y * n + x] = s[$2] * s[y];
}
END
	}
	shared "" "255 - y"
	has notes '^  columns '
	shared "if (get_local_id(0) == 0)" "255 - y"
	lacks notes '^  columns '
	shared "" "get_local_id(0)"
	lacks notes '^  columns ')"

check "M3 ids and pointers of neighbours across barriers: contiguous" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *a, local float *s)
{
	uint x = get_local_id(0);
	local float *p = s + x / 36 * 36;

	s[x] = a[x];
	barrier(CLK_LOCAL_MEM_FENCE);
	float sum = p[0] + p[7];
	barrier(CLK_LOCAL_MEM_FENCE);
	s[x] = sum;
	barrier(CLK_LOCAL_MEM_FENCE);
	a[x] = p[5];
}
END
	lacks code 'vscatter|vextracti32x4')"

check "M4 a loop of many barriers stays a loop, where it shall be unrolled, too" "$(
	steps() {
		compile "--march x86-64-v4 -DSTEPS=$1" <<'END'
kernel void k(global float *a, local float *l)
{
	const int x = get_local_id(0);
	float v = a[x];

#pragma unroll
	for (int i = 0; i < STEPS; i++) {
		l[x] = sqrt(v) + i;
		barrier(CLK_LOCAL_MEM_FENCE);
		v = l[x ^ 1];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	a[x] = v;
}
END
	}
	steps 4
	times code 'vsqrtps.*zmm' 4 99
	steps 64
	times code 'vsqrtps.*zmm' 1 3)"

check "M4 a difference that InstCombine takes for bits: lanes in reverse, no gather" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b)
{
	local float l[1024];
	const int x = get_local_id(0);

	l[x] = a[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	b[get_global_id(0)] = l[1023 - x];
}
END
	lacks code 'gather'
	has code 'vpermps|vperm.*zmm')"

check "M4 sums of vectors that fit into registers, where lanes would transpose what they add" "$(
	sums() {
		compile "--march x86-64-v4 -DT=$1" <<'END'
kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void k(global const T *a, global const T *b, global T *c, int n)
{
	local T tile[16][16];
	const int x = get_local_id(0), y = get_local_id(1);
	T sums[16];

	for (int i = 0; i < 16; i++)
		sums[i] = 0;
	for (int from = 0; from < n; from += 16) {
		for (int i = 0; i < 4; i++)
			tile[2 * y + i / 2][2 * x + i % 2] =
				b[(from + 2 * y + i / 2) * 64 + 2 * x + i % 2];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k = 0; k < 16; k++) {
			T v = a[(from + k) * 64 + y * 16 + x * 2];

#pragma unroll
			for (int i = 0; i < 16; i++)
				sums[i] += v * tile[k][i];
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	for (int i = 0; i < 16; i++)
		c[(y * 16 + i) * 8 + x] = sums[i];
}
END
	}
	sums double4
	has code 'vfmadd.*pd.*ymm'
	lacks code 'gather|vfmadd.*pd.*zmm'
	sums float4
	has code 'vfmadd.*ps.*xmm'
	# Lanes with a register for each sum
	sums double
	has code 'vfmadd.*pd.*zmm')"

finish
