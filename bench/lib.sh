# Sourced by the scripts of the tables: workloads, the ways to build them, and
# how a run is measured. All counts are executed guest instructions, exact and the
# same on every machine.
#
#   use_target armhf; use_workload lua
#   measure plain none && echo "$instructions"
#   measure db all && echo "$instructions $events $trace_bytes"
#
# Ways: plain; db, thunk (LITIFUT with that engine; only the link is done again); counters, spans, table,
# paths, coverage (LITIFUT with that mode); gcov (gcc --coverage);
# clang (plain, by that compiler); guard_flags, guard_trace (clang's edges with bench/edges.c);
# source (-finstrument-functions with bench/recorder.c); uftrace (the same
# without it); counts (gcc -pg); xray (clang's sleds). BENCH_TARGETS and
# BENCH_WORKLOADS take the place of the usual ones.
# The scripts that source this use its variables, and words of flags are split.
# shellcheck shell=sh disable=SC2034,SC2154,SC2086
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=../tests/lib.sh
. "$root/tests/lib.sh"

work=${BENCH_WORK:-$BUILD/bench/work}
trees=$BUILD/bench/trees
inputs=$BUILD/bench/inputs
oracle=$BUILD/tests/oracle.so
post=$BUILD/bin/litifut-post
bench_targets=${BENCH_TARGETS:-armhf mipsel}
bench_workloads=${BENCH_WORKLOADS:-bz2 postmark git}
compound=$(echo "$bench_workloads" | awk '{ print $NF }')
export LINKAGE=pie # of the recipes in tests/programs
mkdir -p "$work" "$trees" "$inputs"

say()
{
	echo "$(basename "$0" .sh): $*" >&2
}

# What a workload is called in the tables.
title()
{
	case $1 in
	bz2) echo "bz2 (CPU-bound)" ;;
	postmark) echo "postmark (I/O-bound)" ;;
	"$compound") echo "$1 (compound)" ;;
	*) echo "$1" ;;
	esac
}

target_title()
{
	case $1 in
	armhf) echo "ARM, T32" ;;
	armhf-arm) echo "ARM, A32" ;;
	armel) echo "ARM, ARMv5TE" ;;
	mipsel) echo "MIPS" ;;
	mips) echo "MIPS, big endian" ;;
	esac
}

# Any text compresses alike on all machines: numbers, and their squares.
make_text()
{
	awk -v bytes="${BENCH_BYTES:-1000000}" 'BEGIN {
		for (i = 1; done < bytes; i++) {
			line = i " " i * i % 65537 " " (i * 7919) % 104729
			print line
			done += length(line) + 1
		}
	}' >"$inputs/text"
}

# The benchmark of an interpreter: calls, tables, strings, closures.
make_script()
{
	cat >"$inputs/work.lua" <<-'END'
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

make_query()
{
	cat >"$inputs/work.sql" <<-'END'
		create table words(id integer primary key, word text, size int);
		create index by_size on words(size, word);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
		insert into words select i, printf('word%04d', (i * 7919) % 10007), i % 17 from n;
		select count(*), sum(size), min(word), max(word) from words;
		select a.word, b.word from words a join words b on a.size = b.size and a.id < b.id
			where a.word like 'word01%' order by 1, 2 limit 5;
		update words set size = size + 1 where id % 3 = 0;
		delete from words where word glob '*9';
		select size, count(*) from words group by size order by 2 desc, 1 limit 5;
		pragma integrity_check;
	END
}

make_transactions()
{
	rm -rf "$work/files"
	mkdir -p "$work/files"
	cat >"$work/postmark" <<-END
		set seed 42
		set location $work/files
		set number 300
		set transactions 3000
		set size 500 10000
		set buffering false
		run
		quit
	END
}

# A history to show: three dozen changes of a text, the same on all machines.
make_repository()
{
	[ -d "$inputs/repository" ] && return
	rm -rf "$inputs/repository.new"
	git init -q "$inputs/repository.new"
	for change in $(seq 36); do
		awk -v change="$change" 'BEGIN {
			for (i = 1; i <= 400; i++)
				print i, (i * 7919 + (i % 36 == change ? change : 0)) % 10007, "line of the text"
		}' >"$inputs/repository.new/text"
		cp "$inputs/repository.new/text" "$inputs/repository.new/text$((change % 5))"
		git -C "$inputs/repository.new" add .
		GIT_AUTHOR_DATE="10000000$((change + 10)) +0000" \
			GIT_COMMITTER_DATE="10000000$((change + 10)) +0000" \
			git -C "$inputs/repository.new" -c user.name=A -c user.email=a@example.org \
			commit -q -m "change $change"
	done
	mv "$inputs/repository.new" "$inputs/repository"
}

