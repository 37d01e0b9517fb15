#!/bin/bash
# SPDX-License-Identifier: MIT
# Slots and work stealing on the render node instead of the embedded GPU. One boot. Options go to run-vm.
# limit: 300
set -u
cd "$(dirname "$0")/../.." || exit 1

b=${BUILD:-build}/tests/steal
exec tests/vm/run-vm -t 280 --units 4 -e SALVO_DEVICE=/dev/dri/renderD128 -e SALVO_KERNELS=/root/kernels \
	-f "${BUILD:-build}"/kernels "$@" "$b"/leaf "$b"/leaf_tasks "$b"/handoff
