#!/bin/sh
# LITIFUT_MODE=paths: where a switch or a computed goto leads is recorded by a few bits, if its jump can't leave the
# function, and by an address else. Blocks are those that the CPU executes in both cases, also where chunks are full,
# where a ring begins in the middle, and where an exception leads to a label.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# A switch of so many cases, more than have numbers.
many_source()
{
	awk -v cases="$1" 'BEGIN {
		print "extern int out(int); int many(int n) {\n\tswitch (n) {"
		for (i = 0; i < cases; i++)
			printf "\tcase %d: return out(%d) %s %d;\n", i, i * 7 % 31, i % 2 ? "*" : "^", i % 9 + 2
		print "\t}\n\treturn -1;\n}"
	}' >many.c
}

main_source()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>

		int many(int n);
		static volatile int outer;
		__attribute__((noipa)) int out(int n) { return n > 9 ? n + outer : n - 1; }
		__attribute__((noipa)) static int other(int n) { return n & 1 ? out(n) : 3; }
		typedef int operation(int);
		static operation *volatile const operations[2] = {out, other};

		/* A computed goto behind each operation. */
		__attribute__((noipa)) static int interpret(const unsigned char *code)
		{
			static const void *const labels[] = {&&stop, &&add, &&twice, &&call, &&skip,
							     &&clear, &&pointer, &&loop, &&deep};
			int a = 1, rounds = 0;
		#define NEXT goto *labels[*code++]
			NEXT;
		add:
			a += 3;
			NEXT;
		twice:
			a *= 2; /* fall through */
		call:
			a = out(a);
			NEXT;
		skip:
			if (a & 2)
				code++;
			NEXT;
		clear:
			a &= 0xff;
			NEXT;
		pointer:
			a += operations[a & 1](a);
			NEXT;
		loop:
			if (rounds++ < 5)
				code -= 4;
			NEXT;
		deep:
			a ^= many(a & 511);
			NEXT;
		stop:
			return a;
		}

		/* Nothing on the stack. */
		__attribute__((noipa)) static int leaf(int n, int *to)
		{
			switch (n) {
			case 0: *to += 5; break;
			case 1: *to ^= 9; break;
			case 2: *to = *to * 3 + 1; break;
			case 3: *to -= n; /* fall through */
			case 4: *to |= 64; break;
			case 5: *to >>= 1; break;
			case 6: return 12;
			}
			return *to;
		}

		/* A jump of it leads out. */
		__attribute__((noipa)) static int tail(int n, int m)
		{
			switch (n) {
			case 0: return out(m);
			case 1: m += out(n); break;
			case 2: m = other(m) + 1; break;
			case 3: m ^= out(m) & 15; break;
			case 4: m -= 77; break;
			case 5: return operations[m & 1](m);
			case 6: m = out(out(m)); break;
			}
			return operations[n & 1](m);
		}

		int main(int argc, char **argv)
		{
			unsigned char code[128] = {0};
			unsigned seed = 1, sum = 0;
			int value = 0;
			int rounds = argc > 1 ? atoi(argv[1]) : 200;

			for (int i = 0; i < rounds; i++) {
				for (int j = 0; j < 126; j++)
					code[j] = (unsigned char)(1 + ((seed = seed * 1103515245 + 12345) >> 16) % (j < 24 ? 6 : 8));
				sum += (unsigned)interpret(code);
				sum = sum * 3 + (unsigned)leaf(i % 9, &value) + (unsigned)tail(i % 8, value) +
				      (unsigned)many(i % 305);
			}
			printf("%u\n", sum);
			return 0;
		}
	END
}

# Cases that throw, and landing pads among them.
throw_source()
{
	cat >throw.cc <<-'END'
		#include <cstdio>
		#include <stdexcept>

		struct Guard { int *at; ~Guard() { ++*at; } };
		__attribute__((noipa)) static int risky(int n)
		{
			if (n % 3 == 1)
				throw n;
			if (n % 7 == 2)
				throw std::runtime_error("seven");
			return n + 1;
		}
		__attribute__((noipa)) static int choose(int n, int *ends)
		{
			int result = 0;

			for (int i = 0; i < 4; i++) {
				Guard guard = {ends};
				try {
					switch ((n + i) % 8) {
					case 0: result += risky(n); break;
					case 1: result ^= risky(n + 1); break;
					case 2: result = 3 * result + risky(i); break;
					case 3: result -= 9; break;
					case 4: result += 2 * risky(n + 5); break;
					case 5: return result;
					case 6: result *= 2; break;
					case 7: risky(n + 2); break;
					}
				} catch (int thrown) {
					switch (thrown % 5) {
					case 0: result += 1; break;
					case 1: result -= risky(6); break;
					case 2: result ^= 12; break;
					case 3: result *= 5; break;
					case 4: result += risky(3 * thrown); break;
					}
				}
			}
			return result;
		}
		int main()
		{
			unsigned sum = 0;
			int ends = 0;

			for (int i = 0; i < 300; i++) {
				try {
					sum = 5 * sum + (unsigned)choose(i, &ends);
				} catch (const std::exception &) {
					sum++;
				}
			}
			std::printf("%u %d\n", sum, ends);
		}
	END
}

# numbered FUNCTION: how many labels of it have numbers, and how many of its jumps lead to those alone
numbered()
{
	python3 - "$root/tests/oracle" traced/main "$1" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from edges import blocks_of
		from elf import Elf
		elf = Elf(sys.argv[2])
		blocks = [block for block in blocks_of(elf)[1] if elf.function_at(block[0])[0] == sys.argv[3]]
		print(sum(block[4] & 255 == 3 for block in blocks), sum(block[8] >> 7 for block in blocks))
	END
}

is_short()
{
	echo "$(stat -c %s data/trace/*.trace) bytes"
	[ "$(stat -c %s data/trace/*.trace)" -lt "$1" ]
}

# 270,000 labels, which would take more than 3,000,000 bytes by their addresses, and as many branches and returns of calls
measured()
{
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_BULK_KB=16"
	run traced main 2000
	guest_environment=
	ok "main: labels take less than a byte each" is_short 1500000
	blocks_equal "" main 2000
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_RING_KB=32"
	run traced main 2000
	guest_environment=
	blocks_equal "--tail 10000" main 2000
}

behaviour()
{
	case $target in armel) return 0 ;; esac # CPUs before ARMv7 have no such mode
	export LITIFUT_MODE=paths
	main_source
	many_source 300
	throw_source
	for options in "-O2" "-Os -no-pie" "-O1 -static"; do
		rm -rf plain traced
		flags=$options
		link main ../main.c ../many.c || continue
		same_run main
		# exit() of a static program comes to its last system call, behind which all is only possible
		case $options in
		*static*) blocks_equal --killed main ;;
		*) blocks_equal "" main ;;
		esac
		is "$options: many() has too many labels" "$(numbered many)" "0 0"
		[ "$options" = "-O2" ] || continue
		is "labels of interpret() with numbers, and jumps that lead to them alone" \
			"$(numbered interpret | awk '{ print ($1 > 7) ($2 > 0) }')" 11
		measured
	done
	rm -rf plain traced
	flags=-O2
	language=g++
	link throw ../throw.cc && same_run throw && blocks_equal "" throw
	language=
}

for_targets behaviour
