#!/bin/bash
# SPDX-License-Identifier: MIT
# opencl.sh - "make install" installs an OpenCL driver that a loader finds, and that needs nothing of the tree but its files
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL

# Installed for where it lies, so that what is in the files is what is there.
problem=$(make -s -o all-user install PREFIX="$dir" ICDDIR="$dir/vendors" 2>&1 >/dev/null)
[ "$(cat "$dir/vendors/salvo.icd" 2>&1)" = "$dir/lib/libsalvo-opencl.so.1" ] ||
	problem="$problem salvo.icd: $(cat "$dir/vendors/salvo.icd" 2>&1)"
exported=$(nm -D --defined-only "$dir/lib/libsalvo-opencl.so.1" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' |
	sort | tr '\n' ' ')
[ "$exported" = "clGetExtensionFunctionAddress clGetPlatformInfo clIcdGetPlatformIDsKHR " ] ||
	problem="$problem it exports $exported"
library=$(LD_LIBRARY_PATH='' ldd "$dir/lib/libsalvo-opencl.so.1" | sed -n 's/.*libsalvo\.so\.1 => \([^ ]*\) .*/\1/p')
[ "$library" = "$dir/lib/libsalvo.so.1" ] || problem="$problem it uses $library"
check "make install installs salvo.icd, the driver and its library" "$problem"

if command -v clinfo >/dev/null; then
	check "a loader finds the driver" "$(
		OCL_ICD_VENDORS=$dir/vendors/ clinfo --list >"$dir/out" 2>&1
		grep -q 'Platform #0: Salvo' "$dir/out" || cat "$dir/out")"
else
	skip "a loader finds the driver" "clinfo is not installed"
fi

problem=$(make -s -o all-user uninstall PREFIX="$dir" ICDDIR="$dir/vendors" 2>&1 >/dev/null)
check "make uninstall removes it" "$problem$(find "$dir" -name '*opencl*' -o -name '*.icd')"
finish
