#!/bin/sh
# Switches of Thumb-1 code by functions of libgcc, as GCC makes them for ARMv5TE with -mthumb -Os
# (tests/firmware/case_tables.c): the calls of these functions stay as they are, and LITIFUT_MODE=coverage follows
# their tables, so that the flags are what is executed.
. "$(dirname "$0")/../lib.sh"
few_targets armel

switches="by_bytes by_halves run by_signed_bytes by_signed_halves by_words unmarked unmarked_unbounded unbounded
	before_literals"

# all_are_recorded PROGRAM: something of each of the switches, and nothing of what only looks like one
all_are_recorded()
{
	"$BUILD/bin/litifut" info --sites "$1" >sites || return
	for function in $switches; do
		grep -q " patched in $function\$" sites || {
			echo "nothing is recorded in $function"
			return 1
		}
	done
	grep 'unknown-jump in' sites
	grep -q 'unknown-jump in alike$' sites && ! grep 'unknown-jump in' sites | grep -vE 'in (alike|__gnu_thumb1_case_.*)$'
}

behaviour()
{
	if [ "$target" != armel ]; then
		skip "switches of Thumb-1 code" "there is none for this target"
		return
	fi
	for kind in "-fno-pic -no-pie" "-fPIE -pie"; do
		flags="-mthumb -march=armv5te -Os $kind"
		rm -rf plain traced
		link calls "$root"/tests/firmware/case_tables.[cS] || return
		same_run calls
		events_equal_calls calls
		export LITIFUT_MODE=coverage
		link flags "$root"/tests/firmware/case_tables.[cS] || return
		ok "$kind: code of each switch is recorded" all_are_recorded traced/flags
		same_run flags
		flags_equal_edges flags
		unset LITIFUT_MODE
	done
}

for_targets behaviour
