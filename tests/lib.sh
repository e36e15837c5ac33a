# Sourced by the end-to-end scripts. A script defines one shell function, the
# behaviour, and runs it for every target:
#
#   . "$(dirname "$0")/../lib.sh"
#   behaviour() {
#           cat >main.c <<-'END'
#           ...
#           END
#           link program ../main.c
#           same_run program arguments
#           events_equal_calls program arguments
#   }
#   for_targets behaviour
#
# `behaviour` starts in an empty folder of its own for each target. What is
# tested goes to stdout as TAP, what helps to find a failure to stderr.
#
#   TARGETS="armhf mips" tests/e2e/NAME.sh      runs some targets only
# shellcheck shell=sh

set -u
[ -f "${root:-}/tests/lib.sh" ] || root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$root/build}

# plain_name FOLDER: another name of it, by which a script may use it in lists of words, if
# its own has blanks or other letters that the shell would see, or is very long.
plain_name()
{
	case $1 in
	*[!A-Za-z0-9/._+-]*) ;;
	*) [ ${#1} -gt 160 ] || {
		echo "$1"
		return
	} ;;
	esac
	plain_link=${TMPDIR:-/tmp}/litifut-tests.$(id -u)/$(echo "$1" | cksum | cut -d ' ' -f 1)
	# shellcheck disable=SC2174
	mkdir -p -m 700 "${plain_link%/*}"
	[ "$(readlink "$plain_link")" = "$1" ] || ln -sfn "$1" "$plain_link"
	echo "$plain_link"
}

real_root=$(cd "$root" && pwd -P)
root=$(plain_name "$root")
BUILD=$(plain_name "$BUILD")
all_targets="armhf armhf-arm armel mipsel mips"
TARGETS=${TARGETS:-$all_targets}

# few_targets TARGET...: what a script tests is the same on the others: it runs on these alone, unless
# TARGETS names some, or LONG is set.
few_targets()
{
	[ "$TARGETS" != "$all_targets" ] || [ -n "${LONG:-}" ] || TARGETS=$*
}
script=$(basename "$0" .sh)
# What the command of the last test has written. It is one file for all tests, since to make and
# to remove one for each takes longer than many of the tests.
ok_log=$BUILD/tests/logs/$script
mkdir -p "$BUILD/tests/logs"
test_count=0
failed_count=0
target=host
flags=
guest_environment=
qemu_options=
# `make coverage' sets COVERED=FILE, to which each run appends what it executes of the tracer
covered=${COVERED:+-plugin $BUILD/tests/covered.so,output=$COVERED}
unset LITIFUT
# what Python has compiled of the modules in tests/oracle is kept, but not in the tree
export PYTHONPYCACHEPREFIX="$BUILD/tests/python-cache" PYTHONDONTWRITEBYTECODE=

# Sets triplet, cpu, machine_flags (for the compiler) and sysroot of a target.
use_target()
{
	target=$1
	machine_flags=
	case $target in
	armhf) triplet=arm-linux-gnueabihf cpu=arm ;;
	armhf-arm) triplet=arm-linux-gnueabihf cpu=arm machine_flags=-marm ;;
	armel) triplet=arm-linux-gnueabi cpu=arm ;;
	# not among all_targets: code for the oldest CPUs, in a libc for newer ones
	armel-thumb) triplet=arm-linux-gnueabi cpu=arm machine_flags="-mthumb -march=armv4t" ;;
	mipsel) triplet=mipsel-linux-gnu cpu=mipsel ;;
	mips) triplet=mips-linux-gnu cpu=mips ;;
	*)
		echo "Bail out! no target $target"
		exit 1
		;;
	esac
	sysroot=/usr/$triplet
}

