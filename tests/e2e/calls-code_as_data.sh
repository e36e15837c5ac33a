#!/bin/sh
# A function that was assembled as numbers, as LuaJIT's is. On ARM the mapping symbols
# say that it is data: it stays as it is, and is listed with its name and size. On MIPS
# nothing tells numbers from instructions, and it is traced as any other.
. "$(dirname "$0")/../lib.sh"

sources()
{
	cat >numbers.S <<-'END'
		.text
		.globl numbers
		.type numbers, %function
		.p2align 2
		#ifdef __mips__
		.set noreorder
		numbers:
		.word 0x27bdffe0 /* addiu sp, sp, -32 */
		.word 0xafbf001c /* sw ra, 28(sp) */
		.word 0x0080c825 /* move t9, a0 */
		.word 0x0320f809 /* jalr t9 */
		.word 0x00000000 /* nop */
		.word 0x8fbf001c /* lw ra, 28(sp) */
		.word 0x03e00008 /* jr ra */
		.word 0x27bd0020 /* addiu sp, sp, 32 */
		#else
		.arm
		numbers:
		.word 0xe92d4010 /* push {r4, lr} */
		.word 0xe12fff30 /* blx r0 */
		.word 0xe8bd8010 /* pop {r4, pc} */
		#endif
		.size numbers, . - numbers
		.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int numbers(int (*)(void));
		__attribute__((noipa)) static int callee(void) { return 4; }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 3; i++)
				sum += numbers(callee);
			printf("%d\n", sum);
			return 0;
		}
	END
}

# One object of the array, without its address.
as_json()
{
	"$BUILD/bin/litifut" info --skipped --json traced/program |
		grep -o '{"address": [0-9]*, "size"[^}]*}' | sed 's/"address": [0-9]*, //'
}

behaviour()
{
	sources
	flags='-fno-pic -no-pie'
	link program ../main.c ../numbers.S || return
	same_run program
	events_equal_calls program
	is "the program's own calls of it are traced" "$(recorded numbers)" 3
	"$BUILD/bin/litifut" info --skipped traced/program >skipped
	if [ "$cpu" != arm ]; then
		is "its calls are traced" "$(recorded callee)" 3
		is "nothing is listed" "$(grep -c code-as-data skipped)" 0
		return
	fi
	is "its calls are not traced" "$(recorded callee)" 0
	is "it is listed" "$(awk '/^0x/ { $1 = ""; print }' skipped)" \
		" function 0x0000000c numbers code-as-data"
	is "it is counted" "$(awk '$1 == "code-as-data" { print $2 }' skipped)" 1
	is "it is listed as JSON" "$(as_json)" \
		'{"size": 12, "function": "numbers", "kind": "function", "reason": "code-as-data"}'
	"$triplet-strip" traced/program
	is "a file without names says so" "$("$BUILD/bin/litifut" info --skipped traced/program |
		awk '/^0x/ { $1 = ""; print }')" " function 0x0000000c - code-as-data"
}

for_targets behaviour
