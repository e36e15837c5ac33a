#!/bin/sh
# Children that are made without libc's fork handlers, by vfork, _Fork, clone and
# syscall: each has a trace of its own, whether its memory is a copy (as it is always
# in qemu-user) or its parent's (tests/device), and none disturbs its parent's.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mipsel

# Each process's calls of the two functions, sorted.
calls_by_process()
{
	awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "callee") callee = i; next }
		$callee == "in_parent" { parent[$1]++ }
		$callee == "in_child" { child[$1]++ }
		{ seen[$1] = 1 }
		END { for (pid in seen) print parent[pid] + 0, child[pid] + 0 }' "$1" | sort -n
}

one()
{
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data $2"
	run traced "$program"
	guest_environment=
	ok "$1: prints the same when traced" diff plain.out traced.out
	ok "$1: the traces are read" "$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps \
		"traced/$program"
	is "$1: calls of the parent, and of each child" "$(calls_by_process events.tsv)" \
		"$(printf '0 3\n0 4\n0 5\n0 6\n5000 0')"
}

behaviour()
{
	cat >main.c <<-'END'
		#define _GNU_SOURCE
		#include <sched.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa)) static
		static volatile unsigned sum;
		KEEP void in_parent(unsigned n) { sum += n; }
		KEEP void in_child(unsigned n) { sum -= n; }
		KEEP void wait_for(pid_t child)
		{
			int status = 1;
			waitpid(child, &status, __WALL);
			printf("%d\n", status);
			fflush(stdout);
		}
		KEEP void calls(void)
		{
			for (unsigned i = 0; i < 1000; i++)
				in_parent(i);
		}
		static int cloned(void *unused)
		{
			(void)unused;
			for (unsigned i = 0; i < 5; i++)
				in_child(i);
			return 0;
		}
		static char stack[65536] __attribute__((aligned(16)));
		int main(void)
		{
			pid_t child;
			calls();
			child = vfork();
			if (!child) {
				for (unsigned i = 0; i < 3; i++)
					in_child(i);
				_exit(0);
			}
			wait_for(child);
			calls();
			child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
			if (!child) {
				for (unsigned i = 0; i < 4; i++)
					in_child(i);
				_exit(0);
			}
			wait_for(child);
			calls();
			wait_for(clone(cloned, stack + sizeof(stack), SIGCHLD, 0));
			calls();
			child = _Fork();
			if (!child) {
				for (unsigned i = 0; i < 6; i++)
					in_child(i);
				_exit(0);
			}
			wait_for(child);
			calls();
			return 0;
		}
	END
	# namesakes, more than there is room to list
	others=
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
		echo "__attribute__((noipa, used)) static int clone(int x) { return x + $i; }" >"other$i.c"
		others="$others ../other$i.c"
	done
	for program in dynamic static; do
		option=
		[ "$program" = dynamic ] || option=-static
		# shellcheck disable=SC2086
		link "$program" $others ../main.c $option || return
		run plain "$program"
		one "$program" LITIFUT_CLOCK=none
		one "$program, with time" LITIFUT_CLOCK=mono
		rm -rf data
		guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_START=off"
		run traced "$program"
		guest_environment=
		is "$program: nothing is recorded while recording is off, nor lost" \
			"$("$BUILD/bin/litifut-post" -f tsv data/trace data/maps "traced/$program" 2>&1 >events.tsv |
				grep -o ' 0 lost'; grep -c 'in_child\|in_parent' events.tsv)" " 0 lost
0"
	done
}

for_targets behaviour
