#!/bin/sh
# Without LITIFUT=1 the wrapper is the linker: the same bytes, the same exit
# status, the same words.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		int other(int x);
		int main(void) { return printf("%d\n", other(1)) == 0; }
	END
	echo 'int other(int x) { return x + 1; }' >other.c
	ok "compile" compiler -fPIC -c main.c other.c || return
	# `litifut env` is not needed: build sets the same things, and the inner
	# command takes LITIFUT away again
	wrapped="$BUILD/bin/litifut build -q env"
	for kind in -pie -no-pie -static -shared -r; do
		rm -f a.out plain.out wrapped.out
		"$triplet-gcc" $kind main.o other.o -o output 2>plain.err && cp output plain.file
		rm -f output
		for value in '-u LITIFUT' LITIFUT=0 LITIFUT=; do
			# shellcheck disable=SC2086
			$wrapped $value "$triplet-gcc" $kind main.o other.o -o output 2>wrapped.err
			ok "$kind with $value: the same bytes" cmp output plain.file
			ok "$kind with $value: the same words" diff wrapped.err plain.err
		done
	done
	# a link that fails
	"$triplet-gcc" main.o -o output 2>plain.err
	status=$?
	$wrapped -u LITIFUT "$triplet-gcc" main.o -o output 2>wrapped.err
	is "a failed link: exit status" $? "$status"
	# the linker's own name in front of its words may have another folder
	sed 's,^[^ ]*/,,; s,/tmp/[^ ]*,,' plain.err >plain.words
	sed 's,^[^ ]*/,,; s,/tmp/[^ ]*,,' wrapped.err >wrapped.words
	ok "a failed link: words" diff wrapped.words plain.words
	$wrapped LITIFUT=1 "$triplet-gcc" main.o -o output >/dev/null 2>&1
	is "a failed link with LITIFUT=1: exit status" $? "$status"
	ok "-v passes" sh -c "$wrapped LITIFUT=1 $triplet-gcc -Wl,--version | grep -q 'GNU ld'"
	ok "-r with LITIFUT=1 passes" sh -c \
		"$wrapped LITIFUT=1 $triplet-gcc -r main.o other.o -o output && cmp output plain.file"
}

for_targets behaviour
