#!/bin/sh
# make demo-avr: the call graph that is drawn from the serial capture of a simulated node names the
# allocation, as avr-gprof does, and the node with the repaired one sends more than twice as fast.
# It and make demo-energy install what is missing before they build: without it, AVR's tracer is left out.
DEVICES=atmega1284p
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# It removes its folder, which is not to be that of make demo-avr, and may have a blank in its name.
demo()
{
	mkdir -p 'a folder/tests' && cp -r "$BUILD/bin" "$BUILD/lib" 'a folder' && cp "$simulator" 'a folder/tests' &&
		BUILD="$PWD/a folder" "$root/examples/node/demo" >words && cat words && rm -rf demo-avr && mv 'a folder/demo-avr' .
}

# In the first three rows, with more than half of the time (59.8 % in November 2026)
names_the_allocation()
{
	sed -n '/slow.capture/,/bytes/p' words | awk '/\[node.elf\]/' | sed -n 1,3p >rows && cat rows &&
		[ "$(grep -c ' memory_[a-z_]* \[' rows)" = 3 ] &&
		awk '{ sub(/%/, "", $5); share += $5 } END { exit !(share > 50) }' rows
}

drawn()
{
	for picture in slow ready; do
		head -c 5 "demo-avr/$picture.pdf" | grep -q '^%PDF-' &&
			grep -q '<title>.*&#45;&gt;.*</title>' "demo-avr/$picture.svg" || return
	done
	grep -q '>memory_resize<' demo-avr/slow.svg && ! grep -q '>memory_resize<' demo-avr/ready.svg
}

# order_of TARGET: which programs it starts first where no package is installed yet. The make that builds fails here, so
# that nothing follows.
order_of()
{
	mkdir -p fake && rm -rf order empty
	printf '%s\n' '#!/bin/sh' 'exit 1' >fake/dpkg-query
	printf '%s\n' '#!/bin/sh' 'echo 0' >fake/id
	printf '%s\n' '#!/bin/sh' "case \$* in *install*gcc-avr*) echo install ;; *) echo \"apt-get \$*\" ;; esac >>'$PWD/order'" >fake/apt-get
	printf '%s\n' '#!/bin/sh' "echo \"make \$*\" >>'$PWD/order'" 'exit 1' >fake/make
	chmod +x fake/*
	env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES PATH="$PWD/fake:$PATH" "$(command -v make)" -C "$root" \
		MAKE="$PWD/fake/make" BUILD="$PWD/empty" "$1" >order.log 2>&1
	cat order.log >&2
	sed "s|[^ ]*/empty/||g" order
	find empty -type f 2>/dev/null
}

behaviour()
{
	is "it installs first, then builds" "$(order_of demo-avr)" "install
make -s all tests/avr"
	is "so does make demo-energy" "$(order_of demo-energy)" "install
make -s all tests/energy/rig tests/energy/firmware-120.elf tests/energy/recorded-120.elf"
	is "no list of dependencies is made of a source by itself" "$(env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES \
		make -C "$root" -n -W tracer/avr/spans/high.S BUILD="$BUILD" all 2>&1 | grep -c '\.d\.o')" 0
	ok "it runs" demo
	ok "the calls are drawn" drawn
	ok "the first three rows name the allocation" names_the_allocation
	ok "avr-gprof lists it" grep -q 'memory_resize \[' demo-avr/slow.gprof
	ok "the repaired one sends more than twice as fast" sh -c \
		"awk '/bytes.s untraced/ { n++; rate[n] = \$1 } END { exit !(n == 2 && rate[2] > 2 * rate[1]) }' words"
}

for_devices behaviour
