#!/bin/bash
# SPDX-License-Identifier: MIT
# salvo-cc's command line: messages, exit codes, files, and what a program may not contain.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

cc=${BUILD:-build}/bin/salvo-cc
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# expect EXIT_CODE PATTERN ARGUMENT... - run salvo-cc; say what differs
expect() {
	local want=$1 pattern=$2 out code
	shift 2
	out=$("$cc" "$@" 2>&1)
	code=$?
	[ "$code" -eq "$want" ] || echo "exit code $code instead of $want: $out"
	grep -qE -- "$pattern" <<<"$out" || echo "no /$pattern/ in: $out"
	grep -q 'PLEASE submit a bug report' <<<"$out" && echo "crashed: $out"
}

# kernel_file NAME TEXT - write a kernel file, print its path
kernel_file() {
	printf '%s\n' "$2" >"$dir/$1.cl"
	echo "$dir/$1.cl"
}

good=$(kernel_file good 'kernel void good(global int *out) { out[get_global_id(0)] = N; }')
check "compiles with a macro" "$(expect 0 '' -DN=5 -o "$dir/good.salvo" "$good")"
check "takes -D with a space" "$(expect 0 '' -D N=5 -o "$dir/good.salvo" "$good")"
check "inline functions need no static, as OpenCL users write them" "$(
	expect 0 '' -O0 -o "$dir/inline.salvo" "$(kernel_file inline 'inline int twice(int x) { return 2 * x; }
kernel void f(global int *out) { out[0] = twice(out[0]); }')"
	rm -f "$dir"/inline.*)"
check "default output is beside the input" "$(
	expect 0 '' -DN=1 "$dir/good.cl"
	[ -x "$dir/good.salvo" ] || echo "no $dir/good.salvo")"
check "leaves nothing else behind" "$(
	find "$dir" -mindepth 1 ! -name good.cl ! -name good.salvo)"
check "the output follows the umask" "$(
	umask 027
	expect 0 '' -DN=1 -o "$dir/masked.salvo" "$dir/good.cl"
	stat -c %a "$dir/masked.salvo" | grep -vx 750)"

check "an undefined macro is an error of clang's, with file and line" \
	"$(expect 1 'good\.cl:1:[0-9]+: error: .*N' -o "$dir/x.salvo" "$good")"
