/* Runs a program as an older kernel would: what came after Linux 2.6.32 and the
 * recorder asks for is refused, as that kernel refuses what it does not know.
 *
 *   old_kernel PROGRAM ARGUMENTS...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(number, error)                                                                      \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

int main(int count, char **arguments)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(SYS_fallocate, ENOSYS), /* 2.6.23, on few file systems before 2.6.39 */
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (count < 2) {
		fprintf(stderr, "usage: old_kernel PROGRAM ARGUMENTS...\n");
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("old_kernel: seccomp");
		return 125;
	}
	execvp(arguments[1], arguments + 1);
	perror(arguments[1]);
	return 127;
}