# use_workload NAME: its recipe (as in tests/programs/run.sh), `program`,
# `arguments` and `standard_input`.
use_workload()
{
	workload=$1 arguments='' standard_input=/dev/null library_path=''
	recipe=$root/tests/programs/$workload.recipe
	[ -f "$recipe" ] || recipe=$root/bench/workloads/$workload.recipe
	# shellcheck disable=SC1090
	. "$recipe"
	program=${modules%% *}
	case $workload in
	lua) make_script && arguments=$inputs/work.lua ;;
	bzip2) make_text && arguments="-9 -c" standard_input=$inputs/text ;;
	sqlite3) make_query && arguments=":memory:" standard_input=$inputs/work.sql ;;
	git) make_repository && arguments="-C $inputs/repository log -p --stat" ;;
	postmark) make_transactions && arguments=$work/postmark ;;
	esac
	tree=$trees/$target/$workload
}

# The engines that the wrapper accepts: it falls back to another one with a
# warning, so what counts is what a file says of itself.
engines()
{
	if [ ! -f "$work/engines" ]; then
		echo 'int main(void) { return 0; }' >"$work/empty.c"
		for engine in db thunk; do
			LITIFUT_ENGINE=$engine "$BUILD/bin/litifut" build arm-linux-gnueabihf-gcc \
				-o "$work/empty" "$work/empty.c" 2>/dev/null || continue
			"$BUILD/bin/litifut" info "$work/empty" | grep -q "engine *$engine\$" &&
				echo $engine
		done >"$work/engines"
	fi
	cat "$work/engines"
}

# A folder whose TRIPLET-gcc is clang with XRay's sleds in every function.
xray_compiler()
{
	runtime=$("$root/tests/device/fetch-package" armhf libclang-rt-14-dev) || return
	mkdir -p "$work/xray"
	cat >"$work/xray/$triplet-gcc" <<-END
		#!/bin/sh
		libraries=
		case " \$* " in
		*" -c "* | *" -E "* | *" -S "* | *" -shared "*) ;;
		*) libraries="-Wl,--whole-archive $(find "$runtime" -name libclang_rt.xray-armhf.a) \\
			$(find "$runtime" -name libclang_rt.xray-fdr-armhf.a) -Wl,--no-whole-archive \\
			-lstdc++ -lpthread -ldl -lrt -lm" ;;
		esac
		exec clang --target=$triplet -marm -fxray-instrument -fxray-instruction-threshold=1 \\
			-fnoxray-link-deps -Wno-unused-command-line-argument "\$@" \$libraries
	END
	chmod +x "$work/xray/$triplet-gcc"
}

# A folder whose TRIPLET-gcc is clang, with these options behind it.
clang_compiler()
{
	mkdir -p "$work/clang"
	cat >"$work/clang/$triplet-gcc" <<-END
		#!/bin/sh
		exec clang --target=$triplet -Wno-unused-command-line-argument $* "\$@"
	END
	chmod +x "$work/clang/$triplet-gcc"
}

