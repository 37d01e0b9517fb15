#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: builds of long kernels, as generators and macros make them, do not take the square of their
# length. The limits are of CPU time, several times what a build takes and a fraction of the square.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

# builds SECONDS: the kernel on the standard input takes less CPU time than that
builds() {
	(ulimit -t "$1"; exec "$cc" -o "$dir/k.salvo" - 2>"$dir/errors") ||
		echo "exit code $?: $(head -3 "$dir/errors")"
}

check "M4 a sum of 2,000 elements" "$(
	builds 6 < <(
		echo "kernel void k(global const float *a, global float *b) {"
		echo "int x = get_global_id(0); float s = 0;"
		seq -f "s += a[x + %g];" 0 3 5999
		echo "b[x] = s; }"))"

check "M4 2,000 indices, each loaded from where the one before is" "$(
	builds 12 < <(
		echo "kernel void k(global const int *a, global int *b) {"
		echo "int x = get_global_id(0);"
		yes "x += a[x];" | head -2000
		echo "b[get_global_id(0)] = x; }"))"

check "M4 200 loops" "$(
	builds 8 < <(
		echo "kernel void k(global const float *a, global float *b, int n) {"
		echo "int x = get_global_id(0); float s = 0;"
		for k in {1..200}; do echo "for (int i = 0; i < n + $k; i++) s += a[i * $k + x];"; done
		echo "b[x] = s; }"))"

check "M2 80 reductions of 9 barriers each, unrolled" "$(
	builds 12 < <(
		echo "kernel void k(global const float *a, global float *b, local float *s) {"
		echo "int x = get_local_id(0), g = get_group_id(0) * 80;"
		for k in {0..79}; do
			echo "s[x] = a[(g + $k) * 256 + x]; barrier(1);"
			printf "if (x < %d) s[x] += s[x + %d]; barrier(1);\n" \
				{128,128,64,64,32,32,16,16,8,8,4,4,2,2,1,1}
			echo "if (x == 0) b[g + $k] = s[0];"
		done
		echo "}"))"

finish
