#!/bin/sh
# A program that does what few programs do (tests/hostile/): it prints and returns the same in each mode,
# its traces can be read, and the calls that it makes are those that the oracle saw.
#
#   CASES="again jump" MODES="calls table" LINKS="-flto" tests/e2e/recorder-hostile.sh
#   LONG=1                                     all of them, on all targets, linked in several ways
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# What depends on time, makes no end that is recorded, or is killed is not compared by its calls, nor are
# threads with the same id (sameid), which have one file of the oracle.
counted="deep small static mlock mprotect msync again holes alternates nest forksignal routines migrate keys
	jumpend bomb daemon closefrom closelist taken closed clone"
others="nomem sameid alternate jump preempt timer ignored stop cancel mainexit spawn vforks memfile nproc dumpable chroot
	ptrace nofile fsize exit abort quick atonce"
if [ -n "${LONG:-}" ]; then
	CASES=${CASES:-$counted $others}
	MODES=${MODES:-calls spans table counts paths coverage}
	LINKS=${LINKS:-shared -static -static-pie -flto}
else
	CASES=${CASES:-again migrate memfile}
	MODES=${MODES:-calls paths}
	LINKS=${LINKS:-shared}
fi

# start FOLDER CASE: keeps what it prints, without the emulator's words about a core file
start()
{
	rm -rf jail
	set -- "$1" "$2" "$2"
	case $2 in
	spawn | vforks) set -- "$1" "$2" spawned ;;
	memfile) set -- "$1" "$2" keys ;;
	esac
	launcher="env"
	[ "$2" != sameid ] || [ -z "$namespaces" ] || launcher="unshare -p -f --mount-proc"
	# shellcheck disable=SC2086
	env -i LITIFUT_MAX_MB=32 ${settings:-} LITIFUT_DIR="$(pwd)/data" $launcher \
		timeout 60 "$emulator" -L "$sysroot" $qemu_options "$1/hostile" "$2" \
		"$emulator" -L "$sysroot" "$1/hostile" "$3" <"/dev/null" >"$1.out" 2>"$1.err.all"
	echo $? >"$1.status"
	grep -v 'core dumped' "$1.err.all" >"$1.err"
}

# dies_plain CASE: the emulator or the case does not work on this target, so that nothing is compared
dies_plain()
{
	[ "$1" != abort ] && [ "$(cat plain.status)" -ge 124 ]
}

same_as_plain()
{
	for what in status out err; do
		diff "plain.$what" "$1.$what" || return
	done
	"$BUILD/bin/litifut-post" -q -f report -o report.txt data "$1/hostile" 2>post.err
	[ $? -le 1 ] || {
		cat post.err
		return 1
	}
}

# The same run under the oracle, which must have seen as many calls of each site as were counted.
counted_right()
{
	rm -rf data oracle.*
	python3 "$root/tests/oracle/oracle.py" ranges counts/hostile >oracle.through
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=$(pwd)/oracle,through=$(pwd)/oracle.through"
	start counts "$1"
	qemu_options=
	"$BUILD/bin/litifut-post" -q -f csv -o counts.csv data counts/hostile 2>post.err ||
		[ $? = 1 ] || return
	python3 "$root/tests/oracle/counts.py" oracle counts.csv counts/hostile
}

one_mode()
{
	rm -rf traced
	LITIFUT_MODE=$1
	export LITIFUT_MODE
	link hostile "$(pwd)"/*.o
	linked=$?
	unset LITIFUT_MODE
	[ "$linked" = 0 ] || return
	rm -rf "$1"
	mv traced "$1"
	for each in $CASES; do
		rm -rf data
		start plain "$each"
		rm -rf data
		if dies_plain "$each"; then
			skip "$each, $1$way: as untraced" "untraced it dies"
			continue
		fi
		start "$1" "$each"
		ok "$each, $1$way: as untraced" same_as_plain "$1"
		[ "$1" = counts ] || continue
		# shellcheck disable=SC2086,SC2116
		case " $(echo $counted) " in
		*" $each "*) ok "$each, $1$way: the calls of the oracle" counted_right "$each" ;;
		esac
	done
}

behaviour()
{
	emulator=$(command -v "qemu-$cpu")
	namespaces=
	! unshare -p -f --mount-proc sh -c 'echo 700 >/proc/sys/kernel/ns_last_pid' 2>/dev/null || namespaces=yes
	for link in $LINKS; do
		[ "$link" != shared ] || link=
		way=${link:+, $link}
		flags="$link -pthread"
		for file in "$root"/tests/hostile/*.c; do
			compiler -I"$root/tests/hostile" -c "$file" || return
		done
		flags="$flags -lrt"
		for mode in $MODES; do
			case $target-$mode in
			armel-spans | armel-table | armel-counts | armel-paths | armel-coverage) continue ;;
			esac
			one_mode "$mode"
		done
	done
}

for_targets behaviour
