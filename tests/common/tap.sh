# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# tap.sh - for shell tests: print results as TAP
#
#   check NAME PROBLEM     one result; it passes if PROBLEM is empty, else PROBLEM is shown
#   skip NAME REASON       report a test that cannot run here
#   finish                 print the plan and exit: 1 if a check failed

tap_count=0
tap_failed=0

check() {
	tap_count=$((tap_count + 1))
	if [ -z "$2" ]; then
		echo "ok $tap_count - $1"
	else
		echo "not ok $tap_count - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
		tap_failed=1
	fi
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

finish() {
	echo "1..$tap_count"
	exit $tap_failed
}
