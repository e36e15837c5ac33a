# Sourced by the end-to-end scripts of firmware, after lib.sh. Like for_targets there is
#
#   for_boards FUNCTION        runs it for each board that QEMU emulates, in a fresh folder
#
#   BOARDS="microbit" tests/e2e/firmware-NAME.sh      runs some boards only
# shellcheck shell=sh disable=SC2034,SC2154

all_boards="mps2-an385 microbit mps2-an386 mps2-an500 mps2-an505 netduino2 lm3s6965evb"
BOARDS=${BOARDS:-$all_boards}

# Sets board, port (for LITIFUT_PORT) and sender, an address of the serial line.
use_board()
{
	board=$1
	target=$1
	case $board in
	microbit) port=nrf51 ;;
	netduino2) port=stm32 ;;
	lm3s6965evb) port=stellaris ;;
	mps2-an505) port=cmsdk:0x40200000 ;;
	mps3-an547) port=cmsdk:0x49303000 ;;
	*) port=cmsdk ;;
	esac
}

# emulate ELF OUTPUT OPTIONS...: runs the firmware, `patience` seconds at most, with the image `beside` it, if that is
# set; the serial line goes to OUTPUT. With icount a run is the same each time.
emulate()
{
	emulate_elf=$1
	emulate_output=$2
	shift 2
	timeout "${patience:-60}" qemu-system-arm -M "$board" -display none -monitor none -semihosting \
		-icount shift=4 -serial "file:$emulate_output" -kernel "$emulate_elf" \
		${beside:+-device "loader,file=$beside"} "$@" </dev/null
}

# flags_are_executed FOLDER RESULTS [LEAST]: those in RESULTS are what the program without patches
# executes
flags_are_executed()
{
	flags_elf=$1/firmware.elf
	python3 "$root/tests/oracle/firmware_flags.py" sites "$flags_elf" sites &&
		python3 "$root/tests/oracle/edges.py" plain "$flags_elf" plain.elf || return
	emulate plain.elf plain.text -plugin "$BUILD/tests/system.so,sites=sites,out=counts" || return
	"$BUILD/bin/litifut-post" -f branches -o flags "$2" "$flags_elf" 2>words
	cat words
	python3 "$root/tests/oracle/firmware_flags.py" compare "$flags_elf" counts flags "${3:-0}"
}

# sent_flags_are_executed FOLDER: the same of those that the program sends
sent_flags_are_executed()
{
	emulate "$1/firmware.elf" "$1/firmware.elf.serial" &&
		flags_are_executed "$1" "$1/firmware.elf.serial" 100
}

# computes_the_same OUTPUT: the program prints what the plain one has printed, in plain.serial
computes_the_same()
{
	text_of "$1" | diff plain.serial -
}

# make_example FOLDER ARGUMENTS...: builds examples/firmware for the board into FOLDER, by a
# copy of the makefile, so that nothing is written into the tree. Objects that an earlier FOLDER has of the same
# sources and arguments are taken from there, since the wrapper takes part in links alone.
make_example()
{
	make_folder=$(pwd)/$1
	shift
	[ -d source ] || cp -r "$root/examples/firmware" source
	make_compiler=
	for make_argument in "$@"; do
		case $make_argument in
		EXTRA_LDFLAGS=*) ;;
		*) make_compiler="$make_compiler $make_argument" ;;
		esac
	done
	mkdir -p "$make_folder" compiled
	# another build of the same name has other options
	rm -f "$make_folder"/*.o "$make_folder/firmware.elf"
	make_new=
	for make_part in startup board main; do
		[ ! -e "$make_folder/$make_part.o" ] || continue
		make_sum=$({ echo "$board$make_compiler" && cat "source/$make_part.c" source/*.h source/Makefile; } | cksum)
		make_object=compiled/$make_part-${make_sum%% *}.o
		if [ -e "$make_object" ]; then
			cp "$make_object" "$make_folder/$make_part.o"
		else
			make_new="$make_new $make_object"
		fi
	done
	(cd source && ${front:-} make -s BOARD="$board" OUT="$make_folder" "$@")
	make_status=$?
	for make_object in $make_new; do
		make_part=${make_object#*/}
		make_part=$make_folder/${make_part%%-*}.o
		[ ! -e "$make_part" ] || cp "$make_part" "$make_object"
	done
	return $make_status
}

# traced FOLDER COMMAND...: runs it under `litifut build`, with its words in FOLDER.log, in
# which LITIFUT must have nothing to say.
traced()
{
	traced_log=$1.log
	shift
	front="$BUILD/bin/litifut build -q"
	"$@" >"$traced_log" 2>&1
	traced_status=$?
	front=
	[ $traced_status = 0 ] && ! own_words "$traced_log" && return
	cat "$traced_log"
	return 1
}

