#!/bin/sh
# LITIFUT_VERBOSE=1: the recorder says on stderr when it starts, stops or gives up,
# and why. What the program prints is the same, and where no one can read the
# words they cost it nothing.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# verbose SETTINGS...: runs it with these; the tracer's lines are in `words`
verbose()
{
	rm -rf data
	(
		eval "${before:-:}"
		guest_environment="LITIFUT_DIR=${directory:-$(pwd)/data} LITIFUT_VERBOSE=1 $*"
		run traced work
	)
	grep '^litifut: ' traced.err >words
	grep -v '^litifut: ' traced.err >others
	ok "$*: same output" diff plain.out traced.out
	ok "$*: same errors but for our lines" diff plain.err others
	ok "$*: same exit" diff plain.status traced.status
}

# says TIMES TEXT
says()
{
	is "says $1 time(s): $2" "$(grep -c "^litifut: work\.[0-9]*: $2\$" words)" "$1"
}

behaviour()
{
	cat >work.c <<-'END'
		#include <stdio.h>
		#include <litifut/litifut.h>
		static volatile unsigned sum;
		__attribute__((noipa)) void step(unsigned n) { sum += n; }
		__attribute__((noipa)) void indirect(void (*callee)(unsigned), unsigned n)
		{
			callee(n);
			sum++;
		}
		int main(int argc, char **argv)
		{
			if (argc > 1 && argv)
				*(volatile int *)8 = 1;
			fputs("a word of the program's own\n", stderr);
			for (unsigned i = 0; i < 50000; i++)
				indirect(step, i * i);
			if (litifut_stop)
				litifut_stop();
			if (litifut_start)
				litifut_start();
			printf("%u\n", sum);
			return 7;
		}
	END
	flags="-I$root/include"
	link work ../work.c || return
	flags='' before='' directory=''
	run plain work

	verbose
	says 1 "recording to $(pwd)/data/trace/work.[0-9]*.trace"
	says 1 "recording is off"
	says 1 "recording is on"
	is "and nothing else" "$(wc -l <words)" 3

	verbose LITIFUT_START=off
	says 1 "recording is off (LITIFUT_START), would go to $(pwd)/data/trace/work.[0-9]*.trace"
	says 1 "recording is on"
	is "nothing is said to be recorded yet" "$(grep -c 'recording to' words)" 0

	verbose LITIFUT_CLOCK=mono LITIFUT_BULK_KB=0 LITIFUT_MAX_MB=1
	says 1 "no room for more, calls are counted as lost: LITIFUT_MAX_MB"
	verbose LITIFUT_CLOCK=mono LITIFUT_BULK_KB=0 LITIFUT_MAX_MB=1x
	says 1 "wrong and ignored, see litifut(1): LITIFUT_MAX_MB=1x"
	says 0 "no room for more, calls are counted as lost: LITIFUT_MAX_MB"

	mkdir -p usb
	verbose "LITIFUT_COPY_TO=$(pwd)/usb"
	# at litifut_stop() and at the end
	says 2 "copied to $(pwd)/usb/trace/work.[0-9]*.trace"
	says 2 "copied to $(pwd)/usb/maps/work.[0-9]*.maps"
	verbose LITIFUT_COPY_TO=/proc/none
	says 2 "can't copy to /proc/none/trace/work.[0-9]*.trace: no such file or directory"

	verbose LITIFUT_CLOCK=fast LITIFUT_DEDUP=yes LITIFUT_BULK_KB=64k LITIFUT_START=of
	says 1 "wrong and ignored, see litifut(1): LITIFUT_CLOCK=fast"
	says 1 "wrong and ignored, see litifut(1): LITIFUT_DEDUP=yes"
	says 1 "wrong and ignored, see litifut(1): LITIFUT_BULK_KB=64k"
	says 1 "wrong and ignored, see litifut(1): LITIFUT_START=of"
	is "and of no other" "$(grep -c 'wrong and ignored' words)" 4
	"$BUILD/bin/litifut-post" data traced/work 2>&1 >calls.txt | grep understand |
		sed 's/.*LITIFUT_//' | sort >post.txt
	is "the trace says so, too, and what the values may be" "$(tr '\n' '|' <post.txt)" \
		"BULK_KB: it takes a decimal number|CLOCK: it takes none, mono or cycle|DEDUP: it takes 1 or 0|START: it takes on or off|"
	verbose LITIFUT_CLOCK=mono LITIFUT_DEDUP=0 LITIFUT_BULK_KB=64 LITIFUT_START=
	is "all understood" "$(grep -c 'wrong and ignored' words)" 0
	ok "and in the trace" sh -c \
		"! '$BUILD/bin/litifut-post' data traced/work 2>&1 >/dev/null | grep understand"

	# a handler of the tracer would return to the instruction that has caused the fault, for ever
	for fault in 4 5 8 11 "$([ "$cpu" = arm ] && echo 7 || echo 10)"; do
		verbose LITIFUT_SIGNAL="$fault"
		says 1 "wrong and ignored, see litifut(1): LITIFUT_SIGNAL=$fault"
	done
	run plain work fault
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_SIGNAL=11"
	run traced work fault
	guest_environment=
	is "a fault ends the program as ever" "$(cat traced.status)" "$(cat plain.status)"
	run plain work

	verbose "LITIFUT_DIR=/$(printf '%600s' '' | tr ' ' x)"
	says 1 "not recording: LITIFUT_DIR is of no use"
	says 1 "wrong and ignored, see litifut(1): LITIFUT_DIR=/x*"
	ok "a folder whose name is too long: nothing is written elsewhere" [ ! -e litifut-data ]

	verbose LITIFUT_DRI=/tmp LITIFUT_EXCLUDE=main LITIFUT_A_VERY_LONG_NAME_OF_A_SETTING_THAT_THERE_IS_NOT=1
	says 1 "the recorder has no setting LITIFUT_DRI"
	says 1 "the recorder has no setting LITIFUT_EXCLUDE"
	says 1 "the recorder has no setting LITIFUT_A_VERY_LONG_NAME_OF_A_SETTING_T"
	is "and of no other" "$(grep -c 'no setting' words)" 3

	# without it, too, the trace has them; those of a link, which are not mistakes, are left out
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_MAXMB=1 LITIFUT_EXCLUDE=main LITIFUT_QUITE_ELSE=1"
	run traced work
	guest_environment=
	"$BUILD/bin/litifut-post" data traced/work 2>&1 >calls.txt | grep 'no setting' |
		sed 's/^litifut-post: //' | sort >post.txt
	ok "and so does a page" sh -c '"$1" -q -f html data traced/work | grep -c "the recorder has no setting LITIFUT_MAXMB"' \
		sh "$BUILD/bin/litifut-post"
	is "litifut-post names what is not a setting" "$(tr '\n' '|' <post.txt)" \
		"the recorder has no setting LITIFUT_MAXMB; did you mean LITIFUT_MAX_MB?|the recorder has no setting LITIFUT_QUITE_ELSE|"
	directory=/proc/none
	verbose
	says 1 "not recording, can't make /proc/none/trace/work.[0-9]*.trace: no such file or directory"
	is "and nothing else" "$(wc -l <words)" 1
	directory=''
	before='ulimit -f 8'
	verbose
	says 1 "not recording, no room for .*: file too large"
	is "nothing is left of it" "$(find data/trace -type f | wc -l)" 0
	before=''

	# stderr closed, a pipe without a reader, and a file at its limit
	sed 's/fputs.*//' work.c >silent.c
	flags="-I$root/include"
	link silent ../silent.c || return
	run plain silent
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_VERBOSE=1"
	run_in traced silent >traced.out 2>&-
	is "stderr closed: same exit" $? 7
	mkfifo pipe
	# shellcheck disable=SC2094
	(
		exec 3<>pipe 4>pipe 3>&-
		run_in traced silent >traced.out 2>&4
		echo $? >traced.status
	)
	ok "stderr a pipe that is not read: same exit" diff plain.status traced.status
	ok "stderr a pipe that is not read: same output" diff plain.out traced.out
	# shellcheck disable=SC2069 # stdout goes to the file, stderr to where it went
	(
		head -c 131072 /dev/zero
		ulimit -f 128 # of 512 or 1024 bytes
		run_in traced silent 2>&1 >traced.out
		echo $? >traced.status
	) >full
	ok "stderr a file at its limit: same exit" diff plain.status traced.status
	guest_environment=''
}

for_targets behaviour
