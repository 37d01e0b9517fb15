#!/bin/bash
# SPDX-License-Identifier: MIT
# pictures.sh - salvo-submit --trace, --timeline, --explain, --leaves and --dump
set -u
. tests/common/tap.sh

submit=build/bin/salvo-submit
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python=$(command -v python3)

# python_check NAME - the Python on standard input reports no error
python_check() {
	if [ -n "$python" ]; then
		check "$1" "$problem$("$python" - "$dir" 2>&1)"
	else
		skip "$1" "no python3"
	fi
}

problem=$("$submit" --device soft --trace "$dir/trace" --timeline "$dir/svg" \
	tools/examples/pipeline.batch 2>&1 >/dev/null)
python_check "--trace: chains, arrows from producers to consumers, units" <<'END'
import json, sys
events = json.load(open(sys.argv[1] + "/trace"))["traceEvents"]
chains = [e for e in events if e["ph"] == "X" and e["pid"] == 2]
assert len(chains) == 6, chains
assert {e["tid"] for e in chains} == {0, 1}, chains
by_name = {e["name"]: e for e in chains}
assert by_name["a_rows"]["tid"] == by_name["a_columns"]["tid"] == by_name["a_blocks"]["tid"]
assert by_name["b_rows"]["tid"] == by_name["b_blocks"]["tid"] != by_name["a_rows"]["tid"]
for first, then in ("a_rows", "a_columns"), ("a_columns", "a_blocks"), ("b_rows", "b_columns"):
    end = by_name[first]["ts"] + by_name[first]["dur"]
    assert end <= by_name[then]["ts"] + 0.002, (first, then)
starts = {e["id"]: e for e in events if e["ph"] == "s"}
ends = {e["id"]: e for e in events if e["ph"] == "f"}
assert len(starts) == len(ends) == 4 and starts.keys() == ends.keys(), events
assert all(starts[i]["ts"] <= ends[i]["ts"] for i in starts), events
units = [e for e in events if e["ph"] == "X" and e["pid"] == 1]
groups = {}
for e in units:
    groups[e["name"]] = groups.get(e["name"], 0) + e["args"]["work_groups"]
assert set(groups) == set(by_name), groups
for unit in {e["tid"] for e in units}:
    mine = sorted((e["ts"], e["dur"]) for e in units if e["tid"] == unit)
    assert all(a[0] + a[1] <= b[0] + 0.003 for a, b in zip(mine, mine[1:])), mine
END
python_check "--timeline: an SVG with units, chains and arrows" <<'END'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1] + "/svg").getroot()
assert root.tag == "{http://www.w3.org/2000/svg}svg"
text = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
assert "unit 0" in text and "chain 0" in text and "chain 1" in text and "chain 2" not in text
edges = [e for e in root.iter("{http://www.w3.org/2000/svg}line") if e.get("class") == "edge"]
assert len(edges) == 4, edges
for e in edges:
    assert float(e.get("x1")) <= float(e.get("x2")) + 0.01, e.attrib
width = float(root.get("width"))
for e in root.iter("{http://www.w3.org/2000/svg}rect"):
    if e.get("x"):
        assert 0 <= float(e.get("x")) and float(e.get("x")) + float(e.get("width")) <= width
END

# A file name may contain any bytes, in no known encoding.
odd=$dir/$'a\xffb<\x01\xed\xa0\x80\xc3\xa9]]>\xef\xbf\xbf.batch'
cp tools/examples/transfer.batch "$odd"
problem=$("$submit" --device soft --kernels build/kernels --trace "$dir/trace" --timeline "$dir/svg" \
	"$odd" 2>&1 >/dev/null)
