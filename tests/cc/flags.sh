#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: conditions of lanes: flags are masks, short loops with exits are unrolled, lanes in reverse
# order access memory at once, and what no lane runs is jumped over.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

# body STATEMENTS: of a kernel that computes y from v[x] on
body() {
	compile "--march x86-64-v4 --global-offset" <<END
kernel void k(global const int *v, global int *out, int n, int w)
{
	const int x = get_global_id(0);
	int y = 0;

	$1
	out[x] = y;
}
END
}

check "M4 a variable that is true or false is no vector of bytes or ints" "$(
	body 'bool largest = true;
	for (int j = 0; j < n && largest; j++)
		for (int i = 0; i < w && largest; i++)
			if (v[x + j * w + i] > v[x])
				largest = false;
	y = largest;'
	lacks code 'vpmov[bwd]2m|vpsll[wd]|xmm[0-9]*\{'
	body 'int found = 0;
	for (int j = 0; j < n; j++) {
		for (int i = 0; i < w && !found; i++)
			if (v[x + j * w + i] == i)
				found = 1;
		if (found)
			y++;
	}'
	lacks code 'vptestn?md|vpmovd2m|vpcmpn?eqd .*zmm[0-9]*,%zmm.*\{')"

check "M4 a short loop that may end earlier has a copy of each iteration" "$(
	body 'bool largest = v[x] > 0;
	for (int j = -1; j <= 1 && largest; j++)
		for (int i = -1; i <= 1 && largest; i++)
			if ((i || j) && v[x + j * w + i] >= v[x])
				largest = false;
	y = largest;'
	times code 'vmovdqu32 .*zmm[0-9]*\{%k[0-7]\}\{z\}' 8 16)"

check "M4 lanes in reverse order behind a condition are one access" "$(
	body 'if (n >= x) y = v[n - x];'
	lacks code 'vpgather|vpinsrd'
	body 'if (n >= x) out[n - x] = v[w - x];'
	lacks code 'vpgather|vpinsrd|vpscatter')"

# as in a voxel that is copied unless its six neighbours decide
check "M4 neither way of a branch is run if no lane takes it" "$(
	body 'if (v[x] == n) {
		y = min(min(v[x - 1], v[x + 1]), min(v[x - w], v[x + w]));
		y = min(min(v[x - w * n], v[x + w * n]), y);
		out[x + w] = y;
	} else {
		out[x - w] = v[x];
	}'
	times code 'kortestw' 2 9)"

finish
