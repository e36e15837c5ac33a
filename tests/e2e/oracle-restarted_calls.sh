#!/bin/sh
# A signal that comes at the delay slot of a call makes the kernel execute the call instruction
# again: that is one call. The slot here reads a page that the handler of the fault makes readable.
. "$(dirname "$0")/../lib.sh"
[ "$TARGETS" != "$all_targets" ] || TARGETS='mips mipsel' # others have no delay slots

behaviour()
{
	cat >calls.s <<-'END'
			.set noreorder
			.text
			.globl reads
			.ent reads
		reads:
			.cpload $25
			addiu $29, $29, -32
			sw $31, 28($29)
			sw $28, 16($29)
			bal adds
			lw $4, 0($4)
			lw $28, 16($29)
			lw $31, 28($29)
			jr $31
			addiu $29, $29, 32
			.end reads
			.size reads, . - reads
			.ent adds
			.type adds, @function
		adds:
			jr $31
			addiu $2, $4, 1
			.end adds
			.size adds, . - adds
			.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <sys/mman.h>
		int reads(const int *);
		static void *page;
		static volatile int faults;
		__attribute__((noipa)) static void opens(void) { mprotect(page, 4096, PROT_READ); }
		static void fault(int number) { (void)number; faults++; opens(); }
		int main(void)
		{
			int sum = 0;
			page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			signal(SIGSEGV, fault);
			for (int i = 0; i < 10; i++) {
				sum += reads(page);
				if (i % 3 == 0)
					mprotect(page, 4096, PROT_NONE);
			}
			printf("%d, %d faults\n", sum, faults);
			return 0;
		}
	END
	for mode in table spans; do
		export LITIFUT_CLOCK=page LITIFUT_MODE=$mode
		link program ../main.c ../calls.s || return
		unset LITIFUT_CLOCK LITIFUT_MODE
		same_run program
		run_timed program
		ok "$mode: slots were interrupted" grep -q '10, 4 faults' traced.out
		"$BUILD/bin/litifut-post" -q -f csv -o out.csv data traced/program
		ok "$mode: each call is recorded once" grep -q '"reads".*"adds".*,call,10,10,' out.csv
		ok "$mode: the calls and times are what the oracle saw" \
			python3 "$root/tests/oracle/table.py" calls oracle out.csv traced/program
	done
}

for_targets behaviour
