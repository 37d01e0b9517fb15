#!/bin/bash
# SPDX-License-Identifier: MIT
# make.sh - "make help" lists every target that is meant to be called
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

unset MAKEFLAGS MFLAGS MAKELEVEL
makefiles=$(git ls-files Makefile '*.mk')
# Parts of other targets; and what scripts ask for, print-*.
internal='libs tools man kunit kernel-files run-tests fuzz-programs sanitize-programs'

# shellcheck disable=SC2086 # lists of words
{
	listed=$(make -s help | sed -n 's/^  \([a-z_-]*\) .*/\1/p' | sort)
	phony=$(sed -n 's,^\.PHONY: ,,p' $makefiles | tr ' ' '\n' | grep -v '^print-' | sort)
	check "make help lists every phony target but the internal ones" \
		"$(diff <(comm -23 <(echo "$phony") <(tr ' ' '\n' <<<"$internal" | sort)) <(echo "$listed"))"
}
# Such as one that prerequisites name before it is defined; lists of rooms may be empty.
check "no variable is used before it has a value" \
	"$(make --warn-undefined-variables -s help 2>&1 >/dev/null | grep -v "'sees\\.")"
check "make help lists no target twice" "$(uniq -d <<<"$listed")"
check "make help has a line of at most 100 columns for each" "$(make -s help | awk 'length > 100')"

finish
