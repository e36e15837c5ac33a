#!/bin/sh
# What clang makes otherwise than GCC. On MIPS its static functions get no room for
# their arguments on the stack, and what the caller keeps there must stay.
. "$(dirname "$0")/../lib.sh"

compiler()
{
	# shellcheck disable=SC2086
	${front:-} clang --target="$triplet" $machine_flags -g $flags "$@"
}

behaviour()
{
	command -v clang >/dev/null || {
		skip "clang" "there is no clang"
		return
	}
	cat >main.c <<-'END'
		#include <alloca.h>
		#include <stdio.h>
		#define KEEP __attribute__((noinline))
		static KEEP void fill(int *words, int count) { for (int i = 0; i < count; i++) words[i] = i + count; }
		static KEEP int twice(int a) { return a * 2; }
		static KEEP int frame_of_static_calls(int a, int b)
		{
			int words[8];
			fill(words, 8);
			int sum = twice(a) + twice(b) + twice(a + b);
			return words[0] + 10 * words[1] + 100 * words[2] + sum;
		}
		static KEEP int frame_of_any_size(int count, char **arguments)
		{
			int *words = alloca((unsigned)count * sizeof(int));
			int others[8];
			fill(words, count);
			fill(others, 8);
			int sum = twice(count) + twice(words[0]);
			return words[0] + 10 * words[1] + 100 * words[2] + sum + others[0] + 3 * others[1] + (arguments[0] != NULL);
		}
		int main(int argc, char **argv)
		{
			for (int i = 2; i < 6; i++)
				printf("%d %d\n", frame_of_static_calls(i, argc), frame_of_any_size(i * 3 + argc, argv));
			return 0;
		}
	END
	for optimisation in -O0 -O2 -Os; do
		flags=$optimisation
		link "program$optimisation" ../main.c || continue
		same_run "program$optimisation"
		events_equal_calls "program$optimisation"
	done
	flags="-O2 -fno-pie -no-pie"
	link program-no-pie ../main.c || return
	same_run program-no-pie
	events_equal_calls program-no-pie
}

for_targets behaviour
