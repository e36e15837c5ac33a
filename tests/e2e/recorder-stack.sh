#!/bin/sh
# What tracing takes of the program's stack: little enough for a handler on an alternate
# stack of 2 KB, whatever the recorder has to do in it.
. "$(dirname "$0")/../lib.sh"

# used FOLDER SETTINGS...: bytes of the alternate stack that a run of the program wrote to
used()
{
	used_folder=$1
	shift
	rm -rf data
	used_environment=$guest_environment
	guest_environment="$used_environment LITIFUT_DIR=$(pwd)/data $*"
	run "$used_folder" work >/dev/null
	guest_environment=$used_environment
	[ "$(cat "$used_folder.status")" = 0 ] || cat "$used_folder.err" >&2
	cat "$used_folder.out"
}

at_most()
{
	echo "$1 bytes, of them $2 without tracing"
	[ -n "$1" ] && [ $(($1 - $2)) -le "$3" ]
}

# takes ENGINE LIMIT SETTINGS...
takes()
{
	takes_engine=$1 takes_limit=$2
	shift 2
	taken=$(used traced "$@")
	ok "$takes_engine $*: at most $takes_limit bytes, $((taken - plain))" \
		at_most "$taken" "$plain" "$takes_limit"
	echo "$target: $takes_engine $*: $((taken - plain)) bytes" >&2
}

# engine NAME LIMIT [MODE]
engine()
{
	rm -rf plain traced
	LITIFUT_ENGINE=$1 link work ../work.c || return 0
	plain=$(used plain)
	# the first event of the process, many chunks
	takes "$1" "$2" LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none
	takes "$1" "$2" LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none LITIFUT_COMPACT=1
	takes "$1" "$2" LITIFUT_CLOCK=none LITIFUT_START=off
	takes "$1" "$2" LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none LITIFUT_MAX_MB=1
	# signals can't be blocked then, so all is done on the program's stack
	takes "$1" 800 LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none LITIFUT_SYSCALLS=never
	used traced LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none >/dev/null
	ok "$1: calls of the handler are recorded" recorded_leaf
	# the kernel's frame, and the recorder's handler on top of it
	taken=$(used traced LITIFUT_CLOCK=none LITIFUT_SIGNAL="$usr2" LITIFUT_BULK_KB=16)
	ok "$1: the handler of LITIFUT_SIGNAL fits as well: $taken" at_most "$taken" 0 2048
}

recorded_leaf()
{
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/work || return 1
	[ "$(recorded leaf)" -ge 40000 ]
}

behaviour()
{
	cat >work.c <<-'END'
		#define _GNU_SOURCE
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		#define BYTES 2048
		/* where an overrun does not hurt, so that it is measured */
		static unsigned char room[16384 + BYTES] __attribute__((aligned(16)));
		__attribute__((noipa)) static int leaf(int n) { return n + 1; }
		__attribute__((noipa)) static void handler(int number)
		{
			(void)number;
			for (int i = 0; i < 40000; i++)
				leaf(i);
		}
		int main(void)
		{
			stack_t stack = {.ss_sp = room + 16384, .ss_size = BYTES};
			struct sigaction action;
			unsigned first = 0;
			memset(&action, 0, sizeof(action));
			action.sa_handler = handler;
			action.sa_flags = SA_ONSTACK;
			if (!getenv("LITIFUT_SIGNAL"))
				signal(SIGUSR2, SIG_IGN);
			memset(room, 0x5a, sizeof(room));
			if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
				return 1;
			raise(getenv("LITIFUT_SIGNAL") ? SIGUSR2 : SIGUSR1);
			while (first < sizeof(room) && room[first] == 0x5a)
				first++;
			printf("%u\n", (unsigned)sizeof(room) - first);
			return 0;
		}
	END
	limit=256
	case $cpu in
	arm) usr2=12 ;;
	*) usr2=17 ;;
	esac
	flags="-Wl,-z,now"
	engine thunk $limit
	engine db $limit
	# arguments of each call of the handler; 12 are on the stack, strings are not read
	rm -rf plain traced
	LITIFUT_ENGINE=db LITIFUT_ARGS='leaf:s0,i4,i5,i6,i7,i8,i9,i10,i11,i12,s1,i2'
	export LITIFUT_ENGINE LITIFUT_ARGS
	link work ../work.c
	linked=$?
	unset LITIFUT_ENGINE LITIFUT_ARGS
	if [ "$linked" = 0 ]; then
		plain=$(used plain)
		takes "arguments" $limit LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none
		takes "arguments" 900 LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none LITIFUT_SYSCALLS=never
	fi
	for LITIFUT_MODE in paths table spans; do
		case $target-$LITIFUT_MODE in
		armel-*) continue ;; # has none of these
		*-paths) limit=280 never_limit=1350 ;;
		*-table) limit=400 never_limit=1150 ;;
		*-spans) limit=256 never_limit=800 ;;
		esac
		export LITIFUT_MODE
		rm -rf plain traced
		link work ../work.c || continue
		plain=$(used plain)
		takes "$LITIFUT_MODE" $limit LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none
		takes "$LITIFUT_MODE" "$never_limit" LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none LITIFUT_SYSCALLS=never
	done
	unset LITIFUT_MODE
	limit=256
	[ "$target" = armel ] || return 0
	target="armel on an ARM926" guest_environment=QEMU_CPU=arm926
	engine thunk $limit
	engine db $limit
}

for_targets behaviour
