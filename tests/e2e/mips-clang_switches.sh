#!/bin/sh
# Clang takes $at as other registers, and jumps by it to the cases of a switch, as an assembler does for branches that are too
# far for one: the targets are those of the table.
. "$(dirname "$0")/../lib.sh"
few_targets mipsel

compiler()
{
	# shellcheck disable=SC2086
	${front:-} clang --target="$triplet" $machine_flags -g $flags "$@"
}

switches_source()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noinline))
		static volatile int sink;
		KEEP int twice(int x) { sink = x; return 2 * x; }
		KEEP int square(int x) { sink = x; return x * x; }
		KEEP int cases(int x, int y)
		{
			switch (x) {
			case 0: return twice(y) + 1;
			case 1: return square(y);
			case 2: return y > 3 ? square(y - 9) : 2;
			case 3: return y * 3;
			case 4: sink = 4; return 4;
			case 5: return twice(y) + square(y);
			case 6: return 77 * y;
			default: return -1;
			}
		}
		/* an interpreter: the jump of each round, values that live across it */
		KEEP unsigned interpret(const char *code, unsigned a, unsigned b)
		{
			unsigned c = a ^ b, rounds = 0;
			for (;; code++, rounds++)
				switch (*code) {
				case 'a': a += b; break;
				case 'b': b = twice(b) + c; break;
				case 'c': c ^= a >> 3; if (c & 1) a++; break;
				case 'd': a -= c; continue;
				case 'e': b ^= square(a & 255); break;
				case 'f': if (rounds < 200) code -= 5; break;
				case 'g': c = c * 33 + rounds; break;
				case 0: return a + b + c + rounds;
				default: sink = rounds;
				}
		}
		/* two tables in one function, and a case that calls another */
		KEEP int nested(int x, int y)
		{
			int sum = 0;
			switch (x & 7) {
			case 0: sum += twice(x);
			case 1: sum += 3; break;
			case 2: sum -= y; break;
			case 3:
				switch (y & 7) {
				case 0: return cases(y, x);
				case 1: sum ^= 5; break;
				case 2: sum = square(sum); break;
				case 3: sum++;
				case 4: sum += y; break;
				case 5: return x;
				case 6: sum -= x; break;
				}
				break;
			case 4: sum = twice(y); break;
			case 5: sum = 1; break;
			case 6: sum = y / (x | 1); break;
			}
			return sum + x;
		}
		int main(int count, char **arguments)
		{
			long sum = 0;
			(void)arguments;
			for (int i = 0; i < 40; i++)
				sum = sum * 5 + cases(i % 9 - 1, i + count) + nested(i, i / 3) + nested(3, i);
			printf("%ld %u\n", sum, interpret("abcdefgabxcdeafgcb", 7, 11));
			return 0;
		}
	END
}

behaviour()
{
	command -v clang >/dev/null || {
		skip "clang" "there is no clang"
		return
	}
	switches_source
	for flags in "-O2 -fPIC" "-O1 -fPIC" "-Os -fno-pic -no-pie" "-O2 -fPIC -static"; do
		for mode in coverage paths spans; do
			export LITIFUT_MODE="$mode"
			rm -rf plain traced data
			link switches ../main.c || continue
			same_run switches
			"$BUILD/bin/litifut" info --skipped traced/switches >skipped
			is "$flags, $mode: jumps that are not understood" \
				"$(grep -c 'unknown-jump in \(cases\|interpret\|nested\)$' skipped)" 0
			case $mode in
			coverage) flags_equal_edges switches ;;
			paths) # where the code is position-independent, they are left for what stands at their cases
				case $flags in *-no-pie) blocks_equal "" switches ;; esac
				;;
			esac
		done
	done
}

for_targets behaviour
