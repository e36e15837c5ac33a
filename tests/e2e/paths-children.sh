#!/bin/sh
# LITIFUT_MODE=paths: children that are made without libc's fork handlers, by vfork, _Fork, clone and syscall, write
# nothing into their parent's trace: its blocks are those that it executes.
# Here their memory is always a copy (qemu-user); tests/device has the others.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mipsel # A32 code reaches libc by veneers

behaviour()
{
	[ "$target" != armel ] || return 0 # its CPUs may be older: there is no such mode
	cat >main.c <<-'END'
		#define _GNU_SOURCE
		#include <sched.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/mman.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa)) static
		static volatile unsigned sum;
		static volatile int in_handler;
		KEEP void work(unsigned n)
		{
			for (unsigned i = 0; i < n; i++)
				if (i % 5 == 2 || (i & 7) == 3)
					sum += i;
		}
		KEEP void end_child(void)
		{
			work(120);
			_exit(0);
		}
		KEEP void wait_for(pid_t child)
		{
			int status = 1;
			waitpid(child, &status, __WALL);
			printf("%d\n", status);
			fflush(stdout);
			work(120);
		}
		static int cloned(void *unused)
		{
			(void)unused;
			work(120);
			return 0;
		}
		static char stack[65536] __attribute__((aligned(16)));
		/* clone() writes to the stack of the child before there is one: the handler of that fault
		   makes another child */
		static char guarded[65536] __attribute__((aligned(65536)));
		static void faulted(int number)
		{
			pid_t child;
			(void)number;
			if (mprotect(guarded, sizeof(guarded), PROT_READ | PROT_WRITE))
				_exit(1);
			child = _Fork();
			if (!child)
				end_child();
			work(50);
			waitpid(child, NULL, 0);
		}
		/* the call is conditional in A32 code, the last thing of its function, one of two in a row */
		KEEP pid_t maybe(long number)
		{
			pid_t child = -1;
			if (number)
				child = (pid_t)syscall(number, SIGCHLD, 0, 0, 0, 0);
			return child;
		}
		KEEP pid_t last(void) { return _Fork(); }
		KEEP pid_t twice(void)
		{
			syscall(SYS_gettid);
			return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		}
		static void handler(int number)
		{
			pid_t child = _Fork();
			if (!child)
				end_child();
			in_handler = child != number;
			work(50);
		}
		/* it is interrupted when the child is about to be made */
		KEEP pid_t interrupted(void) { return (pid_t)syscall(SYS_kill, getpid(), SIGUSR1); }
		int main(void)
		{
			pid_t child;
			signal(SIGUSR1, handler);
			work(200);
			child = vfork();
			if (!child) {
				work(120);
				_exit(0);
			}
			wait_for(child);
			child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
			if (!child)
				end_child();
			wait_for(child);
			wait_for(clone(cloned, stack + sizeof(stack), SIGCHLD, 0));
			child = last();
			if (!child)
				end_child();
			wait_for(child);
			child = maybe(SYS_clone);
			if (!child)
				end_child();
			wait_for(child);
			child = twice();
			if (!child)
				end_child();
			wait_for(child);
			for (int i = 0; i < 3; i++) {
				interrupted();
				wait_for(-1);
			}
			signal(SIGSEGV, faulted);
			if (mprotect(guarded, sizeof(guarded), PROT_READ))
				return 2;
			wait_for(clone(cloned, guarded + sizeof(guarded), SIGCHLD, 0));
			child = fork();
			if (!child)
				end_child();
			wait_for(child);
			return in_handler - 1;
		}
	END
	export LITIFUT_MODE=paths
	for flags in "-O2" "-O1 -no-pie" "-O2 -static"; do
		# shellcheck disable=SC2086
		link program ../main.c || continue
		same_run program
		# the last system call of a static program is in recorded code, and does not return
		case $flags in *-static) ends=--killed ;; *) ends= ;; esac
		blocks_equal "--first $ends" program
	done
}

for_targets behaviour