# link_mode MODE FOLDER RING_KB ARGUMENTS...: of make_example, with `settings'
link_mode()
{
	link_mode=$1
	link_folder=$2
	link_ring=$3
	shift 3
	for each in LITIFUT_MODE="$link_mode" LITIFUT_RING_KB="$link_ring" ${settings:-}; do
		export "${each?}"
	done
	traced "$link_folder" make_example "$link_folder" "$@"
	link_status=$?
	unset LITIFUT_MODE LITIFUT_RING_KB LITIFUT_PORT LITIFUT_RAM LITIFUT_SEND LITIFUT_UNITS \
		LITIFUT_COMPACT LITIFUT_PATTERNS
	return $link_status
}

# dump ELF OUTPUT WHERE [TIMES]: the memory when the program has come to WHERE, and so many times before,
# from its data on
dump()
{
	dump_end='((unsigned)&end)'
	! arm-none-eabi-nm "$1" | grep -q ' litifut_kept$' ||
		dump_end='((unsigned)&litifut_table_end)'
	rm -f "$2"
	gdb-multiarch -q -batch -nx -ex "set remotetimeout 100" -ex "file $1" \
		-ex "target remote | timeout ${patience:-180} qemu-system-arm -M $board -display none \
			-monitor none -semihosting -icount shift=4 -serial file:dump.serial \
			-kernel $1 -S -gdb stdio" -ex "break $3" -ex "ignore 1 ${4:-0}" -ex continue -ex \
		"dump binary memory $2 ((unsigned)&__data_start) $dump_end" >dump.log 2>&1
}

# counts_equal_calls ELF [OPTIONS OF check]: runs it under the oracle; each call site was
# counted as often as it was executed. Leaves ELF.serial and ELF.gmon.
counts_equal_calls()
{
	counts_elf=$1
	shift
	python3 "$root/tests/oracle/firmware.py" sites "$counts_elf" >"$counts_elf.sites" || return
	emulate "$counts_elf" "$counts_elf.serial" \
		-plugin "$BUILD/tests/system.so,sites=$counts_elf.sites,out=$counts_elf.oracle" || return
	"$BUILD/bin/litifut-post" -q -f gmon -o "$counts_elf.gmon" "$counts_elf.serial" \
		"$counts_elf" || return
	python3 "$root/tests/oracle/firmware.py" check "$counts_elf" "$counts_elf.oracle" \
		"$counts_elf.gmon" "$@"
}

# calls_in_order ELF [--first]: runs it under the oracle; the calls of its stream are those that were
# executed, in the same order; with --first the last ones may be missing. Leaves ELF.serial and ELF.tsv.
calls_in_order()
{
	order_elf=$1
	shift
	python3 "$root/tests/oracle/firmware.py" entries "$order_elf" >"$order_elf.entries" || return
	emulate "$order_elf" "$order_elf.serial" -plugin \
		"$BUILD/tests/system.so,sites=$order_elf.entries,out=$order_elf.oracle,order=$order_elf.order" ||
		return
	"$BUILD/bin/litifut-post" -f tsv -o "$order_elf.tsv" "$order_elf.serial" "$order_elf" \
		2>"$order_elf.words" || [ "${1:-}" = --first ] || return # some are lost
	python3 "$root/tests/oracle/firmware.py" order "$order_elf" "$order_elf.order" "$order_elf.tsv" "$@"
}

# blocks_are_executed FOLDER traced|plain memory|serial OPTIONS OF compare...: of LITIFUT_MODE=paths; of one run
# under the oracle, or of one of the traced program and one of the program without patches
blocks_are_executed()
{
	blocks_elf=$1/firmware.elf
	blocks_way=$2
	blocks_from=$3
	shift 3
	python3 "$root/tests/oracle/firmware_paths.py" "$blocks_way" "$blocks_elf" watched || return
	if [ "$blocks_from" = memory ]; then
		dump "$blocks_elf" results _exit
	else
		emulate "$blocks_elf" results
	fi
	blocks_run=$blocks_elf
	if [ "$blocks_way" = plain ]; then
		blocks_run=plain.elf
		python3 "$root/tests/oracle/edges.py" plain "$blocks_elf" plain.elf || return
	fi
	emulate "$blocks_run" "$blocks_elf.serial" \
		-plugin "$BUILD/tests/system.so,sites=watched,out=counts,order=order" || return
	"$BUILD/bin/litifut-post" -f blocks -o blocks results "$blocks_elf" 2>words
	cat words
	python3 "$root/tests/oracle/firmware_paths.py" compare "$blocks_elf" watched order blocks "$@"
}

# The text on a serial line that carries frames as well: all up to the first zero.
text_of()
{
	sed -z 1q "$1" | tr -d '\0'
}

for_boards()
{
	export BUILD
	# shellcheck disable=SC2086
	in_folders "$1" use_board $BOARDS
}
