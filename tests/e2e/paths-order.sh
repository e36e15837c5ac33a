#!/bin/sh
# LITIFUT_MODE=paths: the blocks that a trace leads through are exactly those that the CPU executes, in
# order, in each thread: with callbacks, switches, tail calls, longjmp, signal handlers, threads and
# a library; what a killed process has done is there up to its last branch, and the end of it with a
# ring. Where the mode is not there, the link says so and the program is as if untraced.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

program_source()
{
	cat >main.c <<-'END'
		#include <pthread.h>
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>

		static jmp_buf place;
		static volatile int handled;

		static int compare(const void *left, const void *right)
		{
			int a = *(const int *)left, b = *(const int *)right;

			return a < b ? -1 : a > b;
		}
		__attribute__((noipa)) static int deep(int n)
		{
			if (n == 0)
				longjmp(place, 1);
			return deep(n - 1) + 1;
		}
		__attribute__((noipa)) static int guarded(int n)
		{
			jmp_buf outer;

			memcpy(&outer, &place, sizeof(outer));
			if (setjmp(place)) {
				memcpy(&place, &outer, sizeof(outer));
				return n;
			}
			if (n > 1)
				guarded(n - 1);
			return deep(n);
		}
		__attribute__((noipa)) static const char *name(int number)
		{
			switch (number) {
			case 0: return "zero";
			case 1: puts("one"); return "one";
			case 2: return "two";
			case 3: puts("three"); return "three";
			case 4: return "four";
			case 5: puts("five"); return "five";
			case 6: return "six";
			case 9: return "nine";
			default: return "many";
			}
		}
		__attribute__((noipa)) static int twice(int x) { return x > 3 ? 2 * x : x; }
		__attribute__((noipa)) static int thrice(int x) { return 3 * x; }
		typedef int (*operation)(int);
		static const operation table[] = {twice, thrice, abs};
		__attribute__((noipa)) static int tail(operation f, int x) { return f(x + 1); }
		/* functions of libgcc that end in others of it, and calls without room between them */
		__attribute__((noipa)) static double doubles(const long long *from)
		{
			double to[4];

			to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3];
			return to[0] + to[1] * to[2] + to[3] * (from[0] + from[1]);
		}
		static void handler(int number)
		{
			for (int i = 0; i < number; i++)
				if (i % 3 == 1)
					handled += twice(i);
			if (number == SIGUSR2) {
				raise(SIGUSR1);
				handled++;
			}
		}
		static void *thread(void *argument)
		{
			int values[16], sum = 0;

			for (int i = 0; i < 16; i++)
				values[i] = (i * 7 + *(int *)argument) % 16;
			qsort(values, 16, sizeof(*values), compare);
			for (int i = 0; i < 600; i++)
				sum += tail(table[i % 3], values[i % 16]);
			*(int *)argument = sum;
			return argument;
		}
		#ifdef LIBRARY
		int in_library(int (*back)(int), int number);
		#endif
		int main(int argc, char **argv)
		{
			int numbers[] = {1, 2, 3};
			const long long wide[] = {argc - 1, argc + 4, -(1LL << 60) * argc, 0, argc, 77};
			pthread_t threads[3];

			signal(SIGUSR1, handler);
			signal(SIGUSR2, handler);
			for (int i = 0; i < argc + 9; i++)
				printf("%s %d\n", name(i), tail(table[i % 3], i));
			printf("%d\n", guarded(3));
			printf("%g %g %g\n", doubles(wide), doubles(wide + 1), doubles(wide + 2));
			raise(SIGUSR1);
			raise(SIGUSR2);
			for (int i = 0; i < 3; i++)
				pthread_create(&threads[i], NULL, thread, &numbers[i]);
			for (int i = 0; i < 3; i++)
				pthread_join(threads[i], NULL);
			printf("%d %d %d %d\n", numbers[0], numbers[1], numbers[2], handled);
		#ifdef LIBRARY
			printf("%d\n", in_library(twice, argc));
		#endif
			for (int i = 0; argc > 1 && i < 150000; i++)
				handled += twice(i & 7);
			fflush(stdout);
			if (argc > 1)
				kill(getpid(), SIGKILL);
			exit(handled & 7);
		}
	END
	cat >library.c <<-'END'
		#include <stdio.h>
		int in_library(int (*back)(int), int number)
		{
			int sum = 0;

			puts("in the library");
			for (int i = 0; i < number + 4; i++)
				sum += back(i) & 1 ? back(sum) : i;
			return sum;
		}
	END
}

