#!/bin/bash
# SPDX-License-Identifier: MIT
# Every fuzz target passes over its corpus, and then finds nothing in a few seconds of its own.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

seconds=${FUZZ_SECONDS:-2}
new=$(mktemp -d) || exit 1
trap 'rm -rf "$new"' EXIT

# Output of a target without its progress, and the inputs that failed, if it fails.
run() {
	local out find

	out=$("$@" 2>&1) && return
	grep -v '^#[0-9]*'$'\t' <<<"$out" | tail -40
	for find in "$new"/*-*; do
		[ ! -f "$find" ] || echo "$(basename "$find") in base64: $(base64 -w 0 "$find")"
	done
}

for source in tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	program=build/tests/fuzz/$target
	corpus=tests/fuzz/corpus/$target
	options=(-timeout=20 -artifact_prefix="$new/" -rss_limit_mb=4096)
	if [ ! -x "$program" ]; then
		check "$target" "$program is not built"
		continue
	fi
	files=("$corpus"/*)
	if [ ! -f "${files[0]}" ]; then
		check "$target: has a corpus" "$corpus is empty"
		continue
	fi
	check "$target: ${#files[@]} known inputs" "$(run "$program" "${options[@]}" "${files[@]}")"
	mkdir "$new/$target"
	check "$target: new inputs" "$(run "$program" "${options[@]}" \
		-max_total_time="$seconds" "$new/$target" "$corpus")"
done
finish
