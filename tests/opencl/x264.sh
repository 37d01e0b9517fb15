#!/bin/bash
# SPDX-License-Identifier: MIT
# x264.sh - x264's lookahead on OpenCL, its kernels built from source and from the binary that it keeps
#
# The kernels rely on work-items that run in step, with no barrier, which OpenCL does not promise. So other frame types and
# motion vectors come out than from x264's own code, and the frames are worse, but all of them are there. x264 takes
# devices of type GPU only, so there is no PoCL to compare with.
# limit: 300
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs "x264's lookahead" x264 x264
needs "x264's lookahead" ffmpeg ffmpeg

# A camera that moves over a photo.
problem=$(ffmpeg -v error -nostdin -loop 1 -i tests/data/astronaut.png \
	-vf "crop=256:192:x='100+3*n':y='40+2*n',format=yuv420p" -frames:v 50 "$dir/clip.y4m" 2>&1)
check "the clip" "$problem"

for from in source binary; do
	problem=
	on_salvo timeout 100 x264 --opencl --opencl-clbin "$dir/kernels" --psnr --threads 2 --rc-lookahead 20 \
		-o "$dir/out.mkv" "$dir/clip.y4m" >"$dir/out" 2>&1 || problem="exit code $?"
	tr '\r' '\n' <"$dir/out" >"$dir/log"
	grep -q 'OpenCL acceleration enabled with Salvo' "$dir/log" || problem="$problem no OpenCL"
	if [ "$(grep -c 'Compiling OpenCL kernels' "$dir/log")" != "$([ $from = binary ]; echo $?)" ]; then
		problem="$problem compiled when it has a binary, or not when it has none"
	fi
	grep -qi 'OpenCL.*\(error\|fatal\|fail\)' "$dir/log" && problem="$problem $(grep -i 'OpenCL.*\(error\|fatal\|fail\)' "$dir/log")"
	grep -q '^encoded 50 frames' "$dir/log" || problem="$problem not 50 frames"
	grep -q '^x264 \[info\]: PSNR Mean .* Avg:[34][0-9]\.' "$dir/log" || problem="$problem less than 30 dB"
	check "kernels from $from" "${problem:+$problem: $(last "$dir/log")}"
done
finish
