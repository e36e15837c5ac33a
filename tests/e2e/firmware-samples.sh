#!/bin/sh
# A timer's interrupt samples the program (LITIFUT_SAMPLE): as many samples as there were ticks,
# in a gmon.out that gprof reads together with the calls.
BOARDS=${BOARDS:-mps2-an385 microbit mps2-an505 netduino2}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# samples GMON: how many are in its histograms
samples()
{
	python3 "$root/tests/oracle/gmon.py" "$1"
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	# more ticks, and what takes most of the time
	sed -i 's/board_start_ticks(20000)/board_start_ticks(3001)/; s/fibonacci(10)/fibonacci(19)/' \
		source/main.c
	make_example plain >/dev/null
	emulate plain/firmware.elf plain.serial
	export LITIFUT_PORT="$port" LITIFUT_SAMPLE=SysTick_Handler
	ok "it links traced" traced traced make_example traced
	unset LITIFUT_PORT LITIFUT_SAMPLE
	ok "each site is counted as often as it is executed" \
		counts_equal_calls traced/firmware.elf
	text_of traced/firmware.elf.serial >traced.text
	ok "it prints the same" diff plain.serial traced.text
	ticks=$("$BUILD/bin/litifut-post" -q -f edges traced/firmware.elf.serial \
		traced/firmware.elf | sed -n 's/^ *\([0-9]*\) *(interrupt 15) -> SysTick_Handler$/\1/p')
	ok "there were many ticks" [ "$ticks" -gt 10 ]
	is "as many samples" "$(samples traced/firmware.elf.gmon)" "$ticks"
	arm-none-eabi-gprof -b -p traced/firmware.elf traced/firmware.elf.gmon >flat 2>gprof.log
	ok "gprof says where the time went" sh -c "sed -n '6,7p' flat | grep -q ' fibonacci$'"
	[ "$board" = mps2-an385 ] || return
	export LITIFUT_PORT="$port" LITIFUT_SAMPLE=SysTick_Handler LITIFUT_INCLUDE=main
	ok "with chosen functions: it links traced" traced chosen make_example chosen
	unset LITIFUT_PORT LITIFUT_SAMPLE LITIFUT_INCLUDE
	ok "with chosen functions: each site is counted as often as it is executed" \
		counts_equal_calls chosen/firmware.elf
	ok "with chosen functions: there are samples" \
		[ "$(samples chosen/firmware.elf.gmon)" -gt 10 ]
	export LITIFUT_PORT="$port" LITIFUT_SAMPLE=SysTick_Handler LITIFUT_MODE=table LITIFUT_CLOCK=systick
	ok "with times: it links traced" traced both make_example both
	unset LITIFUT_PORT LITIFUT_SAMPLE LITIFUT_MODE LITIFUT_CLOCK
	ok "with times: each site is counted as often as it is executed" counts_equal_calls both/firmware.elf
	ok "with times: the samples alone are written" [ "$(samples both/firmware.elf.gmon)" -gt 10 ]
	arm-none-eabi-gprof -b -p both/firmware.elf both/firmware.elf.gmon >flat 2>gprof.log
	is "with times: gprof says where the time of the program went" \
		"$(sed 1,5d flat | grep -v ' litifut_' | awk 'NR == 1 { print $NF }')" fibonacci
}

for_boards behaviour