# ok DESCRIPTION COMMAND...: the command succeeds. Its output is shown if not.
ok()
{
	ok_description=$1
	shift
	test_count=$((test_count + 1))
	if "$@" >"$ok_log" 2>&1; then
		echo "ok $test_count - $target: $ok_description"
		return 0
	fi
	failed_count=$((failed_count + 1))
	echo "not ok $test_count - $target: $ok_description"
	{
		echo "not ok: $target: $ok_description"
		echo "in $(pwd): $*"
		head -n 30 "$ok_log"
	} | sed 's/^/# /' >&2
	return 1
}

equal()
{
	[ "$1" = "$2" ] && return
	printf 'got:\n%s\nexpected:\n%s\n' "$1" "$2"
	return 1
}

# is DESCRIPTION GOT EXPECTED
is()
{
	ok "$1" equal "$2" "$3"
}

# skip DESCRIPTION WHY: what can't be tested here, said so.
skip()
{
	test_count=$((test_count + 1))
	echo "ok $test_count - $target: $1 # SKIP $2"
}

# compiler ARGUMENTS...: the cross compiler (`language` says gcc or g++) with
# the flags of the target and those in `flags`; `front` goes before it.
compiler()
{
	# shellcheck disable=SC2086
	${front:-} "$triplet-${language:-gcc}" $machine_flags -g -O2 -I.. $flags "$@"
}

# compile_once SOURCE ARGUMENTS...: compiles it into objects/, unless what is there is of the same command and the same
# files. The arguments are those of a link: what only a linker takes is left out.
compile_once()
{
	once_source=$1
	once_object=objects/${1#../}.o
	shift
	# shellcheck disable=SC2086
	set -- $flags "$@"
	for once_argument in "$@"; do
		shift
		case $once_argument in
		*.[casSo] | *.cc | *.cpp | *.so | -l* | -Wl,*) ;;
		*) set -- "$@" "$once_argument" ;;
		esac
	done
	once_command="$triplet-${language:-gcc} $machine_flags $*"
	once_before='' once_sum='' once_files=''
	[ ! -f "$once_object.made" ] || {
		IFS= read -r once_before
		IFS= read -r once_sum
		read -r once_files
	} <"$once_object.made"
	# shellcheck disable=SC2086
	[ "$once_before" != "$once_command" ] || [ "$(cd objects && cat $once_files | cksum)" != "$once_sum" ] || return 0
	mkdir -p "${once_object%/*}"
	rm -f "$once_object.made"
	echo "-: $once_source" >objects/files # what is not preprocessed has no list
	(cd objects && front='' flags='' compiler -MMD -MF files -c -o "../$once_object" "$once_source" "$@") || return
	once_files=$(sed 's/^[^:]*: //; s/\\$//' objects/files | tr '\n' ' ')
	# shellcheck disable=SC2086
	printf '%s\n' "$once_command" "$(cd objects && cat $once_files | cksum)" "$once_files" >"$once_object.made"
}

# link OUTPUT ARGUMENTS...: compiles and links OUTPUT in plain/ and in traced/,
# the same command in both, there with `litifut build` around it. It runs
# inside that folder, so sources are ../NAME. Fails where there is no such kind
# of link. With ENGINE it is linked with that engine, if the mode has a choice and the script has made none.
# Sources are compiled once for all links of the folder, since the wrapper takes part in links alone.
link()
{
	link_output=$1
	shift
	mkdir -p plain traced
	link_failed=
	: >plain.log
	for link_argument in "$@"; do
		case $link_argument in
		*.[csS] | *.cc | *.cpp) compile_once "$link_argument" "$@" >>plain.log 2>&1 || link_failed=plain ;;
		esac
	done
	for link_argument in "$@"; do
		shift
		case $link_argument in
		*.[csS] | *.cc | *.cpp) link_argument=../objects/${link_argument#../}.o ;;
		esac
		set -- "$@" "$link_argument"
	done
	[ -n "$link_failed" ] ||
		(cd plain && front='' compiler -o "$link_output" "$@") >plain.log 2>&1 || link_failed=plain
	if grep -q 'cannot find .*crt1.o' plain.log; then
		skip "link $link_output" "the toolchain has no start-up file for this kind"
		return 1
	fi
	link_front="$BUILD/bin/litifut build -q"
	[ -z "${ENGINE:-}" ] || [ "${LITIFUT_MODE:-calls}" != calls ] ||
		link_front="env LITIFUT_ENGINE=${LITIFUT_ENGINE:-$ENGINE} $link_front"
	(cd traced && front="$link_front" compiler -o "$link_output" "$@") \
		>traced.log 2>&1 || link_failed=traced
	if [ -n "$link_failed" ]; then
		ok "link $link_output ($link_failed)" show_and_fail "$link_failed.log"
		return 1
	fi
	ok "link $link_output: rewritten, and nothing to warn of" rewritten "traced/$link_output"
}

