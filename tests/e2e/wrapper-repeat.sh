#!/bin/sh
# The same inputs give the same bytes, however often and in whatever company:
# many links at once into one folder, even to one output, do not disturb another.
TARGETS=${TARGETS:-"armhf mipsel"}
. "$(dirname "$0")/../lib.sh"

traced_compiler()
{
	front="$BUILD/bin/litifut build -q" compiler "$@"
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		__attribute__((noipa)) int twice(int x) { return 2 * x; }
		int main(void) { printf("%d\n", twice(NUMBER)); return 0; }
	END
	for number in 1 2 3 4 5 6 7 8; do
		compiler -DNUMBER=$number -c -o main-$number.o main.c
	done
	traced_compiler -o first main-1.o
	cp first again
	traced_compiler -o first main-1.o
	ok "a second link gives the same bytes" cmp first again
	mkdir -p "other folder" tmp
	(cd "other folder" && TMPDIR=$(pwd)/../tmp traced_compiler -o first ../main-1.o)
	ok "and so from another folder and with another TMPDIR" cmp first "other folder/first"
	# versions, and no name of its own: its base is the output's name
	echo 'ONE { global: twice; local: *; };' >versions
	compiler -fPIC -DNUMBER=1 -c -o pic.o main.c
	for folder in here there; do
		mkdir $folder
		(cd $folder && traced_compiler -shared -Wl,--version-script=../versions -o twice.so ../pic.o)
	done
	ok "and so a library with versions" cmp here/twice.so there/twice.so
	ok "its base has its name" sh -c "readelf -VW here/twice.so | grep -q 'BASE .*Name: twice.so\$'"
	# a static program, so that there is more than one piece of code to share out
	traced_compiler -static -o many main-1.o
	one=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')
	mkdir one
	(cd one && front="taskset -c $one $BUILD/bin/litifut build -q" compiler -static -o many ../main-1.o)
	ok "and so with one processor" cmp many one/many
	cat >Makefile <<-'END'
		.RECIPEPREFIX = >
		all: $(addprefix program-,1 2 3 4 5 6 7 8) $(addprefix same-,1 2 3 4)
		program-%: main-%.o
		> $(CC) -o $@ $<
		same-%: main-1.o
		> $(CC) -o same main-1.o
	END
	"$BUILD/bin/litifut" build -q make -j8 CC="$triplet-gcc $machine_flags" >make.log 2>&1
	is "make -j8: exit status" $? 0
	ok "make -j8: no words of the wrapper" sh -c '! grep ^litifut make.log'
	for number in 1 2 3 4 5 6 7 8; do
		mkdir -p traced
		mv program-$number traced/program
		run traced program
		is "program $number of 8" "$(cat traced.out)" $((2 * number))
	done
	mv same traced/program
	run traced program
	is "four links at once to one output: one of them" "$(cat traced.out)" 2
	is "nothing is left in the folder" "$(find . -name '.litifut*')" ""
}

for_targets behaviour
