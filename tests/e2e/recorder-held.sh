#!/bin/sh
# A fork while another thread of the program is somewhere in the recorder: it is held there in
# one system call after the other (tests/hold_call.c). The child, in which that thread is not,
# goes on as ever and has a trace of its own, and so does the thread of the parent that forks.
#
#   STRESS=1 tests/e2e/recorder-held.sh      every call (else some)
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# held NUMBER MODE: false when there are fewer calls
held()
{
	rm -rf data
	# shellcheck disable=SC2086
	env -i $guest_environment LITIFUT_DIR="$(pwd)/data" timeout 60 "$BUILD/tests/hold_call" "$1" \
		"qemu-$cpu" -L "$sysroot" -E LD_LIBRARY_PATH="$(pwd)/traced" "$folder/work" "$2" \
		>traced.out 2>traced.err
	held_status=$?
	[ "$held_status" -ne 9 ] || return 1
	runs=$((runs + 1))
	if [ "$held_status $(cat traced.out traced.err)" != "3 child 7" ]; then
		echo "$2, call $1: status $held_status: $(cat traced.out traced.err)"
		return 0
	fi
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/* 2>post.err ||
		echo "$2, call $1: $(cat post.err)"
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
	calls=$(($(recorded pace) + ${lost:-0}))
	if [ "$calls" -lt "$expected" ]; then
		echo "$2, call $1: $(recorded pace) calls and $lost lost"
	fi
	return 0
}

# every MODE DESCRIPTION STRIDE
every()
{
	runs=0
	stride=${STRESS:+1}
	stride=${stride:-$3}
	number=1
	: >held.log
	while held "$number" "$1" >>held.log; do
		number=$((number + stride))
	done
	# the last try was without a call that was held
	ok "$2: $runs calls" test "$runs" -gt 2
	is "$2: the program does not notice" "$(cat held.log)" ""
}

behaviour()
{
	cat >plug.c <<-'END'
		__attribute__((noipa)) void pace(void) { __asm__ volatile(""); }
		void plug(int n) { for (int i = 0; i < n; i++) pace(); }
	END
	cat >work.c <<-'END'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/resource.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void (*plug)(int);
		static const char *mode;
		static void load(void) { plug = dlsym(dlopen("libplug.so", RTLD_NOW), "plug"); }
		static void *held(void *unused)
		{
			getpriority(PRIO_USER, 4711);
			if (!strcmp(mode, "load"))
				load();
			plug(20000);
			if (!strcmp(mode, "switch")) {
				raise(SIGUSR2);
				raise(SIGUSR2);
			}
			getpriority(PRIO_USER, 4713);
			return unused;
		}
		int main(int argc, char **argv)
		{
			pthread_t thread;
			pid_t child;
			int status;
			mode = argv[argc - 1];
			if (strcmp(mode, "load"))
				load();
			if (pthread_create(&thread, NULL, held, NULL))
				return 1;
			getpriority(PRIO_USER, 4712);
			if (plug)
				plug(3000);
			child = fork();
			if (!child) {
				if (plug)
					plug(3000);
				_exit(7);
			}
			waitpid(child, &status, 0);
			printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -status);
			fflush(stdout);
			getpriority(PRIO_USER, 4714);
			pthread_join(thread, NULL);
			return 3;
		}
	END
	# by both threads of the parent, and by the child
	expected=26000
	link libplug.so ../plug.c -shared -fPIC || return
	flags=-pthread
	link work ../work.c || return
	flags=
	folder=traced
	guest_environment="LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none LITIFUT_COMPACT=1 LITIFUT_SIGNAL=12 LITIFUT_FILE=map"
	every chunk "a change of chunk" 1
	guest_environment="LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none LITIFUT_COMPACT=1 LITIFUT_FILE=write"
	every chunk "the same, written" 7
	guest_environment="LITIFUT_BULK_KB=16 LITIFUT_CLOCK=none"
	# `plug` is not there yet when the thread is held
	expected=20000
	every load "a library is loaded" 2
	# A program that is not traced, so nothing is set up before the library's first call. While
	# the thread does that, calls of the child are lost
	folder=plain
	LITIFUT_ENGINE=db
	export LITIFUT_ENGINE
	link libplug.so ../plug.c -shared -fPIC -nostartfiles || return
	unset LITIFUT_ENGINE
	every first "the process's first event" 17
	guest_environment=
}

[ "$BUILD/tests/hold_call" -nt "$root/tests/hold_call.c" ] ||
	cc -O1 -Wall -Wextra -o "$BUILD/tests/hold_call" "$root/tests/hold_call.c" || exit 1
for_targets behaviour
