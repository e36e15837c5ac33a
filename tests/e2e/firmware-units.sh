#!/bin/sh
# LITIFUT_MODE=units of a firmware: tasks and events start and end as QEMU executes them, with interrupts that
# come at each possible moment and interrupt each other, on Cortex-M3 and M0: in a dump, at the end of a ring
# that is too small, while the ring is sent, and over a reset; and with a kernel of two tasks.
BOARDS=${BOARDS:-mps2-an385 microbit ${LONG:+mps2-an505 netduino2}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# units_are_executed FOLDER memory|serial OPTIONS OF compare...
units_are_executed()
{
	units_elf=$1/firmware.elf
	units_from=$2
	shift 2
	python3 "$root/tests/oracle/units.py" traced "$units_elf" watched || return
	if [ "$units_from" = memory ]; then
		dump "$units_elf" results _exit
	else
		emulate "$units_elf" results
	fi
	emulate "$units_elf" "$units_elf.serial" \
		-plugin "$BUILD/tests/system.so,sites=watched,out=counts,order=order" || return
	"$BUILD/bin/litifut-post" -f units -o units results "$units_elf" 2>words
	cat words
	python3 "$root/tests/oracle/units.py" compare watched order units "$@"
}

# What is executed in order is not asked of the tracer's own code.
plain_units_are_executed()
{
	export BUILD
	python3 "$root/tests/oracle/edges.py" plain "$1/firmware.elf" plain.elf &&
		python3 "$root/tests/oracle/units.py" plain "$1/firmware.elf" plain.elf watched &&
		dump "$1/firmware.elf" results _exit || return
	emulate plain.elf plain.text \
		-plugin "$BUILD/tests/system.so,sites=watched,out=counts,order=order" || return
	"$BUILD/bin/litifut-post" -q -f units -o units results "$1/firmware.elf" &&
		python3 "$root/tests/oracle/units.py" compare watched order units --more 1
}

no_interrupts()
{
	sed 's/board_start_ticks(400);//' "$root/tests/firmware/nested.c" >source/main.c
	ok "no interrupts: it links traced" link_mode units quiet "$large"
	is "litifut info says so" "$("$BUILD/bin/litifut" info quiet/firmware.elf |
		sed -n 's/^  mode  *//p')" units
	ok "no interrupts: units are those that the program without patches executes" \
		plain_units_are_executed quiet
}

# Of 3,000 units the program leaves out 1,000.
switched()
{
	sed 's/board_start_ticks(400);//; s/^#include "board.h"/&\n#include <litifut\/firmware.h>/
		s/^		through(i);/		{ through(i); i == 1000 \&\& litifut_stop ? litifut_stop() : (void)0; i == 2000 \&\& litifut_start ? litifut_start() : (void)0; }/' \
		"$root/tests/firmware/nested.c" >source/main.c
	ok "switched: it links traced" link_mode units switched "$large" EXTRA_CFLAGS="-I$root/include"
	dump switched/firmware.elf results _exit
	"$BUILD/bin/litifut-post" -f units -o units results switched/firmware.elf 2>words
	# 1,001 times through(), and 999
	is "switched: units of the time when recording is on" \
		"$(sed -n 's/^\[\([0-9]*\) more of the 16 lines above\]/\1/p' units | paste -s -d ' ')" "499 498"
	ok "switched: a line says so" grep -q 'recording was switched off 1 times: there is a gap' words
}

# What an `it` makes conditional moves with the end of the function.
conditional_ends()
{
	cat >source/main.c <<-'C'
		#include "board.h"
		#include <stdio.h>
		__attribute__((naked, noinline)) static unsigned larger(unsigned a, unsigned b)
		{
			(void)a;
			(void)b;
			__asm__("cbz r0, 1f\n"
				"adds r1, #1\n"
				"1: eor r0, r0, r1, lsr #3\n"
				"mov r2, #5\n"
				"adds r2, r2, r1\n"
				"cmp r0, r1\n"
				"it lo\n"
				"movlo r0, r1\n"
				"bx lr\n");
		}
		void SysTick_Handler(void)
		{
		}
		int main(void)
		{
			for (unsigned i = 0; i < 9; i++)
				printf("%u\n", larger(i * 7, 40 - i));
			return 0;
		}
	C
	make_example plain >/dev/null
	emulate plain/firmware.elf plain.serial
	settings='LITIFUT_UNITS=larger,main'
	ok "ends behind an it: it links traced" link_mode units ends "$large"
	ok "ends behind an it: units are those that are executed" units_are_executed ends memory
	ok "ends behind an it: it computes the same" cmp plain.serial ends/firmware.elf.serial
}