check "a syntax error names its line" "$(expect 1 'syntax\.cl:2:[0-9]+: error: ' \
	-o "$dir/x.salvo" "$(kernel_file syntax 'kernel void f(global int *out) {
	out[0] = ;
}')")"
check "an unknown function is named with its line" \
	"$(expect 1 "unknown\.cl:3:[0-9]+: error: function 'missing\(int\)' is not available" \
	-o "$dir/x.salvo" "$(kernel_file unknown 'int __attribute__((overloadable)) missing(int x);
kernel void f(global int *out) {
	out[0] = missing(3);
}')")"
check "a format of printf that is no literal is refused" \
	"$(expect 1 "printf\.cl:1:[0-9]+: error: the format of printf\(\) is not a string literal" \
	-w -o "$dir/x.salvo" "$(kernel_file printf 'kernel void f(constant char *t) { printf(t); }')")"
check "recursion is refused with its line" \
	"$(expect 1 "recursion\.cl:2:[0-9]+: error: .*calls itself; recursion" \
	-o "$dir/x.salvo" "$(kernel_file recursion 'int odd(int n); int even(int n) { return n ? odd(n - 1) : 1; }
int odd(int n) { return n ? even(n - 1) : 0; }
kernel void f(global int *out) { out[0] = even(out[1]); }')")"
check "a program without kernels is built, with a warning" \
	"$(expect 0 "empty\.cl: warning: no kernel in" -o "$dir/empty.salvo" "$(kernel_file empty 'int f(void) { return 1; }')")"
check "too large an argument block is refused" \
	"$(expect 1 "large\.cl:1:40: error: .*more than 16384 bytes of arguments" -o "$dir/x.salvo" "$(
	kernel_file large 'struct s { int x[5000]; }; kernel void f(struct s s, global int *o) { *o = s.x[5]; }')")"
check "too much local memory is refused" \
	"$(expect 1 "local\.cl:1:13: error: kernel 'f': 320000 bytes of local memory, more than 262144" -o "$dir/x.salvo" "$(
	kernel_file local 'kernel void f(global int *o) { local int x[80000]; x[o[0]] = 1; barrier(1); o[1] = x[o[2]]; }')")"
# refused NAME PATTERN TEXT OPTION... - an error in the second line of a kernel file
refused() {
	local name=$1 pattern=$2 text=$3
	shift 3
	check "refused with its line: $name" "$(expect 1 "$name\.cl:2:.*error: .*$pattern" \
		"$@" -o "$dir/x.salvo" "$(kernel_file "$name" $'\n'"$text")")"
}

refused pipe pipe 'kernel void f(read_only pipe int p) { }'
refused pipe2 "argument 'p' of type" 'kernel void f(read_only pipe int p) { }' -cl-std=CL2.0
refused pointer 'pointers to functions' 'int g(int x) { return x; } kernel void f(global int *o) { int (*p)(int) = g; *o = p(1); }'
refused generic 'changes address space' 'void g(int *p) { *p = 1; } kernel void f(global int *o) { g(o); }'
refused half "declaring variable of type '__private half'" 'kernel void f(global half *o) { half h = *o; *o = h + h; }'
refused read_write "no matching function for call to 'read_imagef'" 'kernel void f(read_write image2d_t o, sampler_t s) { write_imagef(o, (int2)(1), read_imagef(o, s, (int2)(1))); }' -cl-std=CL3.0
refused enqueue 'get_default_queue.*is not available' 'kernel void f(global int *o) { enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ *o = 1; }); }' -cl-std=CL2.0
refused cxx "unknown type name 'template'" 'template<class T> T g(T a) { return a; } kernel void f(global int *o) { *o = g(*o); }'
refused variable 'must reside in constant address space' 'int n = 3; kernel void f(global int *o) { *o = n++; }'
refused variable2 "variable 'n' is not defined" 'extern global int n; kernel void f(global int *o) { *o = n++; }' -cl-std=CL3.0
check "a first value that is made of an address is refused" "$(expect 1 "variable 'n' of the program: its first value is calculated" \
	-cl-std=CL3.0 -o "$dir/x.salvo" "$(kernel_file half_address 'global int m; global struct { char c; global int *p; } __attribute__((packed)) n = { 1, &m };
kernel void f(global int *o) { *o = *n.p; }')")"
check "too many variables are refused" "$(expect 1 'the variables of the program take more than 67108864 bytes' \
	-cl-std=CL3.0 -o "$dir/x.salvo" "$(kernel_file variables 'global char n[65 << 20]; kernel void f(global int *o) { *o = n[*o]++; }')")"
check "sizes that wrap around are refused, too" "$(expect 1 "more than 67108864 bytes with 'p'" \
	-cl-std=CL3.0 -o "$dir/x.salvo" "$(kernel_file wrap '#define E global char
E a[1UL << 60], b[1UL << 60], c[1UL << 60], d[1UL << 60], e[1UL << 60], f[1UL << 60], g[1UL << 60], h[1UL << 60];
E i[1UL << 60], j[1UL << 60], k[1UL << 60], l[1UL << 60], m[1UL << 60], n[1UL << 60], o[1UL << 60], p[1UL << 60];
kernel void q(global int *z) { a[*z] = b[*z] = c[*z] = d[*z] = e[*z] = f[*z] = g[*z] = h[*z] = i[*z] = j[*z] = k[*z] =
	l[*z] = m[*z] = n[*z] = o[*z] = p[*z] = 1; }')")"
check "a larger alignment than a page's is refused" "$(expect 1 "'n' is aligned to 65536 bytes, more than 4096" \
	-cl-std=CL3.0 -o "$dir/x.salvo" "$(kernel_file align 'global int n __attribute__((aligned(65536))); kernel void f(global int *o) { *o = n++; }')")"
check "a source may use names of the library" "$(expect 0 '' \
	-cl-std=CL3.0 -o "$dir/names.salvo" "$(kernel_file names 'local void *salvo_scratch(uint n) { return 0; }
int salvo_space(int n) { return n + 1; }
constant int salvo_variables = 3;
global int salvo_variables_init = 4;
kernel void f(global int *o) { int *p = o; o[0] = work_group_reduce_add(o[1]) + (salvo_scratch(o[2]) != 0) +
	salvo_space(*o) + salvo_variables + salvo_variables_init++ + (to_global(p) == o); }')")"
refused name "'salvo_sub_group': names that begin with salvo_ are reserved" 'kernel void salvo_sub_group(global int *o) { *o = 1; }'
refused conversion "printf\(\) has no conversion '%n'" 'kernel void f(global int *o) { int n; printf("a%5d %n", 1, &n); *o = n; }' -w
refused array 'variable length arrays' 'kernel void f(global int *o, int n) { int a[n]; a[0] = 1; *o = a[0]; }'
refused extern "function 'g' is not available" 'extern int g(int); kernel void f(global int *o) { *o = g(*o); }'
refused event "'__private event_t' cannot be used" 'kernel void f(event_t e) { }'
refused group 'a work-group of more than 1024 work-items' '__attribute__((reqd_work_group_size(64, 64, 1))) kernel void f(global int *o) { *o = 1; }'
refused sub_group 'a work-group of more than 128 work-items in a kernel with sub-groups' '__attribute__((reqd_work_group_size(256, 1, 1))) kernel void f(global int *o) { *o = sub_group_reduce_add(*o); }' -cl-std=CL3.0
refused reduce "undeclared identifier 'work_group_reduce_add'" 'kernel void f(global int *o) { *o = work_group_reduce_add(*o); }'
check "a missing input is an error" "$(expect 1 'no such file' "$dir/nothing.cl")"
check "an output that cannot be written is an error" \
	"$(expect 1 "cannot write .*/no/where" -DN=1 -o "$dir/no/where" "$good")"
check "errors leave no output" "$(find "$dir" -name 'x.salvo*')"
check "an error keeps the program that was there" "$(
	expect 0 '' -DN=1 -o "$dir/kept.salvo" "$good"
	before=$(sha1sum <"$dir/kept.salvo")
	expect 1 '' -o "$dir/kept.salvo" "$good"
	[ "$before" = "$(sha1sum <"$dir/kept.salvo")" ] || echo "changed")"

check "no input is wrong usage" "$(expect 2 'no input')"
check "two inputs are wrong usage" "$(expect 2 'more than one input' a.cl b.cl)"
check "an unknown option is wrong usage" "$(expect 2 "unknown option '--frobnicate'" --frobnicate a.cl)"
check "an unknown processor is wrong usage" "$(expect 2 'x86-64-v4' --march x86-64-v5 a.cl
	expect 2 'x86_64 or aarch64' --target riscv a.cl
	expect 2 'generic or sapphirerapids' --tune i486 a.cl
	expect 2 'for x86_64' --target aarch64 --march all a.cl)"
check "-o does not replace what is no regular file" "$(
	mkfifo "$dir/pipe"
	cat "$dir/pipe" >"$dir/through" &
	expect 0 '' -DN=1 -o "$dir/pipe" "$good"
	[ -p "$dir/pipe" ] || { echo "it is replaced"; kill $!; }
	wait $!
	expect 0 'kernel good' --inspect "$dir/through")"
check "-o without a file is wrong usage" "$(expect 2 '-o needs a file' a.cl -o)"
check "--help lists the options" "$(expect 0 'usage: salvo-cc' --help)"
check "--version prints the program format" "$(expect 0 'program format 2' --version)"

# Every program of the build: nothing to resolve, nothing but relative relocations.
for program in "${BUILD:-build}"/kernels/*.salvo; do
	name=$(basename "$program")
	check "$name imports nothing" "$(
		readelf -dW "$program" | grep -E 'NEEDED|TEXTREL'
		readelf --dyn-syms -W "$program" | awk '$7 == "UND" && $8 != ""')"
	check "$name has only relative relocations" \
		"$(readelf -rW "$program" | grep R_X86_64 | grep -v R_X86_64_RELATIVE)"
	check "$name has no stack or data that is executable" "$(
		readelf -lW "$program" | grep -E 'RWE|GNU_STACK.*E ')"
done
large=$(kernel_file large_program "$(for i in $(seq 12); do
	echo "kernel void k$i(global float *o) { int i = get_global_id(0); o[i] = pow(sin(o[i]), $i.5f); }"
done)")
check "a program that is compiled in parts has all kernels and is the same on one core" "$(
	expect 0 '' --march all -o "$dir/large.salvo" "$large"
	[ "$("$cc" --inspect "$dir/large.salvo" | grep -c '^kernel ')" -eq 36 ] || echo 'not 36 kernels'
	taskset -c 0 "$cc" --march all -o "$dir/large1.salvo" "$large"
	cmp "$dir/large.salvo" "$dir/large1.salvo")"
check "an error in any part fails" "$(
	expect 1 'large_error\.cl:13:13: error: .*320000 bytes of local memory' -o "$dir/x.salvo" \
		"$(kernel_file large_error "$(cat "$large")
kernel void f(global int *o) { local int x[80000]; x[o[0]] = 1; barrier(1); o[1] = x[o[2]]; }")")"
table=$(kernel_file table 'constant int a[] = {3, 1, 2}; constant int *constant p[] = {a, a + 1};
kernel void f(global int *out) { size_t i = get_global_id(0); out[i] = *p[i & 1]; }')
check "constant pointers become relative relocations" "$(
	expect 0 '' -O1 -o "$dir/table.salvo" "$table"
	readelf -rW "$dir/table.salvo" | grep R_X86_64 | grep -v R_X86_64_RELATIVE)"
copy=$(kernel_file copy 'struct s { int x[100]; };
kernel void f(global struct s *a, global struct s *b) { struct s t = a[1]; barrier(1); b[get_global_id(0)] = t; }')
check "memory functions come along, hidden" "$(
	expect 0 '' -o "$dir/copy.salvo" "$copy"
	readelf --dyn-syms -W "$dir/copy.salvo" | grep -E 'mem(cpy|set|move)')"

check "a simple loop over work-items runs on vector lanes" "$(
	objdump -d --disassemble=vadd "${BUILD:-build}/kernels/basic.salvo" |
		grep -qE 'vaddps.*%ymm' || echo "no vaddps on ymm registers")"
for level in 2 3 4 4+popcnt; do
	check "x86-64-v$level is in the note" "$(
		expect 0 '' --march "x86-64-v$level" -DN=1 -o "$dir/level.salvo" "$good"
		expect 0 "x86-64-v${level/+/[+]}$" --inspect "$dir/level.salvo")"
done
check "popcount of lanes is one instruction with x86-64-v4+popcnt" "$(
	for t in uchar:b ushort:w uint:d ulong:q; do
		echo "kernel void k(global ${t%:*} *a) { a[get_global_id(0)] = popcount(a[get_global_id(0)]); }" >"$dir/bits.cl"
		expect 0 '' --march x86-64-v4+popcnt -o "$dir/bits.salvo" "$dir/bits.cl"
		objdump -d --disassemble=k "$dir/bits.salvo" | grep -q "vpopcnt${t#*:}.*[yz]mm" || echo "$t"
	done)"
check "several instruction sets in one program" "$(
	expect 0 '' --march x86-64-v4,x86-64-v2 -DN=1 -o "$dir/fat.salvo" "$good"
	expect 0 'x86-64-v2' --inspect "$dir/fat.salvo"
	expect 0 'x86-64-v4' --inspect "$dir/fat.salvo"
	readelf --dyn-syms -W "$dir/fat.salvo" | grep -c 'FUNC.* good' | grep -vx 2
	expect 0 '' --march=all -DN=1 -o "$dir/fat.salvo" "$good"
	[ "$("$cc" --inspect "$dir/fat.salvo" | grep -c 'kernel good')" -eq 3 ] || echo "not three")"
check "a program for aarch64" "$(
	for f in basic barrier cc_args cc_language; do
		expect 0 '' --target aarch64 -o "$dir/arm.salvo" "tests/kernels/$f.cl"
	done
	expect 0 'processor +aarch64' --inspect "$dir/arm.salvo"
	readelf -hW "$dir/arm.salvo" | grep -q 'Machine:.*AArch64' || echo "not for aarch64"
	readelf -rW "$dir/arm.salvo" | grep R_AARCH64 | grep -v R_AARCH64_RELATIV)"
check "from standard input to standard output" "$(
	"$cc" -DN=7 -o - - <"$good" >"$dir/piped.salvo" || echo "exit code $?"
	expect 0 'kernel good' --inspect "$dir/piped.salvo")"
check "standard input includes what is in the current folder, if no -I has it" "$(
	mkdir "$dir/other"
	echo '#define N 1' >"$dir/here.h"
	echo '#define N 2' >"$dir/other/here.h"
	compiler=$(realpath "$cc")
	cd "$dir" || exit
	echo '#include "here.h"
int n = N;' | "$compiler" -E - | grep -q 'int n = 1;' || echo "not found"
	echo '#include "here.h"
int n = N;' | "$compiler" -E -I other - | grep -q 'int n = 2;' || echo "-I does not come first")"
check "standard input needs -o" "$(expect 2 'use -o' - </dev/null)"
check "-E preprocesses, -U forgets" "$(expect 0 'get_global_id\(0\)\] = 5' -DN=5 -E "$good"
	expect 0 'get_global_id\(0\)\] = N' -DN=5 -UN -E "$good")"
check "-W options go to clang" "$(expect 0 'unused variable' -Wunused -o "$dir/x.salvo" "$(
	kernel_file unused 'kernel void f(global int *o) { int x; *o = 1; }')"
	expect 1 'unused variable' -Wunused -Werror -o "$dir/y.salvo" "$dir/unused.cl")"
for option in -cl-single-precision-constant -cl-denorms-are-zero -cl-mad-enable -cl-opt-disable \
	-cl-fp32-correctly-rounded-divide-sqrt -cl-no-signed-zeros -cl-kernel-arg-info \
	-cl-unsafe-math-optimizations -cl-finite-math-only -cl-std=CL1.0 -cl-std=CL1.1 \
	-cl-strict-aliasing -cl-uniform-work-group-size -cl-fast-relaxed-math; do
	check "takes $option silently" "$(expect 0 '^$' "$option" -DN=1 -o "$dir/x.salvo" "$good")"
done
check "a pragma that unrolls no loop is no warning without a line" "$(
	expect 0 '^$' -o "$dir/x.salvo" "$(kernel_file unroll 'kernel void f(global float *a, int n) {
#pragma unroll
	for (int i = 0; i < n && a[i] < 1; i++)
		a[i] = 2;
}')")"
for level in 0 1 2; do
	check "-O$level compiles" "$(
		for f in basic barrier cc_args; do
			expect 0 '' "-O$level" -o "$dir/level.salvo" "tests/kernels/$f.cl"
		done)"
done
check "-cl options go to clang" "$(expect 0 '' -cl-fast-relaxed-math -cl-std=CL2.0 -DN=1 -o "$dir/x.salvo" "$good")"
check "another language or an unknown -cl option is wrong usage" "$(
	for version in CL9 CL4.0 CLC++ clc++ CLC++2021; do
		expect 2 'error: -cl-std is CL1.0' "-cl-std=$version" "$good"
	done
	for option in -cl-frobnicate -cl-ext=+cl_khr_fp16 -cl- -cl-no-stdinc; do
		expect 2 "unknown option '${option%+*}" "$option" "$good"
	done)"

kernels=${BUILD:-build}/kernels
check "--inspect says what is not a program" "$(
	expect 1 'basic.cl.: a source, not a program' --inspect tests/kernels/basic.cl
	head -c 100 /dev/zero >"$dir/zeros"
	expect 1 'zeros.: not a program' --inspect "$dir/zeros")"
check "--inspect prints arguments" \
	"$(expect 0 'global read.*float\* a' --inspect "$kernels/basic.salvo")"
hints=$(kernel_file hints '__attribute__((work_group_size_hint(64, 2, 1), vec_type_hint(float4)))
kernel void f(global int *o) { *o = 1; }
__attribute__((vec_type_hint(uchar))) kernel void g(global int *o) { *o = get_global_offset(0); }')
check "--inspect prints hints and whether there is an offset" "$(
	expect 0 '' --global-offset -o "$dir/hints.salvo" "$hints"
	expect 0 'group hint +64 x 2 x 1' --inspect "$dir/hints.salvo"
	expect 0 'type hint +float4' --inspect "$dir/hints.salvo"
	expect 0 "begin at the dispatch's offset" --inspect "$dir/hints.salvo"
	"$cc" --inspect --json "$dir/hints.salvo" | python3 -c '
import json, sys
kernels = {k["name"]: k for k in json.load(sys.stdin)["kernels"]}
got = [kernels["f"]["hinted_group"], kernels["f"]["hinted_type"], kernels["g"]["hinted_group"],
       kernels["g"]["hinted_type"], kernels["g"]["global_offset"], kernels["g"]["args_bytes"]]
if got != [[64, 2, 1], "float4", [0, 0, 0], "uchar", True, 24]:
    print(got)' 2>&1)"
check "--inspect --json is JSON" "$(
	"$cc" --inspect --json "$kernels/basic.salvo" | python3 -c '
import json, sys
kernels = {k["name"]: k for k in json.load(sys.stdin)["kernels"]}
out = kernels["vadd"]["args"][2]
if (out["kind"], out["access"], out["offset"], out["size"]) != ("global", "write", 16, 8):
    print(out)' 2>&1)"
check "--inspect of something else is an error" \
	"$(expect 1 'not|invalid|truncated|magic' --inspect /bin/true
	expect 1 '' --inspect "$good"
	expect 1 'cannot read' --inspect "$dir/nothing.salvo")"
check "--inspect survives a program cut short anywhere" "$(
	size=$(stat -c %s "$kernels/basic.salvo")
	for ((n = 0; n < size; n += 397)); do
		head -c "$n" "$kernels/basic.salvo" >"$dir/cut"
		"$cc" --inspect "$dir/cut" >/dev/null 2>&1
		[ $? -le 1 ] || echo "crashed at $n bytes"
	done)"

check "objects of kernels that are not optimised or inlined are linked and optimised" "$(
	cat >"$dir/apart.cl" <<'END'
__attribute__((noinline)) kernel void k(global float *a)
{
	uint i = get_global_id(0);
	int quotient;

	a[i] = remquo(a[i], 3.0f, &quotient);
}
END
	"$cc" -o "$dir/apart.salvo" "$dir/apart.cl" 2>&1
	sed -i 's/^__attribute__((noinline)) //' "$dir/apart.cl"
	"$cc" -O0 -c -o "$dir/apart.o" "$dir/apart.cl" 2>&1
	"$cc" --link -o "$dir/apart.salvo" "$dir/apart.o" 2>&1)"

check "arithmetic on half names the level that has it" "$(
	printf '%s\n' '#pragma OPENCL EXTENSION cl_khr_fp16 : enable' \
		'kernel void k(global half *p) { p[0] = p[1] * p[2]; }' >"$dir/half.cl"
	expect 1 'half needs x86-64-v3' --march all -o "$dir/half.salvo" "$dir/half.cl"
	expect 0 '' --march x86-64-v3,x86-64-v4 -o "$dir/half.salvo" "$dir/half.cl")"

finish
