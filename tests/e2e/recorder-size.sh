#!/bin/sh
# How much room an event takes in the trace of a real program, Lua with a script
# that sorts, makes strings and recurs: at most four bytes, eight with a
# time, the header and the first chunks of 64 KiB included.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# bytes LIMIT SETTING: of a hundred events
bytes()
{
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data $2"
	run traced lua work.lua
	guest_environment=
	ok "$2: the program does not notice" diff plain.out traced.out
	ok "$2: the trace is read" sh -c "'$BUILD/bin/litifut-post' -f report -o report.txt \
		data/trace data/maps traced/lua 2>post.err"
	events=$(sed -n 's/^litifut-post: \([0-9]*\) calls.*/\1/p' post.err)
	size=$(stat -c %s data/trace/*.trace)
	ok "$2: $events events, enough to tell" test "$events" -ge 500000
	ok "$2: $((size * 100 / events)) bytes for a hundred events, at most $1" \
		test "$size" -le $((events * $1 / 100))
	echo "# $target $2: $events events, $((size * 100 / events)) bytes for a hundred of them"
}

behaviour()
{
	if ! source=$("$root/scripts/fetch-source" lua5.4 2>fetch.err); then
		skip "bytes an event" "lua can't be fetched: $(tail -n 1 fetch.err)"
		return
	fi
	# shellcheck disable=SC2086
	ok "compiles" sh -c "find '$source/src' -name '*.c' ! -name luac.c | xargs -P 2 -n 6 \
		$triplet-gcc -std=gnu99 $machine_flags -O1 -DLUA_USE_LINUX '-Dluai_makeseed(L)=42u' -c" ||
		return
	cat >work.lua <<-'END'
		local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
		local words = {}
		for i = 1, 2000 do words[i] = string.format("w%05d", (i * 7919) % 2003) end
		table.sort(words)
		table.sort(words, function(a, b) return a > b end)
		local count = 0
		for word in (table.concat(words, " ")):gmatch("%a0%d+") do count = count + #word end
		print(fib(16), words[1], count)
	END
	# shellcheck disable=SC2046
	link lua $(printf "../%s " *.o) -lm -ldl || return
	run plain lua work.lua
	bytes 400 LITIFUT_CLOCK=none
	bytes 800 LITIFUT_CLOCK=mono
}

for_targets behaviour
