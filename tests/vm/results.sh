#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/bench/results (B12) with few frames: counts only, no times. Two boots.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/bench/results 3 "$dir" >"$dir/log" 2>&1 || echo "exit code $?" >>"$dir/log"

# row LABEL - prints the two figures of a row
row() {
	sed -n "s/^| $1 | \([0-9.]*\) | \([0-9.]*\) |.*/\1 \2/p" "$dir/results.md" 2>/dev/null
}

problem=
[ "$(row "DMA packets"), $(row interrupts), $(row "deferred completions")" = "33 1, 33.0 1.0, 33 1" ] ||
	problem=$(cat "$dir/log")
check "B12_through_the_driver_33_interrupts_become_1" "$problem"

problem=
read -r single batch < <(row "guest instructions to submit")
if [ -z "${batch-}" ] || [ "$single" -le $((4 * batch)) ]; then
	problem=$(cat "$dir/log")
fi
check "B12_a_batch_of_33_is_submitted_with_a_quarter_of_the_instructions" "$problem"

problem=
[ "$(grep -c '<rect' "$dir/results.svg"), $(tail -n 1 "$dir/results.svg")" = "23, </svg>" ] ||
	problem=$(cat "$dir/results.svg" "$dir/log")
check "the picture is well-formed" "$problem"

finish
