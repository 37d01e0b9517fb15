#!/bin/bash
# SPDX-License-Identifier: MIT
# gegl.sh - GEGL's operations on a photo: with OpenCL the pixels that it finds without
# limit: 300
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs GEGL gegl gegl
photo=$(realpath tests/data/astronaut.png)

# How do two images of 16 bits differ by more than one of 65535?
differ() {
	"$python" - "$1" "$2" <<-'END'
	import sys
	import cv2
	a, b = (cv2.imread(path, cv2.IMREAD_UNCHANGED).astype(int) for path in sys.argv[1:])
	if a.shape != b.shape or a.min() == a.max():
	    sys.exit(f"images of {a.shape} and {b.shape}")
	if abs(a - b).max() > 1:
	    sys.exit(f"{(abs(a - b) > 1).sum()} values differ, by at most {abs(a - b).max()}")
	END
}

while read -r name operation; do
	# shellcheck disable=SC2086 # the operation has options
	problem=$(cd "$dir" && rm -f cpu.png salvo.png &&
		GEGL_USE_OPENCL=no gegl "$photo" -o cpu.png -- $operation >out 2>&1
		export GEGL_USE_OPENCL=yes SALVO_OPENCL_STATS=1
		on_salvo gegl "$photo" -o salvo.png -- $operation >out 2>&1; code=$?
		[ $code = 0 ] || echo "exit code $code: $(last out)"
		grep -q 'salvo-opencl: [1-9][0-9]* commands of the GPU' out || echo "not on the GPU"
		differ cpu.png salvo.png 2>&1)
	check "GEGL: $name" "$problem"
done <<'END'
edges gegl:edge-laplace
edge-preserving-blur gegl:bilateral-filter
contrast gegl:brightness-contrast contrast=1.4
pixels-as-mosaic gegl:pixelize size-x=8 size-y=8
END
finish
