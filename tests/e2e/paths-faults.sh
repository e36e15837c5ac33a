#!/bin/sh
# LITIFUT_MODE=paths: the block in which a program crashes is in its trace, also where its first
# instruction faults: in functions that are called through a pointer, as leaves, with or without a frame,
# in those that do nothing but fault, and in cases of a switch. LITIFUT_MODE=coverage has them as executed.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

sources()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>

		struct item { int value, more, *far; char room[100]; double number; };
		struct item *volatile nothing;
		volatile int side, one = 1;

		static int get(struct item *item, int n) { return item->value; }
		static int set(struct item *item, int n) { item->more = n; return 0; }
		static int get_two(struct item *item, int n) { return item->value + item->more + n; }
		static int get_far(struct item *item, int n) { return *item->far; }
		static int get_both(struct item *item, int n)
		{
			return item->value ? item->more : n;
		}
		static int number(struct item *item, int n) { return item->number > n; }
		static int jumps(struct item *item, int n)
		{
			do
				n += item->value;
			while (n < 10);
			return n;
		}
		static int only(struct item *item, int n)
		{
			struct item *null = 0;

			null->value = 0;
			return side;
		}
		static int traps(struct item *item, int n) { __builtin_trap(); }
		static int sets_and_traps(struct item *item, int n)
		{
			side = n;
			__builtin_trap();
		}
		static int calls(struct item *item, int n)
		{
			item->value = printf("%d\n", n);
			return rand();
		}
		__attribute__((noipa)) static int deeper(int n) { return n + side; }
		static int calls_own(struct item *item, int n) { return deeper(item->value + n); }
		static int next(struct item *item, int n)
		{
			return deeper(n) + deeper(item->value);
		}
		static int (*volatile const all[])(struct item *, int) = {get, set, get_two, get_far, get_both,
			number, jumps, only, traps, sets_and_traps, calls, calls_own, next};

		/* the cases of a switch */
		__attribute__((noipa)) static int choose(struct item *item, int n)
		{
			switch (n) {
			case 0: side = item->value; break;
			case 1: item->more = n; side += 7; break;
			case 2: return item->value;
			case 3: side ^= 5; break;
			case 4: if (item->more) side++; break;
			case 5: item->value++; side += deeper(n); break;
			case 6: deeper(item->value); side--; break;
			case 7: side = 3 * item->more; return n;
			default: __builtin_trap();
			}
			return side + n;
		}

		int main(int argc, char **argv)
		{
			struct item item = {1, 20, &item.value};
			const int which = atoi(argv[1]), functions = sizeof(all) / sizeof(*all);
			int sum = 0;

			for (int i = 0; i < functions; i++)
				sum += i == 7 || i == 8 || i == 9 ? 0 : all[i](&item, i);
			for (int i = 0; i < 8; i++)
				sum += choose(&item, i);
			printf("%d\n", sum);
			fflush(stdout);
			if (which < functions)
				all[which](nothing, which);
			else
				choose(nothing, which - functions);
			return 0;
		}
	END
}

# crashes_in NUMBER...: each is that of a function of all[], or behind them of a case of the switch
crashes_in()
{
	for number in "$@"; do
		same_run program "$number"
		ok "$number: it is killed" grep -q '^1[0-9][0-9]$' plain.status
		blocks_equal --killed program "$number"
	done
	# there is no room in a function that is one instruction of 2 or 4 bytes
	is "$flags: what is left of the functions" "$("$BUILD/bin/litifut" info --skipped traced/program |
		sed -n 's/.* in //p' | grep -c '^\(choose\|get\|set\|only\)')" 0
}

behaviour()
{
	[ "$target" != armel ] || return 0 # its CPUs may be older: there is no such mode
	sources
	flags=-O2
	export LITIFUT_MODE=coverage
	link program ../main.c && same_run program 7
	"$BUILD/bin/litifut-post" -q -f lcov -o lines.info data traced/program
	is "coverage: the function that only faults" "$(sed -n '/^FNDA:.*,\(only\|sets_and_traps\)/p' lines.info)" \
		"$(printf '%s\n' FNDA:1,only FNDA:0,sets_and_traps)"
	export LITIFUT_MODE=paths
	rm -rf plain traced
	link program ../main.c && crashes_in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17 18 19 20 21
	flags="-O1 -no-pie"
	rm -rf plain traced
	link program ../main.c && crashes_in 1 3 6 7 13 15 17 19
}

for_targets behaviour
