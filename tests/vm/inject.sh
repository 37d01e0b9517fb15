#!/bin/bash
# SPDX-License-Identifier: MIT
# Fault injection, and one driver with two GPUs: build/tests/inject/* in one boot. Options go to run-vm.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

tmp=$(mktemp -d)
# shellcheck disable=SC2317 # called by the trap
clean_up() {
	kill "$pid" 2>/dev/null
	rm -rf "$tmp"
}

# Handles a request line of the test.
obey() {
	local gpus gpu
	case $1 in
	'inject '*) echo "${1#* }" >"$tmp/control" ;;
	'inject2 '*) echo "${1#* }" >"$tmp/control.2" ;;
	'kill '*)
		# The first GPU's worker
		mapfile -t gpus < <(pgrep -P "$pid" -x salvo-gpu)
		gpu=$(pgrep -P "${gpus[0]}") && kill -KILL "$gpu" ;;
	esac
}

# The second batch has a fault that was set at the start.
coproc VM { exec tests/vm/run-vm -t 200 --gpus 2 --units 2 --inject late-fence@2:50ms --control "$tmp/control" \
	"$@" "${BUILD:-build}"/tests/inject/*; }
pid=$VM_PID
trap clean_up EXIT
while IFS= read -r line <&"${VM[0]}"; do
	printf '%s\n' "$line"
	case $line in
	'# host: '*) obey "${line#\# host: }" ;;
	esac
done
wait "$pid"
