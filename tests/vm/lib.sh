#!/bin/bash
# SPDX-License-Identifier: MIT
# libsalvo's tests once more, with the render node instead of the embedded GPU. One boot.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

exec tests/vm/run-vm -t 220 -e SALVO_DEVICE=/dev/dri/renderD128 -e SALVO_KERNELS=/root/kernels \
	-f "${BUILD:-build}"/kernels "${BUILD:-build}"/tests/lib/*
