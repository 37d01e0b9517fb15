#!/bin/bash
# SPDX-License-Identifier: MIT
# Where /proc is missing, or a filter refuses memfd_create(), kernels are compiled as elsewhere.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

cc=${BUILD:-build}/bin/salvo-cc
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A filter of four instructions: memfd_create() fails with EPERM, all else is allowed.
cat >"$dir/refuse.py" <<'END_OF_PROGRAM'
import ctypes, os, platform, struct, sys
number = {"x86_64": 319, "aarch64": 279}[platform.machine()]
code = b"".join(struct.pack("HBBI", *i) for i in (
	(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)))
text = ctypes.create_string_buffer(code)
filter = struct.pack("HxxxxxxQ", 4, ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter, 0, 0):
	sys.exit(77)
try:
	os.memfd_create("test")
	sys.exit(77)
except PermissionError:
	os.execv(sys.argv[1], sys.argv[1:])
END_OF_PROGRAM

echo 'kernel void put(global int *out) { out[get_global_id(0)] = 7; }' >"$dir/put.cl"
# shellcheck disable=SC2016 # the inner shell's
hidden() { unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"; }
if hidden true 2>/dev/null; then
	check "a kernel is compiled without /proc" "$(
		"$cc" -o "$dir/with.salvo" "$dir/put.cl" 2>&1
		hidden sh -c '[ ! -e /proc/self ] || echo "it is there"'
		hidden "$cc" -o "$dir/without.salvo" "$dir/put.cl" 2>&1
		cmp "$dir/with.salvo" "$dir/without.salvo" 2>&1)"
else
	skip "without /proc" "no namespaces of mounts"
fi

if ! /usr/bin/python3 "$dir/refuse.py" /bin/true 2>/dev/null; then
	skip "without memfds" "no python3 or no filter for system calls"
	finish
fi

refused() { TMPDIR=$dir/tmp /usr/bin/python3 "$dir/refuse.py" "$@" 2>&1; }

mkdir "$dir/tmp"
for i in $(seq 100); do
	echo "kernel void k$i(global float *o, int n) {
		for (int i = 0; i < n; i++) o[get_global_id(0)] += sin(o[i] * $i); }"
done >"$dir/many.cl"

# same SOURCE - the same program with and without memfds
same() {
	"$cc" -o "$dir/with.salvo" "$dir/$1" 2>&1
	refused "$cc" -o "$dir/without.salvo" "$dir/$1"
	cmp "$dir/with.salvo" "$dir/without.salvo" 2>&1
	ls "$dir/tmp"
}

check "a kernel is compiled without memfds, and no file is left" "$(same put.cl)"
check "many kernels are compiled by several threads without memfds" "$(same many.cl)"
check "objects are linked without memfds" "$(
	refused "$cc" -c -o "$dir/put.o" "$dir/put.cl"
	refused "$cc" --link -o "$dir/linked.salvo" "$dir/put.o"
	"$cc" --inspect "$dir/linked.salvo" 2>&1 | grep -q put || echo "no kernel")"
finish
