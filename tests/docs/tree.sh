#!/bin/bash
# SPDX-License-Identifier: MIT
# Rules for the tree that a program can check: licence lines, sizes of files and lines, links, shell
# scripts.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/tap.sh

files=$(git ls-files 2>/dev/null)
if [ -z "$files" ]; then
	skip "rules for the tree" "not a git checkout"
	finish
fi
sources=$(grep -E '\.(c|h|S|cc|cl|sh|map|batch)$|Makefile$|Kbuild$|\.mk$|^tools/deps$|^tests/run$|^\.ci/run$' <<<"$files")
# shellcheck disable=SC2086 # a list of words
scripts=$(LC_ALL=C awk '/^#!.*(sh|bash)$/ { print FILENAME } { nextfile }' $files)

# shellcheck disable=SC2086 # lists of words
{
	check "every source has an SPDX line" "$(grep -L 'SPDX-License-Identifier:' $sources)"
	check "driver files are GPL-2.0-only, uapi has the syscall note, the rest is MIT" "$(
		awk '
			function want(file) {
				if (file ~ /^driver\/salvo_(pack|validate|hang)\./)
					return "GPL-2.0-only OR MIT"
				if (file ~ /^driver\/|^Kbuild$/)
					return "GPL-2.0-only"
				return file ~ /^uapi\// ? "GPL-2.0 WITH Linux-syscall-note OR MIT" : "MIT"
			}
			FNR > 3 { nextfile }
			sub(/.*SPDX-License-Identifier: /, "") {
				sub(/ \*\/$/, "")
				right[FILENAME] = $0 == want(FILENAME)
			}
			END {
				for (i = 1; i < ARGC; i++)
					if (!right[ARGV[i]])
						print ARGV[i] ": not " want(ARGV[i])
			}' $sources)"
	check "no file has more than 800 lines" "$(
		wc -l $sources | awk '$1 > 800 && $2 != "total" { print $2 ": " $1 " lines" }')"
	# What is quoted, a message for one, can be found when it stands in one line.
	# shellcheck disable=SC2016 # the dollars are awk's
	check "no line has more than 100 columns, but for what is quoted" "$(
		grep -E '\.(c|h|S|cc|cl)$' <<<"$sources" | xargs awk '{
			gsub(/"([^"\\]|\\.)*"/, "\"\"")
			n = split($0, part, "\t")
			columns = length(part[1])
			for (i = 2; i <= n; i++)
				columns = (int(columns / 8) + 1) * 8 + length(part[i])
			if (columns > 100)
				print FILENAME ":" FNR ": " columns " columns"
		}')"
	check "public headers compile as C++" "$(
		# shellcheck disable=SC2046
		for f in libuser/include/*.h uapi/drm/salvo_drm.h; do
			g++ -Wall -Werror -fsyntax-only -x c++ $(pkg-config --cflags libdrm) "$f" 2>&1
		done)"
	check "shellcheck has no remark" "$(shellcheck -x -P SCRIPTDIR:. $scripts 2>&1)"
	check "no version #ifdef outside salvo_compat.h" "$(
		grep -lE 'LINUX_VERSION_CODE|KERNEL_VERSION' driver/*.[ch] | grep -v salvo_compat.h)"
	check "no work notes in the tree" "$(grep -nwE 'TODO|FIXME|XXX' $sources | grep -v '^tests/docs/tree.sh')"
}
# shellcheck disable=SC2016 # the backquotes are Markdown's
check "tests/README.md has a line for each folder of tests/" "$(
	diff <(git ls-files 'tests/*/*' | cut -d/ -f2 | sort -u) \
		<(sed -n 's,^| `\([a-z]*\)/` |.*,\1,p' tests/README.md | sort))"
check "links and paths in the documentation lead somewhere" "$(
	for f in README.md CONTRIBUTING.md tests/README.md Documentation/*.md Documentation/*.rst; do
		dir=$(dirname "$f")
		grep -oE '\]\([^)#]+' "$f" | cut -c3- | while read -r link; do
			[ -e "$dir/$link" ] || [[ $link == http* ]] || echo "$f: $link"
		done
		# shellcheck disable=SC2016 # the backquotes are Markdown's
		grep -oE '`[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+`' "$f" | tr -d '`' | while read -r path; do
			case $path in
			build/* | /*) ;;
			*) compgen -G "$path*" >/dev/null || echo "$f: $path" ;;
			esac
		done
	done)"

finish
