#!/bin/bash
# SPDX-License-Identifier: MIT
# Errors that salvo-cc finds after clang is done look like clang's: path, line, column, text, caret.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

cc=$(realpath "${BUILD:-build}/bin/salvo-cc")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/sub"
cd "$dir" || exit 1

# says WANT ARGUMENT... - salvo-cc fails and prints exactly that
says() {
	local want=$1 out code
	shift
	out=$("$cc" -o x.salvo "$@" 2>&1)
	code=$?
	[ "$code" -eq 1 ] || echo "exit code $code"
	[ "$out" = "$want" ] || printf 'instead of\n%s\nit says\n%s\n' "$want" "$out"
	[ ! -e x.salvo ] || echo 'there is a program'
}

# error NAME ERROR TEXT OPTION... - @ in TEXT is where the caret points
error() {
	local name=$1 error=$2 text=$3 before line
	shift 3
	before=${text%%@*}
	line=${text/@/}
	printf '\n\n%s\n' "$line" >"sub/$name.cl"
	check "$name" "$(says "sub/$name.cl:3:$((${#before} + 1)): error: $error
    3 | $line
      | ${before//?/ }^" "$@" "sub/$name.cl")"
}

error recursion "function 'f' calls itself; recursion is not allowed in OpenCL C" \
	'int f(int n) { return n ? @f(n - 1) : 1; } kernel void k(global int *o) { *o = f(*o); }'
error function "function 'missing' is not available" \
	'int missing(int); kernel void k(global int *o) { *o = @missing(3); }'
error overloaded "function 'missing(float)' is not available" \
	'int __attribute__((overloadable)) missing(float x); kernel void k(global int *o) { o[1] = 0; *o = @missing(3); }'
error enqueue "function 'get_default_queue()' is not available" \
	'kernel void k(global int *o) { queue_t q = @get_default_queue(); }' -cl-std=CL2.0
error use "variable 'n' is not defined" \
	'extern global int n; kernel void k(global int *o) { *o = @n; o[1] = n; }' -cl-std=CL3.0
error value "variable 'n' is not defined" \
	'extern global int @n; global int *p = &n; kernel void k(global int *o) { *o = *p; }' -cl-std=CL3.0
error assembly 'inline assembly is not available' \
	'kernel void k(global int *o) { __asm__ volatile(""); @__asm__("nop"); *o = 1; }'
error format 'the format of printf() is not a string literal' \
	'kernel void k(constant char *t) { @printf(t); }' -w
error conversion "printf() has no conversion '%n'" \
	'kernel void k(global int *o) { int n; @printf("a%5d %n", 1, &n); *o = n; }' -w
error local "kernel 'k': 320000 bytes of local memory, more than 262144" \
	'kernel void @k(global int *o) { local int x[80000]; x[o[0]] = 1; barrier(1); o[1] = x[o[2]]; }'
error wrapped "kernel 'k': 2147483648 bytes of local memory, more than 262144" \
	'kernel void @k(global int *o) { local int x[1ul << 30]; x[o[0]] = 1; barrier(1); o[1] = x[o[2]]; }'
error arguments "kernel 'k': more than 16384 bytes of arguments" \
	'struct s { int x[5000]; }; kernel void @k(struct s s, global int *o) { *o = s.x[5]; }'
error pipe "kernel 'k': argument 'p' of type 'int' is not supported" \
	'kernel void k(global int *o, read_only pipe int @p) { *o = 1; }' -cl-std=CL2.0
error group "kernel 'k': a work-group of more than 1024 work-items" \
	'__attribute__((reqd_work_group_size(64, 64, 1))) kernel void @k(global int *o) { *o = 1; }'
error sub_group "kernel 'k': a work-group of more than 128 work-items in a kernel with sub-groups" \
	'__attribute__((reqd_work_group_size(256, 1, 1))) kernel void @k(global int *o) { *o = sub_group_reduce_add(*o); }' -cl-std=CL3.0
error reserved "kernel 'salvo_k': names that begin with salvo_ are reserved" \
	'kernel void @salvo_k(global int *o) { *o = 1; }'
error first "variable 'n' of the program: its first value is calculated from an address" \
	'global int m; global struct { char c; global int *p; } __attribute__((packed)) @n = { 1, &m }; kernel void k(global int *o) { *o = *n.p; }' -cl-std=CL3.0
error many "the variables of the program take more than 67108864 bytes with 'n'" \
	'global char @n[65 << 20]; kernel void k(global int *o) { *o = n[*o]++; }' -cl-std=CL3.0
error align "variable 'n' is aligned to 65536 bytes, more than 4096" \
	'global int @n __attribute__((aligned(65536))); kernel void k(global int *o) { *o = n++; }' -cl-std=CL3.0
error static "variable 'k.n' is aligned to 65536 bytes, more than 4096" \
	'kernel void k(global int *o) { static global int @n __attribute__((aligned(65536))); *o = n++; }' -cl-std=CL3.0

check 'the whole path is there if it begins with the current folder' "$(
	says "$dir/sub/function.cl:3:55: error: function 'missing' is not available
$(sed -n '3s/^/    3 | /p' sub/function.cl)
      | $(printf '%54s' '')^" "$dir/sub/function.cl")"

printf 'int odd(int n);\nint even(int n)\n{\n\treturn n ? odd(n - 1) : 1;\n}\n' >sub/even.h
printf '#include "even.h"\nint odd(int n) { return n ? even(n - 1) : 0; }\n' >sub/odd.h
printf '\n#include "odd.h"\nkernel void k(global int *o) { *o = odd(*o); }\n' >sub/headers.cl
check 'an error in a header names what includes it' "$(
	sed -i 's/odd(n - 1)/missing(n - 1)/' sub/even.h
	sed -i '1s/.*/int missing(int n);/' sub/even.h
	says "In file included from sub/headers.cl:2:
In file included from sub/odd.h:1:
sub/even.h:4:13: error: function 'missing' is not available
    4 |         return n ? missing(n - 1) : 1;
      |                    ^" sub/headers.cl)"

printf '#define K(name) kernel void name(global int *o) { *o = missing(3); }\nint missing(int);\n\n  K(k)\n' >macro.cl
check 'an error in a macro is shown where it is used' "$(
	says "macro.cl:4:3: error: function 'missing' is not available
    4 |   K(k)
      |   ^" macro.cl)"

printf 'int missing(int);\n#line 70 "of/other.y"\nkernel void k(global int *o) {\n*o = missing(3); }\n' >line.cl
check '#line counts' "$(says "of/other.y:71:6: error: function 'missing' is not available
   71 | *o = missing(3); }
      |      ^" line.cl)"
check 'what -E makes has the places of the source' "$("$cc" -E sub/headers.cl >e.cl
	says "In file included from sub/headers.cl:2:
In file included from sub/odd.h:1:
sub/even.h:4:13: error: function 'missing' is not available
    4 |  return n ? missing(n - 1) : 1;
      |             ^" e.cl)"
cp sub/function.cl in.cl
check 'standard input is named' "$(says "program.cl:3:55: error: function 'missing' is not available
$(sed -n '3s/^/    3 | /p' sub/function.cl)
      | $(printf '%54s' '')^" - <in.cl)"

# The link step has the places and the text, too: nothing of the source need be there.
printf 'kernel void f(global int *o) { *o = 3; }\nint g(int x) { return x; }\n' >a.cl
printf 'int missing(int);\nint g(int x) { return missing(x); }\nkernel void h(global int *o) { *o = g(3); }\n' >b.cl
printf 'int missing(int);\nkernel void h(global int *o) {\n\t*o = missing(3); }\n' >c.cl
for f in a b c; do
	"$cc" -c "$f.cl" || echo "# $f.cl does not compile"
	rm "$f.cl"
done
check 'inline assembly of a file' "$(
	echo '__asm__("nop"); kernel void k(global int *o) { *o = 1; }' >sub/file.cl
	says 'sub/file.cl: error: inline assembly is not available' -w sub/file.cl)"

check 'a function that no object has' "$(
	says "c.cl:3:7: error: function 'missing' is not available
    3 |         *o = missing(3); }
      |              ^" --link a.o c.o)"
check 'a function that two objects have' "$(
	says "b.cl:2:5: error: redefinition of 'g'
    2 | int g(int x) { return missing(x); }
      |     ^
a.cl:2:5: note: previous definition is here
    2 | int g(int x) { return x; }
      |     ^" --link a.o b.o)"
check 'the same through a library' "$("$cc" --link --library -o l.lib a.o
	says "b.cl:2:5: error: redefinition of 'g'
    2 | int g(int x) { return missing(x); }
      |     ^
a.cl:2:5: note: previous definition is here
    2 | int g(int x) { return x; }
      |     ^" --link l.lib b.o)"

printf '#include "late.h"\nkernel void k(global int *o) { *o = missing(3) + late(); }\n' >l.cl
printf 'int missing(int);\nint late(void) { return missing(4); }\n' >sub/late.h
"$cc" -c -I "$dir/sub" "-fdebug-prefix-map=$dir/sub/=" l.cl
check 'an object names a header as -fdebug-prefix-map says' "$(
	says "l.cl:2:37: error: function 'missing' is not available
    2 | kernel void k(global int *o) { *o = missing(3) + late(); }
      |                                     ^
In file included from l.cl:1:
late.h:2:25: error: function 'missing' is not available
    2 | int late(void) { return missing(4); }
      |                         ^" --link l.o)"

printf '#line 0 "b.cl"\nint missing(int);\nkernel void k(global int *o) { *o = missing(3); }\n' \
	>'<a.cl'
check '#line 0 in a file whose name looks like that of none' "$(
	says "b.cl:1:37: error: function 'missing' is not available
    1 | kernel void k(global int *o) { *o = missing(3); }
      |                                     ^" '<a.cl')"

check '-g programs do not contain the source' "$(
	printf '/* a remark */\nkernel void f(global int *o) { *o = 3; }\n' >remark.cl
	"$cc" -g -O0 -o remark.salvo remark.cl
	grep -c 'a remark' remark.salvo | grep -vx 0)"

finish
