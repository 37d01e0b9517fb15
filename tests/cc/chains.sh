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

check "M4 a loop that waits for a sum of products waits for additions only" "$(
	dot() {
		compile "--march x86-64-v4 $2" <<END
kernel void k(global const float *a, global const float *b, global float *o, int n)
{
	int x = get_global_id(0);
	float sum = 0;

	for (int j = 0; j < n; j++)
		sum = $1;
	o[x] = sum;
}
END
	}
	for flags in '' -cl-mad-enable -cl-fast-relaxed-math; do
		for sum in 'sum + a[j] * b[j * 64 + x]' 'mad(a[j], b[j * 64 + x], sum)' \
			'sum - a[j] * b[j * 64 + x]'; do
			dot "$sum" "$flags"
			has code 'v(add|sub)ps.*zmm'
			lacks code 'vfn?m(add|sub)'
		done
	done
	# What is defined as one operation, and a product that depends on the sum
	for sum in 'fma(a[j], b[j * 64 + x], sum)' 'sum * a[j] + b[j * 64 + x]'; do
		dot "$sum" ''
		has code 'vfmadd.*zmm'
	done)"

check "M4 a loop of many sums of products does not wait for them: one operation each" "$(
	{
		echo 'kernel void k(global const float *a, global float *o, int n) {'
		echo 'int x = get_global_id(0);'
		printf 'float s%d = 0;' {0..7}
		echo 'for (int j = 0; j < n; j++) { float b = a[j * 64 + x];'
		for i in {0..7}; do
			echo "s$i += b * a[j * 8 + $i];"
		done
		echo '} o[x] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7; }'
	} | compile "--march x86-64-v4"
	times code 'vfmadd.*zmm' 8 64)"

finish
