#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: stores: which of them there are, and which of those have masks.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

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

check "M4 a store under a mask is a plain one where all lanes are active, before AVX-512" "$(
	store='kernel void k(global const float *a, global float *b)
	{
		int x = get_global_id(0);

		if (a[x] < 0)
			b[x] = a[x] * 3;
	}'
	compile "--march x86-64-v3" <<<"$store"
	has code 'vmaskmovps +%ymm'
	has code 'vmovups +%ymm'
	compile "--march x86-64-v4" <<<"$store"
	lacks code 'vmovups +%[yz]mm[0-9]+,[^{]*$')"

check "M4 a store under a mask is skipped without a lane, unless its page was loaded from" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b)
{
	int x = get_global_id(0);

	if (a[x] < 0)
		b[x] = a[x];
}
END
	has code 'kortest'
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b)
{
	int x = get_global_id(0);

	if (a[x] < b[x])
		b[x] = a[x];
}
END
	lacks code 'kortest')"

check "M4 both ways of a branch store to one address: no mask" "$(
	compile "" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	size_t x = get_global_id(0);

	if (x < n) {
		if (a[x] < 0)
			b[x] = a[x] * 3;
		else
			b[x] = a[x] / 7;
	}
}
END
	has code 'vblendvps.*ymm'
	lacks code 'vmaskmovps'
	# Two, with addresses computed on each way from the same
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *out, global const float *in, int width, int height)
{
	int x = get_global_id(0), y = get_global_id(1), line = 2 * get_global_size(0);

	if (y >= height || x >= width) {
		out[y * line + x * 2] = 0;
		out[y * line + x * 2 + 1] = 0;
	} else {
		out[y * line + x * 2] = in[y * width + x];
		out[y * line + x * 2 + 1] = 0;
	}
}
END
	lacks code 'scatter')"

check "M4 all ways of branches, or of a switch, store to one address: no mask" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const uchar *a, global uchar *b)
{
	size_t x = get_global_id(0);

	if (a[x] > 69)
		b[x] = 255;
	else if (a[x] < 11)
		b[x] = 0;
	else if (a[x] > 39)
		b[x] = 254;
	else
		b[x] = 1;
}
END
	has code 'vpminub|vpmaxub'
	lacks code 'vpextrb'
	compile "--march x86-64-v3" <<'END'
kernel void k(global const int *a, global const int *w, global float *b, local const float *l)
{
	int x = get_global_id(0), i = get_local_id(0);
	float v = l[i + 1];

	switch (w[x]) {
	case 7:
		if (v < l[i] || v < l[i + 2])
			b[x] = 0;
		else
			b[x] = v;
		break;
	case 23:
		if (v < l[i + 19] || v < l[i + 23])
			b[x] = 0;
		else
			b[x] = v;
		break;
	default:
		b[x] = v;
	}
}
END
	lacks code 'vmaskmovps.*ymm[0-9]+,.*\(')"

check "M4 some ways of branches store to one address: one store under a mask" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const float *a, global const int *w, global uchar4 *b)
{
	int x = get_global_id(0);

	if (a[x] < 0) {
		b[x] = (uchar4)(255, 255, 255, 0);
	} else {
		switch (w[x]) {
		case 0: b[x] = (uchar4)(191, 255 * a[x], 64, 0); break;
		case 1: b[x] = (uchar4)(64, 191, 99 * a[x], 0); break;
		case 2: b[x] = (uchar4)(77 * a[x], 191, 64, 0); break;
		}
	}
}
END
	times code 'vpmaskmovd +%ymm' 1 8
	lacks code 'vpextrb'
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global const int *w, global float *b)
{
	int x = get_global_id(0), at = w[x];

	if (a[x] < 1)
		b[at] = 3;
	else if (a[x] > 5)
		b[at] = a[x] * a[x];
	else if (a[x] == 3)
		b[at] = a[x] / 7;
}
END
	times code 'scatter' 1 4
	# Not run without active lanes
	times code 'kortest|ktest' 3 8)"

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

check "M4 what a later store overwrites is not stored" "$(
	compile "--march x86-64-v4" <<'END'
#define A(n) a[(n) * 4096 + i]
kernel void k(global float *a)
{
	int i = get_global_id(0);

	#pragma unroll
	for (int k = 0; k < 4; k++) {
		float quotient = A(9 + k) / A(k);

		A(k) = quotient * A(13 + k);
		#pragma unroll
		for (int j = 0; j < 4; j++)
			if (j != k)
				A(j) += quotient * A(4 + j);
	}
}
END
	times code 'vmovups.*zmm[0-9]+,.*\(' 4 4)"

check "M4 pixels that may be converted in place: at once where they are not" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uchar *a, global uchar *b, int w)
{
	int i = get_global_id(1) * w + get_global_id(0);

	b[4 * i] = a[4 * i + 2];
	b[4 * i + 1] = a[4 * i + 1];
	b[4 * i + 2] = a[4 * i];
	b[4 * i + 3] = a[4 * i + 3];
}

kernel void planes(global const uchar *a, global uchar *b, int w, int n)
{
	int i = get_global_id(1) * w + get_global_id(0);

	b[4 * i] = a[i];
	b[4 * i + 1] = a[i + n];
	b[4 * i + 2] = a[i + 2 * n];
	b[4 * i + 3] = a[i + 3 * n];
}
END
	times code 'vmovdq.*zmm[0-9]+,.*\(' 2 8)"

check "M4 bytes that are only copied: 16 of a work-item as one vector, which is not transposed" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const uchar *in, global uchar *out, global float *sums)
{
	size_t x = get_global_id(0);

	sums[x] = sqrt(sums[x]);
	for (int k = 0; k < 16; k++)
		out[x * 16 + k] = in[x * 22 + 6 + k];
}
END
		has code 'vsqrtps +.*[yz]mm'
		# That of the second one, beside the 6 bytes of another
		has code '(vmov[du][^ ]*|vinsert[if][^ ]*) .*0x1c\(.*[xy]mm'
	done)"

check "M4 lanes that store to one address: the last of them, without a scatter" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, local float *t)
{
	size_t x = get_global_id(0), i = get_local_id(0);

	t[i + 1] = a[x];
	if (i == (size_t)a[0])
		t[0] = sqrt(a[x + 2]);
	barrier(CLK_LOCAL_MEM_FENCE);
	b[x] = t[i] + t[i + 1];
}
END
	has code 'vsqrtps.*zmm'
	lacks code 'vscatter')"

check "M4 one scatter behind a branch: it is jumped over where no lane stores" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const uint *in, global uint *flags)
{
	uint which = in[get_global_id(0)];

	if (which > 255)
		flags[which] = which;
}
END
	has code vpscatter
	has code 'kortest|ktest')"

check "M4 places from the first work-item of a group on, as a difference of ids: contiguous" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *in, global int *out, int w, int h, local int *tile)
{
	const int x = get_global_id(0), y = get_global_id(1);
	const int i = get_local_id(0), j = get_local_id(1);

	tile[j * 17 + i] = in[y * w + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[(x - i + j) * h + y - j + i] = tile[i * 17 + j];
}
END
	# A row of the tile, and one of the result
	times code 'vmovdqu.* %zmm[0-9]+,.*\(' 2 99)"

finish
