#!/bin/sh
# Files and words that the user asks the linker for: the map, the dependency
# file, the traces and warnings. They come once, and name what the user named.
TARGETS=${TARGETS:-"armhf mips"}
. "$(dirname "$0")/../lib.sh"

traced_compiler()
{
	front="$BUILD/bin/litifut build -q" compiler "$@"
}

no_names_of_ours()
{
	! grep -n '\.litifut-[0-9]\|/litifut-ld-' "$@"
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		extern char *gets(char *);
		int common[4];
		int main(void) { char line[9]; return gets(line) ? puts(line) : 0; }
	END
	compiler -w -fcommon -std=gnu89 -c -o main.o main.c
	compiler -o plain main.o 2>plain.err
	traced_compiler -o traced main.o 2>traced.err
	ok "warnings come once, as without" diff plain.err traced.err
	ok "there was one" test -s plain.err

	traced_compiler -o traced main.o -Wl,-Map,link.map 2>link.err
	ok "-Map: lists the user's object" grep -q '^LOAD main.o' link.map
	ok "-Map: names the output" grep -q 'OUTPUT(traced ' link.map
	ok "-Map: no temporary names" no_names_of_ours link.map
	mkdir -p maps
	traced_compiler -o traced main.o -Wl,-Map=maps 2>link.err
	ok "-Map=FOLDER" grep -q 'OUTPUT(traced ' maps/traced.map
	traced_compiler -o traced main.o -Wl,-Map=%.txt 2>link.err
	ok "-Map=%.txt" grep -q 'OUTPUT(traced ' traced.txt
	traced_compiler -o traced main.o -Wl,-M 2>link.err >printed
	is "-M: printed once" "$(grep -c '^LOAD main.o' printed)" 1
	ok "-M: no temporary names" no_names_of_ours printed
	cp link.map again.map
	traced_compiler -o traced main.o -Wl,-Map,link.map 2>link.err
	ok "the map is the same each time" cmp link.map again.map

	compiler -o plain main.o -Wl,-t >plain.out 2>/dev/null
	traced_compiler -o plain main.o -Wl,-t >traced.out 2>/dev/null
	ok "-t lists the same files" diff plain.out traced.out
	compiler -o program main.o -Wl,--dependency-file=plain.d 2>/dev/null
	traced_compiler -o program main.o -Wl,--dependency-file=traced.d 2>/dev/null
	ok "--dependency-file is the same" diff plain.d traced.d
	for linker in bfd gold; do
		words="-fuse-ld=$linker -Wl,--gc-sections,--print-gc-sections"
		# shellcheck disable=SC2086
		compiler -o program main.o $words >plain.out 2>&1
		# shellcheck disable=SC2086
		traced_compiler -o program main.o $words >traced.out 2>&1
		ok "$linker --print-gc-sections lists the same" diff plain.out traced.out
		ok "$linker --print-gc-sections: traced" sh -c \
			"'$BUILD/bin/litifut' info program | grep -q ': rewritten'"
	done
	traced_compiler -o program main.o -fuse-ld=bfd -Wl,--orphan-handling=warn >traced.out 2>&1
	is "--orphan-handling: no section of the tracer" "$(own_words traced.out)" ""
	is "nothing else is left in the folder" "$(find . -name '.litifut*')" ""
}

for_targets behaviour
