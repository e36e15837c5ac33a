#!/bin/sh
# The format of "gprof for microcontrollers", as bytes, as text and as the lists of logic analysers: what
# was called and sampled, whatever is between it; arcs of one run and samples of another; wrong files and options.
BOARDS=${BOARDS:-mps2-an385}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

post()
{
	"$BUILD/bin/litifut-post" -q --source gprof-serial "$@"
}

# says STATUS WORDS COMMAND...: one line on stderr, with these words
says()
{
	says_status=$1
	says_words=$2
	shift 2
	"$@" >says.out 2>says.err
	[ $? = "$says_status" ] && [ "$(wc -l <says.err)" = 1 ] && grep -q -e "$says_words" says.err &&
		return
	cat says.err
	return 1
}

behaviour()
{
	make_example plain >/dev/null
	elf=plain/firmware.elf
	# 300 calls from main to fibonacci, 7 from fibonacci to itself, 50 samples in next_random
	python3 - $elf <<-'PYTHON'
	import subprocess, sys
	names = {}
	for line in subprocess.run(["arm-none-eabi-nm", sys.argv[1]], check=True,
	                           stdout=subprocess.PIPE, encoding="ascii").stdout.splitlines():
	    words = line.split()
	    names[words[-1]] = int(words[0], 16)
	def packed(order, width, *values):
	    return b"".join(value.to_bytes(width, order) for value in values)
	for order in "big", "little":
	    for width in 3, 4:
	        arcs = [b"A" + packed(order, width, names["main"] + 21, names["fibonacci"])] * 300
	        arcs += [b"A" + packed(order, width, names["fibonacci"] + 9, names["fibonacci"])] * 7
	        samples = [b"P" + packed(order, width, names["next_random"] + 4)] * 50
	        name = "%s%d" % (order, width)
	        open(name, "wb").write(b"".join(arcs + samples))
	        open(name + ".arcs", "wb").write(b"".join(arcs))
	        open(name + ".samples", "wb").write(b"".join(samples))
	data = open("big3", "rb").read()
	open("text", "w").write("\r\n".join(data.hex().upper()[i:i + 64] for i in range(0, 2 * len(data), 64)))
	open("list.csv", "w").write("name,type,start_time,duration,data,error\n" + "".join(
	    '"Async Serial","data",%.6f,8.6e-05,0x%02X,\n' % (i * 1e-4, byte) for i, byte in enumerate(data)))
	open("lines", "w").write("".join("uart-1: %02X\n" % byte for byte in data))
	open("noisy", "wb").write(b"hello\r\n" + data[:700] + b"xx" + data[700:1401] + data[1402:-2])
	PYTHON
	for file in big3 little3 text list.csv lines; do
		rm -f list
		post -f edges -o list $file $elf
		is "$file: calls" "$(sed -n 's/^ *\([0-9]*\) *\(.*fibonacci\)$/\1 \2/p' list)" \
			"300 main -> fibonacci
7 fibonacci -> fibonacci"
	done
	post --address-bytes 4 -f edges -o wide big4 $elf
	ok "addresses of 4 bytes" cmp list wide
	post --sample-hz 50 -f gmon -o gmon.out big3 $elf
	arm-none-eabi-gprof -b $elf gmon.out >gprof.text 2>/dev/null
	ok "gprof reads the calls" grep -q '300+7 *fibonacci' gprof.text
	ok "and the samples, 50 of them in a second" \
		grep -q '^100.00 *1.00 *1.00.*next_random' gprof.text
	post --sample-hz 50 -f gmon -o two.out big3.arcs big3.samples $elf
	arm-none-eabi-gprof -b $elf two.out >two.text 2>/dev/null
	ok "arcs of one run and samples of another" cmp gprof.text two.text
	ok "what is between is skipped, and a line says how much" \
		says 1 'noisy: [0-9]* bytes skipped' post -f edges noisy $elf
	ok "and the rest is read" grep -q '29[0-9] *main -> fibonacci' says.out
	ok "another file" says 1 'no call and no sample with addresses of 3 bytes' \
		post -f edges "$root/README.md" $elf
	sed '5s/0x.*/,framing/' list.csv >damaged.csv
	post -f edges -o list damaged.csv $elf 2>words
	ok "a row of a list without a byte" grep -q 'damaged.csv: 1 row of the list without a byte' words
	ok "and the rest of the list is read" grep -q '29[0-9] *main -> fibonacci' list
	ok "no ELF file" says 1 'the ELF file of the firmware is needed' post -f edges big3
	post --address-bytes 7 big3 $elf 2>words
	is "a wrong width is wrong usage" $? 2
	ok "with a line that says so" grep -q -e '--address-bytes takes 2, 3 or 4, not' words
}

for_boards behaviour
