#!/bin/bash
# SPDX-License-Identifier: MIT
# submit.sh - the command line of salvo-submit: examples, output, errors, exit codes
set -u
. tests/common/tap.sh

submit=build/bin/salvo-submit
device=${SALVO_DEVICE:-soft}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# run EXPECTED-CODE ARGUMENT... - sets problem; output in $dir/out and $dir/err
run() {
	local expected=$1 code
	shift
	problem=
	"$submit" --device "$device" "$@" >"$dir/out" 2>"$dir/err"
	code=$?
	if [ "$code" -ne "$expected" ]; then
		problem="exit code $code, expected $expected: $* $(cat "$dir/out" "$dir/err")"
	fi
}

# has FILE PATTERN... - checks that each pattern is in the file
has() {
	local file=$1 pattern
	shift
	for pattern; do
		grep -qE -- "$pattern" "$dir/$file" ||
			problem="$problem; $file lacks '$pattern': $(cat "$dir/$file")"
	done
}

for example in independent pipeline shrink transfer; do
	run 0 "tools/examples/$example.batch"
	has out 'of . expectations met' ' 1 packets, 1 doorbells, 1 interrupts, 1 completions'
	check "example $example runs as one packet" "$problem"
done

run 0 tools/examples/independent.batch
has out '^turned\[0\] u32: 100 106 112 118$' '^6 of 6 expectations met$' '^4 commands: '
check "results are printed" "$problem"

run 0 --stats tools/examples/pipeline.batch
has out '^index command' '^ *0 row_sums +a_rows ' '^ *9 pipe_control'
check "--stats tells when each command ran" "$problem"

run 0 --json --stats tools/examples/transfer.batch
python=$(command -v python3)
if [ -n "$python" ]; then
	"$python" - "$dir/out" >"$dir/py" 2>&1 <<'END' || problem="$problem $(cat "$dir/py")"
import json, sys
got = json.load(open(sys.argv[1]))
assert got["expectations"] == {"met": 5, "failed": 0}, got
assert got["results"] == [{"buffer": "sum", "offset": 0, "type": "u32",
                           "values": [1063, 1062, 1061, 1060]}], got
assert got["stats"]["commands"] == len(got["profile"]) == 11, got
assert got["stats"]["packets"] == got["stats"]["interrupts"] == 1, got
END
	check "--json is JSON" "$problem"
else
	skip "--json is JSON" "no python3"
fi

run 0 --list tools/examples/transfer.batch
cp "$dir/out" "$dir/listed.batch"
has out '^adding: dispatch k.add items 1024 args copied constant sum$' '^barrier$'
check "--list writes the file as it was understood" "$problem"
run 0 --kernels build/kernels "$dir/listed.batch"
check "what --list writes runs" "$problem"
run 0 - <"$dir/listed.batch"
check "a batch from standard input" "$problem"

run 0 --check tools/examples/pipeline.batch
[ ! -s "$dir/out" ] || problem="$problem printed something"
check "--check submits nothing" "$problem"

sed 's/u32 1063$/u32 1063 7/' tools/examples/transfer.batch >"$dir/wrong.batch"
run 1 "$dir/wrong.batch"
has err 'wrong.batch:[0-9]+: 1 of 2 values differ: sum\[4\] is 1062, expected 7'
has out '^4 of 5 expectations met$'
check "an expectation that is not met" "$problem"

printf 'program k "lib.salvo"\ndispatch k.wild items 1 args null\n' >"$dir/wild.batch"
run 1 --kernels build/kernels "$dir/wild.batch"
has err 'the batch failed: Operation canceled' \
	'0 of 1 commands were done; command 0, kernel wild, work-group 0,0,0.*: access to memory outside.* \(write to 0x0\)'
check "a batch that faults" "$problem"
run 1 --json --kernels build/kernels "$dir/wild.batch"
has out '^\{"error":\{"message":"Operation canceled","kind":"access to memory.*","done":0,"count":1,"command":0,"kernel":"wild","group":\[0,0,0\],"item":\[0,0,0\],"address":0\}\}$'
check "--json of a batch that faults" "$problem"

printf 'buffer a 4\nbuffer b 4\ncopy a c 4\n' >"$dir/bad.batch"
run 2 "$dir/bad.batch"
has err 'bad.batch:3:8: there is no buffer c above'
check "an error of the file says line and column" "$problem"

printf 'buffer a 16\r\nbuffer b 16\r\n# copied\r\ncopy a \\\r\n\tb \\\r\n\t16\r\n' >"$dir/dos.batch"
run 0 "$dir/dos.batch"
check "lines that end in CR and LF, continued too" "$problem"

printf 'program k "nothing.salvo"\nbarrier\n' >"$dir/bad.batch"
run 2 "$dir/bad.batch"
has err 'bad.batch:1: program k: nothing.salvo: No such file'
check "a program that is not there" "$problem"

printf '# nothing\n' >"$dir/bad.batch"
run 2 "$dir/bad.batch"
has err 'no commands'
check "a file without commands" "$problem"

run 2 /nowhere.batch
has err '/nowhere.batch: No such file'
check "a file that is not there" "$problem"
run 2
has err '^usage:'
check "no file" "$problem"
run 2 --nonsense x
check "an unknown option" "$problem"
run 2 --timeout soon x
check "a time-out that is no number" "$problem"
run 1 --device /nowhere tools/examples/pipeline.batch
has err '/nowhere: No such file'
check "a device that is not there" "$problem"

mkfifo "$dir/fifo"
problem=
for line in 'buffer a 16 file "fifo"' 'program k "fifo"' 'expect b[0] = file "fifo"'; do
	printf 'buffer b 16\n%s\nfill b 16 1\n' "$line" >"$dir/bad.batch"
	timeout 20 "$submit" --device soft "$dir/bad.batch" >"$dir/out" 2>"$dir/err"
	code=$?
	[ $code -eq 2 ] || problem="$problem; exit code $code: $line"
	grep -q 'bad.batch:2: .*fifo: ' "$dir/err" || problem="$problem; $(cat "$dir/err")"
done
check "a FIFO in the place of a file is refused" "$problem"

cat >"$dir/file.batch" <<'END'
buffer a 16 data u8 1 2 3 4 5 6 7 8
buffer b 16
copy b[8] a 8
expect b[8] = file "wanted"
END
printf '\1\2\3\4\5\6\7\10' >"$dir/wanted"
run 0 "$dir/file.batch"
has out '^1 of 1 expectations met$'
printf '\1\2\3\4\7\6\7' >"$dir/wanted"
run 1 "$dir/file.batch"
has err '1 of 7 values differ: b\[12\] is 5, expected 7'
printf '123456789' >"$dir/wanted"
run 2 "$dir/file.batch"
has err 'file.batch:4: wanted: does not fit'
check "an expectation that is a file" "$problem"

problem=
"$submit" --help >"$dir/out" 2>"$dir/err" || problem="exit code $?"
has out '^usage: salvo-submit' '--kernels' 'Exit code'
check "--help" "$problem"

problem=
"$submit" --device soft --list tools/examples/transfer.batch >/dev/full 2>"$dir/err" &&
	problem="exit code 0"
check "a full disk is an error" "$problem"

finish
