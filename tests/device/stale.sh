#!/bin/bash
# SPDX-License-Identifier: MIT
# The socket and the FIFO of a salvo-gpu that was killed do not stop the next one from starting; those of one
# that lives do, and so does any other file.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d) || exit 1
gpu=
trap '[ -z "$gpu" ] || kill -9 $gpu; rm -rf "$dir"' EXIT
truncate -s 16M "$dir/ram"

# Starts a GPU in the background and waits until it has its socket or has ended.
start() {
	rm -f "$dir/log"
	"${BUILD:-build}/bin/salvo-gpu" --verbose --socket "$dir/socket" --ram "$dir/ram" --vram 16M --units 1 \
		--control "$dir/control" 2>"$dir/log" &
	gpu=$!
	while kill -0 $gpu 2>/dev/null && ! grep -qs "listening on" "$dir/log"; do
		sleep 0.05
	done
}

finish_gpu() {
	kill -0 $gpu 2>/dev/null && kill -TERM $gpu
	wait $gpu
	code=$?
	gpu=
}

files_exist() {
	[ -S "$dir/socket" ] && [ -p "$dir/control" ]
}

start
first=$gpu
check "a GPU starts" "$(files_exist || cat "$dir/log")"

start
finish_gpu
check "a second one with the same paths does not" "$([ $code = 1 ] || { echo "code $code"; cat "$dir/log"; })"
check "the files of the first are still there" "$(files_exist || ls "$dir")"

kill -9 $first
wait $first 2>/dev/null
check "a killed one leaves them" "$(files_exist || ls "$dir")"
# As if it had been killed while it made the socket
cp -a "$dir/socket" "$dir/socket~" 2>/dev/null
start
finish_gpu
check "the next one starts all the same" "$([ $code = 0 ] || { echo "code $code"; cat "$dir/log"; })"
check "it removes them at its end" "$(ls "$dir/socket" "$dir/control" 2>/dev/null)"

for file in socket control; do
	echo precious >"$dir/$file"
	start
	finish_gpu
	check "a file at the path of the $file is an error" "$([ $code = 1 ] || echo "code $code")"
	check "and is not removed" "$(grep -qx precious "$dir/$file" || ls "$dir")"
	rm -f "$dir/$file"
done
finish
