#!/bin/sh
# Old systems: kernels that lack what came after Linux 2.6.32, and ARM CPUs that
# lack the thread register and LDREX (before ARMv6K), where the kernel's helper page
# takes their place. MADV_WIPEONFORK (4.14) is not there in any of these tests,
# because qemu ignores it, nor is a vDSO.
. "$(dirname "$0")/../lib.sh"
few_targets armhf-arm mips

# old_run ...: `run traced`, with that kernel
old_run()
{
	# shellcheck disable=SC2086
	env -i $guest_environment timeout 120 "$BUILD/tests/old_kernel" "qemu-$cpu" -L "$sysroot" \
		-r 2.6.32 -strace -D "$(pwd)/calls.log" "traced/$1" >traced.out 2>traced.err
	echo $? >traced.status
}

kernel()
{
	cat >work.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static volatile unsigned sum;
		__attribute__((noipa)) void step(unsigned n) { sum += n; }
		static void *worker(void *argument)
		{
			for (unsigned i = 0; i < 30000; i++)
				step(i);
			return argument;
		}
		int main(void)
		{
			pthread_t thread;
			int status;
			if (!fork()) {
				worker(0);
				_exit(0);
			}
			wait(&status);
			pthread_create(&thread, 0, worker, 0);
			worker(0);
			pthread_join(thread, 0);
			printf("%d\n", status);
			return 3;
		}
	END
	flags=-pthread
	link work ../work.c || return
	run plain work
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$(pwd)/usb LITIFUT_CLOCK=mono"
	old_run work
	if grep -q 'old_kernel: seccomp' traced.err; then
		skip "an old kernel" "no right to refuse system calls"
		return
	fi
	ok "an old kernel: same output" diff plain.out traced.out
	ok "an old kernel: same errors" diff plain.err traced.err
	ok "an old kernel: same exit" diff plain.status traced.status
	ok "an old kernel: it refused" sh -c \
		'grep -q "fallocate(.*not implemented" calls.log'
	ok "an old kernel: and was asked otherwise" sh -c \
		'grep -q "pwrite64(" calls.log'
	ok "an old kernel: the traces are read" "$BUILD/bin/litifut-post" -f tsv -o events.tsv \
		data/trace data/maps traced/work
	is "an old kernel: every call" "$(recorded step)" 90000
	is "an old kernel: two processes" "$(cut -f 1 events.tsv | sed 1d | sort -u | wc -l)" 2
	ok "an old kernel: the copy is whole" sh -c \
		'for copy in usb/*/*; do cmp "$copy" "data/${copy#usb/}" || exit 1; done'
}

behaviour()
{
	kernel
}

[ "$BUILD/tests/old_kernel" -nt "$root/tests/old_kernel.c" ] ||
	cc -O2 -Wall -o "$BUILD/tests/old_kernel" "$root/tests/old_kernel.c" || exit 1
for_targets behaviour
