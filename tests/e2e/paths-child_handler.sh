#!/bin/sh
# LITIFUT_MODE=paths: a handler of SIGCHLD whose first block records its start and ends in a branch, and
# which comes inside fork(), where each branch takes the slow path: its branches are not a second start.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

follows()
{
	! grep "not where" post.err && grep -q "on .*main.c" steps.txt
}

behaviour()
{
	[ "$target" != armel ] || return 0 # its CPUs may be older: there is no such mode
	cat >main.c <<-'END'
		#include <signal.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static volatile int off, seen, many;
		static void on(int number)
		{
			if (off)
				return;
			if (number == SIGCHLD) {
				seen = 1;
				if (!many)
					return;
			}
			many++;
		}
		__attribute__((noipa)) static int start(void)
		{
			int child = fork();
			if (!child)
				_exit(0);
			return child;
		}
		int main(void)
		{
			struct sigaction action = {.sa_handler = on};
			sigfillset(&action.sa_mask);
			sigaction(SIGCHLD, &action, 0);
			for (int i = 0; i < 60; i++) {
				start();
				start();
				while (waitpid(-1, 0, 0) > 0)
					;
			}
			return seen - 1;
		}
	END
	export LITIFUT_MODE=paths
	link program ../main.c || return
	unset LITIFUT_MODE
	same_run program
	"$BUILD/bin/litifut-post" -f path data/trace data/maps traced/program >steps.txt 2>post.err
	ok "the handler is where its bits lead" follows
	ok "processes that ended by _exit() are not said to be killed" grep -q 'without exit() (killed, _exit)' post.err
}
for_targets behaviour
