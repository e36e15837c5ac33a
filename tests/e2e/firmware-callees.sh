#!/bin/sh
# Calls through pointers to many callees: those that find room are counted by callee, as LITIFUT_CALLEES says, and how many
# calls have found none is said.
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# edges_of FOLDER: runs it; the calls to the callees are in FOLDER.edges, the words of litifut-post in FOLDER.words
edges_of()
{
	emulate "$1/firmware.elf" "$1.serial" &&
		"$BUILD/bin/litifut-post" -f edges "$1.serial" "$1/firmware.elf" >"$1.all" 2>"$1.words"
	sed -n 's/^ *\([0-9]*\)  *\(often\|once\) -> callee_0\([0-7]*\)$/\2 \3 \1/p' "$1.all" | sort >"$1.edges"
}

# Each (site, callee) with its number of calls.
all_edges()
{
	python3 -c 'for i in range(40): print("often %o %d" % (i + 8, i + 8))
for i in range(0, 40, 3): print("once %o 1" % (i + 8))' | sort
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/callees.c" source/main.c
	all_edges >all
	for mode in counts table; do
		export LITIFUT_MODE=$mode LITIFUT_CLOCK=systick LITIFUT_PORT="$port"
		ok "it links traced ($mode)" traced few make_example few
		export LITIFUT_CALLEES=64
		ok "it links traced with room for each callee ($mode)" traced many make_example many
		unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_CALLEES
		edges_of few
		edges_of many
		lost=$(sed -n 's/.*: \([0-9]*\) calls through pointers found no place.*LITIFUT_CALLEES.*/\1/p' few.words)
		ok "without a setting some have none, and it is said how many ($mode)" [ "${lost:-0}" -gt 0 ]
		is "these and those that have are all ($mode)" \
			"$(awk -v lost="${lost:-0}" '{ sum += $3 } END { print sum + lost }' few.edges)" \
			"$(awk '{ sum += $3 } END { print sum }' all)"
		ok "with room for all each is counted by its callee ($mode)" cmp all many.edges
		ok "and nothing is lost ($mode)" sh -c '! grep "no place" many.words'
	done
	[ "$board" != mps2-an385 ] || large
}

# A table of more than 64 KB
large()
{
	export LITIFUT_MODE=table LITIFUT_CLOCK=systick LITIFUT_PORT="$port" LITIFUT_CALLEES=64
	ok "a large table: it links traced" traced large make_example large EXTRA_CFLAGS=-DLARGE
	export LITIFUT_CLOCK=dwt LITIFUT_SAMPLE=SysTick_Handler
	traced sampled make_example sampled EXTRA_CFLAGS=-DLARGE >sampled.all 2>&1
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_CALLEES LITIFUT_SAMPLE
	edges_of large
	ok "a large table: each call is counted by its callee" cmp all large.edges
	ok "a large table: nothing is lost" sh -c '! grep "no place" large.words'
	ok "a large table, with samples: a line says that there is no room for so many callees" \
		grep "LITIFUT_CALLEES: a table of more than 64 KB" sampled.log
}

for_boards behaviour
