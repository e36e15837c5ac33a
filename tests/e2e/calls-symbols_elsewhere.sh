#!/bin/sh
# Symbols whose values are not addresses: of sections that are not in memory, as link-time optimisation has them where
# debugging information is made, and thread variables, whose values are distances. Code at the same numbers is traced as it is
# without them.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mips

# Symbols at all multiples of 4 up to 128 KB, in a section that no segment holds and among the thread variables
elsewhere()
{
	awk 'BEGIN {
		print ".section .elsewhere, \"\", %progbits"
		for (i = 0; i < 32768; i++)
			printf "elsewhere%d: .word 0\n", i
		print ".section .tbss, \"awT\", %nobits\n.balign 4"
		for (i = 0; i < 32768; i++)
			printf ".type variable%d, %%tls_object\nvariable%d: .space 4\n", i, i
		print ".section .note.GNU-stack, \"\", %progbits"
	}'
}

# What of the program was left. At fixed addresses, how many blocks count as entered from outside depends on these.
left_of()
{
	"$BUILD/bin/litifut" info --skipped "traced/$1" | grep -E '^  (sites left|returns) |^    [a-z-]+ +[0-9]+ |^0x' |
		sed 's/^0x[0-9a-f]* //; s/0x[0-9a-f]*//g'
}

behaviour()
{
	elsewhere >elsewhere.s
	# shellcheck disable=SC2086
	"$triplet-gcc" $machine_flags -c elsewhere.s || return
	cat >main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		KEEP static int one(int x) { return x % 3 ? x + 1 : x - 2; }
		KEEP static int other(int x) { return x & 4 ? one(x) : one(x + 1) * 2; }
		KEEP static int ends(int x) { return x > 5 ? other(x) : one(x); }
		KEEP static int loop(int x)
		{
			int sum = 0;
			for (int i = 0; i < x; i++) {
				if (i % 5 == 3)
					sum ^= ends(i);
				sum += i & 1 ? other(i) : one(i);
			}
			return sum;
		}
		int main(int argc, char **argv)
		{
			int (*pointer)(int) = argc > 5 ? one : loop;
			printf("%d %d\n", loop(20), pointer(9));
			return argv == 0;
		}
	END
	for options in -pie -no-pie; do
		for mode in calls spans coverage paths; do
			case $mode$target in
			*armel*) [ $mode = calls ] || [ $mode = coverage ] || continue ;;
			esac
			LITIFUT_MODE=$mode
			export LITIFUT_MODE
			# shellcheck disable=SC2086
			if link without $options ../main.c && link program $options ../main.c ../elsewhere.o; then
				same_run program
				[ $mode != calls ] || events_equal_calls program
				is "$options, $mode: no more is left" "$(left_of program)" "$(left_of without)"
			fi
			unset LITIFUT_MODE
		done
	done
}

for_targets behaviour
