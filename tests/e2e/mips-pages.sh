#!/bin/sh
# The GOT of MIPS code has multiples of 64 KB, from which code calculates addresses. Code that
# happens to stand at one of them is not the target of a jump for that: what stands there may move. It is one
# if code adds a low half of 0.
. "$(dirname "$0")/../lib.sh"
few_targets mipsel
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

# At the first multiple of 64 KB behind its start across() has a delay slot, at the second one the
# place where a call returns to.
pages_source()
{
	cat >pages.c <<-'END'
		#include <stdio.h>
		__asm__(".text\n.p2align 16\n.set push\n.set noreorder\n.set nomacro\n.globl across\n"
			".type across, @function\n.ent across\nacross:\n"
			"lui $28, %hi(_gp_disp)\naddiu $28, $28, %lo(_gp_disp)\naddu $28, $28, $25\n"
			"addiu $29, $29, -32\nsw $31, 28($29)\n"
			"lw $8, %got(first)($28)\naddiu $8, $8, %lo(first)\nsltu $9, $0, $8\n"
			"lw $8, %got(second)($28)\naddiu $8, $8, %lo(second)\nsltu $10, $0, $8\n"
			"addu $2, $9, $10\nb before\nnop\n"
			".org across + 0xfff0\nbefore: addu $2, $2, $4\nnop\nnop\nbnez $4, first\n"
			"addiu $2, $2, 1\naddiu $2, $2, 2\nnop\nnop\nfirst: b calls\nnop\n"
			".org across + 0x1fff0\ncalls: sw $2, 24($29)\nnop\nbal twice\nmove $4, $2\n"
			"lw $3, 24($29)\naddu $2, $2, $3\nnop\nnop\nsecond: lw $31, 28($29)\njr $31\n"
			"addiu $29, $29, 32\n.end across\n.size across, . - across\n"
			".globl twice\n.type twice, @function\n.ent twice\ntwice: jr $31\nsll $2, $4, 1\n"
			".end twice\n.size twice, . - twice\n.set pop\n");
		unsigned across(unsigned number);
		int main(void)
		{
			unsigned sum = 0;

			for (unsigned i = 0; i < 4; i++)
				sum = 3 * sum + across(i % 2);
			printf("%u\n", sum);
			return 0;
		}
	END
}

behaviour()
{
	pages_source
	export LITIFUT_MODE=paths
	link pages ../pages.c || return
	same_run pages
	across=$("$triplet-nm" plain/pages | sed -n 's/ T across$//p')
	"$triplet-readelf" -A plain/pages >got.txt
	for page in 1 2; do
		ok "the GOT has multiple $page" grep -q " $(printf '%08x' $((0x$across + page * 0x10000)))\$" got.txt
	done
	is "paths: nothing is left in the function" \
		"$("$BUILD/bin/litifut" info --skipped traced/pages | grep -c 'in across')" 0
	rm -f traced/pages plain/pages
	export LITIFUT_MODE=spans
	link pages ../pages.c || return
	same_run pages
	"$BUILD/bin/litifut" info --skipped traced/pages >info.txt
	is "spans: the return is recorded" "$(grep -c ' return .* in across' info.txt)" 0
	unset LITIFUT_MODE
}

for_targets behaviour
