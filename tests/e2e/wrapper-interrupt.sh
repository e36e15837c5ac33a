#!/bin/sh
# A link that is interrupted leaves the old output as it was, no half-written
# one and no temporary file, and ends by the same signal. One that is killed ends its linker.
TARGETS=${TARGETS:-"armhf mipsel"}
. "$(dirname "$0")/../lib.sh"

# What can't be caught is cleaned up after by another process, soon.
wait_for_cleaner()
{
	for _ in $(seq 100); do
		[ -z "$(ls -A tmp)" ] && break
		sleep 0.05
	done
}

behaviour()
{
	mkdir tmp slow
	echo 'int main(void) { return 0; }' >main.c
	compiler -c -o main.o main.c
	real=$(command -v "$triplet-ld")
	# A linker that takes its time once it has written its output, and another file as lld does.
	cat >slow/ld <<-END
		#!/bin/sh
		"$real" "\$@"
		status=\$?
		echo \$\$ >"$(pwd)/ready"
		for word; do
			[ "\$last" = -o ] && : >"\$word.tmp"
			last=\$word
		done
		sleep 20 &
		wait
		exit \$status
	END
	chmod +x slow/ld
	ln -s "$BUILD/bin/litifut-ld" ld
	for signal in INT TERM HUP KILL; do
		rm -rf out ready && mkdir out
		echo old >out/program
		# A shell starts its background jobs with SIGINT ignored.
		LITIFUT=1 TMPDIR=$(pwd)/tmp COMPILER_PATH=$(pwd)/slow \
			python3 -c 'import os, signal, sys
for one in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP): signal.signal(one, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
			"$(pwd)/ld" -o out/program main.o --unresolved-symbols=ignore-all \
			-e main >link.log 2>&1 &
		link=$!
		for _ in $(seq 100); do
			[ -s ready ] && break
			sleep 0.05
		done
		ok "SIG$signal: the link was under way" test -f ready
		kill -$signal $link
		wait $link
		status=$?
		is "SIG$signal: ends by the signal" "$(kill -l $status)" $signal
		[ $signal = KILL ] && wait_for_cleaner
		is "SIG$signal: the old output is there" "$(cat out/program)" old
		is "SIG$signal: and nothing else" "$(ls -A out)" program
		is "SIG$signal: no temporary files" "$(ls -A tmp)" ""
		ok "SIG$signal: the linker is gone" sh -c "! grep '^State:.[^Z]' /proc/$(cat ready)/status"
	done
}

for_targets behaviour
