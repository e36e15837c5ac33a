#!/bin/sh
# LITIFUT_MODE=coverage: the flags of a program say which ways its conditional branches have gone, and
# to which blocks control came: exactly what the CPU executes when nothing is recorded. lcov has
# the lines that gcov has. What a killed process, a forked child and a library have executed is
# there as well.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mips

program_source()
{
	cat >main.c <<-'END'
		#include <setjmp.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>

		static jmp_buf place;
		typedef int (*operation)(int, int);
		int from_library(int);

		static int add(int a, int b)
		{
			return a + b;
		}

		static int divide(int a, int b)
		{
			if (!b)
				longjmp(place, 1);
			return a / b;
		}

		static int never(int a, int b)
		{
			puts("never");
			return a * b;
		}

		static const operation table[] = {add, divide, never};

		static const char *name(int number)
		{
			switch (number) {
			case 0:
				return "zero";
			case 1:
				return "one";
			case 2:
				puts("two");
				return "two";
			case 3:
				return "three";
			case 4:
				puts("four");
				return "four";
			case 5:
				return "five";
			case 9:
				return "nine";
			default:
				return "many";
			}
		}

		static int loop(int rounds)
		{
			int sum = 0;

			for (int i = 0; i < rounds; i++) {
				if (i & 1)
					continue;
				sum += i > 3 ? i : -i;
				while (sum > 20)
					sum -= 7;
			}
			return sum;
		}

		static double floating(double x, long long y)
		{
			if (x > 1.5 || y > 1LL << 40)
				x = x / 3;
			return y < 0 ? -x : x;
		}

		#define HALVE(number, steps) { int rest = number; while (rest > 1) { rest /= 2; steps++; } }

		/* several loops on a line, and one whose condition stands behind its body */
		static int halves(int number)
		{
			int steps = 0;

			HALVE(number, steps);
			number++; HALVE(number, steps);
			do { steps--; } while (steps > 4);
			return steps;
		}

		static void leave(int status)
		{
			if (status)
				exit(status);
			printf("not left\n");
		}

		int main(int argc, char **argv)
		{
			int last = 0;

			for (int i = 0; i < argc + 3; i += 2)
				printf("%s\n", name(i));
			if (argc > 3 && strcmp(argv[1], "x") == 0)
				puts("x");
			last = loop(argc * 9);
			printf("%g %g\n", floating(argc, argc), floating(9, -1));
			last += table[0](last, 3) + halves(argc * 100);
			if (!setjmp(place)) {
				last += table[1](last, argc - 1);
				puts("divided");
			} else {
				puts("caught");
			}
		#ifdef LIBRARY
			last += from_library(argc);
		#endif
			printf("%d\n", last);
			leave(0);
			leave(argc);
			puts("never here");
			return 0;
		}
	END
	cat >library.c <<-'END'
		int from_library(int number) { return number > 3 ? number * 2 : number < 0 ? 7 : 1; }
	END
}

