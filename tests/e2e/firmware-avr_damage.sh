#!/bin/sh
# A capture of a table with times on AVR whose bytes are changed or missing: what is shown can be right, and
# its total is the sum of its rows. Packets, of which one of seven is lost.
DEVICES=${DEVICES:-atmega1284p}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

rows_can_be_right()
{
	python3 - "$BUILD/bin/litifut-post" "$1.serial" "$1.elf" <<-'END'
	import csv, io, random, re, subprocess, sys
	post, capture, elf = sys.argv[1:]
	data = open(capture, "rb").read()
	start = re.search(rb"\0.H", data, re.S).start()
	random.seed(1)
	wrong = shown = 0
	for run in range(120):
	    line = bytearray(data)
	    for times in range(random.randint(1, 3)):
	        at = random.randrange(start + 30, len(line))
	        if run % 2:
	            line[at] ^= 1 << random.randrange(8)
	        else:
	            del line[at:at + random.randint(1, 40)]
	    open("damaged", "wb").write(line)
	    text = subprocess.run([post, "-f", "csv", "damaged", elf], capture_output=True, text=True)
	    report = subprocess.run([post, "-q", "-f", "report", "damaged", elf], capture_output=True, text=True)
	    calls = 0
	    for row in csv.DictReader(io.StringIO(text.stdout)):
	        calls += int(row["calls"])
	        if row["min_ns"]:
	            shown += 1
	            average = float(row["total_ns"]) / int(row["timed_calls"])
	            wrong += not float(row["min_ns"]) - 2 <= average <= float(row["max_ns"]) + 2
	    total = re.search(r"(\d+) calls, ", text.stderr)
	    wrong += bool(total) and int(total.group(1)) != calls
	    wrong += "it was not measured" in report.stdout or "ELF files" in text.stderr
	print("rows", shown, "wrong", wrong)
	sys.exit(wrong != 0 or shown < 100)
	END
}

# by_packets SENDINGS: of which one of seven is lost
by_packets()
{
	export LITIFUT_MODE=table LITIFUT_CLOCK=timer1:1000000 LITIFUT_PORT=packet LITIFUT_SEND=never
	ok "it links traced ($1 sendings by packets)" avr packets avr_packets.c -Os -I"$root/include" -DSENDINGS="$1"
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_SEND
	"$simulator" -u packets.serial -m packets.memory "$device" packets.elf >&2
	"$BUILD/bin/litifut-post" -f csv packets.serial packets.elf 2>packets.words >packets.csv
	cat packets.words >&2
}

# rows_of RESULTS COLUMNS: of the calls that were made before the first sending
rows_of()
{
	"$BUILD/bin/litifut-post" -q -f csv "$1" packets.elf | grep '"\(work\|add\|twice\|three_times\)",[^,]*,call' |
		cut -d , -f "$2" | sort
}

packets()
{
	by_packets 1
	ok "one sending that lacks a packet is said to be damaged" \
		grep -q 'cut or damaged: [1-9][0-9]* of [0-9]* numbers are missing' packets.words
	by_packets 8
	rows_of packets.memory 1,3,4,7 >memory.counts
	rows_of packets.serial 1,3,4,7 >serial.counts
	ok "eight sendings have the count of each call site" diff memory.counts serial.counts
	ok "there are ten" [ "$(wc -l <memory.counts)" = 10 ]
	# where the numbers of a site are of different sendings, it has no times
	rows_of packets.memory 3,8,9,11,12 >memory.times
	rows_of packets.serial 3,8,9,11,12 | grep -v ',0,,,' >serial.times
	is "their times are those of the memory" "$(comm -13 memory.times serial.times)" ""
	ok "most of them have times" [ "$(wc -l <serial.times)" -gt 5 ]
}

behaviour()
{
	export LITIFUT_MODE=table LITIFUT_CLOCK=timer1:1000000 LITIFUT_PORT=usart
	ok "it links traced" avr times avr_times.c -Os
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT
	"$simulator" -u times.serial "$device" times.elf
	ok "rows of damaged captures can be right" rows_can_be_right times
	packets
}

for_devices behaviour
