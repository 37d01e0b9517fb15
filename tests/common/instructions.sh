# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# instructions.sh - what the compiler makes of a kernel: its notes and its instructions

cc=${BUILD:-build}/bin/salvo-cc
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# compile OPTIONS: the kernel on the standard input; leaves its notes and instructions in files
compile() {
	cat >"$dir/k.cl"
	# shellcheck disable=SC2086
	"$cc" $1 -o "$dir/k.salvo" "$dir/k.cl" && "$cc" --inspect "$dir/k.salvo" >"$dir/notes" &&
		objdump -d --no-show-raw-insn "$dir/k.salvo" >"$dir/code" || echo "not compiled"
}

has() { grep -qE "$2" "$dir/$1" || echo "no '$2' in the $1"; }
# times FILE PATTERN LEAST MOST: in so many lines
times() {
	local n
	n=$(grep -cE "$2" "$dir/$1")
	[ "$n" -ge "$3" ] && [ "$n" -le "$4" ] || echo "$n times '$2' in the $1"
}
lacks() { ! grep -E "$2" "$dir/$1"; }
