#!/bin/sh
# The user's day on a whole emulated machine: build with tracing, run on the
# device, carry the stick to the host, read it there.
#
#   tests/device/device.sh arm|mips short|long|hostile
# shellcheck disable=SC2034,SC2154 # lib.sh sets and reads
. "$(dirname "$0")/../lib.sh"

here=$root/tests/device
cpu_name=$1
size=$2
case $cpu_name in
arm) TARGETS=armhf ;;
mips) TARGETS=mipsel ;;
esac
script=device-$size
base=$BUILD/device/$cpu_name
[ "$size" != hostile ] || {
	base=$base-hostile
	DEVICE_BASE=$base
	export DEVICE_BASE
}
# what the program `files` prints: for each number of calls n, n * (n + 1) / 2
# what is run of tests/hostile on the device, and the modes that it is linked in
HOSTILE_CASES=${HOSTILE_CASES:-clone vforks chain ptrace minidump leaks userfault notify uring secret setmm limits
	tight clocks noproc pivot grows unshare userspace samepid spawn spawnclosed execthread personality memfile chroot
	dumpable nproc mlock nofile fsize closerange closefrom closelist taken over freed nullcall inject fast tiny
	small static large overflow barrier deep nomem again holes atfork orphan title gone replaced daemon bomb stop
	preempt jump alternate alternates levels heapstack timer forksignal forkthreads forktimer stopworld cancel
	detached crowd crowds exitthread exitsignal destructors abort quick atonce exceptions
	samepointer ownpointer setpointer}
HOSTILE_MODES=${HOSTILE_MODES:-calls paths table}
export HOSTILE_CASES HOSTILE_MODES
all_steps=$(((100000 * 100001 + 300000 * 300001 + 100000 * 100001) / 2 % 4294967296))

# Is everything there that a test needs from elsewhere? Says what is not.
prepare()
{
	for tool in "qemu-system-$cpu" mkfs.vfat mkfs.ext4 mkfs.btrfs mkfs.f2fs mcopy cpio; do
		PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || {
			echo "no $tool here: scripts/install-dependencies devices"
			return 1
		}
	done
	case $cpu_name in
	arm) packages="armhf linux-image-armmp armhf busybox-static" ;;
	mips) packages="mipsel linux-image-4kc-malta mipsel busybox-static" ;;
	esac
	# shellcheck disable=SC2086
	set -- $packages
	while [ $# -gt 0 ]; do
		"$here/fetch-package" "$1" "$2" 2>&1 || return 1
		shift 2
	done
	[ "$size" != hostile ] || return 0
	for package in lua5.4 $([ "$size" = short ] || echo sqlite3 busybox); do
		"$root/scripts/fetch-source" "$package" 2>&1 || return 1
	done
}

build()
{
	"$here/build" "$cpu_name" "$size" || {
		tail -n 10 "$base/build.log"
		return 1
	}
	"$here/make-initramfs" "$cpu_name" >"$base/kernel"
}

# boot SCENARIO ...: the stick's files are in SCENARIO/stick afterwards.
boot()
{
	boot_folder=$(pwd)/$1
	mkdir -p "$1/stick"
	PATH=$PATH:/usr/sbin "$here/boot" "$cpu_name" "$1" "$boot_folder" ${2:+"$2"} ${3:+"$3"} || return
	mcopy -s -n -i "$1/stick.img" ::/ "$1/stick"
}

# The scenarios run here too, once each, under qemu-user: FOLDER is plain, or
# traced under the oracle.
here()
{
	host_folder=$2 # for here.sh
	# shellcheck disable=SC1090
	(. "$here/here.sh" && . "$here/workload/scenarios/$1")
}

# The traced files with their debug information.
elves()
{
	find "$base/traced/bin" "$base/traced/lib" -type f | sort
}

# post OUTPUT FORMAT PATH...: libraries that are not traced are found in the
# device's file system.
post()
{
	post_output=$1
	post_format=$2
	shift 2
	# shellcheck disable=SC2046
	"$BUILD/bin/litifut-post" --sysroot "$base/tree" -f "$post_format" -o "$post_output" "$@" $(elves)
}

repeated()
{
	times_left=$1
	while [ "$times_left" -gt 0 ]; do
		cat "$2"
		times_left=$((times_left - 1))
	done
}

