#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: guards: conditions that keep work-items of a row, or the whole row, from being run.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

check "M4 a guard of a multiple of x: no masks inside" "$(
	compile "--global-offset" <<'END'
kernel void k(global const uchar *a, global uchar *b, int n)
{
	int x = get_global_id(0);

	if (3 * x + 2 < n)
		b[x] = a[3 * x] ^ a[3 * x + 1] ^ a[3 * x + 2];
}
END
	has code 'vpshufb.*xmm'
	lacks code 'vmaskmov|vpmovmskb|vmovmskps|vblendv')"

check "M4 clamped by comparisons beyond the row: contiguous inside" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b)
{
	int x = get_global_id(0), w = get_global_size(0) + 2, left = x - 1;

	left = left < 0 ? 0 : left < w ? left : w - 1;
	b[x] = a[left] + a[x + 1];
}
END
	lacks code '1to16')"

check "M4 guards against a part of the length: no masks inside" "$(
	compile "--march x86-64-v3" <<'END'
kernel void k(global const float *a, global float *b, int n)
{
	int x = get_global_id(0);

	if (x < n / 4)
		b[x] = a[x] + 1;
}
END
	has code 'vaddps.*ymm'
	lacks code 'vmaskmov')"

check "M4 a guard that is the same for a row is tested once for it" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *a, int row, int group)
{
	const int x = get_local_id(0), y = get_local_id(1);

	a[y * 64 + x] += 1;
	barrier(CLK_GLOBAL_MEM_FENCE);
	if (y == row && get_group_id(1) == group)
		a[x] *= a[x + 64];
}
END
	has code 'vmulps.*zmm'
	lacks code 'set(e|ne)')"

check "M4 a guard that is the same for a column is tested once for it" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global float *a, global float *b, global float *c, int n, int m, int w)
{
	const int x = get_global_id(0), y = get_global_id(1);

	if (x < n && y < m) {
		a[x * w + y] -= b[y];
		if (y == 0)
			c[x] -= b[w];
	}
}
END
	has notes '^  columns '
	has code 'vsubps.*zmm'
	lacks code 'kmovd|set(g|l)')"

check "M4 rows of which a guard leaves nothing: the work-group returns before them" "$(
	compile "--march x86-64-v4" <<'END'
#define four(f) f f f f
kernel void k(global float *out, global const float *a, int w, int h)
{
	local float tile[256];
	float v;
	const int x = get_global_id(0), y = get_global_id(1), i = get_local_id(1) * 16 + get_local_id(0);

	if (x < w && y < h)
		tile[i] = a[y * w + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (x < w && y < h) {
		v = tile[255 - i];
		four(four(four(v = v * v + 1; v = v * 3 - v * v;)))
		out[y * w + x] = v;
	}
}
END
	awk '/<k>:/ { on = 1 } on; on && /\tj/ { exit }' "$dir/code" >"$dir/entry"
	has entry '0x10\(%rdi\)'
	lacks entry '\s\(%rdi\)')"

check "M4 a guard by sizes in constant memory: no masks inside" "$(
	compile "--global-offset --march x86-64-v4" <<'END'
typedef struct { int w, h; } sizes;
kernel void k(global const float *a, global float *b, constant sizes *s)
{
	int x = get_global_id(0), y = get_global_id(1), w = s->w, h = s->h;

	if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
		return;
	b[y * w + x] = a[y * w + x - 1] + a[y * w + x + 1];
}
END
	has code 'vmovups %zmm[0-9]+,\([^{]*$')"

check "M4 a guard of its own on each of two ways: no masks inside, and nothing outside" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const float *a, global float *b, float from, float to)
{
	int x = get_global_id(0);
	float v = a[x];

	if (v == from) {
		if (x >= 0 && x < 640)
			b[x] = to;
	} else {
		if (x >= 0 && x < 640)
			b[x] = v;
	}
}
END
	has code 'vmovups %zmm[0-9]+,\([^{]*$'
	lacks code 'vpcmp|k(or|and|not|xor)w|kmov')"

check "M4 a clamped index that falls along the row: neighbours from the last one on, no gathers" "$(
	for level in 3 4; do
		compile "--march x86-64-v$level" <<'END'
kernel void k(global const float *a, global float *b, int w)
{
	int x = get_global_id(0), y = get_global_id(1);

	b[y * w + x] = a[y * w + clamp((int)get_global_size(0) - 1 - x, 0, w - 1)];
}
END
		has code 'vpermp?[sd] .*\(|vpermp?[sd] |vshuf'
		has code 'vmovups %[yz]mm[0-9]+,\([^{]*$'
	done)"

check "M4 what one work-item of a row does, as at the border of a tile: a load and a store" "$(
	for test in 'x == 15' 'y < 7 && i == first + 15'; do
		compile "--march x86-64-v4" <<END
kernel void k(global const uchar *in, global uchar *out, int w, int first, local uchar *tile)
{
	const int x = get_local_id(0), y = get_local_id(1);
	const int i = first + x, at = get_global_id(1) * w + get_global_id(0);

	tile[y * 17 + x] = in[at];
	if ($test)
		tile[y * 17 + x + 1] = in[min(at + 1, w * w - 1)];
	barrier(CLK_LOCAL_MEM_FENCE);
	out[at] = tile[y * 17 + x] + tile[y * 17 + x + 1];
}
END
		has code 'vpaddb.*[xyz]mm'
		lacks code 'gather|vpmins'
	done)"

finish
