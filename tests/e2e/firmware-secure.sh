#!/bin/sh
# A secure firmware (TrustZone, Cortex-M33), which another image calls through gateways (`sg`): its functions return by
# `bxns`, and it calls the other image by `blxns`. It computes the same in all modes; calls are counted as often as QEMU
# executes them, in order; branches go where the program without patches goes, and blocks are in order, under interrupts
# too. The compiler gives these functions no size: the tracer, which comes behind the last one, is no part of it.
BOARDS=${BOARDS:-mps2-an505}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# linked MODE FOLDER TICKS: with `more' settings
linked()
{
	settings="LITIFUT_PORT=$port $more"
	ok "$2: it links traced" link_mode "$1" "$2" 256 EXTRA_CFLAGS="-mcmse -DTICKS=$3"
	settings=
}

# The other image, for the gateways of this one, which has them at a fixed address.
other_image()
{
	arm-none-eabi-gcc -mcpu=cortex-m33 -mthumb -O2 -DNONSECURE "$root/tests/firmware/secure.c" \
		source/gateways.o -nostdlib -T source/other.ld -o other.elf -lgcc
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/secure.c" source/main.c
	sed -i 's/LENGTH = 4M$/LENGTH = 2M/' source/mps2-an505.ld
	sed -i 's/^	__stack = .*/&\n	.gnu.sgstubs 0x10100000 : { gateways = .; *(.gnu.sgstubs*) } >FLASH/' source/sections.ld
	sed -i 's/-nostartfiles/& -Wl,--cmse-implib -Wl,--out-implib=gateways.o/' source/Makefile
	cat >source/other.ld <<-'LD'
	MEMORY { FLASH (rx) : ORIGIN = 0x200000, LENGTH = 1M  RAM (rwx) : ORIGIN = 0x28300000, LENGTH = 512K }
	SECTIONS { .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } >FLASH  stack = ORIGIN(RAM) + LENGTH(RAM); }
	LD
	more=
	patience=30
	make_example plain EXTRA_CFLAGS='-mcmse -DTICKS=0' >/dev/null
	ok "the other image links" other_image
	beside=other.elf
	emulate plain/firmware.elf plain.serial
	is "both run untraced" "$(cat plain.serial)" "starts
sum 32437
deep 1677
scaled 11
ends -87110707"

	for stubs in fast small; do
		export LITIFUT_STUBS=$stubs
		linked counts $stubs 0
		unset LITIFUT_STUBS
		ok "$stubs: each site is counted as often as it is executed" counts_equal_calls $stubs/firmware.elf
		ok "$stubs: it computes the same" computes_the_same $stubs/firmware.elf.serial
	done
	is "calls of the other image are counted" \
		"$("$BUILD/bin/litifut-post" -q -f edges small/firmware.elf.serial small/firmware.elf | grep -c ' secure_')" 6
	linked stream stream 301
	ok "stream: calls are in order" calls_in_order stream/firmware.elf
	ok "stream: it computes the same" computes_the_same stream/firmware.elf.serial
	for mode in table spans; do
		export LITIFUT_CLOCK=systick
		linked $mode $mode 25000
		unset LITIFUT_CLOCK
		ok "$mode: it runs" emulate $mode/firmware.elf $mode/firmware.elf.serial
		ok "$mode: it computes the same" computes_the_same $mode/firmware.elf.serial
	done
	linked coverage coverage 0
	ok "coverage: flags are what is executed" sent_flags_are_executed coverage
	ok "coverage: it computes the same" computes_the_same coverage/firmware.elf.serial
	for ticks in 0 301 997; do
		linked paths "paths$ticks" $ticks
		ok "paths$ticks: blocks are those that are executed" \
			blocks_are_executed "paths$ticks" traced serial --more 1 --late 32
		ok "paths$ticks: it computes the same" computes_the_same results
	done
	more='LITIFUT_UNITS=mix,secure_*,__acle_se_secure_*'
	linked units units 0
	emulate units/firmware.elf units.serial
	ok "units: it computes the same" computes_the_same units.serial
	more=
	linked balllarus balllarus 0
	emulate balllarus/firmware.elf balllarus.serial
	ok "balllarus: it computes the same" computes_the_same balllarus.serial
}

for_boards behaviour
