#!/bin/sh
# A process that gives up system calls (seccomp): one of the recorder's would end it. After
# the call that asks for it there are none. qemu-user refuses the request, and goes on: its
# log of system calls shows whether there was one. tests/device has a kernel that ends it.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mipsel

# What the kernel is asked for once the program has said that it is confined.
afterwards()
{
	awk '/ write\(1,/ { if (seen) exit; seen = 1; next } seen && / = |exit/' calls.log |
		sed 's/^[0-9]* //' | head -n 5
}

# confined WAY SETTINGS...
confined()
{
	way=$1
	shift
	rm -rf data
	run plain work "$way"
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$(pwd)/usb LITIFUT_CLOCK=none $*"
	qemu_options="-strace -D $(pwd)/calls.log"
	run traced work "$way"
	qemu_options='' guest_environment=''
	ok "$way $*: same output" diff plain.out traced.out
	ok "$way $*: same exit" diff plain.status traced.status
	is "$way $*: no system calls afterwards" "$(afterwards)" ""
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/work 2>post.err
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
	count=$(recorded step)
	echo "$count events, $lost lost" >&2
}

# Modes in which a call of prctl() is not an event: no system call at the end of the program, and in
# paths, where the code before the call says that it comes, or with LITIFUT_SYSCALLS=never, none
# before that either.
# quiet MODE ROUNDS SETTINGS...
quiet()
{
	mode=$1 rounds=$2
	shift 2
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data $*"
	qemu_options="-strace -D $(pwd)/calls.log"
	run traced quiet "$rounds"
	qemu_options='' guest_environment=''
	is "$mode $*: the program's exit" "$(cat traced.status)" 3
	is "$mode $*: no system calls after prctl()" "$(awk '/ write\(1,/ { seen = 1; next }
		seen && !/exit_group/' calls.log | sed 's/^[0-9]* //' | head -n 5)" ""
	format=coverage
	test "$mode" != counts || format=edges
	"$BUILD/bin/litifut-post" -f $format -o quiet.txt data traced/quiet 2>post.err
	ok "$mode $*: the trace is whole" grep -q ' 0 lost, 1 process,' post.err
	ok "$mode $*: the trace has ended" sh -c '! grep "still ran" post.err'
	if test "$mode" = counts; then
		is "counts $*: all is counted" "$(awk '/ step/ { print $1 }' quiet.txt)" "$((10 + rounds))"
	else
		ok "$mode $*: what is behind prctl() is recorded" grep -q '^yes .* late ' quiet.txt
	fi
}

without_calls()
{
	cat >quiet.c <<-'END'
		#include <stdlib.h>
		#include <sys/prctl.h>
		#include <unistd.h>
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		__attribute__((noipa)) int late(int a) { return a > 5 ? a - 3 : a; }
		int main(int count, char **arguments)
		{
			int rounds = atoi(arguments[count - 1]) + 10;
			for (int i = 0; i < rounds; i++) {
				if (i == 10) {
					prctl(PR_SET_SECCOMP, 1);
					write(1, "confined\n", 9);
				}
				step();
			}
			return late(6);
		}
	END
	for mode in counts coverage paths; do
		test "$target/$mode" != armel/paths || continue # needs ARMv7
		export LITIFUT_MODE=$mode
		link quiet ../quiet.c
		unset LITIFUT_MODE
		quiet "$mode" 100
		quiet "$mode" 400000 LITIFUT_SYSCALLS=never
		test "$mode" != paths || {
			quiet paths 40000
			quiet paths 400000 LITIFUT_SYSCALLS=never LITIFUT_MAX_MB=4
		}
	done
}

# all_pairs WHAT: each of the 1,024 calls of callee() was made 100 times, and the one through a pointer
# as often with each of its 24 callees.
all_pairs()
{
	"$BUILD/bin/litifut-post" -f csv -o pairs.csv data/trace data/maps traced/pairs 2>post.err
	ok "$1: no call is lost" grep -q ' 0 lost' post.err
	is "$1: pairs of call site and callee, each 100 times" "$(tr -d '"' <pairs.csv | awk -F, '
		$4 == "callee" { calls += $7 }
		$4 ~ /^pointed_/ { pointed[$4] += $7 }
		END {
			for (name in pointed) whole += pointed[name] == 100
			print calls, whole
		}')" "102400 24"
}