# build_way WAY: $tree/WAY, unless it is there. Built in $tree/here, because some
# makefiles compile anew what has moved.
build_way()
{
	way=$1
	[ -f "$tree/$way.built" ] && return
	source_folder=$("$root/scripts/fetch-source" "$package") || return
	rm -rf "${tree:?}/$way" "$tree/here" && mkdir -p "$tree"
	way_flags=$machine_flags way_path=$PATH front=
	say "building $workload for $target: $way"
	case $way in
	db | thunk | counters | spans | table | paths | coverage)
		build_way plain || return
		way=$1
		cp -a "$tree/plain" "$tree/here"
		# shellcheck disable=SC2154,SC2086
		(cd "$tree/here" && rm -f $outputs)
		case $way in
		db | thunk) front="env LITIFUT_ENGINE=$way" ;;
		counters) front="env LITIFUT_MODE=counts" ;;
		spans | table) front="env LITIFUT_MODE=$way LITIFUT_CLOCK=page" ;;
		*) front="env LITIFUT_MODE=$way" ;;
		esac
		front="$front $BUILD/bin/litifut build"
		;;
	gcov) way_flags="$machine_flags --coverage" ;;
	clang)
		clang_compiler
		way_path=$work/clang:$PATH
		;;
	guard_flags | guard_trace)
		"$triplet-gcc" $machine_flags -O2 -fPIC -ftls-model=initial-exec "-D$way" -c \
			-o "$work/edges.$target.o" "$root/bench/edges.c" || return
		clang_compiler -fsanitize-coverage=trace-pc-guard -fno-sanitize-link-runtime "-Wl,$work/edges.$target.o"
		way_path=$work/clang:$PATH
		;;
	source)
		"$triplet-gcc" $machine_flags -O2 -fPIC -ftls-model=initial-exec -c -o "$work/recorder.$target.o" \
			"$root/bench/recorder.c" || return
		way_flags="$machine_flags -finstrument-functions -Wl,$work/recorder.$target.o"
		;;
	uftrace) way_flags="$machine_flags -finstrument-functions" ;;
	counts) way_flags="$machine_flags -pg" ;;
	xray)
		xray_compiler || return
		way_path=$work/xray:$PATH
		;;
	esac
	[ -d "$tree/here" ] || cp -a "$source_folder" "$tree/here"
	(
		cd "$tree/here" || exit 1
		machine_flags=$way_flags PATH=$way_path
		export triplet machine_flags root PATH
		$front sh -euc ". '$recipe'; build"
	) >"$tree/$way.log" 2>&1 || {
		say "$workload for $target ($way) does not build, see $tree/$way.log"
		return 1
	}
	mv "$tree/here" "$tree/$way" && touch "$tree/$way.built"
}

# What a way needs in its environment to record in a MODE, and where that goes.
# Modes: all (every call), raw (the same, no chunk made compact), compact (all of
# them), time, dedup
# (each call once), nobulk; none of them for a way that does not record.
mode_environment()
{
	case $1.$2 in
	db.* | thunk.* | counters.*) echo "LITIFUT_DIR=$work/data LITIFUT_CLOCK=none" ;;
	spans.* | table.*) echo "LITIFUT_DIR=$work/data LITIFUT_CLOCK=page" ;;
	paths.* | coverage.*) echo "LITIFUT_DIR=$work/data" ;;
	gcov.*) echo "GCOV_PREFIX=$work/data/trace GCOV_PREFIX_STRIP=99" ;;
	source.* | guard_*) echo "BENCH_TRACE=$work/data/trace/source" ;;
	uftrace.*) echo "UFTRACE_DIR=$work/data UFTRACE_BUFFER=4194304" ;;
	counts.*) echo "GMON_OUT_PREFIX=$work/data/gmon" ;;
	xray.*) echo "XRAY_OPTIONS=patch_premain=true:xray_mode=xray-fdr:xray_logfile_base=$work/data/xray" ;;
	esac
	case $2 in
	time) echo "LITIFUT_CLOCK=mono" ;;
	dedup) echo "LITIFUT_DEDUP=1" ;;
	nobulk) echo "LITIFUT_BULK_KB=0" ;;
	raw) echo "LITIFUT_COMPACT=0" ;;
	compact) echo "LITIFUT_COMPACT=1" ;;
	esac
}

