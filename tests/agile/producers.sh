#!/bin/bash
# SPDX-License-Identifier: MIT
# producers.sh - a dispatch waits for every copy of its batch that fills its tile (A5): the batches of
# tests/agile/limits.c, as text
set -u
. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

build/bin/salvo-submit --dump "$dir" build/tests/agile/limits >"$dir/out" 2>&1
problem=$(for batch in "$dir"/*.batch; do
	awk -v batch="${batch##*/}" '
		/(^|: )copy_rect / { copies++ }
		/(^|: )dispatch .*sum4 / { dispatch = $1; sub(":", "", dispatch) }
		dispatch && $1 == "pipe_control" && $2 == dispatch { waits++ }
		END {
			if (dispatch && copies != waits)
				printf "%s: %u copies, %s waits for %u; ", batch, copies, dispatch, waits
		}' "$batch"
done
grep -lE 'dispatch .*sum4 ' "$dir"/*.batch >/dev/null || echo "no batch has the dispatch")
check "A5 a dispatch waits for all copies that fill its tile" "$problem"

finish
