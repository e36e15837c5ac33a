#!/bin/sh
# LITIFUT_TRIGGER: recording starts and stops at calls of functions. The program knows which of its
# calls those are, and prints the others that lie between.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		static volatile int sink;
		static int on;
		KEEP int leaf(int x) { return sink += x; }
		KEEP int begin(int x) { return sink += x; }
		KEEP int end(int x) { return sink += x; }
		#define CALL(function, x) do { if (on) printf("%s (x=%d)\n", #function, x); function(x); } while (0)
		int main(int argc, char **argv)
		{
			int rounds = argc > 1 ? atoi(argv[1]) : 10;
			on = argc > 2;
			for (int i = 0; i < rounds; i++) {
				CALL(leaf, i);
				on |= i == 2 || i == 7;
				CALL(begin, i);
				CALL(leaf, 100 + i);
				CALL(end, i);
				if (i == 4)
					on = 0;
				CALL(leaf, 200 + i);
			}
			if (argc > 3)
				raise(SIGKILL);
			return sink == 1;
		}
	END
	LITIFUT_ARGS='leaf:i0;end:i0;begin:i0'
	LITIFUT_TRIGGER='start:begin#3;stop:en[d]#5;start:begin#8'
	case $target in
	armhf | mipsel) LITIFUT_MODE=spans ;;
	*) LITIFUT_MODE=calls ;;
	esac
	export LITIFUT_ARGS LITIFUT_TRIGGER LITIFUT_MODE
	link program ../main.c
	linked=$?
	unset LITIFUT_ARGS LITIFUT_TRIGGER LITIFUT_MODE
	[ "$linked" = 0 ] || return
	for what in "off 10" "off 3000" "on 20 on"; do
		rm -rf data
		guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_START=${what%% *} LITIFUT_BULK_KB=16"
		# shellcheck disable=SC2086
		run traced program ${what#* }
		guest_environment=
		"$BUILD/bin/litifut-post" -q data traced/program 2>post.err |
			sed -n 's/^.* [-=]> \(.*\) \[program\]\( (x=.*\)$/\1\2/p' >got
		ok "$what: what lies between is recorded, and no more" \
			sh -c 'test -s got && diff got traced.out && ! grep . post.err'
	done
	rm -rf traced && mkdir traced
	(cd traced && front="$BUILD/bin/litifut build" LITIFUT_TRIGGER='snapshot:end#2;go:f;start:nosuch' &&
		export LITIFUT_TRIGGER && compiler -o program ../main.c) >traced.log 2>&1
	is "wrong settings: a line each" "$(sed -n 's/.*\(LITIFUT_[A-Z, _]*: .*\)[;(].*/\1/p' traced.log)" \
'LITIFUT_TRIGGER: go:f: is not start:, stop: or snapshot: with a function, or with FUNCTION#N for its Nth call
LITIFUT_TRIGGER: no call is found of a function named nosuch '
	rm -rf data
	(cd traced && front="$BUILD/bin/litifut build" LITIFUT_TRIGGER='stop:end' LITIFUT_ARGS='end:i0,i1,i2,i3,i4,i5,i6,i7,i8,i9,i10,i11;e*d:x0' &&
		export LITIFUT_TRIGGER LITIFUT_ARGS && compiler -o crowded ../main.c) >crowded.log 2>&1
	is "more values than there is room for: one line" \
		"$(sed -n 's/.*\(LITIFUT_[A-Z, _]*: .*\):.*/\1/p' crowded.log)" \
		"LITIFUT_ARGS: more than 12 values of a function that e*d names"
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced crowded 3
	guest_environment=
	"$BUILD/bin/litifut-post" -q data traced/crowded >got
	is "and the trigger is there" "$(grep -c '> leaf' got) $(grep -c '> end .*x=0, arg1=.*arg10=' got)" "2 1"
	rm -rf data copy && mkdir copy
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$(pwd)/copy"
	run traced program 3 on kill
	guest_environment=
	is "a snapshot has what was called by then" \
		"$("$BUILD/bin/litifut-post" -q copy traced/program | grep -c '> leaf')" 5
	is "and the rest is recorded" "$("$BUILD/bin/litifut-post" -q data traced/program | grep -c '> leaf')" 9
}

for_targets behaviour
