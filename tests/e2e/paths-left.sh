#!/bin/sh
# LITIFUT_MODE=paths: a function that is left calls functions that end in a call of code that is not
# followed either. Nothing says when those return, so they must not pile up: the instructions of each
# function are those that the CPU executed, and with what it calls no function has more than all of them. One
# line names the functions that are left; a format that shows calls says that there are none.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel mips

program_source()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>

		static volatile unsigned sum;
		/* so that calls are made through the GOT, as in a library */
		#define SHOWN __attribute__((noipa))

		SHOWN unsigned count(unsigned n)
		{
			for (unsigned i = 0; i < n % 5; i++)
				sum += i;
			return sum;
		}
		static unsigned (*volatile counter)(unsigned) = count;
		/* ends in the C library, */
		SHOWN void drop(void *piece, unsigned n)
		{
			if (n % 3 == 1)
				sum += 3;
			free(piece);
		}
		/* in a function that is followed, */
		SHOWN unsigned handed(unsigned n)
		{
			sum += n > 2 ? n : 1;
			return counter(n);
		}
		/* and not in another one */
		SHOWN unsigned large(unsigned n)
		{
			for (unsigned i = 0; i < 200; i++)
				sum += count(n + i) & 1;
			return sum & 7;
		}
		SHOWN unsigned interpret(unsigned rounds)
		{
			for (unsigned i = 0; i < rounds; i++) {
				switch (i % 4) {
				case 0:
					drop(malloc(i + 1), i);
					break;
				case 1:
					sum += handed(i);
					break;
				case 2:
					sum += large(i);
					break;
				default:
					drop(malloc(i + 1), i);
					handed(i);
				}
			}
			return sum;
		}
		int main(int argc, char **argv)
		{
			unsigned shown = interpret(argc + 400);

			if (argc > 5)
				shown++;
			printf("%u %u\n", shown, handed(argc));
			return 0;
		}
	END
}

# Two functions of which not all branches can be recorded: a jump into the middle of code, and $at at a branch.
odd_source()
{
	cat >odd.c <<-'END'
		#include <stdio.h>
		#ifdef __arm__
		#define ODD(name, more) __asm__(".text\n.balign 4\n.arm\n.globl " name "\n.type " name ", %function\n" \
			name ": cmp r0, #3\nbhi 2f\nmov r1, r0, lsl #2\nmov r0, #0\nsub r1, r1, #4\n" \
			"add pc, pc, r1\nadd r0, r0, #1\nadd r0, r0, #1\nadd r0, r0, #1\nbx lr\n" \
			"2: cmp r0, #50\nbeq 3f\nbx lr\n3: mov r0, #7\n" more "bx lr\n.size " name ", . - " name "\n" \
			".data\n.balign 4\n.word 3b\n.text\n" THUMB)
		#ifdef __thumb__
		#define THUMB ".thumb\n"
		#else
		#define THUMB ""
		#endif
		#else
		#define ODD(name, more) __asm__(".text\n.set push\n.set noreorder\n.set noat\n.globl " name "\n" \
			".type " name ", @function\n.ent " name "\n" name ": sltiu $1, $4, 3\nbeqz $1, 1f\nnop\n" \
			"bnez $4, 1f\naddu $4, $4, $1\naddu $4, $4, $1\n1: move $2, $4\n" more \
			"jr $31\nnop\n.end " name "\n.size " name ", . - " name "\n.set pop\n")
		#endif
		ODD("odd", "");
		ODD("odd_larger", "nop\nnop\nnop\n");
		unsigned odd(unsigned n), odd_larger(unsigned n);
		int main(int argc, char **argv)
		{
			printf("%u %u\n", odd(argc), odd_larger(argc + 1));
			return 0;
		}
	END
}

# As a program is used: the status, and what is said.
said_by()
{
	"$BUILD/bin/litifut-post" "$@" data traced/odd >output 2>said
	status=$?
	cat said
	echo "status $status"
}

# All of a file for callgrind, with what each function calls: `main` and `large`.
inclusive()
{
	awk '/^summary: / { all = $2 }
		/^fn=/ { name = substr($0, 4) }
		/^0x/ { own[name] += $3 }
		END {
			for (name in own) {
				if (own[name] > all)
					print name, own[name], "of", all, "instructions"
				seen += own[name] > 0
			}
			print "main", (own["main"] > 0.99 * all ? "has all" : own["main"])
			print "large", (own["large"] > 0.5 * all ? "has most" : own["large"])
			print "drop", (own["drop"] < 0.1 * all ? "has little" : own["drop"])
			print (seen > 5 ? "several" : seen), "functions"
		}' "$1"
}

behaviour()
{
	[ "$target" != armel ] || return 0 # its CPUs may be older: there is no such mode
	export LITIFUT_MODE=paths
	program_source
	for options in "-O2" "-O2 -fPIC" "-O1 -no-pie"; do
		export LITIFUT_EXCLUDE=interpret
		flags="$options"
		link program ../main.c || continue
		unset LITIFUT_EXCLUDE
		same_run program
		blocks_equal "" program
		"$BUILD/bin/litifut-post" -q -f callgrind -o callgrind.out data traced/program
		ok "instructions of each function" python3 "$root/tests/oracle/paths.py" instructions oracle \
			callgrind.out traced/program
		is "$options: with what they call" "$(inclusive callgrind.out)" "$(printf '%s\n' \
			'main has all' 'large has most' 'drop has little' 'several functions')"
	done
	is "what the user has excluded is not missing" \
		"$("$BUILD/bin/litifut-post" -f callgrind -o callgrind.out data traced/program 2>&1 | grep -c interpret)" 0
	rm -f traced/program plain/program
	odd_source
	flags=-O2
	link odd ../odd.c || return
	same_run odd
	ok "info names the functions with the most sites that were left" \
		sh -c '"$1" info traced/odd | grep "^    in odd [1-9][0-9]*, odd_larger [1-9]"' sh "$BUILD/bin/litifut"
	blocks_equal "" odd
	for format in "-f report" "callers-of main" "-f callgrind" "-f path" "-f blocks" "-f lcov" "-f coverage" "-f branches"; do
		# shellcheck disable=SC2086
		is "$format names functions that are left, the largest first" \
			"$(said_by $format | sed -n '/^status/p; s/.*nothing is known of 2 functions, .*: \(.*\);.*/\1/p')" \
			"$(printf '%s\n' 'odd_larger, odd' 'status 0')"
	done
	is "-q does not" "$(said_by -q -f callgrind)" "status 0"
	for format in "-f edges" "-f tree" "diff data"; do
		# shellcheck disable=SC2086
		is "$format: there are no calls" "$(said_by $format | sed 's/.* shows calls, .*: see -f \([a-z]*\),.*/\1/')" \
			"$(printf '%s\n' report 'status 1')"
		is "$format: nothing else" "$(wc -c <output)" 0
	done
}

for_targets behaviour
