#!/bin/sh
# The user's day on a whole emulated machine: build with tracing, run on the
# device, carry the stick to the host, read it there.
#
#   tests/device/device.sh arm|mips short|long
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

# Is everything there that a test needs from elsewhere? Says what is not.
prepare()
{
	for tool in "qemu-system-$cpu" mkfs.vfat mcopy cpio; do
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

# The run of the same name and commands on this machine: `run` for the scenario
# files, as on the device. FOLDER is plain or traced; the latter under the oracle.
run_here()
{
	host_name=$1
	host_program=$2
	shift 2
	host_options=
	[ "$host_folder" = plain ] || host_options="-plugin $BUILD/tests/oracle.so,calls=$(pwd)/oracle.$host_name,through=$(pwd)/through"
	host_start=$(pwd)
	# shellcheck disable=SC2086
	(cd "$base/tree/workload" && env -i timeout 300 "qemu-$cpu" -L "$sysroot" $host_options \
		-E LD_LIBRARY_PATH="$base/$host_folder/lib" -E LITIFUT_DIR="$host_start/data" \
		"$base/$host_folder/bin/$host_program" "$@" </dev/null \
		>"$host_start/$host_folder.$host_name.out" 2>"$host_start/$host_folder.$host_name.err"
	echo $? >"$host_start/$host_folder.$host_name.status")
	rm -rf data
}

# here SCENARIO FOLDER: all runs of a scenario, as run_here() does one.
here()
{
	host_folder=$2
	run()
	{
		run_here "$@"
	}
	# shellcheck disable=SC1090
	. "$here/workload/scenarios/$1"
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

# came_back SCENARIO NAME [counted]: a run's output is that of the plain program, its
# trace is read, and the counts are the oracle's.
came_back()
{
	stick=$1/stick/$2
	for what in out err status; do
		ok "$2: $what of the device is that of the plain program here" diff "$stick/$what" "plain.$2.$what"
	done
	ok "$2: litifut-post reads the stick" post "$2.tsv" tsv "$stick/trace" "$stick/maps" || return
	ok "$2: every event has a caller and a callee" python3 "$here/counts.py" unresolved "$2.tsv"
	[ "${3:-}" = counted ] || return 0
	# shellcheck disable=SC2046
	ok "$2: counts are those of the oracle here" sh -c "
		python3 '$here/counts.py' expect 'oracle.$2' $(elves | tr '\n' ' ') >'$2.counts' &&
		python3 '$here/counts.py' compare 1 '$2.counts' '$2.tsv' $(elves | tr '\n' ' ')"
}

short()
{
	ok "the device boots, runs and switches itself off" boot short || return
	ok "the stick was unmounted" grep -qa 'device: stick unmounted' short/console
	# shellcheck disable=SC2046
	python3 "$root/tests/oracle/oracle.py" ranges $(elves) >through
	here short plain
	here short traced
	came_back short lua
	came_back short orders counted
	came_back short stock counted
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
