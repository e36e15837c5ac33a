#!/bin/sh
# The oracle of LITIFUT_MODE=paths beside traces with blocks that are only possible: of each run of them the thread has
# executed the first ones, as many as make the trace what the CPU did. Very many runs take no longer than few.
. "$(dirname "$0")/../lib.sh"

# possible EXECUTED RECORDED: both one letter a block, capitals for those that are only possible
possible()
{
	python3 - "$root/tests/oracle" "$@" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from paths import without_unreached
		oracle = [("m", ord(block)) for block in sys.argv[2]]
		trace = [("m", ord(block.lower()), block.isupper()) for block in sys.argv[3]]
		part = without_unreached(oracle, trace)
		print("equal" if part == oracle else "the end" if oracle[len(oracle) - len(part):] == part else "another one")
	END
}

behaviour()
{
	is "none is possible" "$(possible abc abc)" equal
	is "all of a run" "$(possible abcd abCD)" equal
	is "the first of a run" "$(possible abcde abCDXYe)" equal
	is "none of a run" "$(possible abc abXYc)" equal
	is "the last of a run alone" "$(possible abyc abXYc)" "another one"
	is "what was executed is missing" "$(possible abcd abXd)" "another one"
	is "the whole, and not only the end of it" "$(possible cbcc CBBCAcBCCAC)" equal
	is "a trace that begins later" "$(possible abcde cDXe)" "the end"
	is "very many runs" "$(possible "$(printf 'abc%.0s' $(seq 300))" "$(printf 'aBXYcZ%.0s' $(seq 300))")" equal
}

in_folders behaviour : host