python_check "a file name that is not UTF-8 makes valid JSON and SVG" <<'END'
import json, sys, xml.etree.ElementTree as tree
title = json.load(open(sys.argv[1] + "/trace", encoding="utf-8"))["otherData"]["batch"]
assert title.endswith("/a\ufffdb<\x01\ufffd\ufffd\ufffd\u00e9]]>\uffff.batch"), ascii(title)
text = [e.text for e in tree.parse(sys.argv[1] + "/svg").getroot().iter("{http://www.w3.org/2000/svg}text")]
assert text[0].endswith("/a\ufffdb<\ufffd\ufffd\ufffd\ufffd\u00e9]]>\ufffd.batch"), ascii(text[0])
END

# Its tests run in processes of their own, some with pools whose leaves fail.
problem=$("$submit" --leaves --json --stats --trace "$dir/trace" --timeline "$dir/svg" \
	build/tests/steal/leaf 2>"$dir/errors" >"$dir/leaves") || problem=$(tail -n 3 "$dir/errors")
python_check "--leaves: when each leaf ran, on which units of which worker" <<'END'
import json, sys, xml.etree.ElementTree as tree
leaves = json.load(open(sys.argv[1] + "/leaves"))
profile = leaves["profile"]
assert leaves["lost"] == 0 and len(profile) == leaves["leaves"] > 100, leaves["leaves"]
assert {"add", "store"} <= {e["kernel"] for e in profile}, leaves["kernels"]
assert sum(k["leaves"] for k in leaves["kernels"]) == len(profile)
assert 0 < sum(k["failed"] for k in leaves["kernels"]) == sum(e["failed"] for e in profile)
busy = {}
for e in profile:
    assert 0 <= e["ready_us"] <= e["started_us"] < e["ended_us"], e
    assert e["units"] and not e["units"] >> 4 and e["worker"] < 8 and e["pool"] == "pool", e
    busy.setdefault((e["pid"], e["worker"], e["units"]), []).append((e["ready_us"], e["ended_us"]))
for times in busy.values():
    times.sort()
    assert all(a[1] <= b[0] + 0.002 for a, b in zip(times, times[1:])), times
events = json.load(open(sys.argv[1] + "/trace"))["traceEvents"]
slices = [e for e in events if e["ph"] == "X"]
assert sum(e["pid"] == 2 for e in slices) == len(profile)
assert sum(e["pid"] == 1 for e in slices) == sum(bin(e["units"]).count("1") for e in profile)
assert "pool 0" in {e["args"]["name"] for e in events if e["ph"] == "M"}
text = [e.text for e in tree.parse(sys.argv[1] + "/svg").getroot().iter("{http://www.w3.org/2000/svg}text")]
assert "unit 3" in text and "pool 0" in text and "chain 0" not in text, text[:20]
END

problem=
"$submit" --leaves --json build/bin/salvo-submit --version 2>/dev/null >"$dir/leaves" &&
	[ "$(cat "$dir/leaves")" = '{"leaves":0,"lost":0,"kernels":[]}' ] || problem=$(cat "$dir/leaves")
check "--leaves: a command without pools" "$problem"
problem=
"$submit" --leaves sh -c 'exit 3' >/dev/null 2>"$dir/errors"
[ $? = 1 ] && grep -q "sh: exit code 3" "$dir/errors" || problem=$(cat "$dir/errors")
python3 - "$submit" >/dev/null 2>"$dir/errors" <<'END'
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], [sys.argv[1], "--leaves", "sh", "-c", "exit 3"])
END
[ $? = 1 ] || problem="a parent that ignores SIGCHLD: $(cat "$dir/errors")"
"$submit" --leaves sh -c 'kill -9 $$' >/dev/null 2>"$dir/errors"
[ $? = 1 ] && grep -q "sh: ended by signal 9" "$dir/errors" || problem=$(cat "$dir/errors")
"$submit" --leaves "$dir/missing" >/dev/null 2>"$dir/errors"
[ $? = 2 ] && grep -q "No such file" "$dir/errors" || problem=$(cat "$dir/errors")
"$submit" --leaves "$dir" >/dev/null 2>"$dir/errors"
[ $? = 2 ] && grep -q "Permission denied" "$dir/errors" || problem=$(cat "$dir/errors")
# A command that a shell did not find has run, and may have leaves.
"$submit" --leaves sh -c 'exit 127' >"$dir/out" 2>"$dir/errors"
[ $? = 1 ] && grep -q "sh: exit code 127" "$dir/errors" && grep -q "^0 leaves of 0 workers" "$dir/out" ||
	problem=$(cat "$dir/errors")
