#!/bin/bash
# SPDX-License-Identifier: MIT
# Where /proc is not mounted kernels are compiled and run; what needs it says so.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

build=$(realpath "${BUILD:-build}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! unshare -m umount -l /proc 2>/dev/null; then
	skip "programs without /proc" "no mount namespaces"
	finish
fi

if ldd "$build/bin/salvo-submit" | grep -q 'lib[at]san'; then
	skip "programs without /proc" "the sanitizer needs it"
	finish
fi

# Runs its arguments without /proc.
bare() {
	unshare -m sh -c 'umount -l /proc && test ! -e /proc/self && exec "$@"' sh "$@"
}

echo 'kernel void put(global int *out) { out[get_global_id(0)] = 7; }' >"$dir/put.cl"
cat >"$dir/put.batch" <<'END'
buffer out 256
program p "without.salvo"
dispatch p.put items 64 args out
expect out = u32 7*64
END
mkdir "$dir/tmp"

check "a kernel is compiled as with /proc, and no file is left" "$(
	export TMPDIR=$dir/tmp
	"$build/bin/salvo-cc" -o "$dir/with.salvo" "$dir/put.cl" 2>&1
	bare "$build/bin/salvo-cc" -o "$dir/without.salvo" "$dir/put.cl" 2>&1
	cmp "$dir/with.salvo" "$dir/without.salvo" 2>&1
	ls "$dir/tmp")"
check "objects are linked" "$(
	bare "$build/bin/salvo-cc" -c -o "$dir/put.o" "$dir/put.cl" 2>&1
	bare "$build/bin/salvo-cc" --link -o "$dir/linked.salvo" "$dir/put.o" 2>&1
	bare "$build/bin/salvo-cc" --inspect "$dir/linked.salvo" 2>&1 | grep -q put || echo "no kernel")"
check "many kernels are compiled by several processes" "$(
	for i in $(seq 200); do
		echo "kernel void k$i(global float *o, int n) {
			for (int i = 0; i < n; i++) o[get_global_id(0)] += sin(o[i] * $i); }"
	done >"$dir/many.cl"
	bare "$build/bin/salvo-cc" -o "$dir/many.salvo" "$dir/many.cl" 2>&1)"
check "a folder for temporary files that does not exist is named" "$(
	TMPDIR=$dir/none bare "$build/bin/salvo-cc" -o "$dir/none.salvo" "$dir/put.cl" 2>&1 |
		grep -q "$dir/none/" || echo "not named")"
check "a batch runs on the embedded GPU" "$(
	export XDG_CACHE_HOME=$dir/cache
	bare "$build/bin/salvo-submit" "$dir/put.batch" 2>&1 | grep -q "1 of 1 expectations met" ||
		echo "it failed")"
check "salvo-submit finds the kernels beside it" "$(
	bare "$build/bin/salvo-submit" tools/examples/pipeline.batch 2>&1 >/dev/null)"
check "salvo-info shows the device" "$(
	bare "$build/bin/salvo-info" >"$dir/info" 2>&1 || cat "$dir/info")"
check "salvo-top says that it needs /proc" "$(
	bare "$build/bin/salvo-top" --batch --count 1 >"$dir/top" 2>&1
	test $? -eq 1 || echo "wrong exit code"
	grep -q '/proc: it is not mounted' "$dir/top" || cat "$dir/top")"
if command -v clinfo >/dev/null; then
	check "clinfo finds the OpenCL device" "$(
		export OCL_ICD_VENDORS=$build/lib/salvo.icd
		bare clinfo -l 2>&1 | grep -q Salvo || echo "not found")"
else
	skip "clinfo finds the OpenCL device" "no clinfo"
fi
finish
