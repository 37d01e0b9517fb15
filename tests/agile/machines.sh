#!/bin/bash
# SPDX-License-Identifier: MIT
# machines.sh - agile arrays over two machines that share no memory: two network namespaces with
# host names and process numbers of their own, between which Open MPI has nothing but TCP. mpirun
# knows the second by its address: nothing is mounted, which fails where / is no mount point.
set -u
. tests/common/tap.sh

name="A5_over_two_machines_by_tcp"
if ! command -v mpirun >/dev/null || [ ! -e build/lib/libsalvo-agile-mpi.so.1 ]; then
	skip "$name" "mpirun or libsalvo-agile-mpi is missing (openmpi-bin, libopenmpi-dev)"
	finish
fi
# inside NAMESPACE COMMAND...: unlike "ip netns exec" without a mount
inside() {
	local ns=$1
	shift
	nsenter --net="/run/netns/$ns" "$@"
}
# Names of this run, which may not be alone on the machine.
a=sa$$ b=sb$$
if ! ip netns add $a 2>/dev/null; then
	skip "$name" "no network namespaces (root, iproute2)"
	finish
fi
dir=$(mktemp -d)
trap 'ip netns del $a; ip netns del $b; rm -rf "$dir"' EXIT
ip netns add $b
if ! ip link add v$a netns $a type veth peer name v$b netns $b; then
	skip "$name" "the kernel has no veth"
	finish
fi
for end in "$a 10.93.0.1" "$b 10.93.0.2"; do
	ns=${end% *}
	inside "$ns" ip addr add "${end#* }/24" dev "v$ns"
	inside "$ns" ip link set "v$ns" up
	inside "$ns" ip link set lo up
done

export LD_LIBRARY_PATH=$PWD/build/lib
export AGILE_TEST_WINDOWS=1
# Open MPI's session folders are named after host and process, which another run may have too.
export TMPDIR=$dir
# What mpirun uses instead of ssh: ADDRESS COMMAND...
cat >"$dir/agent" <<END
#!/bin/sh
shift
exec nsenter --net=/run/netns/$b unshare --uts --pid --fork --kill-child sh -c "hostname $b; \$*"
END
chmod +x "$dir/agent"

# run NODES [TEST]: one process on each machine
run() {
	# shellcheck disable=SC2016 # The inner shell expands them.
	inside $a unshare --uts sh -c 'hostname "$0" && "$@"' $a \
		timeout 120 mpirun --allow-run-as-root -x SALVO_AGILE_PLUGIN=mpi \
		-x LD_LIBRARY_PATH --mca plm_rsh_agent "$dir/agent" \
		--mca oob_tcp_if_include 10.93.0.0/24 --mca btl_tcp_if_include 10.93.0.0/24 \
		--host $a,10.93.0.2 --map-by ppr:1:node build/tests/agile/ranks "$@" >"$dir/out" 2>&1
}

run 2
status=$?
sed -n 's/^ok [0-9]* - //p' "$dir/out" >"$dir/passed"
while read -r passed; do
	check "two machines: $passed" ""
done <"$dir/passed"
check "$name" "$(
	if [ $status -ne 0 ] || ! grep -q '^1\.\.' "$dir/out"; then
		echo "status $status"
		tr -d '\0' <"$dir/out"
	fi)"

run 1 "killed moving"
status=$?
# mpirun or the other rank finds out first.
check "a rank on another machine is killed: the program ends with an error" "$(
	if [ $status -eq 0 ] || [ $status -eq 124 ] ||
		! grep -qE 'signal 9 |peer process' "$dir/out"; then
		echo "status $status"
		tr -d '\0' <"$dir/out"
	fi)"

finish
