#!/bin/bash
# SPDX-License-Identifier: MIT
# Agile arrays over two processes whose nodes are render nodes: tests/agile/ranks.c by mpirun in the guest, with the files
# of one GPU by each other's memory and by MPI windows, and with two GPUs in each process. One boot. Options go to run-vm.
# limit: 400
set -u
cd "$(dirname "$0")/../.." || exit 1

build=${BUILD:-build}
if ! command -v mpirun >/dev/null || [ ! -e "$build/lib/libsalvo-agile-mpi.so.1" ]; then
	echo "ok 1 - several ranks in a guest # SKIP mpirun or libsalvo-agile-mpi is missing"
	echo "1..1"
	exit 0
fi
# MPI knows the host by its name. What the kernel lends of mapped device memory to other processes is
# nothing, so that MPI must copy windows twice.
exec tests/vm/run-vm -t 380 --gpus 2 --with vgem --host-root "$@" -- "
hostname guest
ip link set lo up
nodes=\$(sh tests/vm/render-nodes)
export SALVO_AGILE_PLUGIN=mpi LD_LIBRARY_PATH=$build/lib HOME=/root

# ranks DEVICES NODES [TEST]...
ranks() {
	echo \"# 2 processes with \$2 nodes of \$1 each\"
	export SALVO_AGILE_DEVICES=\$1
	shift
	mpirun --allow-run-as-root --oversubscribe -n 2 --mca btl_vader_single_copy_mechanism none \
		$build/tests/agile/ranks \"\$@\" 2>&1 || echo \"not ok - mpirun ends with \$?\"
}
ranks \${nodes%,*} 1
ranks \$nodes 2 'A5 C = A + transpose(B)' 'A5 ranks of one machine copy directly'
export AGILE_TEST_WINDOWS=1 SALVO_AGILE_DIRECT=0
ranks \${nodes%,*} 1 'A5 C = A + transpose(B)' 'A5 ranks of one machine copy directly'
unset AGILE_TEST_WINDOWS SALVO_AGILE_DIRECT
echo '# 2 processes with a GPU each'
mpirun --allow-run-as-root --oversubscribe -n 2 sh -c '
	export SALVO_AGILE_DEVICES=\$(echo \$0 | cut -d, -f\$((OMPI_COMM_WORLD_RANK + 1)))
	exec $build/tests/agile/ranks 1 \"\$@\"' \$nodes 'A5 C = A + transpose(B)' 'A5 ranks of one machine copy directly' 2>&1 ||
	echo \"not ok - mpirun ends with \$?\""