# A table has room for many pairs of call site and callee then, that of a thread that is made later too.
many_pairs()
{
	[ "$target" != armel ] || return 0 # it has no thunks
	{
		cat <<-'END'
			#include <pthread.h>
			#include <string.h>
			#include <sys/prctl.h>
			#include <unistd.h>
			#define KEEP __attribute__((noipa))
			static volatile int sum;
			KEEP int callee(int n) { return n + 1; }
		END
		for i in $(seq 16); do
			echo "KEEP int caller_$i(void) {"
			seq -f 'sum += callee(%g);' 64
			echo 'return sum; }'
		done
		seq -f 'KEEP void pointed_%g(void) { __asm__ volatile(""); }' 24
		echo 'static void (*const pointers[])(void) = {'
		seq -f 'pointed_%g,' 24
		echo '}; static void *rounds(void *count) { for (long i = 0; i < (long)count; i++) {'
		seq -f 'sum += caller_%g();' 16
		cat <<-'END'
				for (int k = 0; k < 24; k++)
					pointers[k]();
				}
				return count;
			}
			int main(int count, char **arguments)
			{
				const char *way = arguments[count - 1];
				pthread_t thread;
				rounds((void *)1);
				if (!strcmp(way, "prctl"))
					prctl(PR_SET_SECCOMP, 1);
				write(1, "confined\n", 9);
				if (!strcmp(way, "thread")) {
					pthread_create(&thread, 0, rounds, (void *)99);
					pthread_join(thread, 0);
				} else {
					rounds((void *)99);
				}
				write(1, "done\n", 5);
				_exit(3);
			}
		END
	} >pairs.c
	export LITIFUT_MODE=table
	link pairs ../pairs.c -pthread || return
	unset LITIFUT_MODE
	run plain pairs never
	for way in prctl never thread; do
		rm -rf data
		guest_environment="LITIFUT_DIR=$(pwd)/data"
		[ $way = prctl ] || guest_environment="$guest_environment LITIFUT_SYSCALLS=never"
		qemu_options="-strace -D $(pwd)/calls.log"
		run traced pairs $way
		qemu_options='' guest_environment=''
		ok "table, $way: same output" diff plain.out traced.out
		ok "table, $way: same exit" diff plain.status traced.status
		[ $way = thread ] ||
			is "table, $way: no system calls afterwards" "$(afterwards)" ""
		all_pairs "table, $way"
	done
}

behaviour()
{
	without_calls
	many_pairs
	cat >seccomp.c <<-'END'
		/* as in libseccomp */
		#include <sys/prctl.h>
		int seccomp_load(void *context) { return prctl(22, 1, context); }
	END
	cat >work.c <<-'END'
		#define _GNU_SOURCE
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int seccomp_load(void *context);
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		int main(int count, char **arguments)
		{
			const char *way = arguments[count - 1];
			void *filter = malloc(64);
			sigset_t blocked;
			for (int i = 0; i < 1000; i++)
				step();
			if (!strcmp(way, "prctl"))
				prctl(PR_SET_SECCOMP, 1);
			else if (!strcmp(way, "syscall"))
				syscall(SYS_seccomp, 0, 0, 0);
			else if (!strcmp(way, "library"))
				seccomp_load(filter);
			else
				prctl(PR_SET_NAME, "name");
			write(1, "confined\n", 9);
			for (int i = 0; i < 400000; i++)
				step();
			write(1, "done\n", 5);
			sigprocmask(SIG_BLOCK, 0, &blocked);
			_exit(sigismember(&blocked, SIGUSR1) ? 4 : 3);
		}
	END
	compiler -shared -fPIC -Wl,-soname,libseccomp.so.2 -o libseccomp.so.2 seccomp.c
	ln -sf libseccomp.so.2 libseccomp.so
	mkdir -p plain traced
	cp libseccomp.so.2 plain
	cp libseccomp.so.2 traced
	for engine in thunk db; do
		export LITIFUT_ENGINE=$engine
		link work ../work.c -L.. -lseccomp || return
		unset LITIFUT_ENGINE
		for way in prctl syscall library; do
			confined $way
			ok "$engine, $way: all is recorded or counted" test "$((count + lost))" -ge 401000 \
				-a "$((count + lost))" -le 401100
			ok "$engine, $way: a megabyte is recorded" test "$count" -gt 200000 -a "$lost" -gt 0
		done
		confined none LITIFUT_SYSCALLS=never
		is "$engine, never: all is recorded" "$count $lost" "401000 0"
	done
	run plain work name
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_CLOCK=none"
	run traced work name
	guest_environment=
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/work 2>post.err
	is "a name for a process changes nothing" "$(recorded step)" 401000
}

for_targets behaviour
