#!/bin/sh
# make demo-avr: the call graph that is drawn from the serial capture of a simulated node names the
# allocation, as avr-gprof does, and the node with the repaired one sends more than twice as fast.
DEVICES=atmega1284p
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# It removes its folder, which is not to be that of make demo-avr.
demo()
{
	mkdir -p bin lib && cp -r "$BUILD/bin" "$BUILD/lib" . && mkdir -p tests && cp "$simulator" tests &&
		BUILD=$PWD INSTALL=no "$root/examples/node/demo" >words && cat words
}

# In the first three rows
names_the_allocation()
{
	sed -n '/slow.capture/,/bytes/p' words | awk '/\[node.elf\]/' | sed -n 1,3p >rows && cat rows &&
		[ "$(grep -c ' memory_[a-z_]* \[' rows)" = 3 ]
}

drawn()
{
	for picture in slow ready; do
		head -c 5 "demo-avr/$picture.pdf" | grep -q '^%PDF-' &&
			grep -q '<title>.*&#45;&gt;.*</title>' "demo-avr/$picture.svg" || return
	done
	grep -q '>memory_resize<' demo-avr/slow.svg && ! grep -q '>memory_resize<' demo-avr/ready.svg
}

behaviour()
{
	ok "it runs" demo
	ok "the calls are drawn" drawn
	ok "the first three rows name the allocation" names_the_allocation
	ok "avr-gprof lists it" grep -q 'memory_resize \[' demo-avr/slow.gprof
	ok "the repaired one sends more than twice as fast" sh -c \
		"awk '/bytes.s untraced/ { n++; rate[n] = \$1 } END { exit !(n == 2 && rate[2] > 2 * rate[1]) }' words"
}

for_devices behaviour
