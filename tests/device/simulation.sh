#!/bin/bash
# SPDX-License-Identifier: MIT
# The simulation of large GPUs with the device's own queues: it runs all items up to 4,096 units, local queues
# pay, and the documentation shows what comes out today. In virtual time, so it is the same on every machine.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

svg=$(mktemp) || exit 1
trap 'rm -f "$svg"' EXIT

if table=$(build/tests/bench/queues --svg "$svg" 2>&1); then
	problem=
else
	problem=$table
fi
check "the simulation runs every item and frees every entry" "$problem"

# units | nodes | operations off, on | us off, on | ...
row() {
	grep -E "^\| $1 \|" <<<"$table" | head -n 1 | tr -d ' '
}

check "a node without far ones works the same with and without local queues" "$(
	IFS='|' read -r _ _ _ off on _ <<<"$(row 64)"
	[ "$off" = "$on" ] || echo "operations an item: $off and $on")"
for units in 256 512 4096; do
	check "N9_local_queues_save_operations_on_the_global_queue: $units units" "$(
		IFS='|' read -r _ _ _ off on us us_on _ <<<"$(row $units)"
		awk -v off="$off" -v on="$on" 'BEGIN { exit !(2 * on < off) }' ||
			echo "operations an item: $off, with local queues $on"
		[ "$us_on" -lt "$us" ] || echo "time: $us us, with local queues $us_on us")"
done
check "Documentation/queues.md has these tables; else: make simulation" "$(
	diff <(sed -n '/^<!-- tables -->$/,/^<!-- end of tables -->$/ { //!p }' Documentation/queues.md) \
		<(echo "$table"))"
check "Documentation/queues.svg is this picture" "$(diff Documentation/queues.svg "$svg")"
finish
