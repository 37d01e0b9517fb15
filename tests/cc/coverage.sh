#!/bin/bash
# SPDX-License-Identifier: MIT
# Every built-in function of OpenCL C 1.2 exists for every type and width.
#
# A call of a function that does not exist stands at the end of each source: the compiler names
# all that are missing before it makes code, so that none is made, but for what the oldest
# processor calls. What the functions do is for builtins.c, math.c, ulp.c and exact.c.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh

cc=${BUILD:-build}/bin/salvo-cc
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
integers=(char uchar short ushort int uint long ulong)
reals=(float double)
widths=('' 2 3 4 8 16)

# kernel - the standard input, statements, as a kernel
kernel() {
	echo "kernel void k$((++kernels))(global void *o, constant void *i, local void *s, int n) {"
	cat
	echo "}"
}
kernels=0

# missing SOURCE [OPTION] - what the compiler does not find, but for what cannot be there
missing() {
	cat "$1" - >"$1.cl" <<<'int __attribute__((overloadable)) nothing(int x);
kernel void last(global int *o) { *o = nothing(1); }'
	"$cc" -O0 -w "${@:2}" -o "$dir/x.salvo" "$1.cl" >"$1.log" 2>&1
	grep -q "'nothing(int)' is not available" "$1.log" || echo "stopped early"
	grep -E 'error|crash' "$1.log" | grep -v "'nothing(int)' is not available" | head -20
}

# unsigned TYPE
unsigned() {
	case $1 in
	u*) echo "$1" ;;
	*) echo "u$1" ;;
	esac
}

integer_functions() {
	local t=$1 w=$2 u T U S
	u=$(unsigned "$t")
	T=$t$w U=$u$w S=${u#u}$w
	echo "global $T *p = o; global $U *u = o; $T a = p[n], b = p[n + 1], c = p[n + 2];"
	echo "$t e = ((constant $t *)i)[n];"
	echo "u[0] = abs(a); u[1] = abs_diff(a, b);"
	for call in 'add_sat(a, b)' 'hadd(a, b)' 'rhadd(a, b)' 'clamp(a, b, c)' 'clz(a)' 'mad_hi(a, b, c)' \
		'mad_sat(a, b, c)' 'max(a, b)' 'min(a, b)' 'mul_hi(a, b)' 'rotate(a, b)' 'sub_sat(a, b)' \
		'popcount(a)' 'bitselect(a, b, c)' "select(a, b, ($S)(1))" "select(a, b, ($U)(1))"; do
		echo "*p++ = $call;"
	done
	[ -z "$w" ] || echo "*p++ = clamp(a, e, e); *p++ = max(a, e); *p++ = min(a, e);"
	case $t in
	int | uint) echo "*p++ = mul24(a, b); *p++ = mad24(a, b, c);" ;;
	esac
	case $t in
	char) echo "((global short$w *)o)[23] = upsample(a, ($U)(1));" ;;
	uchar) echo "((global ushort$w *)o)[23] = upsample(a, b);" ;;
	short) echo "((global int$w *)o)[23] = upsample(a, ($U)(1));" ;;
	ushort) echo "((global uint$w *)o)[23] = upsample(a, b);" ;;
	int) echo "((global long$w *)o)[23] = upsample(a, ($U)(1));" ;;
	uint) echo "((global ulong$w *)o)[23] = upsample(a, b);" ;;
	esac
	case $t in
	u*) ;;
	*) echo "((global int *)o)[99] = any(a) + all(a);" ;;
	esac
}

one=(acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erfc erf exp exp2
	exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh
	tanpi tgamma trunc degrees radians sign)
two=(atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder min max
	step)

