#!/bin/sh
# The trace tells of the program's own calls: in a static program libc's traced
# start-up code runs the tracer's destructor too, and that is not an event.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		__attribute__((destructor)) static void mine(void) { puts("mine"); }
		int main(void) { return 0; }
	END
	link program -static ../main.c || return
	same_run program
	"$BUILD/bin/litifut-post" -f tsv data/trace data/maps traced/program >events.tsv 2>post.err
	is "the program's destructor is seen" "$(cut -f 10 events.tsv | grep -cx mine)" 1
	is "ours is not" "$(cut -f 10 events.tsv | grep -c '^litifut_')" 0
}
for_targets behaviour
