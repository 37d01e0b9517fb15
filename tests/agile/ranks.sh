#!/bin/bash
# SPDX-License-Identifier: MIT
# ranks.sh - agile arrays over several ranks: the program tests/agile/ranks.c under mpirun, and what
# happens when one of its ranks ends
set -u
. tests/common/tap.sh

if ! command -v mpirun >/dev/null || [ ! -e build/lib/libsalvo-agile-mpi.so.1 ]; then
	skip "several ranks" "mpirun or libsalvo-agile-mpi is missing (openmpi-bin, libopenmpi-dev)"
	finish
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export LD_LIBRARY_PATH=build/lib SALVO_AGILE_PLUGIN=mpi
# A rank that waits leaves its processor to the others, of which there may be more than processors.
export OMPI_MCA_mpi_yield_when_idle=1

# run RANKS NODES [TEST]: the output goes to $dir/out
run() {
	timeout 240 mpirun --allow-run-as-root --oversubscribe -n "$1" build/tests/agile/ranks \
		"${@:2}" >"$dir/out" 2>&1
}

# What went wrong, if @1 is not the status that it should be.
show() {
	echo "status $1"
	cat "$dir/out"
}

# Ranks of one machine use each other's memory; without that they move all as between machines.
for how in "1 1" "2 1" "2 0" "4 1" "4 0"; do
	ranks=${how% *}
	export SALVO_AGILE_DIRECT=${how#* }
	unset AGILE_TEST_WINDOWS
	[ "$SALVO_AGILE_DIRECT" = 1 ] || export AGILE_TEST_WINDOWS=1
	run "$ranks" 2
	status=$?
	sed -n 's/^ok [0-9]* - //p' "$dir/out" >"$dir/passed"
	while read -r name; do
		check "$name" ""
	done <"$dir/passed"
	check "A5_the_same_program_over_several_ranks: all tests ran, mpirun -n $ranks with 2 nodes each, direct: $SALVO_AGILE_DIRECT" \
		"$(if [ $status -ne 0 ] || [ "$(wc -l <"$dir/passed")" -ne 15 ]; then show $status; fi)"
done
unset SALVO_AGILE_DIRECT AGILE_TEST_WINDOWS

# Where a rank may not trace the others all use windows; neither may Open MPI read their memory.
AGILE_TEST_NO_TRACING=1 AGILE_TEST_WINDOWS=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
	timeout 240 setpriv --bounding-set -sys_ptrace mpirun --allow-run-as-root --oversubscribe \
	-n 2 build/tests/agile/ranks 2 >"$dir/out" 2>&1
status=$?
check "A5_ranks_that_may_not_trace_each_other_use_windows" "$(
	if [ $status -ne 0 ] || [ "$(grep -c '^ok' "$dir/out")" -ne 15 ]; then show $status; fi)"

run 4 1 "A8 transpose add at 6144"
status=$?
check "A8_transpose_add_over_four_ranks: 6144 x 6144" "$(if [ $status -ne 0 ]; then show $status; fi)"

for how in "killed at first" killed leaves exits; do
	run 3 1 "$how"
	status=$?
	# It ends by itself: 124 is a hang.
	check "one rank $how: the program ends with an error" "$(
		if [ $status -eq 0 ] || [ $status -eq 124 ]; then show $status; fi)"
	[ "$how" != leaves ] || check "the others say where each rank is" "$(
		grep -q 'rank 0 is at salvo_agile_wait(), rank 2 at salvo_agile_destroy()' "$dir/out" ||
			cat "$dir/out")"
done

# In whatever they do, by each other's memory and by MPI.
for direct in 1 0; do
	for how in moving putting stealing sorting; do
		SALVO_AGILE_DIRECT=$direct run 3 1 "killed $how"
		status=$?
		check "one rank killed $how, direct: $direct: the program ends with an error" "$(
			if [ $status -eq 0 ] || [ $status -eq 124 ]; then show $status; fi)"
	done
done

SALVO_AGILE_PLUGIN=nothing build/tests/agile/ranks >"$dir/out" 2>&1
check "a plugin that is not there is an error" "$(
	grep -q 'No such file or directory' "$dir/out" || cat "$dir/out")"

needed=$(objdump -p build/lib/libsalvo.so build/lib/libsalvo-agile.so | grep -i 'NEEDED.*mpi')
check "libsalvo and libsalvo-agile need no MPI" "$needed"

finish
