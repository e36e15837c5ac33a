#!/bin/sh
# Each system call of the recorder fails: one by one, and all from one on. The program
# prints and returns the same each time; what is missing in a trace is counted in it, and
# litifut-post reads it without a crash.
#
#   STRESS=1 tests/e2e/recorder-faults.sh      every call with every error (else some)
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# A copy of the tools, whose recorder has tests/fault_calls.c in it.
tools()
{
	mkdir -p tools
	cp -r "$BUILD/bin" "$BUILD/lib" tools/
	for kind in $kinds; do
		case $kind in
		arm) tool=arm-linux-gnueabi machine="-marm -march=armv5te -mfloat-abi=soft" folder=arm ;;
		armv7) tool=arm-linux-gnueabi machine="-mthumb -march=armv7-a -mfloat-abi=soft" folder=arm ;;
		mips) tool=mips-linux-gnu machine="-EB -mabi=32 -mips32 -msoft-float" folder=mips ;;
		mipsel) tool=mipsel-linux-gnu machine="-EL -mabi=32 -mips32 -msoft-float" folder=mips ;;
		esac
		# shellcheck disable=SC2086
		"$tool-gcc" -std=c11 -Os -ffreestanding -fPIC -fvisibility=hidden -fno-stack-protector \
			-fomit-frame-pointer -fno-common -I"$root/include" -I"$root" -I"$root/tracer/$folder" \
			-I"$root/tracer/port/linux/$folder" $machine -c "$root/tests/fault_calls.c" \
			-o "fault-$kind.o" || return
		for object in recorder recorder-full; do
			# the one function that all go through gives way to that of the test
			"$tool-objcopy" --weaken-symbol=litifut_gated_call3 \
				--weaken-symbol=litifut_gated_call \
				--weaken-symbol=litifut_system_calls_forbidden \
				"$BUILD/lib/litifut/$object-$kind.o" recorder.o &&
				"$tool-ld" -r recorder.o "fault-$kind.o" \
					-o "tools/lib/litifut/$object-$kind.o" &&
				"$tool-objcopy" --remove-section=.ARM.attributes \
					--remove-section=.gnu.attributes \
					--remove-section=.MIPS.abiflags --remove-section=.reginfo \
					--remove-section=.pdr --remove-section=.mdebug.abi32 \
					"tools/lib/litifut/$object-$kind.o" || return
		done
	done
}

# faulty NUMBER ERROR ALWAYS: false when the program makes no so many calls
faulty()
{
	rm -rf data usb failed overwritten
	echo "$1 $2 $3 " >fault
	run traced work
	[ -e failed ] || return 1
	runs=$((runs + 1))
	if ! cmp -s plain.out traced.out || ! cmp -s plain.err traced.err ||
		! cmp -s plain.status traced.status; then
		echo "call $1 with error $2, $3: the program differs: $(cat traced.status)"
	fi
	trace=$(find data/trace -name '*.trace' 2>/dev/null | head -n 1)
	[ -n "$trace" ] || return 0
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data traced/work 2>post.err
	case $? in
	0 | 1) ;;
	*)
		echo "call $1 with error $2, $3: litifut-post: $(cat post.err)"
		;;
	esac
	# all later calls failed, so it could not be removed again
	grep -q "empty or can't be read\|not a trace\|its header was never written" post.err && return 0
	# the only trace may be that of the child
	if [ "$(recorded step)" = 0 ] && [ "$(recorded other)" != 0 ]; then
		return 0
	fi
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
	if [ $(($(recorded step) + ${lost:-0})) -lt 25000 ]; then
		echo "call $1 with error $2, $3: $(recorded step) calls, ${lost:-no} lost"
	fi
	return 0
}

# A mapping that takes the place of another one fails when that has gone already, and another
# thread of the program has the place at once: its pages stay.
not_overwritten()
{
	number=1
	: >overwritten.log
	while faulty "$number" 12 3 >>faults.log; do
		[ -e overwritten ] && echo "call $number" >>overwritten.log
		number=$((number + 1))
	done
	is "what the program maps in the recorder's place stays" "$(cat overwritten.log)" ""
}