# The lines of main.c that both have, and whether they were executed.
same_lines()
{
	"$triplet-gcov" -t "$1" 2>gcov.log | tr -d ' ' | awk -F : '
		$1 != "-" && $2 > 0 { print $2, $1 !~ /^[#=]/ }' | sort >gcov.lines
	sed -n '/^SF:.*main\.c$/,/^end_of_record/s/^DA:\([0-9]*\),/\1 /p' "$2" | sort >lcov.lines
	join gcov.lines lcov.lines >lines
	awk '$2 != $3 { print; failed = 1 } END { exit failed || NR < 30 }' lines
}

# The same, and how often, of LITIFUT_MODE=paths.
same_times()
{
	"$triplet-gcov" -t "$1" 2>gcov.log | tr -d ' *' | awk -F : '
		$1 != "-" && $2 > 0 { print $2, $1 ~ /^[#=]/ ? 0 : $1 }' | sort >gcov.times
	sed -n '/^SF:.*main\.c$/,/^end_of_record/s/^DA:\([0-9]*\),/\1 /p' "$2" | sort >lcov.times
	join gcov.times lcov.times >both.times
	awk '$2 != $3 { print; failed = 1 } $2 > 1 { more++ } END { exit failed || NR < 30 || more < 10 }' both.times
}

killed()
{
	cat >killed.c <<-'END'
		#include <signal.h>
		#include <unistd.h>
		static volatile int number;
		__attribute__((noipa)) static void reached(int n) { if (n) number++; }
		__attribute__((noipa)) static void not_reached(int n) { if (n) number--; }
		int main(void)
		{
			reached(1);
			kill(getpid(), SIGKILL);
			not_reached(1);
			return 0;
		}
	END
	link killed ../killed.c || return
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced killed
	is "killed: what was executed by then is there" \
		"$("$BUILD/bin/litifut-post" -q -f coverage data traced/killed |
			awk '$5 ~ /reached$/ { print $1, $2, $5 }')" \
		"$(printf 'no 0 not_reached\nyes 1 reached')"
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_FILE=write"
	run traced program
	# but for what comes after it was written
	is "written, not mapped: the same" "$("$BUILD/bin/litifut-post" -q -f coverage data \
		traced/program | sed '1d; /_fini/d')" "$(sed '1d; /_fini/d' first)"
	guest_environment=
}

forked()
{
	cat >forked.c <<-'END'
		#include <sys/wait.h>
		#include <unistd.h>
		static volatile int number;
		__attribute__((noipa)) static void parent(int n) { if (n) number++; }
		__attribute__((noipa)) static void child(int n) { if (n) number--; }
		int main(void)
		{
			int status, id = fork();

			if (!id) {
				child(1);
				_exit(0);
			}
			waitpid(id, &status, 0);
			parent(1);
			return status;
		}
	END
	link forked ../forked.c || return
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced forked
	guest_environment=
	is "fork: both have a trace" "$(find data/trace -name '*.trace' | wc -l)" 2
	for trace in data/trace/*.trace; do
		"$BUILD/bin/litifut-post" -q -f coverage "$trace" data/maps traced/forked |
			awk '$5 == "parent" || $5 == "child" { printf "%s %s ", $1, $5 }'
		echo
	done | tr ' ' '\n' | paste -s -d ' ' | sed 's/  */ /g' >each
	is "each has its own flags" "$(tr ' ' '\n' <each | grep -c yes)" 2
	is "all together have both" "$("$BUILD/bin/litifut-post" -q -f coverage data traced/forked |
		awk '$5 == "parent" || $5 == "child" { print $1 }' | sort -u)" yes
}

# Data may look like the address of an instruction that stands in an IT block.
looks_like_target()
{
	cat >looks.c <<-'END'
		#include <stdio.h>
		__attribute__((used)) int called(int number) { return number + 10; }
		int choose(int number);
		__asm__(".text\n.syntax unified\n.thumb\n.thumb_func\n.type choose, %function\n"
			"choose: push {r4, lr}\n"
			"	cmp r0, #0\n"
			"	it ne\n"
			"inside: movne r0, #1\n"
			"	bl called\n"
			"	pop {r4, pc}\n"
			".size choose, . - choose\n"
			".data\n.balign 4\n.word inside\n.text\n");
		int main(void)
		{
			for (int i = 0; i < 5; i++)
				printf("%d\n", choose(i));
			return 0;
		}
	END
	link looks ../looks.c && same_run looks && flags_equal_edges looks
	export LITIFUT_MODE=paths
	link looks ../looks.c && same_run looks
	"$triplet-objcopy" -g traced/looks no_lines
	ok "a path without lines has addresses, and litifut-post says what to do" sh -c \
		"'$BUILD/bin/litifut-post' -f path --last 5 --no-maps-paths -o addresses data no_lines 2>words &&
			grep 'compile with -g' words && grep -c ' 0x' addresses | grep -x 5"
	export LITIFUT_MODE=coverage
}

# At least a quarter of the code for flags has a register that holds nothing, and stores none.
many_store_nothing()
{
	case $target in
	mips*) flag='sb.ra,' saved='sw.ra,4(sp)' ;;
	armhf) flag='7000\|7009\|7012\|701b\|f88e' saved='b401' ;; # strb rN, [rN]; push {r0}
	*) flag='e5c00000\|e5c11000\|e5c22000\|e5c33000\|e5cee000' saved='e52d0004' ;;
	esac
	"$triplet-objdump" -d --no-show-raw-insn traced/program |
		sed -n '/<litifut_trampolines>:/,/^$/p' >code_of_flags
	all=$(grep -o "$flag" code_of_flags | wc -l) storing=$(grep -o "$saved" code_of_flags | wc -l)
	echo "# $storing of $all store a register"
	[ "$all" -gt 50 ] && [ $((4 * storing)) -lt $((3 * all)) ]
}

