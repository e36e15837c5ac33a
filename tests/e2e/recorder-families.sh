#!/bin/sh
# A library that is linked with another LITIFUT_MODE than the program. Its constructors run before the
# program's first call, which _start makes, and decide what is recorded: no thunk of the program may
# store an event of another form, or read a counter that the CPU does not have, before the recorder
# has the program's module.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# mixed MODE_OF_LIBRARY MODE_OF_PROGRAM CLOCK FORMAT LEAF [foreign]: the clock may be empty. FORMAT shows the
# library's leaf() if LEAF is yes. With the last word, calls of the other module are counted.
mixed()
{
	name=$1-$2${3:+-$3}
	LITIFUT_MODE=$1 link libtwice.so ../library.c -shared -fPIC || return
	LITIFUT_MODE=$2 LITIFUT_CLOCK=${3:-} link "$name" ../main.c -L. -ltwice || return
	rm -rf data
	env -i LITIFUT_DIR="$(pwd)/data" "qemu-$cpu" -L "$sysroot" -E LD_LIBRARY_PATH="$(pwd)/traced" \
		"traced/$name" >run.out
	is "$name: the program prints what it prints untraced" "$? $(cat run.out)" "0 185"
	"$BUILD/bin/litifut-post" -f "$4" -o out data "traced/$name" traced/libtwice.so >post.log 2>&1
	is "$name: the calls of the first family are recorded, and nothing that there was not" \
		"$(grep -q leaf out && echo yes) $(grep -c '?\|trampolines' out) $(grep -c damaged post.log)" "$5 0 0"
	shift 5
	[ $# -eq 0 ] || ok "$name: calls of the program are counted" grep -q \
		'[0-9][0-9]* calls are not recorded.*foreign-mode' post.log
}

families()
{
	cat >library.c <<-'END'
		#define KEEP __attribute__((noipa))
		KEEP int leaf(int x) { if (x & 1) return 3 * x + 1; return x; }
		KEEP int twice(int x) { return leaf(x) + leaf(x + 1); }
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int twice(int x);
		__attribute__((noipa)) static int own(int x) { return twice(x) + 1; }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 5; i++)
				sum += own(4 * i);
			printf("%d\n", sum);
			return 0;
		}
	END
	mixed spans table '' calls yes foreign
	mixed calls paths '' calls yes foreign
	mixed spans spans cycle calls yes
	mixed paths table '' branches yes foreign
	# the program has the recorder, without the part for paths
	mixed paths calls '' calls '' foreign
}

for_targets families
