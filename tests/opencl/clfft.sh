#!/bin/bash
# SPDX-License-Identifier: MIT
# clfft.sh - clFFT's client finds its transforms right: sizes, dimensions, precisions, layouts
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs clFFT clFFT-client clfft-client
while read -r name options; do
	# shellcheck disable=SC2086 # options are words
	problem=$(cd "$dir" && on_salvo clFFT-client $options -p 1 >out 2>&1; code=$?
		grep -q 'Test \*\*\*\*\*PASS' out || echo "exit code $code: $(last out)")
	check "clFFT: $name" "$problem"
done <<'END'
1024-complex-to-complex -x 1024 -b 8
inverse -x 1000 --inv -o
mixed-radix-in-two-dimensions -x 96 -y 60 -b 2
three-dimensions -x 64 -y 32 -z 16
one-work-group-is-not-enough -x 65536
double-precision -x 4096 --double
real-to-hermitian -x 1024 --inLayout 5 --outLayout 3 -o
planar -x 2187 --inLayout 2 --outLayout 2
END
finish
