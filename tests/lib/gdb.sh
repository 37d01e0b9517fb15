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

# The sessions of Documentation/debugging.md, on one unit, so that items come in their order.
cat >"$dir/wave.cl" <<'END'
float halve(float x)
{
	return x / 2;
}

kernel void wave(global float *out, float scale)
{
	int i = get_global_id(0);
	float x = i * scale;
	float y = halve(x);

	out[i] = y;
}

kernel void turn(global int *out, local int *row)
{
	int me = get_local_id(0);
	int last = get_local_size(0) - 1;

	row[me] = 10 * me;
	barrier(CLK_LOCAL_MEM_FENCE);
	out[me] = row[last - me];
}

kernel void stray(global int *out)
{
	int i = get_global_id(0);

	out[i * 100000000] = i;
}
END
for dispatch in "wave items 16 args out f32:3" "turn items 4 group 4 args out local:16" \
	"stray items 4 args out"; do
	printf 'program k "wave.salvo"\nbuffer out 64\ndispatch k.%s\n' "$dispatch" \
		>"$dir/${dispatch%% *}.batch"
done
problem=$(build/bin/salvo-cc -g -O0 -o "$dir/wave.salvo" "$dir/wave.cl" 2>&1)
check "the kernels of Documentation/debugging.md compile" "$problem"

# session BATCH COMMAND...: what gdb says
session() {
	local batch=$1 commands=()
	shift

	for command; do
		commands+=(-ex "$command")
	done
	SALVO_TOPOLOGY=1 timeout 60 gdb -q -batch -nx -ex 'set pagination off' \
		-ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' "${commands[@]}" \
		--args build/bin/salvo-submit --device soft "$dir/$batch.batch" 2>&1
}

# lacks TEXT PATTERN...: prints the text if one of the patterns is not in it
lacks() {
	local text=$1 pattern
	shift

	for pattern; do
		grep -qE "$pattern" <<<"$text" || printf "lacks '%s' in\n%s\n" "$pattern" "$text"
	done
}

log=$(session wave 'break wave.cl:12 if i == 5' run 'info locals' 'print scale' 'print *out@5' \
	'info threads' continue)
# shellcheck disable=SC2016 # the dollars are gdb's
check "M3_gdb_prints_the_variables_of_a_kernel" "$(lacks "$log" '^12.*out\[i\] = y;' '^i = 5$' \
	'^x = 15$' '^y = 7\.5$' '^\$1 = 3$' '^\$2 = \{0, 1\.5, 3, 4\.5, 6\}$' \
	'^\* .*"salvo-eu" .*wave \(out=' 'exited normally')"

log=$(session turn 'break wave.cl:22 if me == 2' run 'info locals' 'print *row@4' backtrace continue)
# shellcheck disable=SC2016 # the dollar is gdb's
check "M3_gdb_stops_a_work_item_behind_a_barrier" "$(lacks "$log" '^me = 2$' '^last = 3$' \
	'^\$1 = \{0, 10, 20, 30\}$' '^#0  turn ' 'salvo_fiber_start' 'exited normally')"

log=$(session stray run 'info locals' backtrace continue)
check "M6_gdb_stops_at_the_line_of_a_stray_access" "$(lacks "$log" 'SIGSEGV' \
	'^29.*out\[i \* 100000000\] = i;' '^i = 1$' '^#0 .* stray \(out=' 'the batch failed' \
	'kernel stray, work-group 0,0,0, work-item 1,0,0: access to memory')"
finish
