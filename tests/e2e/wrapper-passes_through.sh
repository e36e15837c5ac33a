#!/bin/sh
# Links that make no program for the device are the plain linker's, with
# LITIFUT=1 as without: same bytes, same words, same exit status.
TARGETS=${TARGETS:-"armhf mips"}
. "$(dirname "$0")/../lib.sh"

# same DESCRIPTION OUTPUT COMMAND...: the command, with the linker's name left
# out, run with the plain linker and through the wrapper.
same()
{
	same_description=$1
	same_output=$2
	shift 2
	rm -f "$same_output"
	"$triplet-ld" "$@" >plain.out 2>plain.err
	echo $? >plain.status
	[ -f "$same_output" ] && mv "$same_output" plain.file
	"$BUILD/bin/litifut" build -q "$triplet-ld" "$@" >wrapped.out 2>wrapped.err
	echo $? >wrapped.status
	ok "$same_description: same exit status" cmp plain.status wrapped.status
	ok "$same_description: same output" diff plain.out wrapped.out
	ok "$same_description: same errors" diff plain.err wrapped.err
	if [ -f plain.file ]; then
		ok "$same_description: same bytes" cmp plain.file "$same_output"
	else
		ok "$same_description: no file either" test ! -e "$same_output"
	fi
	rm -f plain.file
}

behaviour()
{
	cat >main.c <<-'END'
		int helper(void);
		int _start(void) { return helper(); }
		int __start(void) { return helper(); }
	END
	echo 'int helper(void) { return 1; }' >helper.c
	compiler -ffreestanding -c -o main.o main.c
	compiler -ffreestanding -c -o helper.o helper.c
	cat >script.ld <<-'END'
		SECTIONS { . = 0x8000; .text : { *(.text*) } .data : { *(.data*) *(.bss*) } }
	END
	same "-r" all.o -r -o all.o main.o helper.o
	same "--relocatable" all.o --relocatable --output=all.o main.o helper.o
	same "-Ur" all.o -Ur -o all.o main.o helper.o
	same "--version" a.out --version
	same "-v" a.out -v
	same "-V" a.out -V
	same "--help" a.out --help
	same "--print-sysroot" a.out --print-sysroot
	same "--verbose" a.out --verbose
	same "no inputs" a.out -o a.out
	same "-T with a script" firmware -T script.ld -o firmware main.o helper.o
	same "--oformat binary" image --oformat binary -o image main.o helper.o
	same "-N" boot -N -o boot main.o helper.o
	same "-Ttext" boot -Ttext 0x8000 -o boot main.o helper.o
	same "an undefined symbol" program -o program main.o
	same "a missing input" program -o program main.o missing.o
	same "a folder that is not there" nowhere/program -o nowhere/program main.o helper.o
	same "an unknown option" program --no-such-option -o program main.o helper.o
	same "an unknown emulation" program -m nonsense -o program main.o helper.o
	same "relocations kept, symbols not" program -q -s -o program main.o helper.o
	same "a loader" ld.so.1 -shared -o ld.so.1 helper.o
	is "nothing is left in the folder" \
		"$(find . -name '.litifut*' -o -name 'litifut*' | wc -l)" 0

	(front="$BUILD/bin/litifut build -q" compiler -nostdlib -o /dev/null main.o helper.o) >null.log 2>&1
	is "-o /dev/null: exit status" $? 0
	is "-o /dev/null: no words" "$(cat null.log)" ""
	ok "-o /dev/null: still a device" test -c /dev/null
	echo 'int main(void) { return 0; }' >host.c
	gcc -o host.plain host.c && mv host.plain plain.file
	"$BUILD/bin/litifut" build -q gcc -o host.plain host.c
	ok "a link for the machine that builds: same bytes" cmp plain.file host.plain
}

for_targets behaviour
