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

# Of stolen tasks (where4) the copies to the owner, all that such a batch has, wait for a dispatch.
problem=$(for batch in "$dir"/*.batch; do
	awk -v batch="${batch##*/}" '
		/(^|: )copy_rect / { copies++; sub(":", "", $1); copy[$1] = 1 }
		/: dispatch .*where4 / { dispatches++; sub(":", "", $1); dispatch[$1] = 1 }
		$1 == "pipe_control" && copy[$2] && dispatch[$3] { waits++ }
		END {
			if (dispatches && copies != waits)
				printf "%s: %u copies, %u wait for a dispatch; ", batch, copies, waits
		}' "$batch"
done
grep -lE 'dispatch .*where4 ' "$dir"/*.batch | xargs grep -hE '(^|: )copy_rect ' | grep -q . ||
	echo "no stolen task")
check "A8 all copies of a stolen result wait for the kernel" "$problem"

finish
