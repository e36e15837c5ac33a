#!/bin/sh
# LITIFUT_DIR_MB: all traces in a folder together stay below a limit, those of hundreds of short
# processes as well as those of processes that record at the same time; what is not recorded is
# counted where there is a trace to count it in.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# The size of all traces, in units of 16 KiB
units()
{
	find data/trace -name '*.trace' -exec stat -c %s {} + |
		awk '{ sum += int(($1 + 16383) / 16384) } END { print sum + 0 }'
}

usage()
{
	stat -c %s data/trace/usage
}

post()
{
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/work 2>post.err ||
		cat post.err >&2
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
}

head_says()
{
	# shellcheck disable=SC2086
	"$BUILD/bin/litifut-post" -q -f $1 data traced/work | tr '\n' '\f' | sed 's/"missing":\[\f/"missing":/' |
		tr '\f' '\n' | if [ "$1" = html ] || [ "$1" = dot ]; then cat; else head -n 12; fi | grep "$2"
}

behaviour()
{
	cat >work.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		__attribute__((noipa)) static int leaf(int n) { return n + 1; }
		int main(int argc, char **argv)
		{
			int children = atoi(argv[1]), calls = atoi(argv[2]);
			for (int i = 0; i < children; i++) {
				if (!fork()) {
					for (int call = 0; call < calls; call++)
						leaf(call);
					_exit(0);
				}
				if (argc < 4)
					wait(NULL);
			}
			while (wait(NULL) > 0)
				;
			puts("done");
			return 0;
		}
	END
	link work ../work.c || return
	for way in map write; do
		guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=$way LITIFUT_DIR_MB=1"
		same_run work 100 10
		is "$way: 100 short processes: what is used" "$(usage) $(units)" "64 64"
		post
		is "$way: 63 of them have a trace of all their calls" \
			"$(recorded leaf) $(recorded _exit)" "630 63"
	done
	guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=map LITIFUT_DIR_MB=1"
	same_run work 100 10
	post
	is "each call is recorded or counted" \
		"$(($(recorded leaf) + $(recorded _exit) + lost))" 1100
	# what people read says so at its head
	for format in calls tree report graph "callers-of --function leaf" merge; do
		ok "$format: what was lost stands at its head" head_says "$format" '^# [0-9]* calls of work (process [0-9]*) were lost: there was no room for them'
	done
	ok "dot: in its label" head_says dot 'label=".* calls of work (process [0-9]*) were lost: there was no room'
	ok "html: among what is missing" head_says html '"missing".*calls of work (process [0-9]*) were lost: there was no room'
	guest_environment="$guest_environment LITIFUT_DIR=$(pwd)/data"
	rm -r data/trace data/maps
	run traced work 10 10
	is "traces are removed, and it begins anew" "$(usage) $(units)" "11 11"

	guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=map LITIFUT_DIR_MB=1 LITIFUT_BULK_KB=16 LITIFUT_COMPACT=0"
	same_run work 4 100000 together
	# each may have claimed one too many, and has the end of its file besides
	ok "4 processes at once: $(usage) of 64, and no chunk more: $(units)" \
		test "$(usage)" -le 67 -a "$(usage)" -ge 60 -a "$(units)" -le $(($(usage) + 4))
	post
	# but for what was in their scratch chunks when they ended
	ok "4 processes at once: $(recorded leaf) calls and $lost lost" \
		test "$(recorded leaf)" -gt 150000 -a $(($(recorded leaf) + lost)) -ge $((400000 - 4 * 4096))

	rings=$guest_environment
	guest_environment="LITIFUT_CLOCK=mono LITIFUT_MAX_MB=1 LITIFUT_BULK_KB=16 LITIFUT_COMPACT=0"
	same_run work 1 300000
	ok "with a clock: when it was lost" head_says report '^# [0-9]* calls of work (process [0-9]*) were lost from [0-9]*\.[0-9]* s to [0-9]*\.[0-9]* s after its start: there was no room for them (a trace may have 1024 KiB)\.$'
	guest_environment="$rings LITIFUT_RING_KB=256"
	same_run work 2 100000
	ok "a ring: what was replaced" head_says report '^# work (process [0-9]*) has recorded into a ring: [0-9]* chunks from its beginning were replaced by newer ones\.$'
	is "rings: their places count once" "$(usage) $(units)" "36 36"
	guest_environment=
}

for_targets behaviour
