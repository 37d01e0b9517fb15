#!/bin/bash
# SPDX-License-Identifier: MIT
# ffmpeg.sh - ffmpeg's OpenCL filters on a clip: Salvo's frames are PoCL's, but for rounding
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs "ffmpeg's OpenCL filters" ffmpeg ffmpeg
needs "ffmpeg's OpenCL filters" "$python" python3
if ! have_pocl; then
	skip "ffmpeg's OpenCL filters" "pocl-opencl-icd is not installed"
	finish
fi

# Two clips of 6 frames: a camera that moves over a photo, and a still photo.
problem=$( {
	ffmpeg -v error -nostdin -loop 1 -i tests/data/astronaut.png \
		-vf "crop=256:192:x='100+5*n':y='40+3*n',format=yuv420p" -frames:v 6 "$dir/clip.y4m"
	ffmpeg -v error -nostdin -loop 1 -i tests/data/camera.png \
		-vf "scale=256:192,format=yuv420p" -frames:v 6 "$dir/other.y4m"
} 2>&1)
check "the clips" "$problem"

# differ FILE OTHER LIMIT - say how, if a byte differs by more than LIMIT or one in a hundred by more than 1
differ() {
	"$python" - "$@" <<-'END'
		import sys
		a, b = (open(name, 'rb').read() for name in sys.argv[1:3])
		limit = int(sys.argv[3])
		far = [abs(x - y) for x, y in zip(a, b)]
		if len(a) != len(b) or not a:
		    print(f'{len(a)} bytes, on PoCL {len(b)}')
		elif max(far) > limit or sum(d > 1 for d in far) * 100 > len(far):
		    print(f'{sum(d > 1 for d in far)} of {len(far)} bytes differ by more than 1, at most by {max(far)}; '
		          f'the first is {next(i for i, d in enumerate(far) if d > 1)}')
	END
}

# filter NAME LIMIT ARGUMENT... - run ffmpeg on both
filter() {
	local name=$1 limit=$2 driver problem=
	shift 2

	for driver in salvo pocl; do
		on_$driver ffmpeg -v error -nostdin -init_hw_device opencl=cl:0.0 -filter_hw_device cl "$@" \
			-f rawvideo "$dir/$name.$driver" >"$dir/out" 2>&1 || problem="$problem $driver: exit code $?"
		# ffmpeg prints the compiler's warnings, and an error may leave a shorter file.
		[ -s "$dir/$name.$driver" ] || problem="$problem $driver: no frames: $(last "$dir/out")"
	done
	# xfade_opencl of ffmpeg 7.1 drops all frames, whatever the driver.
	if [ ! -s "$dir/$name.salvo" ] && [ ! -s "$dir/$name.pocl" ] && [ "${problem//exit code/}" = "$problem" ]; then
		skip "$name" "ffmpeg makes no frames of it, nor on PoCL"
		return
	fi
	[ -n "$problem" ] || problem=$(differ "$dir/$name.salvo" "$dir/$name.pocl" "$limit")
	check "$name" "$problem"
	rm -f "$dir/$name".*
}

# one NAME LIMIT FILTER [FORMAT] - a filter of one clip
one() {
	filter "$1" "$2" -i "$dir/clip.y4m" -vf "format=${4:-yuv420p},hwupload,$3,hwdownload,format=${4:-yuv420p}"
}

# two NAME LIMIT FILTER FORMAT - a filter of both clips
two() {
	filter "$1" "$2" -i "$dir/clip.y4m" -i "$dir/other.y4m" -filter_complex \
		"[0]format=$4,hwupload[a];[1]format=$4,hwupload[b];[a][b]$3,hwdownload,format=$4"
}

one unsharp 2 unsharp_opencl=lx=7:la=1.5
one nlmeans 2 nlmeans_opencl=s=4:p=5:r=9
one avgblur 1 avgblur_opencl=sizeX=4:sizeY=2
one boxblur 2 boxblur_opencl=lr=3:lp=2:cr=2
one sobel 1 sobel_opencl
one prewitt 1 prewitt_opencl=scale=2
one roberts 1 roberts_opencl
one convolution 1 "convolution_opencl=1 2 1 2 4 2 1 2 1:1 2 1 2 4 2 1 2 1:0m=0 -1 0 -1 5 -1 0 -1 0:0rdiv=0.0625"
one erosion 0 erosion_opencl=threshold0=40
one dilation 0 dilation_opencl
one transpose 0 transpose_opencl=dir=cclock
one pad 1 pad_opencl=w=320:h=240:x=32:y=24:color=red
one deshake 4 deshake_opencl=tripod=0
one colorkey 2 colorkey_opencl=color=0xd0a080:similarity=0.3:blend=0.2 rgba
two overlay 1 overlay_opencl=x=40:y=30 yuv420p
two xfade 1 xfade_opencl=transition=wipeleft:duration=0.4:offset=0 yuv420p
# Within the frame: outside of it the filter's sampler leaves the pixels undefined.
filter remap 1 -i "$dir/clip.y4m" -filter_complex "[0]format=rgba,hwupload[a];
	nullsrc=s=256x192:d=1,format=gray16,geq='236-X*0.8+8*sin(Y/9)',hwupload[x];
	nullsrc=s=256x192:d=1,format=gray16,geq='4+Y*0.9',hwupload[y];[a][x][y]remap_opencl,hwdownload,format=rgba"

finish
