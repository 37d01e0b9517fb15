#!/bin/bash
# SPDX-License-Identifier: MIT
# The rooms of the sources (rooms.mk): every header compiles alone with what its room sees, and no room
# can include a header of a room that it may not see.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

# A line a room: its name, a colon, the folders that it sees, itself first.
rooms=$(make -s print-rooms) || exit 1
drm=$(pkg-config --cflags libdrm)

# flags ROOM: the include path of a room
flags() {
	sed -n "s,^$1: ,,p" <<<"$rooms" | tr ' ' '\n' | sed '/./s/^/-I/'
}

# shellcheck disable=SC2046,SC2086 # lists of words
{
	check "headers compile alone, with what their room sees" "$(
		grep -E '^(common|device|libuser)' <<<"$rooms" | while IFS=': ' read -r room _; do
			headers=$(git ls-files "$room/*.h" ":!$room/*/*")
			[ -z "$headers" ] || gcc -std=gnu11 -D_GNU_SOURCE -Wall -Werror -fsyntax-only -x c \
				$(flags "$room") $drm $headers 2>&1 | head -n 20
		done
		gcc -std=gnu11 -D_GNU_SOURCE -Wall -Werror -fsyntax-only -x c \
			-Iuapi -Idevice/include -Ilibuser/include $drm uapi/drm/*.h device/include/*.h \
			libuser/{include,observe}/*.h driver/salvo_{pack,validate,hang}.h 2>&1 | head -n 20)"
	# A line a header: its room and its name
	headers=$(cut -d: -f1 <<<"$rooms" | while read -r room; do
		git ls-files "$room/*.h" ":!$room/*/*" | sed "s,.*/,$room ,"
	done)
	check "no room can include what it may not see" "$(
		while IFS=': ' read -r room seen; do
			while read -r other header; do
				for folder in $seen; do
					# Two rooms may each have a header of one name.
					if [ "$folder" = "$other" ] || [ -e "$folder/$header" ]; then
						continue 2
					fi
				done
				printf '#if __has_include("%s")\n%s sees %s/%s\n#endif\n' "$header" "$room" "$other" "$header"
			done <<<"$headers" | gcc -nostdinc $(flags "$room") $drm -E -P -x c - 2>&1
		done <<<"$rooms")"
	# shellcheck disable=SC2016 # the backquotes are Markdown's
	check "architecture.md has a line for each room" "$(
		grep -vE '^tools' <<<"$rooms" | cut -d: -f1 | while read -r room; do
			grep -q "^| \`$room/\` |" Documentation/architecture.md || echo "$room has none"
		done)"
	check "no include leads out of its room by a path" "$(
		git grep -nE '#include "[^"]*\.\./' -- libuser device tools)"
	check "of the driver the library sees only the code that both share" "$(
		for room in libuser device; do
			git grep -nE '#include "salvo_' -- "$room" | grep -vE '"salvo_(pack|validate|hang|hw|kernel|gpu|link|confine|elf|error|image|object|steal|slot|leaf|agile|rect|stray|march)\.h"'
		done)"
}

finish
