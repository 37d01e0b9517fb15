#!/bin/bash
# SPDX-License-Identifier: MIT
# M3: the kernel compiles unmodified, and a debugger steps through its source line by line.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

cc=${BUILD:-build}/bin/salvo-cc
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/step.cl" <<'END'
int twice(int x)
{
	return 2 * x;
}

global int *shifted(global int *p, int n)
{
	return p + n;
}

kernel void step(global int *out)
{
	int i = get_global_id(0);
	int j = twice(i + 20);

	barrier(CLK_GLOBAL_MEM_FENCE);
	*shifted(out, i) = j;
}
END
cat >"$dir/host.c" <<'END'
#include "cc_program.h"

int main(int argc, char **argv)
{
	int out[4];
	void *args[] = { out };
	struct cc_range range = { .global = { 4 }, .local = { 4 }, .dims = 1 };
	struct cc_program *program = cc_program_open(argv[1]);

	return !program || cc_run(program, "step", args, &range) || out[3] != 46;
}
END
gcc -g -D_GNU_SOURCE -Itests/common -Idevice/include -o "$dir/host" "$dir/host.c" tests/common/cc_program.c

# An optimised id may be part of an address that no line is named for; the store is there.
for level in 0 3; do
	wanted=$([ "$level" -eq 0 ] && echo "13 14 16 17" || echo 17)
	check "M3 line table of -O$level -g maps to the source" "$(
		"$cc" -g "-O$level" -o "$dir/step.salvo" "$dir/step.cl" 2>&1
		"$dir/host" "$dir/step.salvo" || echo "does not run"
		lines=$(objdump --dwarf=decodedline "$dir/step.salvo" 2>&1)
		for n in $wanted; do
			grep -qE "step\.cl +$n " <<<"$lines" || echo "line $n is missing"
		done)"
done
echo 'kernel void k(global int *p, int n) { if (n < 0) p += abs(n) * clz(n); *p = n; }' >"$dir/abs.cl"
check "calls of built-in functions compile with -g" "$(
	"$cc" -g -o "$dir/abs.salvo" "$dir/abs.cl" 2>&1
	"$cc" -g -O0 -o "$dir/abs.salvo" "$dir/abs.cl" 2>&1)"
check "without -g there is no debug information" "$(
	"$cc" -o "$dir/plain.salvo" "$dir/step.cl" 2>&1
	readelf -SW "$dir/plain.salvo" | grep debug)"

if ! command -v gdb >/dev/null; then
	skip "M3 gdb steps through a kernel" "no gdb"
	finish
fi
"$cc" -g -O0 -o "$dir/step.salvo" "$dir/step.cl"
log=$(gdb -q -batch -nx -ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' \
	-ex 'break step.cl:14' -ex 'run' -ex 'print i' -ex 'step' -ex 'backtrace 2' -ex 'finish' -ex 'next' \
	-ex 'next' -ex 'print j' -ex 'ptype twice' -ex 'whatis shifted' \
	--args "$dir/host" "$dir/step.salvo" 2>&1)
check "M3 gdb stops at a line of a kernel" "$(grep -q 'step.cl:14' <<<"$log" || echo "$log")"
check "M3 gdb shows a variable" "$(grep -qxF "\$1 = 0" <<<"$log" || echo "$log")"
check "M3 gdb steps into a function of the kernel" \
	"$(grep -qE 'twice \(x=20\)' <<<"$log" || echo "$log")"
check "M3 gdb goes on to the next line" "$(grep -qE '^16\s' <<<"$log" || echo "$log")"
check "gdb shows the value that a function returned" \
	"$(grep -qE 'Value returned is .* = 40' <<<"$log" || echo "$log")"
check "gdb knows the types of functions" "$(
	for line in '^type = int \(int\)$' '^type = int \*\(int \*, int\)$'; do
		grep -qE -- "$line" <<<"$log" || echo "no $line in: $log"
	done)"

finish
