# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# opencl.sh - for tests of programs that speak OpenCL; needs tap.sh
#
#   needs NAME PROGRAM PACKAGE    end the test as skipped if PROGRAM, a command or a file, is not there
#   on_salvo COMMAND...           run it with Salvo as the only OpenCL driver
#   on_pocl COMMAND...            run it with PoCL as the only OpenCL driver
#   have_pocl                     is PoCL installed?
#   last FILE                     what a program that failed printed last
#   results NAME FILE             a check for each line "ok WHAT" or "not ok WHAT: PROBLEM" that a program printed
#
# $dir is a folder for files, deleted at the end. Programs that keep compiled kernels in files keep them there.

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
salvo_icd=${SALVO_ICD:-$PWD/build/lib/salvo.icd}
pocl_icd=/etc/OpenCL/vendors/pocl.icd
export OPENCV_OPENCL_CACHE_DIR=$dir PYOPENCL_NO_CACHE=1
# Debian's python3, which sees Debian's modules; the first in PATH may be another one.
# shellcheck disable=SC2034
python=/usr/bin/python3

needs() {
	if ! command -v "$2" >/dev/null && [ ! -e "$2" ]; then
		skip "$1" "$3 is not installed"
		finish
	fi
}

on_salvo() {
	OCL_ICD_VENDORS=$salvo_icd timeout 300 "$@"
}

on_pocl() {
	OCL_ICD_VENDORS=$pocl_icd timeout 300 "$@"
}

have_pocl() {
	[ -e $pocl_icd ]
}

last() {
	tail -n 15 "$1" | cut -c 1-300
}

results() {
	local any=0 line what

	while read -r line; do
		case $line in
		"ok "*)
			check "$1: ${line#ok }" "" ;;
		"not ok "*)
			what=${line#not ok }
			check "$1: ${what%%: *}" "${what#*: }" ;;
		*)
			continue ;;
		esac
		any=1
	done <"$2"
	[ $any = 1 ] || check "$1" "no results: $(last "$2")"
}