# main.cc: a program with threads, recursion and C++ names, whose calls are known
fibonacci_program()
{
	cat >main.cc <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		namespace shape { KEEP int scale(int x) { return x * 3; } }
		KEEP int fib(int n) { return n < 2 ? shape::scale(n) : fib(n - 1) + fib(n - 2); }
		static void *work(void *) { return reinterpret_cast<void *>(long(fib(10))); }
		int main()
		{
			pthread_t one, two;
			void *a, *b;
			pthread_create(&one, 0, work, 0);
			pthread_create(&two, 0, work, 0);
			pthread_join(one, &a);
			pthread_join(two, &b);
			printf("%ld\n", long(a) + long(b) + fib(5));
			return 0;
		}
	END
}

show_and_fail()
{
	cat "$1"
	return 1
}

# The file has been rewritten, and its link (traced.log) had no messages of the wrapper.
rewritten()
{
	"$BUILD/bin/litifut" info "$1" && readelf -SW "$1" | grep -q '\.litifut\.sites' &&
		! own_words traced.log | grep -q .
}

# own_words FILE: its lines in which LITIFUT speaks or is spoken of, but for the line that ends
# each `litifut build' of files that are all traced. That the folders of the test are in one of its name is not counted.
own_words()
{
	root=$root build=$BUILD real_root=$real_root awk '
		function without(folder, at) {
			while (folder != "" && (at = index($0, folder)))
				$0 = substr($0, 1, at - 1) "." substr($0, at + length(folder))
		}
		{
			without(ENVIRON["root"])
			without(ENVIRON["build"])
			without(ENVIRON["real_root"])
		}
		/^litifut: [0-9]+ linked files? traced$/ { next }
		/litifut/ { print; found = 1 }
		END { exit !found }' "$1"
}

# run_in FOLDER PROGRAM ARGUMENTS...: as the target would, in an empty
# environment but for `guest_environment` (NAME=VALUE words). More options for
# qemu in `qemu_options`.
run_in()
{
	run_folder=$1
	run_program=$2
	shift 2
	# LITIFUT reads /proc/self/environ, which qemu's -E does not change
	# shellcheck disable=SC2086
	env -i $guest_environment timeout 120 "qemu-$cpu" -L "$sysroot" $qemu_options $covered \
		-E LD_LIBRARY_PATH="$(pwd)/$run_folder" "$run_folder/$run_program" "$@"
}

# run FOLDER PROGRAM ARGUMENTS...: keeps stdout, stderr and the exit status in
# FOLDER.out, FOLDER.err and FOLDER.status; stdin from `input` when set.
run()
{
	run_in "$@" <"${input:-/dev/null}" >"$1.out" 2>"$1.err"
	echo $? >"$1.status"
}

# same_run PROGRAM ARGUMENTS...: what the traced run printed and returned is
# what the plain one did.
same_run()
{
	rm -rf data
	same_environment=$guest_environment
	run plain "$@"
	guest_environment="$same_environment LITIFUT_DIR=$(pwd)/data"
	run traced "$@"
	guest_environment=$same_environment
	ok "$1 prints the same when traced" diff plain.out traced.out
	ok "$1 writes the same errors when traced" diff plain.err traced.err
	ok "$1 exits the same when traced" diff plain.status traced.status
}

