#!/bin/bash
# SPDX-License-Identifier: MIT
# observe.sh - salvo-info, salvo-bench and salvo-top on the embedded GPU
set -u
. tests/common/tap.sh

bin=build/bin
dir=$(mktemp -d)
bench=
trap 'rm -rf "$dir"; [ -z "$bench" ] || kill "$bench" 2>/dev/null' EXIT
python=$(command -v python3)

# python_check NAME FILE - the Python on standard input checks the JSON in FILE
python_check() {
	if [ -z "$python" ]; then
		skip "$1" "no python3"
		return
	fi
	check "$1" "$problem$("$python" -c "import json, sys
lines = [json.loads(line) for line in open('$2')]
got = lines[0]
$(cat)" 2>&1)"
}

problem=
"$bin/salvo-info" >"$dir/out" 2>&1 || problem="exit code $?"
for pattern in '^soft: the GPU embedded' 'execution units .* x86-64-v[234]' 'unit 0 .*core [0-9]' \
	'video memory .*[MG]iB' 'a batch  .* commands' \
	'work stealing  .* workers? in a pool by default, 64 slots'; do
	grep -qE "$pattern" "$dir/out" || problem="$problem no '$pattern'"
done
check "salvo-info" "${problem:+$problem $(cat "$dir/out")}"

problem=
"$bin/salvo-info" --device soft --json >"$dir/info" 2>&1 || problem="exit code $?"
python_check "salvo-info --json" "$dir/info" <<'END'
device, = got["devices"]
assert device["name"] == "soft" and device["embedded"], device
assert len(device["cores"]) == device["units"] >= 1, device
assert device["pool_workers"] >= 1 and device["slots"] == 64, device
assert device["max_commands"] >= 1024 and device["vram_bytes"] >= 16 << 20, device
END

problem=
"$bin/salvo-info" --device /nowhere >"$dir/out" 2>&1
[ $? -eq 1 ] || problem="wrong exit code"
grep -q '/nowhere: No such file' "$dir/out" || problem="$problem $(cat "$dir/out")"
"$bin/salvo-info" --device /dev/null >"$dir/out" 2>&1
[ $? -eq 1 ] || problem="$problem wrong exit code"
grep -q '/dev/null: not a Salvo GPU' "$dir/out" || problem="$problem $(cat "$dir/out")"
check "salvo-info: a device that is none" "$problem"

problem=
"$bin/salvo-bench" --device soft --rounds 3 --dispatches 1,33 --queues 2 --json >"$dir/bench" 2>&1 ||
	problem="exit code $?"
python_check "salvo-bench: a batch is one packet and one interrupt" "$dir/bench" <<'END'
found = {(r["mode"], r["dispatches"], r["queues"]): r for r in got["results"]}
assert len(found) == 7, found.keys()
for result in found.values():
    batches = result["queues"] if result["mode"] == "batch" else result["dispatches"]
    for what in "packets", "doorbells", "interrupts", "completions":
        if what in ("packets", "completions"):
            assert result[what] == batches, (what, result)
        assert 0 < result[what] <= batches, (what, result)
    assert 0 < result["best_us"] <= result["median_us"] <= result["p90_us"], result
END
problem=
"$bin/salvo-bench" --device soft --rounds 2 --dispatches 8 --queues 1 >"$dir/out" 2>&1 ||
	problem="exit code $?"
[ "$(grep -cE '^ +[0-9]+ ' "$dir/out")" = 2 ] || problem="$problem $(cat "$dir/out")"
check "salvo-bench: a table" "$problem"

