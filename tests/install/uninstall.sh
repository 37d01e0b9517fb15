#!/bin/bash
# SPDX-License-Identifier: MIT
# uninstall.sh - "make uninstall" removes what "make install" installed, and nothing else
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL

# call TARGET - All is built already: as part of "make check" nothing may be built again, or wait for it.
call() {
	{ make -s -o all-user "$1" PREFIX=/opt/salvo LIBDIR=/opt/salvo/lib64 DESTDIR="$dir" >/dev/null; } 2>&1
}

mkdir -p "$dir/opt/salvo/bin" "$dir/opt/salvo/share/man/man1"
echo other >"$dir/opt/salvo/bin/other"
echo other >"$dir/opt/salvo/share/man/man1/other.1"
problem=$(call install)
[ -x "$dir/opt/salvo/bin/salvo-info" ] || problem="$problem nothing was installed"
problem="$problem$(call uninstall)"
check "make uninstall leaves the files of others, and no other file" "$problem$(
	cd "$dir" && find . ! -type d | sort |
		diff - <(printf '%s\n' ./opt/salvo/bin/other ./opt/salvo/share/man/man1/other.1))"
check "make uninstall leaves no folder of its own" "$(
	find "$dir" \( -path '*/salvo/examples' -o -path '*/salvo/kernels' -o -path '*/share/salvo' -o -path '*/lib/salvo' \))"
check "make uninstall with nothing installed" "$(call uninstall)"

finish
