#!/bin/bash
# SPDX-License-Identifier: MIT
# The lock-free protocols of the command queues as models: every order of steps is tried. Each model has
# mutants, and those must fail, or the model would show nothing.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
models=$PWD/tests/spin

# verify MODEL [MUTANT]: prints what the checker found. Mutants end early: they are built by a compiler that is fast
# and does not optimise, and have a small table of states.
verify() {
	local define=${2:+-D$2} compiler=${2:+tcc} table=${2:+-w18}

	(
		cd "$dir" && rm -f pan* && spin ${define:+"$define"} -a "$models/$1.pml" &&
			${compiler:-gcc -O1} -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c &&
			./pan -E -m200000 "${table:--w22}"
	) >"$dir/log" 2>&1
	if grep -q 'errors: 0' "$dir/log" && ! grep -qE 'max search depth|out of memory' "$dir/log"; then
		echo right
	elif grep -q 'assertion violated' "$dir/log"; then
		echo wrong
	else
		cat "$dir/log"
	fi
}

if ! command -v spin >/dev/null || ! command -v tcc >/dev/null; then
	skip "models of the queues" "no spin, or no tcc"
	finish
fi
for model in doorbell seen parking fetch space_doorbell completion slot drain overlap seat exclusion; do
	found=$(verify $model)
	check "$model.pml holds in every order of steps" \
		"$([ "$found" = right ] || { echo "$found"; cat "$dir/log"; })"
	sed -n 's/^ \*\t\([A-Z_]*\)\t.*/\1/p' "$models/$model.pml" >"$dir/mutants"
	while read -r mutant; do
		found=$(verify $model "$mutant")
		check "$model.pml with $mutant does not" "$([ "$found" = wrong ] || echo "$found")"
	done <"$dir/mutants"
done
finish
