#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: what lanes access images with.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

# The instructions of kernel k alone
own_code() { sed -n '/<k>:$/,/^$/p' "$dir/code" >"$dir/own"; }

check "M4 every second pixel of a row: gathers with indices of 32 bits where they are fast" "$(
	compile "--march x86-64-v4 --tune sapphirerapids" <<'END'
kernel void k(read_only image2d_t a, write_only image2d_t b)
{
	const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |
			    CLK_FILTER_NEAREST;
	int x = get_global_id(0), y = get_global_id(1);

	write_imagef(b, (int2)(x, y), read_imagef(a, s, (int2)(2 * x, y)));
}
END
	own_code
	has own 'vpgatherdd'
	lacks own 'vp?gatherq')"

check "M4 colours are taken apart; one version where the interior of a row gains little" "$(
	compile "--march x86-64-v4" <<'END'
constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void k(read_only image2d_t a, write_only image2d_t b)
{
	int x = get_global_id(0), y = get_global_id(1);

	write_imagef(b, (int2)(2 * x, y), read_imagef(a, s, (int2)(2 * x, y)).zyxw);
	write_imagef(b, (int2)(2 * x + 1, y), read_imagef(a, s, (int2)(2 * x + 1, y)).zyxw);
}
END
	# For lanes and for one work-item
	own_code
	times own 'call.*salvo_outline_sample_texel[^ ]*lanes16' 2 2
	times own 'call.*salvo_outline_sample_texel' 4 4
	times own '^ +[0-9a-f]+:' 1000 3400)"

check "M4 a constant sampler: lanes sample, also into a private array" "$(
	compile "--march x86-64-v4" <<'END'
constant sampler_t s = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

kernel void k(read_only image2d_t a, global float *out, float step)
{
	float2 at = (float2)(get_global_id(0), get_global_id(1)) * step;
	float v[4];

	for (int i = 0; i < 4; i++, at.x += step)
		v[i] = read_imagef(a, s, at).x;
	for (int i = 0; i < 4; i++)
		out[get_global_id(0) * 4 + i] = v[(get_local_id(0) + i) & 3];
}
END
	times code 'v(fmadd|mulps).*zmm' 6 99
	times code 'call.*salvo_outline_sample' 2 12)"

check "M4 lanes sample colours by one function for each sampler" "$(
	compile "--march x86-64-v4" <<'END'
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

kernel void k(read_only image2d_t a, read_only image2d_t b, global float4 *out, float step)
{
	int x = get_global_id(0), y = get_global_id(1);
	float2 at = (float2)(x + y, x - y) * step;

	out[y * get_global_size(0) + x] = read_imagef(a, edge, at) + read_imagef(b, border, at) +
					  read_imagef(b, edge, at + 1);
}
END
	times code '<salvo_outline_sample[^ ]*lanes16[^ ]*>:' 2 2
	times code 'call.*<salvo_outline_sample[^ ]*lanes16[^ ]*>$' 3 6
	has code 'v(fmadd|mulps).*zmm')"

check "M4 a kernel that samples often calls the function of one channel, too" "$(
	{
		cat <<'END'
constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

kernel void k(read_only image2d_t a, global float *out, float2 step)
{
	float2 at = (float2)(get_global_id(0), get_global_id(1)) * step;
	float sum = 0;

END
		for ((i = 0; i < 16; i++)); do
			echo "sum = fabs(sum - read_imagef(a, s, at + (float2)($i, sum)).x);"
		done
		echo 'out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum; }'
	} | compile "--march x86-64-v4"
	times code '<salvo_sample_one[^ ]*lanes16[^ ]*>:' 1 1
	times code 'call.*<salvo_sample_one[^ ]*lanes16[^ ]*>$' 16 32)"

check "M4 pixels of one float and of 16-bit colours have code of their own, for reads and writes" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(read_only image2d_t a, write_only image2d_t b)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imagef(b, at, read_imagef(a, at));
}
END
	# CLK_R and CLK_FLOAT, CLK_RGBA and CLK_UNORM_INT16
	times code '0x10b010d[de]' 2 99
	times code '0x10b510d3' 2 99)"

check "M4 colours as indices of a table: their channels are loaded one by one" "$(
	compile '--march x86-64-v4' <<'END'
constant float table[256] = { 1, 2, 3, 5, 7, 11 };
kernel void k(global const uchar4 *in, global float4 *out)
{
	uint x = get_global_id(0);

	out[x] = (float4)(table[in[x].x], table[in[x].y], table[in[x].z], table[in[x].w]);
}
END
	has code 'movzbl'
	lacks code 'gather|vpextr')"

check "M4 a function of an image that the source keeps, though only a kernel calls it" "$(
	compile "-cl-std=CL3.0" <<'END'
__attribute__((used)) global int kept;

__attribute__((used)) static float4 at(read_only image2d_t a, int x)
{
	return read_imagef(a, (int2)(x, 0));
}

kernel void k(read_only image2d_t a, global float4 *out)
{
	out[get_global_id(0)] = at(a, get_global_id(0));
}
END
	times code 'salvo_outline_sample_texel' 1 99)"

finish
