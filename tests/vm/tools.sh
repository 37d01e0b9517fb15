#!/bin/bash
# SPDX-License-Identifier: MIT
# The tools and the examples through salvo.ko: the output of salvo-info, -top, -bench and -submit; gbm with
# this machine's Mesa; and run-time compilation in the guest. One boot.
# limit: 240
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=SCRIPTDIR/../common/tap.sh
. tests/common/tap.sh

build=$(realpath "${BUILD:-build}")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python=$(command -v python3)

# shellcheck disable=SC2016 # the guest expands it
tests/vm/run-vm -t 220 --with vgem --host-root -e BUILD="$build" -o "$out" "$@" -- '
node=/dev/dri/renderD129 # the first one belongs to vgem
PATH=$BUILD/bin:$PATH
salvo-info >/out/info; echo $? >/out/info.code
salvo-info --json --device $node >/out/info.json
$BUILD/examples/ioctl >/out/ioctl 2>&1; echo $? >/out/ioctl.code
$BUILD/examples/gbm >/out/gbm 2>&1; echo $? >/out/gbm.code
salvo-submit --device $node --kernels $BUILD/kernels --stats --trace /out/trace --timeline /out/svg \
	tools/examples/pipeline.batch >/out/submit 2>&1; echo $? >/out/submit.code
salvo-bench --device $node --rounds 5 --dispatches 1,33 --queues 2 --json >/out/bench 2>&1
salvo-bench --device $node --rounds 100000 --dispatches 33 >/dev/null 2>&1 &
sleep 1
salvo-top --json -n 1 -d 0.5 >/out/top
salvo-top -b -n 1 -d 0.5 >/out/top.text
kill $!; wait
SALVO_DEVICE=$node SALVO_SLOW=1 $BUILD/tests/lib/build >/out/build; echo $? >/out/build.code' >"$out/log" 2>&1
code=$?
check "the guest ran without a report of the kernel" "$([ $code -eq 0 ] || { echo "exit code $code"; tail -n 40 "$out/log"; })"

# has FILE PATTERN... - checks that each pattern is in the file
has() {
	local file=$1 pattern
	shift
	for pattern; do
		grep -qE -- "$pattern" "$out/$file" 2>/dev/null || { echo "$file lacks '$pattern':"; cat "$out/$file"; }
	done
}

# python_check NAME FILE - the Python on standard input checks the JSON in FILE
python_check() {
	if [ -n "$python" ]; then
		check "$1" "$("$python" -c "import json
got = json.load(open('$out/$2'))
$(cat)" 2>&1)"
	else
		skip "$1" "no python3"
	fi
}

check "salvo-info: driver, hardware, PCI function" "$(has info.code '^0$'
	has info '^/dev/dri/renderD' 'driver  .* salvo 1\.' 'hardware version' 'PCI function  .* 0000:' '^soft: ')"
python_check "salvo-info --json" info.json <<'END'
device, = got["devices"]
assert not device["embedded"] and device["driver_version"].startswith("1."), device
assert device["resets"] == 0 and device["max_commands"] >= 1024, device
END
check "the example with ioctls alone" "$(has ioctl.code '^0$'; has ioctl '^4096 bytes filled and copied in [0-9]+ ticks')"
check "the example with a gbm buffer" "$(has gbm.code '^0$'; has gbm '^a drm buffer .* filled where it is$')"
check "a program is compiled and run in the guest" "$(has build.code '^0$'; has build '^ok [0-9]* build.runs_and_is_kept$')"
check "salvo-submit: statistics and pictures through the driver" "$(has submit.code '^0$'
	has submit '^4 of 4 expectations met$' ' 1 packets, 1 doorbells, 1 interrupts, 1 completions' 'row_sums +a_rows'
	has svg 'chain 1</text>' 'class="edge"'; has trace '"pipe control"')"
python_check "salvo-bench: a batch is one interrupt" bench <<'END'
for result in got["results"]:
    batches = result["queues"] if result["mode"] == "batch" else result["dispatches"]
    assert result["packets"] == result["completions"] == batches, result
    assert 0 < result["interrupts"] <= batches, result
END
python_check "salvo-top: a client of the driver, from its fdinfo" top <<'END'
entry, = [e for e in got["entries"] if e["kind"] == "client"]
assert entry["command"] == "salvo-bench" and entry["device"].startswith("0000:"), entry
assert entry["packets_per_s"] > 0 and entry["interrupts_per_s"] > 0, entry
assert entry["queues"] == 16 and 0 <= entry["batches"] <= 2, entry
assert entry["vram_bytes"] > 0 and entry["units"] >= 1 and entry["busy_ns"] > 0, entry
END
check "salvo-top -b" "$(has top.text '^ +[0-9]+ 0000:.* salvo-bench$')"
finish