behaviour()
{
	case $board in
	microbit) large=8 ;;
	*) large=512 ;;
	esac
	case $board in
	# its timer is faster: with shorter periods it would do nothing but handle interrupts; and its memory is smaller
	netduino2) tick=30000 large=96 tasks=96 slow=41000 often=2000 rounds=1000 ;;
	*) tick=6400 tasks=256 slow=8200 often=400 rounds=3000 ;;
	esac
	small=1
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/startup.c" source
	names='LITIFUT_UNITS=through,first,second,bump,main,board_put*'
	settings=$names
	# on a Cortex-M0 most of these functions have no room
	[ "$board" = microbit ] || no_interrupts
	[ "$board" = microbit ] || switched
	[ "$board" = microbit ] || conditional_ends
	sed 's/\<400\>/'$often'/; s/\<3000\>/'$rounds'/' "$root/tests/firmware/nested.c" >source/main.c
	ok "interrupts: it links traced" link_mode units nested "$large"
	ok "interrupts: units are those that are executed" units_are_executed nested memory --more 1
	ok "interrupts: there were many in interrupts" grep -q many nested/firmware.elf.serial
	ok "interrupts: they stand within each other" grep -q '^ *  <Inner_Handler> start' units
	settings=
	ok "the vectors alone: it links traced" link_mode units vectors "$large"
	ok "the vectors alone: units are those that are executed" \
		units_are_executed vectors memory --more 1
	[ "$board" != microbit ] || return
	settings=$names
	ok "a ring that is too small: it links traced" link_mode units small "$small"
	ok "a ring that is too small: its end is there" \
		units_are_executed small memory --tail 100 --more 1
	sed -i 's/\<'$often'\>/'$slow'/; s/\<501\>/4009/; s/\<'$rounds'\>/300/
		s/^		through(i);/		through(i), litifut_send ? litifut_send() : (void)0;/
		s/^#include "board.h"/&\n#include <litifut\/firmware.h>/' source/main.c
	settings="LITIFUT_PORT=$port $names"
	ok "while it sends: it links traced" link_mode units sends 4 EXTRA_CFLAGS="-I$root/include"
	ok "while it sends: units are those that are executed" \
		units_are_executed sends serial --more 1
	cp "$root/tests/firmware/tasks.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" source
	settings='LITIFUT_UNITS=*_task,work,leaf,nest,jump,jump_often,PendSV_Handler'
	for period in $tick $((tick / 10 + 1)); do
		ok "tasks, a tick of $period: it links traced" link_mode units tasks "$tasks" \
			EXTRA_CFLAGS="-DTICK=$period -DROUNDS=60 -DJUMPS=30"
		ok "tasks, a tick of $period: each has its units" \
			units_are_executed tasks memory --tasks 2
	done
	ok "tasks, of either stack: it links traced" link_mode units either "$tasks" \
		EXTRA_CFLAGS="-DTICK=$tick -DROUNDS=60 -DJUMPS=30 -DEITHER_STACK"
	ok "tasks, of either stack: each has its units" units_are_executed either memory --tasks 2
	cp "$root/tests/firmware/restarts.c" source/main.c
	settings="LITIFUT_PORT=$port LITIFUT_RAM=top LITIFUT_UNITS=*"
	ok "restarts: it links traced" link_mode units kept 8 EXTRA_CFLAGS="-I$root/include"
	ok "restarts: units of all runs are there" units_are_executed kept serial --tasks 3 --more 1
	settings='LITIFUT_UNITS=no_such_unit'
	link_mode units none 2 EXTRA_CFLAGS="-I$root/include" >/dev/null
	ok "a name that no function has: a line says so" grep -q 'name of LITIFUT_UNITS' none.log
	settings=
}

for_boards behaviour
