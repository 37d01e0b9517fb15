#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh - tests/run adds up what programs print, one after the other or several at once
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# program NAME: a program of the commands on the standard input
program() {
	{ echo '#!/bin/bash'; cat; } >"$dir/$1"
	chmod +x "$dir/$1"
}

program good <<<'echo "ok 1 - a"; echo "ok 2 # SKIP no reason"'
program bad <<<'echo "ok 1 - a"; echo "not ok 2 - b"; exit 1'
program silent <<<:
program crash <<<'echo "ok 1 - a"; kill -SEGV $$'
program skipped <<<'echo "# SKIP not here"; exit 4'
program slow.sh <<'END'
# limit: 1
sleep 60
END
# Each waits for the other: they pass together only.
program first <<<"echo >$dir/there; timeout 20 cat $dir/back && echo ok 1"
program second <<<"cat $dir/there; echo >$dir/back; echo ok 1"
# One that a key interrupts ends.
program key <<<'trap "echo ok 1; exit" INT; kill -INT $$'
mkfifo "$dir/there" "$dir/back"

# totals ARGUMENT... - exit code and last line for these programs
totals() {
	local options=()
	while [[ $1 == -* ]]; do
		options+=("$1")
		shift
	done
	tests/run "${options[@]}" "${@/#/$dir/}" >"$dir/out" 2>&1
	echo "$? $(tail -n 1 "$dir/out")"
}

for jobs in -j1 -j3; do
	check "results, skips, errors and ends without a result are added up ($jobs)" "$(
		diff <(totals $jobs good bad silent crash skipped slow.sh) - <<<'1 3 passed, 4 failed, 2 skipped')"
	check "each program has a line, and those that failed the reason ($jobs)" "$(
		for line in 'good  *1 passed  0 failed  1 skipped' '    no test result' '    exit code 139' \
			'    out of time after 1 s' '    not ok 2 - b'; do
			grep -q -- "$line" "$dir/out" || echo "no line \"$line\""
		done)"
done
check "two programs run at once" "$(diff <(totals -j2 first second) - <<<'0 2 passed, 0 failed, 0 skipped')"
check "programs can be interrupted" "$(diff <(totals -j2 key key) - <<<'0 2 passed, 0 failed, 0 skipped')"
check "-j 0 is refused" "$(tests/run -j 0 "$dir/good" 2>&1 | diff - <(echo 'run: -j 0: not a number from 1'))"

finish
