#!/bin/sh
# Start-up code that leads to main() through a register, as much of it in assembly language does (ThreadX): what
# runs before .bss is cleared is left, and the rest recorded in all modes. Where it can't be seen what is in
# the register, or where there is no main(), calls are counted, and a line says so; LITIFUT_MAIN names the function that is
# called then.
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

# without_main FLAGS BODY [OTHER]: the example, whose main() is app(), and whose reset handler has this body
without_main()
{
	rm -rf source
	cp -r "$root/examples/firmware" source
	flags="-Dmain=app $1"
	printf '%s\n' "#include <stdint.h>" "#include <stdlib.h>" '#include "board.h"' \
		"extern uint32_t __data_start, __data_end, __data_load, __bss_start, __bss_end, __stack;" \
		"extern int app(void);" "void Default_Handler(void);" "void SystemInit(void);" "void SystemInit(void)" \
		"{" "	board_init();" "}" "${3:-}" "void Reset_Handler(void)" "{" "$2" "}" >source/reset.c
	sed -n '/^void Default_Handler(void)$/,$p' source/startup.c >source/rest.c
	cat source/reset.c source/rest.c >source/startup.c
}

# is_named NAME FUNCTION SITES: LITIFUT_MAIN=FUNCTION leaves that many call sites, and all modes are exact
is_named()
{
	for mode in counts table stream paths; do
		settings="LITIFUT_PORT=$port"
		case $mode in
		table) settings="$settings LITIFUT_CLOCK=systick" ;;
		paths) settings= ;; # read from the memory
		esac
		export LITIFUT_MAIN="$2"
		ok "$1, $mode: it links traced" link_mode "$mode" "$1-$mode" "$ring" EXTRA_CFLAGS="$flags"
		unset LITIFUT_CLOCK LITIFUT_MAIN
	done
	is "$1: as many calls as there are before that of $2 are left" "$("$BUILD/bin/litifut" info --skipped \
		"$1-table/firmware.elf" | grep -c "before-ram in ")" "$3"
	ok "$1, counts: each site is counted as often as it is executed" counts_equal_calls "$1-counts/firmware.elf"
	ok "$1, table: each site is counted as often as it is executed" counts_equal_calls "$1-table/firmware.elf"
	ok "$1, stream: calls are those that were executed, in order" calls_in_order "$1-stream/firmware.elf"
	ok "$1, paths: blocks are those that are executed" blocks_are_executed "$1-paths" traced memory --more 4
}

# says NAME TEXT MODE [SETTING]: a link in that mode says so
says()
{
	settings="LITIFUT_PORT=$port LITIFUT_CLOCK=systick"
	rm -rf says
	[ $# -lt 4 ] || export "${4?}"
	link_mode "$3" says 2 EXTRA_CFLAGS="$flags" >says.text
	unset LITIFUT_CLOCK LITIFUT_MAIN
	ok "$1: a line says so" grep -q "warning: .*: $2" says.log
}

no_main()
{
	case $board in
	microbit) ring=8 ;;
	*) ring=64 ;;
	esac
	loops='volatile uint32_t *to;
	const uint32_t *from = &__data_load;
	SystemInit();
	for (to = &__data_start; to < &__data_end;)
		*to++ = *from++;
	for (to = &__bss_start; to < &__bss_end;)
		*to++ = 0;
	exit(app());'
	# as with -flto: what main() does stands in the reset handler
	without_main -O2 "$loops" 'int app(void) __attribute__((always_inline));
#include "main.c"'
	sed -i 's/^int main(void)/inline int main(void)/' source/main.c
	sed -i 's/ main\.o)/)/' source/Makefile
	is_named inside board_start_ticks 1
	# as -flto names it where the function was not in its file alone
	without_main -O2 "$loops"
	echo 'extern int app(void) __asm__("app.lto_priv.0");' >>source/board.h
	is_named app app 1
	without_main -O2 "$loops"
	says "no main(), table" 'calls are counted, not timed: .*not known where .bss is cleared: name .* by LITIFUT_MAIN' table
	ok "no main(), table: each site is counted as often as it is executed" counts_equal_calls says/firmware.elf
	says "no main(), paths" 'left untraced: LITIFUT_MODE=paths: .*: name .* by LITIFUT_MAIN' paths
	says "LITIFUT_MAIN is not a function" 'left untraced: LITIFUT_MAIN: no such function: ap; did you mean app?' table LITIFUT_MAIN=ap
	says "LITIFUT_MAIN is not called by name" 'left untraced: LITIFUT_MAIN: no calls by name lead from the reset handler to Default_Handler' \
		counts LITIFUT_MAIN=Default_Handler
}

behaviour()
{
	is_timed literal Reset_Handler starts_by 'ldr r4, =main; mov r0, #0; blx r4'
	[ "$board" = microbit ] || is_timed halves Reset_Handler starts_by 'movw r3, #:lower16:main; movt r3, #:upper16:main; blx r3'
	is_timed jump start_program jumps_first
	# little kernel's, whose constructors are called by lk_main()
	starts_by 'ldr r4, =lk_main; blx r4'
	sed -i 's/^int main(void)/int lk_main(void)/' source/main.c
	is_timed kernel Reset_Handler true
	starts_by 'ldr r4, =main; cmp r4, #0; beq 1f; ldr r4, =main; 1: blx r4'
	settings="LITIFUT_PORT=$port LITIFUT_CLOCK=systick"
	link_mode table unclear 2 >unclear.text
	ok "where a branch leads to the call, a line says that calls are counted" \
		grep -q 'warning: .*: calls are counted, not timed: .*not known where .bss is cleared' unclear.log
	no_main
}

for_boards behaviour
