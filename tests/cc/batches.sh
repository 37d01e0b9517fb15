#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: images of a batch, whose sizes and places are in tables, and whose strides are arguments.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

# pixel STATEMENTS: of a kernel for pixel x, y of image z, whose first channel is at @i
pixel() {
	compile "--march x86-64-v4 --global-offset" <<END
kernel void k(global const uchar *p, global uchar *q, global const int *left,
	      global const uint *width, global const uint *height, global const ulong *place,
	      global const uint *inc, uint channels, int stride)
{
	const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
	ulong i = place[z] + (x + y * width[z]) * stride;

	$1
}
END
}

check "M4 channels that are as far apart as a table says: pixels are lanes" "$(
	pixel 'for (uint c = 0; c < channels; c++) {
		q[i] = max(p[i], q[i]);
		i += inc[z];
	}'
	has code 'vpmaxub .*zmm'
	lacks code 'vpinsrb|vpgather')"

check "M4 a guard by what all work-items load first is none in the interior" "$(
	pixel 'if (x >= width[z] || y >= height[z])
		return;
	q[i] = p[i] ^ 255;'
	has code 'vpternlog[dq] .*zmm')"

check "M4 a region of interest from tables masks lanes that are neighbours" "$(
	pixel 'if (y >= left[z] && x >= left[z + 1] && x < width[z] - left[z])
		for (uint c = 0; c < channels; c++)
			q[i + c * inc[z]] = p[i + c * inc[z]] ^ 255;'
	has code 'vmovdqu8 .*\{%k[1-7]\}')"

finish
