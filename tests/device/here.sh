# What the scenario files call, for this machine: see init for the device. Uses
# what device.sh has set: host_folder, base, cpu, sysroot, BUILD.
# shellcheck shell=sh disable=SC2154

run()
{
	run_name=$1
	shift
	run_variables=
	while :; do
		case $1 in
		*=*) run_variables="$run_variables -E $1" ;;
		*) break ;;
		esac
		shift
	done
	run_program=$1
	shift
	run_options=
	[ "$host_folder" = plain ] ||
		run_options="-plugin $BUILD/tests/oracle.so,calls=$(pwd)/oracle.$run_name,through=$(pwd)/through"
	run_log=$(pwd)/$host_folder.$run_name
	# shellcheck disable=SC2086
	(cd "$base/tree/workload" && env -i timeout 600 "qemu-$cpu" -L "$sysroot" $run_options \
		-E LD_LIBRARY_PATH="$base/$host_folder/lib" -E LITIFUT_DIR="$run_log.data" \
		$run_variables "$base/$host_folder/bin/$run_program" "$@" \
		</dev/null >"$run_log.out" 2>"$run_log.err"
	echo $? >"$run_log.status")
	rm -rf "$run_log.data"
}

# What is always the same needs to be seen once.
repeat()
{
	shift
	run "$@"
}

legacy()
{
	"$@"
}

secure()
{
	:
}

files()
{
	:
}

without_proc()
{
	:
}

announce_copy()
{
	:
}