# came_back SCENARIO NAME [counted [TIMES]]: a run's output is that of the plain
# program, its trace is read, and the counts are the oracle's.
came_back()
{
	stick=$1/stick/$2
	for what in out err status; do
		repeated "${4:-1}" "plain.$2.$what" >expected
		ok "$2: $what of the device is that of the plain program here" diff "$stick/$what" expected
	done
	ok "$2: litifut-post reads the stick" post "$2.tsv" tsv "$stick/trace" "$stick/maps" || return
	ok "$2: every event has a caller and a callee" python3 "$here/counts.py" unresolved "$2.tsv"
	[ "${3:-}" = counted ] || return 0
	# shellcheck disable=SC2046
	ok "$2: counts are those of the oracle here" sh -c "
		python3 '$here/counts.py' expect 'oracle.$2' $(elves | tr '\n' ' ') >'$2.counts' &&
		python3 '$here/counts.py' compare ${4:-1} '$2.counts' '$2.tsv' $(elves | tr '\n' ' ')"
}

# The scenario on the device, then here, plain and under the oracle.
everywhere()
{
	ok "$1: the device boots, runs and switches itself off" boot "$1" || return
	ok "$1: the stick was unmounted" grep -qa 'device: stick unmounted' "$1/console"
	head -n 1 "$1/stick/"*/err 2>/dev/null | grep -ai 'fault\|killed' | sed 's/^/# /' >&2
	# shellcheck disable=SC2046
	python3 "$root/tests/oracle/oracle.py" ranges $(elves) >through
	here "$1" plain
	here "$1" traced
}

short()
{
	everywhere short || return
	came_back short lua
	came_back short orders counted
	came_back short stock counted
	came_back short cycle counted
	came_back short large counted
	large
	ok "cycle: $([ "$cpu" = arm ] && echo "the CPU's counter" || echo "mono, for want of a counter")" \
		clock_was "$([ "$cpu" = arm ] && echo 2 || echo 1)"
	came_back short children
	children children
	came_back short children-db
	children children-db
	secure
	for program in confined confined-db; do
		for way in strict filter never; do
			confined "$program-$way"
		done
	done
	without_proc
	for system in tmpfs ext4 vfat btrfs f2fs jffs2 ubifs overlay nfs; do
		file_system $system
	done
	pulled
	nfs_server
}

# file_system NAME: the program survives that it gets full, by all ways into the file, and
# each call is recorded or counted.
file_system()
{
	for way in short/stick/files-"$1"/*.status; do
		way=$(basename "$way" .status)
		here_is=short/stick/files-$1/$way
		is "$1, $way: the program ends well" "$(cat "$here_is.status" "$here_is.out" "$here_is.err")" \
			"$(printf '0\n%s' "$all_steps")"
		"$BUILD/bin/litifut-post" --sysroot "$base/tree" -f tsv -o files.tsv "$here_is" \
			"$base/traced/bin/files" 2>files.err
		case $1-$way in
		*-ring)
			ok "$1, $way: its trace is read" grep -q step files.tsv
			continue
			;;
		btrfs-full | jffs2-full | ubifs-full)
			ok "$1, $way: what there was room for is read" grep -q step files.tsv
			# The header can't be written again, and it looks like that of a program that was
			# killed; unless the system has made room by what it compresses or collects.
			! grep -q 'still ran' files.err || continue
			;;
		esac
		recorded_steps=$(awk -F '\t' '$10 == "step"' files.tsv | wc -l)
		# where it stays full, the last chunk of those before has no room either
		least_steps=100000
		[ "$way" != full ] || least_steps=99000
		lost_steps=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' files.err)
		ok "$1, $way: $recorded_steps calls, $lost_steps lost" all_steps_known
	done
	is "$1: it is mapped only where room is room" \
		"$(($(od -A n -t u4 -j 44 -N 4 "short/stick/files-$1/unset/trace/"*.trace) & 8))" \
		"$(case $1 in tmpfs | ext4) echo 0 ;; *) echo 8 ;; esac)"
	is "$1: the ways that were tried" "$(find "short/stick/files-$1" -name '*.status' | wc -l)" \
		"$(case $1 in tmpfs | ext4) echo 4 ;; *) echo 3 ;; esac)"
}

# what main() and libc call is in it
all_steps_known()
{
	cat files.err
	[ $((recorded_steps + lost_steps)) -ge 500000 ] &&
		[ $((recorded_steps + lost_steps)) -le 530000 ] && [ "$recorded_steps" -ge "$least_steps" ]
}

# A trace on NFS that is removed on the server, and a server that goes, in the middle.
nfs_server()
{
	for way in removed gone; do
		is "NFS, $way: the program ends well" \
			"$(cat "short/stick/nfs/$way.status" "short/stick/nfs/$way.out" "short/stick/nfs/$way.err")" \
			"$(printf '0\n%s' "$all_steps")"
	done
}

# A stick that is pulled in the middle, and a program that finds none.
pulled()
{
	for way in unset write; do
		is "stick pulled, $way: the program ends well" \
			"$(cat "short/stick/pulled/$way.status" "short/stick/pulled/$way.out" "short/stick/pulled/$way.err")" \
			"$(printf '0\n%s' "$all_steps")"
	done
}

# confined NAME: the kernel has not ended it, and what could not be recorded was counted.
confined()
{
	came_back short "$1"
	recorded_steps=$(awk -F '\t' '$10 == "step"' "$1.tsv" | wc -l)
	lost_steps=$("$BUILD/bin/litifut-post" -f calls -o /dev/null "short/stick/$1" 2>&1 |
		sed -n 's/.* \([0-9]*\) lost.*/\1/p')
	ok "$1: $recorded_steps calls, $lost_steps lost" test "$((recorded_steps + lost_steps))" -ge 401000 \
		-a "$((recorded_steps + lost_steps))" -le 401100 -a "$recorded_steps" -gt 100000
}

