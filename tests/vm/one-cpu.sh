#!/bin/bash
# SPDX-License-Identifier: MIT
# With one possible CPU the kernel patches SMP barriers out, so the driver must refuse to bind. One boot.
# limit: 120
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=SCRIPTDIR/../common/tap.sh
. tests/common/tap.sh

seen=$(tests/vm/run-vm -t 100 --append possible_cpus=1 "$@" -- \
	'ls -1 /sys/bus/pci/drivers/salvo; ls -1d /sys/bus/pci/drivers/salvo/*:*; ls -1 /dev/dri' 2>&1)
check "a machine with one possible CPU is refused" "$(
	grep -q '^bind$' <<<"$seen" || echo "the driver is not loaded: $seen"
	! grep -q renderD <<<"$seen" || echo "$seen"
	! grep -q '^/sys/.*:.*[0-9]$' <<<"$seen" || echo "$seen")"
finish
