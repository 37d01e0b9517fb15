#!/bin/bash
# SPDX-License-Identifier: MIT
# The device's tests of graphs, batches and ranges once more, on GPUs with far nodes and more units than cores.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

for topology in 2x4,far=1:2000ns 1+1,far=0,far=1 3x2+1,far=1:50us,far=3; do
	for program in graph batch range completion; do
		check "$program on $topology" "$(
			log=$(SALVO_TOPOLOGY=$topology build/tests/device/$program 2>&1) || echo "$log")"
	done
done
finish
