# SPDX-License-Identifier: MIT
# The kernels of the example batches.
TOOLS += $(patsubst tools/examples/%.cl,$(BUILD)/kernels/%.salvo,$(wildcard tools/examples/*.cl))