# A label of a switch with one instruction before the next label, and one before a branch.
labels_source()
{
	cat >labels.c <<-'END'
		#include <stdio.h>
		__asm__(".text\n.set push\n.set noreorder\n.globl choose\n.type choose, @function\n"
			".ent choose\nchoose:\n"
			"lui $28, %hi(_gp_disp)\naddiu $28, $28, %lo(_gp_disp)\naddu $28, $28, $25\n"
			"lw $8, %got(choices)($28)\nsll $9, $4, 2\naddu $8, $8, $9\nlw $8, 0($8)\n"
			"jr $8\nnop\n"
			"choose_0: lw $2, 0($6)\n0: addiu $3, $5, 2\naddu $2, $2, $3\njr $31\nnop\n"
			"choose_1: b 0b\nli $2, 5\n"
			"choose_2: addiu $2, $5, 3\nbnez $5, 0b\nsll $2, $2, 1\nb 0b\nnop\n"
			"choose_3: addiu $2, $5, 4\n3: sll $2, $2, 3\naddu $2, $2, $5\njr $31\nnop\n"
			"choose_4: b 3b\nli $2, 6\n"
			"choose_5: addiu $2, $5, 7\n5: bnez $2, 3b\nsrl $2, $2, 1\njr $31\nli $2, 9\n"
			"choose_6: bnez $5, 5b\nmove $2, $5\nb 3b\nnop\n"
			".end choose\n.size choose, . - choose\n.set pop\n"
			".data\n.globl choices\n.type choices, @object\n.size choices, 28\n"
			"choices: .word choose_0, choose_1, choose_2, choose_3, choose_4, choose_5, choose_6\n.text\n");
		unsigned choose(unsigned number, unsigned value, const unsigned *from);
		int main(void)
		{
			const unsigned seven = 7;
			unsigned sum = 0;

			for (unsigned i = 0; i < 210; i++)
				sum = 3 * sum + choose(i % 7, i & 4, &seven);
			printf("%u\n", sum);
			return 0;
		}
	END
}

