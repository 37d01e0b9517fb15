#!/bin/bash
# SPDX-License-Identifier: MIT
# libsalvo's tests on the render node instead of the embedded GPU. One boot. Tests that compile take long in the
# guest; tools.sh runs one of them. Options go to run-vm.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

shopt -s extglob
exec tests/vm/run-vm -t 220 --with vgem -e SALVO_DEVICE=/dev/dri/renderD129 -e SALVO_KERNELS=/root/kernels \
	-f "${BUILD:-build}"/kernels "$@" "${BUILD:-build}"/tests/lib/!(build|checked|describe|object) "${BUILD:-build}"/tests/libuser/*