real_functions() {
	local t=$1 w=$2 T=$1$2 signed=int bits=uint result=int$2
	if [ "$t" = double ]; then
		signed=long bits=ulong
		[ -z "$w" ] || result=long$w
	elif [ "$t" = half ]; then
		signed=short bits=ushort
		[ -z "$w" ] || result=short$w
	fi
	echo "global $T *p = o; local $T *l = s; $T a = p[n], b = p[n + 1], c = p[n + 2], q;"
	echo "$t e = ((constant $t *)i)[n]; int$w k = ((constant int$w *)i)[n], m;"
	echo "global int$w *gi = o; local int$w *li = s; global $result *r = o;"
	for f in "${one[@]}"; do echo "*p++ = $f(a);"; done
	for f in "${two[@]}"; do echo "*p++ = $f(a, b);"; done
	for f in fma mad clamp mix smoothstep bitselect; do echo "*p++ = $f(a, b, c);"; done
	echo "*p++ = nan(($bits$w)(n)); *p++ = ldexp(a, k); *p++ = pown(a, k); *p++ = rootn(a, k);"
	echo "*p++ = select(a, b, ($signed$w)(1)); *p++ = select(a, b, ($bits$w)(1)); *gi++ = ilogb(a);"
	[ -z "$w" ] || echo "*p++ = fmax(a, e); *p++ = fmin(a, e); *p++ = ldexp(a, n); *p++ = max(a, e);
		*p++ = min(a, e); *p++ = clamp(a, e, e); *p++ = mix(a, b, e); *p++ = step(e, a);
		*p++ = smoothstep(e, e, a);"
	for place in '&q' p l; do
		echo "*p++ = fract(a, $place); *p++ = modf(a, $place); *p++ = sincos(a, $place);"
	done
	for place in '&m' gi li; do
		echo "*p++ = frexp(a, $place); *p++ = remquo(a, b, $place); *p++ = lgamma_r(a, $place);"
	done
	echo "*p++ = q; *gi++ = m;"
	for f in isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered \
		isunordered; do
		echo "*r++ = $f(a, b);"
	done
	for f in isfinite isinf isnan isnormal signbit; do echo "*r++ = $f(a);"; done
	case $w in
	'' | 2 | 3 | 4) echo "*(global $t *)o = dot(a, b) + distance(a, b) + length(a); *p++ = normalize(a);" ;;
	esac
	case $w in
	3 | 4) echo "*p++ = cross(a, b);" ;;
	esac
	[ "$t" = float ] || return 0
	case $w in
	'' | 2 | 3 | 4) echo "*(global $t *)o = fast_distance(a, b) + fast_length(a); *p++ = fast_normalize(a);" ;;
	esac
	for f in cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan; do
		echo "*p++ = half_$f(a) + native_$f(a);"
	done
	for f in divide powr; do echo "*p++ = half_$f(a, b) + native_$f(a, b);"; done
}

memory_functions() {
	local t=$1 w T
	for w in "${widths[@]}"; do
		T=$t$w
		echo "{ global $T *g = o; local $T *l = s; event_t e = async_work_group_copy(l, (global const $T *)o, n, 0);
		e = async_work_group_copy(g, (local const $T *)l, n, e);
		e = async_work_group_strided_copy(l, (global const $T *)o, n, 3, e);
		e = async_work_group_strided_copy(g, (local const $T *)l, n, 3, e);
		wait_group_events(1, &e); prefetch((global const $T *)o, 4); }"
		[ -n "$w" ] || continue
		for place in "global $t *p = o" "local $t *p = s" "$t p[64]"; do
			echo "{ $place; p[n & 3] = 4; vstore$w(vload$w(n & 1, p), 1, p); }"
		done
		echo "vstore$w(vload$w(n, (constant $t *)i), n, (global $t *)o);"
	done
}

half_functions() {
	local t r w place
	for place in 'global half *h = o' 'local half *h = s' 'ushort q[256]; half *h = (half *)q'; do
		for r in '' _rte _rtz _rtp _rtn; do
			for t in float double; do
				echo "{ $place; vstore_half$r(*(global $t *)o, n, h);"
				for w in 2 3 4 8 16; do
					echo "vstore_half$w$r(*(global $t$w *)o, n, h); vstorea_half$w$r(*(global $t$w *)o, n, h);"
				done
				echo "}"
			done
		done
	done
	for place in 'global half *h = o' 'local half *h = s' 'constant half *h = i' \
		'ushort q[256]; half *h = (half *)q'; do
		echo "{ $place; *(global float *)o = vload_half(n, h);"
		for w in 2 3 4 8 16; do
			echo "*(global float$w *)o = vload_half$w(n, h) + vloada_half$w(n, h);"
		done
		echo "}"
	done
}

atomic_functions() {
	local place volatile t prefix f
	for place in 'global %s *p = o' 'local %s *p = s'; do
		for volatile in '' 'volatile '; do
			for t in int uint long ulong; do
				for prefix in atomic atom; do
					case $t$prefix in
					*longatomic) continue ;;
					esac
					# shellcheck disable=SC2059
					printf "{ $volatile$place;\n" "$t"
					for f in add sub xchg min max and or xor; do echo "${prefix}_$f(p, ($t)n);"; done
					echo "${prefix}_inc(p); ${prefix}_dec(p); ${prefix}_cmpxchg(p, ($t)1, ($t)2); }"
				done
			done
			# shellcheck disable=SC2059
			printf "{ $volatile$place; atomic_xchg(p, 1.0f); }\n" float
		done
	done
}

shuffles() {
	local t=$1 m w x
	case $t in
	char | uchar) m=uchar ;;
	short | ushort | half) m=ushort ;;
	int | uint | float) m=uint ;;
	*) m=ulong ;;
	esac
	for w in 2 4 8 16; do
		for x in 2 4 8 16; do
			echo "{ $t$x a = *(global $t$x *)o; $m$w k = *(constant $m$w *)i;
			*(global $t$w *)o = shuffle(a, k); *(global $t$w *)o = shuffle2(a, a, k); }"
		done
	done
}