# GCC's switches of position-independent T32 code, whose register is lr, and of A32 code; a label with a call of another
# module; behind such calls a load relative to the pc and then a call through a pointer, which is not a
# callback; an `it` for two instructions, of which one returns; instructions that were written as numbers.
arm_labels_source()
{
	cat >labels.c <<-'END'
		#include <stdio.h>
		__asm__(".text\n.syntax unified\n.fpu vfpv3-d16\n.globl choose\n.type choose, %function\n"
		#ifdef __thumb__
			".thumb\n.thumb_func\nchoose:\npush {r4, r5, r6, lr}\nmov r5, r1\nmov r4, r2\n"
			"adr.w lr, 1f\nldr.w r3, [lr, r0, lsl #2]\nadd lr, r3\nbx lr\n.balign 4\n"
			"1: .word .L0 - 1b + 1, .L1 - 1b + 1, .L2 - 1b + 1\n"
		#else
			".arm\nchoose:\npush {r4, r5, r6, lr}\nmov r5, r1\nmov r4, r2\n"
			"cmp r0, #2\naddls pc, pc, r0, lsl #2\nb .L2\nb .L0\nb .L1\nb .L2\n"
		#endif
			".L0: mov r0, r5\nbl labs\nvldr d0, 2f\nmov r6, r0\nmov r0, r5\nblx r4\n"
			"eor r0, r0, #0\ncmp r0, #3\nitt lo\naddlo r0, r0, r6\npoplo {r4, r5, r6, pc}\nb .L2\n"
			".L1: bl labs\nldrd r2, r3, 2f\nadd r0, r2\n"
		#ifndef __thumb__
			"mov r6, #4\nbl labs\n3: add r6, pc, r6\nadr r3, 3b\nsub r6, r6, r3\nadd r0, r0, r6\n"
			"mov lr, r0\ncmp r5, #1\nbeq 4f\nadd r0, r0, #1\n"
			"4: add r3, pc, r6\nsub r3, r3, pc\nadd r0, lr, r3\n"
		#endif
			"pop {r4, r5, r6, pc}\n"
			".L2: vmov r0, s1\n"
		#ifdef __thumb__
			".short 0x3001, 0x3801\n"
		#else
			".word 0xe2800001, 0xe2400001\n"
		#endif
			"pop {r4, r5, r6, pc}\n.balign 8\n2: .double 3.0\n"
			".size choose, . - choose\n.globl same\n.type same, %function\n"
		#ifdef __thumb__
			".thumb_func\nsame: mov r1, r0\nbx lr\n"
		#else
			"same: add r1, pc, r0\nsub r1, r1, pc\nadd r0, r1, #4\nbx lr\n"
		#endif
			".size same, . - same\n");
		/* no label says where the jump ends, though a table holds another one of the function */
		__asm__(".text\n.balign 4\n.arm\n.globl skips\n.type skips, %function\n"
			"skips: cmp r0, #3\nbhi 2f\nmov r1, r0, lsl #2\nmov r0, #0\nsub r1, r1, #4\n"
			"add pc, pc, r1\nadd r0, r0, #1\nadd r0, r0, #1\nadd r0, r0, #1\nbx lr\n"
			"2: cmp r0, #50\nbeq 3f\nbx lr\n3: mov r0, #7\nbx lr\n.size skips, . - skips\n"
			".data\n.balign 4\n.word 3b\n.text\n"
		#ifdef __thumb__
			".thumb\n"
		#endif
			);
		unsigned skips(unsigned n);
		unsigned same(unsigned n);
		unsigned choose(unsigned number, unsigned value, unsigned (*by)(unsigned));
		static unsigned twice(unsigned n) { return n < 100 ? 2 * n : n; }
		static unsigned (*volatile by)(unsigned) = twice;
		static unsigned (*volatile by_pc)(unsigned) = same;
		int main(void)
		{
			unsigned sum = 0;

			for (unsigned i = 0; i < 90; i++)
				sum = 3 * sum + choose(i % 3, i & 4 ? i : 1, by) + by_pc(i) + skips(i);
			printf("%u\n", sum);
			return 0;
		}
	END
}

# The frame of work() has, above the arrays, the return address that a call by open_file() has left
# there, which follows a call through a register as well.
stale_source()
{
	cat >stale.c <<-'END'
		#include <stdio.h>
		#include <string.h>

		static volatile int opened, sum;

		__attribute__((noipa)) static int count(int n) { return n > 5 ? n - 1 : n; }
		__attribute__((noipa)) static int reads(int n)
		{
			volatile char room[40];

			for (int i = 0; i < 40; i++)
				room[i] = n;
			return count(room[n & 31]);
		}
		static int (*volatile reader)(int) = reads;
		__attribute__((noipa)) static int open_file(int n)
		{
			opened += reader(n);
			if (opened > 100)
				opened = count(opened);
			return opened;
		}
		__attribute__((noipa)) static int work(int n)
		{
			volatile char unused[1024];

			unused[n & 1] = n;
			for (int i = 0; i < 900000; i++)
				if (count(i & 7) == 6)
					sum += unused[n & 1];
			return sum;
		}
		static int (*volatile worker)(int) = work;
		__attribute__((noipa)) static int treat(int n)
		{
			int got = open_file(n);

			got += worker(n);
			for (int i = 0; i < n + 20; i++)
				if (count(i) & 1)
					got++;
			return got;
		}
		int main(int argc, char **argv)
		{
			int got = treat(argc);

			for (int i = 0; i < argc + 20; i++)
				if (count(i) & 2)
					got++;
			printf("%d\n", got);
			return 0;
		}
	END
}

