#!/bin/sh
# Text that no branch reaches across: 68 MB of it, 36 MB of that in .text.startup, which GNU ld puts before all
# other code; calls of every kind from one end to the other through islands, and one object larger than an island's reach.
# Long; TARGETS="armhf-arm armel" runs the other ARM targets.
TARGETS=${TARGETS:-armhf}
. "$(dirname "$0")/../lib.sh"

# One function of each kind of call, and megabytes that are never executed.
piece()
{
	next=$((($1 + 1) % pieces))
	section=.text
	[ "$1" -ge 9 ] || section=.text.startup
	cat <<-END_OF_PIECE
		#define IN __attribute__((section("$section")))
		int f$next(int), g$next(int), t$next(int);
		int (*volatile p$1)(int) = g$next;
		IN __attribute__((noinline)) int leaf$1(int x) { __asm__ volatile(""); return x + $1; }
		IN int g$1(int x) { return leaf$1(x) * 3 + 1; }
		IN int t$1(int x) { return leaf$1(x + 1); }
		IN int f$1(int x)
		{
			int y;
			if (x > 40)
				return x;
			y = p$1(x) + g$1(x);
			return f$next(x + 1 + (y & 1)) + t$next(y);
		}
		__asm__(".section $section,\"ax\",%progbits; .balign 4; .type filler$1, %function; filler$1: bx lr\n"
			".fill $2, 4, 0; .size filler$1, . - filler$1");
	END_OF_PIECE
}

far_text()
{
	[ "$cpu" = arm ] || return
	pieces=17
	sources=
	for each_piece in $(seq 0 $((pieces - 1))); do
		piece "$each_piece" 1048576 >"f$each_piece.c"
		sources="$sources ../f$each_piece.c"
	done
	printf '#include <stdio.h>\nint f0(int);\nint main(void) { printf("%%d\\n", f0(0)); return 0; }\n' >main.c
	# shellcheck disable=SC2086
	link program ../main.c $sources || return
	same_run program
	events_equal_calls program
	is "no call is left out of reach" \
		"$("$BUILD/bin/litifut" info --sites traced/program | grep -c out-of-reach)" 0
	is "every f was called by its neighbour" "$(recorded f3)" "$(recorded f4)"
	rm -rf plain traced
}

# 80 MB in one object, its functions far apart: no island can stand between them.
large_object()
{
	[ "$cpu" = arm ] || return
	for each_piece in 0 1 2 3 4; do
		cat <<-END_OF_PIECE
			.text
			.syntax unified
			.balign 4
			.global far$each_piece
			.type far$each_piece, %function
			far$each_piece:
				push {r4, lr}
				ldr r3, =seen
				mov r1, r0
				blx r3
				pop {r4, pc}
				.ltorg
				.fill 4194304, 4, 0
				.size far$each_piece, . - far$each_piece
		END_OF_PIECE
	done >all.s
	cat >main.c <<-'END'
		#include <stdio.h>
		int far0(int), far1(int), far2(int), far3(int), far4(int);
		int (*volatile far[])(int) = {far0, far1, far2, far3, far4};
		int seen(int x) { return printf("%d\n", x); }
		int main(void)
		{
			for (int i = 0; i < 5; i++)
				far[i](i);
			return 0;
		}
	END
	flags="-no-pie -Wa,-mimplicit-it=thumb"
	case $target in
	armhf) flags="$flags -Wa,-mthumb" ;;
	esac
	link program ../main.c ../all.s || return
	flags=
	same_run program
	events_equal_calls program
	ok "what is out of reach is listed" sh -c \
		"'$BUILD/bin/litifut' info --sites traced/program | grep -q ' out-of-reach'"
	rm -rf plain traced
}

behaviour()
{
	far_text
	rm -f ./*.c
	large_object
}
for_targets behaviour
