#!/bin/sh
# A program that does what few programs do (tests/hostile/): it prints and returns the same in each mode,
# its traces can be read, and the calls that it makes are those that the oracle saw.
#
#   CASES="again jump" MODES="calls table" LINKS="-flto" WITH="FILE=write RING_KB=64,DEDUP=1" \
#           tests/e2e/recorder-hostile.sh
#
# The words of WITH are settings of the recorder, without LITIFUT_ before them; `nothing` is none.
#   LONG=1                                     all of them, on all targets, linked in several ways
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# What depends on time, makes no end that is recorded, or is killed is not compared by its calls, nor are
# threads with the same id (sameid), which have one file of the oracle.
counted="deep small static mlock mprotect msync again holes alternates nest forksignal routines migrate keys
	jumpend bomb daemon closefrom closelist taken closed clone overflow large fixed levels heapstack loader
	freed inject fast tiny atfork title closerange userspace setmm minidump samepointer
	ownpointer setpointer"
others="nomem sameid alternate jump preempt timer ignored stop cancel mainexit spawn vforks memfile nproc dumpable chroot
	ptrace nofile fsize exit abort quick atonce forkthreads forktimer stopworld exceptions throwing locals uncaught
	sequence crowd detached destructors exitthread exitsignal chain unshare preload preloadother barrier over
	nullcall limits userfault notify leaks uring secret tight noproc pivot grows spawnclosed execthread personality samepid gone
	replaced orphan crowds"
# of a program that is not static
libraries="reopen reopensignals many spaces librarykeys openatend"
if [ -n "${LONG:-}" ]; then
	CASES=${CASES:-$counted $others $libraries}
	MODES=${MODES:-calls spans table counts paths coverage}
	LINKS=${LINKS:-shared -static -static-pie -flto -no-pie}
else
	CASES=${CASES:-again migrate memfile ownpointer reopen}
	MODES=${MODES:-calls paths}
	LINKS=${LINKS:-shared}
fi
WITH=${WITH:-nothing}

# start FOLDER CASE: keeps what it prints, without the emulator's words about a core file
start()
{
	rm -rf jail
	set -- "$1" "$2" "$2"
	preload='' loader='' seconds=300
	case $2 in
	spawn | vforks | spawnclosed | execthread | personality | tight | noproc) set -- "$1" "$2" spawned ;;
	memfile) set -- "$1" "$2" keys ;;
	preload) preload="-E LD_PRELOAD=$(pwd)/$1/libhostile.so" && set -- "$1" bomb bomb ;;
	preloadother) preload="-E LD_PRELOAD=$(pwd)/plain/libhostile.so" && set -- "$1" bomb bomb ;;
	loader) loader=$(echo "$sysroot"/lib/ld*.so.[0-9]) && set -- "$1" deep deep ;;
	esac
	launcher="env"
	[ "$2" != sameid ] || [ -z "$namespaces" ] || launcher="unshare -p -f --mount-proc"
	# shellcheck disable=SC2086
	env -i LITIFUT_MAX_MB=32 ${settings:-} LITIFUT_DIR="$(pwd)/data" $launcher \
		timeout $seconds "$emulator" -L "$sysroot" $qemu_options $preload $loader "$1/hostile" "$2" \
		"$emulator" -L "$sysroot" "$1/hostile" "$3" <"/dev/null" >"$1.out" 2>"$1.err.all"
	echo $? >"$1.status"
	grep -v 'core dumped' "$1.err.all" >"$1.err"
}

# dies_plain CASE: the emulator or the case does not work on this target, so that nothing is compared
dies_plain()
{
	[ "$1" != abort ] && [ "$(cat plain.status)" -ge 124 ]
}

# same_as_plain FOLDER CASE
same_as_plain()
{
	for what in status out err; do
		diff "plain.$what" "$1.$what" || return
	done
	# the program has removed them
	[ -e data ] || [ "$2" != replaced ] || return 0
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

# The program, and a library in several copies, which it opens.
link_all()
{
	language=g++ link hostile "$(pwd)"/*.o || return
	[ "$static" = no ] || return 0
	link libhostile.so -shared -fPIC "$root/tests/hostile/library/library.c" || return
	for folder in plain traced; do
		mkdir -p $folder/copies
		for number in $(seq 0 69); do
			cp $folder/libhostile.so "$folder/copies/libhostile$number.so"
		done
	done
}

one_case()
{
	settings=
	rm -rf data
	start plain "$2"
	rm -rf data
	if dies_plain "$2"; then
		skip "$2, $1$way: as untraced" "untraced it dies"
		return
	fi
	more=
	# where signals can't be blocked, it comes back in the midst of a change of chunk
	[ "$2" != preempt ] || more="SYSCALLS=never,MAX_MB=4 SYSCALLS=never,MAX_MB=1"
	for with in $WITH $more; do
		[ "$with" = nothing ] && settings='' || settings=$(echo ",$with" | sed 's/,/ LITIFUT_/g')
		rm -rf data
		start "$1" "$2"
		ok "$2, $1$way${settings:+,$settings}: as untraced" same_as_plain "$1" "$2"
	done
	settings=
	[ "$1" = counts ] || return 0
	# shellcheck disable=SC2086,SC2116
	case " $(echo $counted) " in
	*" $2 "*) ok "$2, $1$way: the calls of the oracle" counted_right "$2" ;;
	esac
}

one_mode()
{
	rm -rf traced
	LITIFUT_MODE=$1
	export LITIFUT_MODE
	link_all
	linked=$?
	unset LITIFUT_MODE
	[ "$linked" = 0 ] || return
	rm -rf "$1"
	mv traced "$1"
	for each in $CASES; do
		# shellcheck disable=SC2086,SC2116
		case "$static $(echo $libraries) preload preloadother loader " in
		yes*" $each "*) continue ;;
		esac
		one_case "$1" "$each"
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
		static=no
		case $link in -static*) static=yes ;; esac
		flags="$link -pthread"
		for file in "$root"/tests/hostile/*.c; do
			compiler -I"$root/tests/hostile" -c "$file" || return
		done
		language=g++ compiler -I"$root/tests/hostile" -c "$root/tests/hostile/exceptions.cc" || return
		flags="$flags -lrt -ldl"
		for mode in $MODES; do
			case $target-$mode in
			armel-spans | armel-table | armel-counts | armel-paths | armel-coverage) continue ;;
			esac
			one_mode "$mode"
		done
	done
}

for_targets behaviour
