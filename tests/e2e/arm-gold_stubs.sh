#!/bin/sh
# gold puts stubs behind functions and gives them neither a name nor mapping symbols: what their
# constants look like is not a call. It puts programs at 0x8000, where a trace can't have code.
TARGETS=${TARGETS:-"armhf armhf-arm armel"}
. "$(dirname "$0")/../lib.sh"

# The tracer's T32 code has such stubs when a branch of it comes to stand across the end of a
# page: then the oracle must take them for the tracer's own.
oracle_knows_page_ends()
{
	cat >pages.s <<-'END'
		.syntax unified
		.arch armv7-a
		.thumb
		.macro function name
		.globl \name
		.type \name, %function
		.thumb_func
		\name:
		.endm
		.text
		.p2align 12
		.space 0xff0
		function litifut_back
		bx lr
		.size litifut_back, . - litifut_back
		.space 6
		function litifut_always
		nop
		add.w r0, r0, #1
		b.w litifut_back
		.size litifut_always, . - litifut_always
		.space 0xff0
		function litifut_sometimes
		1: nop
		nop
		nop
		nop
		cmp.w r0, #1
		beq.w 1b
		bx lr
		.size litifut_sometimes, . - litifut_sometimes
	END
	compiler -nostdlib -pie -fuse-ld=gold -o pages pages.s
	# behind all other code: one branch, and three
	end=$(readelf -SW pages | awk '{ for (i = 1; i < NF; i++) if ($i == ".text") print $(i + 3), $(i + 4) }' |
		(read -r offset size && echo $((0x$offset + 0x$size))))
	is "stubs at ends of pages" \
		"$(python3 "$root/tests/oracle/oracle.py" ranges pages | awk '{ print $1, $2 }' | sort -n | tail -n 2)" \
		"$(printf '%x %x\n' $((end - 14)) $((end - 10)) $((end - 10)) "$end")"
}

# Gold and lld do not say that the room for trampolines, which stands before the program's code,
# is not code: nothing of it may serve a return point that has too little room itself.
returns_next_to_the_room()
{
	[ "$target" != armel ] || return # its returns are not recorded
	cat >short.c <<-'END'
		#include <setjmp.h>
		static jmp_buf env;
		int apply(int (*f)(int), int n) { int i; for (i = 0; i < n; i++) f(i); return n; }
		static __attribute__((noinline)) void jump(int n) { if (n == 0) longjmp(env, 7); jump(n - 1); __asm__ volatile(""); }
		int jumps(void) { int r = setjmp(env); if (!r) jump(5); return r; }
	END
	cat >calls.c <<-'END'
		#include <stdio.h>
		int apply(int (*f)(int), int n), jumps(void);
		static int sum;
		static int add(int i) { return sum += i; }
		int main(void) { printf("%d %d %d\n", apply(add, 9), jumps(), sum); return 0; }
	END
	LITIFUT_MODE=spans
	export LITIFUT_MODE
	link returns ../short.c ../calls.c -O0 -fuse-ld=gold && same_run returns
	unset LITIFUT_MODE
}

behaviour()
{
	[ "$target" = armel ] || oracle_knows_page_ends
	returns_next_to_the_room
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		static __attribute__((noipa)) int inner(int x) { return abs(x) * 3; }
		static void at_end(void) { puts("end"); }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 5; i++)
				sum += inner(i);
			atexit(at_end); /* which reaches libc by a tail call and a stub */
			printf("%d\n", sum);
			return sum & 63;
		}
	END
	for options in "-pg" "" "-no-pie" "-static"; do
		rm -rf plain traced
		# shellcheck disable=SC2086
		link program ../main.c -fuse-ld=gold -fstack-protector-all $options || continue
		same_run program
		events_equal_calls program
	done
	rm -rf traced && mkdir traced
	(cd traced && front="$BUILD/bin/litifut build -q" compiler -no-pie -Wl,-Ttext-segment=0x8000 \
		-o program ../main.c) >traced.log 2>&1
	is "a low address that the user chose: why not traced" \
		"$(sed 's/: \.[a-z]*: 0x[0-9a-f]*: /: /' traced.log)" \
		"litifut-ld: warning: program: left untraced: code below 0x10000 can't be traced"
	run traced program
	ok "and it runs" diff plain.out traced.out
}

for_targets behaviour
