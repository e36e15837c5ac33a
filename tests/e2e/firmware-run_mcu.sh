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

# A capture of a line that stays open, which SIGINT ends when all has come.
interrupted()
{
	rm -f line until.bin
	mkfifo line
	exec 3<>line
	timeout -s INT 30 "$BUILD/bin/litifut" capture -o until.bin line >until.text 2>&1 &
	interrupted_pid=$!
	cat all.bin >&3
	timeout 20 tail -c +1 -f until.bin --retry 2>tail.err | head -c "$(wc -c <all.bin)" >tail.bin
	kill -INT $interrupted_pid
	wait $interrupted_pid
	interrupted_status=$?
	exec 3<&-
	return $interrupted_status
}

# What a newcomer types: the commands in FILE from `cd examples/firmware' on, up to a blank line, as
# they are, on a copy of the tree's examples.
newcomer()
{
	rm -rf newcomer
	mkdir newcomer
	cp -r "$root/examples" newcomer
	rm -rf newcomer/examples/firmware/build
	sed -n '/^    cd examples\/firmware$/,/^$/p' "$root/$1" >newcomer/commands
	(cd newcomer && PATH=$BUILD/bin:$PATH timeout 60 sh -e commands) >newcomer/text 2>&1 </dev/null
}

behaviour()
{
	ok "docs/firmware.md: the commands run" newcomer docs/firmware.md
	ok "docs/firmware.md: a listing" grep -q '1+88 *fibonacci' newcomer/text
	ok "docs/firmware.md: a report" grep -q ' 89 .*fibonacci' newcomer/text
	ok "docs/firmware.md: a picture" grep -q '>fibonacci' newcomer/examples/firmware/calls.svg
	export LITIFUT_PORT="$port" LITIFUT_MODE=table LITIFUT_CLOCK=systick:25000000
	ok "it links traced" traced traced make_example traced
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_CLOCK
	ok "a report" run -o report traced/firmware.elf
	ok "has times" grep -q ' us .* 89 .*fibonacci' report
	# the timer of the example is off at its begin and at its end
	ok "a line says of how many sites the times are 0" grep -q 'sites took no tick of the clock' run.err
	ok "what the firmware prints is shown" grep -q '^smallest 84, largest 980' run.err
	ok "a gmon.out" run -f gmon -o gmon.out traced/firmware.elf
	arm-none-eabi-gprof -b -q traced/firmware.elf gmon.out >gprof.text 2>/dev/null
	ok "that gprof reads" grep -q '1+88 *fibonacci' gprof.text
	ok "a picture" run -f pdf -o calls.pdf traced/firmware.elf
	is "is a PDF" "$(head -c 5 calls.pdf)" %PDF-

	export LITIFUT_PORT="$port" LITIFUT_MODE=spans LITIFUT_SEND=call:printf LITIFUT_RING_KB=16 \
		LITIFUT_CLOCK=systick:25000000
	ok "events: it links traced" traced events make_example events
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_CLOCK LITIFUT_SEND LITIFUT_RING_KB
	ok "events: all sendings are taken" run -f tsv -o all.tsv --capture all.bin \
		events/firmware.elf
	ok "a line says so" grep -q 'the firmware sends events; more are saved until' run.err
	ok "the calls between two sendings are there" grep -q 'main.*fibonacci' all.tsv
	# then the line is not read, and the firmware waits for it
	ok "events: a command that does not end is ended" run --rounds 1 -f tsv -o one.tsv \
		--capture one.bin events/firmware.elf
	ok "what was asked for is there" grep -q next_random one.tsv
	ok "events: one sending" "$BUILD/bin/litifut" capture --rounds 1 -o first.bin all.bin
	ok "events: one sending is not cut, and nothing follows it" \
		"$BUILD/bin/litifut-post" -q -f tsv -o first.tsv first.bin events/firmware.elf
	ok "has what came before it" [ "$(grep -c next_random first.tsv)" = 24 -a \
		"$(grep -c fibonacci first.tsv)" = 0 ]
	interrupted
	is "events: Ctrl-C ends a capture" $? 0
	ok "with what has come" cmp all.bin until.bin

	timeout 20 "$BUILD/bin/litifut" run-mcu --seconds 10 --port /dev/null --flash 'exit 3' \
		traced/firmware.elf 2>run.err
	is "a command that fails ends it" $? 1
	ok "with a line that says so" grep -q 'exit 3: has failed with exit status 3' run.err
	timeout 20 "$BUILD/bin/litifut" run-mcu --port line none.elf 2>run.err
	is "no file is wrong usage" $? 2
}

for_boards behaviour
