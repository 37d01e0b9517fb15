#!/bin/bash
# SPDX-License-Identifier: MIT
# clblast.sh - CLBlast's own tests of some routines, in each precision: no result is wrong, no kernel fails to compile
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs CLBlast clblast_test_xgemm clblast-tests
for routine in xaxpy xdot xamax xgemv xger xgemmbatched; do
	on_salvo "clblast_test_$routine" >"$dir/out" 2>&1
	code=$?
	# Colours out; a summary for each precision, zero passed where the device lacks it.
	sed -i 's/\x1b\[[0-9;]*m//g' "$dir/out"
	problem=$(awk '/test\(s\) passed/ { passed += $1 } /test\(s\) failed/ { failed += $1 }
		END { if (failed || !passed) print passed + 0, "passed,", failed + 0, "failed" }' "$dir/out")
	[ $code -eq 0 ] || problem="$problem exit code $code: $(last "$dir/out")"
	grep -q 'compilation error$' <(grep -v ' -> Test not' "$dir/out") && problem="$problem a kernel did not compile"
	check "CLBlast: $routine" "$problem"
done
finish