# Far more branches than have their code in reach where a branch reaches 128 KB: one object of eight copies
# of a unit, which is compiled once, as the compiler takes longer than all else here.
many_object()
{
	cat >unit.c <<-'END'
		#define MANY(F) T(F, 0) T(F, 1) T(F, 2) T(F, 3) T(F, 4) T(F, 5) T(F, 6) T(F, 7) T(F, 8) T(F, 9)
		#define T(F, n) H(F, n##0) H(F, n##1) H(F, n##2) H(F, n##3) H(F, n##4) H(F, n##5) H(F, n##6) H(F, n##7)
		#define H(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4)
		#define ADD(bit) if (x & bit) { __asm__ volatile(""); y += y ^ bit; }
		#define DEFINE(n) __attribute__((noipa)) static unsigned f##n(unsigned x, unsigned y) \
			{ y = 3 * y + x; y ^= x >> 2; y += 5; ADD(1) ADD(2) ADD(4) ADD(8) return y; }
		#define NAME(n) f##n,
		MANY(DEFINE)
		static unsigned (*const all[])(unsigned, unsigned) = {MANY(NAME)};
		unsigned unit(unsigned from, unsigned y)
		{
			for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
				y = all[i](from + i, y);
			return y;
		}
	END
	cat >many.c <<-'END'
		#include <stdio.h>
		#define UNITS(F) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8)
		#define DECLARE(n) unsigned unit_##n(unsigned from, unsigned y);
		#define CALL(n) y = unit_##n(400 * n, y);
		UNITS(DECLARE)
		int main(void)
		{
			unsigned y = 1;

			UNITS(CALL)
			printf("%u\n", y);
			return 0;
		}
	END
	compiler -O1 -S unit.c || return
	for unit in 1 2 3 4 5 6 7 8; do
		sed "s/\<unit\>/unit_$unit/g" unit.s >"unit_$unit.s"
		compiler -c "unit_$unit.s" || return
	done
	"$triplet-ld" -r -o many.o unit_?.o
}

