#!/bin/bash
# SPDX-License-Identifier: MIT
# clinfo.sh - clinfo shows Salvo's devices, and no property of them as an error
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs clinfo clinfo clinfo

problem=
on_salvo clinfo -a --raw >"$dir/raw" 2>"$dir/errors" || problem="exit code $?"
problem="$problem$(cat "$dir/errors")"
check "clinfo runs" "$problem"

# has PROPERTY PATTERN - what the first device, or the platform, says of it
has() {
	grep -E "[[:space:]]$1[[:space:]]" "$dir/raw" | grep -qE -- "$2" ||
		echo "$1: $(grep -E "[[:space:]]$1[[:space:]]" "$dir/raw")"
}

check "the platform is Salvo, OpenCL 3.0, full profile" "$(
	has CL_PLATFORM_NAME Salvo
	has CL_PLATFORM_VERSION 'OpenCL 3\.0 '
	has CL_PLATFORM_PROFILE FULL_PROFILE
	has CL_PLATFORM_ICD_SUFFIX_KHR '[A-Z]+')"
check "a device is available, with its compiler and linker" "$(
	has CL_DEVICE_AVAILABLE CL_TRUE
	has CL_DEVICE_COMPILER_AVAILABLE CL_TRUE
	has CL_DEVICE_LINKER_AVAILABLE CL_TRUE
	has CL_DEVICE_PROFILE FULL_PROFILE
	has CL_DEVICE_IMAGE_SUPPORT CL_TRUE)"
units=$(build/bin/salvo-info --device soft --json | sed -n 's/.*"units": *\([0-9]*\).*/\1/p' | head -n 1)
check "its compute units are the GPU's execution units" "$(has CL_DEVICE_MAX_COMPUTE_UNITS "[[:space:]]${units:-?}\$")"
# What an extension adds that a device lacks is no error; an error that the standard does not know is.
check "no query fails" "$(grep -iE 'error -(5|6|30|33|34)|CL_OUT_OF|CL_INVALID' "$dir/raw" |
	grep -vE 'CL_INVALID_VALUE|CL_INVALID_OPERATION')"
finish
