#!/bin/sh
# A link that is interrupted leaves the old output as it was, no half-written
# one and no temporary file, and ends by the same signal.
TARGETS=${TARGETS:-"armhf mipsel"}
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	mkdir tmp slow
	echo 'int main(void) { return 0; }' >main.c
	compiler -c -o main.o main.c
	real=$(command -v "$triplet-ld")
	# A linker that takes its time once it has written its output.
	cat >slow/ld <<-END
		#!/bin/sh
		"$real" "\$@"
		status=\$?
		echo ready >"$(pwd)/ready"
		sleep 20 &
		wait
		exit \$status
	END
	chmod +x slow/ld
	ln -s "$BUILD/bin/litifut-ld" ld
	for signal in INT TERM HUP; do
		rm -rf out ready && mkdir out
		echo old >out/program
		# A shell starts its background jobs with SIGINT ignored.
		LITIFUT=1 TMPDIR=$(pwd)/tmp COMPILER_PATH=$(pwd)/slow \
			python3 -c 'import os, signal, sys
for one in (signal.SIGINT, signal.SIGQUIT): signal.signal(one, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
			"$(pwd)/ld" -o out/program main.o --unresolved-symbols=ignore-all \
			-e main >link.log 2>&1 &
		link=$!
		for _ in $(seq 100); do
			[ -f ready ] && break
			sleep 0.05
		done
		ok "SIG$signal: the link was under way" test -f ready
		kill -$signal $link
		wait $link
		status=$?
		is "SIG$signal: ends by the signal" "$(kill -l $status)" $signal
		is "SIG$signal: the old output is there" "$(cat out/program)" old
		is "SIG$signal: and nothing else" "$(ls -A out)" program
		is "SIG$signal: no temporary files" "$(ls -A tmp)" ""
	done
}

for_targets behaviour