without_proc()
{
	is "without /proc: it runs" "$(cat short/stick/without-proc/out)" "secure: 0 user: 0 0"
	post without-proc.tsv tsv short/stick/without-proc/trace # and says that there are no maps
	is "without /proc: every call" "$(awk -F '\t' '$10 == "step"' without-proc.tsv | wc -l)" 100
}

# Objects of several times a branch's reach, in a program and in a library, which stand
# in different regions of 256 MB: none of their calls may be left.
large()
{
	for each_file in bin/large lib/liblarge.so; do
		text=$("$triplet-objdump" -h "$base/traced/$each_file" | awk '$2 == ".text" { print $3 }')
		[ "$cpu" = arm ] || ok "large: $each_file has more than 256 KB of code" test $((0x$text)) -gt 262144
		is "large: no call of $each_file is left" "$("$BUILD/bin/litifut" info --skipped \
			"$base/traced/$each_file" | awk '/^0x/ && $5 != "not-a-call"')" ""
	done
	regions=$(cat short/stick/large/maps/* | awk '$2 ~ /x/ && $NF ~ /large/ { print substr($1, 1, 1) }')
	is "large: program and library are in the maps" "$(echo "$regions" | wc -l)" 2
	is "large: in two regions" "$(echo "$regions" | sort -u | wc -l)" 2
	is "large: events of both" "$(awk -F '\t' 'NR > 1 { print $4 }' large.tsv | sort -u | tr '\n' ' ')" \
		"large liblarge.so "
}

# children PROGRAM: each child has a trace of its own, in whose memory ever it runs.
children()
{
	counted_children=$(awk -F '\t' '$10 ~ /^in_/ { count[$10]++; if (!seen[$10, $1]++) processes[$10]++ }
		END { for (name in count) print name, count[name], processes[name] }' "$1.tsv" | sort)
	is "$1: calls, and processes that they are in" "$counted_children" "in_nested 5 5
in_parent 40020 1
in_raw_child 200 20
in_shared 200 20
in_vfork 220 20"
}

# clock_was NUMBER: the clock that the trace's header tells
clock_was()
{
	[ "$(od -A n -t u4 -j 40 -N 4 short/stick/cycle/trace/*.trace | tr -d ' ')" = "$1" ]
}

# Set-uid programs of root and of another user, started by nobody.
secure()
{
	is "set-uid programs ran as such" "$(cat short/stick/secure/out)" \
		"secure: 1 user: 65534 0
secure: 1 user: 65534 0
secure: 1 user: 65534 65533
secure: 1 user: 65534 65533"
	is "set-uid programs: no message of the tracer" "$(cat short/stick/secure/err)" ""
	is "set-uid programs: traces only where the link says" "$(cat short/stick/secure/traces)" \
		"baked: secure-baked of 0
baked: secure-baked of 65533"
	ok "set-uid programs: the traces are read" post secure.tsv tsv short/stick/secure/baked
	is "set-uid programs: every call" "$(awk -F '\t' '$10 == "step"' secure.tsv | wc -l)" 200
}

# deduplicated SCENARIO NAME PLAIN_COUNTS: each call at most once for a process,
# and all that the oracle saw.
deduplicated()
{
	# shellcheck disable=SC2046
	ok "$2: each call once, and none missing" sh -c "
		python3 '$here/counts.py' expect 'oracle.$2' $(elves | tr '\n' ' ') >'$2.counts' &&
		python3 '$here/counts.py' once '$2.counts' '$2.tsv' $(elves | tr '\n' ' ')"
}

# Two processes that ran at the same time, one library, one table.
together()
{
	both="long/stick/together-orders/trace long/stick/together-orders/maps
		long/stick/together-stock/trace long/stick/together-stock/maps"
	# shellcheck disable=SC2086
	ok "litifut-post reads two programs' traces at once" post together.tsv tsv $both || return
	cat together-orders.counts together-stock.counts >together.counts
	# shellcheck disable=SC2046
	ok "together: the counts are the sums" \
		python3 "$here/counts.py" compare 1 together.counts together.tsv $(elves)
	is "together: calls inside the library from both programs" \
		"$(awk -F '\t' '$4 == "libshapes.so" { print $1 }' together.tsv | sort -u | wc -l)" \
		"$(find long/stick/together-*/trace -name '*.trace' | while read -r trace; do
			number=${trace%.trace}
			number=${number##*.}
			awk -F '\t' -v pid="$number" '$4 == "libshapes.so" && $1 == pid' together.tsv | head -n 1
		done | wc -l)"
	# shellcheck disable=SC2086
	ok "together: the report has one line for the shared function" \
		post together.report report $both
	sed 's/^/# /' together.report | head -n 8
}

# How many different places the shared library was loaded at.
bases()
{
	cat "$@" | sed -n 's/^\([0-9a-f]*\)-.* r-xp .*libshapes\.so$/\1/p' | sort -u | wc -l
}

# Fifty starts at other addresses: each is traced as the oracle's, or honestly not.
starts()
{
	everywhere starts || return
	for run_and_times in stock:15 legacy:10 fixed:10 fixed-legacy:5 orders:5 sqlite:5; do
		times=${run_and_times#*:}
		name=starts-${run_and_times%:*}
		case $name in
		*sqlite | *orders) came_back starts "$name" counted "$times" ;;
		*)
			came_back starts "$name" '' "$times"
			# shellcheck disable=SC2046
			ok "$name: each start is traced whole, or honestly untraced" sh -c "
				python3 '$here/counts.py' expect 'oracle.$name' $(elves | tr '\n' ' ') >'$name.counts' &&
				python3 '$here/counts.py' starts $times '$name.counts' '$name.tsv' $(elves | tr '\n' ' ')"
			;;
		esac
	done
	count=$(bases starts/stick/starts-stock/maps/*)
	ok "the library was at many places ($count of 15 starts)" [ "$count" -ge 5 ]
	grep -h 'r-xp.*/workload/' starts/stick/*/maps/* |
		sed 's/^\(..\).*\/\([^/]*\)$/\2 at \1xxxxxx/' | sort | uniq -c | sort -rn | sed 's/^/# /'
}

# The power goes in the middle of a copy. What had been copied is whole; the rest
# is named, and read as far as it goes.
power()
{
	ok "power: the device loses power while it copies" boot power --cut 'device: copying' || return
	elves_power=$(elves | tr '\n' ' ')
	# shellcheck disable=SC2086
	python3 "$root/tests/oracle/oracle.py" ranges $elves_power >through
	for name in whole-stock whole-orders; do
		ok "$name: copied before, so it is whole under its name" whole "power/stick/$name"
		ok "$name: litifut-post reads it" post "$name.tsv" tsv \
			"power/stick/$name/trace" "power/stick/$name/maps"
	done
	here power plain
	here power traced
	for name in whole-stock whole-orders; do
		# shellcheck disable=SC2046,SC2086
		ok "$name: counts are those of the oracle here" sh -c "
			python3 '$here/counts.py' expect 'oracle.$name' $elves_power >'$name.counts' &&
			python3 '$here/counts.py' compare 1 '$name.counts' '$name.tsv' $elves_power"
	done
	ok "cut: no file claims to be the whole trace" \
		sh -c '! find power/stick/cut -name "*.trace" | grep .'
	# shellcheck disable=SC2086
	"$BUILD/bin/litifut-post" -f report -o cut.report power/stick $elves_power >cut.log 2>&1
	status=$?
	sed 's/^/# /' cut.log | head -n 6
	ok "cut: litifut-post names what is not whole" grep -q 'cut.*tmp' cut.log
	is "cut: and says so in its exit status" "$status" 1
}

whole()
{
	[ -n "$(find "$1/trace" -name '*.trace' -size +0)" ] &&
		[ -n "$(find "$1/maps" -name '*.maps' -size +0)" ] &&
		[ -z "$(find "$1" -name '*.tmp')" ]
}

# SQLite is one object, several times larger than what a MIPS branch reaches.
whole_library()
{
	library=$base/traced/lib/libsqlite3.so.0
	text=$("$triplet-objdump" -h "$library" | awk '$2 == ".text" { print $3 }')
	ok "libsqlite3: one object of more than 512 KB" test $((0x$text)) -gt 524288
	is "libsqlite3: no call of it is left" "$("$BUILD/bin/litifut" info --skipped "$library" |
		awk '/^0x/ && $5 != "not-a-call"')" ""
}

