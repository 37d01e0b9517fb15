#!/bin/bash
# SPDX-License-Identifier: MIT
# tutorial.sh - the programs of Documentation/libsalvo.md compile, in C and C++, with the shared and the
# static library, and print what the page says
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh

build=$PWD/${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The pieces of one kind: what stands behind the three backquotes.
pieces() {
	awk -v kind="$1" '/^```/ { inside = !inside && substr($0, 4) == kind; next } inside' \
		Documentation/libsalvo.md
}

pieces opencl >"$dir/tutorial.cl"
pieces output >"$dir/expected"
{
	pieces 'c outside'
	echo 'int main(void)'
	echo '{'
	pieces c
	echo '}'
} >"$dir/main.c"

check "the kernels compile" "$("$build/bin/salvo-cc" -o "$dir/tutorial.salvo" "$dir/tutorial.cl" 2>&1)"

# run NAME COMMAND... - compile, run, compare
run() {
	local name=$1 problem

	shift
	problem=$("$@" 2>&1)
	if [ -z "$problem" ]; then
		(cd "$dir" && LD_LIBRARY_PATH=$build/lib ./main) >"$dir/got" 2>&1 || problem="exit $?"
		problem=$problem$(diff "$dir/expected" "$dir/got")
	fi
	check "$name" "$problem"
	rm -f "$dir/main"
}

flags="-Wall -Wextra -Werror -Ilibuser/include"
# What "make install" would write, for a static library in build/lib.
sed "s,@prefix@,$build,; s,@libdir@,$build/lib,; s,@includedir@,$PWD/libuser,; s,@version@,1," \
	libuser/salvo.pc.in >"$dir/salvo.pc"
static=$(PKG_CONFIG_PATH=$dir pkg-config --static --libs salvo | sed "s,-L[^ ]* -lsalvo,$build/lib/libsalvo.a,")
# The shared library is linked as an installed one is: by its soname.
ln -s "$build/lib/libsalvo.so" "$dir/libsalvo.so.1"
# shellcheck disable=SC2086 # a list of options
{
	run "the tutorial with the static library" \
		gcc -std=gnu99 $flags -o "$dir/main" "$dir/main.c" $static
	run "the tutorial with the shared library" \
		gcc -std=gnu99 $flags -o "$dir/main" "$dir/main.c" "$dir/libsalvo.so.1" -Wl,-rpath,"$dir"
	run "the tutorial as C++ with the shared library" \
		g++ -std=c++11 -Wno-unused-result $flags -x c++ -o "$dir/main" "$dir/main.c" -x none \
		"$dir/libsalvo.so.1" -Wl,-rpath,"$dir"
}
pieces cpp >"$dir/main.cc"
pieces cpp-output >"$dir/expected"
for std in 11 20; do
	# shellcheck disable=SC2086 # a list of options
	run "the C++ program of the tutorial, in C++$std" \
		g++ -std=c++$std -pedantic $flags -o "$dir/main" "$dir/main.cc" \
		"$dir/libsalvo.so.1" -Wl,-rpath,"$dir"
done
finish
