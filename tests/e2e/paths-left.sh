#!/bin/sh
# LITIFUT_MODE=paths: a function that is left calls functions that end in a call of code that is not
# followed either. Nothing says when those return, so they must not pile up: the instructions of each
# function are those that the CPU executed, and with what it calls no function has more than all of them.
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
}

for_targets behaviour
