#!/bin/bash
# SPDX-License-Identifier: MIT
# deb.sh - debian/ fits what "make install" installs; the packages themselves are built by "make deb"
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

dir=$(mktemp -d)
taken=$(mktemp)
trap 'rm -rf "$dir" "$taken"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL

# GST=yes installs the plugin, which is built where GStreamer's headers are: always for "make deb".
gst=yes
[ -e build/gst/libgstsalvo.so ] || gst=no
problem=$(make -s -o all-user install install-dkms GST=$gst PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu \
	DESTDIR="$dir" 2>&1 >/dev/null)
# Which files the packages take, by the patterns of debian/*.install.
for list in debian/*.install; do
	[ -e build/lib/libsalvo-agile-mpi.so.1 ] || [ "$list" != debian/libsalvo-agile-mpi.install ] || continue
	[ $gst = yes ] || [ "$list" != debian/gstreamer1.0-salvo.install ] || continue
	while read -r pattern; do
		found=$(cd "$dir" && compgen -G "$pattern")
		[ -n "$found" ] || problem="$problem $list: nothing matches $pattern;"
		while read -r place; do
			(cd "$dir" && find "$place" ! -type d)
		done <<<"$found" >>"$taken"
	done <"$list"
done
check "each pattern of debian/*.install matches" "$problem"

check "each file that is installed is in one package" \
	"$( (cd "$dir" && find . ! -type d) | sed 's,^\./,,' | sort | diff - <(sort "$taken"))"

check "the GStreamer plugin is in a package of its own" "$(
	[ $gst = no ] || grep -q '^usr/lib/x86_64-linux-gnu/gstreamer-1.0/libgstsalvo.so$' "$taken" || echo "it is not")"

version=$(sed -n 's/^VERSION := //p' Makefile)
problem=
[ "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)" = "$version" ] ||
	problem="the changelog is not about $version"
check "the changelog's version is the Makefile's" "$problem"

# What building and the packages need is what tools/deps installs.
problem=$(sed -n '/^Build-Depends:/,/^[A-Z].*:/p' debian/control | sed -n 's/^ \([a-z0-9.-]*\).*/\1/p' |
	grep -v -e '^debhelper' -e '^dh-' | sort | comm -23 - <(tools/deps --list | sort))
check "build dependencies are those of tools/deps" "$problem"

finish
