#!/bin/sh
# How many bytes of each stack the tracer needs, in each mode and on both instruction sets: as many as
# docs/firmware.md says, as a task whose stack has less overruns it.
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# depth_of ELF: what the program prints of its stack
depth_of()
{
	emulate "$1" "$1.serial" 2>/dev/null
	grep -a -o 'depth [0-9]*' "$1.serial" | sed 's/depth //'
}

# needs MODE BYTES SETTING...: of a link with these settings
needs()
{
	needs_mode=$1
	needs_bytes=$2
	shift 2
	export LITIFUT_MODE="$needs_mode" LITIFUT_RING_KB=2
	case $needs_mode in counts | table | coverage) unset LITIFUT_RING_KB ;; esac
	for setting; do
		export "${setting?}"
	done
	rm -rf traced
	ok "$needs_mode${*:+ }$*: it links" traced "traced" make_example traced
	unset LITIFUT_MODE LITIFUT_RING_KB LITIFUT_STUBS LITIFUT_CLOCK LITIFUT_TASK
	more=$(($(depth_of traced/firmware.elf) - plain))
	is "$needs_mode${*:+ }$*: bytes of stack" "$more" "$needs_bytes"
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/stack.c" source/main.c
	ok "it links" make_example plain
	plain=$(depth_of plain/firmware.elf)
	needs counts 28 LITIFUT_STUBS=fast
	needs counts 28 LITIFUT_STUBS=small
	case $board in
	microbit)
		needs table 32 LITIFUT_CLOCK=systick
		needs table 120 LITIFUT_CLOCK=systick LITIFUT_TASK=sink
		needs spans 60 LITIFUT_CLOCK=systick
		needs stream 36
		;;
	*)
		needs table 32 LITIFUT_CLOCK=dwt
		needs table 80 LITIFUT_CLOCK=dwt LITIFUT_TASK=sink
		needs table 52 LITIFUT_CLOCK=systick
		needs table 104 LITIFUT_CLOCK=systick LITIFUT_TASK=sink
		needs spans 36 LITIFUT_CLOCK=dwt
		needs spans 60 LITIFUT_CLOCK=systick
		needs stream 28
		;;
	esac
	needs coverage 4
	needs paths 104
}

for_boards behaviour
