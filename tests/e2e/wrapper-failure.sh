#!/bin/sh
# Whatever goes wrong with the tracer, the user has the plain linker's output and
# one line of warning; with LITIFUT_STRICT=1 an error and no output.
TARGETS=${TARGETS:-"armhf mipsel"}
. "$(dirname "$0")/../lib.sh"

# untraced DESCRIPTION ENVIRONMENT...: links with it, expects the plain bytes.
untraced()
{
	description=$1
	shift
	rm -rf traced && mkdir traced
	(cd traced && front="env $* $BUILD/bin/litifut build -q" compiler -o program ../main.o) \
		>traced.log 2>&1
	is "$description: exit status" $? 0
	ok "$description: the plain linker's bytes" cmp plain/program traced/program
	is "$description: one line of warning" "$(wc -l <traced.log)" 1
	is "$description: that names the file" \
		"$(grep -c '^litifut-ld: warning: program: left untraced: ' traced.log)" 1
	is "$description: nothing else in the folder" "$(ls -A traced)" program

	rm -rf traced && mkdir traced
	(cd traced && front="env $* $BUILD/bin/litifut build -q --strict" compiler -o program ../main.o) \
		>traced.log 2>&1
	is "$description, strict: exit status" $? 1
	is "$description, strict: that names the file" \
		"$(grep -c '^litifut-ld: error: program: ' traced.log)" 1
	is "$description, strict: no output" "$(ls -A traced)" ""
}

# fails WORDS SHELL-COMMAND: what is reported of a linker that does this with the tracer inside;
# $output is where it should write.
fails()
{
	mkdir -p "failing"
	cat >failing/ld <<-END
		#!/bin/sh
		case "\$*" in *litifut-tracer.o*) ;; *) exec "$real" "\$@" ;; esac
		last=
		for word; do
			[ "\$last" = -o ] && output=\$word
			last=\$word
		done
		$2
	END
	chmod +x failing/ld
	rm -rf traced && mkdir traced
	(cd traced && front="env COMPILER_PATH=$(cd .. && pwd)/failing $BUILD/bin/litifut build -q" \
		compiler -o program ../main.o) >traced.log 2>&1
	is "a linker that does $2: exit status" $? 0
	ok "a linker that does $2: the plain linker's bytes" cmp plain/program traced/program
	is "a linker that does $2: what is reported" "$(cat traced.log)" \
		"litifut-ld: warning: program: left untraced: $1"
	is "a linker that does $2: nothing else in the folder" "$(ls -A traced)" program
}

# foreign FLAG...: a program for a CPU or ABI that is not supported.
foreign()
{
	for folder in plain traced strict; do
		rm -rf foreign/$folder && mkdir -p foreign/$folder
	done
	compiler "$@" -c -o foreign/main.o foreign.c
	set -- "$@" -nostdlib -static -Wl,-e,main -o program ../main.o
	(cd foreign/plain && compiler "$@") >foreign.log 2>&1
	is "$1: the toolchain links it" $? 0
	(cd foreign/traced && front="$BUILD/bin/litifut build -q" compiler "$@") >traced.log 2>&1
	is "$1: exit status" $? 0
	ok "$1: the plain linker's bytes" cmp foreign/plain/program foreign/traced/program
	is "$1: one line says so" "$(sed 's/untraced: .*/untraced/' traced.log)" \
		"litifut-ld: warning: program: left untraced"
	(cd foreign/strict && front="$BUILD/bin/litifut build -q --strict" compiler "$@") >traced.log 2>&1
	is "$1, strict: exit status" $? 1
	is "$1, strict: no output" "$(ls -A foreign/strict)" ""
}

