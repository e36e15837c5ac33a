#!/bin/sh
# gold puts stubs behind functions and gives them neither a name nor mapping symbols: what their
# constants look like is not a call. It puts programs at 0x8000, where a trace can't have code.
TARGETS=${TARGETS:-"armhf armhf-arm armel"}
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		static __attribute__((noipa)) int inner(int x) { return abs(x) * 3; }
		static void at_end(void) { puts("end"); }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 5; i++)
				sum += inner(i);
			atexit(at_end); /* which reaches libc by a tail call and a stub */
			printf("%d\n", sum);
			return sum & 63;
		}
	END
	for options in "-pg" "" "-no-pie" "-static"; do
		rm -rf plain traced
		# shellcheck disable=SC2086
		link program ../main.c -fuse-ld=gold -fstack-protector-all $options || continue
		same_run program
		events_equal_calls program
	done
	rm -rf traced && mkdir traced
	(cd traced && front="$BUILD/bin/litifut build" compiler -no-pie -Wl,-Ttext-segment=0x8000 \
		-o program ../main.c) >traced.log 2>&1
	is "a low address that the user chose: why not traced" \
		"$(sed 's/: \.[a-z]*: 0x[0-9a-f]*: /: /' traced.log)" \
		"litifut-ld: warning: program: left untraced: code below 0x10000 can't be traced"
	run traced program
	ok "and it runs" diff plain.out traced.out
}

for_targets behaviour
