#!/bin/bash
# SPDX-License-Identifier: MIT
# clblast.sh - CLBlast's own tests of some routines, in each precision: no result is wrong, no kernel fails to compile
#
# In half precision two of them cannot be right: xamax stores its index in 32 bits, of which the reference has 16, and
# the kernels of xgemmbatched read the arrays of alpha and beta, which are halves, as floats.
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
	case $routine in
	xamax|xgemmbatched) only="^'i?[^iH]" ;;
	*) only=. ;;
	esac
	problem=$(awk -v only="$only" -v code=$code '/^\* Starting tests for the/ { counts = $6 ~ only }
		counts && /test\(s\) passed/ { passed += $1 } /test\(s\) failed/ { failed += counts * $1; all += $1 }
		END { if (failed || !passed) print passed + 0, "passed,", failed + 0, "failed"
			if (code && !all) print "exit code", code }' "$dir/out")
	[ -z "$problem" ] || problem="$problem $(last "$dir/out")"
	grep -q 'compilation error$' <(grep -v ' -> Test not' "$dir/out") && problem="$problem a kernel did not compile"
	check "CLBlast: $routine" "$problem"
done
finish
