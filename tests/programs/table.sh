#!/bin/sh
# The results of the last runs of run.sh as a table, and what the programs' own
# tests said in those of suite.sh.
#
#   tests/programs/table.sh [TARGET...]
BUILD=${BUILD:-$(cd "$(dirname "$0")/../.." && pwd)/build}
[ $# != 0 ] || set -- armhf armhf-arm armel mipsel mips
cat "$BUILD"/programs/table/* | awk -v targets=" $* " '
	BEGIN {
		print "| program | linked | target | engine | call sites | rewritten | reasons of the others | executed calls | recorded | left out |"
		print "|---|---|---|---|---:|---:|---|---:|---:|---:|"
	}
	!index(targets, " " $3 " ") { next }
	{
		reasons = $0
		sub(/^[^(]*\(/, "", reasons)
		sub(/\); executed.*/, "", reasons)
		counts = $0
		sub(/.*; executed/, "executed", counts)
		split(counts, word, " ")
		printf "| %s | %s | %s | %s | %d | %d | %s | %d | %d | %d |\n",
			$1, $2, $3, $4, $6, $8, reasons, word[2], word[4], word[2] - word[4]
	}'

echo
echo "| program | target | files installed | its own tests, traced |"
echo "|---|---|---:|---|"
for target; do
	cat "$BUILD/programs/suites"/*."$target" 2>/dev/null
done
exit 0
