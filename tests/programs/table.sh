#!/bin/sh
# The results of the last runs of run.sh as a table.
#
#   tests/programs/table.sh [TARGET...]
BUILD=${BUILD:-$(cd "$(dirname "$0")/../.." && pwd)/build}
cat "$BUILD"/programs/table/* | awk -v targets=" $* " '
	BEGIN {
		print "| program | linked | target | call sites | rewritten | reasons of the others | executed calls | recorded | left out |"
		print "|---|---|---|---:|---:|---|---:|---:|---:|"
	}
	targets != "  " && !index(targets, " " $3 " ") { next }
	{
		reasons = $0
		sub(/^[^(]*\(/, "", reasons)
		sub(/\); executed.*/, "", reasons)
		counts = $0
		sub(/.*; executed/, "executed", counts)
		split(counts, word, " ")
		printf "| %s | %s | %s | %d | %d | %s | %d | %d | %d |\n",
			$1, $2, $3, $5, $7, reasons, word[2], word[4], word[2] - word[4]
	}'
