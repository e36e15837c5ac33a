#!/bin/sh
# mold, by gcc -B and by clang: it is traced as other linkers are. It has no MIPS, which stays
# its own error. An unknown linker is left alone, in one line.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

mold=$(command -v mold)

# with OPTIONS...: one way to link the program through mold.
with()
{
	rm -rf plain traced
	link program ../main.c ../other.c "-B$(pwd)/mold" "$@" || return
	ok "$*: mold made it" made_by_mold
	same_run program
	events_equal_calls program
	ok "$*: no call is left" all_patched
}

made_by_mold()
{
	readelf -p .comment traced/program | grep 'mold'
}

all_patched()
{
	! "$BUILD/bin/litifut" info --skipped traced/program | grep '^0x'
}

unknown_linker()
{
	mkdir -p odd
	cat >odd/ld <<-END
		#!/bin/sh
		case \$* in
		*--version*) echo "Odd linker 1.0" ;;
		*) exec "$(command -v "$triplet-ld")" "\$@" ;;
		esac
	END
	chmod +x odd/ld
	compiler -c main.c other.c
	for strict in 0 1; do
		rm -f program
		front="env LITIFUT_STRICT=$strict $BUILD/bin/litifut build -q" compiler -Bodd -o program \
			main.o other.o >odd.log 2>&1
		is "an unknown linker, LITIFUT_STRICT=$strict: status" $? "$strict"
		is "an unknown linker: one line" "$(grep '^litifut' odd.log | grep -c 'not known')" 1
	done
	front="$BUILD/bin/litifut build -q" compiler -Bodd -o program main.o other.o 2>/dev/null
	is "an unknown linker: its output works" "$(run_in . program)" "$(printf '3\n4\n7')"
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		int twice(int x);
		int (*volatile pointer)(int) = twice;
		int main(void)
		{
			int sum = twice(3) + pointer(4);
			printf("%d\n", sum);
			return 0;
		}
	END
	cat >other.c <<-'END'
		#include <stdio.h>
		int twice(int x) { return printf("%d\n", x) + x - 2; }
		int never(void) { return puts("never"); }
	END
	unknown_linker
	if [ -z "$mold" ]; then
		skip "mold" "not installed"
		return
	fi
	mkdir mold
	ln -s "$mold" mold/ld
	if [ "$cpu" != arm ]; then
		compiler -o program main.c other.c "-B$(pwd)/mold" 2>plain.err
		plain_status=$?
		front="$BUILD/bin/litifut build -q" compiler -o program main.c other.c "-B$(pwd)/mold" 2>traced.err
		is "mold has no MIPS: status" $? "$plain_status"
		is "mold has no MIPS: words" "$(cat traced.err)" "$(cat plain.err)"
		return
	fi
	with
	with -no-pie
	with -static
	with -Wl,-q
	for mode in coverage paths; do
		[ "$mode$target" != pathsarmel ] || continue # which has none
		rm -rf plain traced
		LITIFUT_MODE=$mode
		export LITIFUT_MODE
		link program ../main.c ../other.c "-B$(pwd)/mold" && same_run program
		unset LITIFUT_MODE
		ok "$mode: what was recorded is read" "$BUILD/bin/litifut-post" -f coverage -o covered.txt data traced/program
		ok "$mode: its functions are there" grep -q '^yes .* twice ' covered.txt
	done
	with -ffunction-sections -Wl,--gc-sections
	rm -rf plain traced
	LITIFUT_EXCLUDE_OBJECTS=other.o
	export LITIFUT_EXCLUDE_OBJECTS
	compiler -c main.c other.c
	link program ../main.o ../other.o "-B$(pwd)/mold"
	unset LITIFUT_EXCLUDE_OBJECTS
	is "an object is excluded by mold's map" "$("$BUILD/bin/litifut" info --skipped traced/program |
		grep -c '^0x.* excluded in ')" 2
	rm -rf plain traced
	front_clang=clang
	[ "$triplet" = arm-linux-gnueabi ] && front_clang="clang -mfloat-abi=soft"
	mkdir traced
	# shellcheck disable=SC2086
	(cd traced && "$BUILD/bin/litifut" build -q $front_clang --target="$triplet" -fuse-ld=mold -O1 -o program \
		../main.c ../other.c) >traced.log 2>&1
	ok "clang -fuse-ld=mold: rewritten, and nothing to warn of" rewritten traced/program
	events_equal_calls program
}

for_targets behaviour
