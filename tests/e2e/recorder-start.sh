#!/bin/sh
# What a short process costs: the tracer executes few instructions from the first event of a
# process to its end, when it makes hardly any calls.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# instructions: what the tracer executes in a run of `traced/work`
instructions()
{
	rm -f counted*
	# a path as long in each place where this is run
	place=$(mktemp -d /tmp/litifut.XXXXXXXX)
	python3 "$root/tests/oracle/oracle.py" ranges traced/work >through
	guest_environment="LITIFUT_DIR=$place/data"
	qemu_options="-plugin $BUILD/tests/oracle.so,count=$(pwd)/counted,through=$(pwd)/through"
	run traced work a word
	guest_environment=''
	qemu_options=''
	rm -rf "$place"
	cut -d ' ' -f 2 counted
}

# at_most LIMIT
at_most()
{
	executed=$(instructions)
	echo "$target: $executed instructions of the tracer, at most $1" >&2
	echo "$executed, at most $1"
	[ "$executed" -gt 1000 ] && [ "$executed" -le "$1" ]
}

# limits DYNAMIC STATIC
limits()
{
	cat >work.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		static __attribute__((noipa)) int put(const char *word) { return fputs(word, stdout); }
		int main(int count, char **words)
		{
			size_t bytes = 0;
			for (int i = 1; i < count; i++) {
				put(words[i]);
				bytes += strlen(words[i]);
			}
			put("\n");
			return bytes == 0;
		}
	END
	link work ../work.c || return
	same_run work a word
	ok "dynamic: few instructions" at_most "$1"
	flags=-static
	link work ../work.c || return
	same_run work a word
	ok "static: few instructions" at_most "$2"
	flags=
}

behaviour()
{
	case $target in
	armhf*) limits 18000 50000 ;;
	armel) limits 19300 75000 ;;
	*) limits 23500 72000 ;;
	esac
}

for_targets behaviour
