#!/bin/bash
# SPDX-License-Identifier: MIT
# The OpenCL driver through salvo.ko: clinfo, and the programs of tests/opencl, on the first of two
# render nodes; several.c on both and the embedded GPU. One boot. Here the programs run first, to fill
# a cache of compiled programs, since the compiler is slow in the guest; what fails to compile, what is
# for the embedded GPU of the guest's CPU, and the one small kernel of each of two programs that take
# long for other reasons are compiled there. Options go to run-vm.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=SCRIPTDIR/../common/tap.sh
. tests/common/tap.sh

build=$(realpath "${BUILD:-build}")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/cache"
export XDG_CACHE_HOME=$out/cache
for program in "$build"/tests/opencl/*; do
	case $program in
	*/dependences | */limits) continue ;;
	esac
	"$program" >/dev/null 2>&1
done

# partition.c needs two nodes of two units.
# shellcheck disable=SC2016 # the guest expands it
tests/vm/run-vm -t 220 --with vgem --gpus 2 --topology 2x2 --host-root -o "$out" \
	-e BUILD="$build" -e XDG_CACHE_HOME="$out/cache" -e SALVO_DEVICE=/dev/dri/renderD129 "$@" -- '
export OCL_ICD_VENDORS=$BUILD/lib/salvo.icd
clinfo -l >/out/list 2>&1
clinfo -a --raw >/out/raw 2>/out/errors; echo $? >/out/code
status=0
for program in "$BUILD"/tests/opencl/*; do
	echo "# program ${program##*/}"
	timeout -s KILL 60 "$program" || [ $? = 4 ] || status=1
done
exit $status'
code=$?
check "all ran on the render node, without a report of the kernel" "$([ $code = 0 ] ||
	echo "exit code $code")"

check "clinfo lists two render nodes and the embedded GPU" "$(
	for device in 'GPU renderD129' 'GPU renderD130' 'embedded GPU'; do
		grep -q "Salvo $device\$" "$out/list" || { echo "no $device:"; cat "$out/list"; }
	done)"
check "no query fails" "$([ "$(cat "$out/code")" = 0 ] || echo "exit code $(cat "$out/code")"
	cat "$out/errors"
	grep -E 'CL_OUT_OF|CL_DEVICE_NOT_AVAILABLE|CL_INVALID' "$out/raw" |
		grep -vE 'CL_INVALID_VALUE|CL_INVALID_OPERATION')"
finish
