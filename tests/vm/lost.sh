#!/bin/bash
# SPDX-License-Identifier: MIT
# The GPU's worker process dies and stops under the driver: build/tests/lost/* in one boot.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

# Does what a line of the test asks for to the worker of the salvo-gpu of this run.
obey() {
	local gpu worker
	gpu=$(pgrep -P "$1" -x salvo-gpu) && worker=$(pgrep -P "$gpu") || return
	case $2 in
	kill) kill -KILL "$worker" ;;
	'kill all') kill -KILL "$gpu" ;;
	'kill later') (sleep 0.5; kill -KILL "$worker") & ;;
	stop) kill -STOP "$worker" ;;
	'end no process for 5 s') (
		zygote=$(pgrep -P "$worker" | head -n 1)
		kill -STOP "$zygote"
		sleep 5
		kill -CONT "$zygote"
	) & ;;
	esac
}

coproc VM { exec tests/vm/run-vm -t 200 --with vgem "${BUILD:-build}"/tests/lost/*; }
pid=$VM_PID
trap 'kill "$pid" 2>/dev/null' EXIT
while IFS= read -r line <&"${VM[0]}"; do
	printf '%s\n' "$line"
	case $line in
	'# host: '*) obey "$pid" "${line#\# host: }" ;;
	esac
done
wait "$pid"
