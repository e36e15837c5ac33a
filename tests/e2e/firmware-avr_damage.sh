#!/bin/sh
# A capture of a table with times on AVR whose bytes are changed or missing: what is shown can be right, and
# its total is the sum of its rows.
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

behaviour()
{
	export LITIFUT_MODE=table LITIFUT_CLOCK=timer1:1000000 LITIFUT_PORT=usart
	ok "it links traced" avr times avr_times.c -Os
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT
	"$simulator" -u times.serial "$device" times.elf
	ok "rows of damaged captures can be right" rows_can_be_right times
}

for_devices behaviour
