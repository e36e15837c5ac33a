#!/bin/sh
# MIPS images of mixed code: non-PIC that calls PIC through the stubs that the
# linker makes, calls through a PLT and through lazy-binding stubs, MIPS16 and
# microMIPS functions beside others, and release 6, which is refused in words.
. "$(dirname "$0")/../lib.sh"
few_targets mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

sources()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		int pic_leaf(int), pic_uses_data(int), pic_tail(int), pic_calls_back(int, int (*)(int));
		static KEEP int local(int x) { return x * 5; }
		KEEP int global(int x) { return local(x) + pic_leaf(x); }
		static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
		int main(void)
		{
			int numbers[] = {4, 2, 9, 1};
			int (*volatile pointer)(int) = pic_leaf;
			char text[20];
			qsort(numbers, 4, sizeof(int), compare);
			strcpy(text, "abc");
			for (int i = 0; i < 3; i++)
				printf("%d %d %d %d %d %zu\n", global(i), pic_uses_data(i), pic_tail(i),
				       pic_calls_back(i, local), pointer(i), strlen(text + i));
			return numbers[0];
		}
	END
	cat >pic.c <<-'END'
		#define KEEP __attribute__((noipa))
		static int counter = 10;
		KEEP int pic_leaf(int x) { return x + 1; }
		KEEP int pic_uses_data(int x) { return pic_leaf(counter += x) * 2; }
		KEEP int pic_tail(int x) { return pic_leaf(counter + x); }
		KEEP int pic_calls_back(int x, int (*back)(int)) { return back(x) + back(x + 1); }
	END
	cat >compact.c <<-'END'
		int plain_leaf(int);
		__attribute__((noipa)) int compact(int x) { return plain_leaf(x) + plain_leaf(x + 1); }
	END
	cat >compact_main.c <<-'END'
		#include <stdio.h>
		int compact(int);
		__attribute__((noipa)) int plain_leaf(int x) { return x * 3; }
		int main(void) { printf("%d %d\n", compact(5), plain_leaf(1)); return 0; }
	END
	cat >six.c <<-'END'
		__attribute__((noipa)) int six_leaf(int x) { return x; }
		int six(int x) { return six_leaf(x) + 1; }
	END
}

# How many sites of FILE were left for REASON.
left()
{
	"$BUILD/bin/litifut" info "$1" | awk -v reason="$2" '$1 == reason { print $2; found = 1 } END { if (!found) print 0 }'
}

# refused OUTPUT WORDS FLAGS...: links six.c with FLAGS; OUTPUT is there, not traced, and
# one line says why, but of a partial link nothing.
refused()
{
	refused_output=$1
	refused_words=$2
	shift 2
	rm -f "$refused_output"
	"$BUILD/bin/litifut" build -q "$triplet-gcc" -nostdlib "$@" -o "$refused_output" six.c \
		2>six.log || return
	cat six.log
	[ -s "$refused_output" ] && ! grep -q '[.]litifut' "$refused_output" &&
		[ "$(grep litifut six.log)" = "${refused_words:+litifut-ld: warning: $refused_output: left untraced: $refused_words}" ]
}

behaviour()
{
	sources
	ok "compile PIC" compiler -O2 -fPIC -c pic.c || return
	flags="-O2 -fno-pic -no-pie -mplt"
	link fixed ../main.c ../pic.o || return
	ok "the linker made stubs to call PIC" sh -c "'$triplet-nm' traced/fixed | grep -q '[.]pic[.]'"
	ok "and a PLT" sh -c "'$triplet-readelf' -SW traced/fixed | grep -q ' [.]plt '"
	same_run fixed
	events_equal_calls fixed
	is "nothing is out of reach" "$(left traced/fixed out-of-reach)" 0

	flags="-O2 -fno-pic -static"
	link fixed-static ../main.c ../pic.o || return
	same_run fixed-static
	events_equal_calls fixed-static

	flags="-O2 -shared"
	link libpic.so ../pic.o || return
	flags="-O2"
	link lazy ../main.c -L. -lpic || return
	ok "functions of libraries have lazy stubs" \
		sh -c "'$triplet-readelf' -SW traced/lazy | grep -q 'MIPS.stubs'"
	same_run lazy
	events_equal_calls lazy

	flags="-O2 -minterlink-compressed"
	ok "compile MIPS16" compiler -mips16 -c compact.c || return
	link compact ../compact_main.c ../compact.o || return
	same_run compact
	is "the calls of MIPS16 code are counted" "$(left traced/compact foreign-isa)" 2
	events_equal_calls compact

	flags="-O2 -fno-pic -no-pie -mplt -minterlink-compressed"
	ok "compile MIPS16 for a fixed address" compiler -mips16 -c compact.c || return
	link compact-fixed ../compact_main.c ../compact.o || return
	ok "the caller of MIPS16 code does it by jalx" \
		sh -c "'$triplet-objdump' -d traced/compact-fixed | grep -q 'jalx.*compact'"
	same_run compact-fixed
	is "jalx, and the calls of MIPS16 code, are counted" "$(left traced/compact-fixed foreign-isa)" 3
	events_equal_calls compact-fixed
	is "calls beside it are traced" "$(recorded plain_leaf)" 1

	flags=
	ok "link microMIPS" compiler -O2 -mmicromips -c compact.c -o micro.o || return
	link libmicro.so -shared ../micro.o || return
	is "the calls of microMIPS code are counted" "$(left traced/libmicro.so foreign-isa)" 2

	awk 'BEGIN {
		print "int plain_leaf(int);"
		for (i = 0; i < 40; i++)
			print "int f" i "(int x) { return plain_leaf(x) + " i "; }"
	}' >many.c
	flags="-O2 -mmicromips"
	# shellcheck disable=SC2086
	"$BUILD/bin/litifut" build -q "$triplet-gcc" $flags -shared -o libmany.so many.c 2>many.log
	is "a link whose calls are mostly of such code says so" \
		"$(sed 's/[0-9][0-9]*/N/g' many.log)" "litifut-ld: warning: libmany.so: N of N calls\
 are not traced: MIPSN or microMIPS code, or a jalx into it"
	flags=

	six="-mips32r6 -mnan=2008"
	n32="-march=mips64 -mabi=n32"
	n64="-march=mips64 -mabi=64"
	# shellcheck disable=SC2086
	for kind in "-Wl,-e,six" "-shared -fPIC"; do
		ok "release 6: linked, not traced, and said so" \
			refused six.so "MIPS release 6 is not supported" $six $kind
		ok "n32: the same" refused six.so "the MIPS n32 ABI is not supported" $n32 $kind
		ok "n64: the same" refused six.so "the MIPS n64 ABI is not supported" $n64 $kind
	done
	for kind in "$six" "$n32" "$n64"; do
		# shellcheck disable=SC2086
		ok "$kind: a partial link is as ever" refused six.o "" $kind -r
	done
}

for_targets behaviour
