#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# beside.sh - run functions of a script beside each other; scripts/lint and scripts/test read this file.
#
# A function sets `failed` and adds lines to `results`, both variables of the script, as it would if it ran alone.

# shellcheck disable=SC2030,SC2031 # what a function adds to results goes through a file

declare -A begun # process IDs of functions that have begun, by function
begun_said= # the directory with what they print

end_begun()
{
	kill -- "${begun[@]/#/-}" 2>/dev/null
	rm -rf "$begun_said"
	exit 1
}

# Run a function in the background. What it prints comes with finish().
begin() # begin FUNCTION
{
	[ -n "$begun_said" ] || begun_said=$(mktemp -d) || exit 1
	set -m # the function is a process group, which a signal can end as a whole
	(
		failed=0 results=()
		"$1"
		[ "${#results[@]}" -eq 0 ] || printf '%s\n' "${results[@]}" >"$begun_said/$1.results"
		exit "$failed"
	) >"$begun_said/$1" 2>&1 &
	begun[$1]=$!
	set +m
	trap end_begun INT TERM
}

# Wait for a function that was begun, print what it has said, and add its results. Returns 1 if it failed.
finish() # finish FUNCTION
{
	local status=0 more=()
	wait "${begun[$1]}" || status=1
	unset "begun[$1]"
	cat "$begun_said/$1"
	[ ! -e "$begun_said/$1.results" ] || mapfile -t more <"$begun_said/$1.results"
	results+=("${more[@]}")
	[ "$status" -eq 0 ] || failed=1
	[ "${#begun[@]}" -gt 0 ] && return "$status"
	trap - INT TERM
	rm -rf "$begun_said"
	begun_said=
	return "$status"
}

# Run functions beside each other, since most leave processors idle in parts of their time. Returns 1 if one failed.
beside() # beside FUNCTION...
{
	local function status=0
	for function in "$@"; do begin "$function"; done
	for function in "$@"; do finish "$function" || status=1; done
	return "$status"
}
