/* Holds a thread of a program inside one system call, while another thread goes on. So what it
 * does between two system calls is interrupted at a place that is the same each time.
 *
 *   hold_call NUMBER PROGRAM ARGUMENTS...
 *
 * The program marks with getpriority(PRIO_USER, 4711) where calls of a thread begin to count, and
 * with 4712 in another thread that it waits until that thread is held in its call NUMBER of those
 * below, or has come to its end, which is 4713. 4714 lets it go on.
 *
 * Returns what the program does; 9: there were fewer calls. Under qemu-user the calls are those
 * of the emulator for the program. It holds a lock of its own when it maps memory, so such calls
 * are not among them. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const unsigned watched[] = {
	SYS_getpriority, SYS_openat,   SYS_fallocate,  SYS_pwrite64, SYS_pread64,   SYS_write,
	SYS_fstatfs,     SYS_fstat,    SYS_newfstatat, SYS_fcntl,    SYS_prlimit64, SYS_tgkill,
	SYS_mkdirat,     SYS_unlinkat, SYS_renameat,   SYS_getppid,  SYS_fsync,     SYS_close};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

static int listen_here(void)
{
	struct sock_filter filter[2 * WATCHED + 2];
	struct sock_fprog program = {2 * WATCHED + 2, filter};
	size_t at = 0;

	filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < WATCHED; i++) {
		filter[at++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, watched[i], 0, 1);
		filter[at++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* sendmsg() and recvmsg() are not watched. */
static bool pass(int socket, int *descriptor, bool send)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = room,
				 .msg_controllen = sizeof(room)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	if (send) {
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), descriptor, sizeof(int));
		return sendmsg(socket, &message, 0) == 1;
	}
	if (recvmsg(socket, &message, 0) != 1 || !(head = CMSG_FIRSTHDR(&message)))
		return false;
	memcpy(descriptor, CMSG_DATA(head), sizeof(int));
	return true;
}

static void go_on(int listener, uint64_t id)
{
	struct seccomp_notif_resp answer = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	if (id)
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Until the last process with the filter is gone. True: a call was held. */
static bool supervise(int listener, unsigned number)
{
	uint64_t held = 0, waiting = 0;
	bool was_held = false, ended = false;
	unsigned count = 0, thread = 0;
	struct seccomp_notif call;

	for (;;) {
		struct pollfd ready = {.fd = listener, .events = POLLIN};

		if (poll(&ready, 1, -1) == 1 && !(ready.revents & POLLIN))
			return was_held;
		memset(&call, 0, sizeof(call));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue;
		unsigned mark = call.data.nr == SYS_getpriority ? (unsigned)call.data.args[1] : 0;

		if (mark == 4711)
			thread = call.pid;
		if (mark == 4713)
			ended = true;
		if (mark == 4712)
			waiting = call.id;
		else if (!mark && thread == call.pid && !ended && ++count == number)
			held = call.id;
		else
			go_on(listener, call.id);
		if (mark == 4714) {
			go_on(listener, held);
			held = 0;
		}
		if (waiting && (held || ended)) {
			was_held = !ended;
			go_on(listener, waiting);
			waiting = 0;
		}
	}
}

int main(int count, char **arguments)
{
	int sockets[2], listener, status;
	pid_t child;

	if (count < 3) {
		fprintf(stderr, "usage: hold_call NUMBER PROGRAM ARGUMENTS...\n");
		return 2;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 125;
	child = fork();
	if (!child) {
		listener = listen_here();
		if (listener < 0 || !pass(sockets[1], &listener, true))
			_exit(125);
		execvp(arguments[2], arguments + 2);
		_exit(127);
	}
	syscall(SYS_close, sockets[1]);
	if (child < 0 || !pass(sockets[0], &listener, false))
		return 125;
	bool was_held = supervise(listener, (unsigned)strtoul(arguments[1], NULL, 10));

	if (waitpid(child, &status, 0) != child)
		return 125;
	if (!was_held)
		return 9;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
