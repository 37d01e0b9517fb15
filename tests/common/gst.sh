# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# gst.sh - for tests of the GStreamer elements: a clip, an OpenCL kernel, and the faces that salvofaces reports
#
# make_clip DIR FRAMES makes DIR/clip and sets the array "source", elements of gst-launch-1.0 that
# deliver it; DIR/frameN.pgm are its frames. DIR/invert.salvo has the kernel invert().

# A window of 400x400 that pans over a photo, in grey.
make_clip() {
	python3 - "$1" "$2" <<'END'
import sys
data = open("tests/data/astronaut.pgm", "rb").read()
head, pixels = data[:15].split()[:4], data[-512 * 512:]
assert head[1:3] == [b"512", b"512"], head
clip = open(sys.argv[1] + "/clip", "wb")
for n in range(int(sys.argv[2])):
    frame = b"".join(pixels[y * 512 + 8 * n:][:400] for y in range(2 * n, 2 * n + 400))
    clip.write(frame)
    open("%s/frame%d.pgm" % (sys.argv[1], n), "wb").write(b"P5 400 400 255\n" + frame)
END
	# shellcheck disable=SC2034 # the caller's
	source=(filesrc "location=$1/clip" blocksize=160000 ! rawvideoparse format=gray8 width=400 height=400
		framerate=25/1)
	cat >"$1/invert.cl" <<'END'
kernel void invert(global uchar *frame)
{
	frame[get_global_id(0)] = 255 - frame[get_global_id(0)];
}
END
	"${BUILD:-build}/bin/salvo-cc" -o "$1/invert.salvo" "$1/invert.cl"
}

# faces FILE - frame and rectangle of each face in gst-launch's messages, x,y,w,h
faces() {
	python3 - "$1" <<'END'
import re, sys
for line in open(sys.argv[1]):
    message = re.search(r"salvofaces, frame=\(guint64\)(\d+)", line)
    if message:
        line = line.replace("\\", "")
        for face in re.finditer(r"x=\(int\)(\d+), y=\(int\)(\d+), width=\(int\)(\d+), height=\(int\)(\d+)", line):
            print(message[1], *face.groups())
END
}
