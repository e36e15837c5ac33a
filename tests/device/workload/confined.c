/* Programs that give up system calls, on a kernel that then ends whoever makes one:
 *   confined strict     all but read, write, exit and sigreturn
 *   confined filter     all but write and exit, by a filter
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(number)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(SYS_write),
	ALLOW(SYS_exit),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
};

__attribute__((noipa)) static void step(void)
{
	__asm__ volatile("");
}

int main(int count, char **arguments)
{
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	for (int i = 0; i < 1000; i++)
		step();
	if (count > 1 && !strcmp(arguments[1], "strict")) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	} else {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	}
	for (int i = 0; i < 400000; i++)
		step();
	if (write(1, "still here\n", 11) != 11)
		return 1;
	syscall(SYS_exit, 3);
	return 2;
}
