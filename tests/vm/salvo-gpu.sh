#!/bin/bash
# SPDX-License-Identifier: MIT
# A GPU crashes under a running guest: the driver detects it and binds to the next generation. One boot.
# limit: 120
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

build=${BUILD:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export TMPDIR=$tmp

# Prints the supervisor's process id; the worker is its only child.
cat >"$tmp/salvo-gpu" <<END
#!/bin/sh
echo \$\$ >"$tmp/pid"
exec "$(realpath "$build/bin/salvo-gpu")" "\$@"
END
chmod +x "$tmp/salvo-gpu"

cat >"$tmp/guest" <<'END'
driver=/sys/bus/pci/drivers/salvo
device=$(ls $driver | grep '^0000:')
ls /dev/dri >/out/before
echo crash me
i=0
while ! dmesg | grep -qE 'the GPU (was lost|does not answer)' && [ $i -lt 300 ]; do
	sleep 0.1
	i=$((i + 1))
done
echo "$device" >$driver/unbind
ls /dev/dri >/out/unbound 2>&1
echo "$device" >$driver/bind
ls /dev/dri >/out/after
dmesg | grep salvo >/out/dmesg
END

tests/vm/run-vm -t 100 --gpu "$tmp/salvo-gpu" -f "$tmp/guest" -o "$tmp/out" -- 'sh ./guest' 2>"$tmp/stderr" |
while read -r line; do
	[ "$line" != "crash me" ] || kill -SEGV "$(cat "/proc/$(cat "$tmp/pid")/task/$(cat "$tmp/pid")/children")"
done
code=${PIPESTATUS[0]}

check "the guest lives on" "$([ "$code" -eq 0 ] || cat "$tmp/stderr")"
check "the supervisor tells of the crash" "$(grep -q 'generation 1 of the GPU died: Segmentation fault' "$tmp/stderr" ||
	cat "$tmp/stderr")"
# By the "device lost" interrupt, or by the registers if the watchdog samples them first.
check "the driver notices" "$(grep -qE 'the GPU (was lost|does not answer)' "$tmp/out/dmesg" || cat "$tmp/out/dmesg")"
check "the render node goes when the driver is unbound" "$(! grep render "$tmp/out/unbound")"
check "the driver binds to the next generation" "$(
	[ "$(grep -c 'Initialized salvo' "$tmp/out/dmesg")" -eq 2 ] || cat "$tmp/out/dmesg"
	diff "$tmp/out/before" "$tmp/out/after")"
finish
