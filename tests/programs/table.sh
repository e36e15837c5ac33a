#!/bin/sh
# The results of the last runs of run.sh as a table.
BUILD=${BUILD:-$(cd "$(dirname "$0")/../.." && pwd)/build}
cat "$BUILD"/programs/table/* | awk '
	BEGIN {
		print "| program | target | call sites | rewritten | executed calls | recorded | left | reasons of sites that were left |"
		print "|---|---|---:|---:|---:|---:|---:|---|"
	}
	{
		reasons = $0
		sub(/^[^(]*\(/, "", reasons)
		sub(/\); executed.*/, "", reasons)
		counts = $0
		sub(/.*; executed/, "executed", counts)
		split(counts, word, " ")
		printf "| %s | %s | %d | %d | %d | %d | %d | %s |\n",
			$1, $2, $4, $6, word[2], word[4], word[6], reasons
	}'
