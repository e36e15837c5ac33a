#!/bin/sh
# Each system call of the recorder fails: one by one, and all from one on. The program
# prints and returns the same each time; what is missing in a trace is counted in it, and
# litifut-post reads it without a crash.
#
#   STRESS=1 tests/e2e/recorder-faults.sh      every call with every error (else some)
. "$(dirname "$0")/../lib.sh"

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
		# the one function that all go through gives way to that of the test
		"$tool-objcopy" --weaken-symbol=litifut_gated_call3 --weaken-symbol=litifut_gated_call \
			--weaken-symbol=litifut_system_calls_forbidden "$BUILD/lib/litifut/recorder-$kind.o" \
			"recorder-$kind.o" || return
		"$tool-ld" -r "recorder-$kind.o" "fault-$kind.o" -o "tools/lib/litifut/recorder-$kind.o" ||
			return
		"$tool-objcopy" --remove-section=.ARM.attributes --remove-section=.gnu.attributes \
			--remove-section=.MIPS.abiflags --remove-section=.reginfo --remove-section=.pdr \
			--remove-section=.mdebug.abi32 "tools/lib/litifut/recorder-$kind.o" || return
	done
}

# faulty NUMBER ERROR ALWAYS: false when the program makes no so many calls
faulty()
{
	rm -rf data usb failed
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
	grep -q "empty or can't be read\|not a trace" post.err && return 0
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
	if [ $(($(recorded step) + ${lost:-0})) -lt 25000 ]; then
		echo "call $1 with error $2, $3: $(recorded step) calls, ${lost:-no} lost"
	fi
	return 0
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
	guest_environment=
	ok "calls fail ($runs runs)" test "$runs" -gt 20
	is "the program never notices, nor does litifut-post" "$(grep -v ' lost$' faults.log)" ""
	is "what is missing in a trace is counted" "$(grep ' lost$' faults.log)" ""
	rm -rf tools
}

for_targets behaviour
