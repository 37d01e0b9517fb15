#!/bin/bash
# SPDX-License-Identifier: MIT
# gst.sh - the GStreamer elements salvofaces and salvobatch on a clip, with gst-launch-1.0
set -u
. tests/common/tap.sh

plugin=build/gst/libgstsalvo.so
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python=$(command -v python3)
export GST_REGISTRY=$dir/registry GST_PLUGIN_PATH=build/gst GST_REGISTRY_FORK=no

if [ ! -e "$plugin" ]; then
	skip "GStreamer elements" "not built: libgstreamer-plugins-base1.0-dev is not installed"
	finish
fi
if ! command -v gst-launch-1.0 >/dev/null || [ -z "$python" ] ||
	! gst-inspect-1.0 rawvideoparse >/dev/null 2>&1; then
	skip "GStreamer elements" "gstreamer1.0-tools, gstreamer1.0-plugins-base or python3 is not installed"
	finish
fi

problem=
for element in salvofaces salvobatch; do
	gst-inspect-1.0 "$element" >"$dir/out" 2>&1 || problem="$problem no $element: $(cat "$dir/out")"
done
check "gst-inspect-1.0 knows the elements" "$problem"

# A clip: a window of 400x400 that pans over a photo, 8 frames of grey.
"$python" - "$dir" <<'END'
import sys
data = open("tests/data/astronaut.pgm", "rb").read()
head, pixels = data[:15].split()[:4], data[-512 * 512:]
assert head[1:3] == [b"512", b"512"], head
clip = open(sys.argv[1] + "/clip", "wb")
for n in range(8):
    frame = b"".join(pixels[y * 512 + 8 * n:][:400] for y in range(2 * n, 2 * n + 400))
    clip.write(frame)
    open("%s/frame%d.pgm" % (sys.argv[1], n), "wb").write(b"P5 400 400 255\n" + frame)
END
source=(filesrc "location=$dir/clip" blocksize=160000 ! rawvideoparse format=gray8 width=400 height=400 framerate=25/1)

# faces FILE - frame and rectangle of each face in gst-launch's messages, x,y,w,h
faces() {
	"$python" - "$1" <<'END'
import re, sys
for line in open(sys.argv[1]):
    message = re.search(r"salvofaces, frame=\(guint64\)(\d+)", line)
    if message:
        line = line.replace("\\", "")
        for face in re.finditer(r"x=\(int\)(\d+), y=\(int\)(\d+), width=\(int\)(\d+), height=\(int\)(\d+)", line):
            print(message[1], *face.groups())
END
}

problem=
for n in 0 1 2 3 4 5 6 7; do
	build/bin/salvo-faces --device soft --json "$dir/frame$n.pgm" | "$python" -c "
import json, sys
for face in json.loads(sys.stdin.read())['faces']:
    print($n, face['x'], face['y'], face['w'], face['h'])" >>"$dir/wanted" || problem="salvo-faces failed"
done
[ -s "$dir/wanted" ] || problem="$problem no faces in the clip"
timeout 60 gst-launch-1.0 -m "${source[@]}" ! salvofaces device=soft ! filesink "location=$dir/drawn" \
	>"$dir/out" 2>&1 || problem="$problem exit code $?: $(cat "$dir/out")"
problem="$problem$(faces "$dir/out" | diff "$dir/wanted" - 2>&1)"
check "salvofaces finds in each frame what salvo-faces finds" "$problem"

problem=
[ "$(stat -c %s "$dir/drawn" 2>&1)" = $((8 * 160000)) ] || problem="wrong size"
cmp -s "$dir/drawn" "$dir/clip" && problem="$problem nothing was drawn"
timeout 60 gst-launch-1.0 -q "${source[@]}" ! salvofaces device=soft draw=false ! \
	filesink "location=$dir/plain" >"$dir/out" 2>&1 || problem="$problem $(cat "$dir/out")"
cmp -s "$dir/plain" "$dir/clip" || problem="$problem draw=false changes the frames"
check "salvofaces draws, or does not" "$problem"

# videoconvert writes into the memory that salvofaces offers, and the GPU reads it there.
problem=
timeout 60 gst-launch-1.0 -m "${source[@]}" ! videoconvert ! video/x-raw,format=I420 ! \
	salvofaces device=soft ! fakesink >"$dir/out" 2>&1 || problem="exit code $?: $(cat "$dir/out")"
problem="$problem$(faces "$dir/out" | cut -d' ' -f1 | diff <(cut -d' ' -f1 "$dir/wanted") - 2>&1)"
grep -q 'frame=(guint64)7,.*in-place=(guint64)8' "$dir/out" ||
	problem="$problem not all in place: $(grep -o 'in-place=[^,]*' "$dir/out" | tail -n 1)"
check "salvofaces uses frames where they are, without a copy" "$problem"

cat >"$dir/invert.cl" <<'END'
kernel void invert(global uchar *frame)
{
	frame[get_global_id(0)] = 255 - frame[get_global_id(0)];
}
END
problem=$(build/bin/salvo-cc -o "$dir/invert.salvo" "$dir/invert.cl" 2>&1)
cat >"$dir/invert.batch" <<'END'
program k "invert.salvo"
buffer frame 160000
dispatch k.invert items 160000 args frame
END
timeout 60 gst-launch-1.0 -q "${source[@]}" ! salvobatch device=soft "location=$dir/invert.batch" output=frame ! \
	filesink "location=$dir/inverted" >"$dir/out" 2>&1 || problem="$problem exit code $?: $(cat "$dir/out")"
problem="$problem$("$python" -c "
a, b = open('$dir/clip', 'rb').read(), open('$dir/inverted', 'rb').read()
assert b == bytes(255 - x for x in a), 'not inverted'" 2>&1)"
check "salvobatch runs a batch on each frame" "$problem"

problem=
for wrong in "salvobatch" "salvobatch location=/nowhere" "salvobatch location=$dir/invert.batch input=none" \
	"salvofaces device=/nowhere" "salvofaces cascade=/nowhere" "salvobatch location=$dir/small.batch"; do
	echo "buffer frame 100" >"$dir/small.batch"
	# shellcheck disable=SC2086 # an element and its properties
	timeout 60 gst-launch-1.0 -q "${source[@]}" ! $wrong ! fakesink >"$dir/out" 2>&1 &&
		problem="$problem $wrong goes through;"
	grep -q '^ERROR: .*salvo' "$dir/out" || problem="$problem $wrong: $(cat "$dir/out")"
done
check "errors reach the bus" "$problem"

finish
