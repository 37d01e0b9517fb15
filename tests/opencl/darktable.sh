#!/bin/bash
# SPDX-License-Identifier: MIT
# darktable.sh - darktable-cli develops a photo on Salvo as it does on the CPU
# limit: 600
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh
. tests/common/opencl.sh

needs darktable darktable-cli darktable
needs darktable "$python" python3
needs darktable ffmpeg ffmpeg
photo=$PWD/tests/data/grace_hopper.jpg

# develop NAME OPENCL - with a configuration and a library of its own
develop() {
	mkdir "$dir/$1"
	HOME=$dir/$1 XDG_CACHE_HOME=$dir/$1 on_salvo darktable-cli "$photo" "$dir/$1.png" --width 400 --core \
		--configdir "$dir/$1" --library :memory: --conf opencl="$2" --conf opencl_mandatory_timeout=20000 \
		-d opencl -d perf >"$dir/$1.out" 2>&1 || echo "exit code $?: $(last "$dir/$1.out")"
	ffmpeg -v error -nostdin -i "$dir/$1.png" -f rawvideo -pix_fmt rgb24 "$dir/$1.raw" 2>&1
}

problem=$(develop gpu TRUE)
[ -n "$problem" ] || grep -q "processed .* on GPU" "$dir/gpu.out" ||
	problem="nothing was processed on the GPU: $(grep -i opencl_init "$dir/gpu.out" | tail -n 5)"
check "darktable uses Salvo" "$problem"

problem=$(develop cpu FALSE)
[ -n "$problem" ] || problem=$("$python" - "$dir/gpu.raw" "$dir/cpu.raw" 2>&1 <<-'END'
	import sys
	a, b = (open(name, 'rb').read() for name in sys.argv[1:])
	far = [abs(x - y) for x, y in zip(a, b)]
	if len(a) != len(b) or sum(far) > len(far) / 2 or sum(d > 8 for d in far) * 100 > len(far):
	    print(f'{len(a)} and {len(b)} bytes, {sum(d > 8 for d in far)} differ by more than 8, at most by {max(far)}')
END
)
check "the photo is the same" "$problem"
finish
