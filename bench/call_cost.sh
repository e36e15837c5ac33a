#!/bin/sh
# What a traced call costs, in executed guest instructions: (traced - plain) /
# calls recorded, on real programs built by their own build systems. The counts
# are exact and the same on every machine.
#
#   bench/call_cost.sh [TARGET...]        default: armhf armhf-arm mipsel
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/lib.sh"

input_bytes=${BENCH_BYTES:-1000000}
work=$BUILD/bench/call_cost
targets=${*:-armhf armhf-arm mipsel}

# Any text compresses alike on all machines: numbers, and their squares.
make_input()
{
	awk -v bytes="$input_bytes" 'BEGIN {
		for (i = 1; done < bytes; i++) {
			line = i " " i * i % 65537 " " (i * 7919) % 104729
			print line
			done += length(line) + 1
		}
	}' >"$work/input"
}

# The benchmark of an interpreter: calls, tables, strings, closures.
make_script()
{
	cat >"$work/work.lua" <<-'END'
		local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
		local words = {}
		for i = 1, 4000 do words[i] = string.format("w%05d", (i * 7919) % 4001) end
		table.sort(words)
		table.sort(words, function(a, b) return a > b end)
		local count = 0
		for word in (table.concat(words, " ")):gmatch("%a0%d+") do count = count + #word end
		print(fib(16), words[1], count, (("x"):rep(100):gsub("x", "yz")))
	END
}

# count OUTPUT FOLDER: runs the program in FOLDER; the executed guest
# instructions, and what the program printed in OUTPUT.
count()
{
	rm -f "$work"/counted*
	# shellcheck disable=SC2086
	(cd "$work/$target/$program/$2" &&
		env -i $guest_environment "qemu-$cpu" -L "$sysroot" \
			-plugin "$BUILD/tests/oracle.so,count=$work/counted" $command) >"$1" || return
	cat "$work"/counted* | tail -n 1 | cut -d ' ' -f 1
}

# build_both PACKAGE: $program in plain/ and traced/, by the recipe of its tests.
build_both()
{
	# shellcheck disable=SC1090
	. "$root/tests/programs/$program.recipe"
	# shellcheck disable=SC2154
	source_folder=$("$root/scripts/fetch-source" "$package") || return
	rm -rf "${work:?}/$target/$program"
	mkdir -p "$work/$target/$program"
	for kind in plain traced; do
		cp -a "$source_folder" "$work/$target/$program/$kind"
		front=
		[ $kind = traced ] && front="$BUILD/bin/litifut build"
		(
			cd "$work/$target/$program/$kind" || exit 1
			export triplet machine_flags root
			$front sh -euc ". '$root/tests/programs/$program.recipe'; build"
		) >"$work/$target/$program/$kind.log" 2>&1 || return
	done
}

# row MODE ENVIRONMENT...: one line of the table.
row()
{
	mode=$1
	shift
	rm -rf "$work/data"
	guest_environment="LITIFUT_DIR=$work/data $*"
	traced=$(count "$work/traced.out" traced) || return
	guest_environment=
	cmp "$work/plain.out" "$work/traced.out" || return
	bytes=$(find "$work/data/trace" -type f -exec cat {} + | wc -c)
	awk -v program="$program" -v target="$target" -v mode="$mode" -v calls="$calls" \
		-v plain="$plain" -v traced="$traced" -v bytes="$bytes" 'BEGIN {
			printf("| %s | %s | %s | %d | %.1f | %.2f |\n", program, target, mode, calls,
				(traced - plain) / calls, bytes / calls)
		}'
}

# The calls of a run that records every one.
count_calls()
{
	rm -rf "$work/data"
	guest_environment="LITIFUT_DIR=$work/data LITIFUT_CLOCK=none"
	count "$work/traced.out" traced >"$work/calls.count" || return
	guest_environment=
	calls=$("$BUILD/bin/litifut-post" -f report "$work/data/trace" "$work/data/maps" \
		2>&1 >"$work/report" | sed -n 's/^litifut-post: \([0-9]*\) events.*/\1/p')
	[ "${calls:-0}" -gt 0 ]
}

measure()
{
	program=$1 command=$2
	build_both || {
		echo "| $program | $target | does not build, see $work/$target/$program | | | |"
		return
	}
	plain=$(count "$work/plain.out" plain) && count_calls || {
		echo "| $program | $target | does not run | | | |"
		return
	}
	row "every call" LITIFUT_CLOCK=none
	row "with time" LITIFUT_CLOCK=mono
	row "each once (dedup)" LITIFUT_CLOCK=none LITIFUT_DEDUP=1
	row "no bulk" LITIFUT_CLOCK=none LITIFUT_BULK_KB=0
}

mkdir -p "$work"
make_input
make_script
echo "| program | target | recorded | calls | instructions a call | bytes a call |"
echo "|---|---|---|---|---|---|"
for name in $targets; do
	use_target "$name"
	measure lua "src/lua $work/work.lua"
	measure bzip2 "./bzip2 -9 -c $work/input"
done
