#!/bin/bash
# SPDX-License-Identifier: MIT
# Manual pages: one for each function of libsalvo's headers, made from its comment, and none that groff complains about.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/man3"
for header in libuser/include/*.h; do
	tools/doc-man -v out="$dir/man3" -v date=2026-11-21 "$header" "$header"
done >"$dir/names"

declared=$(grep -ohE '\bsalvo_[a-z]+_[a-z_]+\(' libuser/include/*.h | tr -d '(' | sort -u)
check "every function of the headers has a page, and nothing else has" "$(diff <(echo "$declared") <(sort "$dir/names"))"
check "no page stands for another one than its own, or one that is there" "$(
	for name in $declared; do
		page=$dir/man3/$name.3
		[ -s "$page" ] || echo "$name: no page"
		read -r first <"$page"
		case $first in
		.so*)
			target=$dir/${first#.so }
			grep -qE "^(.*, )?$name(,| )" "$target" || echo "$name: $target does not name it"
			;;
		*) grep -q "^$name" "$page" || echo "$name: its page does not name it" ;;
		esac
	done)"
check "libsalvo(7) or salvo-opencl(7) has every environment variable that the libraries read" "$(
	for name in $(git grep -ohE 'getenv\("(SALVO|XDG)_[A-Z_]+"\)' -- libuser | grep -oE '[A-Z_]{4,}' | sort -u); do
		sed -n '/^.SH ENVIRONMENT/,$p' libuser/man/libsalvo.7 libuser/man/salvo-opencl.7 | grep -qE "^\.[BI]R? (\\$)?$name" || echo "$name"
	done)"
check "functions that can fail say how" "$(
	awk '/^\.SH/ { section = $2; if (section == "RETURN") told[FILENAME] }
		section == "SYNOPSIS" && /^int / { fails[FILENAME] }
		END { for (page in fails) if (!(page in told)) print page }' "$dir"/man3/*.3)"

if ! command -v groff >/dev/null; then
	skip "groff has no remark on any page" "no groff"
	finish
fi
# Hand-written pages are lines of groff's own; a link is read from the folder above it.
check "groff has no remark on any page" "$(
	cd "$dir" && groff -man -Tutf8 -ww -z man3/*.3 2>&1
	cd "$OLDPWD" && groff -man -Tutf8 -ww -z libuser/man/*.[17] tools/*/*.[17] 2>&1)"
check "nothing of the comments' markup is left" "$(cd "$dir" && grep -nE '(^|[^a-z.])@[a-z]' man3/*.3)"
finish
