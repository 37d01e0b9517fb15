#!/bin/bash
# SPDX-License-Identifier: MIT
# installed.sh - what "make install" installs: a program that knows only salvo.h and the
# shared library follows the order of calls of the publication (B13)
set -u
. tests/common/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# All is built already: as part of "make check" nothing may be built again, or wait for it.
unset MAKEFLAGS MFLAGS MAKELEVEL
problem=$(make -s -o all-user install PREFIX=/opt/salvo DESTDIR="$dir" 2>&1 >/dev/null)
for file in bin/salvo-submit bin/salvo-cc lib/libsalvo.so.1 lib/libsalvo.a include/salvo.h include/salvo_error.h include/salvo_image.h include/salvo_object.h include/salvo.hpp include/salvo_steal.h \
	share/man/man3/salvo_queue_submit.3 share/man/man3/salvo_pool_run.3 \
	lib/libsalvo-agile.so.1 lib/pkgconfig/salvo-agile.pc share/man/man3/salvo_agile_forall.3 lib/pkgconfig/salvo.pc share/man/man1/salvo-submit.1 share/man/man7/libsalvo.7 \
	lib/salvo/kernels/transfer.salvo share/man/man1/salvo-top.1 \
	share/bash-completion/completions/salvo-submit share/salvo/examples/transfer.batch; do
	[ -s "$dir/opt/salvo/$file" ] || problem="$problem no $file;"
done
check "make install" "$problem"

problem=
"$dir/opt/salvo/bin/salvo-submit" --device soft - <tools/examples/transfer.batch \
	>"$dir/out" 2>&1 || problem=$(cat "$dir/out")
check "installed programs find the installed kernels" "$problem"

