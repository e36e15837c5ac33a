#!/bin/sh
# LITIFUT_MODE=paths: calls through pointers that have no room to record that they have returned. The function
# that such a call has led to is over when the next such call is, also if it ends in code of another module; what
# that code, or a function of another module that the pointer leads to, calls again and again stays within.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mipsel

# No block between the calls of both() has room for anything.
sources()
{
	cat >pointers.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa)) static

		struct argument {
			const char *list;
			int size;
		};
		typedef int (*operation)(const struct argument *);
		int both(operation first, operation second, const struct argument *argument, int without_first);
		#ifdef __mips__
		__asm__(".text\n.set push\n.set noreorder\n.globl both\n.type both, @function\n.ent both\n"
			"both: addiu $29, $29, -40\nsw $31, 36($29)\nsw $17, 32($29)\nsw $18, 28($29)\n"
			"move $17, $5\nmove $18, $6\nmove $25, $4\nmove $4, $18\nbltz $7, 2f\nnop\nbnez $7, 1f\nnop\n"
			"jalr $25\nnop\n"
			"move $25, $17\n"
			"1: jalr $25\n"
			"2: move $4, $18\n"
			"lw $18, 28($29)\nlw $17, 32($29)\nlw $31, 36($29)\njr $31\naddiu $29, $29, 40\n"
			".end both\n.size both, . - both\n.set pop\n");
		#else /* such a store can't be elsewhere */
		__asm__(".text\n.balign 4\n.arm\n.globl both\n.type both, %function\n"
			"both: push {r3, r4, r5, r6, r7, lr}\nmov r4, r0\nmov r5, r1\nmov r6, r2\nmov r0, r2\n"
			"cmp r3, #0\nbne 1f\n"
			"blx r4\n"
			"str pc, [sp]\nmov r0, r6\n"
			"1: str pc, [sp]\nblx r5\n"
			"str pc, [sp]\npop {r3, r4, r5, r6, r7, pc}\n.size both, . - both\n"
		#ifdef __thumb__
			".thumb\n"
		#endif
			);
		#endif

		static int sum;
		KEEP int add(const struct argument *argument)
		{
			sum += argument->size;
			return sum;
		}
		KEEP int change(const struct argument *argument)
		{
			return sum & 1 ? sum-- : sum++;
		}
		/* these end in functions of libc, */
		KEEP int number(const struct argument *argument)
		{
			return atoi(argument->list);
		}
		KEEP int random_number(const struct argument *argument)
		{
			return rand();
		}
		/* and this one in one that calls back */
		KEEP int by_value(const void *one, const void *other)
		{
			return *(const unsigned char *)one - *(const unsigned char *)other;
		}
		KEEP void *search(const struct argument *argument)
		{
			return bsearch(argument->list, argument->list, argument->size, 1, by_value);
		}
		int main(void)
		{
			static const operation all[] = {add, change, number, random_number, (operation)search};
			static const struct argument argument = {"1234567", 7};
			const int count = sizeof(all) / sizeof(*all);

			for (int i = 0; i < count - 1; i++)
				for (int j = 0; j < count; j++) {
					both(all[i], all[j], &argument, 0);
					printf("%d\n", sum);
				}
			printf("%d\n", both(add, add, &argument, 1));
			return 0;
		}
	END
}

behaviour()
{
	[ "$target" != armel ] || return 0 # its CPUs may be older: there is no such mode
	sources
	export LITIFUT_MODE=paths
	for flags in -O2 "-O2 -no-pie"; do
		rm -rf plain traced
		link pointers ../pointers.c && same_run pointers && blocks_equal "" pointers
	done
	"$BUILD/bin/litifut" info --skipped traced/pointers >skipped
	ok "nothing records that the first call has returned" grep 'block .* in both' skipped
}

for_targets behaviour