behaviour()
{
	export LITIFUT_MODE=coverage
	[ "$target" != armhf ] || looks_like_target
	program_source
	for options in "-O2" "-O0" "-Os -no-pie" "-O2 -static"; do
		flags=$options
		link program ../main.c || continue
		same_run program
		flags_equal_edges program
		"$BUILD/bin/litifut-post" -f coverage -o covered data traced/program 2>summary
		is "the summary does not count calls" "$(grep -c 'litifut-post: 0 lost, 1 process, .*1 module, ' summary) $(grep -c call summary)" "1 0"
		[ "$options" != -O2 ] || "$BUILD/bin/litifut-post" -q -f coverage -o first data traced/program
	done
	flags=-O2
	link program ../main.c
	ok "registers that hold nothing are not stored" many_store_nothing

	flags=-O0
	link lines ../main.c && same_run lines a b
	ok "the lines are gcov's" gcov_lines
	ok "lcov is written" "$BUILD/bin/litifut-post" -q -f lcov -o lines.info data traced/lines
	ok "the same lines as gcov, executed or not" same_lines main.gcda lines.info
	if [ "$target" != armel ]; then
		mv traced/lines lines.coverage && mv data data.coverage
		export LITIFUT_MODE=paths
		link lines ../main.c && same_run lines a b
		"$BUILD/bin/litifut-post" -q -f lcov -o times.info data traced/lines
		ok "paths: lines are executed as often as gcov says" same_times main.gcda times.info
		ok "paths: ways of branches have counts" grep -q '^BRDA:[0-9,]*,[1-9][0-9]$' times.info
		export LITIFUT_MODE=coverage
		rm -rf data
		mv lines.coverage traced/lines && mv data.coverage data
	fi
	# .debug_frame stays, as in every program compiled without -g
	"$triplet-objcopy" -R .debug_info -R .debug_line traced/lines no_lines
	blocks=$("$triplet-readelf" -SW traced/lines | sed -n 's/.* [.]litifut[.]blocks  *[A-Z]*  *[0-9a-f]*  *\([0-9a-f]*\) .*/\1/p')
	cp traced/lines damaged
	printf '\177\177\177\177' | dd of=damaged bs=1 seek=$((0x$blocks + 32 + 4)) conv=notrunc 2>dd.log
	"$BUILD/bin/litifut-post" -q -f lcov -o damaged.info data damaged 2>words
	is "a damaged list of blocks is one line" "$(grep -c 'damaged: .litifut.blocks: 0x[0-9a-f]*: damaged list of blocks: this one ends at 0x7f7f7f7f' words) $(wc -l <words)" "1 1"
	ok "without lines litifut-post says what to do" sh -c \
		"'$BUILD/bin/litifut-post' -q -f lcov -o none.info data no_lines 2>&1 | grep 'compile with -g'"
	# of data alone there is debugging information, and what was there before stays
	echo 'int data = 3;' | compiler -c -x c -o data.o -
	flags=-g0
	link few ../main.c ../data.o && same_run few a b
	echo before >few.info
	"$BUILD/bin/litifut-post" -q -f lcov -o few.info data traced/few 2>few.words
	is "without a line it is not done" "$? $(cat few.info) $(cat few.words)" \
		"1 before litifut-post: few: no debugging information of the code that is traced, so its lines are not known: compile with -g"
	if command -v genhtml >genhtml.path; then
		ok "genhtml makes a page of it" \
			genhtml -q --branch-coverage -o pages lines.info
		ok "with the source" grep -q 'case' pages/*/main.c.gcov.html pages/main.c.gcov.html -s
	else
		skip "genhtml" "it is not installed"
	fi

	flags="-O2 -DLIBRARY"
	mkdir -p plain traced
	(cd plain && compiler -shared -fPIC -o library.so ../library.c)
	(cd traced && front="$BUILD/bin/litifut build -q" compiler -shared -fPIC -o library.so ../library.c) \
		>library.log 2>&1
	link with_library ../main.c library.so -Wl,-rpath,'$ORIGIN' &&
		same_run with_library
	is "a library has its own flags" "$("$BUILD/bin/litifut-post" -q -f coverage data \
		traced/with_library traced/library.so | awk '/from_library/ { print $1 }')" yes
	flags=-O2
	killed
	forked
}

# Compiled for gcov, and run.
gcov_lines()
{
	# shellcheck disable=SC2086
	"$triplet-gcc" $machine_flags -O0 -g --coverage -c main.c -o main.o &&
		"$triplet-gcc" $machine_flags --coverage -o counted main.o || return
	"qemu-$cpu" -L "$sysroot" ./counted a b >counted.out
	[ -s main.gcda ]
}

for_targets behaviour
