#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: kernels whose operations wait for one another: several vectors of work-items overlap.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

check "M4 a loop that is one chain of a few operations: four vectors hide its latency" "$(
	for sum in 'x' 'x + in[j]'; do
		compile "" <<END
kernel void k(global uint *a, global const uint *in, int n)
{
	int i = get_global_id(0);
	uint x = a[i];

	for (int j = 0; j < n; j++) {
		x ^= x << 13;
		x ^= x >> 17;
		x = $sum;
	}
	a[i] = x;
}
END
		# One load of each vector before the loop, in versions with one and with more
		[ "$sum" = x ] && times code 'vmovdqu.*\(.*\),%ymm' 5 5
		[ "$sum" = x ] || times code 'vmovdqu.*\(.*\),%ymm' 3 3
	done)"

check "M4 a chain of shorts in a loop: two vectors of 512 bits" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global short *a, short y)
{
	short x = a[get_global_id(0)];

	for (int i = 0; i < 500; i++) {
		x = x * x + y;
		x = x * x - y;
	}
	a[get_global_id(0)] = x;
}
END
	has code 'vmovdqu.*0x40\(.*\),%zmm')"

check "M4 a chain of long vectors without a loop: several work-items hide the latency" "$(
	{
		echo 'kernel void k(global float *a, float y) {'
		echo 'float16 x = y + (float)get_global_id(0), z = (float16)y;'
		printf 'x = x * x + z;%.0s' {1..64}
		echo 'a[get_global_id(0)] = x.s0 + x.s7 + x.sf; }'
	} | compile "--march x86-64-v4 -cl-mad-enable"
	# A few of the chain's steps beside each other, not one of all after the other
	times code 'vfmadd.*zmm' 300 3000)"

check "M4 a loop of divisions by constants that is one chain: four vectors" "$(
	for step in 'x % 1000 * 7 + j' '16807 * (x % 127773) - 2836 * (x / 127773)'; do
		compile "--march x86-64-v4" <<END
kernel void k(global int *a, int n)
{
	int x = a[get_global_id(0)];

	for (int j = 0; j < n; j++)
		x = $step;
	a[get_global_id(0)] = x;
}
END
		# Loads in versions with one vector and with four
		times code 'vmovdqu.*\(.*\),%zmm' 5 5
	done)"

check "M4 an unrolled chain of products and divisions by constants: two vectors, not of sums" "$(
	chain() {
		compile "--march x86-64-v4" <<END
kernel void k(global uint *a)
{
	uint x = a[get_global_id(0)];

	for (int j = 0; j < 16; j++)
		x = $1;
	a[get_global_id(0)] = x;
}
END
	}
	chain 'x % 1000 * 7 + j'
	times code 'vmovdqu.*\(.*\),%zmm' 3 3
	chain '(x ^ x >> 5) + j'
	times code 'vmovdqu.*\(.*\),%zmm' 1 1)"

finish
