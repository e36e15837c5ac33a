#!/bin/sh
# Beside gprof. Arcs are those that functions compiled with -pg count for themselves, and take a fraction of the
# instructions. Where gprof divides the time of a function by its calls, `table` has the time of each; and samples of a
# program that is in step with the timer show why another timer is needed, with periods that are not all alike.
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# with_mcount: the example writes a gmon.out of its own at the end, without interrupts, which would come at other times
with_mcount()
{
	sed '/board_st.*_ticks/d; /while (!ticks)/,+1d
		s/^int main(void)/void mcount_write(void);\n&/
		s/fibonacci(10)/fibonacci(FIBONACCI)/g
		s/^	return 0;/#ifdef PG\n	mcount_write();\n#endif\n&/' "$root/examples/firmware/main.c" >source/main.c
	sed -i 's/^void Reset_Handler/__attribute__((no_instrument_function)) &/' source/startup.c
	cp "$root/tests/firmware/mcount.c" source/
	# the link has no -pg, or it needs a C library that was compiled with it
	sed -i 's/startup.o board.o main.o/& $(MCOUNT)/; s/$(CFLAGS) -c/$(CFLAGS) $(PG) -c/' source/Makefile
}

# instructions ELF: how many are executed
instructions()
{
	: >sites
	emulate "$1" "$1.serial" -plugin "$BUILD/tests/system.so,sites=sites,out=$1.oracle"
	sed -n 's/^instructions //p' "$1.oracle"
}

# more FOLDER: instructions that a larger number of calls takes
more()
{
	echo $(($(instructions "$1-17/firmware.elf") - $(instructions "$1-10/firmware.elf")))
}

# arcs GMON ELF: CALLER CALLEE COUNT, of callees that -pg counts
arcs()
{
	python3 "$root/tests/oracle/gmon.py" arcs "$1" "$2" >all.arcs
	grep -E ' (main|fibonacci|compare|add|subtract|multiply|average|next_random|board_putc) ' all.arcs
}

arcs_of_mcount()
{
	with_mcount
	for number in 10 17; do
		make_example pg-$number EXTRA_CFLAGS="-DPG -DFIBONACCI=$number" \
			PG=-pg MCOUNT=mcount.o >pg.log 2>&1
		make_example plain-$number EXTRA_CFLAGS="-DFIBONACCI=$number" >>pg.log 2>&1
		export LITIFUT_PORT="$port"
		ok "it links traced" traced traced-$number make_example traced-$number \
			EXTRA_CFLAGS="-DFIBONACCI=$number"
		unset LITIFUT_PORT
	done
	rm -f gmon.out
	emulate pg-17/firmware.elf pg.serial
	ok "it has counted for itself" test -s gmon.out
	emulate traced-17/firmware.elf traced.serial
	"$BUILD/bin/litifut-post" -q -f gmon -o traced.gmon traced.serial traced-17/firmware.elf
	arcs gmon.out pg-17/firmware.elf >pg.arcs
	arcs traced.gmon traced-17/firmware.elf >traced.arcs
	ok "arcs and their numbers are those of -pg" diff pg.arcs traced.arcs
	ok "there are many" test "$(wc -l <pg.arcs)" -ge 8
	calls=$(($(awk '$1 == "fibonacci" { print $3 }' pg.arcs) - 176)) # of fibonacci(10)
	plain=$(more plain)
	by_itself=$((10 * ($(more pg) - plain) / calls))
	counted=$((10 * ($(more traced) - plain) / calls))
	echo "# $target: tenths of an instruction an arc: $by_itself with -pg, $counted counted"
	ok "a counted arc takes less than a third" test "$counted" -gt 0 -a $((3 * counted)) -lt "$by_itself"
}

# link_shares FOLDER SETTING... -- OPTIONS OF THE COMPILER
link_shares()
{
	shares_folder=$1
	shift
	export LITIFUT_PORT="$port"
	while [ "$1" != -- ]; do
		export "${1?}"
		shift
	done
	shift
	traced "$shares_folder" make_example "$shares_folder" EXTRA_CFLAGS="$*"
	shares_status=$?
	unset LITIFUT_PORT LITIFUT_SAMPLE LITIFUT_MODE LITIFUT_CLOCK
	return $shares_status
}

# time_of FILE FUNCTION: percent of all samples, of a listing by gprof
time_of()
{
	awk -v name="$2" '$NF == name && $1 ~ /^[0-9.]+$/ { print int($1 + 0.5); found = 1; exit } END { if (!found) print 0 }' "$1"
}

