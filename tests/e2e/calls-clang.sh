#!/bin/sh
# What clang makes otherwise than GCC. On MIPS its static functions get no room for
# their arguments on the stack, and what the caller keeps there must stay; many
# arguments stand there themselves.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mips

compiler()
{
	# shellcheck disable=SC2086
	${front:-} clang --target="$triplet" $machine_flags -g $flags "$@"
}

# lld's way from A32 code to a function in T32 code, in position-independent code: movw, movt, add of the pc, bx.
followed_through_veneers()
{
	[ "$target" = armhf ] && command -v ld.lld >/dev/null || return
	cat >divide.c <<-'END'
		#include <stdio.h>
		__attribute__((noinline)) int divide(int a, int b) { return (a + b) / b; }
		int main(void)
		{
			int sum = 0;
			for (volatile int i = 1; i < 9; i++)
				sum += divide(100, i) + (i & 1 ? divide(i, 3) : 1);
			printf("%d\n", sum);
			return 0;
		}
	END
	flags="-O2 -marm -fuse-ld=lld"
	rm -rf plain traced
	LITIFUT_MODE=paths
	export LITIFUT_MODE
	link divide ../divide.c && same_run divide
	unset LITIFUT_MODE
	ok "a veneer of lld" sh -c "nm traced/divide | grep Thunk_"
	ok "bits and code agree behind it" "$BUILD/bin/litifut-post" -f blocks -o blocks.tsv data traced/divide
	ok "the division is followed" grep -q divsi3 blocks.tsv
	rm -rf plain traced
}

behaviour()
{
	command -v clang >/dev/null || {
		skip "clang" "there is no clang"
		return
	}
	followed_through_veneers
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
		struct pair { int a, b; };
		static KEEP double many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k,
					int l, int m, int n, int o, int p, int q, int r, int s, int t, double u,
					struct pair v, const char *w)
		{
			return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h + 19 * i + 23 * j +
			       29 * k + 31 * l + 37 * m + 41 * n + 43 * o + 47 * p + 53 * q + 59 * r + 61 * s + 67 * t +
			       u * v.a - v.b + w[1];
		}
		static KEEP double passes_many(int x, double y)
		{
			double (*volatile pointer)(int, int, int, int, int, int, int, int, int, int, int, int, int, int,
						   int, int, int, int, int, int, double, struct pair, const char *) = many;
			struct pair pair = {x, x + 7};
			double sum = 0;
			for (int i = 0; i < 3; i++) {
				sum += many(x, 2, i, 4, 5, x, 7, 8, 9, i, 11, 12, x, 14, 15, 16, i, 18, 19, x, y, pair, "abc");
				sum *= pointer(i, 2, x, 4, 5, i, 7, 8, 9, x, 11, 12, i, 14, 15, 16, x, 18, 19, i, y, pair, "xyz");
			}
			return sum;
		}
		int main(int argc, char **argv)
		{
			for (int i = 2; i < 6; i++)
				printf("%d %d %g\n", frame_of_static_calls(i, argc), frame_of_any_size(i * 3 + argc, argv),
				       passes_many(i, i / 3.0));
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
