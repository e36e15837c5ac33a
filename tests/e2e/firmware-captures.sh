#!/bin/sh
# What arrives of a firmware's results: by `litifut capture` and without it, cut, doubled,
# damaged, of another build; by a dump of the memory, by semihosting, by the program's own
# litifut_putc(). What is good is shown, and one line says what is not.
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

post()
{
	"$BUILD/bin/litifut-post" -q "$@"
}

# says EXPECTED-STATUS WORDS COMMAND...: one line on stderr, with these words
says()
{
	says_status=$1
	says_words=$2
	shift 2
	"$@" >says.out 2>says.err
	[ $? = "$says_status" ] && [ "$(wc -l <says.err)" = 1 ] && grep -q "$says_words" says.err &&
		return
	cat says.err
	return 1
}

link_traced()
{
	export LITIFUT_PORT="$2"
	ok "it links traced with the port $2" traced "$1" make_example "$1"
	unset LITIFUT_PORT
	emulate "$1/firmware.elf" "$1.serial" >"$1.console" 2>&1
}

identity()
{
	"$BUILD/bin/litifut" info "$1" | sed -n 's/^  identity *\([0-9a-f]*\),.*/\1/p'
}

# remote ELF OPTIONS...: its memory by the emulator's gdb remote, into remote.bin. The firmware has not begun, unless
# `halted' is empty; it is that of another ELF file, where `remote_runs' names one.
remote()
{
	remote_elf=$1
	shift
	rm -f gdb.sock
	timeout 60 qemu-system-arm -M "$board" -display none -monitor none -icount shift=4 \
		-serial file:remote.serial -kernel "${remote_runs:-$remote_elf}" $halted \
		-chardev socket,path=gdb.sock,server=on,wait=off,id=gdb -gdb chardev:gdb \
		</dev/null >remote.log 2>&1 &
	emulator=$!
	while [ ! -S gdb.sock ] && kill -0 $emulator; do
		sleep 0.1
	done
	"$BUILD/bin/litifut" capture -o remote.bin --gdb "$remote_elf" "$@" gdb.sock
	remote_status=$?
	kill $emulator
	wait $emulator
	return $remote_status
}

halted=-S

# remote_at_end: `list' has what it has recorded when it has ended, which takes longer on a busy machine
remote_at_end()
{
	for remote_seconds in 3 30; do
		remote "$elf" --seconds $remote_seconds || return
		post -f edges -o list remote.bin "$elf"
		cmp -s whole list && return
	done
	return 0 # how they differ is shown by the next test
}