# The files of traced/ that the linker made.
traced_files()
{
	find traced -maxdepth 1 -type f | sort
}

# trace_watched QEMU-OPTIONS PROGRAM ARGUMENTS...: the traced program's events, in events.tsv
trace_watched()
{
	qemu_options=$1
	shift
	rm -rf data
	same_environment=$guest_environment
	guest_environment="$same_environment LITIFUT_DIR=$(pwd)/data"
	run traced "$@"
	guest_environment=$same_environment
	qemu_options=
	# shellcheck disable=SC2046
	ok "$1: litifut-post reads the trace" \
		"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps $(traced_files)
}

# events_equal_calls PROGRAM ARGUMENTS...: runs it traced under the oracle; the
# events of each thread are its executed calls from patched sites, in order (or
# in any order when `oracle_compare` is compare-any-order: a signal that comes
# between a call and its recording lets the handler's calls be recorded first).
events_equal_calls()
{
	rm -f oracle.*
	# shellcheck disable=SC2046
	python3 "$root/tests/oracle/oracle.py" ranges $(traced_files) >oracle.through
	trace_watched "-plugin $BUILD/tests/oracle.so,calls=oracle,through=oracle.through" "$@" || return
	# shellcheck disable=SC2046
	ok "$1: events are the executed calls" \
		python3 "$root/tests/oracle/oracle.py" "${oracle_compare:-compare}" oracle events.tsv \
		$(traced_files)
}

# flags_equal_edges PROGRAM ARGUMENTS...: of a program linked with LITIFUT_MODE=coverage, after
# same_run: its flags are the ways that its conditional branches go when nothing is patched.
flags_equal_edges()
{
	edges_program=$1
	shift
	rm -rf unpatched oracle.*
	mkdir unpatched
	ok "$edges_program: litifut-post reads the flags" \
		"$BUILD/bin/litifut-post" -q -f branches -o branches.tsv data "traced/$edges_program"
	ok "$edges_program: without patches" python3 "$root/tests/oracle/edges.py" plain \
		"traced/$edges_program" "unpatched/$edges_program"
	# by the same name, as that is among what a program is given
	mv traced patched && mv unpatched traced && mv data patched.data
	edges_environment=$guest_environment
	qemu_options="-plugin $BUILD/tests/oracle.so,steps=oracle"
	guest_environment="$edges_environment LITIFUT_DIR=$(pwd)/data"
	run traced "$edges_program" "$@"
	guest_environment=$edges_environment
	qemu_options=
	rm -rf data
	mv traced unpatched && mv patched traced && mv patched.data data
	ok "$edges_program: it prints the same" diff plain.out traced.out
	ok "$edges_program: flags are the edges that were executed" \
		python3 "$root/tests/oracle/edges.py" compare oracle branches.tsv \
		"traced/$edges_program" "unpatched/$edges_program"
}

# The blocks of the traces in data/, in blocks.tsv, without a word of trouble.
trace_followed()
{
	"$BUILD/bin/litifut-post" -q -f blocks -o blocks.tsv data "$@" 2>post.log && ! grep . post.log
}

# blocks_equal OPTIONS PROGRAM ARGUMENTS...: of a program linked with LITIFUT_MODE=paths, after
# same_run: its trace leads through the blocks that are executed when nothing is patched. OPTIONS are
# those of paths.py.
blocks_equal()
{
	blocks_options=$1
	blocks_program=$2
	shift 2
	rm -rf unpatched oracle.*
	mkdir unpatched
	# shellcheck disable=SC2046
	ok "$blocks_program: litifut-post follows the trace" trace_followed $(traced_files)
	for each_file in traced/*; do
		python3 "$root/tests/oracle/edges.py" plain "$each_file" "unpatched/${each_file#*/}"
	done
	mv traced patched && mv unpatched traced && mv data patched.data
	qemu_options="-plugin $BUILD/tests/oracle.so,blocks=oracle"
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced "$blocks_program" "$@"
	guest_environment=
	qemu_options=
	rm -rf data
	mv traced unpatched && mv patched traced && mv patched.data data
	# shellcheck disable=SC2046,SC2086
	ok "$blocks_program: blocks are those that were executed, in order" \
		python3 "$root/tests/oracle/paths.py" compare oracle blocks.tsv $(traced_files) \
		$blocks_options
}

