#!/bin/sh
# GNU ld puts .text.unlikely, .text.startup and such sections before all other code: where there is more of them than a
# branch reaches, 400 KB, islands stand between them as well, in any order of files and sections, and the functions
# stand in the order of a link without islands.
. "$(dirname "$0")/../lib.sh"
few_targets mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

# part NAME: seven functions that are called once, at the start, and seven that are seldom called, each of 4 KB
part()
{
	echo 'extern int sum;'
	echo 'int hop(int);'
	for i in 1 2 3 4 5 6 7; do
		cat <<-END
			static __attribute__((constructor)) void $1_begins_$i(void)
			{
				sum = hop(sum + $i);
				__asm__(".space 4000");
				if (sum & 2)
					sum -= $i;
			}
			static __attribute__((cold, noipa)) int $1_$i(int x)
			{
				x = hop(x) ^ $i;
				__asm__(".space 4000");
				return x & 4 ? x + hop($i) : x;
			}
		END
	done
	printf '%s\n' "__attribute__((cold)) int $1(int x)" "{ return $1_1(x) + $1_2(x) + $1_3(x) + $1_4(x) + $1_5(x) + $1_6(x) + $1_7(x); }"
}

sources()
{
	names="a b c d e f g h i j k l m n o p"
	for name in $names; do
		part "$name" >"part-$name.c"
	done
	{
		for name in $names; do
			echo "int $name(int);"
		done
		cat <<-'END'
			#include <stdio.h>
			int sum = 1;
			__attribute__((noipa)) int hop(int x) { return x & 8 ? x * 3 + 1 : x + 7; }
			int main(void)
			{
				printf("%d\n", sum);
		END
		for name in $names; do
			echo "sum = sum * 31 + $name(sum);"
		done
		printf '%s\n' 'printf("%d\n", sum);' 'return 0;' '}'
	} >main.c
	# each function of one object has a section, and eight objects are in two archives
	cat part-[a-d].c >large.c
	flags="-fPIC -ffunction-sections"
	compiler -c large.c
	flags="-fPIC"
	compiler -c main.c part-[e-p].c
	"$triplet-ar" rc libparts.a part-[m-p].o
	mv part-l.o 'part-l[1].o'
	"$triplet-ar" rcT libthin.a part-[i-k].o 'part-l[1].o'
	# in a pattern these letters would not stand for themselves, nor would those of a folder of scratch files
	mv part-h.o 'part-h[1]:.o'
	mkdir 'scratch[1]'
	flags=
}

# functions FOLDER: those of the program, by their places, in functions.FOLDER
functions()
{
	"$triplet-nm" -n "$1/program" | awk 'NF == 3 && $2 ~ /[tT]/ && $3 !~ /litifut/ { print $3 }' >"functions.$1"
}

# left_at_most COUNT
left_at_most()
{
	"$BUILD/bin/litifut" info traced/program | sed '/recorded in/d'
	[ "$("$BUILD/bin/litifut" info traced/program | sed -n 's/^  sites left  *//p')" -le "$1" ]
}

# The section SECTION of the parts is longer than three branches reach.
is_long()
{
	[ "$("$triplet-size" -A large.o part-?.o | awk -v name="$1" 'index($1, name) == 1 { sum += $2 } END { print sum }')" -gt $((3 * 131072)) ]
}

# A linker that leaves a copy of its script in `script`
keep_script()
{
	mkdir linkers
	cat >linkers/ld <<-END
		#!/bin/sh
		for word; do
			case \$word in
			--script=*) cp "\${word#--script=}" "$PWD/script" ;;
			esac
		done
		exec "$(command -v "$triplet-ld.bfd")" "\$@"
	END
	chmod +x linkers/ld
}

# For a plain name in a script GNU ld 2.40 searches all inputs once for each section.
names_are_quick()
{
	grep '":.*/part-e.o"(.text.unlikely' script && grep '"[^":]*\[.*art-i.o"(.text.unlikely' script && ! grep '^ *"[^:[]*"(' script
}

behaviour()
{
	sources
	keep_script
	objects=$(for name in e f g "h[1]:"; do echo "../part-$name.o"; done)
	for section in .text.unlikely .text.startup; do
		ok "$section is long" is_long $section
	done
	for mode in paths coverage ${LONG:+counts}; do
		rm -rf plain traced
		export LITIFUT_MODE="$mode"
		# shellcheck disable=SC2086
		TMPDIR="$PWD/scratch[1]" COMPILER_PATH=$PWD/linkers link program ../main.o ../large.o $objects ../libthin.a ../libparts.a -Wl,--gc-sections || continue
		ok "$mode: nearly all places are recorded" left_at_most 3
		same_run program
		functions plain
		functions traced
		ok "$mode: names in the script take no time" names_are_quick
		ok "$mode: functions keep their order" diff functions.plain functions.traced
		case $mode in
		paths) blocks_equal "" program ;;
		coverage) flags_equal_edges program ;;
		counts) counts_equal_calls '' program ;;
		esac
	done
	unset LITIFUT_MODE
}

for_targets behaviour
