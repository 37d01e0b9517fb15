#!/bin/bash
# SPDX-License-Identifier: MIT
# The GStreamer elements on dma-bufs through salvo.ko: those of another driver (vgem, instead of a camera), and video
# memory that upstream elements allocate from them. No frame is copied. One boot.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=SCRIPTDIR/../common/tap.sh
. tests/common/tap.sh
# shellcheck source=SCRIPTDIR/../common/gst.sh
. tests/common/gst.sh

build=$(realpath "${BUILD:-build}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python=$(command -v python3)

# The guest uses the plugin registry that is built here.
export GST_REGISTRY=$dir/registry GST_PLUGIN_PATH=$build/gst GST_REGISTRY_FORK=no
for element in salvofaces rawvideoparse appsrc; do
	if [ -z "$python" ] || ! gst-inspect-1.0 $element >/dev/null 2>&1; then
		skip "GStreamer through the driver" \
			"GStreamer's headers (see tests/tools/gst.sh), tools, base plugins or python3 are not installed"
		finish
	fi
done

make_clip "$dir" 6 || exit 1
convert="videoconvert ! video/x-raw,format=I420"
clip="${source[*]} ! $convert"
cat >"$dir/invert.batch" <<'END'
program k "invert.salvo"
buffer frame 240000
dispatch k.invert items 240000 args frame
END
cat >"$dir/next.batch" <<'END'
buffer frame 160000 readonly
buffer next 160000
copy next frame 160000
END

# The same on the host, with the embedded GPU.
# shellcheck disable=SC2086 # words
timeout 60 gst-launch-1.0 -m $clip ! salvofaces device=soft draw=false ! filesink "location=$dir/soft" \
	>"$dir/wanted" 2>&1 || cat "$dir/wanted"
faces "$dir/wanted" >"$dir/wanted.faces"
"$python" -c "open('$dir/soft.inverted', 'wb').write(bytes(255 - x for x in open('$dir/soft', 'rb').read()))"

# shellcheck disable=SC2016 # the guest expands it
tests/vm/run-vm -t 220 --with vgem --host-root -e DIR="$dir" -e CLIP="$clip" \
	-e FEED="$build/tests/gst/feed $dir/clip 400 400" -e GST_REGISTRY="$GST_REGISTRY" \
	-e GST_PLUGIN_PATH="$GST_PLUGIN_PATH" -e GST_REGISTRY_FORK=no -e GST_REGISTRY_UPDATE=no \
	-e GST_DEBUG=salvobatch:4 -e GST_DEBUG_NO_COLOR=1 -o "$dir" "$@" -- '
gst-launch-1.0 -m $CLIP ! salvofaces draw=false ! filesink location=$DIR/same >/out/faces 2>&1
cmp $DIR/soft $DIR/same >>/out/faces
gst-launch-1.0 $CLIP ! salvobatch location=$DIR/invert.batch output=frame ! filesink location=$DIR/inverted \
	>/out/batch 2>&1
cmp $DIR/soft.inverted $DIR/inverted >>/out/batch
$FEED salvofaces draw=false ! fakesink >/out/camera 2>&1
$FEED salvobatch location=$DIR/next.batch output=next ! filesink location=$DIR/next >/out/next 2>&1
cmp $DIR/clip $DIR/next >>/out/next' >"$dir/log" 2>&1
code=$?
check "the guest ran without a report of the kernel" "$([ $code -eq 0 ] || { echo "exit code $code"; tail -n 40 "$dir/log"; })"

# wrong FILE PATTERN - prints the output of a pipeline if it has an error or lacks the pattern
wrong() {
	if grep -qiE 'error|differ|EOF on|warning' "$dir/$1" || ! grep -qE "$2" "$dir/$1"; then
		cat "$dir/$1"
	fi
}

check "salvofaces finds the same faces as on the embedded GPU" "$(
	[ "$(wc -l <"$dir/wanted.faces")" -ge 6 ] || echo "no faces in the clip"
	faces "$dir/faces" | diff "$dir/wanted.faces" - 2>&1)"
check "salvofaces reads the clip in video memory, where it was written" "$(
	wrong faces 'frame=\(guint64\)5,.*in-place=\(guint64\)6')"
check "salvobatch changes the clip in video memory" "$(wrong batch '6 frames, 6 in place')"
check "salvofaces uses the dma-bufs of another driver where they are" "$(
	wrong camera 'frame=\(guint64\)5,.*in-place=\(guint64\)6')"
check "the kernel knows those dma-bufs as attached to the GPU" "$(
	[ "$(grep -c '^[[:space:]]*0000:' "$dir/camera")" -eq 6 ] || cat "$dir/camera")"
check "salvobatch copies from another driver's dma-bufs to video memory, on the GPU alone" "$(
	wrong next '6 frames, 6 in place')"
finish
