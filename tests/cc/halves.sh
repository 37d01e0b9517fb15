#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: numbers of 16 bits: what is computed with them is computed in float, on lanes.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

check "M4 halves are compared on lanes, where LLVM found that floats are halves, too" "$(
	for result in 'v > w' 'v > 0.5f ? v : v * w' 'v == w ? 1 : 2' 'max(v, w)' 'isnan(v) ? w : v'; do
		for level in 3 4; do
			compile "--march x86-64-v$level" <<END
kernel void k(global const half *a, global const half *b, global float *out)
{
	int x = get_global_id(0);
	float v = vload_half(x, a), w = vload_half(x, b);

	out[x] = $result;
}
END
			has code 'vcmp.*[yz]mm'
			times code 'vucomiss' 0 2
		done
	done)"

finish