"$submit" --leaves --explain true >/dev/null 2>"$dir/errors"
[ $? = 2 ] && grep -q -- "--leaves and --explain do not go together" "$dir/errors" || problem=$(cat "$dir/errors")
check "--leaves: commands that fail, and options that do not go with it" "$problem"

# It leaves a process behind that goes on truncating the file with the records.
cat >"$dir/behind.py" <<'END'
import os, struct, time
file = os.open(os.environ["SALVO_LEAVES"], os.O_RDWR)
size = os.fstat(file).st_size
if os.fork():
    time.sleep(0.1)
    os._exit(0)
end = time.monotonic() + 1
while time.monotonic() < end:
    os.ftruncate(file, 64)
    os.ftruncate(file, size)
    os.pwrite(file, struct.pack("<Q", 1 << 18), 16)
END
problem=
for _ in 1 2 3 4 5 6; do
	"$submit" --leaves python3 "$dir/behind.py" >/dev/null 2>"$dir/errors"
	code=$?
	[ $code -le 1 ] || problem="exit code $code: $(cat "$dir/errors")"
done
check "--leaves: a process that stays behind and spoils the records" "$problem"

# As many records as there is room for, each of a process and a kernel of its own. To compare each
# with all others would take minutes of CPU time.
cat >"$dir/forged.py" <<'END'
import os, struct
file = os.open(os.environ["SALVO_LEAVES"], os.O_RDWR)
count = 1 << 18
os.pwrite(file, b"".join(
    struct.pack("<6Q3Ii32s44sI", i + 1, i + 5, i + 1, i + 5, 10**9, 1, 0, i % 64, i, 0,
                b"forged", b"k%d" % i, 1) for i in range(count)), 64)
os.pwrite(file, struct.pack("<Q", count), 16)
END
problem=
(ulimit -t 40 && "$submit" --leaves --trace "$dir/trace" --timeline "$dir/svg" \
	python3 "$dir/forged.py" >"$dir/out" 2>"$dir/errors") || problem="exit code $?"
grep -q '^262144 leaves of 262144 workers' "$dir/out" || problem="$problem $(head -3 "$dir/out")"
rm -f "$dir/trace" "$dir/svg"
check "--leaves: forged records are not compared with each other" "$problem"

problem=$("$submit" --device soft --timeline "$dir/barriers" tools/examples/transfer.batch 2>&1 >/dev/null)
[ "$(grep -c 'class="barrier"' "$dir/barriers")" = 4 ] || problem="$problem not 4 barriers"
check "--timeline: barriers" "$problem"
problem=
"$submit" --device soft --trace /nowhere/x tools/examples/transfer.batch >/dev/null 2>"$dir/err"
[ $? -eq 1 ] && grep -q '^salvo-submit: /nowhere/x: No such file' "$dir/err" || problem=$(cat "$dir/err")
check "a picture that cannot be written" "$problem"

