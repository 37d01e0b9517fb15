#!/bin/bash
# SPDX-License-Identifier: MIT
# clpeak.sh - clpeak builds its kernels, long rows of multiply-adds of each vector width, and gets its figures of launches
#
# Its other tests are left out: each runs at full load for half a minute, and says no more of Salvo.
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs clpeak clpeak clpeak
problem=
on_salvo clpeak --kernel-latency >"$dir/out" 2>&1 ||
	problem="exit code $?"
# What clpeak says when a kernel does not build or a call fails.
grep -qiE 'error|fail|skipped|-nan' "$dir/out" && problem="$problem an error"
grep -qE '^ *Kernel launch latency *: *[0-9]*[.]?[0-9]*[1-9]' "$dir/out" || problem="$problem no figure"
check "clpeak: launches" "${problem:+$problem: $(last "$dir/out")}"
finish
