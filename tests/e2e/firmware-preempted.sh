#!/bin/sh
# The tracer has interrupts on while it looks for the call that a return belongs to, among those of other tasks. A
# debugger makes another task go on there each time: calls and results are as without the tracer.
BOARDS=${BOARDS:-mps2-an385 ${LONG:+mps2-an386 mps2-an505}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# link_mode FOLDER MODE [SETTING]
link_mode()
{
	export LITIFUT_MODE="$2" LITIFUT_CLOCK=systick LITIFUT_PORT="$port"
	[ "$2" = table ] || export LITIFUT_RING_KB=512
	[ -z "${3:-}" ] || export "${3?}"
	traced "$1" make_example "$1" EXTRA_CFLAGS="$options"
	link_status=$?
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_RING_KB LITIFUT_RAM
	return $link_status
}

# place ELF: where the stack pointer of one of these calls has been read
place()
{
	arm-none-eabi-objdump -d --disassemble=litifut_return "$1" | awk '
		found { print "0x" substr($1, 1, length($1) - 1); exit }
		behind && /\tldr\t.*\[r[0-3], #8\]/ { found = 1 }
		/\tpop.*pc/ { behind = 1 }'
}

# preempted FOLDER: runs it under the oracle. PendSV changes the task.
preempted()
{
	elf=$1/firmware.elf
	python3 "$root/tests/oracle/firmware.py" sites "$elf" >"$elf.sites" || return
	{
		echo "file $elf"
		echo "target remote | timeout 100 qemu-system-arm -M $board -display none -monitor none -semihosting" \
			"-icount shift=4 -serial file:$elf.serial -kernel $elf -S -gdb stdio" \
			"-plugin $BUILD/tests/system.so,sites=$elf.sites,out=$elf.oracle"
		echo "set \$hits = 0"
		echo "break *$(place "$elf")"
		printf 'commands\nsilent\nset $hits = $hits + 1\nprintf "hits %%d\\n", $hits\n'
		printf 'set *(unsigned *)0xe000ed04 = 0x10000000\ncontinue\nend\n'
		echo continue
	} >"$elf.gdb"
	gdb-multiarch -q -batch -nx -ex "set remotetimeout 100" -ex "set confirm off" -x "$elf.gdb" >"$elf.log" 2>&1
	# the emulator may be gone before the debugger has read that the program has ended
	hits=$(sed -n 's/^hits //p' "$elf.log" | tail -n 1)
	echo "# $board: $1: $hits"
	[ "${hits:-0}" -gt 5 ]
}

# same FOLDER: it prints the same
same()
{
	text_of "$1/firmware.elf.serial" >"$1.text" && diff plain.serial "$1.text"
}

# counted FOLDER: each call is counted as often as it was executed
counted()
{
	"$BUILD/bin/litifut-post" -f gmon -o "$1.gmon" "$1/firmware.elf.serial" "$1/firmware.elf" 2>"$1.words" &&
		grep ' calls, 0 lost' "$1.words" &&
		python3 "$root/tests/oracle/firmware.py" check "$1/firmware.elf" "$1/firmware.elf.oracle" "$1.gmon"
}

behaviour()
{
	# with fewer rounds it is by chance how often other tasks come in between
	options="-DTICK=6400 -DROUNDS=200"
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/kernel.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" "$root/tests/firmware/startup.c" source
	make_example plain EXTRA_CFLAGS="$options" >/dev/null
	emulate plain/firmware.elf plain.serial
	for mode in table spans; do
		ok "$mode: it links traced" link_mode $mode $mode
		ok "$mode: other tasks come in between" preempted $mode
		ok "$mode: it computes the same" same $mode
		ok "$mode: all calls are counted" counted $mode
	done
	ok "LITIFUT_RAM: it links traced" link_mode kept spans LITIFUT_RAM=top
	ok "LITIFUT_RAM: other tasks come in between" preempted kept
	ok "LITIFUT_RAM: it computes the same" same kept
}

for_boards behaviour