# Without semihosting the firmware stops by itself, at the instruction that ends it.
by_remote()
{
	ok "litifut capture reads the memory by a gdb remote" remote_at_end
	ok "it has the same results" diff whole list
	ok "one whose data has not been copied yet has no results" \
		says 1 "the memory does not have the identity of $elf ([0-9a-f]*): .* (--seconds N lets it run)$" remote "$elf"
	remote_runs=$elf
	ok "the ELF file of another build is refused" \
		says 1 "the program that runs is another build (identity $(identity "$elf")) than other/firmware.elf ($(identity other/firmware.elf)): give its ELF file$" \
		remote other/firmware.elf --seconds "$remote_seconds"
	unset remote_runs
	ok "what was saved before stays" [ -s remote.bin ]
	sed -i 's/exit(main());/for (;;) main();/' source/startup.c
	traced endless make_example endless
	halted=
	ok "it stops one that runs already" remote endless/firmware.elf --seconds 0.5
	halted=-S
	ok "whose calls are in it" sh -c "'$BUILD/bin/litifut-post' -q -f edges remote.bin endless/firmware.elf |
		grep -q ' main -> fibonacci$'"
	cp "$root/examples/firmware/startup.c" source
	export LITIFUT_MODE=paths LITIFUT_RAM=top
	ok "a ring that outlasts a reset: it links traced" traced kept make_example kept
	unset LITIFUT_MODE LITIFUT_RAM
	ok "what is saved reaches over it" remote kept/firmware.elf --seconds "$remote_seconds"
	ok "and says which lines were executed" sh -c "'$BUILD/bin/litifut-post' -q -f path --last 50 remote.bin kept/firmware.elf |
		grep -q '[a-z].*\.c:[1-9]'"
	if [ "$board" = mps2-an385 ]; then # it has memory at 0x00300000, 500 MB below .data
		export LITIFUT_MODE=paths LITIFUT_RAM=0x00300000
		ok "a ring far away: it links traced" traced far make_example far
		unset LITIFUT_MODE LITIFUT_RAM
		ok "what is saved has both" remote far/firmware.elf --seconds "$remote_seconds"
		ok "and no more than that" [ "$(du -k remote.bin | cut -f 1)" -lt 1000 ]
		ok "it says which lines were executed" sh -c "'$BUILD/bin/litifut-post' -q -f path --last 50 remote.bin far/firmware.elf |
			grep -q '[a-z].*\\.c:[1-9]'"
	fi
	ok "no remote is there" says 1 'no gdb remote is there' \
		"$BUILD/bin/litifut" capture -o remote.bin --gdb "$elf" ./nothing
	python3 - <<-'PYTHON' &
	import os, socket
	server = socket.socket(socket.AF_UNIX)
	server.bind("new.sock")
	server.listen()
	os.rename("new.sock", "other.sock")
	line = server.accept()[0]
	asked = b""
	for answer in b"+$T05#b9", b"+$e#65", b"+$ff*":
	    while b"#" not in asked:  # an acknowledgement may come alone
	        more = line.recv(100)
	        if not more:
	            raise SystemExit
	        asked += more
	    asked = asked.split(b"#", 1)[1]
	    line.send(answer)
	while line.recv(100):
	    pass
	PYTHON
	while [ ! -S other.sock ]; do
		sleep 0.1
	done
	ok "a remote that does not answer in hex digits" says 1 "the memory can't be read: e" \
		"$BUILD/bin/litifut" capture -o remote.bin --gdb "$elf" ./other.sock
	ok "an ELF file that is not traced" says 1 'is not a traced firmware' \
		"$BUILD/bin/litifut" capture -o remote.bin --gdb plain/firmware.elf gdb.sock
}

