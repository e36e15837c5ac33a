#!/bin/sh
# litifut-post -f gdb: under gdb on QEMU's stub the program stops at each recorded line, in order; where it goes
# another way the script ends with the number of the record. STOPS=10000 for a long run.
. "$(dirname "$0")/../lib.sh"

program_source()
{
	cat >main.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>

		static volatile int handled;

		static void handler(int number)
		{
			for (int i = 0; i < 4; i++)
				if ((number >> i) & 1)
					handled += i;
		}
		__attribute__((noipa)) static const char *name(int number)
		{
			switch (number % 7) {
			case 0: return "zero";
			case 1: handled++; return "one";
			case 2: return "two";
			case 3: raise(SIGUSR1); return "three";
			case 4: return "four";
			default: return "many";
			}
		}
		static int compare(const void *left, const void *right)
		{
			return strcmp(*(char *const *)left, *(char *const *)right);
		}
		int main(int count, char **arguments)
		{
			const char *names[8];
			int turns = count > 1 ? atoi(arguments[1]) : 1;
			int other = count > 2 ? atoi(arguments[2]) : -1;

			signal(SIGUSR1, handler);
			for (int turn = 0; turn < turns; turn++) {
				for (int i = 0; i < 8; i++)
					names[i] = name(turn == other ? 2 * i : i + turn);
				qsort(names, 8, sizeof(*names), compare);
				if (strcmp(names[0], "four"))
					handled ^= 1;
			}
			printf("%d\n", handled);
			return 0;
		}
	END
}

# replay SCRIPT ARGUMENTS...: in replay.out, and gdb's exit status in replay.status
replay()
{
	replay_script=$1
	shift
	rm -rf socket
	(cd plain_again && env -i LITIFUT_DIR="$(pwd)/data" timeout 600 "qemu-$cpu" -L "$sysroot" -g ../socket \
		./program "$@" >/dev/null 2>&1) &
	replay_tries=0
	while [ ! -S socket ] && [ $replay_tries -lt 100 ]; do
		sleep 0.1
		replay_tries=$((replay_tries + 1))
	done
	timeout 600 gdb-multiarch -nx -batch -ex "set remotetimeout 100" -ex "set sysroot $sysroot" -ex 'file plain_again/program' \
		-ex 'target remote socket' -x "$replay_script" >replay.out 2>&1
	echo $? >replay.status
	wait
}

# The number of the first record of ONE at which a run like OTHER is somewhere else: stops at other lines
# than those of ONE are not made.
first_other()
{
	awk '$1 != "litifut_next" { next }
		NR == FNR { place[++count] = $2; known[$2] = 1; next }
		$2 in known { at++; if (!found && place[at] != $2) found = at }
		END { print found }' "$1" "$2"
}

# recorded_script NAME ARGUMENTS...
recorded_script()
{
	script_name=$1
	shift
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced program "$@"
	guest_environment=
	"$BUILD/bin/litifut-post" -q -f gdb --top "$stops" -o "$script_name" data traced/program 2>/dev/null
}

behaviour()
{
	export LITIFUT_MODE=paths
	case $target in
	armhf* | mips*) ;;
	*)
		skip "a script for gdb" "LITIFUT_MODE=paths is not there"
		return
		;;
	esac
	command -v gdb-multiarch >/dev/null || {
		skip "a script for gdb" "no gdb-multiarch"
		return
	}
	stops=${STOPS:-800}
	program_source
	link program ../main.c
	mkdir -p plain_again
	"$BUILD/bin/litifut-post" path-plain -o plain_again/program traced/program
	recorded_script same.gdb "$stops"
	recorded_script other.gdb "$stops" 4
	is "stops in the script" "$(grep -c '^litifut_next 0x' same.gdb)" "$stops"
	replay same.gdb "$stops"
	is "each stop is the recorded one" "$(cat replay.status) $(tail -n 1 replay.out)" \
		"0 all $stops records were replayed"
	is "gdb has stopped as often" "$(grep -c '^Breakpoint [0-9]*, ' replay.out)" "$stops"
	replay same.gdb "$stops" 4
	is "another way ends it, at the record" \
		"$(cat replay.status) $(sed -n 's/^record \([0-9]*\):.*/\1/p' replay.out)" \
		"1 $(first_other same.gdb other.gdb)"
}

for_targets behaviour
