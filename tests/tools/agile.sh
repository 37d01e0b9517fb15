#!/bin/bash
# SPDX-License-Identifier: MIT
# agile.sh - salvo-agile: plans as text, JSON and SVG, and messages for wrong descriptions
set -u
. tests/common/tap.sh

tool=build/bin/salvo-agile
example=tools/examples/transpose-add.json
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

$tool --json $example >"$dir/plan.json"
check "A8_the_published_example_as_json: queues of 12, 8, 8 and 8, and 64 MiB in 16 blocks" "$(
	python3 - "$dir/plan.json" <<'END' 2>&1
import json, sys
plan = json.load(open(sys.argv[1]))
queued = [node["queued"] for node in plan["nodes"]]
if queued != [12, 8, 8, 8]:
    print("queues", queued)
if len(plan["moves"]) != 16 or sum(m["bytes"] for m in plan["moves"]) != 64 << 20:
    print("moves", plan["moves"])
for number, node in enumerate(plan["nodes"]):
    if sum(m["bytes"] for m in plan["moves"] if m["to"] == number) != node["moved_bytes"]:
        print("node", number, "does not get what the schedule says")
if {m["field"] for m in plan["moves"]} != {"B"}:
    print("other fields move")
END
)"
check "text" "$($tool $example | grep -q 'B: .*transposed: 16 moves of memory blocks, 67108864 bytes' ||
	$tool $example)"

# Irregular segments, halos and ranks: what is found block by block is what the library moves.
cat >"$dir/irregular.json" <<'END'
{ "nodes": 3, "grid": [12, 10], "name": "a<b>&\"c\u00e9\"", "element_bytes": 8,
  "map": { "segments": [ { "offset": [0, 0], "extent": [5, 10], "node": 0 },
			 { "offset": [5, 0], "extent": [7, 3], "node": 1 },
			 { "offset": [5, 3], "extent": [4, 7], "node": 2 },
			 { "offset": [9, 3], "extent": [3, 7], "node": 0 } ] },
  "memory_block": [2, 4], "task_block": [1, 2],
  "statement": { "operands": [ { "region": "halo", "halo": 2 }, { "region": "all" },
	{ "map": { "kind": "cyclic", "by": "columns" }, "memory_block": [0, 0], "region": "same" },
	{ "map": { "splits": [[3, 4, 11], [9]] }, "memory_block": [3, 3] } ] } }
END
sed 's/"grid": \[12, 10\]/"grid": [3, 4, 12, 10]/' >"$dir/rank4.json" <<'END'
{ "nodes": 5, "grid": [12, 10], "map": { "kind": "block-block", "weights": [1, 2, 3, 4, 5] },
  "memory_block": [1, 3, 2, 4], "statement": { "speeds": [1, 2, 3, 4, 5],
  "operands": [ { "region": "transposed" }, { "region": "halo" } ] } }
END
echo '{ "nodes": 2, "grid": [9], "map": { "kind": "block" } }' >"$dir/rank1.json"
for plan in irregular rank1; do
	check "$plan: what moves to each node is what the schedule says" "$(
		$tool --json "$dir/$plan.json" >"$dir/out.json" 2>"$dir/err" || cat "$dir/err"
		python3 - "$dir/out.json" <<'END' 2>&1
import json, sys
plan = json.load(open(sys.argv[1]))
for number, node in enumerate(plan["nodes"]):
    moved = sum(m["bytes"] for m in plan["moves"] if m["to"] == number)
    if moved != node["moved_bytes"]:
        print("node", number, "gets", moved, "must be", node["moved_bytes"])
END
	)"
done
sed -i 's/"transposed"/"same"/' "$dir/rank4.json"
for plan in $example "$dir/irregular.json" "$dir/rank4.json" "$dir/rank1.json"; do
	check "${plan##*/}: the picture is SVG with a rectangle for each segment" "$(
		$tool --svg --output "$dir/map.svg" "$plan" 2>&1
		$tool --json "$plan" >"$dir/out.json"
		python3 - "$dir/map.svg" "$dir/out.json" <<'END' 2>&1
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
plan = json.load(open(sys.argv[2]))
if not root.tag.endswith("svg"):
    print("root is", root.tag)
titles = [t.text for t in root.iter() if t.tag.endswith("title")]
for field in plan["fields"]:
    first = [s for s in field["segments"] if s["offset"][:-2] == field["segments"][0]["offset"][:-2]]
    for number, segment in enumerate(field["segments"]):
        if segment in first and f"segment {number}, node {segment['node']}" not in titles:
            print("no segment", number)
for e in root.iter():
    if e.tag.endswith("rect") and "x" in e.attrib and not (
            0 <= float(e.attrib["x"]) <= float(root.attrib["width"]) and
            0 <= float(e.attrib["y"]) + float(e.attrib["height"]) <= float(root.attrib["height"])):
        print("outside of the picture", e.attrib)
END
	)"
done

