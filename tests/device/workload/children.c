/* Children that the emulator can't have: of vfork and clone, in their parent's memory
 * (one of them with a child of its own), and some that are made behind libc's back. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noipa)) static

static volatile unsigned sum;

KEEP void in_parent(unsigned n)
{
	sum += n;
}

KEEP void in_vfork(unsigned n)
{
	sum += n;
}

KEEP void in_nested(unsigned n)
{
	sum += n;
}

KEEP void in_shared(unsigned n)
{
	sum += n;
}

KEEP void in_raw_child(unsigned n)
{
	sum += n;
}

KEEP void wait_for(pid_t child)
{
	int status = 1;

	waitpid(child, &status, 0);
	printf("%d\n", status);
	fflush(stdout);
}

static char stack[65536] __attribute__((aligned(16)));

static int shared(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 10; i++)
		in_shared(i);
	return 0;
}

int main(void)
{
	for (unsigned i = 0; i < 20; i++) {
		pid_t child;

		for (unsigned j = 0; j < 1000; j++)
			in_parent(j);
		child = vfork();
		if (!child) {
			for (unsigned j = 0; j < 10; j++)
				in_vfork(j);
			if (i % 4 == 0 && !vfork()) {
				in_nested(i);
				_exit(0);
			}
			in_vfork(i);
			_exit(0);
		}
		wait_for(child);
		for (unsigned j = 0; j < 1000; j++)
			in_parent(j);
		child = clone(shared, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, 0);
		wait_for(child);
		in_parent(i);
		child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (!child) {
			for (unsigned j = 0; j < 10; j++)
				in_raw_child(j);
			_exit(0);
		}
		wait_for(child);
	}
	return 0;
}