# Each thread that has lines, the first one included, and no word where one is chosen.
names_threads()
{
	"$BUILD/bin/litifut-post" -f path --last 3 data traced/program 2>err >last.lines || return
	first=$(ls data/trace) && first=${first#*.} && first=${first%%.*}
	equal "$(sed -n 's/.*add --tid with //p' err | tr ' ' '\n' | sort)" \
		"$("$BUILD/bin/litifut-post" -q -f path data traced/program 2>/dev/null | cut -f 1 | sort -u)" &&
		! "$BUILD/bin/litifut-post" -f path --last 3 --tid "$first" data traced/program 2>&1 |
			grep 'add --tid'
}

# The last lines, for which only the end of the trace is read, are those of the whole; only how many calls
# are open, which indents them, is not known so well.
ends_alike()
{
	"$BUILD/bin/litifut-post" -q -f path data traced/program 2>/dev/null | tail -n "$1" |
		sed 's/\t */\t/' >whole.lines
	ok "--last $1" "$BUILD/bin/litifut-post" -q -f path --last "$1" -o last.lines data traced/program
	ok "--last $1: the same lines" alike whole.lines last.lines
}

alike()
{
	sed 's/\t */\t/' "$2" | cmp - "$1" && [ "$(wc -l <"$1")" -gt 1000 ]
}

# A handler that has interrupted another one is between its start and its end, and each number is one of the paths
# that path-ids counts.
units_nest()
{
	"$BUILD/bin/litifut-post" -q -f units --function handler -o units.out data traced/program
	is "units: starts" "$(grep start units.out)" \
		"$(printf '%s\n' '<handler> start' '<handler> start' '  <handler> start')"
	is "units: as many ends" "$(grep -c 'end [0-9]*$' units.out)" 3
	paths=$("$BUILD/bin/litifut-post" path-ids -q --function handler traced/program | awk '/ handler$/ { print $3 }')
	ok "units: numbers of paths" awk -v paths="$paths" '/> (path|end) / && $3 >= paths { bad = 1 }
		/> path / { count++ }
		END { exit bad || count < 3 }' units.out
}

# After blocks_equal: the instructions of each function are those that the CPU executed; and the file's consumer
# adds them up alike.
instructions_equal()
{
	# shellcheck disable=SC2046
	"$BUILD/bin/litifut-post" -q -f callgrind -o callgrind.out data $(traced_files)
	# shellcheck disable=SC2046
	ok "instructions of each function" python3 "$root/tests/oracle/paths.py" instructions oracle \
		callgrind.out $(traced_files)
	# shellcheck disable=SC2046
	"$BUILD/bin/litifut-post" -q -f report data $(traced_files) >report.out
	is "report: the same functions and instructions" \
		"$(sed -n 's/^ *\([0-9]*\)  *[0-9.]*%  *[0-9]*  \(.*\) \[.*/\1 \2/p' report.out | sort)" \
		"$(awk '/^fn=/ { name = substr($0, 4) } /^calls=/ { getline; next } /^0x/ { sum[name] += $3 }
			END { for (name in sum) print sum[name], name }' callgrind.out | sort)"
	if command -v callgrind_annotate >/dev/null; then
		is "callgrind_annotate: the sum of all functions" "$(callgrind_annotate --threshold=100 callgrind.out |
			sed -n 's/^ *\([0-9,]*\) .*\[program\]$/\1/p' | tr -d , | awk '{ sum += $1 } END { print sum }')" \
			"$(sed -n 's/^summary: //p' callgrind.out)"
	else
		skip "callgrind_annotate" "not installed"
	fi
}

# Single activations of a function; thrice() has one line.
activations_alone()
{
	"$BUILD/bin/litifut-post" -q -f path --function thrice -o thrice.lines data traced/program
	is "--function: each activation" "$(grep -c 'thrice .*main.c' thrice.lines)" \
		"$(cut -f 6 blocks.tsv | grep -cx thrice)"
	is "--function NAME#2: the second one of each thread" "$("$BUILD/bin/litifut-post" -q -f path \
		--function 'thrice#2' data traced/program | cut -f 1 | sort | uniq -c | awk '{ print $1 }' | uniq)" 1
	ok "--function: what was meant" sh -c '"$@" 2>&1 | grep "no function of that name; there is thrice"' sh \
		"$BUILD/bin/litifut-post" -f path --function thrce data traced/program
	# the second one raises a signal, and has the third one in it
	raise_line=main.c:$(grep -n 'raise(SIGUSR1);' main.c | head -n 1 | cut -d : -f 1)
	for each in 1 2 3; do
		"$BUILD/bin/litifut-post" -q -f path --function "handler#$each" -o "handler.$each" data \
			traced/program
	done
	is "--function NAME#1 has not what others do" "$(grep -c "$raise_line\$" handler.1)" 0
	ok "--function NAME#2" grep -q "$raise_line\$" handler.2
	is "--function NAME#2: with what it calls" "$(grep -cFxf handler.3 handler.2)" "$(wc -l <handler.3)"
}

