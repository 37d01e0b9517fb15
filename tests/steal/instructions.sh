#!/bin/bash
# SPDX-License-Identifier: MIT
# The hand-off of a leaf task takes plain loads and stores and fences: neither side's object has a locked instruction.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

build=${BUILD:-build}

# locked OBJECT: instructions that lock the bus: with the prefix, or xchg with memory, which implies it
locked() {
	objdump -d --no-show-raw-insn "$1" | grep -E '\block\b|\bxchg\b.*\('
}

# check_side TEST OBJECT
check_side() {
	local object=$build/obj/$2.o

	check "$1" "$(
		[ -s "$object" ] || echo "no $object"
		objdump -d "$object" | grep -q mfence || echo "no fence in $object"
		locked "$object")"
}

check_side W5_no_locked_instruction_on_the_side_of_the_worker libuser/slot
check_side W5_no_locked_instruction_on_the_side_of_the_unit device/leaf
# The search itself finds them where they are.
check "attaching takes locked instructions" \
	"$(locked "$build/obj/device/leaf_slots.o" | grep -q lock || echo none)"
finish