# counts_equal_calls HOW PROGRAM ARGUMENTS...: of a program linked with LITIFUT_MODE=counts: it has counted as many calls
# as are executed. HOW is a word for counts.py, or nothing.
counts_equal_calls()
{
	how=$1
	shift
	rm -rf oracle.* data
	# shellcheck disable=SC2046
	python3 "$root/tests/oracle/oracle.py" ranges $(traced_files) >oracle.through
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,through=oracle.through"
	guest_environment="LITIFUT_DIR=$(pwd)/data ${settings:-}"
	run traced "$@"
	qemu_options='' guest_environment=''
	# shellcheck disable=SC2046
	ok "$*: litifut-post reads the counters" \
		"$BUILD/bin/litifut-post" -q -f csv -o out.csv data $(traced_files)
	# shellcheck disable=SC2046,SC2086
	ok "$*: counts are the executed calls" \
		python3 "$root/tests/oracle/counts.py" $how oracle out.csv $(traced_files)
}

# events_equal_entries PROGRAM ARGUMENTS...: as many events lead to each function of the
# program as it is entered, tail calls and all; but for those that `from_outside` names.
events_equal_entries()
{
	rm -f blocks
	trace_watched "-d exec,nochain -D blocks" "$@" || return
	# shellcheck disable=SC2086
	ok "$1: functions are entered as often as events say" \
		python3 "$root/tests/oracle/entries.py" blocks events.tsv data/maps/*.maps "traced/$1" \
		${from_outside:-}
	rm -f blocks
}

# run_timed PROGRAM ARGUMENTS...: runs it traced under the oracle, which writes calls, returns and their
# times to oracle.*; both have the clock of the oracle. `settings` are further settings.
run_timed()
{
	rm -rf data oracle.*
	# shellcheck disable=SC2046
	python3 "$root/tests/oracle/oracle.py" ranges $(traced_files) >oracle.through
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,through=oracle.through,returns=1,clock=1"
	guest_environment="LITIFUT_CLOCK=page LITIFUT_COMPACT=0 LITIFUT_DIR=$(pwd)/data ${settings:-}"
	run traced "$@"
	qemu_options='' guest_environment=''
}

# recorded NAME: how many events of events.tsv have the function NAME as callee
recorded()
{
	awk -F '\t' -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "callee") column = i; next }
		$column == name { count++ }
		END { print count + 0 }' events.tsv
}

# What every script runs is there, or one line says how to make it.
need_build()
{
	for needed in bin/litifut bin/litifut-post tests/oracle.so; do
		[ -e "$BUILD/$needed" ] && continue
		echo "Bail out! $BUILD/$needed is missing: run \`make all oracle' first"
		exit 1
	done
}

# in_folders FUNCTION PREPARE NAME...: for each name runs PREPARE NAME, then FUNCTION in a fresh folder
# of that name, then closes the TAP stream.
in_folders()
{
	in_folders_function=$1
	in_folders_prepare=$2
	shift 2
	for each in "$@"; do
		"$in_folders_prepare" "$each"
		scratch=$BUILD/tests/e2e/$script/$each
		rm -rf "$scratch"
		mkdir -p "$scratch"
		cd "$scratch" || exit 1
		"$in_folders_function"
	done
	echo "1..$test_count"
	[ "$failed_count" = 0 ]
}

start_target()
{
	use_target "$1"
	flags='' guest_environment='' qemu_options='' input='' language=gcc
}

# for_targets FUNCTION: runs it for each target in a fresh folder, then closes
# the TAP stream. The last thing that a script does.
for_targets()
{
	need_build
	# shellcheck disable=SC2086
	in_folders "$1" start_target $TARGETS
}
