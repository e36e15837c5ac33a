#!/bin/sh
# More returns in a PIE than trampolines have numbers for: those beyond are left and listed, the link
# says so, and the program works. At a fixed address all are in reach, and no word is said.
. "$(dirname "$0")/../lib.sh"
few_targets mipsel
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		static __attribute__((noipa)) int next(int value) { return value + 1; }
		#define FIVE(x) x = next(x) * 3; x = next(x) * 5; x = next(x) * 7; x = next(x) * 9; x = next(x) ^ 3;
		#define MANY(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x) FIVE(x)
		#define F(n) __attribute__((noipa)) int f##n(int x) { MANY(x) MANY(x) return x; }
		#define G(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
		G(1) G(2) G(3) G(4) G(5) G(6) G(7) G(8) G(9) G(10) G(11) G(12)
		G(13) G(14) G(15) G(16) G(17) G(18) G(19) G(20) G(21) G(22) G(23) G(24)
		int main(void)
		{
			printf("%d %d %d\n", f10(1), f80(2), f249(3));
			return 5;
		}
	END
	export LITIFUT_MODE=spans
	compiler -O1 -ffunction-sections -c main.c
	mkdir -p plain traced
	(cd plain && compiler ../main.o -o program)
	(cd traced && front="$BUILD/bin/litifut build -q" compiler ../main.o -o program) >said 2>&1
	"$BUILD/bin/litifut" info traced/program >said.info
	left=$(awk '$1 == "out-of-reach" { print $2 }' said.info)
	ok "returns are left" test "${left:-0}" -gt 6000
	is "a warning says so" "$(grep -v '^litifut: 1 linked file traced' said)" \
		"litifut-ld: warning: program: $left of $(awk '/returns patched/ { print $5 }' said.info) returns are not recorded, as there is more code for them than can be reached: link with -no-pie, or choose the objects that are traced (LITIFUT_INCLUDE_OBJECTS)"
	same_run program
	(cd plain && compiler ../main.o -no-pie -o program)
	(cd traced && front="$BUILD/bin/litifut build -q" compiler ../main.o -no-pie -o program) >said 2>&1
	"$BUILD/bin/litifut" info traced/program >said.info
	is "at a fixed address none is" "$(grep -c out-of-reach said.info)" 0
	is "and no word of it" "$(grep -c litifut-ld said)" 0
	same_run program
	unset LITIFUT_MODE
}

for_targets behaviour
