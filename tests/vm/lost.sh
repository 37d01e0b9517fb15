#!/bin/bash
# SPDX-License-Identifier: MIT
# The GPU's worker process dies and stops under the driver, its PCI function is reset, and the system is suspended:
# build/tests/uapi/suspend and build/tests/lost/*, supervisor last, in one boot. Options go to run-vm.
# limit: 500
set -u
cd "$(dirname "$0")/../.." || exit 1

tmp=$(mktemp -d)
mkfifo "$tmp/monitor.in" "$tmp/monitor.out"
waker=
# For the test of the udev rule, if udev is installed.
udevd=/lib/systemd/systemd-udevd udev=()
if [ -x $udevd ]; then
	echo render:x:104: >"$tmp/group"
	udev=(-f "$udevd:$udevd" -f packaging/60-salvo.rules:/etc/udev/rules.d/60-salvo.rules -f "$tmp/group:/etc/group")
fi

# Wakes the system, again and again until the test stops it: the first key may come too early.
press_keys() {
	while echo sendkey a && sleep 2; do :; done 1<>"$tmp/monitor.in"
}

# Handles a request line of the test, for the worker of this run's salvo-gpu.
obey() {
	local gpu worker
	case $2 in
	wake)
		sleep 2 && press_keys &
		waker=$!
		return ;;
	'let sleep')
		kill "$waker"
		return ;;
	esac
	gpu=$(pgrep -P "$1" -x salvo-gpu) && worker=$(pgrep -P "$gpu") || return
	case $2 in
	kill) kill -KILL "$worker" ;;
	'kill all') kill -KILL "$gpu" ;;
	'kill later') (sleep 0.5; kill -KILL "$worker") & ;;
	'kill in 2 s, then wake')
		sleep 2 && kill -KILL "$worker" && press_keys &
		waker=$! ;;
	stop) kill -STOP "$worker" ;;
	'stop for 2 s') (kill -STOP "$worker"; sleep 2; kill -CONT "$worker") & ;;
	'end no process for 5 s') (
		zygote=$(pgrep -P "$worker" | head -n 1)
		kill -STOP "$zygote"
		sleep 5
		kill -CONT "$zygote"
	) & ;;
	esac
}

coproc VM { exec tests/vm/run-vm -t 460 --program-time 300 --root-port --with vgem -e SALVO_HOST_WAKES=1 "${udev[@]}" \
	--qemu "-chardev pipe,id=monitor,path=$tmp/monitor -mon chardev=monitor,mode=readline" "$@" \
	"${BUILD:-build}"/tests/uapi/suspend "${BUILD:-build}"/tests/lost/*; }
pid=$VM_PID
trap 'kill "$pid" $waker 2>/dev/null; rm -rf "$tmp"' EXIT
while IFS= read -r line <&"${VM[0]}"; do
	printf '%s\n' "$line"
	case $line in
	'# host: '*) obey "$pid" "${line#\# host: }" ;;
	esac
done
wait "$pid"
