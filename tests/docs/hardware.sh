#!/bin/bash
# SPDX-License-Identifier: MIT
# Documentation/hardware.rst mentions every constant, structure and field of device/include/salvo_hw.h, at its offset, and what a
# kernel is called with, of device/include/salvo_kernel.h.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

header=device/include/salvo_hw.h
manual=Documentation/hardware.rst
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

check "every constant is in the manual" "$(
	sed -n 's/^#define[ \t]*\(SALVO_[A-Z0-9_]*\).*/\1/p' $header | grep -v '^SALVO_HW_H$' |
		while read -r name; do grep -q "\`\`$name\b" $manual || echo "$name"; done
)"

# "struct field" for every field
fields=$(awk '/^struct [a-z_]* \{/ { s = $2 }
	/^};/ { s = "" }
	s && /^\t(struct |__)[^(]*;/ { sub(/;.*/, ""); sub(/\[.*/, ""); print s, $NF }' $header
	awk '/^struct salvo_(group|item) \{/ { s = $2 }
	/^};/ { s = "" }
	s && /^\t[a-z].*;/ { sub(/;.*/, ""); sub(/\)?[[(][^*].*/, ""); sub(/.*[ *]/, ""); print s, $0 }' device/include/salvo_kernel.h)
{
	echo '#include <stddef.h>'
	echo '#include <stdio.h>'
	echo '#include "salvo_hw.h"'
	echo '#include "salvo_kernel.h"'
	echo '#define SHOW(s, f) printf("%s %s 0x%zx %zu%c", #s, #f, offsetof(struct s, f), \
		sizeof(((struct s *)0)->f), 10);'
	echo 'int main(void) {'
	while read -r s f; do
		printf 'SHOW(%s, %s)\n' "$s" "$f"
	done <<<"$fields"
	echo 'return 0; }'
} >"$dir/offsets.c"
cc -Idevice/include -o "$dir/offsets" "$dir/offsets.c" || exit 1

# The same from the manual's tables
awk '/list-table:: ``struct / { s = $4; gsub(/[`,]/, "", s) }
	/^   \* - 0x/ { at = $3; n = 0 }
	/^   \* - Offset/ { at = "" }
	/^     - / && at != "" { n++; if (n == 1) size = $2; if (n == 2) { f = $2; sub(/^``/, "", f); sub(/``.*/, "", f); print s, f, at, size } }' \
	$manual | sort >"$dir/manual"

check "every field is in the manual, at its offset and with its size" "$(
	"$dir/offsets" | sort | comm -23 - "$dir/manual"
)"
check "the manual has no field that is not there" "$(
	"$dir/offsets" | sort | comm -13 - "$dir/manual"
)"
finish