behaviour()
{
	link_traced serial "$port"
	elf=serial/firmware.elf
	# QEMU's devices take bytes as well, others do not
	arm-none-eabi-objdump --disassemble=litifut_putc $elf >putc.text
	ok "it accesses the registers of the line as words" \
		[ "$(grep -c 'bx' putc.text)" != 0 -a "$(grep -cw 'ldrb\|strb' putc.text)" = 0 ]
	post -f edges serial.serial $elf >whole
	ok "the results are there" grep -q ' main -> fibonacci$' whole

	ok "litifut capture takes them from a pipe" \
		sh -c "cat serial.serial - </dev/null | '$BUILD/bin/litifut' capture -o captured - >text"
	is "it prints what the firmware prints" "$(cat text)" "$(text_of serial.serial)"
	post -f edges captured $elf >list
	ok "and saves what it sends" diff whole list
	head -c 400 serial.serial >cut.serial
	ok "litifut capture says that a line was cut" \
		says 1 'only 0 of 1 whole sendings have come' \
		"$BUILD/bin/litifut" capture -o captured cut.serial

	ok "a capture that ends early" says 1 'cut or damaged: [0-9]* of [0-9]* numbers are missing' \
		post -f edges cut.serial $elf
	ok "what has arrived is shown" grep -q ' main -> fibonacci$' says.out
	cat cut.serial serial.serial >twice
	post -f edges twice $elf >list
	ok "a cut sending, then a whole one" diff whole list
	cat serial.serial serial.serial >twice
	post -f edges twice $elf >list
	ok "the same twice" diff whole list
	cat serial.serial cut.serial >twice
	ok "a restart and a cut sending" says 1 'the device restarted' post -f edges twice $elf
	ok "what was before is shown" diff whole says.out
	python3 - <<-'PYTHON'
	data = bytearray(open("serial.serial", "rb").read())
	at = data.index(0) + 60
	data[at] ^= 0x55
	open("damaged", "wb").write(data)
	open("lf", "wb").write(bytes(data[:at]) + b"\r\n" + bytes(data[at:]))
	PYTHON
	ok "a byte is another one" says 1 'cut or damaged: [0-9]* of' post -f edges damaged $elf
	python3 - <<-'PYTHON'
	data = bytearray(open("serial.serial", "rb").read())
	first = data.index(0) + 1
	open("late", "wb").write(data[data.index(0, first) + 1:])
	data[first + 8] ^= 0x55
	open("nameless", "wb").write(data)
	PYTHON
	for way in late nameless; do
		ok "the first frame of all is missing, $way" says 1 \
			"$way: the frame that names the build is missing or damaged: .* results of firmware.elf, which is wrong if another build has run$" \
			post -f edges $way $elf
		ok "all other frames are shown, $way" diff whole says.out
		ok "no ELF file, $way" says 1 'the traced ELF file of the firmware' post -f edges $way
	done
	ok "a line without frames" says 1 'text: no results of a firmware are in it: check that they were sent (LITIFUT_SEND), .* of a dump, that it is of firmware.elf, over litifut_identity$' \
		post -f edges text $elf
	ok "no ELF file" says 1 'the traced ELF file of the firmware' post -f edges serial.serial
	cp -r "$root/examples/firmware/." source
	ok "an untraced ELF file" make_example plain
	ok "is not enough" says 1 'the traced ELF file of the firmware, .*; plain/firmware.elf was not linked with LITIFUT$' \
		post -f edges serial.serial plain/firmware.elf
	ok "nor is it with a file without results" \
		says 1 'what a firmware has sent; plain/firmware.elf was not linked with LITIFUT$' post -f edges text plain/firmware.elf

	# another build, by a word in the data
	cp -r "$root/examples/firmware/." source
	sed -i 's/seed = 1;/seed = 3;/' source/main.c
	link_traced other "$port"
	ok "the ELF file of another build" says 1 "sent by another build than other/firmware.elf, identity $(identity $elf) in place of $(identity other/firmware.elf): " \
		post -f edges serial.serial other/firmware.elf
	ok "both ELF files" post -f edges -o list serial.serial other/firmware.elf $elf
	ok "give the right one" diff whole list

	ok "several ELF files, and no frame that says which has run" says 1 \
		'late: the frame that names the build is missing or damaged, and with it which of the ELF files has run: give that one alone$' \
		post -f edges late other/firmware.elf $elf

	# the file with the symbols stays beside one that is linked with -s
	cp -r "$root/examples/firmware/." source
	export LITIFUT_PORT="$port"
	ok "with -s: it links traced" traced stripped make_example stripped EXTRA_LDFLAGS=-s
	unset LITIFUT_PORT
	ok "with -s: it has no symbols" sh -c '! arm-none-eabi-nm stripped/firmware.elf 2>&1 | grep -q litifut'
	emulate stripped/firmware.elf stripped.serial
	ok "with -s: the results are shown" post -f edges -o list stripped.serial stripped/firmware.elf
	ok "with -s: they are the same" diff whole list
	ok "with -s: the memory is read by a gdb remote" remote stripped/firmware.elf --seconds 3

	by_remote

	# semihosting: the console of the emulator
	cp -r "$root/examples/firmware/." source
	link_traced console semihosting
	text_of console.serial >console.text
	ok "by semihosting the line has text only" cmp console.text console.serial
	post -f edges -o list console.console console/firmware.elf
	ok "and the console has the results" grep -q ' main -> fibonacci$' list

	# a debug probe: it finds the control block by its first bytes, and reads the ring
	cp -r "$root/examples/firmware/." source
	link_traced probe rtt
	gdb-multiarch -q -batch -nx -ex "set remotetimeout 100" -ex "file probe/firmware.elf" \
		-ex "target remote | timeout 60 qemu-system-arm -M $board -display none \
			-monitor none -semihosting -icount shift=4 -serial file:probe.serial \
			-kernel probe/firmware.elf -S -gdb stdio" -ex "break _exit" -ex continue \
		-ex "find /b1 (unsigned)&__data_start, (unsigned)&end, 'S', 'E', 'G', 'G', 'E', 'R', ' ', 'R', 'T', 'T', 0" \
		-ex 'set $up = (unsigned *)((unsigned)$_ + 24)' \
		-ex 'dump binary memory probe.bin $up[1] $up[1]+$up[3]' >probe.log 2>&1
	text_of probe.serial >probe.text
	ok "by RTT the line has text only" cmp probe.text probe.serial
	ok "the image does not have the first bytes of the control block" \
		sh -c '! grep -q "SEGGER RTT" probe/firmware.bin'
	post -f edges probe.bin probe/firmware.elf >list
	ok "and the probe has the results" diff whole list

	# a function of the program's own, that prints by the library that is traced
	cat >>source/board.c <<-'C'
	#include <stdio.h>
	int litifut_putc(uint8_t byte)
	{
		char text[4];

		sniprintf(text, sizeof(text), "%02x\n", byte);
		for (int i = 0; text[i]; i++)
			board_putc(text[i]);
		return 1;
	}
	C
	link_traced own user
	LC_ALL=C grep -x '[0-9a-f][0-9a-f]' own.serial | python3 -c 'import sys
sys.stdout.buffer.write(bytes(int(line, 16) for line in sys.stdin))' >own.bin
	ok "by the program's own function" post -f edges -o list own.bin own/firmware.elf
	ok "which is not counted" [ "$(grep -c 'litifut_putc' list)" = 0 ]
	"$BUILD/bin/litifut" info --skipped own/firmware.elf >own.skipped
	ok "what it calls is left, with the reason" grep -q ' port in .*printf$' own.skipped

	# packets, of which some are lost: each sending has all numbers
	cp -r "$root/examples/firmware/." source
	cat >>source/board.c <<-'C'
	int litifut_packet(const unsigned char *bytes, unsigned count);
	int litifut_packet(const unsigned char *bytes, unsigned count)
	{
		static unsigned chance = 3, busy;

		if (busy++ % 3)
			return 0;
		/* in no step with the packets of a round */
		chance = chance * 1103515245u + 12345;
		if (chance >> 16 & 7)
			for (unsigned i = 0; i < count; i++)
				board_putc(bytes[i]);
		return 1;
	}
	C
	sed -i 's/^	return 0;/	for (int i = 0; litifut_send \&\& i < SENDINGS; i++)\n		litifut_send();\n&/
		s/^#include "board.h"/&\nvoid litifut_send(void) __attribute__((weak));/' source/main.c
	export LITIFUT_SEND=never
	for sendings in 1 6; do
		LITIFUT_PORT=packet traced packets$sendings make_example packets$sendings \
			EXTRA_CFLAGS=-DSENDINGS=$sendings
		emulate packets$sendings/firmware.elf packets$sendings.serial
	done
	unset LITIFUT_SEND
	ok "by packets, of which some are lost" says 1 'cut or damaged: [0-9]* of [0-9]* numbers' \
		post -f edges packets1.serial packets1/firmware.elf
	post -f edges packets6.serial packets6/firmware.elf >list
	others='exit|litifut_send|flush|fwalk'
	if [ "$board" = microbit ]; then
		# litifut_packet() divides by a function there
		"$BUILD/bin/litifut" info --skipped packets6/firmware.elf >packets6.skipped
		ok "what sends packets is left, with the reason" grep -q ' port in __udivsi3$' packets6.skipped
		others="$others|__aeabi_uidivmod ->"
	fi
	is "by packets, some lost, often enough" "$(grep -Ev "$others" list | sort)" \
		"$(grep -Ev "$others" whole | sort)"

	# the packets of an ITM, as a probe gets them, with those of other ports and a time stamp
	cp -r "$root/examples/firmware/." source
	if [ "$board" = mps2-an385 ]; then
		link_traced itm itm
		ok "by ITM without a probe it runs to its end" grep -q 'result -645' itm.serial
		python3 -c 'import sys
data = open("serial.serial", "rb").read()
sys.stdout.buffer.write(b"\0\0\0\0\0\x80" + b"".join(b"\x09%c\x01x\xc0\x0f" % byte for byte in data))' >swo
		"$BUILD/bin/litifut" capture --swo -o captured swo >text
		ok "by SWO the same arrives as by the line" cmp serial.serial captured
	else
		LITIFUT_PORT=itm traced itm make_example itm >words
		ok "a CPU without an ITM: a line says so" grep -q 'LITIFUT_PORT: neither a port of this CPU (memory, user, [^)]*) nor the path of an object: itm' words
	fi

	# a debugger
	cp -r "$root/examples/firmware/." source
	link_traced memory memory
	dump memory/firmware.elf memory.bin _exit
	ok "gdb dumps the memory" test -s memory.bin
	post -f edges memory.bin memory/firmware.elf >list
	ok "the memory has the results" grep -q ' main -> fibonacci$' list
	for way in console.console probe.bin own.bin memory.bin; do
		ok "the ELF file of another build, $way" says 1 'by another build than other/firmware.elf' \
			post -f edges $way other/firmware.elf
	done
	post -f edges packets6.serial other/firmware.elf 2>words
	ok "the ELF file of another build, packets6.serial" \
		grep -q 'by another build than other/firmware.elf' words
	export LITIFUT_MODE=table LITIFUT_CLOCK=systick:1000000
	link_traced table memory
	export LITIFUT_MODE=spans LITIFUT_RING_KB=4
	link_traced ring memory
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_RING_KB
	dump table/firmware.elf table.bin _exit
	post -f csv table.bin table/firmware.elf >table.csv
	ok "the memory has a table of times" grep -q '"fibonacci",.*,88,88,[1-9]' table.csv
	dump ring/firmware.elf ring.bin _exit
	post -f csv ring.bin ring/firmware.elf >ring.csv
	# nothing sends it: it has the newest events, among which are the last calls
	ok "the memory has the newest events" grep -q '"main",.*"exit"\|"board_stop_ticks",.*,1,1' ring.csv
	post -f gmon -o memory.gmon memory.bin memory/firmware.elf
	arm-none-eabi-gprof -q memory/firmware.elf memory.gmon >listing
	ok "gprof has numbers where there are no times" [ "$(grep -cw nan listing)" = 0 -a \
		"$(grep -c fibonacci listing)" != 0 ]
	# an ELF file that says that its table is a ring as well, and a dump with its identity again and again
	python3 - table/firmware.elf >flags.elf <<-'END'
		import sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at = data.find(b"LTFW")
		while at >= 0:
		    data[at + 14] |= 4
		    at = data.find(b"LTFW", at + 1)
		sys.stdout.buffer.write(data)
	END
	for each in 1 2 3 4 5 6 7 8 9 10; do cat table.bin; done >many.bin
	ok "a dump with a ring that is not there" says 1 'the dump has no ring of events that makes sense' \
		valgrind -q --error-exitcode=9 "$BUILD/bin/litifut-post" -f edges many.bin flags.elf
	head -c 100 memory.bin >short.bin
	ok "a dump that is too short" says 1 'the dump does not reach over litifut_table' \
		post -f edges short.bin memory/firmware.elf
}

for_boards behaviour
