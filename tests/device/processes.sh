#!/bin/bash
# SPDX-License-Identifier: MIT
# The GPU's tests once more with address spaces that are processes. Nothing is left of them afterwards.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

for program in batch fault group hostile kill overlap report rings window; do
	problem=
	if ! SALVO_ISOLATION=processes timeout 60 "${BUILD:-build}/tests/device/$program" >"$out" 2>&1; then
		problem=$(grep -v '^ok\|RUN\|   OK' "$out")
	fi
	check "$program with processes" "$problem"
done
finish
