#!/bin/bash
# SPDX-License-Identifier: MIT
# Is Documentation/requirements.md true? Every key of the published designs stands in it once; every test it names
# exists and carries the key's name; "not yet" means that no test carries it.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

table=$(grep -E '^\| [BNMWA][0-9]+ \|' Documentation/requirements.md)
keys=$(printf '%s\n' B{1..13} N{1..10} M{1..8} W{1..8} A{1..8})
# Tests in C by their macro; scripts by the name they print.
tests=$({
	grep -rhoE '^\s*TEST(_F|_F_TIMEOUT)?\(([a-z0-9_]+, *)?[BNMWA][0-9]+_[A-Za-z0-9_]+' tests --include='*.c' |
		sed 's/.*[(, ]//'
	grep -rhoE '\b[BNMWA][0-9]+_[A-Za-z0-9_]+' tests --include='*.sh'
} | sort -u)

check "every key stands in the list once" \
	"$(diff <(printf '%s\n' "$keys" | sort) <(printf '%s\n' "$table" | cut -d' ' -f2 | sort))"

problems=
while IFS='|' read -r _ key _ shown _; do
	key=${key// /}
	own=$(printf '%s\n' "$tests" | grep -E "^${key}_")
	if [[ $shown == *"not yet"* ]]; then
		[ -z "$own" ] || problems+="$key: \"not yet\", but there is $own"$'\n'
		continue
	fi
	listed=$(grep -oE '[BNMWA][0-9]+_[A-Za-z0-9_]+' <<<"$shown" | sort -u)
	[ -n "$listed" ] || problems+="$key: neither a test nor \"not yet\""$'\n'
	missing=$(comm -13 <(printf '%s\n' "$own") <(printf '%s\n' "$listed"))
	[ -z "$missing" ] || problems+="$key: no such test of this key: $missing"$'\n'
done <<<"$table"
check "tests listed exist, and what is \"not yet\" has none" "$problems"

finish
