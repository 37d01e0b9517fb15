#!/bin/bash
# SPDX-License-Identifier: MIT
# Other people's OpenCL C: darktable's kernels, out of Debian's package, all compile.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

cc=${BUILD:-build}/bin/salvo-cc
cache=${BUILD:-build}/corpus
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Kept in the build folder, so that it is fetched once.
if ! ls "$cache"/darktable_*.deb >/dev/null 2>&1; then
	mkdir -p "$cache/partial"
	(cd "$cache/partial" && timeout 60 apt-get download darktable >/dev/null 2>&1 &&
		mv darktable_*.deb ..)
fi
package=$(find "$cache" -maxdepth 1 -name 'darktable_*.deb' 2>/dev/null | head -n 1)
if [ -z "$package" ] || ! dpkg-deb -x "$package" "$dir" 2>/dev/null; then
	skip "darktable's kernels" "cannot fetch Debian's package darktable"
	finish
fi

kernels=$dir/usr/share/darktable/kernels
# As darktable itself calls the compiler, but -O0, or this would take half a minute.
compile() {
	"$cc" -O0 -w -cl-fast-relaxed-math -I "$kernels" -o "$dir/out.salvo" "$1" 2>&1 ||
		echo "exit code $?"
}
check "there are kernels" "$(
	count=$(find "$kernels" -name '*.cl' | wc -l)
	[ "$count" -ge 30 ] || echo "only $count")"
for file in "$kernels"/*.cl; do
	check "darktable: $(basename "$file")" "$(compile "$file")"
done
check "darktable's largest at full optimisation" \
	"$("$cc" -w -I "$kernels" -o "$dir/out.salvo" "$kernels/blendop.cl" 2>&1)"

finish