behaviour()
{
	export LITIFUT_MODE=paths
	program_source
	case $target in
	armhf* | mips*) ;;
	*)
		mkdir -p traced
		ok "the link goes on" refused_link
		ok "one line says what is missing" grep -q 'branches are not recorded in order' traced.log
		return
		;;
	esac
	for options in "-O2" "-O0 -no-pie"; do
		flags="$options -pthread"
		link program ../main.c || continue
		same_run program
		blocks_equal "" program
		is "threads of the summary" "$("$BUILD/bin/litifut-post" -f path -o whole.lines data traced/program 2>&1 |
			sed -n 's/.* process, \(.* threads\),.*/\1/p')" "4 threads"
		activations_alone
		instructions_equal
		units_nest
	done
	flags="-O2 -pthread"
	link program ../main.c
	same_run program killed
	blocks_equal --killed program killed
	is "the last lines of a killed process" \
		"$("$BUILD/bin/litifut-post" -q -f path --last 3 data traced/program |
			grep -c 'main.c:[0-9]')" 3
	ends_alike 40000
	ok "--last of a process with several threads names them" names_threads
	guest_environment="LITIFUT_RING_KB=256 LITIFUT_DIR=$(pwd)/data"
	rm -rf data
	run traced program killed
	guest_environment=
	blocks_equal "--tail 50000 --killed" program killed
	ends_alike 20000
	ok "the lines of lcov" "$BUILD/bin/litifut-post" -q -f lcov -o lines.info data traced/program
	ok "lcov: the function of the last calls was executed" \
		grep -q '^FNDA:[1-9][0-9]*,twice$' lines.info
	# which calls are open is known from the stack, though it has old return addresses as well
	stale_source
	rm -f traced/program plain/program
	for options in "-O2" "-O1 -no-pie"; do
		flags="$options"
		link stale ../stale.c || continue
		same_run stale
		guest_environment="LITIFUT_RING_KB=16 LITIFUT_DIR=$(pwd)/data"
		rm -rf data
		run traced stale
		guest_environment=
		blocks_equal "--tail 10000" stale
		ok "stale: chunks were overwritten" grep -q gap blocks.tsv
	done
	rm -f traced/stale plain/stale
	flags="-O2 -pthread"
	# a new chunk begins where the record of a block's start stands before its branch
	cat >starts.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		int main(void)
		{
			int zero = 0;
			for (int i = 0; i < 100000; i++)
				if (getppid() == 0)
					zero++;
			printf("%d\n", zero);
			return 0;
		}
	END
	link starts ../starts.c && same_run starts && rm -f traced/program plain/program &&
		blocks_equal "" starts
	rm -f traced/starts plain/starts
	case $target in
	armhf*) arm_labels_source ;;
	mips*) labels_source ;;
	esac
	link labels ../labels.c && same_run labels && blocks_equal "" labels
	is "labels: nothing is left in the function" \
		"$("$BUILD/bin/litifut" info --skipped traced/labels | grep -c 'in choose\|in same')" 0
	rm -f traced/labels plain/labels
	# what is out of reach takes no room from the rest
	flags=
	ok "compile a large object" many_object
	link many ../many.c ../many.o && same_run many && blocks_equal "" many
	case $target in
	mips*) # not even in the middle of one large object
		"$BUILD/bin/litifut" info --skipped traced/many >many.info
		is "many: nothing is out of reach" "$(grep -c ' out-of-reach in ' many.info)" 0
		;;
	esac
	rm -f traced/many plain/many
	flags="-O2 -pthread -DLIBRARY"
	(cd plain && compiler -shared -fPIC -o library.so ../library.c)
	(cd traced && front="$BUILD/bin/litifut build -q" compiler -shared -fPIC -o library.so ../library.c) \
		>library.log 2>&1
	rm -f traced/program plain/program
	link with_library ../main.c library.so -Wl,-rpath,'$ORIGIN' && same_run with_library &&
		blocks_equal "" with_library
}

refused_link()
{
	(cd traced && front="$BUILD/bin/litifut build -q" compiler -pthread -o program ../main.c) \
		>traced.log 2>&1 && [ -f traced/program ]
}

for_targets behaviour