sed '/^pipe_control/d' tools/examples/pipeline.batch >"$dir/lacking.batch"
(cat "$dir/lacking.batch" && echo hazards) >"$dir/found.batch"
problem=$("$submit" --device soft --kernels build/kernels "$dir/found.batch" 2>&1 >/dev/null)
check "B4_pipe_controls_found_by_the_library_give_the_results_of_those_written_by_hand" "$problem"
problem=
"$submit" --device soft --explain tools/examples/pipeline.batch >"$dir/out" 2>&1
grep -qx '0 pipe controls lacking' "$dir/out" || problem=$(cat "$dir/out")
"$submit" --device soft --kernels build/kernels --explain "$dir/lacking.batch" >"$dir/out" 2>&1
grep -q '^4 pipe controls lacking' "$dir/out" || problem="$problem $(cat "$dir/out")"
"$submit" --device soft --kernels build/kernels --explain "$dir/found.batch" >"$dir/out" 2>&1
for line in '^a_columns .column_sums. waits for a_rows .row_sums.:$' '^4 pipe controls added' \
	'^    its argument 0 reads what argument 1 there writes: sums_a, bytes 0 to 16383$'; do
	grep -q "$line" "$dir/out" || problem="$problem no '$line'"
done
check "B4_explain_names_the_arguments" "${problem:+$problem $(cat "$dir/out")}"
problem=$("$submit" --device soft --kernels build/kernels --explain --json "$dir/found.batch" \
	2>&1 >"$dir/json")
python_check "--explain --json" <<'END'
import json, sys
got = json.load(open(sys.argv[1] + "/json"))
assert got["pipe_controls"] == 4, got
pairs = {(h["consumer"], h["producer"]) for h in got["hazards"]}
assert pairs == {(2, 0), (3, 1), (4, 2), (5, 3)}, got
END

# Ranges of a buffer that do not overlap are independent.
cat >"$dir/halves.batch" <<'END'
hazards
program k "transfer.salvo"
buffer a 4K ramp u32 0 1
buffer both 8K
low:  dispatch k.add items 1024 args a a both[0:4096]
high: dispatch k.add items 1024 args a a both[4096:4096]
expect both = u32 0 2 4
expect both[4096] = u32 0 2 4
END
problem=
"$submit" --device soft --kernels build/kernels --explain "$dir/halves.batch" >"$dir/out" 2>&1
grep -q '^0 pipe controls' "$dir/out" || problem=$(cat "$dir/out")
sed 's/4096:4096/4092:4096/' "$dir/halves.batch" >"$dir/overlap.batch"
"$submit" --device soft --kernels build/kernels --explain "$dir/overlap.batch" >"$dir/out" 2>&1
grep -q 'both, bytes 4092 to 4095$' "$dir/out" || problem="$problem $(cat "$dir/out")"
check "B4_overlap_is_exact_to_the_byte" "$problem"

# Batches of an application are captured and run again.
problem=$("$submit" --dump "$dir/dump" build/bin/salvo-faces --device soft \
	tests/data/frame640.pgm 2>&1 >"$dir/faces")
grep -q '1 face$' "$dir/faces" || problem="$problem $(cat "$dir/faces")"
"$submit" --device soft "$dir/dump/0001.batch" >"$dir/out" 2>&1 || problem="$problem exit code $?"
grep -qE '^([0-9]+) of \1 expectations met$' "$dir/out" || problem="$problem no expectations met"
check "B7_dump_a_frame_of_33_workloads_runs_again_with_the_same_results" \
	"${problem:+$problem $(cat "$dir/out")}"
problem=
[ "$(grep -c 'dispatch' "$dir/dump/0001.batch")" = 33 ] || problem="not 33 dispatches"
[ "$(grep -c '^pipe_control' "$dir/dump/0001.batch")" = 22 ] || problem="$problem not 22 pipe controls"
"$submit" --list "$dir/dump/0001.batch" >"$dir/listed" || problem="$problem exit code $?"
cmp -s "$dir/listed" "$dir/dump/0001.batch" || problem="$problem $(diff "$dir/listed" "$dir/dump/0001.batch")"
check "B7_what_is_dumped_is_what_print_of_parse_gives" "$problem"

# Prints the kind of each command of the batch on standard input.
commands() {
	sed -nE 's/^([a-z_0-9]+: )?(dispatch|copy|fill|timestamp|pipe_control|barrier)\b.*/\2/p'
}

