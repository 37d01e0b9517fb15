#!/bin/bash
# SPDX-License-Identifier: MIT
# Documentation/uapi.rst against what it describes: its example, the ioctls, the limits.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

doc=Documentation/uapi.rst
header=uapi/drm/salvo_drm.h

check "the example is the program that runs as a test" "$(
	diff <(sed '1,/^\.\. code-block:: c$/d; s/^    //' $doc | sed 1d) tests/uapi/example.c)"
check "every ioctl is described" "$(
	sed -n 's/^#define DRM_IOCTL_SALVO_\([A-Z_]*\).*/\1/p' $header | while read -r name; do
		grep -q "^\`\`$name\`\`" $doc || echo "$name is not"
	done)"
check "every limit is described" "$(
	sed -n 's/^\t__u[0-9]* \(max_[a-z_]*\);.*/\1/p' $header | while read -r name; do
		grep -q "^\`\`$name\`\`" $doc || echo "$name is not"
	done)"
check "every error of the header is described" "$(
	sed -n '/^ \* Errors have/,/^ \*\//p' $header | grep -oE '\bE[A-Z0-9]{3,}\b' | sort -u | while read -r name; do
		grep -q "^$name " $doc || echo "$name is not"
	done)"
finish
