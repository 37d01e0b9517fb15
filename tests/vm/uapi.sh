#!/bin/bash
# SPDX-License-Identifier: MIT
# Every program of build/tests/uapi in one boot, through salvo.ko; their TAP is passed on. Options go to run-vm.
# limit: 500
set -u
cd "$(dirname "$0")/../.." || exit 1

exec tests/vm/run-vm -t 480 --with vgem -f "${BUILD:-build}/kernels:/root/kernels" \
	-f tests/fuzz/ioctl/seeds:/root/seeds "$@" "${BUILD:-build}"/tests/uapi/* \
	"${BUILD:-build}"/tests/fuzz/ioctl/ioctl
