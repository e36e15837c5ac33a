#!/bin/sh
# Ways to name inputs and outputs.
TARGETS=${TARGETS:-"armhf mips"}
. "$(dirname "$0")/../lib.sh"

functions="one two three"

sources()
{
	mkdir -p "a b" same
	for name in $functions; do
		echo "__attribute__((noipa)) int $name(int x) { return x + sizeof(\"$name\"); }" >"$name.c"
		compiler -c -o "a b/$name.o" "$name.c"
	done
	cat >main.c <<-'END'
		#include <stdio.h>
		int one(int), two(int), three(int);
		int main(void) { printf("%d\n", one(two(three(1)))); return 4; }
	END
	compiler -c -o main.o main.c
	# Two members of the same name in one archive.
	cp "a b/one.o" same/member.o
	"$triplet-ar" rc libsame.a same/member.o
	cp "a b/two.o" same/member.o
	"$triplet-ar" qc libsame.a same/member.o
	"$triplet-ar" q libsame.a "a b/three.o"
	"$triplet-ar" rcT "libthin.a" "a b/one.o" "a b/two.o" "a b/three.o"
	mkdir -p "lib dir"
	"$triplet-ar" rc "lib dir/libcalls.a" "a b/one.o" "a b/two.o" "a b/three.o"
}

fresh()
{
	rm -rf plain traced
	link "$@" && same_run "$1"
}

# All inputs are named by a script, as Free Pascal does, and none on the command line.
inputs_of_script()
{
	loader=$(readelf -lW plain/program | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	{
		echo "/* INPUT(nothing.o) */ INPUT($(compiler -print-file-name=crt1.o) , $(compiler -print-file-name=crti.o)"
		echo '"../main.o")'
		echo "GROUP(\"../a b/one.o\" ../libsame.a AS_NEEDED($(compiler -print-file-name=libc.so.6)))"
		echo "INPUT($(compiler -print-file-name=crtn.o))"
		echo 'SECTIONS { .added : { KEEP(*(.added)) } } INSERT AFTER .data;'
	} >objects.script
	rm -rf plain traced
	mkdir plain traced
	(cd plain && "$triplet-ld" -dynamic-linker "$loader" -T ../objects.script -o program)
	(cd traced && "$BUILD/bin/litifut" build -q "$triplet-ld" -dynamic-linker "$loader" \
		-T ../objects.script -o program) >traced.log 2>&1
	ok "inputs of a script: rewritten, and nothing to warn of" rewritten traced/program
	same_run program
}

# A pipe can be read only once, and that is for the linker.
script_in_pipe()
{
	echo 'SECTIONS { .added : { KEEP(*(.added)) } } INSERT AFTER .data;' >insert.script
	ok "a script in a pipe: it links" sh -c \
		"cat insert.script | '$BUILD/bin/litifut' build '$triplet-gcc' $machine_flags main.o 'a b'/*.o -T /dev/stdin -o piped 2>piped.log"
	ok "a script in a pipe: litifut build says why it is not traced" \
		grep 'a linker script that can be read only once (-T)' piped.log
}

behaviour()
{
	sources
	fresh program ../main.o "../a b/one.o" "../a b/two.o" "../a b/three.o"
	fresh "pro gram" ../main.o "../a b/one.o" "../a b/two.o" "../a b/three.o"
	fresh program ../main.o ../libsame.a
	fresh program ../main.o ../libthin.a
	inputs_of_script
	script_in_pipe
	fresh program ../main.o -L"../lib dir" -lcalls
	fresh program ../main.o -L"../lib dir" -l:libcalls.a
	fresh program ../main.o -Wl,--start-group ../libsame.a ../libthin.a -Wl,--end-group
	printf '%s\n' '-Wl,-O1' '"../a b/one.o"' "'../a b/two.o'" '../a\ b/three.o' >arguments
	fresh program ../main.o @../arguments
	fresh program ../main.o -Wl,@../words
	events_equal_calls program
	printf '%s\n' 'int other_answer = 4;' >data.txt
	fresh program ../main.o "../a b/one.o" "../a b/two.o" "../a b/three.o" \
		-Wl,-b,binary,../data.txt,-b,"elf32-$format"

	rm -rf plain traced && mkdir traced
	(cd traced && front="$BUILD/bin/litifut build -q" compiler ../main.o ../libsame.a) >traced.log 2>&1
	ok "no -o: a.out" rewritten traced/a.out
	is "no -o: nothing else in the folder" "$(ls -A traced)" a.out

	# The working folder can't be written to, nor can the sources.
	mkdir -p read-only out
	cp main.o libsame.a read-only
	chmod a-w read-only read-only/*
	(cd read-only && front="$BUILD/bin/litifut build -q" compiler -o ../out/program main.o libsame.a) \
		>traced.log 2>&1
	ok "in a read-only folder" rewritten out/program
	chmod u+w read-only

	other=$(mktemp -d /dev/shm/litifut-test-XXXXXX 2>/dev/null)
	if [ -n "$other" ]; then
		(front="$BUILD/bin/litifut build -q" compiler -o "$other/program" main.o libsame.a) \
			>traced.log 2>&1
		ok "an output on another file system" rewritten "$other/program"
		is "nothing else is left there" "$(ls -A "$other")" program
		rm -rf "$other"
	else
		skip "an output on another file system" "no /dev/shm"
	fi

	rm -rf out && mkdir out
	ln -s elsewhere out/program
	echo old >out/elsewhere
	(front="$BUILD/bin/litifut build -q" compiler -o out/program main.o libsame.a) >traced.log 2>&1
	is "a link in the output's place is replaced, not followed" "$(cat out/elsewhere)" old
	ok "and rewritten" rewritten out/program

	# More words than the kernel takes in one exec go through a response file.
	i=0
	: >many
	while [ $i -lt 6000 ]; do
		echo "-L$(pwd)/a-folder-that-is-not-there/number-$i" >>many
		i=$((i + 1))
	done
	fresh program ../main.o ../libsame.a -Wl,@../many
}

in_target()
{
	case $target in
	arm*) format=littlearm ;;
	mips) format=tradbigmips ;;
	mipsel) format=tradlittlemips ;;
	esac
	printf '%s\n' '"../a b/one.o"' "'../a b/two.o'" '../a\ b/three.o' >words
	behaviour
}

for_targets in_target
