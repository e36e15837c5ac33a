#!/bin/sh
# A thread whose thread pointer leads to memory of the program, which looks as if libc had put a vector
# there, and in it a place for events: none is stored there, as no thunk looks for it any more.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mips mipsel

behaviour()
{
	cat >work.c <<-'END'
		#define _GNU_SOURCE
		#include <sched.h>
		#include <stdint.h>
		#include <stdio.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned sum;
		static volatile int parent_id, child_id = 1;
		static uint32_t victim[64], vector[64], block[16384];
		static char stack[65536] __attribute__((aligned(16)));
		KEEP unsigned early(unsigned n) { return n + 1; }
		KEEP unsigned in_child(unsigned n) { return n + 2; }
		KEEP unsigned late(unsigned n) { return n + 3; }
		static int child(void *unused)
		{
			(void)unused;
			for (unsigned i = 0; i < 100; i++)
				sum += in_child(i);
			return 0;
		}
		int main(void)
		{
			const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
			unsigned changed = 0;
			for (unsigned i = 0; i < 64; i++)
				vector[i] = (uint32_t)&victim[8];
			for (unsigned i = 0; i < 16384; i++)
				block[i] = (uint32_t)vector;
			for (unsigned i = 0; i < 1000; i++)
				sum += early(i);
			if (clone(child, stack + sizeof(stack), flags, 0, &parent_id, &block[8192], &child_id) < 0)
				return 1;
			while (child_id)
				usleep(1000);
			for (unsigned i = 0; i < 1000; i++)
				sum += late(i);
			for (unsigned i = 0; i < 64; i++)
				changed += victim[i] || vector[i] != (uint32_t)&victim[8];
			printf("%u, %u words are others\n", sum, changed);
			return 0;
		}
	END
	link work ../work.c || return
	run plain work
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_CLOCK=none"
	qemu_options="-strace -D $(pwd)/calls.log"
	run traced work
	qemu_options='' guest_environment=''
	ok "the program prints the same" diff plain.out traced.out
	is "nothing is stored in its memory" "$(sed 's/.*, //' traced.out)" "0 words are others"
	ok "pages with thunks were exchanged" grep -q 'mremap(.*,3,.*) = [1-9]' calls.log
	ok "litifut-post reads the trace" \
		"$BUILD/bin/litifut-post" -q -f tsv -o events.tsv data/trace data/maps traced/work
	is "calls before, in that thread and afterwards" \
		"$(recorded early) $(recorded in_child) $(recorded late)" "1000 100 1000"
}

for_targets behaviour
