#!/bin/sh
# LITIFUT_INCLUDE=NAME+3: a function, and those that calls from it lead to, up to three calls deep: tail calls,
# recursion, calls through PLT entries and the GOT within a library, and the part that the compiler splits off a
# function count; calls through pointers are not followed. Their blocks are those that the CPU executes, and
# litifut info says which functions are recorded. The same of calls, and of firmware.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

sources()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define SHOWN __attribute__((noipa))
		int shared(int);
		static volatile int sum;
		SHOWN int leaf(int x) { return x > 3 ? sum++ : x; }
		static int (*volatile pointer)(int) = leaf;
		SHOWN int by_pointer(int x) { if (x & 1) sum++; return pointer(x); }
		SHOWN int third(int x) { if (x & 1) sum += 2; return by_pointer(x) + 1; }
		SHOWN int second(int x) { if (x > 6) return second(x - 3) + 1; return third(x) + 2; }
		SHOWN int tail(int x) { if (x & 4) sum += 3; return second(x + 1); }
		SHOWN int at_cold(int x) { return x > 3 ? sum++ : x; }
		SHOWN int first(int x)
		{
			if (__builtin_expect(x == 100, 0)) {
				for (int i = 0; i < 9; i++)
					sum += i & 1 ? at_cold(i) : 3;
				abort();
			}
			return tail(x * 2);
		}
		SHOWN int other(int x) { if (x > 7) sum += 9; return leaf(x); }
		int main(void)
		{
			for (int i = 0; i < 10; i++)
				sum += first(i) + other(i) + shared(i);
			printf("%d\n", sum);
			return 0;
		}
	END
	cat >shared.c <<-'END'
		#define SHOWN __attribute__((noinline, noclone))
		static volatile int sum;
		/* in T32 code a start and a branch that stand close together have no room for both */
		SHOWN int deepest(int x) { sum += x; return x > 3 ? sum++ : x; }
		static SHOWN int hidden(int x) { sum ^= x; if (x & 8) sum += 2; return deepest(x) + 1; }
		SHOWN int exported(int x) { sum ^= x; if (x & 2) sum += 5; return hidden(x) + 2; }
		SHOWN int shared(int x) { sum ^= x; if (x > 5) sum++; return exported(x * 2) + 1; }
		SHOWN int unused(int x) { return x > 2 ? deepest(x) : 4; }
	END
}

# link INCLUDE OPTIONS...: leaves traced/program and traced/libshared.so
link()
{
	rm -rf traced && mkdir traced
	link_include=$1
	shift
	(cd traced && front="env LITIFUT_MODE=${mode:-paths} LITIFUT_INCLUDE=$link_include $BUILD/bin/litifut build -q" &&
		compiler ../shared.c -O2 -fPIC -shared -o libshared.so &&
		compiler ../main.c -O2 "$@" -o program -L. -lshared)
}

# recorded FILE: the functions, as litifut info has them
recorded()
{
	"$BUILD/bin/litifut" info "traced/$1" | sed -n 's/^  recorded in  *[0-9]* functions*: //p'
}

as_executed()
{
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LD_LIBRARY_PATH=$(pwd)/traced" run traced program &&
		blocks_equal "" program
}

behaviour()
{
	sources
	for each in '' -no-pie; do
		for calls in '0:first' '1:at_cold, first, tail' '2:at_cold, first, second, tail' '3:at_cold, first, second, tail, third' \
			'4:at_cold, by_pointer, first, second, tail, third' '9:at_cold, by_pointer, first, second, tail, third'; do
			ok "first+${calls%%:*} $each: it links traced" link "first+${calls%%:*}" $each
			is "first+${calls%%:*} $each: functions" "$(recorded program | sed 's/, [a-z]*\.cold//')" "${calls#*:}"
		done
	done
	ok "two of them: it links traced" link 'thi*+0,other+1,first+1'
	is "two of them: functions" "$(recorded program | sed 's/, [a-z]*\.cold//')" "at_cold, first, leaf, other, tail, third"
	long=other_$(printf '%0300d' 0)
	ok "a name of 306 letters, as C++ has them: it links traced" link "$long+1" "-Dother=$long"
	is "a name of 306 letters: functions" "$(recorded program)" "leaf, $long"
	for calls in '1:exported, shared' '2:exported, hidden, shared' '3:deepest, exported, hidden, shared'; do
		ok "a library, shared+${calls%%:*}: it links traced" link "shared+${calls%%:*},first+2"
		is "a library, shared+${calls%%:*}: functions" "$(recorded libshared.so)" "${calls#*:}"
		as_executed
	done
	mode=calls
	ok "calls: it links traced" link first+2
	is "calls: functions" "$(recorded program)" "first, second, tail"
	mode=
}

for_targets behaviour
