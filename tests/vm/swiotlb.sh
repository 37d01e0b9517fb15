#!/bin/bash
# SPDX-License-Identifier: MIT
# Batches of all sizes where the kernel bounces all DMA, as in a confidential guest. One boot. Options go to run-vm.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

exec tests/vm/run-vm -t 220 --append swiotlb=force -f "${BUILD:-build}/kernels:/root/kernels" "$@" \
	"${BUILD:-build}"/tests/uapi/{submit,batch}
