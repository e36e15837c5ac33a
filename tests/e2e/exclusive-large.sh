#!/bin/sh
# A call between an exclusive load and its store that leads to very many functions: these are found once, not looked for in all
# of the program for each of them.
. "$(dirname "$0")/../lib.sh"
few_targets armhf

behaviour()
{
	[ "$target" = armhf ] || return 0 # it is the same on the others
	awk 'BEGIN {
		many = 60000
		print ".syntax unified\n.arm\n.arch armv7-a\n.section .note.GNU-stack,\"\",%progbits\n.text"
		for (i = 0; i <= many; i++) {
			name = i < many ? "f" i : "between"
			printf ".globl %s\n.type %s, %%function\n%s:\npush {r4, lr}\n", name, name, name
			if (i < many - 1)
				printf "bl f%d\n", i + 1
			else if (i == many)
				print "bl f0\n.ifdef EXCLUSIVE\nldrex r1, [r0]\n.endif\nbl f0\n.ifdef EXCLUSIVE\nstrex r2, r1, [r0]\n.endif"
			printf "pop {r4, pc}\n.size %s, . - %s\n", name, name
		}
	}' >many.s
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >main.c
	"$triplet-gcc" -c main.c -o main.o
	"$triplet-gcc" -c many.s -o many0.o
	"$triplet-gcc" -Wa,--defsym,EXCLUSIVE=1 -c many.s -o many1.o
	for kind in 0 1; do
		LITIFUT_MODE=calls python3 - "$BUILD/bin/litifut" build -q "$triplet-gcc" main.o many$kind.o -o traced <<-'END' >seconds$kind
			import resource, subprocess, sys
			subprocess.run(sys.argv[1:], check=True)
			print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
		END
	done
	"$BUILD/bin/litifut" info --skipped traced >skipped
	is "the calls that are left" "$(grep -c '^0x.* exclusive in ' skipped)" 60000
	is "it takes no more than five times what it takes without" \
		"$(cat seconds0 seconds1 | awk 'NR == 1 { plain = $1 } END { print $1 < 5 * plain ? "yes" : $1 " and " plain }')" yes
}

for_targets behaviour
