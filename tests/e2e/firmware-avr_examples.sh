#!/bin/sh
# The firmwares of simavr's own tests and examples, which others wrote for 8 devices: each call site is counted as
# often as simavr has executed it.
DEVICES=simavr
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

cycles=3000000

# others_of NAME: what else it is linked from
others_of()
{
	case $1 in
	*_ds1338) echo ds1338.c twimaster.c ;;
	*_ssd1306) echo ssd1306.c images.c ;;
	esac
}

# example NAME SOURCE: links it traced; its name begins with the device
example()
{
	example_name=$1
	example_source=$2
	device=${example_name%%_*}
	folder=${example_source%/*}
	set -- "$example_source"
	for more in $(others_of "$example_name"); do
		set -- "$@" "$folder/$more"
	done
	# as their Makefile.common does
	"$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os -g -w -std=gnu99 -DF_CPU=8000000 \
		-fno-inline-small-functions -ffunction-sections -fdata-sections -Wl,--relax,--gc-sections \
		-I"$simavr/simavr/sim/avr" -I"$simavr/simavr/sim" -I"$folder" -I"$simavr/examples/shared" \
		-Wl,--undefined=_mmcu,--section-start=.mmcu=0x910000 "$@" -o "$example_name.elf" \
		>"$example_name.log" 2>&1 && ! own_words "$example_name.log" && return
	cat "$example_name.log"
	return 1
}

# Most have no end: they are stopped after so many cycles.
counted()
{
	python3 "$root/tests/oracle/firmware_avr.py" sites "$1.elf" >"$1.sites" || return
	"$simulator" -c $cycles -s "$1.sites" -o "$1.executed" -u "$1.serial" -m "$1.memory" "$device" \
		"$1.elf" >&2
	simulator_status=$?
	[ $simulator_status = 0 ] || [ $simulator_status = 3 ] || return
	"$BUILD/bin/litifut-post" -q -f gmon -o "$1.gmon" "$1.memory" "$1.elf" &&
		python3 "$root/tests/oracle/firmware_avr.py" check "$1.elf" "$1.executed" "$1.gmon" >&2
}

behaviour()
{
	if ! simavr=$("$root/scripts/fetch-source" simavr 2>fetch.err); then
		skip "the firmwares of simavr" "$(tail -n 1 fetch.err)"
		return
	fi
	find "$simavr/tests" "$simavr/examples" -name 'at*_*.c' | sort |
		grep -v 'crash_gdb\|i2ctest' >list # is made to crash; has a file that Debian leaves out
	while read -r source; do
		name=$(basename "$source" .c)
		ok "$name: it links traced" example "$name" "$source"
		ok "$name: each site is counted as often as it is executed" counted "$name"
	done <list
}

for_devices behaviour