problem=
for example in independent pipeline shrink transfer; do
	"$submit" --dump "$dir/$example" "$submit" --device soft "tools/examples/$example.batch" \
		>"$dir/out" 2>&1 || problem="$problem $example: $(cat "$dir/out")"
	"$submit" --device soft "$dir/$example/0001.batch" >"$dir/out" 2>&1 ||
		problem="$problem $example again: $(cat "$dir/out")"
	# The captured batch has the same commands at the same indices.
	"$submit" --list "tools/examples/$example.batch" | commands >"$dir/written"
	commands <"$dir/$example/0001.batch" | diff "$dir/written" - >"$dir/out" ||
		problem="$problem $example: $(cat "$dir/out")"
done
check "examples dumped and run again, command by command" "$problem"

cat >"$dir/where.cl" <<'END'
kernel void where(global uint *out)
{
	out[get_global_id(0) - get_global_offset(0)] = 100 * get_global_id(1) + get_global_id(0);
}
END
problem=$(build/bin/salvo-cc --global-offset -o "$dir/where.salvo" "$dir/where.cl" 2>&1)
cat >"$dir/where.batch" <<'END'
program k "where.salvo"
buffer out 16
dispatch k.where items 4,1 offset 7,2 args out
expect out = u32 207..210
END
"$submit" --dump "$dir/where" "$submit" --device soft "$dir/where.batch" >"$dir/out" 2>&1 || problem="$problem $(cat "$dir/out")"
grep -q ' items 4,1 offset 7,2 group ' "$dir/where/0001.batch" || problem="$problem $(cat "$dir/where/0001.batch")"
"$submit" --device soft "$dir/where/0001.batch" >"$dir/out" 2>&1 || problem="$problem $(cat "$dir/out")"
check "a dump has the offset of global ids" "$problem"

problem=
"$submit" --dump /nowhere/else "$submit" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q '^salvo-submit: /nowhere/else: No such file' "$dir/out" || problem=$(cat "$dir/out")
SALVO_DUMP=/nowhere "$submit" --device soft tools/examples/transfer.batch >"$dir/out" 2>&1
grep -q '^libsalvo: SALVO_DUMP: /nowhere: No such file' "$dir/out" ||
	problem="$problem $(cat "$dir/out")"
"$submit" --dump /dev/null "$submit" >"$dir/out" 2>&1
[ $? -eq 1 ] && grep -q '^salvo-submit: /dev/null: Not a directory' "$dir/out" ||
	problem="$problem $(cat "$dir/out")"
"$submit" --dump "$dir" /nowhere >"$dir/out" 2>&1
[ $? -eq 2 ] && grep -q '^salvo-submit: /nowhere: No such file' "$dir/out" ||
	problem="$problem $(cat "$dir/out")"
"$submit" --dump "$dir" >"$dir/out" 2>&1
[ $? -eq 2 ] && grep -q '^usage:' "$dir/out" || problem="$problem $(cat "$dir/out")"
check "--dump: wrong folder, wrong command, no command" "$problem"

problem=
for wrong in "explain timeline=x" "explain trace=x" "explain stats" "check json" "check timeline=x" "list stats" \
	"check list" "explain check" "list json" "dump=$dir/never json" "dump=$dir/never trace=x" "dump=$dir/never device=soft"; do
	read -r one two <<<"$wrong"
	"$submit" "--$two" "--$one" tools/examples/pipeline.batch >"$dir/out" 2>&1
	[ $? -eq 2 ] && grep -q "^salvo-submit: --.* and --.* do not go together" "$dir/out" ||
		problem="$problem --$one --$two: $(cat "$dir/out")"
done
[ ! -e x ] && [ ! -e "$dir/never" ] || problem="$problem something was written"
"$submit" --device soft --kernels build/kernels --explain --json tools/examples/pipeline.batch >"$dir/out" 2>&1 ||
	problem="$problem $(cat "$dir/out")"
check "options that do not go together" "$problem"

finish