conversions() {
	local from=$1 w to r
	for w in "${widths[@]}"; do
		echo "{ $from$w a = *(constant $from$w *)i;"
		for to in "${integers[@]}" "${reals[@]}"; do
			for r in '' _rte _rtz _rtp _rtn; do
				echo "*(global $to$w *)o = convert_$to$w$r(a);"
				case $to in
				half | float | double) ;;
				*) echo "*(global $to$w *)o = convert_$to${w}_sat$r(a);" ;;
				esac
			done
		done
		echo "}"
	done
}

# image TYPE COORDINATE DIMENSIONS - every way to read it, and what it knows of itself
image() {
	local f
	echo "kernel void read_$1(read_only $1_t a, sampler_t s, global float4 *o, int n) { float4 v = 0; int m = 0;"
	for f in f i ui; do
		echo "v += convert_float4(read_image$f(a, (int$2)(n)));"
		[ "$1" = image1d_buffer ] || echo "v += convert_float4(read_image$f(a, s, (int$2)(n))) +
			convert_float4(read_image$f(a, s, (float$2)(n)));"
	done
	questions "$@"
	[ "$1" = image3d ] && return
	echo "kernel void write_$1(write_only $1_t a, global float4 *o, int n) { float4 v = 0; int m = 0;"
	echo "write_imagef(a, (int$2)(n), v); write_imagei(a, (int$2)(n), convert_int4(v));"
	echo "write_imageui(a, (int$2)(n), convert_uint4(v));"
	questions "$@"
}

questions() {
	echo "m += get_image_width(a) + get_image_channel_data_type(a) + get_image_channel_order(a);"
	[ "$3" -lt 2 ] || echo "m += get_image_height(a) + get_image_dim(a).x;"
	[ "$3" -lt 3 ] || echo "m += get_image_depth(a);"
	case $1 in
	*array) echo "m += get_image_array_size(a);" ;;
	esac
	echo "o[n] = v + m; }"
}

for w in "${widths[@]}"; do
	for t in "${integers[@]}"; do
		kernel < <(integer_functions "$t" "$w")
	done
done >"$dir/integers"
check "integer and relational functions" "$(missing "$dir/integers")"
for w in "${widths[@]}"; do
	for t in float double; do
		kernel < <(real_functions "$t" "$w")
	done
done >"$dir/reals"
check "mathematical, common, geometric and relational functions" "$(missing "$dir/reals")"
{
	for t in "${integers[@]}" float double; do
		kernel < <(memory_functions "$t")
		kernel < <(shuffles "$t")
	done
	kernel < <(half_functions)
	kernel < <(atomic_functions)
} >"$dir/memory"
check "loads, stores, copies, shuffles and atomic operations" "$(missing "$dir/memory")"
for t in "${integers[@]}" float double; do
	kernel < <(conversions "$t")
done >"$dir/conversions"
check "conversions" "$(missing "$dir/conversions")"
for t in float double; do
	kernel < <(real_functions "$t" "")
done | cat - "$dir/memory" "$dir/conversions" >"$dir/oldest.cl"
check "what the oldest processor has no instruction for is linked" "$(
	"$cc" -O0 -w --march x86-64-v2 -o "$dir/x.salvo" "$dir/oldest.cl" 2>&1 | head -20)"
reals=(half float double)
{
	echo "#pragma OPENCL EXTENSION cl_khr_fp16 : enable"
	for w in "${widths[@]}"; do
		kernel < <(real_functions half "$w")
	done
	kernel < <(memory_functions half)
	kernel < <(shuffles half)
	for t in "${integers[@]}" "${reals[@]}"; do
		kernel < <(conversions "$t")
	done
} >"$dir/half"
check "functions on half and its conversions" "$(missing "$dir/half" --march x86-64-v3)"
{
	image image1d '' 1
	image image1d_buffer '' 1
	image image1d_array 2 1
	image image2d 2 2
	image image2d_array 4 2
	image image3d 4 3
	cat <<-'CL'
	kernel void others(global int *o, int n) {
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		mem_fence(CLK_LOCAL_MEM_FENCE); read_mem_fence(CLK_GLOBAL_MEM_FENCE); write_mem_fence(CLK_LOCAL_MEM_FENCE);
		o[get_work_dim()] = get_global_size(n) + get_global_id(n) + get_local_size(n) + get_local_id(n) +
			get_num_groups(n) + get_group_id(n) + get_global_offset(n) + vec_step(int3) + as_int(1.0f);
		printf("%d\n", n);
	}
	CL
} >"$dir/images"
check "images, barriers, work-items, printf" "$(missing "$dir/images")"

finish