# wrong DESCRIPTION MESSAGE
wrong() {
	local status
	printf '%s' "$1" | $tool - >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq 2 ] && grep -qF -- "$2" "$dir/err" || echo "$1: status $status, $(cat "$dir/err")"
}
check "messages name member and limit" "$(
	wrong '{' 'standard input: JSON: line 1 is not valid'
	wrong '[]' 'must be an object'
	wrong '{ "nodes": 0 }' 'nodes: 0, must be a whole number from 1 to 4096'
	wrong '{ "nodes": 5000 }' 'nodes: 5000, must be a whole number from 1 to 4096'
	wrong '{ "nodes": 1.5 }' 'nodes: 1.5, must be'
	wrong '{ "nodes": 1e300 }' 'nodes: 1e+300, must be'
	wrong '{ "nods": 1 }' 'no member is called "nods"'
	wrong '{ "grid": [1] }' 'nodes: is missing'
	wrong '{ "nodes": 1, "grid": [] }' 'grid: must be an array of 1 to 4 numbers'
	wrong '{ "nodes": 1, "grid": [4, 0] }' 'grid[1]: 0, must be a whole number from 1 to 4294967295'
	wrong '{ "nodes": 1, "grid": [4] }' 'map: is missing'
	wrong '{ "nodes": 1, "grid": [4], "map": 3 }' 'map: must be an object'
	wrong '{ "nodes": 1, "grid": [4], "map": { "kind": "blok" } }' 'map.kind: "blok", must be block, cyclic'
	wrong '{ "nodes": 1, "grid": [4], "map": { "kind": "block", "by": "x" } }' 'map.by: "x", must be rows or columns'
	wrong '{ "nodes": 2, "grid": [4], "map": { "kind": "block", "weights": [1] } }' 'map.weights: must be an array of 2 numbers'
	wrong '{ "nodes": 1, "grid": [4, 4], "map": { "splits": [[1]] } }' 'map.splits: must be an array of 2 arrays'
	wrong '{ "nodes": 1, "grid": [4], "map": { "splits": [[9]] } }' 'map: map C: '
	wrong '{ "nodes": 1, "grid": [4], "map": { "segments": [ { "offset": [0], "extent": [3] } ] } }' 'map C: '
	wrong '{ "nodes": 1, "grid": [4], "map": { "segments": [ { "offset": [0], "extent": [4], "node": 1 } ] } }' 'map.segments[0].node: 1, must be a whole number from 0 to 0'
	wrong '{ "nodes": 1, "grid": [4], "map": { "segments": [ { "extent": [4] } ] } }' 'map.segments[0].offset: is missing'
	wrong '{ "nodes": 1, "grid": [4], "map": { "kind": "block" }, "element_bytes": 0 }' 'element_bytes: 0, must be'
	wrong '{ "nodes": 1, "grid": [4], "map": { "kind": "block" }, "statement": { "operands": [ { "region": "x" } ] } }' 'statement.operands[0].region: "x", must be same'
	wrong '{ "nodes": 2, "grid": [4], "map": { "kind": "block" }, "statement": { "speeds": [1, 0] } }' 'statement.speeds[1]: must be'
	wrong '{ "nodes": 1, "grid": [4294967295, 4294967295], "map": { "kind": "block" }, "memory_block": [1, 1] }' 'memory blocks'
)"
$tool /nowhere 2>"$dir/err"
check "a file that is not there" "$(
	[ $? -eq 2 ] || echo "another exit code"
	grep -q '/nowhere: No such file' "$dir/err" || cat "$dir/err")"
check "with --json an error is JSON" "$(echo '{' | $tool --json - 2>/dev/null |
	python3 -c 'import json, sys; json.load(sys.stdin)["error"]["message"]' 2>&1)"
check "too much to draw is an error" "$(
	echo '{ "nodes": 1, "grid": [100000], "map": { "kind": "cyclic" } }' |
		$tool --svg - >"$dir/out" 2>"$dir/err"
	[ $? -eq 1 ] || echo "another exit code"
	[ ! -s "$dir/out" ] || echo "it wrote something"
	grep -q '100000 memory blocks, at most 4096 can be drawn' "$dir/err" || cat "$dir/err")"

# Each beginning of a description, and each with one byte changed, is right or refused.
check "damaged descriptions are refused" "$(
	python3 - $tool "$dir/irregular.json" <<'END' 2>&1
import subprocess, sys
text = open(sys.argv[2], "rb").read()
tries = [text[:n] for n in range(0, len(text), 23)]
tries += [text[:n] + b"7" + text[n + 1:] for n in range(0, len(text), 17)]
tries += [text[:n] + b"\x00" + text[n + 1:] for n in range(0, len(text), 41)]
for damaged in tries:
    code = subprocess.run([sys.argv[1], "--svg", "-"], input=damaged, capture_output=True,
                          timeout=60).returncode
    if code not in (0, 1, 2):
        print("exit code", code, damaged)
END
)"

finish
