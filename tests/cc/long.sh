#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: builds of long kernels, as generators and macros make them, do not take the square of their
# length. Limits are of CPU time, several times what a build takes and a fraction of the square, or
# several times what a kernel of a quarter of the length takes.
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

# lines N LINE: LINE for 1 to N, with that number for %g and the one before for %p
lines() {
	awk -v n="$1" -v line="$2" 'BEGIN {
		for (i = 1; i <= n; i++) {
			one = line
			gsub(/%g/, i, one)
			gsub(/%p/, i - 1, one)
			print one
		}
	}'
}

# grows N LINE [BEFORE]: a kernel of 4 * N times LINE, behind as many BEFORE, takes less than 5 times
# the CPU time of one of N, or $limit times. The square would be 16 times.
grows() {
	local TIMEFORMAT='%U %S' n

	for n in "$1" $((4 * $1)); do
		{
			echo "float f0(float v) { return v * v; }"
			lines "$n" "${3-}"
			echo "#define LAST(v) f$n(v)"
			echo "kernel void k(global const float *a, global float *b, int n) {"
			echo "int x = get_global_id(0); float s = 0, v = a[x], c;"
			lines "$n" "$2"
			echo "b[x] = s${3:++ LAST(v)}; }"
		} >"$dir/k.cl"
		{ time "$cc" -o "$dir/k.salvo" "$dir/k.cl"; } 2>&1 || echo "exit code $?"
	done | awk -v limit="${limit-5}" '!/^[0-9. ]+$/ { print; exit }
		    { time[NR] = $1 + $2 }
		    END { if (time[2] > limit * time[1]) print time[1] " s, then " time[2] " s" }'
}

for call in "tgamma(v * %g)" "lgamma(v * %g)" "pow(v + %g, v)" "erf(v * %g)" "sincos(v * %g, &c)"; do
	check "M4 60 and 240 calls: $call" "$(grows 60 "s += $call;")"
done

check "M4 20 and 80 loops" "$(grows 20 "for (int i = 0; i < n + %g; i++) s += a[x + i * %g];")"
check "M4 125 and 500 returns" "$(
	limit=10 grows 125 "if (a[x * %g] > n + %g) { b[x] = s; return; } s += v * %g;")"
check "M4 a chain of 250 and 1,000 functions" "$(
	grows 250 "" "float f%g(float v) { return f%p(v) * %g + v; }")"

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

check "M4 a loop that 1,000 breaks leave" "$(
	builds 4 < <(
		echo "kernel void k(global int *a, int n) {"
		echo "int x = get_global_id(0), s = 0;"
		echo "for (int i = 0; i < n; i++) {"
		lines 1000 "if (a[x + i * (%g + 2)] == %p) break; s += a[i + %p];"
		echo "} a[x] = s; }"))"

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
