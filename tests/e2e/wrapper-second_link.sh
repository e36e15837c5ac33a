#!/bin/sh
# What a second link reserves was measured in the first one: it is enough, and at most a sixth more than what is used.
# The room for returns that is guessed at first is enough for usual code, so that there is no second link.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf armhf-arm mipsel mips"

# number TEXT: the one before TEXT in the last line about the link
number()
{
	sed -n "s/.*[^0-9]\([0-9][0-9]*\) $1.*/\1/p" said | tail -n 1
}

# linked INPUT FLAGS...: untraced and traced; the wrapper's words are in `said`
linked()
{
	input=$1
	shift
	rm -rf plain traced
	mkdir plain traced
	(cd plain && compiler "$@" -o program "../$input") &&
		(cd traced && export LITIFUT_VERBOSE=1 && front="$BUILD/bin/litifut build -q" \
			compiler "$@" -o program "../$input") >said 2>&1
}

# measured NAME FLAGS...
measured()
{
	name=$1
	shift
	export LITIFUT_LINK_TWICE=1
	linked main.c "$@"
	unset LITIFUT_LINK_TWICE
	is "$name: two links" "$(grep -c '^litifut-ld: run:' said)" 2
	used=$(number 'of [0-9]* bytes of trampolines')
	reserved=$(number 'bytes of trampolines')
	ok "$name: what is used is nearly all that is reserved" \
		[ "${used:-0}" -gt 0 -a "${used:-0}" -le "${reserved:-0}" -a $((${used:-0} * 7 + 5120)) -ge $((${reserved:-0} * 6)) ]
	same_run program
}

# Calls as in usual code: with branches around them, values kept over them, and loops.
many_calls()
{
	echo 'int use(int, int); static int table[64];'
	i=0
	while [ $i -lt 700 ]; do
		echo "__attribute__((noipa)) static int f$i(int a, int b) {
			int sum = use(a, b);
			for (int i = 0; i < b; i++) sum += use(i, table[i & 63]) ? use(sum, i) : a;
			if (use(b, a) > 3) table[a & 63] += use(sum, a);
			while (use(sum, b)) sum -= use(b, $i);
			return use(a, sum) + use(b, sum) * table[sum & 63]; }"
		i=$((i + 1))
	done
	echo '__attribute__((noipa)) int use(int a, int b) { return a * b & 1; } int main(int n, char **v) { int sum = 0;'
	while [ $i -gt 0 ]; do
		i=$((i - 1))
		echo "sum += f$i(n, n + 1);"
	done
	echo 'return sum & 1; }'
}

# linked_once NAME FLAGS...
linked_once()
{
	name=$1
	shift
	linked many.o "$@"
	is "$name: one link" "$(grep -c '^litifut-ld: run:' said)" 1
	ok "$name: with returns" sh -c '"$1" info traced/program | grep "returns patched [0-9]\{4\}"' sh "$BUILD/bin/litifut"
	same_run program
}

behaviour()
{
	many_calls >many.c
	compiler -c -o many.o many.c
	for mode in spans table; do
		export LITIFUT_MODE="$mode"
		linked_once "$mode, many calls"
		linked_once "$mode, many calls, fixed addresses" -no-pie
		unset LITIFUT_MODE
	done
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
		int main(void)
		{
			int items[] = {5, 3, 9, 1, 7};
			qsort(items, 5, sizeof(*items), compare);
			for (int i = 0; i < 5; i++)
				printf("%d\n", items[i]);
			return 0;
		}
	END
	for mode in ${LONG:+calls table counts coverage} spans paths; do
		export LITIFUT_MODE="$mode"
		measured "$mode, static" -O1 -static
		measured "$mode" -O1
		unset LITIFUT_MODE
	done
}

for_targets behaviour
