#!/bin/bash
# SPDX-License-Identifier: MIT
# The simulation of large GPUs with the device's own queues: it runs all items, and local queues pay.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

if table=$(build/tests/bench/queues --most 512 2>&1); then
	problem=
else
	problem=$table
fi
check "the simulation runs every item and frees every entry" "$problem"

# units | nodes | operations off, on | us off, on | ...
row() {
	grep -E "^\| $1 \|" <<<"$table" | tr -d ' '
}

check "a node without far ones works the same with and without local queues" "$(
	IFS='|' read -r _ _ _ off on _ <<<"$(row 64)"
	[ "$off" = "$on" ] || echo "operations an item: $off and $on")"
for units in 256 512; do
	check "N9_local_queues_save_operations_on_the_global_queue: $units units" "$(
		IFS='|' read -r _ _ _ off on us us_on _ <<<"$(row $units)"
		awk -v off="$off" -v on="$on" 'BEGIN { exit !(2 * on < off) }' ||
			echo "operations an item: $off, with local queues $on"
		[ "$us_on" -lt "$us" ] || echo "time: $us us, with local queues $us_on us")"
done
finish
