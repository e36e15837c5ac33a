#!/bin/sh
# What a second link reserves was measured in the first one: it is enough, and at most a sixth more than what is used.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf armhf-arm mipsel mips"

# number TEXT: the one before TEXT in the last line about the link
number()
{
	sed -n "s/.*[^0-9]\([0-9][0-9]*\) $1.*/\1/p" said | tail -n 1
}

# measured NAME FLAGS...
measured()
{
	name=$1
	shift
	rm -rf plain traced
	mkdir plain traced
	(cd plain && compiler "$@" -o program ../main.c) &&
		(cd traced && LITIFUT_VERBOSE=1 LITIFUT_LINK_TWICE=1 front="$BUILD/bin/litifut build -q" \
			compiler "$@" -o program ../main.c) >said 2>&1
	is "$name: two links" "$(grep -c '^litifut-ld: run:' said)" 2
	used=$(number 'of [0-9]* bytes of trampolines')
	reserved=$(number 'bytes of trampolines')
	ok "$name: what is used is nearly all that is reserved" \
		[ "${used:-0}" -gt 0 -a "${used:-0}" -le "${reserved:-0}" -a $((${used:-0} * 7 + 5120)) -ge $((${reserved:-0} * 6)) ]
	same_run program
}

behaviour()
{
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
