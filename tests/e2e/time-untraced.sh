#!/bin/sh
# The tracer's own time is measured when a program starts, and taken off: what is left are the times of
# the program without a tracer, to some instructions. Spans and tables alike; --raw leaves it in.
. "$(dirname "$0")/../lib.sh"

# clocked SETTINGS: runs it traced; the clock counts the tracer's instructions as well
clocked()
{
	rm -rf data
	qemu_options="-plugin $BUILD/tests/oracle.so,clock=1"
	guest_environment="LITIFUT_CLOCK=page LITIFUT_DIR=$(pwd)/data $*"
	run traced main
	qemu_options='' guest_environment=''
}

behaviour()
{
	[ "$target" != armel ] || return 0 # it has no thunks, and records no returns
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		static volatile int sink;
		KEEP int leaf(int x) { sink++; return x + 1; }
		KEEP int busy(int x) { for (int i = 0; i < 30 + (x & 15); i++) sink += i; return x; }
		KEEP int middle(int x)
		{
			int r = leaf(x);
			sink += r;
			r += busy(r);
			sink += r;
			r += leaf(r);
			sink++;
			return r;
		}
		KEEP int again(int d)
		{
			int r = leaf(d);
			sink += r;
			if (d) {
				r += again(d - 1);
				sink += r;
				r += middle(r & 3);
				sink++;
			}
			return r & 0xff;
		}
		KEEP int pointed(int (*f)(int), int x) { int r = f(x); sink += r; return r; }
		KEEP int texts(int x)
		{
			char b[20];
			int r = snprintf(b, sizeof b, "%d", x);
			sink += r;
			r += (int)strlen(b);
			sink++;
			return r;
		}
		int main(int argc, char **argv)
		{
			int rounds = argc > 1 ? atoi(argv[1]) : 300;
			for (int i = 0; i < rounds; i++) {
				int r = again(i % 7);
				sink += r;
				r = pointed(middle, i);
				sink += r;
				r = texts(i);
				sink += r;
			}
			printf("%d\n", sink);
			return 0;
		}
	END
	for mode in spans table; do
		export LITIFUT_CLOCK=page LITIFUT_MODE=$mode
		link main ../main.c -Wl,-z,now || return
		unset LITIFUT_CLOCK LITIFUT_MODE
		clocked LITIFUT_RAW=1
		"$BUILD/bin/litifut-post" -q -f csv -o raw.csv data traced/main
		is "$mode: LITIFUT_RAW=1 is what --raw says" "$("$BUILD/bin/litifut-post" -q -f csv --raw data traced/main)" "$(cat raw.csv)"
		is "$mode: it says so" "$("$BUILD/bin/litifut-post" -q report data traced/main | grep -c "^# The tracer's time is part of these times: it was not measured\. Functions that receive or make many short calls seem slower than they are\.$")" 1
		clocked
		"$BUILD/bin/litifut-post" -q -f csv -o own.csv data traced/main
		is "$mode: what is taken off is said" "$("$BUILD/bin/litifut-post" -q report data traced/main | grep -c "^# The tracer's time, [0-9.]* ns for each call and each return, is taken off (--raw leaves it in)\.$")" 1
		rm -f oracle.*
		qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,returns=1"
		run plain main
		qemu_options=
		ok "$mode: times are those without a tracer" python3 "$root/tests/oracle/untraced.py" oracle own.csv raw.csv plain/main
		[ "$mode" = table ] || ok "$mode: with --raw they are not" sh -c '
			"$1/bin/litifut-post" -q -f csv --raw -o own.csv data traced/main
			! python3 "$2/tests/oracle/untraced.py" oracle own.csv raw.csv plain/main' sh "$BUILD" "$root"
	done
}

for_targets behaviour
