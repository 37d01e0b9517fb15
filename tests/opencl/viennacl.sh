#!/bin/bash
# SPDX-License-Identifier: MIT
# viennacl.sh - ViennaCL, a library of templates that generates its kernels, against the host
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs ViennaCL /usr/include/viennacl/vector.hpp libviennacl-dev
problem=$(clang++-19 -w -std=c++14 -DCL_TARGET_OPENCL_VERSION=120 -o "$dir/viennacl" tests/opencl/viennacl.cc -lOpenCL 2>&1)
if [ -n "$problem" ]; then
	check "ViennaCL: its headers compile" "$problem"
	finish
fi
on_salvo "$dir/viennacl" >"$dir/out" 2>"$dir/errors" || echo "not ok exit code: $?, $(last "$dir/errors")" |
	tr '\n' ' ' >>"$dir/out"
results ViennaCL "$dir/out"
finish
