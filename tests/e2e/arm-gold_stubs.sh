#!/bin/sh
# gold puts stubs behind functions and gives them neither a name nor mapping symbols: what their
# constants look like is no call.
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
	for options in "-pg" ""; do
		rm -rf plain traced
		# shellcheck disable=SC2086
		link program ../main.c -fuse-ld=gold -fstack-protector-all $options || continue
		same_run program
		events_equal_calls program
	done
}

for_targets behaviour
