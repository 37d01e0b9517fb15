#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb.sh - M3: a debugger steps through a kernel's source, line by line
set -u
. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! command -v gdb >/dev/null; then
	skip "M3_gdb_steps_through_kernel_source" "no gdb"
	finish
fi

cat >"$dir/slow.cl" <<'END'
kernel void answer(global uint *out)
{
	uint i = get_global_id(0);
	uint a = i + 40;
	uint b = a + 2;

	out[i] = b;
}
END
cat >"$dir/slow.batch" <<'END'
program k "slow.salvo"
buffer out 64
dispatch k.answer items 1 args out
expect out = u32 42
END
cat >"$dir/commands" <<'END'
set pagination off
set breakpoint pending on
break answer
run
echo ::stopped\n
backtrace 1
next
echo ::stepped\n
info line
break slow.cl:7
continue
echo ::line\n
info line
print b
delete
continue
END

problem=$(build/bin/salvo-cc -g -O0 -o "$dir/slow.salvo" "$dir/slow.cl" 2>&1)
check "a program with debug information compiles" "$problem"

# ptrace may be forbidden (containers): then gdb cannot run any program.
if ! gdb -q -batch -ex run --args /bin/true 2>&1 | grep -q 'exited normally'; then
	skip "M3_gdb_steps_through_kernel_source" "gdb cannot trace a program here"
	finish
fi

timeout 60 gdb -q -batch -x "$dir/commands" \
	--args build/bin/salvo-submit --device soft "$dir/slow.batch" >"$dir/out" 2>&1
problem=
# shellcheck disable=SC2016 # the dollar is gdb's
for pattern in 'hit Breakpoint 1, answer ' 'slow\.cl:[34]' '^Line [45] of .*slow\.cl' \
	'hit Breakpoint 2, answer ' '^7.*out\[i\] = b;' '^\$1 = 42$' '^1 of 1 expectations met'; do
	grep -qE "$pattern" "$dir/out" || problem="$problem lacks '$pattern';"
done
[ -z "$problem" ] || problem="$problem $(cat "$dir/out")"
check "M3_gdb_steps_through_kernel_source" "$problem"
finish