# Tools with --json report failures as JSON, too.
problem=
json_error() {
	local wanted=$1 expected=$2
	shift 2
	"$@" >"$dir/out" 2>"$dir/err"
	[ $? -eq "$expected" ] || problem="$problem $*: wrong exit code;"
	grep -qFe "${said:-$wanted}" "$dir/err" || problem="$problem $*: $(cat "$dir/err");"
	[ -z "$python" ] || "$python" - "$dir/out" "$wanted" >"$dir/py" 2>&1 <<'END' ||
import json, sys
for line in open(sys.argv[1]):
    got = json.loads(line)
for place in [got] + got.get("devices", []):
    if sys.argv[2] in place.get("error", {}).get("message", ""):
        break
else:
    sys.exit("no error in " + str(got))
END
		problem="$problem $*: $(tail -n 1 "$dir/py");"
}
json_error "/nowhere: No such file" 1 "$bin/salvo-info" --json --device /nowhere
json_error "/nowhere: No such file" 1 "$bin/salvo-bench" --json --device /nowhere
json_error "--dispatches 9999: at most 4096" 2 "$bin/salvo-bench" --device soft --dispatches 9999 --json
json_error "--rounds 0: must be" 2 "$bin/salvo-bench" --rounds 0 --json
json_error "--delay x: must be" 2 "$bin/salvo-top" --json -d x
json_error "usage" 2 "$bin/salvo-top" --json more
json_error "/nowhere: No such file" 1 "$bin/salvo-submit" --json --device /nowhere tools/examples/transfer.batch
json_error "/nowhere.batch: No such file" 2 "$bin/salvo-submit" --json /nowhere.batch
json_error "--timeout soon: must be" 2 "$bin/salvo-submit" --timeout soon --json x
printf 'buffer a 4\ncopy a c 4\n' >"$dir/bad.batch"
json_error "there is no buffer c above" 2 "$bin/salvo-submit" --json "$dir/bad.batch"
grep -q '"file":".*/bad.batch","line":2,"column":8' "$dir/out" || problem="$problem $(cat "$dir/out");"
printf '# nothing\n' >"$dir/bad.batch"
json_error "no commands" 2 "$bin/salvo-submit" --json "$dir/bad.batch"
json_error "No such file or directory" 1 "$bin/salvo-faces" --json /nowhere.png
json_error "/nowhere.xml: No such file" 1 "$bin/salvo-faces" --json --cascade /nowhere.xml x.png
json_error "--repeat 0: must be" 2 "$bin/salvo-faces" --json --repeat 0 x.png
# What getopt_long() prints is in other words.
for tool in info bench top submit faces; do
	said=--nonsense json_error "--nonsense is no option" 2 "$bin/salvo-$tool" --json --nonsense
	said="'!'" json_error "-! is no option" 2 "$bin/salvo-$tool" --json -!
	said=--device json_error "--device is no option, or lacks its value" 2 "$bin/salvo-$tool" --json --device
done
json_error "unknown option '--nonsense'" 2 "$bin/salvo-cc" --inspect --json --nonsense
json_error "--json goes with --inspect" 2 "$bin/salvo-cc" --json x.cl
json_error "'/nowhere.salvo': No such file" 1 "$bin/salvo-cc" --inspect --json /nowhere.salvo
json_error "not a Salvo program" 1 "$bin/salvo-cc" --inspect --json "$bin/salvo-info"
check "--json: errors are JSON too" "$problem"

problem=
"$bin/salvo-cc" --inspect --json build/kernels/basic.salvo >"$dir/inspect" 2>&1
python_check "salvo-cc --inspect --json" "$dir/inspect" <<'END'
add, = [k for k in got["kernels"] if k["name"] == "vadd"]
assert [a["name"] for a in add["args"]] == ["a", "b", "out"], add
assert [a["offset"] for a in add["args"]] == [0, 8, 16] and add["args_bytes"] == 24, add
assert add["args"][2]["access"] == "write" and add["args"][0]["type"] == "float*", add
END

problem=
for wrong in "--dispatches 0" "--dispatches x" "--dispatches 9999" "--queues 17" "--rounds 0" more; do
	# shellcheck disable=SC2086 # an option and its value
	"$bin/salvo-bench" --device soft $wrong >"$dir/out" 2>&1
	[ $? -eq 2 ] && [ -s "$dir/out" ] || problem="$problem $wrong: $(cat "$dir/out")"
done
for wrong in "-d x" "-d 0" "-n 0" "-n -1" more; do
	# shellcheck disable=SC2086
	"$bin/salvo-top" -b $wrong >"$dir/out" 2>&1
	[ $? -eq 2 ] && [ -s "$dir/out" ] || problem="$problem $wrong: $(cat "$dir/out")"
done
check "wrong options are named" "$problem"

# A GPU for salvo-top: busy until it was listed.
"$bin/salvo-bench" --device soft --rounds 100000 --dispatches 1000 >/dev/null 2>&1 &
bench=$!
for _ in $(seq 50); do
	"$bin/salvo-top" --json -n 1 -d 0.05 >"$dir/out" 2>&1
	grep -q "\"pid\":$bench," "$dir/out" && break
done
problem=
"$bin/salvo-top" --json -n 2 -d 1 >"$dir/top" 2>&1 || problem="exit code $?"
"$bin/salvo-top" -b -n 2 -d 0.1 >"$dir/table" 2>&1 || problem="$problem exit code $?"
kill "$bench"
python_check "salvo-top: an embedded GPU, its units, queues and interrupts" "$dir/top" <<END
assert len(lines) == 2, lines
entry, = [e for e in lines[1]["entries"] if e["pid"] == $bench]
assert entry["kind"] == entry["device"] == "soft" and entry["command"] == "salvo-bench", entry
assert entry["queues"] == 16 and entry["slots"] == 0 and entry["vram_bytes"] >= 4096 * 64, entry
assert entry["units"] == len(entry["unit"]) >= 1, entry
assert entry["packets_per_s"] > 0 and entry["interrupts_per_s"] > 0, entry
assert entry["completions"] > 0 and entry["busy_ns"] > 0, entry
END
problem=
[ "$(grep -c '^salvo-top ' "$dir/table")" = 2 ] || problem="not two tables"
grep -qE "^ *$bench soft .* salvo-bench$" "$dir/table" || problem="$problem no line of $bench"
grep -qE '^ +units +0: ' "$dir/table" || problem="$problem no units"
check "salvo-top -b" "${problem:+$problem $(cat "$dir/table")}"

