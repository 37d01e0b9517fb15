#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: work-items that walk along memory of their own.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

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

check "M4 a walk from a row's end on: a vector of iterations, whose addresses do not wrap around" "$(
	for length in n 1024; do
		compile "--march x86-64-v4 --global-offset -DN=$length" <<'END'
kernel void k(global float *a, global const float *b, int n)
{
	int x = get_global_id(0);

	for (int i = 0; i < N - 2; i++)
		a[x * N + (N - i - 2)] -= a[x * N + (N - i - 3)] * b[x * N + (N - 3 - i)];
}
END
		times code movslq 0 4
	done)"

check "M4 a walk along a row that is changed in place: a vector of iterations" "$(
	for from in 'k=0;k<n;k++' 'k=n-1;k>=0;k--'; do
		compile "--march x86-64-v4 -DFROM=$from" <<'END'
kernel void k(global float *a, global const float *b, int n, float f)
{
	global float *row = a + get_global_id(0) * n;
	float sum = 0;

	for (int FROM) {
		sum = sum * f + row[k] * b[k];
		row[k] = sum;
	}
}
END
		has code 'vunpcklps'
		lacks code 'vgather|vscatter'
	done)"

check "M4 a filter along rows: half of the lanes of AVX-512" "$(
	for wait in 'sum*f' 'sum'; do
		compile "--march x86-64-v4 -DSUM=$wait" <<'END'
kernel void k(global const float *a, global float *b, int n, float f)
{
	const int row = get_global_id(0) * n;
	float sum = 0;

	for (int k = 0; k < n; k++) {
		sum = SUM + a[row + k];
		b[row + k] = sum;
	}
}
END
		has code 'v(fm)?add.*ymm'
		lacks code 'v(fm)?add.*zmm'
	done
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int n, float f)
{
	const int row = get_global_id(0) * n;
	float sum = 0;

	for (int k = 0; k < n; k++) {
		sum += exp(a[row + k]);
		b[row + k] = sum;
	}
}
END
	has code 'vadd.*zmm')"

check "M4 walks along rows that compute little: one work-item after the other" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int w, int r)
{
	const int y = get_global_id(0);
	float sum = 0;

	for (int x = 0; x < w; x++) {
		b[y * w + x] = sum;
		sum += a[y * w + min(x + r, w - 1)] - a[y * w + max(x - r, 0)];
	}
}
END
	lacks code 'vgather|vscatter'
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uint *a, global uint *b, int m)
{
	const int x = get_global_id(0), n = get_global_size(0);
	uint count[16];

	for (int i = 0; i < 16; i++)
		count[i] = 0;
	for (int i = 0; i < m; i++)
		count[a[x * m + i] & 15]++;
	for (int i = 0; i < 16; i++)
		b[i * n + x] = count[i];
}
END
	lacks code 'vpgather|vpscatter')"

check "M4 walks along rows whose iterations wait for one another: lanes" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, int w, float f)
{
	const int y = get_global_id(0);
	float value = a[y * w];

	for (int x = 0; x < w; x++) {
		value += f * (a[y * w + x] - value);
		b[y * w + x] = value;
	}
}
END
	has code 'vinsertps'
	has code 'vextractps'
	# Numbers that are neither counts nor sums: LLVM vectorises no such loop.
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *in, global uint *out, int n)
{
	int y = get_global_id(0);
	uint a = 1, b = 0;

	for (int i = 0; i < n; i++) {
		a = (a + in[y * n + i]) % 65521;
		b = (b + a) % 65521;
	}
	out[y] = b << 16 | a;
}
END
	has code 'vpmul')"

check "M4 walks along rows of floats and doubles: vectors of several iterations, transposed" "$(
	walk() {
		for level in 3 4; do
			compile "--march x86-64-v$level -DT=$1 -DINDEX=$2" <<'END'
kernel void k(global const T *a, global const T *b, global T *c, int n)
{
	int x = get_global_id(0);
	T sum = 0;

	if (x < n)
		for (int k = 0; k < n; k++)
			sum = sum * b[k] + a[INDEX];
	c[x] = sum;
}
END
			has code "$3"
		done
	}
	walk float 'x*n+k' 'v(unpcklps|shufps)'
	walk float 'x*n+n-1-k' 'v(unpcklps|shufps)'
	walk int 'x*100+k' 'vp?unpckh'
	walk double 'x*n+k' 'vunpckhpd'
	# Under the mask of a loop around it, where all lanes are active
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global const float *b, global float *c, uint n, uint m)
{
	for (uint y = get_global_id(0); y < m; y += get_global_size(0)) {
		global const float *row = a + y * n;
		float sum = 0;

		for (uint k = 0; k < n; k++)
			sum += row[k] * b[k];
		c[y] = sum;
	}
}
END
	has code 'vunpcklps')"

check "M4 walks along rows, with stores that may be in them: several iterations if they are not" "$(
	for store in 'c[x]+=a[x*n+k]' 'c[x*n+k]=sum=sum*.5f+a[x*n+k]'; do
		for level in 3 4; do
			compile "--march x86-64-v$level -DSTORE=$store" <<'END'
kernel void k(global const float *a, global float *c, int n)
{
	int x = get_global_id(0);
	float sum = 0;

	for (int k = 0; k < n; k++)
		STORE;
}
END
			has code 'v(unpcklps|shufps)'
		done
	done)"

check "M4 walks along what the loop may write, or that lanes end apart: as they are" "$(
	for store in 'a[x*n+k+1]=sum' 'atomic_inc(b)' 'if(sum<0)break'; do
		compile "--march x86-64-v4 -DSTORE=$store" <<'END'
kernel void k(global float *a, global int *b, global float *c, int n)
{
	int x = get_global_id(0);
	float sum = 0;

	for (int k = 0; k < n; k++) {
		sum = sum * .5f + a[x * n + k];
		STORE;
	}
	c[x] = sum;
}
END
		lacks code 'vunpcklps.*zmm'
	done)"

check "M4 a loop with an end of each lane: without masks up to the first end" "$(
	sum() {
		compile "--march x86-64-v4" <<END
kernel void k(global const float *a, global float *sums, int n)
{
	int x = get_global_id(0);
	float sum = 0;

	for (int j = $1; $2; j++)
		sum += a[$3];
	sums[x] = sum;
}
END
	}
	sum 0 'j < x' 'j * n + x'
	has code 'vpminu[dq]'
	has code 'vaddps +[^{]*zmm[0-9]+$'
	# Lanes are neighbours behind the first end, too.
	sum x 'j < 2 * x + n' j
	has code 'vpminu[dq]'
	lacks code 'vgather'
	# Of a few iterations none are common to all lanes.
	sum 0 'j <= (x & 3)' 'j * n + x'
	lacks code 'vpminu[dq]')"

finish
