#!/bin/sh
# Start-up code that leads to main() through a register, as much of it in assembly language does (ThreadX): what
# runs before .bss is cleared is left, and the rest recorded in all modes. Where it can't be seen what is in
# the register, calls are counted, and a line says so.
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# starts_by CODE: the example's reset handler ends with this
starts_by()
{
	rm -rf source
	cp -r "$root/examples/firmware" source
	sed -i "s/^	__libc_init_array();$/	__asm__ volatile(\"$1; b 2f; .ltorg; 2:\" ::: \"r0\", \"r1\", \"r2\", \"r3\", \"r4\", \"r12\", \"lr\", \"memory\");/
		s/exit(main());/exit(0);/" source/startup.c
}

# jumps_first: the reset handler jumps through a register to what the example's does
jumps_first()
{
	rm -rf source
	cp -r "$root/examples/firmware" source
	sed -i 's/^void Reset_Handler(void)/void start_program(void);\
__asm__(".syntax unified\\n.thumb_func\\n.global Reset_Handler\\n.type Reset_Handler, %function\\n"\
	"Reset_Handler: ldr r0, =start_program\\nbx r0\\n.ltorg");\
void start_program(void)/' source/startup.c
}

# is_timed NAME FUNCTION PREPARATION...
is_timed()
{
	timed_name=$1
	timed_in=$2
	shift 2
	"$@"
	set -- "$timed_name"
	settings="LITIFUT_PORT=$port LITIFUT_CLOCK=systick"
	ok "$1: it links, timed" link_mode table "$1" 2
	unset LITIFUT_CLOCK
	is "$1: calls before .bss is cleared are left" "$("$BUILD/bin/litifut" info --skipped "$1/firmware.elf" |
		grep -c "before-ram in $timed_in$")" 3
	ok "$1: each site is counted as often as it is executed" counts_equal_calls "$1/firmware.elf"
}

behaviour()
{
	is_timed literal Reset_Handler starts_by 'ldr r4, =main; mov r0, #0; blx r4'
	[ "$board" = microbit ] || is_timed halves Reset_Handler starts_by 'movw r3, #:lower16:main; movt r3, #:upper16:main; blx r3'
	is_timed jump start_program jumps_first
	starts_by 'ldr r4, =main; cmp r4, #0; beq 1f; ldr r4, =main; 1: blx r4'
	settings="LITIFUT_PORT=$port LITIFUT_CLOCK=systick"
	link_mode table unclear 2 >unclear.text
	ok "where a branch leads to the call, a line says that calls are counted" \
		grep -q 'warning: .*: calls are counted, not timed: .*not known where .bss is cleared' unclear.log
}

for_boards behaviour