behaviour()
{
	echo 'int helper(int x) { return x; } int main(void) { return helper(3); }' >foreign.c
	if [ "$cpu" = arm ]; then
		foreign -mbig-endian
		foreign -mbig-endian -marm -march=armv5t -mfloat-abi=soft
	else
		foreign -mabi=n32 -march=mips3
		foreign -mabi=64 -march=mips64
		foreign -mips32r6 -mnan=2008
	fi
	cat >main.c <<-'END'
		#include <stdio.h>
		int main(void) { return puts("hello") < 0; }
	END
	compiler -c -o main.o main.c
	mkdir plain tmp
	TMPDIR=$(pwd)/tmp
	export TMPDIR
	(cd plain && compiler -o program ../main.o)
	echo 'void litifut_record_trace(const void *call) { (void)call; missing(); }' >recorder.c
	compiler -w -ffreestanding -c -o recorder.o recorder.c
	gcc -c -o host-recorder.o -x c /dev/null
	echo "not an object" >text-recorder.o
	untraced "a recorder that is not there" LITIFUT_RECORDER="$(pwd)/nothing.o"
	untraced "a recorder with an undefined symbol" LITIFUT_RECORDER="$(pwd)/recorder.o"
	untraced "a recorder for another CPU" LITIFUT_RECORDER="$(pwd)/host-recorder.o"
	untraced "a recorder that is not an object" LITIFUT_RECORDER="$(pwd)/text-recorder.o"

	# An installation with a tracer that a full disk has cut short.
	mkdir -p installed/lib
	cp -r "$BUILD/bin" installed
	cp -r "$BUILD/lib/litifut" installed/lib
	for each in installed/lib/litifut/tracer-*; do
		: >"$each"
	done
	rm -rf traced && mkdir traced
	(cd traced && front="../installed/bin/litifut build -q" compiler -o program ../main.o) >traced.log 2>&1
	is "an empty tracer: exit status" $? 0
	ok "an empty tracer: the plain linker's bytes" cmp plain/program traced/program
	ok "an empty tracer: it is named" grep -q \
		"^litifut-ld: warning: program: left untraced: .*installed/.*/lib/litifut/tracer-[a-z0-9]*.o: " traced.log
	# Only what other CPUs need is installed.
	rm installed/lib/litifut/tracer-*
	rm -rf traced && mkdir traced
	(cd traced && front="../installed/bin/litifut build -q" compiler -o program ../main.o) >traced.log 2>&1
	is "no tracer: exit status" $? 0
	ok "no tracer: the plain linker's bytes" cmp plain/program traced/program
	ok "no tracer: the package is named" grep -q \
		"^litifut-ld: warning: program: left untraced: .*: no tracer for this CPU is installed (the package litifut-tracer-[a-z]* has it, or a build of LITIFUT without CPUS=)$" traced.log
	rm -r installed

	# A linker that fails every second time it is run for an output of the wrapper.
	mkdir -p broken
	real=$("$triplet-gcc" -print-prog-name=ld)
	real=$(command -v "$real")
	cat >broken/ld <<-END
		#!/bin/sh
		echo run >>"$(pwd)/runs"
		[ "\$(wc -l <"$(pwd)/runs")" = 2 ] && { echo "broken: out of luck" >&2; exit 1; }
		exec "$real" "\$@"
	END
	chmod +x broken/ld
	rm -rf traced runs && mkdir traced
	(cd traced && front="env LITIFUT_LINK_TWICE=1 COMPILER_PATH=$(cd .. && pwd)/broken \
		$BUILD/bin/litifut build -q" compiler -o program ../main.o) >traced.log 2>&1
	is "the second link fails: exit status" $? 0
	ok "the second link fails: the plain linker's bytes" cmp plain/program traced/program
	is "the second link fails: one line of warning" "$(wc -l <traced.log)" 1
	is "the second link fails: three links" "$(wc -l <runs)" 3
	is "the second link fails: nothing else in the folder" "$(ls -A traced)" program
	inside="the linker fails with the tracer inside:"
	{
		fails "$inside ended by signal 9 (Killed)" 'echo half >$output; kill -9 $$'
		fails "$inside exit status 3" 'exit 3'
		fails "$inside ld: cannot find litifut/litifut-tracer.o" \
			'echo "ld: warning: beware"; echo "ld: cannot find $(ls -d "$TMPDIR"/*/litifut-tracer.o)"; exit 1'
		fails "not an ELF file" 'echo half >$output'
		fails "cannot open: No such file or directory" 'true'
		fails "neither an executable nor a shared library" 'cp ../main.o $output'
	}
	is "no temporary files are left" "$(find tmp -name 'litifut-ld-*')" ""
	unset TMPDIR
}

for_targets behaviour
