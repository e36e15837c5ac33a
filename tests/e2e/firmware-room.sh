#!/bin/sh
# Memories that are too small, and scripts that have no place for what is added: smaller stubs,
# or the plain firmware, with a line that says why.
BOARDS=${BOARDS:-microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# with_memory FLASH RAM FOLDER: links it traced in so many bytes; the words of the wrapper are
# in FOLDER.log.
with_memory()
{
	sed "s/LENGTH = [0-9]*[KM]*/LENGTH = $1/;t" "$root/examples/firmware/$board.ld" |
		awk -v ram="$2" '/RAM/ { sub(/LENGTH = [0-9A-Z]*/, "LENGTH = " ram) } { print }' \
			>"source/$board.ld"
	front="$BUILD/bin/litifut build -q"
	make_example "$3" ${flags:+EXTRA_LDFLAGS="$flags"} >"$3.log" 2>&1
	with_status=$?
	front=
	return $with_status
}

runs_as_before()
{
	"$BUILD/bin/litifut" info "$1/firmware.elf" >"$1.info"
	grep -q ': rewritten' "$1.info" || return
	emulate "$1/firmware.elf" "$1.serial"
	cmp plain.serial "$1.serial"
}

engine_of()
{
	"$BUILD/bin/litifut" info "$1/firmware.elf" | sed -n 's/^  engine  *//p'
}

# missing_of FOLDER: the bytes that the warning names
missing_of()
{
	sed -n 's/.*: left untraced: no room for the tracer: [^/]*: \([0-9]*\) bytes are missing: trace fewer.*/\1/p' "$1.log"
}

# left_in FOLDER: the bytes between .bss and the end of the memory, as the script's symbols say
left_in()
{
	arm-none-eabi-nm "$1/firmware.elf" | awk '$3 == "end" || $3 == "__stack" { print "0x" $1 }' |
		sort | { read -r first && read -r last && echo $((last - first)); }
}

# too_many_in FOLDER: the words of the warning about too many calls
too_many_in()
{
	sed -n 's/.*: left untraced: \(too many calls.*\)/\1/p' "$1.log"
}

# A heap and a stack that meet end a program some time later: the link says what is left for them.
low_memory()
{
	cp -r "$root/examples/firmware/." source
	sed -i 's/LENGTH = 16K/LENGTH = 12K/' "source/$board.ld"
	make_example roomy >/dev/null
	export LITIFUT_MODE=spans LITIFUT_RING_KB=8
	front="$BUILD/bin/litifut build" make_example low >low.log 2>&1
	low_says=": $(left_in low) bytes of memory are left for heap and stacks, $(left_in roomy) without the tracer"
	ok "little memory: less than a third is left" \
		[ "$(left_in low)" -gt 0 -a "$(left_in low)" -lt $(($(left_in roomy) / 3)) ]
	ok "little memory: the last line of the build says so" \
		grep -q "^litifut: 1 linked file traced; .*$low_says\$" low.log
	sed -i 's/LENGTH = 12K/LENGTH = 64K/' "source/$board.ld"
	front="$BUILD/bin/litifut build" make_example much >much.log 2>&1
	unset LITIFUT_MODE LITIFUT_RING_KB
	is "much memory: nothing is said" "$(grep -c 'memory are left' much.log)" 0
}

# A script without MEMORY, which names the end of the memory by a symbol (little kernel): the linker does not see
# that .bss reaches over it.
no_regions()
{
	cp -r "$root/examples/firmware/." source
	sed -i '/^MEMORY/,/^}/d' "source/$board.ld"
	sed -i 's/ >RAM AT>FLASH//; s/ >RAM//; s/ >FLASH//; s/ORIGIN(RAM) + LENGTH(RAM)/0x20004000/
		s/^	\.data/	. = 0x20000000;\n&/' source/sections.ld
	export LITIFUT_MODE=stream
	export LITIFUT_RING_KB=8
	ok "no MEMORY: it links" traced small_ring make_example small_ring
	is "no MEMORY: what fits is traced" "$(engine_of small_ring)" "stubs, fast"
	export LITIFUT_RING_KB=16
	front="$BUILD/bin/litifut build -q" make_example large_ring >large_ring.log 2>&1
	unset LITIFUT_MODE LITIFUT_RING_KB
	ok "no MEMORY: what does not fit is said" grep -q \
		'left untraced: no room for the tracer: the memory up to __stack (0x20004000) overflowed by [0-9]* bytes: trace' large_ring.log
}

behaviour()
{
	flags=
	ok "the example links" make_example plain
	flash=$(wc -c <plain/firmware.bin)
	ok "with room for all" with_memory 1M 16K large
	is "the stubs are fast" "$(engine_of large)" "stubs, fast"
	ok "with room for few bytes" with_memory $((flash + 3500)) 16K little
	is "the stubs are small" "$(engine_of little)" "stubs, small"
	is "without LITIFUT_PORT, LITIFUT_VERBOSE names it" \
		"$(LITIFUT_VERBOSE=1 with_memory 1M 16K large; grep -c 'nothing sends the results: .*LITIFUT_PORT (' large.log)" 1
	ok "nothing is said of that" [ "$(grep -c litifut-ld little.log)" = 0 ]
	ok "with room for none" with_memory $((flash + 16)) 16K none
	is "it is left untraced" \
		"$("$BUILD/bin/litifut" info none/firmware.elf)" \
		"none/firmware.elf: not rewritten"
	rm -r plain
	ok "the plain link in the same memory" make_example plain
	ok "it is as it was" cmp plain/firmware.bin none/firmware.bin
	ok "with the number of missing bytes" \
		grep -q 'litifut-ld: warning: .*: left untraced: no room for the tracer: .*FLASH.* overflowed by [0-9]* bytes' none.log
	ok "with too little RAM" with_memory 1M 256 ram
	ok "with the number of missing bytes of that" \
		grep -q 'left untraced: no room for the tracer: .*RAM.* overflowed by [0-9]* bytes' ram.log

	export LITIFUT_MODE=table LITIFUT_CLOCK=systick
	ok "with too little RAM for times" with_memory 1M 512 times
	unset LITIFUT_MODE LITIFUT_CLOCK
	ok "fewer open calls are not advised, as they would not be enough" \
		grep -q 'overflowed by [0-9]\{4,\} bytes: trace fewer functions (LITIFUT_INCLUDE)$' times.log

	export LITIFUT_MODE=paths LITIFUT_RING_KB=100
	ok "with too little RAM for a ring of branches" with_memory 1M 64K branches
	unset LITIFUT_MODE LITIFUT_RING_KB
	ok "a smaller ring is advised" \
		grep -q 'overflowed by [0-9]* bytes: trace fewer .*, or set LITIFUT_RING_KB to less than 100$' branches.log

	cp -r "$root/examples/firmware/." source
	# `end` stands before what the script does not mention: the heap would begin there
	sed -i 's/\*(\.bss \.bss\.\*)/*(.bss.*)/; s/\*(COMMON)/*(COMMON) *libc*:*(.bss) *libg*:*(.bss)/' \
		source/sections.ld
	ok "with a script that has no place for .bss" with_memory 1M 16K heap
	ok "it is left untraced, and the reason is given" \
		grep -q 'left untraced: .*\.bss.*\(no place\|in the heap\)' heap.log
	emulate heap/firmware.elf heap.serial
	emulate plain/firmware.elf plain.serial
	ok "and it runs as before" cmp plain.serial heap.serial

	# scripts that are unlike the example's
	cp -r "$root/examples/firmware/." source
	script=source/sections.ld
	sed -i 's/^	end = \.;//; s/^	\.bss (NOLOAD)/	.heap (NOLOAD) : ALIGN(8) { end = .; . += 4096; } >RAM\n&/' $script
	ok "with a heap before .bss" with_memory 1M 16K before
	ok "it is traced, and runs as before" runs_as_before before
	cp -r "$root/examples/firmware/." source
	flags=-Wl,--fatal-warnings
	ok "with warnings that are errors" with_memory 1M 16K warnings
	ok "it is traced, and runs as before" runs_as_before warnings
	python3 - $script <<-'PYTHON'
	import sys
	text = open(sys.argv[1]).read()
	names = ["ARM.attributes", "comment"] + ["debug_" + name for name in
	    "info abbrev aranges ranges rnglists line line_str str frame loc loclists".split()]
	places = "".join(f"\t.{name} 0 : {{ *(.{name}) }}\n" for name in names)
	places += "\t/DISCARD/ : { *(.ARM.extab* .eh_frame* .iplt* .igot* .rel* .glue* .vfp* .v4_bx .tm*) }\n"
	at = text.rindex("}")
	open(sys.argv[1], "w").write(text[:at] + places + text[at:])
	PYTHON
	flags=-Wl,--orphan-handling=error
	ok "with a script that has to name all sections" with_memory 1M 16K orphans
	ok "it is traced, and runs as before" runs_as_before orphans
	flags=-Wl,--orphan-handling=discard
	ok "with one that drops others" with_memory 1M 16K dropped
	ok "it is left untraced, and the reason is given" \
		grep -q 'left untraced: --orphan-handling=discard drops' dropped.log
	flags=
	cp -r "$root/examples/firmware/." source
	echo "ASSERT(SIZEOF(.text) < $((flash + 3500)), \"larger than its slot\")" >>$script
	ok "with a size that the script asserts" with_memory 1M 16K slot
	is "the stubs are small" "$(engine_of slot)" "stubs, small"
	sed -i "s/ < $((flash + 3500))/ < $flash/" $script
	ok "with one that leaves no room" with_memory 1M 16K no_slot
	ok "it is left untraced, with the script's words" \
		grep -q 'left untraced: .*larger than its slot' no_slot.log
	missing=$(missing_of no_slot)
	sed -i "s/ < $flash/ < $((flash + missing - 1))/" $script
	ok "with one that leaves a byte too little" with_memory 1M 16K less_slot
	is "this byte is missing" "$(missing_of less_slot)" 1
	sed -i "s/ < $((flash + missing - 1))/ < $((flash + missing))/" $script
	ok "with as many as were missing" with_memory 1M 16K more_slot
	is "it is traced" "$(engine_of more_slot)" "stubs, small"

	# as scripts of vendors guard the stack
	cp -r "$root/examples/firmware/." source
	cat >>$script <<-'E'
	stack_limit = ORIGIN(RAM) + LENGTH(RAM) - 0x400;
	PROVIDE(heap_limit = end + 0x3a00 - 0x100);
	ASSERT(stack_limit >= heap_limit, "RAM overflowed with the stack")
	E
	ok "with a stack that the script guards" with_memory 1M 16K no_stack
	missing=$(missing_of no_stack)
	ok "it is left untraced, and bytes are missing" [ "$missing" -gt 0 ]
	sed -i "s/0x3a00 - 0x100/0x3a00 - 0x100 - $missing/" $script
	ok "with as many as were missing" with_memory 1M 16K stack
	is "it is traced" "$(engine_of stack)" "stubs, fast"

	cp -r "$root/examples/firmware/." source
	cat >>$script <<-'E'
	ASSERT(__stack - 0x400 >= end + 0x3a00, "RAM overflowed with the stack")
	E
	export LITIFUT_MODE=table LITIFUT_CLOCK=systick LITIFUT_DEPTH=32
	ok "with times, and a stack that the script guards" with_memory 1M 16K no_calls
	missing=$(missing_of no_calls)
	sed -i "s/0x3a00/0x3a00 - $((missing - 400))/" $script
	ok "with 400 bytes too few for 32 calls" with_memory 1M 16K many_calls
	is "these bytes are missing" "$(missing_of many_calls)" 400
	ok "fewer open calls are advised" \
		grep -q 'bytes are missing: trace fewer .*, or set LITIFUT_DEPTH to fewer open calls than 32$' many_calls.log
	unset LITIFUT_DEPTH
	ok "with as many open calls as find room" with_memory 1M 16K few_calls
	is "it is traced" "$(engine_of few_calls)" "stubs, fast"
	unset LITIFUT_MODE LITIFUT_CLOCK

	cp -r "$root/examples/firmware/." source
	{
		echo '__attribute__((noinline)) static void call(void) { __asm__(""); } void SysTick_Handler(void) {}'
		echo '#define TEN(x) x x x x x x x x x x'
		echo 'int main(void) { TEN(TEN(TEN(TEN(call();)))) TEN(TEN(TEN(call(); call(); call();))) return 0; }'
	} >source/main.c
	export LITIFUT_MODE=table LITIFUT_CLOCK=systick
	with_memory 1M 16K many
	unset LITIFUT_MODE LITIFUT_CLOCK
	is "13,000 calls are too many for times, and a line says what helps" "$(too_many_in many)" \
		"too many calls: 12800 at most, fewer where some are through a pointer: trace fewer functions (LITIFUT_INCLUDE), or count the calls only (LITIFUT_MODE=counts)"
	sed -i 's/call();/& & & & &/g' source/main.c
	export LITIFUT_MODE=counts
	with_memory 4M 16K many_counted
	unset LITIFUT_MODE
	is "65,000 are too many for counts" "$(too_many_in many_counted)" \
		"too many calls: 64000 at most, fewer where some are through a pointer: trace fewer functions (LITIFUT_INCLUDE)"
	low_memory
	no_regions

	cp -r "$root/examples/firmware/." source
	for setting in PORT=uart9 PORT=memory:7 PORT=cmsdk:here SEND=later STUBS=tiny STUBS=byte; do
		folder=wrong-$(echo "$setting" | tr ':=' '--')
		export LITIFUT_"$setting"
		ok "LITIFUT_$setting links" with_memory 1M 16K "$folder"
		unset LITIFUT_"${setting%%=*}"
		is "LITIFUT_$setting has one line that says so" \
			"$(grep -c "^litifut-ld: warning: .*: left untraced: LITIFUT_${setting%%=*}: .*${setting#*=}" "$folder.log")" 1
	done
}

for_boards behaviour