lib=$dir/opt/salvo/lib/libsalvo.so.1
problem=$(nm -D --defined-only "$lib" | awk '$3 !~ /^(salvo_[a-z_]*|__jit_debug_[a-z_]*)@@SALVO_1.0$/ &&
	$3 !~ /^SALVO_1.0/ { print "exports " $3 }')
# salvo_agile.h is of a library of its own.
declared=$(grep -ohE '\bsalvo_[a-z]+_[a-z_]+\(' libuser/include/salvo{,_error,_image,_object,_slot,_steal}.h | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$lib" | sed -n 's/.* \(salvo_[a-z_]*\)@@.*/\1/p' | sort -u)
[ "$declared" = "$exported" ] ||
	problem="$problem $(diff <(echo "$declared") <(echo "$exported"))"
check "the shared library exports what its headers declare, as SALVO_1.0, and nothing else" "$problem"

# What a process has one of: gdb's list, signal handlers, handlers of fork() and the lock of hwloc that they hold, how
# often it was forked, how many of its pools were recorded and how many compilers go on behind a build; and the bounds of
# each thread's stack. The rest is the
# compiler's.
problem=$(objdump -t "$lib" | awk '
	NF > 3 && $(NF - 2) ~ /^\.t?(data|bss)$/ && $NF !~ /^(__jit_debug_descriptor|lock|users|previous|own|slots|busy|fork_[a-z]*|once|(once|pools|low|high)\.[0-9])$/ &&
	$NF !~ /^(completed\.0|__dso_handle|__TMC_END__|__cpu_(model|features2)|\.t?(data|bss))$/ {
		print "writable: " $NF }')
check "the shared library has no state of its own" "$problem"

cat >"$dir/host.c" <<'END'
#include <salvo.h>
#include <stdio.h>

#define CALL(call) do { \
	int err_ = (call); \
	if (err_ < 0) { \
		fprintf(stderr, "%s: %d\n", #call, err_); \
		return 1; \
	} \
} while (0)

int main(int argc, char **argv)
{
	const uint32_t items = 16;
	struct salvo_device *device;
	struct salvo_program *program;
	struct salvo_kernel *first, *second;
	struct salvo_batch *batch;
	struct salvo_queue *queue;
	struct salvo_fence *fence;
	struct salvo_bo *bo;
	void *map;
	uint32_t *data;
	int a, b;

	(void)argc;
	CALL(salvo_device_open("soft", &device));
	CALL(salvo_bo_create(device, 4096, 0, &bo));
	CALL(salvo_bo_map(bo, &map));
	data = map;
	CALL(salvo_program_load_file(device, argv[1], &program));
	CALL(salvo_kernel_create(program, "add", &first));
	CALL(salvo_kernel_create(program, "add", &second));
	data[0] = 40;
	data[64] = 1;
	CALL(salvo_kernel_set_bo(first, 0, bo, 0));
	CALL(salvo_kernel_set_bo(first, 1, bo, 256));
	CALL(salvo_kernel_set_bo(first, 2, bo, 512));
	CALL(salvo_kernel_set_grid(first, 1, &items, NULL));
	CALL(salvo_kernel_set_bo(second, 0, bo, 512));
	CALL(salvo_kernel_set_bo(second, 1, bo, 256));
	CALL(salvo_kernel_set_bo(second, 2, bo, 768));
	CALL(salvo_kernel_set_grid(second, 1, &items, NULL));
	CALL(salvo_batch_create(device, &batch));
	CALL(a = salvo_batch_dispatch(batch, first));
	CALL(b = salvo_batch_dispatch(batch, second));
	CALL(salvo_batch_pipe_control(batch, b, a));
	CALL(salvo_queue_create(device, 0, &queue));
	CALL(salvo_queue_submit(queue, batch, NULL, 0, &fence));
	CALL(salvo_fence_wait(fence, -1));
	printf("%u\n", data[192]);
	salvo_fence_destroy(fence);
	salvo_queue_destroy(queue);
	salvo_batch_destroy(batch);
	salvo_kernel_destroy(second);
	salvo_kernel_destroy(first);
	salvo_program_destroy(program);
	salvo_bo_destroy(bo);
	salvo_device_close(device);
	return 0;
}
END
export PKG_CONFIG_PATH=$dir/opt/salvo/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir
# shellcheck disable=SC2046 # a list of options
problem=$(gcc -std=c99 -Wall -Wextra -Werror -pedantic -o "$dir/host" "$dir/host.c" \
	$(pkg-config --cflags --libs salvo) 2>&1)
if [ -z "$problem" ]; then
	got=$(LD_LIBRARY_PATH=$dir/opt/salvo/lib "$dir/host" \
		"$dir/opt/salvo/lib/salvo/kernels/transfer.salvo" 2>&1)
	[ "$got" = 42 ] || problem="printed '$got', expected 42"
fi
check "B13_host_program_follows_the_order_of_calls" "$problem"

problem=$(printf '#include <%s>\n' salvo.h salvo_error.h salvo_image.h salvo_object.h salvo_steal.h | g++ -x c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only \
	-I"$dir/opt/salvo/include" - 2>&1)
check "the headers compile as C++" "$problem"

cat >"$dir/host.cc" <<'END'
#include <cstdio>
#include <salvo.hpp>

int main()
{
	salvo::device device("soft");
	const salvo::object twice = salvo::object::compile("int twice(int x) { return 2 * x; }");
	const salvo::object user = salvo::object::compile(
		"int twice(int x);\n"
		"kernel void k(global int *out) { out[0] = twice(N); }\n", "-DN=21");
	const salvo::object kept(salvo::object::library({ &twice }).image());
	salvo::program program(device, salvo::object::link(device, { &user, &kept }));

	try {
		salvo::object::compile("not C");
		return 1;
	} catch (const salvo::error &error) {
		if (!*error.what())
			return 2;
	}
	std::printf("%u %s\n", kept.kind(), program.kernels().at(0).c_str());
	return 0;
}
END
# shellcheck disable=SC2046 # a list of options
problem=$(g++ -std=c++11 -Wall -Wextra -Werror -o "$dir/host.cxx" "$dir/host.cc" \
	$(pkg-config --cflags --libs salvo) 2>&1)
if [ -z "$problem" ]; then
	got=$(SALVO_CC=$dir/opt/salvo/bin/salvo-cc LD_LIBRARY_PATH=$dir/opt/salvo/lib "$dir/host.cxx" 2>&1)
	[ "$got" = "2 k" ] || problem="printed '$got', expected '2 k'"
fi
check "objects in C++" "$problem"

finish
