#!/bin/bash
# SPDX-License-Identifier: MIT
# consistent.sh - each tool has --help, --version, a manual page and completion, and they agree
set -u
. tests/common/tap.sh
. tools/completion/salvo.bash

bin=build/bin
version=$(sed -n 's/^VERSION *:= *//p' Makefile)

# options TOOL - the options in its --help
options() {
	"$bin/$1" --help | grep -oE '^ +(-[a-zA-Z], +)?--[a-z-]+|^ +-[a-zA-Z]\b|, --[a-z-]+' |
		tr -d ' ' | tr ',' '\n' | grep . | sort -u
}

for tool in agile info top bench submit faces gpu; do
	tool=salvo-$tool
	problem=$("$bin/$tool" --help 2>&1 >/dev/null) || problem="exit code $? $problem"
	"$bin/$tool" --help | grep -q "^usage: $tool " || problem="$problem no usage;"
	"$bin/$tool" --help | grep -qi "exit code" || problem="$problem no exit codes;"
	[ "$("$bin/$tool" --version)" = "$tool (Salvo) $version" ] ||
		problem="$problem --version: $("$bin/$tool" --version);"
	"$bin/$tool" --nonsense >/dev/null 2>&1
	[ $? -eq 2 ] || problem="$problem an unknown option is no wrong usage;"
	"$bin/$tool" --help >/dev/full 2>/dev/null && problem="$problem a full disk goes unnoticed;"
	check "$tool: --help, --version, exit codes" "$problem"

	problem=
	page=$(ls libuser/man/"$tool".1 tools/*/"$tool".1 2>/dev/null)
	if [ -z "$page" ]; then
		problem="no manual page"
	else
		text=$(sed 's,[\]f[BIPR],,g; s,[\],,g' "$page")
		for option in $(options "$tool"); do
			grep -qFe "$option" <<<"$text" || problem="$problem $page lacks $option;"
		done
		grep -q '^\.SH EXIT STATUS' "$page" || problem="$problem no exit status;"
	fi
	check "$tool: the manual page knows every option" "$problem"

	problem=
	COMP_WORDS=()
	_salvo_complete "$bin/$tool" -- "$tool"
	for option in $(options "$tool" | grep '^--'); do
		[[ " ${COMPREPLY[*]} " == *" $option "* ]] || problem="$problem no $option;"
	done
	complete -p "$tool" >/dev/null 2>&1 || problem="$problem not completed at all;"
	check "$tool: completion offers every option" "$problem"
done

problem=
_salvo_complete "$bin/salvo-info" so --device
[ "${COMPREPLY[*]}" = soft ] || problem="--device so: ${COMPREPLY[*]}"
_salvo_complete "$bin/salvo-info" "" --device
[ "${COMPREPLY[*]}" = "soft$(compgen -G '/dev/dri/renderD*' | sed 's/^/ /' | tr -d '\n')" ] ||
	problem="$problem --device: ${COMPREPLY[*]}"
_salvo_complete "$bin/salvo-cc" "" --march
[ "${COMPREPLY[*]}" = "x86-64-v2 x86-64-v3 x86-64-v4 x86-64-v4+popcnt all" ] || problem="$problem --march: ${COMPREPLY[*]}"
_salvo_complete "$bin/salvo-submit" tools/exam --dump
[ "${COMPREPLY[*]}" = tools/examples ] || problem="$problem --dump: ${COMPREPLY[*]}"
_salvo_complete "$bin/salvo-submit" tools/examples/pipeline.b tools
[ "${COMPREPLY[*]}" = tools/examples/pipeline.batch ] || problem="$problem a file: ${COMPREPLY[*]}"
check "completion of devices and files" "$problem"

# The manual page lists what gst-inspect-1.0 shows, if the plugin was built, and the message's fields.
problem=
page=$(sed 's,[\]f[BIPR],,g; s,[\],,g' tools/gst/salvo-gst.7 2>&1)
for property in $(sed -n 's/.*\(g_param_spec\|install_string\).*"\([a-z-]*\)", .*/\2/p' tools/gst/*.c) \
	$(sed -n 's/.*"\([a-z-]*\)", G_TYPE_.*/\1/p' tools/gst/faces.c); do
	grep -qE "^\.BR? (.*\" )?$property\b" <<<"$page" || problem="$problem no $property;"
done
for element in salvofaces salvobatch; do
	grep -q "$element" <<<"$page" || problem="$problem no $element;"
done
check "salvo-gst(7) knows the elements, their properties and the message" "$problem"

if command -v man >/dev/null; then
	problem=$(for page in libuser/man/*.[137] tools/*/*.[17]; do
		LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 \
			>/dev/null | sed "s,^,$page: ,"
	done)
	check "manual pages are set without a warning" "$problem"
else
	skip "manual pages are set without a warning" "no man"
fi

finish
