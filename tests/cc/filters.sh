#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: filters whose loops run up to an argument: the interior of a row needs no test of a tap.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

# row LOOP: a filter of a row of @w integers
row() {
	compile "--march x86-64-v4 --global-offset" <<END
kernel void k(global const int *in, global int *out, constant int *taps, int w, int r, int step)
{
	const int x = get_global_id(0);
	int sum = 0;

	$1
	out[x] = sum;
}
END
}

check "M4 coordinates that are clamped in a loop: the interior loads what is contiguous" "$(
	for at in 'clamp(x + i, 0, w - 1)' 'min(max(x + i * step, 0), w - 1)' 'max(x - i, 0)' \
		  'abs(x + i)'; do
		row "for (int i = -r; i <= r; i++) sum += in[$at];"
		has code 'vpaddd [^{]*\([^{]*zmm[0-9]*$'
	done)"

check "M4 a loop from x - r to x + r runs as many iterations for all lanes" "$(
	row 'for (int i = x - r; i <= x + r; i++) sum += in[clamp(i, 0, w - 1)] + (i - x);'
	has code 'vpaddd [^{]*\([^{]*zmm[0-9]*$'
	row 'for (int i = x; i < x + r; i++) if (i >= 0 && i < w) sum += in[i];'
	has code 'vpaddd [^{]*\([^{]*zmm[0-9]*$')"

check "M4 taps outside of the image are left out: no mask in the interior" "$(
	row 'for (int i = 0; i < r; i++) {
		const int at = x + i - r / 2;

		if (at < 0 || at >= w)
			continue;
		sum += in[at] * taps[i];
	}'
	has code 'vpmulld [^{]*\([^{]*zmm[0-9]*$')"

check "M4 quotients of clamped taps, and clamps of taps on both sides of a test" "$(
	row 'for (int i = -r; i <= r; i++) sum += in[clamp(x + i, 0, w - 1) >> 3];'
	row 'for (int i = -r; i <= r; i++) sum += in[clamp(x + i, 0, w - 1) / step];'
	row 'for (int i = -r; i <= r; i++) sum += in[max(x - i, 0) / 16];'
	row 'for (int i = 0; i < r; i++) if (x < min(w - x - i, step)) sum += in[i];'
	has code vpadd)"

finish
