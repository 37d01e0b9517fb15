#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: what lanes access images with.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

check "M4 every second pixel of a row: gathers with indices of 32 bits" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(read_only image2d_t a, write_only image2d_t b)
{
	const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |
			    CLK_FILTER_NEAREST;
	int x = get_global_id(0), y = get_global_id(1);

	write_imagef(b, (int2)(x, y), read_imagef(a, s, (int2)(2 * x, y)));
}
END
	has code 'vpgatherdd'
	lacks code 'vp?gatherq')"

finish
