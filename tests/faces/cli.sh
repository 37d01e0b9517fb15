#!/bin/bash
# SPDX-License-Identifier: MIT
# cli.sh - the command line of salvo-faces: options, errors, exit codes, output
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh

faces=build/bin/salvo-faces
data=tests/data
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# run EXPECTED-CODE ARGUMENT... - passes standard input on; output in $dir/out and $dir/err
run() {
	local expected=$1
	shift
	"$faces" --device soft "$@" >"$dir/out" 2>"$dir/err"
	code=$?
	[ "$code" -eq "$expected" ] || echo "exit code $code, expected $expected: $*" >>"$dir/err"
	[ "$code" -eq "$expected" ]
}

# result NAME - reports the result of the previous command
result() {
	local status=$?
	check "$1" "$([ "$status" -eq 0 ] || cat <(echo "the command printed:") "$dir/out" "$dir/err")"
}

# One line on standard error, and it begins with the program's name.
one_error() {
	[ "$(wc -l <"$dir/err")" -eq 1 ] && grep -q '^salvo-faces: ' "$dir/err"
}

run 0 --help && grep -q -- '--min-neighbors' "$dir/out"
result "help"
run 2 && grep -q usage "$dir/err"
result "no picture"
run 2 --nonsense "$data/camera.pgm"
result "unknown option"

wrong=0
for options in "--scale-factor 1" "--scale-factor x" "--scale-factor inf" "--scale-factor 1e19" "--scale-factor 101" "--timeout 0" "--min-neighbors -1" \
	"--min-neighbors 3x" "--min-size 0" "--min-size 24x" "--max-size axb" "--mode fast" \
	"--repeat 0" "--output x.gif"; do
	# shellcheck disable=SC2086 # an option and its value
	run 2 $options "$data/camera.pgm" && one_error || wrong=1
done
[ "$wrong" -eq 0 ]
result "wrong values"

run 1 "$dir/missing.png" && one_error && grep -q missing.png "$dir/err"
result "missing picture"
run 1 "$dir" && one_error
result "a folder as picture"
run 1 --cascade "$dir/missing.xml" "$data/camera.pgm" && one_error
result "missing cascade"
run 1 --cascade "$data/SOURCES.md" "$data/camera.pgm" && one_error
result "a cascade that is none"
"$faces" --device /dev/null "$data/camera.pgm" >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] && one_error
result "a device that is none"
run 1 --json "$dir/missing.png" "$data/camera.pgm" &&
	[ "$(grep -c '"error":{"message":"No such file or directory"}' "$dir/out")" -eq 1 ] &&
	[ "$(grep -c '"faces":' "$dir/out")" -eq 1 ]
result "after a bad picture the next one is done"

run 0 --json "$data/frame640.pgm" &&
	[ "$(cat "$dir/out")" = '{"frame":0,"file":"tests/data/frame640.pgm","width":640,"height":480,"faces":[{"x":224,"y":86,"w":128,"h":128,"neighbors":11}]}' ]
result "a line of JSON"
run 0 --json --min-neighbors 0 "$data/frame640.pgm" &&
	grep -q '^{"frame":0,.*"faces":\[{"x":[0-9]*,"y":[0-9]*,"w":[0-9]*,"h":[0-9]*},' "$dir/out" &&
	! grep -q neighbors "$dir/out"
result "raw rectangles have no neighbors"
run 0 --json "$data/camera.pgm" && grep -q '"faces":\[\]}$' "$dir/out"
result "no faces"
run 0 --json "$data/frame640.pgm" "$data/astronaut.png" "$data/grace_hopper.jpg" &&
	[ "$(grep -c '"neighbors"' "$dir/out")" -eq 3 ] && grep -q '^{"frame":2,' "$dir/out"
result "several pictures of several sizes"

cp "$data/camera.pgm" "$dir/a\"b\\"$'\n\x01\xff'"é.pgm"
run 0 --json "$dir"/a*.pgm && grep -q 'a\\"b\\\\\\u000a\\u0001\\ufffdé.pgm"' "$dir/out"
result "JSON strings are escaped"

run 0 --json - <"$data/frame640.pgm" && grep -q '"file":"-".*"neighbors":11' "$dir/out"
result "a picture on standard input"
{
	echo "YUV4MPEG2 W640 H480 F25:1 Cmono"
	for _ in 1 2 3; do
		echo FRAME
		tail -c 307200 "$data/frame640.pgm"
	done
} >"$dir/v.y4m"
run 0 --json - <"$dir/v.y4m" && [ "$(grep -c '"neighbors":11' "$dir/out")" -eq 3 ] &&
	[ "$(grep -o '"frame":[0-9]*' "$dir/out" | tr '\n' ' ')" = '"frame":0 "frame":1 "frame":2 ' ]
result "a video on standard input"
head -c 700000 "$dir/v.y4m" >"$dir/cut.y4m"
run 1 --json "$dir/cut.y4m" && one_error && [ "$(grep -c '"faces":' "$dir/out")" -eq 2 ] &&
	tail -n 1 "$dir/out" | grep -q '"error":{"message":"Y4M: the last frame is cut off"}'
result "a video that is cut off"

run 0 --min-size 500 --max-size 400x400 --min-neighbors 0 "$data/frame640.pgm"
result "sizes that no level has"
printf 'P5 10 10 255\n%0100d' 0 >"$dir/tiny.pgm"
run 0 --json "$dir/tiny.pgm" && grep -q '"faces":\[\]' "$dir/out"
result "a picture smaller than the window"
run 1 --timeout 0.01 --scale-factor 1.02 --cascade \
	/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml "$data/group720.pgm" && one_error &&
	grep -q 'the frame takes more than 0.01 s' "$dir/err"
result "a frame that takes too long"
run 1 --scale-factor 1.0001 "$data/frame640.pgm" && one_error
result "too many levels"

{
	head -c 2 "$data/grace_hopper.jpg"
	printf '\xff\xe1\x00\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0'
	tail -c +3 "$data/grace_hopper.jpg"
} >"$dir/turned.jpg"
run 0 --json "$dir/turned.jpg" && grep -q '"width":600,"height":512' "$dir/out"
result "a photo is turned as its Exif tag says"

run 0 --output "$dir/o.png" "$data/astronaut.png" && [ "$(head -c 4 "$dir/o.png" | tail -c 3)" = PNG ] &&
	! cmp -s "$dir/o.png" "$data/astronaut.png" && [ ! -e "$dir/o.png.part" ]
result "annotated picture"
run 0 --output "$dir/f%d.jpg" "$dir/v.y4m" && [ -s "$dir/f0.jpg" ] && [ -s "$dir/f2.jpg" ]
result "annotated frames"

run 0 --compare --repeat 3 "$data/frame640.pgm" &&
	[ "$(awk '/^(workloads|DMA packets|doorbells|deferred completions) / {
		print $(NF - 1) "/" $NF }' "$dir/out" | tr '\n' ' ')" = "33/33 33/1 33/1 33/1 " ]
result "B6_33_workloads_take_33_packets_or_1"
for row in interrupts "deferred completions" "wall ms" "CPU ms" "GPU busy %"; do
	grep -qE "^$row +[0-9.]+ +[0-9.]+$" "$dir/out" || echo "no $row" >>"$dir/err"
done
[ ! -s "$dir/err" ]
result "B12_both_ways_measured_side_by_side_on_one_frame"
finish