# Pages of the trace take the place of the program's own, in which it sets flags. Each call that
# does such a thing fails when the program's pages have gone already.
flags_half_way()
{
	cat >edges.c <<-'END'
		#include <stdio.h>
		#include <sys/resource.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static volatile int number;
		__attribute__((noipa)) static void before(int n) { if (n) number++; }
		__attribute__((noipa)) static void child(int n) { if (n) number--; }
		__attribute__((noipa)) static void after(int n) { if (n) number++; }
		int main(int argc, char **argv)
		{
			struct rlimit none = {1, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
			int status;

			(void)argv;
			before(1);
			if (argc > 1)
				setrlimit(RLIMIT_FSIZE, &none);
			if (!fork()) {
				child(1);
				_exit(5);
			}
			setrlimit(RLIMIT_FSIZE, &all);
			wait(&status);
			after(1);
			return WEXITSTATUS(status);
		}
	END
	export LITIFUT_MODE=coverage
	BUILD=$(pwd)/tools
	link edges ../edges.c || return
	BUILD=$product
	unset LITIFUT_MODE
	number=1
	: >half.log
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	while :; do
		rm -rf data failed
		echo "$number 12 2 " >fault
		run traced edges
		[ -e failed ] || break
		# what was recorded, whatever that is, can be read
		"$BUILD/bin/litifut-post" -q -f coverage data traced/edges >coverage.txt 2>post.err
		echo "$(cat traced.status) $? $(cat traced.err)" >>half.log
		number=$((number + 1))
	done
	rm -f fault
	ok "calls fail half-way ($((number - 1)) runs)" test "$number" -gt 3
	is "the program never notices" "$(grep -v '^5 [01] $' half.log)" ""
	# the last run was without an error
	set -- data/trace/*.trace
	is "the flags of parent and child" "$(flags "$1")$(flags "$2")" \
		"yes after yes before no child no after no before yes child "
	rm -rf data
	run traced edges no-trace-for-the-child
	is "a child that can't make a trace" "$(cat traced.status) $(find data/trace -type f | wc -l)" "5 1"
	is "does not set the flags of its parent" "$(flags data/trace/*.trace)" \
		"yes after yes before no child "
	guest_environment=
}

# flags TRACE: which functions were executed by its process
flags()
{
	"$BUILD/bin/litifut-post" -q -f coverage "$1" data/maps traced/edges |
		awk '$5 ~ /^(before|after|child)$/ { print $5, $1 }' | sort -u |
		awk '{ printf "%s %s ", $2, $1 }'
}

# The same program with the other modes: one system call fails, for want of memory.
other_modes()
{
	: >modes.log
	for mode in spans table counts coverage paths; do
		case $target-$mode in
		armel-spans | armel-table | armel-paths) continue ;;
		esac
		rm -rf plain traced
		BUILD=$(pwd)/tools
		LITIFUT_MODE=$mode && export LITIFUT_MODE
		link work ../work.c
		linked=$?
		unset LITIFUT_MODE
		BUILD=$product
		[ "$linked" = 0 ] || continue
		number=1
		while [ "$number" -lt 150 ]; do
			rm -rf data usb failed
			echo "$number 12 0 " >fault
			run traced work
			[ -e failed ] || break
			cmp -s plain.out traced.out && cmp -s plain.err traced.err && cmp -s plain.status traced.status ||
				echo "$mode: call $number: the program differs: $(cat traced.status)" >>modes.log
			if [ -d data/trace ]; then
				"$BUILD/bin/litifut-post" -q -f tsv -o events.tsv data traced/work 2>post.err
				[ $? -lt 2 ] || echo "$mode: call $number: litifut-post: $(cat post.err)" >>modes.log
			fi
			number=$((number + ${STRESS:-15}))
		done
		ok "$mode: calls fail" test "$number" -gt 15
	done
	is "the program never notices in other modes" "$(cat modes.log)" ""
}

behaviour()
{
	case $target in
	armhf | armhf-arm) kinds="arm armv7" ;;
	armel) kinds=arm ;;
	*) kinds=$target ;;
	esac
	cat >work.c <<-'END'
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		__attribute__((noipa)) void other(void) { __asm__ volatile(""); }
		int main(void)
		{
			int status;
			for (int i = 0; i < 25000; i++)
				step();
			if (!fork()) {
				for (int i = 0; i < 100; i++)
					other();
				_exit(5);
			}
			wait(&status);
			printf("%d\n", status);
			return 3;
		}
	END
	ok "a recorder whose system calls can fail" tools || return
	product=$BUILD
	BUILD=$(pwd)/tools
	link work ../work.c || return
	BUILD=$product
	run plain work
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$(pwd)/usb LITIFUT_CLOCK=none LITIFUT_BULK_KB=16"
	runs=0
	number=1
	: >faults.log
	while :; do
		# EIO, EACCES, ENOMEM, ENOSPC, EMFILE, EINTR, EROFS: a few of them in turn
		case $((number % 7)) in
		0) error=5 ;; 1) error=13 ;; 2) error=12 ;; 3) error=28 ;;
		4) error=24 ;; 5) error=4 ;; 6) error=30 ;;
		esac
		errors=$error
		[ -n "${STRESS:-}" ] && errors="4 5 12 13 24 28 30"
		for error in $errors; do
			faulty "$number" "$error" 0 >>faults.log || break 2
		done
		faulty "$number" 5 1 >>faults.log
		number=$((number + ${STRESS:-15}))
	done
	not_overwritten
	other_modes
	guest_environment=
	ok "calls fail ($runs runs)" test "$runs" -gt 20
	is "the program never notices, nor does litifut-post" "$(grep -v ' lost$' faults.log)" ""
	is "what is missing in a trace is counted" "$(grep ' lost$' faults.log)" ""
	flags_half_way
	rm -rf tools
}

for_targets behaviour
