#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests of run-vm: the output of the guest, and the detection of faults and hangs. Two boots.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=SCRIPTDIR/../common/tap.sh
. tests/common/tap.sh

tmp=$(mktemp -d)
export TMPDIR=$tmp
trap 'rm -rf "$tmp"' EXIT

head -c 100000 /dev/urandom >"$tmp/data"
tests/vm/run-vm -m none --gpu none -f "$tmp/data" -o "$tmp/out" -- \
	'cp data /out; echo "ok 1 - from the guest"; echo "WARNING: from the test" >/dev/kmsg; exit 7' \
	>"$tmp/stdout" 2>"$tmp/stderr"
code=$?
check "a kernel report fails the run" "$([ $code -eq 3 ] || echo "exit code $code"
	grep -q "WARNING: from the test" "$tmp/stderr" || echo "the report is not shown")"
check "output comes out without kernel messages" "$(
	printf 'ok 1 - from the guest\nnot ok - kernel report in the guest'"'"'s log\n' | diff - "$tmp/stdout")"
check "files go in and come out unchanged" "$(cmp "$tmp/data" "$tmp/out/data" 2>&1)"

tests/vm/run-vm -m none --gpu none -t 1 -- true >"$tmp/stdout" 2>&1
code=$?
check "the time limit ends a run" "$([ $code -eq 124 ] || echo "exit code $code"; grep -q '^not ok' "$tmp/stdout" ||
	cat "$tmp/stdout")"
tests/vm/run-vm --vectors 3 -- 'dmesg' >"$tmp/stdout" 2>&1
check "a GPU with too few vectors is refused, with the reason" "$(
	grep -q 'error -ENOSPC: 3 MSI-X vectors, but 4 are needed' "$tmp/stdout" || grep salvo "$tmp/stdout")"
check "wrong usage is told by the exit code" "$(
	for wrong in '' '--what -- true' '-m /nonexistent -- true' '-t x -- true' '-f'; do
		# shellcheck disable=SC2086 # a list of words
		tests/vm/run-vm $wrong >"$tmp/stdout" 2>&1
		code=$?
		[ $code -eq 2 ] || echo "run-vm $wrong: exit code $code"
	done)"
check "nothing stays behind" "$(ls -d "$tmp"/salvo-vm.* 2>/dev/null)"
finish
