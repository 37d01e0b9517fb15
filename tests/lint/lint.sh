#!/bin/bash
# SPDX-License-Identifier: MIT
# Static analysis, each tool with no remark: sparse and checkpatch --strict on the driver,
# kernel-doc on the interfaces, cppcheck on all of the C code.
#
# The kernel's own scripts come out of its source package, into build/linux. What is ignored is listed
# here with its reason, nowhere else.
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

build=${BUILD:-build}
scripts=$build/linux/scripts
mkdir -p "$build/lint"
make -s BUILD="$build" kernel-files || exit 1

driver=(driver/*.[ch])
# Also read by user space, where BIT() and ARRAY_SIZE() do not exist; the lists of fields in them are macros.
shared=(uapi/drm/*.h device/include/salvo_{hw,leaf,rect}.h driver/salvo_validate.[ch] driver/salvo_pack.[ch] driver/salvo_hang.[ch])
kernel_only=()
for f in "${driver[@]}"; do
	# TRACE_EVENT() headers are read several times and have a layout of their own.
	[[ " ${shared[*]} driver/salvo_trace.h " == *" $f "* ]] || kernel_only+=("$f")
done

checkpatch() {
	perl "$scripts/checkpatch.pl" --no-tree --strict --terse --show-types "$@" |
		grep -v '^total: 0 errors, 0 warnings, 0 checks'
}

# The module is built already: C=2 checks each file, and compiles none.
sparse_module() {
	make -s BUILD="$build" KDIR="$KDIR" modules >/dev/null &&
		make -s -C "$KDIR" M="$(realpath "$build/module")" C=2 CF=-D__CHECK_ENDIAN__ modules 2>&1 |
		sed "s,$(realpath "$build/module")/,,; /^Skipping BTF generation/d"
}

KDIR=${KDIR:-$(printf '%s\n' /lib/modules/*-amd64/build | sort -V | tail -n 1)}
check "sparse has no remark on the driver" "$(sparse_module)"
# What goes through all rings is a macro that names them more than once.
check "checkpatch --strict has no remark on the driver" \
	"$(checkpatch --ignore MACRO_ARG_REUSE -f "${kernel_only[@]}")"
check "checkpatch --strict has no remark on what user space reads too" \
	"$(checkpatch --ignore ARRAY_SIZE,BIT_MACRO,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE -f "${shared[@]}")"
check "kernel-doc has no remark on the interfaces" "$(
	perl "$scripts/kernel-doc" -none "${driver[@]}" uapi/drm/*.h device/include/salvo_{hw,leaf,rect,gpu}.h 2>&1)"
mapfile -t paths < <(make -s print-rooms | cut -d: -f2 | tr ' ' '\n' | sed -n 's/./-I&/p' | sort -u)
check "cppcheck has no remark" "$(
	git ls-files '*.c' | grep -E '^(driver|libuser|device|tools)/' >"$build/lint/files"
	cppcheck -q -j2 --std=c11 --enable=warning,performance --inline-suppr \
		--suppressions-list=tests/lint/cppcheck.suppress --suppress=missingIncludeSystem \
		--suppress=normalCheckLevelMaxBranches \
		-D_GNU_SOURCE '-D__aligned(x)=' "${paths[@]}" --file-list="$build/lint/files" 2>&1)"

finish
