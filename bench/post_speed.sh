#!/bin/sh
# How fast litifut-post goes through a trace of a real program: lua on ARM with
# some 100 million calls, plain and in .zst, next to `zstd -d` of the same bytes
# and, where it is installed, to `uftrace report` over at least as many calls of
# the same program on this machine. CPU time counts, so that other work does not
# disturb; the last column is events a second beside those of `report`.
#
#   bench/post_speed.sh [ROUNDS]          default: 8, 100 million calls
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/lib.sh"

rounds=${1:-8}
work=$BUILD/bench/post_speed

# cpu NAME EVENTS COMMAND...: its processor time, and events a second
cpu()
{
	python3 - "$@" <<-'END'
		import os, resource, subprocess, sys, time
		name, events, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
		start = time.monotonic()
		subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
		wall = time.monotonic() - start
		used = resource.getrusage(resource.RUSAGE_CHILDREN)
		cpu = used.ru_utime + used.ru_stime
		speed = events / max(cpu, 0.001) / 1e6
		if "report_speed" in os.environ and float(os.environ["report_speed"]):
		    beside = speed / float(os.environ["report_speed"])
		else:
		    beside = 1
		    open("report_speed", "w").write("%f" % speed)
		print("%-34s %7.2f s CPU  %7.2f s wall  %8.1f M events/s  %6d MiB memory  %6.3f" %
		      (name, cpu, wall, speed, used.ru_maxrss / 1024, beside))
	END
}

mkdir -p "$work" && cd "$work" || exit 1
source=$("$root/scripts/fetch-source" lua5.4) || exit 1
cat >bench.lua <<'END'
for round = 1, tonumber(arg[1]) do
	local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
	local t, s, n = {}, {}, 0
	for i = 1, 20000 do t[i] = (i * 7919) % 10007 end
	table.sort(t)
	for i = 1, 60000 do s[#s + 1] = string.format("%d:%s", i, string.rep("x", i % 7)) end
	for w in table.concat(s, ","):gmatch("%d+") do n = n + #w end
	print(fib(24), t[100], n)
end
END

use_target armhf
if [ ! -x arm/src/lua ]; then
	rm -rf arm && cp -r "$source" arm
	"$BUILD/bin/litifut" build make -s -C arm/src CC="$triplet-gcc -std=gnu99" \
		AR="$triplet-ar rcu" RANLIB="$triplet-ranlib" MYCFLAGS=-DLUA_USE_LINUX \
		MYLIBS='-Wl,-E -ldl' lua >/dev/null || exit 1
fi
rm -rf data report_speed
unset report_speed
env -i LITIFUT_DIR="$work/data" "qemu-$cpu" -L "$sysroot" arm/src/lua bench.lua "$rounds" >/dev/null
trace=$(echo data/trace/*.trace)
zstd -qf -1 "$trace" -o lua.trace.zst
post="$BUILD/bin/litifut-post"
events=$("$post" -f report data arm/src/lua 2>&1 >/dev/null |
	awk '{ print $2; exit }')
echo "$events events, $(stat -c %s "$trace") bytes, $(stat -c %s lua.trace.zst) as .zst"
cpu "litifut-post -f report" "$events" "$post" -q -f report data arm/src/lua
report_speed=$(cat report_speed) && export report_speed
cpu "litifut-post -f report, .zst" "$events" "$post" -q -f report lua.trace.zst data/maps arm/src/lua
cpu "zstd -d of the same" "$events" zstd -dqc lua.trace.zst
cpu "litifut-post -f callgrind" "$events" "$post" -q -f callgrind data arm/src/lua
cpu "litifut-post -f tsv" "$events" "$post" -q -f tsv data arm/src/lua

command -v uftrace >/dev/null || {
	echo "uftrace is not installed: nothing to compare with"
	exit 0
}
if [ ! -x host/src/lua ]; then
	rm -rf host && cp -r "$source" host
	make -s -C host/src CC='cc -std=gnu99 -pg' MYCFLAGS=-DLUA_USE_LINUX \
		MYLIBS='-Wl,-E -ldl' lua >/dev/null || exit 1
fi
# uftrace_calls ROUNDS: how many calls it recorded
uftrace_calls()
{
	rm -rf uftrace.data
	uftrace record --no-libcall -b 64m -d uftrace.data host/src/lua bench.lua "$1" \
		>/dev/null 2>&1
	uftrace report -d uftrace.data | awk 'NR > 2 { n += $(NF - 1) } END { printf "%d", n }'
}
one=$(uftrace_calls 1)
calls=$(uftrace_calls $((events / one + 2)))
cpu "uftrace report ($calls calls)" "$calls" uftrace report -d uftrace.data
rm -rf uftrace.data