# near DESCRIPTION VALUE EXPECTED WITHIN
near()
{
	echo "# $target: $1: $2"
	ok "$1: $3, within $4" [ "$2" -ge $(($3 - $4)) -a "$2" -le $(($3 + $4)) ]
}

shares()
{
	cp "$root/tests/firmware/shares.c" source/main.c
	cp "$root/examples/firmware/startup.c" source/
	ok "shares: it links traced" link_shares sampled LITIFUT_SAMPLE=SysTick_Handler -- -DSHARES
	emulate sampled/firmware.elf sampled.serial
	"$BUILD/bin/litifut-post" -q -f gmon -o sampled.gmon sampled.serial sampled/firmware.elf
	arm-none-eabi-gprof -b -q sampled/firmware.elf sampled.gmon >graph 2>gprof.log
	# the lines above that of do_something(): SELF CHILDREN CALLED/TOTAL NAME
	sed -n '/^-----/h; H; /^\[[0-9]*\].* do_something /{ x; p; }' graph >above
	near "by gprof, percent of the time of do_something() that fast() gets" "$(awk '
		$4 == "fast" { fast = $1 } $4 == "slow" { slow = $1 }
		END { printf "%d", 100 * fast / (fast + slow) + 0.5 }' above)" 50 2
	ok "shares by times: it links traced" link_shares timed LITIFUT_MODE=table LITIFUT_CLOCK=systick -- -DSHARES
	emulate timed/firmware.elf timed.serial
	"$BUILD/bin/litifut-post" -q -f csv -o timed.csv timed.serial timed/firmware.elf
	near "by table, percent that fast() gets" "$(python3 - <<-'END'
		import csv
		rows = list(csv.DictReader(open("timed.csv")))
		total = {row["caller"]: float(row["total_ns"]) for row in rows if row["callee"] == "do_something"}
		print(round(100 * total["fast"] / (total["fast"] + total["slow"])))
	END
	)" 10 1
}

# in_step FOLDER HANDLER OPTIONS...: the listing is in FOLDER.flat
in_step()
{
	step_folder=$1
	step_handler=$2
	shift 2
	ok "$step_folder: it links traced" link_shares "$step_folder" LITIFUT_SAMPLE="$step_handler" -- "$@"
	emulate "$step_folder/firmware.elf" "$step_folder.serial"
	"$BUILD/bin/litifut-post" -q -f gmon -o "$step_folder.gmon" "$step_folder.serial" "$step_folder/firmware.elf"
	arm-none-eabi-gprof -b -p "$step_folder/firmware.elf" "$step_folder.gmon" >"$step_folder.flat" 2>gprof.log
}

# true_share FUNCTION ELF: percent of all instructions that its call in main() takes
true_share()
{
	arm-none-eabi-objdump -d --disassemble=main "$2" | awk -v name="<$1>" '
		found { sub(":", "", $1); print at, $1; exit } $NF == name { at = $1; sub(":", "", at); found = 1 }' >sites
	emulate "$2" true.serial -plugin "$BUILD/tests/system.so,sites=sites,out=true.oracle"
	awk '/^instructions/ { all = $2; next } { sum = $5 } END { printf "%d", 100 * sum / all + 0.5 }' true.oracle
}

steps()
{
	# interrupt 8
	sed -i 's/^void Default_Handler(void);/&\nvoid Timer_Handler(void);/
		0,/^	UNUSED_8,/s//	UNUSED_8, Timer_Handler, Default_Handler, Default_Handler, Default_Handler, Default_Handler, Default_Handler, Default_Handler, Default_Handler,/
		s/16 + 40/16 + 48/' source/startup.c
	in_step step SysTick_Handler
	near "in step with the timer, percent in half()" "$(time_of step.flat half)" 0 1
	ok "in step with the timer: all samples find it waiting" test "$(time_of step.flat wait)" -ge 98
	in_step dither Timer_Handler -DBY_TIMER
	make_example steps-plain EXTRA_CFLAGS=-DBY_TIMER >/dev/null
	for function in half wait; do
		near "by a timer with other periods, percent in $function()" "$(time_of dither.flat $function)" \
			"$(true_share $function steps-plain/firmware.elf)" 4
	done
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	arcs_of_mcount
	shares
	[ "$board" != mps2-an385 ] || steps
}

for_boards behaviour
