#!/bin/sh
# LITIFUT_RAM: a ring of events that outlasts a HardFault, a soft reset and a watchdog. The last run
# sends what all runs have recorded, each call as often as QEMU has executed it; a debugger reads
# what a program that hangs has left. Memory that has just been switched on is not taken for events,
# whatever is in it.
BOARDS=${BOARDS:-mps2-an385 microbit netduino2 ${LONG:+mps2-an505 lm3s6965evb}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# link_kept FOLDER RAM ARGUMENTS...
link_kept()
{
	link_folder=$1
	export LITIFUT_RAM="$2" LITIFUT_MODE=spans LITIFUT_CLOCK=systick:1000000000 \
		LITIFUT_PORT="$port" LITIFUT_RING_KB=4
	shift 2
	traced "$link_folder" make_example "$link_folder" "$@"
	link_status=$?
	unset LITIFUT_RAM LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_RING_KB
	return $link_status
}

# The address of a symbol.
symbol()
{
	arm-none-eabi-nm "$1" | awk -v name="$2" '$3 == name { print "0x" $1 }'
}

# dump ELF OUTPUT WHERE: the memory when the program has come to WHERE, from its data on
dump()
{
	gdb-multiarch -q -batch -nx -ex "set remotetimeout 100" -ex "file $1" -ex "target remote | timeout 60 qemu-system-arm -M $board \
			-display none -monitor none -semihosting -icount shift=4 -serial file:dump.serial \
			-kernel $1 -S -gdb stdio" -ex "break $3" -ex continue -ex \
		"dump binary memory $2 ((unsigned)&__data_start) ((unsigned)&litifut_kept+32+4096)" \
		-ex kill >dump.log 2>&1 # else it goes on
}

# begin_on SERIAL OPTIONS...: the program in its tenth run, which does not fail, on a memory that has begin.bin
# at its ring
begin_on()
{
	begin_serial=$1
	shift
	emulate kept/firmware.elf "$begin_serial" \
		-device "loader,force-raw=on,file=begin.bin,addr=$(symbol kept/firmware.elf litifut_kept)" \
		-device "loader,data=10,data-len=4,addr=$(($(symbol kept/firmware.elf end) + 1024))" "$@"
}

# begins_with BYTES: the program, without a failure, on memory with these at the ring (a Python
# expression, of what was there at the end of a run); the message of litifut-post is in words
begins_with()
{
	python3 -c "
import random
old = open('end.bin', 'rb').read()[-4096 - 32:]
def flipped(at):
    return old[:at] + bytes([old[at] ^ 16]) + old[at + 1:]
open('begin.bin', 'wb').write($1)" || return
	begin_on begin.serial
	"$BUILD/bin/litifut-post" -f tsv begin.serial kept/firmware.elf >begin.tsv 2>words
}

begins_empty()
{
	begins_with "$1" &&
		[ "$(wc -l <begin.tsv)" -gt 10 ] && ! grep restarted words
}

# says WORDS RAM ARGUMENTS...: the link stays as it is, with a line that has these words
says()
{
	says_words=$1
	shift
	rm -rf bad
	link_kept bad "$@" >/dev/null
	grep -q "untraced: .*$says_words" bad.log && return
	cat bad.log
	return 1
}

# What the memory can't be.
bad_settings()
{
	ok "a place that is none has a line" says 'LITIFUT_RAM: neither top nor an address: attic' \
		attic EXTRA_CFLAGS="$include"
	ok "an odd address, too" says 'LITIFUT_RAM: not a multiple of 8' 0x20000004 \
		EXTRA_CFLAGS="$include"
	ok "the memory of .bss, too" says 'LITIFUT_RAM: the section is in this memory' 0x20000000 \
		EXTRA_CFLAGS="$include"
	rm -rf bad
	LITIFUT_RAM=top traced bad make_example bad EXTRA_CFLAGS="$include" >/dev/null
	ok "another mode, too" grep -q 'untraced: LITIFUT_RAM: needs LITIFUT_MODE=spans' bad.log
	sed -i 's/__stack = .*/__stack = 0x20010000;/' source/sections.ld
	ok "a stack that does not move, too" says 'LITIFUT_RAM: the stack, .* 0x20010000' top \
		EXTRA_CFLAGS="$include"
	sed -i 's/__stack = .*/__stack = 0x2000f000;/' source/sections.ld
	[ -n "${LONG:-}" ] || return
	ok "an address that is free: it links traced" link_kept given 0x2000f000 \
		EXTRA_CFLAGS="$include"
	ok "each site is there as often" counts_equal_calls given/firmware.elf
}

# Positions of events have 32 bits: the ring goes on when they begin anew.
positions_end()
{
	printf '\364\377\377\377' | dd of=begin.bin bs=1 seek=20 conv=notrunc status=none
	begin_on wrapped.serial
	"$BUILD/bin/litifut-post" -f tsv wrapped.serial kept/firmware.elf >wrapped.tsv 2>words
	[ "$(tail -n 6 wrapped.tsv | cut -f 6,10)" = "$(tail -n 6 begin.tsv | cut -f 6,10)" ]
}

behaviour()
{
	case $board in
	mps2-an385) watchdog=-DWATCHDOG=0x40008000 resets=3 ;;
	lm3s6965evb) watchdog=-DWATCHDOG=0x40000000 resets=3 ;;
	*) watchdog='' resets=2 ;;
	esac
	include="-I$root/include -DRESET_IN_LEAF=1"
	cp -r "$root/examples/firmware" source
	# a debugger reads 4 MB for half a minute
	sed -i '/RAM/s/LENGTH = 4M/LENGTH = 64K/' "source/$board.ld"
	cp "$root/tests/firmware/restarts.c" source/main.c
	cp "$root/tests/firmware/startup.c" source
	ok "it links traced" link_kept kept top EXTRA_CFLAGS="$include $watchdog"
	ok "each site is there as often as all runs have executed it" \
		counts_equal_calls kept/firmware.elf
	cp kept/firmware.elf.serial kept.serial
	# shellcheck disable=SC2094 # no file of this name is written
	"$BUILD/bin/litifut-post" -f report kept.serial kept/firmware.elf >report 2>words
	ok "a line says how often it has restarted" grep -q "has restarted $resets times" words
	ok "nothing is lost" grep -q ' 0 lost,' words

	ok "the runs before are sent first: it links traced" link_kept first top \
		EXTRA_CFLAGS="$include $watchdog -DSENDS -DRESETS=$resets"
	ok "each site is there as often" counts_equal_calls first/firmware.elf
	case $board in
	mps2-an385 | microbit) ;;
	*) return ;;
	esac

	# what a HardFault has left, read by a debugger
	port=memory
	ok "without a sender: it links traced" link_kept hangs top EXTRA_CFLAGS="$include -DENDS"
	dump hangs/firmware.elf hangs.bin HardFault_Handler
	"$BUILD/bin/litifut-post" -q -f tsv hangs.bin hangs/firmware.elf >hangs.tsv
	# main() -> work() -> 10 times leaf(), main() -> fail() -> leaf(), and the interrupts
	is "a dump has the last call before a HardFault" \
		"$(tail -n 1 hangs.tsv | cut -f 6,10)" "$(printf 'fail\tleaf')"

	use_board "$board"
	dump kept/firmware.elf end.bin _exit
	ok "memory of the build that is right is taken over" begins_with old
	ok "and a line says so" grep -q 'has restarted [0-9]* times' words
	ok "random memory is empty" begins_empty 'random.Random(7).randbytes(len(old))'
	[ "$board" = mps2-an385 ] || return
	ok "positions that end begin anew" positions_end
	for word in 4 16 ${LONG:+0 8 12}; do
		ok "memory with another bit in word $word is empty" begins_empty "flipped($word)"
	done
	bad_settings
	[ -n "${LONG:-}" ] || return
	cp "$root/examples/firmware/sections.ld" source
	export LITIFUT_START_AT=work
	ok "from a function on: it links traced" link_kept starts top EXTRA_CFLAGS="$include"
	unset LITIFUT_START_AT
	emulate starts/firmware.elf starts.serial
	"$BUILD/bin/litifut-post" -f tsv starts.serial starts/firmware.elf >starts.tsv 2>words
	ok "the runs are there" grep -q 'has restarted 2 times' words
}

for_boards behaviour