# run_way WAY MODE: runs it in its tree; what it prints goes to $work/WAY.out.
# `runner` goes before qemu, `qemu_options` behind it.
run_way()
{
	[ "$workload" = postmark ] && make_transactions
	rm -rf "$work/data"
	mkdir -p "$work/data/trace"
	preload=
	[ "$1" = uftrace ] && preload="-E LD_PRELOAD=$BENCH_LIBMCOUNT"
	# shellcheck disable=SC2086,SC2046,SC2154
	(cd "$tree/$1" && ${runner:-} env -i $(mode_environment "$1" "$2") timeout 1800 "qemu-$cpu" \
		-L "$sysroot" $qemu_options -E LD_LIBRARY_PATH="$tree/$1/$library_path" $preload \
		"./$program" $arguments) <"$standard_input" >"$work/$1.out" 2>"$work/$1.err"
	run_status=$?
	# what uftrace left has not been read in shared memory
	for each_session in "$work"/data/sid-*.map; do
		each_session=${each_session##*/sid-}
		rm -f "/dev/shm/uftrace-${each_session%.map}"-*
	done
	return $run_status
}

# Does it print the same as the plain run? Times and rates are left out.
same_output()
{
	sed "/second/d; s/(.*//; s|$work||g" "$work/$1.out" >"$work/printed"
	[ "$1" != plain ] || cp "$work/printed" "$tree/plain.printed"
	cmp -s "$work/printed" "$tree/plain.printed"
}

# How many calls the run has recorded.
count_events()
{
	case $1 in
	db | thunk | counters | spans | table)
		# counters and tables are known by the file
		case $1 in counters | table) with_files=$tree/$1 ;; *) with_files= ;; esac
		"$post" --no-maps-paths -f report "$work/data" ${with_files:-} 2>&1 >/dev/null |
			sed -n 's/^litifut-post: \([0-9]*\) calls.*/\1/p'
		;;
	source) echo $(($(cat "$work"/data/trace/* | wc -c) / 8)) ;;
	*) echo 0 ;;
	esac
}

# measure WAY MODE: sets `instructions` (executed), `events` and `trace_bytes`,
# from an earlier script where that has measured the same.
measure()
{
	if [ ! -f "$oracle" ]; then
		say "there is no $oracle, which counts the instructions: make oracle"
		exit 1
	fi
	measured=$tree/$1.$2.measured
	if [ ! -f "$measured" ]; then
		build_way "$1" || return
		rm -f "$work/counted" "$work"/counted.*
		qemu_options="-plugin $oracle,count=$work/counted"
		case $1 in spans | table) qemu_options=$qemu_options,clock=1 ;; esac
		run_way "$1" "$2"
		measure_status=$?
		qemu_options=
		if [ ! -s "$work/counted" ] || [ $measure_status -ge 124 ] || ! same_output "$1"; then
			say "$workload for $target ($1) ends with $measure_status or prints something else"
			return 1
		fi
		echo "$(cut -d ' ' -f 1 "$work/counted") $(count_events "$1")" \
			"$(cat "$work"/data/trace/* 2>/dev/null | wc -c)" >"$measured"
	fi
	read -r instructions events trace_bytes <"$measured"
}

# seconds WAY MODE: processor time of the fastest of three runs without the plugin
seconds()
{
	if [ -f "$tree/$1.$2.seconds.measured" ]; then
		cat "$tree/$1.$2.seconds.measured"
		return
	fi
	cat >"$work/timer.py" <<-'END'
		import resource, subprocess, sys
		status = subprocess.run(sys.argv[2:]).returncode
		used = resource.getrusage(resource.RUSAGE_CHILDREN)
		open(sys.argv[1], "w").write("%.3f\n" % (used.ru_utime + used.ru_stime))
		sys.exit(status)
	END
	build_way "$1" || return
	for round in 1 2 3; do
		runner="python3 $work/timer.py $work/seconds.$round"
		run_way "$1" "$2"
		runner=
	done
	sort -n "$work"/seconds.[123] | head -n 1 | tee "$tree/$1.$2.seconds.measured"
}

# Bytes that the program takes in memory when it is loaded.
loaded_bytes()
{
	loaded=0
	for each_size in $(readelf -lW "$1" | awk '$1 == "LOAD" { print $6 }'); do
		loaded=$((loaded + each_size))
	done
	echo $loaded
}

# ratio A B [DIGITS]
ratio()
{
	awk -v a="$1" -v b="$2" -v digits="${3:-2}" 'BEGIN {
		if (b + 0 == 0) print "-"; else printf("%.*f\n", digits, a / b) }'
}

# per_call TRACED PLAIN CALLS: instructions that a call costs
per_call()
{
	awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { printf("%.1f\n", (a - b) / n) }'
}
