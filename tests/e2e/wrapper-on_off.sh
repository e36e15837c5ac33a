#!/bin/sh
# What LITIFUT says is what is done: 1 rewrites, all else gives the plain linker's bytes.
TARGETS=${TARGETS:-"armhf mipsel"}
. "$(dirname "$0")/../lib.sh"

# wrapped FOLDER VALUE: links into FOLDER through the wrapper with LITIFUT=VALUE.
wrapped()
{
	mkdir -p "$1"
	(cd "$1" && front="$BUILD/bin/litifut build -q env LITIFUT=$2" compiler -o program ../main.o) \
		2>"$1.log"
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		int main(void) { return puts("hello") < 0; }
	END
	compiler -c -o main.o main.c
	mkdir plain
	(cd plain && compiler -o program ../main.o)
	for value in '' 0 1 2 yes; do
		wrapped "with-$value" "$value"
	done
	ok "LITIFUT empty: the plain linker's bytes" cmp plain/program with-/program
	is "and no words" "$(cat with-.log)" ""
	ok "LITIFUT=0: the plain linker's bytes" cmp plain/program with-0/program
	is "and no words" "$(cat with-0.log)" ""
	ok "LITIFUT=2: the plain linker's bytes" cmp plain/program with-2/program
	is "and one line of warning" "$(grep -c '^litifut-ld: warning: LITIFUT:' with-2.log)" 1
	ok "LITIFUT=yes: the plain linker's bytes" cmp plain/program with-yes/program
	ok "LITIFUT=1: rewritten" sh -c "'$BUILD/bin/litifut' info with-1/program | grep -q ': rewritten'"
	is "and no words" "$(cat with-1.log)" ""
}

for_targets behaviour
