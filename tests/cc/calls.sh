#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: calls: of functions that stay functions, and those that a few instructions replace.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

# 12 calls of step() would make a kernel of more than 16,000 instructions (flatten.cc).
steps() {
	cat <<'END'
#define TWICE(x) x x
#define ALL(x) TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(x))))))))
uint rounds(uint a, uint b)
{
	ALL(a = a * b + (a >> 3); b ^= rotate(a, b);)
	return a;
}
uint step(uint a, uint b)
{
	return rounds(a ^ 0x2468ace1, b) + rounds(b, a);
}
END
	echo 'kernel void k(global uint *a, uint n) { uint x = get_global_id(0), r = a[x];'
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		echo "if (n & (1 << $i)) r = step(r, $i * n);"
	done
	echo 'a[x] = r; }'
}

# indexing ROUNDS: two kernels of a function with as many rounds per index of a private array
indexing() {
	echo "static void body(global uint *a, size_t x, uint k) {"
	echo "uint w[16], s = a[x], t = s ^ k;"
	echo "for (int i = 0; i < 16; i++) w[i] = a[x + i * k];"
	for i in $(seq $((400 / $1))); do
		echo "w[s & 15] = t + $i;"
		seq -f "s += rotate(t ^ w[3], %gu); t ^= rotate(s, 7u) * (s | 3);" "$1"
	done
	echo "a[x] = s + t + w[t & 15]; }"
	for k in 1 2; do
		echo "kernel void k$k(global uint *a) { body(a, get_global_id(0), $k); }"
	done
}

check "M4 a large function that seldom indexes a private array: lanes; one that often does: none" "$(
	indexing 100 | compile "--march x86-64-v4"
	times code 'vprol' 1500 9999
	indexing 1 | compile "--march x86-64-v4"
	times code 'vprol' 0 0)"

check "M4 a function that is too large to be inlined stays one for lanes, too" "$(
	steps | compile "--march x86-64-v4"
	times code '0x2468ace1' 1 25)"

check "M4 many calls of a function: it stays one, of all lanes, but few calls are inlined" "$(
	many() {
		echo "kernel void k(global float *a) { float v = a[get_global_id(0)], s = v;"
		seq -f "s += $2;" "$1"
		echo "a[get_global_id(0)] = s; }"
	}
	many 40 "pow(v + %g, v)" | compile ""
	times code 'call.*_Z3powff.lanes8' 40 40
	times code 'call.*_Z3powff>' 40 40
	many 4 "pow(v + %g, v)" | compile ""
	lacks code 'call.*pow'
	many 2 "tgamma(v + %g)" | compile "--march x86-64-v4"
	times code 'call.*_Z6tgammaf.lanes16' 2 2
	# Of one work-item after the other
	many 40 "pow(v + %g, v)" | compile "--fibers"
	lacks code 'call.*pow'
	# Many functions
	many 12 "pow(v, s + %g) + erf(s) + sin(s) + cos(s) + sinh(s) + cosh(s) + log(s) + exp(s) +
		asin(s) + acos(s) + acosh(s) + asinh(s) + cbrt(s) + log1p(s) + expm1(s) + tan(s)" |
		compile ""
	has code 'call.*lanes8')"

check "M4 powers with constant exponents: a few multiplications" "$(
	compile "" <<'END'
kernel void k(global const float *a, global float *b)
{
	int x = get_global_id(0);

	b[x] = pow(a[x], 2.0f) + pown(a[x], 3) + powr(a[x], 1.5f);
}
END
	has code 'vmulps'
	lacks code 'cvtps2pd')"

finish
