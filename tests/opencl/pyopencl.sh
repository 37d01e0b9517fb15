#!/bin/bash
# SPDX-License-Identifier: MIT
# pyopencl.sh - pyopencl's arrays, functions, reductions, scans and sorts compute what numpy does
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs pyopencl /usr/lib/python3/dist-packages/pyopencl python3-pyopencl
on_salvo "$python" tests/opencl/arrays.py >"$dir/out" 2>"$dir/errors" || echo "not ok exit code: $?, $(last "$dir/errors")" |
	tr '\n' ' ' >>"$dir/out"
results pyopencl "$dir/out"
finish
