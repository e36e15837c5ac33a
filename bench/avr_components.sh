#!/bin/sh
# usage: bench/avr_components.sh [SECONDS]
# Figures 15, 16 and 19 and Tables II, III and V of "Diagnostic tracing for wireless sensor networks"
# (docs/paths.md), with nodes of examples/node that simavr simulates for SECONDS (30). More and more of
# their components are traced, in the paper's order, by each recorder: `paths' and, with its records made
# compact on the node, `compact', which stand for TinyTracer; `balllarus', which is as NodeMD*;
# `lis' and `lis-global' (tests/firmware/avr_lis.S), as LIS-local and LIS-global. What they record goes to
# a simulated AT45DB161. Functions that one of them can't record are left by all. Each recorder's trace is
# compared with what simavr has executed: it fails if they differ, or if the node does not do what it does
# untraced.
# shellcheck source=avr.sh
. "$(dirname "$0")/avr.sh"
seconds=${1:-30}
post=$BUILD/bin/litifut-post
device=atmega1284p
recorders=${RECORDERS:-"paths compact balllarus lis lis-global"}
programs=${PROGRAMS:-"sample often listen"}
choosers="paths balllarus lis"
oracle=$root/tests/oracle

# The functions of a component, one a line.
component()
{
	case $1 in
	application) objects="main tasks" ;;
	reports) objects="report statistics" ;;
	sensor) echo read_sensor && return ;;
	network)
		printf '%s\n' line_get line_put line_has_come __vector_28
		objects="agent beacon bundle custody encode endpoint fields frame memory neighbour number seen store"
		;;
	timer)
		printf '%s\n' board_seconds sleep_a_second line_wait __vector_32
		objects=event
		;;
	esac
	for object in $objects; do
		avr-nm "objects-$program/$object.o" | awk '$2 ~ /[tT]/ { print $3 }'
	done
}

components=${COMPONENTS:-"application reports sensor network timer"}

# link NAME COMMAND FLAGS...: the node, its objects compiled already, with these files
link()
{
	link_name=$1
	link_with=$2
	shift 2
	# shellcheck disable=SC2086
	quietly $link_with avr-gcc -mmcu=$device -Wl,--gc-sections -Wl,--wrap=board_start,--wrap=board_end \
		-Wl,--wrap=sleep_a_second,--wrap=line_wait objects-$program/*.o "$@" -o "$link_name.elf"
}

# compile OUT SOURCE FLAGS...
compile()
{
	compile_out=$1
	shift
	quietly avr-gcc -mmcu=$device -Os -Wall -I"$root" -c "$@" -o "$compile_out"
}

# build RECORDER NAME LIST: sets what the recorder needs
build()
{
	(
		case $1 in
		paths | balllarus) export LITIFUT_MODE="$1" LITIFUT_RING_KB=13 ;;
		compact) export LITIFUT_MODE=paths LITIFUT_COMPACT=1 LITIFUT_RING_KB=13 LITIFUT_PORT=user ;;
		lis*) export LITIFUT_MODE=units LITIFUT_UNITS="$3" ;;
		esac
		export LITIFUT_INCLUDE="$3"
		flash=raw-$program.o
		case $1 in
		compact) flash=sent-$program.o ;;
		lis*) flash="sent-$program.o $1.o" ;;
		esac
		# shellcheck disable=SC2086
		link "$2" "$BUILD/bin/litifut build" $flash
	)
}

# run NAME [OPTION...]: leaves NAME.memory, NAME.serial, NAME.pages; sets awake and cycles, those from the
# first time on that it waits
run()
{
	run_name=$1
	shift
	"$simulator" -a "$(address "$run_name" "$waits")" -c 4000000000 "$@" -m "$run_name.memory" -u "$run_name.serial" -d "$run_name.pages" \
		-n receive.elf $device "$run_name.elf" >"$run_name.log" 2>&1
	awake=$(sed -n 's/^awake \([0-9]*\) of .*/\1/p' "$run_name.log")
	cycles=$(sed -n 's/^awake .* of //p' "$run_name.log")
}

