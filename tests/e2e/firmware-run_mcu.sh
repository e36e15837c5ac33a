#!/bin/sh
# litifut run-mcu: from an ELF file to a picture, a report and a gmon.out in one command, with
# QEMU as the board and a FIFO as its serial line.
BOARDS=${BOARDS:-mps2-an385}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# run OPTIONS...: the messages are in run.err
run()
{
	rm -f line
	mkfifo line
	timeout 60 "$BUILD/bin/litifut" run-mcu --port line --flash "qemu-system-arm -M $board \
		-display none -monitor none -semihosting -icount shift=4 -serial file:line \
		-kernel \"\$1\" </dev/null" "$@" 2>run.err
}

behaviour()
{
	export LITIFUT_PORT="$port" LITIFUT_MODE=table LITIFUT_CLOCK=systick:25000000
	ok "it links traced" traced traced make_example traced
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_CLOCK
	ok "a report" run -o report traced/firmware.elf
	ok "has times" grep -q ' us .* 89 .*fibonacci' report
	ok "what the firmware prints is shown" grep -q '^smallest 84, largest 980' run.err
	ok "a gmon.out" run -f gmon -o gmon.out traced/firmware.elf
	arm-none-eabi-gprof -b -q traced/firmware.elf gmon.out >gprof.text 2>/dev/null
	ok "that gprof reads" grep -q '1+88 *fibonacci' gprof.text
	ok "a picture" run -f pdf -o calls.pdf traced/firmware.elf
	is "is a PDF" "$(head -c 5 calls.pdf)" %PDF-
	timeout 20 "$BUILD/bin/litifut" run-mcu --seconds 10 --port /dev/null --flash 'exit 3' \
		traced/firmware.elf 2>run.err
	is "a command that fails ends it" $? 1
	ok "with a line that says so" grep -q 'exit 3: has failed with exit status 3' run.err
	timeout 20 "$BUILD/bin/litifut" run-mcu --port line none.elf 2>run.err
	is "no file is wrong usage" $? 2
}

for_boards behaviour
