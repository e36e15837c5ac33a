#!/bin/sh
# The outcome is the plain linker's: exit status, words, and which files there are with which
# modes, whatever the command line and the files that were there before.
TARGETS=${TARGETS:-"armhf mips"}
. "$(dirname "$0")/../lib.sh"

# outcome COMMAND: what a shell command does in the folder `work`
outcome()
{
	rm -rf work && mkdir work && cp ./*.o work
	(cd work && eval "$1") >out.text 2>err.text
	echo "exit status $?"
	echo "output:" && cat out.text
	echo "errors:" && cat err.text
	(cd work && find . -printf '%p %M %n %l\n' | sort)
}

# same DESCRIPTION COMMAND: the same outcome, and traced if the file `program` comes of it
same()
{
	front='' outcome "$2" >plain.text
	kind=$(head -c 4 work/program 2>/dev/null | tail -c 3)
	front="$BUILD/bin/litifut build -q" outcome "$2" >traced.text
	ok "$linker, $1: the same outcome" diff plain.text traced.text
	[ "$kind" != ELF ] ||
		ok "$linker, $1: traced" sh -c "'$BUILD/bin/litifut' info work/program | grep -q ': rewritten'"
}

link()
{
	compiler -fuse-ld="$linker" main.o other.o "$@"
}

behaviour()
{
	printf '%s\n' '#include <stdio.h>' 'int other(int);' \
		'int main(void) { printf("%d\n", other(2)); return 0; }' >main.c
	echo '__attribute__((noipa)) int other(int x) { return x + 1; }' >other.c
	flags=-fPIC
	compiler -c -o main.o main.c
	compiler -c -o other.o other.c
	flags=
	for linker in bfd gold; do
		same "-o without a value" '$front "$triplet-ld.$linker" -e main main.o other.o -o'
		same "-Map without a value" '$front "$triplet-ld.$linker" -e main main.o other.o -o program -Map'
		same "two -o" 'link -Wl,-o,first -o program'
		same "an undefined symbol" 'compiler -fuse-ld=$linker -o program main.o'
		same "the map in a folder that is not there" 'link -o program -Wl,-Map=no/map'
		same "a map that is there" 'echo old >map && chmod 600 map && link -o program -Wl,-Map=map'
		same "a map through a link" 'ln -s real map && link -o program -Wl,-Map=map'
		same "mode by umask" 'umask 027 && link -o program -Wl,-Map=map'
		same "no mode at all" 'umask 777 && link -o closed && umask 0'
		for mode in 400 600 640 666; do
			same "an empty output of mode $mode" "touch program && chmod $mode program && link -o program"
		done
		same "an output of mode 600" 'echo x >program && chmod 600 program && link -o program'
		same "a linked output" 'echo x >program && ln program other && link -o program'
		same "an empty linked output" 'touch program && ln program other && link -o program'
		same "a link to nothing" 'ln -s target program && link -o program'
		same "an output that is a folder" 'mkdir program && link -o program'
		same "a name that is too long" 'link -o "$(printf %0256d 0)"'
		same "a name as long as can be" 'link -o "$(printf %0255d 0)"'
		same "odd letters" 'link -o "a \"b\\c*?\$"'
		same "no standard input" 'link -o program <&-'
		same "no standard output" 'link -o program >&-'
		same "no standard files" 'link -o program <&- >&- 2>&-'
		same "words of the linker to a closed stderr" 'link -o program -Wl,-t <&- >&- 2>err && wc -l <err'
	done
	linker=bfd
	same "an input as the output" 'cp other.o copy && compiler -o copy main.o copy; cmp copy other.o'
	same "a library as its own input" 'compiler -shared -o libother.so other.o &&
		compiler -shared -L. -o libother.so main.o -lother; echo $?'
	linker=gold
	same "a map that is a folder" 'mkdir map && link -o program -Wl,-Map=map'
	same "a map that is not kept" 'link -o program -Wl,-Map=/dev/null && ls -l /dev/null'
	same "a map to a closed output" 'link -o program -Wl,-M >&-'
}

for_targets behaviour
