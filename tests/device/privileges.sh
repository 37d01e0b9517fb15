#!/bin/bash
# SPDX-License-Identifier: MIT
# What the processes of salvo-gpu may still do once it runs: as whom, with which capabilities, filters and files.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d) || exit 1
truncate -s 64M "$dir/ram"
"${BUILD:-build}/bin/salvo-gpu" --socket "$dir/socket" --ram "$dir/ram" &
supervisor=$!
trap 'kill $supervisor; wait $supervisor; rm -rf "$dir"' EXIT

for ((i = 0; i < 200; i++)); do
	[ -e "$dir/socket" ] && break
	sleep 0.05
done

# child_of PID: its only one
child_of() {
	tr -d ' ' <"/proc/$1/task/$1/children"
}

# status PID FIELD
status() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}

worker=$(child_of $supervisor)
zygote=$(child_of "$worker")
check "there are a worker and a zygote" "$([ "$worker" ] && [ "$zygote" ] || echo "worker '$worker', zygote '$zygote'")"
for name in worker zygote; do
	pid=${!name}
	check "$name has no capabilities" "$(
		for set in CapInh CapPrm CapEff CapAmb; do
			[ "$(status "$pid" $set)" = 0000000000000000 ] || echo "$set $(status "$pid" $set)"
		done)"
	check "$name can gain no privileges" "$([ "$(status "$pid" NoNewPrivs)" = 1 ] || status "$pid" NoNewPrivs)"
	if awk '{ n += $3 } END { exit n <= 1 }' /proc/self/uid_map; then
		check "$name is not root" "$(! grep -qw 0 <<<"$(status "$pid" Uid) $(status "$pid" Gid)" ||
			status "$pid" Uid)"
	else
		skip "$name is not root" "this user namespace knows nobody else"
	fi
done
# The bits of CAP_DAC_OVERRIDE, CAP_KILL, CAP_SETGID and CAP_SETUID
check "supervisor has only the capabilities that it needs" "$(
	for set in CapInh CapPrm CapEff CapAmb; do
		[ $((0x$(status "$supervisor" $set) & ~0xe2)) = 0 ] || echo "$set $(status "$supervisor" $set)"
	done)"
check "supervisor can gain no privileges" "$([ "$(status "$supervisor" NoNewPrivs)" = 1 ] ||
	status "$supervisor" NoNewPrivs)"
check "worker has a filter for system calls" "$([ "$(status "$worker" Seccomp)" = 2 ] || status "$worker" Seccomp)"
check "each of its threads has it" "$(grep -L '^Seccomp:[[:space:]]*2' "/proc/$worker/task"/*/status)"
check "zygote, and what it forks, is the first to go when memory runs out" "$(
	grep -vx 1000 "/proc/$zygote/oom_score_adj")"
if ls -l "/proc/$zygote/fd" >"$dir/fds" 2>/dev/null; then
	# Sockets, eventfds and the terminal are not for what it forks.
	check "zygote has VRAM, the guest's memory, its socket and its signals, no more" "$(
		grep -vE 'socket:|signalfd|memfd:salvo-bar2|/ram$|^total' "$dir/fds")"
else
	skip "files of the zygote" "only root sees them"
fi
finish
