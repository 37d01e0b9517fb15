#!/bin/bash
# SPDX-License-Identifier: MIT
# dump.sh - salvo-submit on the batches of an OpenCL program: text, replay, timeline, trace, causes
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

"$python" -c 'import numpy, pyopencl' 2>/dev/null || {
	skip dump "python3-pyopencl is not installed"
	finish
}

submit=build/bin/salvo-submit
batch=$dir/out/0001.batch
problem=
on_salvo "$submit" --dump "$dir/out" "$python" tests/opencl/dump.py >"$dir/log" 2>&1 ||
	problem="exit code $?: $(last "$dir/log")"
check "the program runs while its batches are written" "$problem"
check "its ten kernels are one batch" "$(
	[ "$(ls "$dir"/out/*.batch)" = "$batch" ] || ls "$dir/out"
	[ "$(grep -c dispatch "$batch")" = 10 ] || cat "$batch")"
check "with names, arguments, and the pipe controls that the arguments demand" "$(
	for line in 'program p0 "program0001.salvo"' 'image b[0-9] 256 r f32' \
		'add_2: dispatch p0.add items 256 group [0-9]* args a=b[0-9] b=b[0-9] c=b[0-9]' \
		'pipe_control add_2 scale_1' 'pipe_control add_2 scale_0' 'pipe_control draw_9 add_8' \
		'expect b[0-9].* = file "0001-b[0-9].after"'; do
		grep -qE "^$line" "$batch" || echo "no line $line"
	done
	grep -q 'pipe_control scale_1 scale_0' "$batch" && cat "$batch")"
check "it gives the same when it is submitted again" "$(
	"$submit" --device soft "$batch" >"$dir/log" 2>&1 || echo "exit code $?"
	grep -qE '^([0-9]+) of \1 expectations met$' "$dir/log" || last "$dir/log")"
"$submit" --device soft --explain "$batch" >"$dir/causes" 2>&1 ||
	echo "exit code $?" >>"$dir/causes"
check "its pipe controls are explained" "$(
	grep -q '^0 pipe controls lacking' "$dir/causes" || last "$dir/causes")"
"$submit" --device soft --timeline "$dir/svg" --trace "$dir/json" "$batch" >"$dir/log" 2>&1 ||
	echo "exit code $?" >>"$dir/svg"
check "its timeline and trace are drawn" "$(
	if [ "$(tail -n 1 "$dir/svg")" != "</svg>" ] || ! grep -q add_8 "$dir/svg"; then
		last "$dir/svg"
	fi
	"$python" -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["traceEvents"]) >= 10' \
		"$dir/json" 2>&1)"
finish
