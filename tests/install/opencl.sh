#!/bin/bash
# SPDX-License-Identifier: MIT
# opencl.sh - "make install" installs an OpenCL driver that a loader finds, and that needs nothing of the tree but its files
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d)
cache=$(mktemp -d)
trap 'rm -rf "$dir" "$cache"' EXIT
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

# A program that compiles a kernel: with the compiler that was installed.
if [ -e /usr/lib/python3/dist-packages/pyopencl ]; then
	check "a program runs on it" "$(
		env -u SALVO_CC PATH=/usr/bin:/bin OCL_ICD_VENDORS="$dir/vendors/" XDG_CACHE_HOME="$cache" \
			/usr/bin/python3 -W ignore -c "
import numpy as np, pyopencl as cl, pyopencl.array as array
queue = cl.CommandQueue(cl.create_some_context(interactive=False))
x = array.to_device(queue, np.arange(1000, dtype=np.float32))
assert np.all((x + x).get() == 2 * np.arange(1000)), 'wrong'" 2>&1)"
else
	skip "a program runs on it" "python3-pyopencl is not installed"
fi

problem=$(make -s -o all-user uninstall PREFIX="$dir" ICDDIR="$dir/vendors" 2>&1 >/dev/null)
check "make uninstall removes it" "$problem$(find "$dir" -name '*opencl*' -o -name '*.icd')"
finish
