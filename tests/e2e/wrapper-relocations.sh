#!/bin/sh
# -Wl,-q (--emit-relocs), which post-link tools need: GNU ld aborts at an ARM table of
# frames without relocations, gold where it merges entries of one. Calls through pointers have
# trampolines with frames, and a static program brings much code of that kind.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mipsel

# with OPTIONS...: the relocations are there, and the program is traced all the same.
with()
{
	rm -rf plain traced
	link program ../main.c -Wl,-q "$@" || return
	same_run program
	ok "$*: it has relocations of code" has_relocations
	events_equal_calls program
}

has_relocations()
{
	readelf -SW traced/program | grep '\.rela\{0,1\}\.text'
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		static int add(int x) { return x + 1; }
		static int twice(int x) { return x * 2; }
		static int (*volatile table[2])(int) = { add, twice };
		__attribute__((noinline)) int through(int i) { return (table[i & 1](i) + 3) * 2; }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 10; i++)
				sum += through(i);
			printf("%d\n", sum);
			return 0;
		}
	END
	with
	with -no-pie
	with -static
	with -fuse-ld=gold
}

for_targets behaviour
