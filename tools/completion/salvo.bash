# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# salvo.bash - bash completion for Salvo's tools
#
# Installed under the name of each tool. The options are those that the tool itself
# prints with --help, so they are never out of date.

_salvo_complete() {
	local tool=$1 word=$2 before=$3
	COMPREPLY=()
	case $before in
	--device)
		mapfile -t COMPREPLY < <(compgen -W "soft $(compgen -G '/dev/dri/renderD*')" -- "$word")
		;;
	--mode)
		mapfile -t COMPREPLY < <(compgen -W "batch single" -- "$word")
		;;
	--march)
		mapfile -t COMPREPLY < <(compgen -W "x86-64-v2 x86-64-v3 x86-64-v4 x86-64-v4+popcnt all" -- "$word")
		;;
	--target)
		mapfile -t COMPREPLY < <(compgen -W "x86_64 aarch64" -- "$word")
		;;
	--kernels | --dump | -I)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		;;
	esac
	[ ${#COMPREPLY[@]} -eq 0 ] || return
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tool" --help 2>/dev/null |
			grep -oE '(^|[ ,[])--?[a-zA-Z][a-zA-Z0-9-]*' | tr -d ' ,[' | sort -u)" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _salvo_complete \
	salvo-agile salvo-info salvo-top salvo-bench salvo-submit salvo-faces salvo-cc salvo-gpu
