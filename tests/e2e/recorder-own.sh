#!/bin/sh
# LITIFUT_RECORDER: the worked examples of examples/recorders, and a recorder that
# changes every floating-point register that a function may change.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# own RECORDER-OBJECT OUTPUT ARGUMENTS...: links with this recorder
own()
{
	own_recorder=$1
	shift
	mkdir -p traced
	ok "link with $own_recorder" own_link "$@"
}

own_link()
{
	if (cd traced && LITIFUT_RECORDER=../$own_recorder front="$BUILD/bin/litifut build -q" \
		compiler -o "$@") >traced.log 2>&1; then
		! own_words traced.log
	else
		show_and_fail traced.log
	fi
}

examples()
{
	cat >program.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		KEEP int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
		KEEP int down(int n) { int r; if (!n) return 0; r = down(n - 1); __asm__ volatile(""); return r + 1; }
		KEEP double half(double x) { return x / 2; }
		int main(void)
		{
			int a[4] = { 4, 3, 2, 1 };
			for (int i = 0; i < 3; i++)
				compare(&a[i], &a[i + 1]);
			printf("%d %.3f\n", down(11), half(5) + half(3));
			return 0;
		}
	END
	flags=
	link program ../program.c || return
	run plain program

	flags="-fPIC -I$root/include -DCOUNTED=compare -c"
	compiler -o count.o "$root/examples/recorders/count_calls.c"
	flags=
	own count.o program ../program.c || return
	run traced program
	ok "count_calls: the program does not notice" diff plain.out traced.out
	is "count_calls: counts" "$(cat traced.err)" "compare: 3 calls"

	flags="-fPIC -I$root/include -DDEEP=8 -c"
	compiler -o deep.o "$root/examples/recorders/print_deep.c"
	flags=
	own deep.o program ../program.c || return
	run traced program
	ok "print_deep: the program does not notice" diff plain.out traced.out
	# below main's twelve stand one or two of the start-up code
	deep=$(wc -l <traced.err)
	ok "print_deep: the calls below the eighth ($deep)" test "$deep" -ge 4 -a "$deep" -le 8
	is "print_deep: each one deeper than the last" "$(cut -d ' ' -f 1 traced.err | tr '\n' ' ')" \
		"$(seq -s ' ' 9 $((8 + deep))) "
	is "print_deep: all of them the same recursive call" \
		"$(sed 1d traced.err | cut -d ' ' -f 2- | sort -u | wc -l)" 1
}

floating()
{
	cat >spoil.c <<-'END'
		#include <litifut/litifut.h>
		void litifut_record_trace(const struct litifut_call *call)
		{
			(void)call;
		#ifdef __mips__
			__asm__ volatile(".irp n,0,2,4,6,8,10,12,14,16,18\n\tmtc1 $0,$f\\n\n\t.endr\n\t"
					 "ctc1 $0,$31");
		#else
			__asm__ volatile(".fpu neon\n\t"
					 ".irp n,0,1,2,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
					 "vmov.i32 d\\n, #0\n\t.endr\n\tvmsr fpscr, %0" : : "r"(0));
		#endif
		}
	END
	cat >floats.c <<-'END'
		#include <fenv.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		KEEP double sum(double a, double b, float c, float d, double e, float f)
		{
			return a + b * 2 + c * 3 + d * 5 + e * 7 + f * 11;
		}
		int main(void)
		{
			double total = 0;
			fesetround(FE_UPWARD);
			for (int i = 1; i < 1000; i++)
				total += sum(i, 1.0 / i, 0.5f, 0.25f * i, total, 3) / 19;
			printf("%.17g %d\n", total, fegetround() == FE_UPWARD);
			return 0;
		}
	END
	if [ "$cpu" = arm ]; then
		flags="-fPIC -I$root/include -marm -march=armv7-a+fp -c"
	else
		flags="-fPIC -I$root/include -c"
	fi
	if [ "$target" = armel ]; then
		skip "floating-point registers" "soft float"
		return
	fi
	compiler -o spoil.o spoil.c
	flags=
	link floats ../floats.c -lm || return
	run plain floats
	own spoil.o floats ../floats.c -lm || return
	run traced floats
	ok "a recorder that spoils floating-point registers: same output" diff plain.out traced.out
	ok "and errors" diff plain.err traced.err
}

# Each call that has returned is the uppermost one that is open, at its stack pointer, and what it returned
# is what the program has computed.
returns()
{
	cat >pairs.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <litifut/litifut.h>
		extern int mine(int) __attribute__((weak));
		extern int deeper(int) __attribute__((weak));
		static struct { uint32_t sp; int which; } open_calls[64];
		static unsigned depth, returned[3], wrong;
		static long sum;
		void litifut_record_trace(const struct litifut_call *call)
		{
			while (depth && open_calls[depth - 1].sp < call->stack_pointer)
				depth--;
			open_calls[depth].sp = call->stack_pointer;
			open_calls[depth].which = !((call->callee ^ (uint32_t)(uintptr_t)mine) >> 1) ? 1
				: !((call->callee ^ (uint32_t)(uintptr_t)deeper) >> 1) ? 2 : 0;
			if (depth < 63)
				depth++;
		}
		void litifut_record_return(const struct litifut_call *call)
		{
			while (depth && open_calls[depth - 1].sp < call->stack_pointer)
				depth--;
			if (!depth || open_calls[depth - 1].sp != call->stack_pointer || call->callee)
				wrong++;
			else {
				returned[open_calls[--depth].which]++;
				if (open_calls[depth].which == 1)
					sum += (int)call->arguments[0];
			}
		}
		static __attribute__((destructor)) void say(void)
		{
			fprintf(stderr, "mine %u of %ld, deeper %u, wrong %u\n", returned[1], sum, returned[2], wrong);
		}
	END
	cat >returning.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		KEEP int mine(int n) { return 7 * n - 3; }
		KEEP int deeper(int n) { int r = n ? deeper(n - 1) : 0; __asm__ volatile(""); return r + mine(n) - mine(n); }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 100; i++)
				sum += mine(i);
			printf("%d %d\n", sum, deeper(9));
			return 0;
		}
	END
	if [ "$target" = armel ]; then
		skip "returns" "the thunks of spans need a CPU that armel programs do not"
		return
	fi
	flags="-fPIC -I$root/include -c"
	compiler -o pairs.o pairs.c
	flags=
	export LITIFUT_MODE=spans
	link returning ../returning.c || return
	own pairs.o returning ../returning.c
	unset LITIFUT_MODE
	run plain returning
	run traced returning
	ok "a recorder with returns: the program does not notice" diff plain.out traced.out
	# mine(i) of main, and twice ten of deeper, whose sum is 2 * (7 * 45 - 30)
	is "it gets them, with what was returned" "$(cat traced.err)" "mine 120 of $((7 * 4950 - 300 + 2 * (7 * 45 - 30))), deeper 10, wrong 0"
	ok "one without the function is linked for calls, with a line" sh -c '
		cd traced && LITIFUT_MODE=spans LITIFUT_RECORDER=../count.o "$1" build "$2-gcc" -O2 ../returning.c -o without 2>&1 |
			grep "this recorder has no litifut_record_return(), so it gets no returns"' sh "$BUILD/bin/litifut" "$triplet"
}

behaviour()
{
	examples
	returns
	floating
}

for_targets behaviour
