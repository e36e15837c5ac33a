#!/bin/sh
# Thunks that read a clock (LITIFUT_CLOCK at link time): the same calls in the same order, each
# with the time that the oracle gives it, stored by the thunks themselves.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		static volatile int sink;
		KEEP void leaf(void) { sink++; }
		KEEP void work(int rounds) { while (rounds--) sink++; leaf(); sink++; }
		KEEP void tail(void) { sink++; leaf(); }
		KEEP void indirect(void (*pointer)(int), int rounds) { pointer(rounds); sink++; }
		KEEP void indirect_tail(void (*pointer)(int), int rounds) { sink++; pointer(rounds); }
		KEEP int compare(const void *a, const void *b)
		{
			leaf();
			return *(const int *)a - *(const int *)b;
		}
		int main(void)
		{
			int numbers[64];
			for (int i = 0; i < 64; i++)
				numbers[i] = i * 37 % 64;
			qsort(numbers, 64, sizeof(int), compare);
			for (int i = 0; i < 2000; i++) {
				work(i % 7);
				tail();
				indirect(work, 3);
				indirect_tail(work, 2);
			}
			printf("%d %d\n", numbers[5], sink);
			return 0;
		}
	END
	export LITIFUT_CLOCK=page
	link program ../main.c || return

	unset LITIFUT_CLOCK
	engine=$("$BUILD/bin/litifut" info --json traced/program |
		sed 's/.*"engine": "\([a-z]*\)", .*"clock": "\([a-z]*\)".*/\1 \2/')
	# armel is for CPUs on which thunks do not run: the recorder reads the clock
	case $target in
	armel) is "the module says which clock" "$engine" "db none" ;;
	*) is "the module says which clock" "$engine" "thunk page" ;;
	esac
	same_run program
	run_timed program
	ok "the times of events are those of the oracle" \
		python3 "$root/tests/oracle/returns.py" times oracle data traced/program
	qemu_options="-plugin $BUILD/tests/oracle.so,through=oracle.through,clock=1,count=count"
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COMPACT=0"
	rm -rf data
	run traced program
	qemu_options=
	[ "$target" = armel ] ||
		ok "thunks store them" awk '{ total = $2 } END { exit !(total < 600000) }' count

	# where the program has another clock, it is said, and no call is lost
	guest_environment="LITIFUT_CLOCK=none LITIFUT_DIR=$(pwd)/data"
	events_equal_calls program
	guest_environment=
	export LITIFUT_CLOCK=cycle
	link program ../main.c || return
	unset LITIFUT_CLOCK
	same_run program
	events_equal_calls program
}

for_targets behaviour
