#!/bin/bash
# SPDX-License-Identifier: MIT
# overlap.sh - transfers of some tasks run beside kernels of others (A7): the profile and the timeline of a
# statement's batch, C = A + transpose(B) on four nodes
set -u
. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

build/bin/salvo-submit --dump "$dir" build/tests/agile/ranks 4 "A5 C = A + transpose(B)" \
	>"$dir/out" 2>&1
# One with transfers and kernels, as a node runs it.
batch=$(grep -lE '(^|: )dispatch ' "$dir"/*.batch | xargs grep -lE '(^|: )copy' | head -n 1)
if [ -z "$batch" ]; then
	check "the batch of a statement" "$(cat "$dir/out")"
	finish
fi

SALVO_TOPOLOGY=2 build/bin/salvo-submit --device soft --trace "$dir/trace" \
	--timeline "$dir/timeline.svg" "$batch" >"$dir/out" 2>&1
# What a command waits for is in the times when it was ready; when a unit took it is the cores' affair.
python3 - "$dir/trace" >"$dir/problem" 2>&1 <<'END'
import json, sys
spans = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X" and e["pid"] == 2]
kernels = [e for e in spans if e["name"].startswith("add")]
copies = [e for e in spans if not e["name"].startswith("add")]
end = lambda e: e["ts"] + e["dur"]
ready = lambda e: e["args"]["ready_us"]
assert len(kernels) >= 6 and len(copies) >= 6, spans
for kernel in kernels:
    # A chain is a task: its transfer, then its kernel.
    for copy in copies:
        if copy["tid"] == kernel["tid"] and copy["ts"] < kernel["ts"]:
            assert end(copy) <= ready(kernel) + 0.5, (copy, kernel)
for copy in copies:
    assert ready(copy) < min(k["ts"] for k in kernels), (copy, "waits for a kernel")
last = max(end(c) for c in copies)
assert any(ready(k) < last for k in kernels), (spans, "kernels wait for all transfers")
END
check "A7_transfers_run_beside_kernels_of_other_tasks" "$(
	grep -q 'expectations met' "$dir/out" || cat "$dir/out"
	cat "$dir/problem")"
check "A7_the_timeline_shows_transfers_and_kernels" "$(
	for name in add_transposed copy_rect; do
		grep -q "$name" "$dir/timeline.svg" || echo "no $name"
	done)"

finish