wait "$bench" 2>/dev/null
"$bin/salvo-top" --json -n 1 -d 0.01 >"$dir/out" 2>&1
problem=$(grep -o "\"pid\":$bench," "$dir/out")
bench=
check "salvo-top: what has ended is not shown" "$problem"

# A command's name may contain any bytes.
problem=
cp "$bin/salvo-bench" "$dir/"$'b\xff"\\\xc3\xa9'
"$dir/"$'b\xff"\\\xc3\xa9' --device soft --rounds 100000 --dispatches 1000 >/dev/null 2>&1 &
bench=$!
for _ in $(seq 50); do
	"$bin/salvo-top" --json -n 1 -d 0.05 >"$dir/top" 2>&1
	grep -q "\"pid\":$bench," "$dir/top" && break
done
kill "$bench"
python_check "salvo-top: a command's name that is not UTF-8" "$dir/top" <<END
entry, = [e for e in got["entries"] if e["pid"] == $bench]
assert entry["command"] == 'b\ufffd"\\\\\u00e9', ascii(entry["command"])
END
wait "$bench" 2>/dev/null
bench=

# The registers of a GPU of a virtual machine, in which one ring is for high priority. A process that has
# the memory and threads of units is all that salvo-top goes by.
cat >"$dir/gpu.py" <<'END'
import os, struct, sys, threading
def unit():
    open("/proc/self/task/%d/comm" % threading.get_native_id(), "w").write("salvo-eu")
    ready.set()
    end.wait()
regs = bytearray(8192)
struct.pack_into("<IIIIIII", regs, 0, 0x4f564c53, 0x10000, 1, 1, 1, 1, 2)
struct.pack_into("<Q", regs, 512 + 24, 300)
struct.pack_into("<Q", regs, 512 + 64 + 24, 40)
os.write(os.memfd_create("salvo-bar2"), regs)
ready, end = threading.Event(), threading.Event()
thread = threading.Thread(target=unit)
thread.start()
ready.wait()
print("ready", flush=True)
sys.stdin.read()
end.set()
END
if [ -n "$python" ]; then
	mkfifo "$dir/gpu.hold"
	"$python" "$dir/gpu.py" <"$dir/gpu.hold" >"$dir/ready" &
	gpu=$!
	exec 9>"$dir/gpu.hold"
	for _ in $(seq 100); do
		[ -s "$dir/ready" ] && break
		sleep 0.05
	done
	"$bin/salvo-top" --json -n 1 -d 0.01 >"$dir/top" 2>&1
	exec 9>&-
	wait "$gpu"
	python_check "salvo-top: packets of all rings" "$dir/top" <<END
entry, = [e for e in got["entries"] if e["pid"] == $gpu]
assert entry["kind"] == "gpu" and entry["packets"] == 340, entry
END
	rm "$dir/ready"
else
	skip "salvo-top: packets of all rings" "no python3"
fi

# Another process may write anything into a memfd of that name.
problem=
cat >"$dir/liar.py" <<'END'
import os, sys
bad = os.memfd_create("salvo-soft")
os.write(bad, b"SALVO")
worse = os.memfd_create("salvo-bar2")
os.write(worse, os.urandom(8192))
print("ready", flush=True)
sys.stdin.read()
END
if [ -n "$python" ]; then
	mkfifo "$dir/hold"
	"$python" "$dir/liar.py" <"$dir/hold" >"$dir/ready" &
	liar=$!
	exec 9>"$dir/hold"
	for _ in $(seq 100); do
		[ -s "$dir/ready" ] && break
		sleep 0.05
	done
	"$bin/salvo-top" --json -n 1 -d 0.01 >"$dir/out" 2>&1 || problem="exit code $?"
	grep -q "\"pid\":$liar," "$dir/out" && problem="$problem believed it: $(cat "$dir/out")"
	exec 9>&-
	wait "$liar"
	check "salvo-top believes nothing that is no GPU" "$problem"
else
	skip "salvo-top believes nothing that is no GPU" "no python3"
fi

finish
