#!/bin/bash
# SPDX-License-Identifier: MIT
# opencv.sh - OpenCV's UMat path computes on Salvo what its CPU path does
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs OpenCV "$(echo /usr/lib/python3/dist-packages/cv2*.so)" python3-opencv
on_salvo "$python" tests/opencl/umat.py >"$dir/out" 2>"$dir/errors" || echo "not ok exit code: $?, $(last "$dir/errors")" |
	tr '\n' ' ' >>"$dir/out"
results OpenCV "$dir/out"
finish
