#!/bin/bash
# SPDX-License-Identifier: MIT
# Agile arrays with render nodes as nodes: tests of tests/agile over two GPUs of the driver, over several files of one,
# and over one and the embedded GPU. One boot. Options go to run-vm.
# limit: 400
set -u
cd "$(dirname "$0")/../.." || exit 1

build=${BUILD:-build}
exec tests/vm/run-vm -t 380 --gpus 2 --with vgem --host-root "$@" -- "
nodes=\$(sh tests/vm/render-nodes)
for devices in \$nodes \${nodes%,*} \${nodes%,*},soft; do
	export SALVO_AGILE_DEVICES=\$devices
	for test in statement order limits; do
		echo \"# \$test over \$devices\"
		$build/tests/agile/\$test
	done
done"