# address NAME SYMBOL
address()
{
	avr-nm "$1.elf" | sed -n "s/^0*\(80\)\{0,1\}\([0-9a-f]*\) . $2\$/\2/p"
}

# variable NAME SYMBOL: four bytes at its address, at the end of the run
variable()
{
	od -An -tu4 -j "$((0x$(address "$1" "$2")))" -N4 "$1.memory" | tr -d ' '
}

# check RECORDER NAME: the trace against what was executed
check()
{
	head -c "$(variable "$2" flash_bytes)" "$2.pages" >"$2.trace"
	case $1 in
	paths | balllarus) python3 "$root/bench/avr/frames.py" "$2.elf" "$2.trace" "$2.framed" ;;
	*) cp "$2.trace" "$2.framed" ;;
	esac
	case $1 in
	paths | compact)
		"$post" -q -f blocks -o "$2.blocks" "$2.framed" "$2.elf" 2>"$2.words"
		python3 "$oracle/firmware_paths.py" compare "$2.elf" "$2.watched" "$2.order" "$2.blocks" --more 60
		;;
	balllarus)
		"$post" -q -f ids -o "$2.ids" "$2.framed" "$2.elf" 2>"$2.words"
		python3 "$oracle/firmware_numbers.py" compare "$2.elf" "$2.watched" "$2.order" "$2.ids" --more 4 \
			--late 40
		;;
	*)
		global=$(echo "$1" | sed -n 's/^lis-//p')
		# shellcheck disable=SC2086
		python3 "$oracle/lis.py" bits "$2.elf" "$2.passed" $global >"$2.words"
		[ "$(python3 "$oracle/lis.py" recorded "$2.elf" "$2.memory")" = "$(cat "$2.words") 0" ]
		;;
	esac >"$2.check" || {
		echo "avr_components: $2: the trace is not what was executed:" >&2
		cat "$2.words" "$2.check" >&2
		exit 1
	}
}

# buffer NAME: bytes of what holds the trace until it is written
buffer()
{
	avr-nm -S "$1.elf" | awk '$4 == "lis_buffer" || ($4 == "litifut_table" && !found) { found = $2 }
		END { print "0x" found }'
}

# row RECORDER NUMBER RECORDED: of the last run
row()
{
	sizes=$(avr-size "$run_name.elf" | awk 'NR == 2 { print $1 + $2, $2 + $3 }')
	bytes=
	if [ "$1" != plain ]; then
		buffer=$(buffer "$run_name")
		bytes="$(($(variable "$run_name" flash_bytes) - $(variable "$run_name" flash_before)))"
		bytes="$bytes $(variable "$run_name" flash_most) $((buffer))"
	fi
	echo "$program $2 $1 $3 $awake $cycles $sizes $bytes" >>rows
}

