#!/bin/sh
# Programs that end without _exit(): by an exit() of their own, whose call sends the results then, or
# never, and then a line at link time says that nothing sends them, or that main() does not return.
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

behaviour()
{
	cp -r "$root/examples/firmware" source
	cat >source/main.c <<-'END'
		#include <stdint.h>
		#include <stdlib.h>

		#include "board.h"

		static volatile unsigned sum;

		void SysTick_Handler(void)
		{
		}

		__attribute__((noinline)) static void work(unsigned amount)
		{
			sum += amount;
		}

		__attribute__((noinline)) void exit(int status)
		{
			register uint32_t operation __asm__("r0") = 0x18;
			register uint32_t reason __asm__("r1") = status ? 0x20024 : 0x20026;

			__asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(reason) : "memory");
			for (;;)
				;
		}

		int main(void)
		{
			for (unsigned i = 0; i < 1000; i++)
				work(i);
			return sum != 499500;
		}
	END
	LITIFUT_PORT=$port
	export LITIFUT_PORT
	ok "a program with its own exit() links without a warning" traced own make_example own
	is "it has no _exit" "$(arm-none-eabi-nm own/firmware.elf | grep -c ' _exit$')" 0
	ok "its counts are sent when it calls that" counts_equal_calls own/firmware.elf
	cp source/main.c ends.c
	sed 's/return sum != 499500;/for (;;) work(1);/' ends.c >source/main.c
	front="$BUILD/bin/litifut build -q"
	make_example loops >loops.log 2>&1
	front=
	is "of one whose main() never returns, a line says so, and what to set" \
		"$(grep -c 'warning: .*/firmware.elf: the results are never sent, as main() does not return, .*: set LITIFUT_SEND=call:FUNCTION or tick:N$' loops.log)" 1
	sed -i 's/for (;;) work(1);/for (;;) { work(1); if (sum > 499500) exit(0); }/' source/main.c
	ok "not of one that calls exit() in a loop" traced breaks make_example breaks
	sed 's/return sum != 499500;/choose();/
		s/^int main.*/__attribute__((noinline, optimize("Os"))) static void choose(void)\
		{\
			for (;;)\
				switch (sum % 8) {\
				case 0: work(1); break; case 1: work(2); break; case 2: work(3); work(9); break;\
				case 3: sum = 7; break; case 4: work(sum); break; case 5: sum *= 3; break;\
				}\
		}\
		&/' ends.c >source/main.c
	front="$BUILD/bin/litifut build -q"
	make_example chooses >chooses.log 2>&1
	front=
	[ "$board" != microbit ] || is "of one with a switch by a helper of libgcc as well" \
		"$(arm-none-eabi-nm chooses/firmware.elf | grep -c __gnu_thumb1_case_).$(grep -c 'as main() does not return' chooses.log)" 1.1
	cp ends.c source/main.c
	sed -i 's/exit(main());/main(); for (;;);/' source/startup.c
	front="$BUILD/bin/litifut build -q"
	make_example never >never.log 2>&1
	front=
	is "of one that never ends, a line says that nothing is sent" \
		"$(grep -c 'warning: .*/firmware.elf: the results are never sent, as the program calls nothing that sends them (_exit, .*): set LITIFUT_SEND=' never.log)" 1
	cp source/main.c named.c
	sed -i 's/^int main.*/__attribute__((noinline)) static void pointed(void)\n{\n\tsum++;\n}\nstatic void (*volatile pointer)(void) = pointed;\n&/
		s/work(i);/{ work(i); pointer(); }/' source/main.c
	export LITIFUT_SEND=call:pointed
	front="$BUILD/bin/litifut build -q"
	make_example pointed >pointed.log 2>&1
	front=
	is "nor where no call by name leads to the function" \
		"$(grep -c 'are never sent, as no call by name leads to pointed (LITIFUT_SEND), ' pointed.log)" 1
	cp named.c source/main.c
	LITIFUT_SEND=call:work
	export LITIFUT_SEND
	ok "unless LITIFUT_SEND names a function" traced asked make_example asked
	unset LITIFUT_SEND LITIFUT_PORT
	ok "without a port there is nothing to say" traced silent make_example silent
}

for_boards behaviour