long()
{
	whole_library
	everywhere long || return
	came_back long lua
	came_back long lua-timed
	came_back long orders counted
	came_back long stock-fixed counted
	came_back long sqlite counted
	came_back long busybox
	came_back long dedup
	deduplicated long dedup
	came_back long dedup-busybox
	came_back long together-orders counted
	came_back long together-stock counted
	together
	starts
	power
}

# The hostile program (tests/hostile) on a real kernel: it prints and returns the same in each mode, and
# its traces can be read. Cases that the emulator of programs can't run are what this is for.
#
#   HOSTILE_MODES="calls" HOSTILE_CASES="leaks clone" tests/device/device.sh mips hostile
hostile()
{
	BOOT_SECONDS=${BOOT_SECONDS:-3000}
	export BOOT_SECONDS
	ok "hostile: the device boots, runs and switches itself off" boot hostile || return
	for hostile_case in $HOSTILE_CASES; do
		hostile_folder=hostile/stick/hostile/$hostile_case
		if [ "$(cat "$hostile_folder/plain.status")" -ge 124 ]; then
			case $hostile_case in abort | stop) ;; *)
				skip "$hostile_case: as untraced" "untraced it dies"
				continue
				;;
			esac
		fi
		for mode in $HOSTILE_MODES; do
			ok "$hostile_case, $mode: as untraced" hostile_same "$mode"
			[ -f "$hostile_folder/$mode.tar.gz" ] || continue
			ok "$hostile_case, $mode: its traces are read" hostile_read "$mode"
		done
	done
}

hostile_same()
{
	for what in status out err; do
		# the dynamic linker names the program
		sed "s,^/hostile/$1/,/hostile/plain/," "$hostile_folder/$1.$what" |
			diff "$hostile_folder/plain.$what" - || return
	done
}

hostile_read()
{
	rm -rf data
	mkdir data
	tar -C data -x -z -f "$hostile_folder/$1.tar.gz" || return
	"$BUILD/bin/litifut-post" -q --sysroot "$base/tree" -f report -o report.txt \
		data "$base/hostile/$1/hostile" 2>post.err && return
	status=$?
	cat post.err
	[ $status = 1 ]
}

day()
{
	if ! prepared=$(prepare); then
		if [ -n "${DEVICE_REQUIRED:-}" ]; then
			ok "what the device needs is here: $(echo "$prepared" | tail -n 1)" false
		else
			skip "the day on the device" "$(echo "$prepared" | tail -n 1)"
		fi
		return
	fi
	ok "the workload builds" build || return
	"$size"
}

for_targets day
