/* Children that the emulator can't have: of vfork, in their parent's memory, and
 * one that is made behind libc's back. */
#define _GNU_SOURCE
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
			_exit(0);
		}
		wait_for(child);
		for (unsigned j = 0; j < 1000; j++)
			in_parent(j);
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
