#!/bin/bash
# SPDX-License-Identifier: MIT
# clpeak.sh - clpeak, whose kernels are long rows of multiply-adds of each vector width, builds them and gets its figures
#
# Its tests of arithmetic and of transfers are left out: each runs at full load for half a minute, and says no more of
# Salvo; tests/opencl/buffer.c and map.c transfer.
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs clpeak clpeak clpeak
problem=
on_salvo clpeak --global-bandwidth --kernel-latency >"$dir/out" 2>&1 ||
	problem="exit code $?"
# What clpeak says when a kernel does not build or a call fails.
grep -qiE 'error|fail|skipped|-nan' "$dir/out" && problem="$problem an error"
for figure in float16 'Kernel launch latency'; do
	grep -qE "^ *$figure *: *[0-9]*[.]?[0-9]*[1-9]" "$dir/out" || problem="$problem no figure for $figure"
done
check "clpeak: bandwidth, launches" "${problem:+$problem: $(last "$dir/out")}"
finish
