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
		case $(head -n 1 "$page") in
		.so*)
			target=$dir/$(sed -n 's/^\.so //p' "$page")
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
	for name in $declared; do
		page=$dir/man3/$name.3
		grep -q '^\.so' "$page" && continue
		sed -n '/^.SH SYNOPSIS/,/^.SH DESC/p' "$page" | grep -q '^int ' || continue
		grep -q '^.SH RETURN VALUE' "$page" || echo "$name"
	done)"

if ! command -v groff >/dev/null; then
	skip "groff has no remark on any page" "no groff"
	finish
fi
# Hand-written pages are lines of groff's own; a link is read from the folder above it.
check "groff has no remark on any page" "$(
	cd "$dir" && for page in man3/*.3; do
		groff -man -Tutf8 -ww -z "$page" 2>&1
	done
	cd "$OLDPWD" && for page in libuser/man/*.[17] tools/*/*.[17]; do
		groff -man -Tutf8 -ww -z "$page" 2>&1
	done)"
check "nothing of the comments' markup is left" "$(cd "$dir" && grep -nE '(^|[^a-z.])@[a-z]' man3/*.3)"
finish
