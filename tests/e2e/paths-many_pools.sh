#!/bin/sh
# A program with very many literal pools: for each sum of a literal and the pc those in reach are looked at, not all of them.
. "$(dirname "$0")/../lib.sh"
few_targets armhf

behaviour()
{
	[ "$target" = armhf ] || return 0 # it is the same on the others
	awk 'BEGIN {
		print ".syntax unified\n.thumb\n.arch armv7-a\n.section .note.GNU-stack,\"\",%progbits\n.text"
		for (i = 0; i < 60000; i++) {
			printf ".balign 4\n.globl f%d\n.type f%d, %%function\n.thumb_func\nf%d:\nldr r0, 1f\n", i, i, i
			print "nop\n.ifdef SUMS\nadd r0, pc\n.else\nadd r0, r1\n.endif\nbx lr\n1: .word 4096"
			printf ".size f%d, . - f%d\n", i, i
		}
	}' >many.s
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >main.c
	"$triplet-gcc" -c main.c -o main.o
	"$triplet-gcc" -c many.s -o many0.o
	"$triplet-gcc" -Wa,--defsym,SUMS=1 -c many.s -o many1.o
	for kind in 0 1; do
		LITIFUT_MODE=paths python3 - "$BUILD/bin/litifut" build -q "$triplet-gcc" main.o many$kind.o -o traced <<-'END' >seconds$kind
			import resource, subprocess, sys
			subprocess.run(sys.argv[1:], check=True)
			print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
		END
	done
	is "sums take no more than ten times what it takes without" \
		"$(cat seconds0 seconds1 | awk 'NR == 1 { plain = $1 } END { print $1 < 10 * plain ? "yes" : $1 " and " plain }')" yes
}

for_targets behaviour
