#!/bin/bash
# SPDX-License-Identifier: MIT
# driver.sh - "make modules_install" and DKMS put a salvo.ko where the kernel finds it
# limit: 300
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
kernel=$(basename "$(dirname "$(printf '%s\n' /lib/modules/*-amd64/build | sort -V | tail -n 1)")")

# All is built already: as part of "make check" nothing may be built again, or wait for it.
problem=$(make -s -o modules modules_install INSTALL_MOD_PATH="$dir/root" 2>&1 >/dev/null |
	grep -v -e System.map -e 'Skipping depmod')
module=$(find "$dir/root/lib/modules" -name 'salvo.ko*' 2>/dev/null)
[ "$(modinfo -F license "$module" 2>&1)" = GPL ] || problem="$problem; no module in $dir/root: $module"
modinfo -F alias "$module" 2>&1 | grep -q '^pci:v00001AF4d00001110' || problem="$problem; no alias"
[ -s "$dir/root/lib/udev/rules.d/60-salvo.rules" ] || problem="$problem; no udev rule"
check "make modules_install" "$problem"

version=$(sed -n 's/^VERSION := //p' Makefile)
problem=$(make -s install-dkms DESTDIR="$dir/src" 2>&1 >/dev/null)
mkdir "$dir/dkms"
dkms build -m salvo -v "$version" -k "$kernel" --sourcetree "$dir/src/usr/src" \
	--dkmstree "$dir/dkms" >"$dir/log" 2>&1 || problem="$problem $(cat "$dir/log")"
[ -n "$(find "$dir/dkms/salvo/$version/$kernel" -name 'salvo.ko*' 2>&1)" ] ||
	problem="$problem; no module from DKMS: $(tail -n 20 "$dir/log")"
check "dkms builds the driver from what make install-dkms installs" "$problem"

parameters=$(modinfo -F parm "$module" 2>&1 | cut -d: -f1 | sort)
check "the modprobe.d example names parameters that exist" "$(
	sed -n 's/^options salvo \(.*\)/\1/p' packaging/salvo.conf | tr ' ' '\n' | cut -d= -f1 |
		grep -vxF "$parameters")"

finish