: >rows
: >table3
make -s -C "$root/examples/node" OUT="$folder/objects-receive" ELF="$folder/receive.elf" TASK=receive COUNT="$seconds"
compile lis.o -DLIS_BYTES=9000 "$root/tests/firmware/avr_lis.S"
compile lis-global.o -DLIS_BYTES=9000 -DLIS_GLOBAL "$root/tests/firmware/avr_lis.S"
for program in $programs; do
	set -- LISTEN=no COUNT="$seconds"
	flags=
	waits=sleep_a_second
	case $program in
	listen)
		set -- LISTEN=yes COUNT="$seconds"
		waits=line_wait
		;;
	often) flags=-DOFTEN ;;
	esac
	make -s -C "$root/examples/node" OUT="$folder/objects-$program" ELF="$folder/made-$program.elf" TASK=sample "$@"
	# shellcheck disable=SC2086
	{
		compile plain-$program.o $flags "$root/bench/avr/flash.c"
		compile sent-$program.o $flags -DRECORDS "$root/bench/avr/flash.c"
		compile raw-$program.o $flags -DRECORDS -DRAW "$root/bench/avr/flash.c"
	}
	link "plain-$program" env "plain-$program.o"
	avr-nm "plain-$program.elf" | awk '$2 ~ /[tT]/ { print $3 }' | sort -u >linked
	run "plain-$program"
	row plain 0 0
	: >functions
	number=0
	for each in $components; do
		number=$((number + 1))
		component "$each" | sort -u | comm -12 - linked >>functions
		sort functions >common
		for recorder in $choosers; do
			build "$recorder" chosen "$(paste -sd, functions)"
			python3 "$oracle/lis.py" functions chosen.elf | sort | comm -12 - common >chosen
			mv chosen common
		done
		list=$(paste -sd, common)
		for recorder in $recorders; do
			name=$recorder-$program-$number
			build "$recorder" "$name" "$list"
			if [ "${recorder#lis}" = "$recorder" ]; then
				python3 "$oracle/firmware_paths.py" traced "$name.elf" "$name.watched"
				cut -d ' ' -f 1 "$name.watched" >"$name.starts"
				run "$name" -s "$name.starts" -o "$name.passed" -r "$name.order"
			else
				python3 "$oracle/lis.py" sites "$name.elf" >"$name.starts"
				run "$name" -s "$name.starts" -o "$name.passed"
			fi
			cmp -s "$name.serial" "plain-$program.serial" || {
				echo "avr_components: $name does not print what the plain program prints" >&2
				exit 1
			}
			check "$recorder" "$name"
			row "$recorder" "$number" "$(python3 "$oracle/lis.py" functions "$name.elf" | wc -l)"
		done
		echo "$program $(wc -l <functions) $(wc -l <common)" >>table3
	done
done

echo "Table II: programs"
for program in $programs; do
	case $program in
	sample) about="1000 ms, samples and sends a bundle, sleeps" ;;
	often) about="125 ms, the same" ;;
	listen) about="1000 ms, the same, and listens between" ;;
	esac
	echo "  $program: $(cat "$root"/examples/node/*.[ch] | wc -l) lines of C, $about"
done
echo "Table III: functions of 1 to 5 components ($components)"
awk '{ if (!($1 in all)) order[++n] = $1; all[$1] = all[$1] " " $2; common[$1] = common[$1] " " $3 }
	END { for (i = 1; i <= n; i++)
		print "  " order[i] ":" all[order[i]] ", of which all recorders can record" common[order[i]] }' table3

# Of a Mica2 at 3 V, measured (V. Shnayder et al., Mica2 Mote Power Benchmark Summary Numbers, 2004): active
# 8.0 mA, idle 3.2 mA; a write to its AT45DB041 18.4 mA for 12.9 ms. A page of that has 264 bytes; the paper
# writes 16 at once. What is needed of a buffer: what was written in one wait, at most (in compact form, not the
# words that this was made from).
awk '
	function energy(awake, cycles) { return 3 * (8.0 * awake + 3.2 * (cycles - awake)) / 8e6 } # mJ
	function part(a, b) { return 100 * (a / b - 1) }
	$3 == "plain" {
		awake = $5; base = energy($5, $6); rate = $5 / $6; cycles = $6; flash = $7; memory = $8
		printf "%s: untraced %d cycles awake of %d, %d bytes of flash, %d of memory\n", $1, $5, $6, $7, $8
		print "  C recorder    functions  cycles  CPU energy    bytes  total, 264  total, 16    flash  memory and buffer, needed"
		next
	}
	{
		# for as long as the untraced one
		active = $5; now = energy(active, cycles); each = 3 * 18.4 * 0.0129
		printf "  %d %-11s %9d %+6.0f%% %+10.2f%% %8d %+10.2f%% %+9.2f%% %6.2fx %6d %6d %6d\n", $2, $3, $4,
			part(active, awake), part(now, base), $9, part(now + $9 / 264 * each, base),
			part(now + $9 / 16 * each, base), $7 / flash, $8 - memory - $11, $11, $10
	}' rows
