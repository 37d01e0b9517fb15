#!/bin/bash
# SPDX-License-Identifier: MIT
# Shares of a GPU that executes one batch at a time, whatever its context. One boot. Options go to run-vm.
# limit: 360
set -u
cd "$(dirname "$0")/../.." || exit 1

exec tests/vm/run-vm -t 340 --program-time 320 --units 1 --threads "$@" "${BUILD:-build}"/tests/shares/shares
