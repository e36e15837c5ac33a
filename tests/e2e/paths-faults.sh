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

# A case of a switch that is nothing but a trap, with the next case behind it: there is no room to record that
# control comes to it, and it is the last that a thread does.
cases_source()
{
	cat >cases.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#ifdef __mips__
		__asm__(".text\n.set push\n.set noreorder\n.globl pick\n.type pick, @function\n.ent pick\npick:\n"
			"lui $28, %hi(_gp_disp)\naddiu $28, $28, %lo(_gp_disp)\naddu $28, $28, $25\n"
			"lw $8, %got(cases)($28)\nsll $9, $4, 2\naddu $8, $8, $9\nlw $8, 0($8)\njr $8\nnop\n"
			"case_0: addiu $2, $4, 5\naddiu $2, $2, 5\njr $31\nnop\n"
			"case_1: break\n"
			"case_2: addiu $2, $4, 7\naddiu $2, $2, 7\njr $31\nnop\n"
			".end pick\n.size pick, . - pick\n.set pop\n"
			".data\n.globl cases\n.type cases, @object\n.size cases, 12\n"
			"cases: .word case_0, case_1, case_2\n.text\n");
		#else
		__asm__(".text\n.syntax unified\n.globl pick\n.type pick, %function\n"
		#ifdef __thumb__
			".thumb\n.thumb_func\npick: adr.w r3, 1f\nldr.w r2, [r3, r0, lsl #2]\nadd r3, r2\nbx r3\n"
			".balign 4\n1: .word .Lcase0 - 1b + 1, .Lcase1 - 1b + 1, .Lcase2 - 1b + 1\n"
		#else
			".arm\npick: cmp r0, #2\naddls pc, pc, r0, lsl #2\nb .Lcase2\nb .Lcase0\nb .Lcase1\nb .Lcase2\n"
		#endif
			".Lcase0: add r0, r0, #500\neor r0, r0, #600\nbx lr\n"
			".Lcase1: udf #255\n"
			".Lcase2: add r0, r0, #700\neor r0, r0, #800\nbx lr\n"
			".size pick, . - pick\n");
		#endif
		int pick(int n);
		int main(int argc, char **argv)
		{
			int sum = 0;

			for (int i = 0; i < 20; i++)
				sum = 3 * sum + pick(i & 2);
			printf("%d\n", sum);
			fflush(stdout);
			return argc > 1 ? pick(atoi(argv[1])) : 0;
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
	rm -rf plain traced
	cases_source
	flags=-O2
	link cases ../cases.c || return
	is "a trap between two cases: the function is recorded" \
		"$("$BUILD/bin/litifut" info --skipped traced/cases | grep -c 'function-left in pick')" 0
	same_run cases
	blocks_equal "" cases
	same_run cases 1
	ok "the trap: litifut-post follows the trace" trace_followed traced/cases
	is "the trap: the last block but that one is recorded" \
		"$(awk -F '\t' 'END { print $NF }' blocks.tsv)" pick
}

for_targets behaviour
