#!/bin/sh
# The same work traced by others: executed instructions for each call that
# LITIFUT (for -finstrument-functions: that tool itself) has recorded, and over
# the whole run. callgrind runs on this machine, in a program built for it, so
# that only its ratio of time compares. uftrace is not packaged for ARM:
# BENCH_LIBMCOUNT=FILE names a libmcount.so that was built for it.
. "$(dirname "$0")/lib.sh"

label()
{
	case $1 in
	db | thunk) echo "LITIFUT, $1: each call" ;;
	source) echo "-finstrument-functions, equal recorder: each entry" ;;
	counts) echo "gcc -pg: counts" ;;
	uftrace) echo "uftrace: entry, exit, time" ;;
	xray) echo "LLVM XRay, fdr: entry, exit, time" ;;
	esac
}

row()
{
	if measure "$1" all; then
		# those who can't say how many calls they saw are asked about the same functions as source
		[ "$events" -gt 0 ] || events=$source_events
		echo "| $each | $(target_title "$name") | $(label "$1") |" \
			"$(per_call "$instructions" "$plain" "$events") | $(ratio "$instructions" "$plain") |"
	else
		echo "| $each | $(target_title "$name") | $(label "$1") | does not run | |"
	fi
}

# callgrind on this machine, where the same program runs
callgrind_row()
{
	command -v valgrind >/dev/null || return
	use_target_host
	use_workload "$each"
	build_way plain || return
	untraced=$(host_seconds) traced=$(host_seconds valgrind -q --tool=callgrind \
		--callgrind-out-file=/dev/null)
	echo "| $each | x86-64 | callgrind, time | - | $(ratio "$traced" "$untraced" 1) |"
}

use_target_host()
{
	target=host triplet=x86_64-linux-gnu machine_flags=
}

host_seconds()
{
	cat >"$work/host_timer.py" <<-'END'
		import resource, subprocess, sys
		subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		used = resource.getrusage(resource.RUSAGE_CHILDREN)
		print("%.3f" % (used.ru_utime + used.ru_stime))
	END
	# shellcheck disable=SC2086
	(cd "$tree/plain" && python3 "$work/host_timer.py" "$@" "./$program" $arguments) \
		<"$standard_input"
}

echo "| program | CPU | tool | instructions a call | whole run |"
echo "|---|---|---|---:|---:|"
for each in ${BENCH_PROGRAMS:-lua bzip2}; do
	for name in armhf armhf-arm mipsel; do
		use_target "$name"
		use_workload "$each"
		measure plain none || continue
		plain=$instructions
		measure source all || continue
		source_events=$events
		for tool in $(engines) source counts; do
			row "$tool"
		done
		[ "$name" != mipsel ] && [ -f "${BENCH_LIBMCOUNT:-}" ] && row uftrace
		# no sleds for Thumb, and those for MIPS crash
		[ "$name" = armhf-arm ] && command -v clang >/dev/null && row xray
	done
	callgrind_row
done
