/* What programs ask of the kernel, and few ask for. Not each kernel has all of it, and qemu-user
 * has little of it: a case prints the same then, without and with tracing, so nothing is printed
 * that depends on the process's memory or on time. */

#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

static char *region;
static size_t page;
static int faults;
static volatile int stop;

static KEEP unsigned touch(unsigned n)
{
	hostile_sum += work(3);
	return (unsigned char)region[n * page] + work(3);
}

static void *serve_faults(void *nothing)
{
	char *full = aligned_alloc(page, page);

	memset(full, 7, page);
	for (;;) {
		struct uffd_msg message;
		struct uffdio_copy copy;

		if (read(faults, &message, sizeof(message)) != (ssize_t)sizeof(message))
			break;
		hostile_sum += work(50);
		memset(&copy, 0, sizeof(copy));
		copy.dst = message.arg.pagefault.address & ~(uint64_t)(page - 1);
		copy.src = (uintptr_t)full;
		copy.len = page;
		if (ioctl(faults, UFFDIO_COPY, &copy))
			puts("no page");
	}
	return nothing;
}

/* A thread that fills pages when another one touches them. */
static void run_userfault(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register all;
	pthread_t thread;
	unsigned sum = 0;

	page = (size_t)sysconf(_SC_PAGESIZE);
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api)) {
		puts("no userfaultfd");
		return;
	}
	region = mmap(0, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(&all, 0, sizeof(all));
	all.range.start = (uintptr_t)region;
	all.range.len = 64 * page;
	all.mode = UFFDIO_REGISTER_MODE_MISSING;
	if (ioctl(faults, UFFDIO_REGISTER, &all))
		puts("not registered");
	pthread_create(&thread, 0, serve_faults, 0);
	for (unsigned i = 0; i < 64; i++)
		sum += touch(i);
	printf("%u\n", sum);
	run_forks(2, 2000);
}

static int install_notifier(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

static void *answer(void *argument)
{
	int listener = *(int *)argument;
	struct seccomp_notif request;
	struct seccomp_notif_resp response;

	for (int i = 0; i < 20; i++) {
		memset(&request, 0, sizeof(request));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request))
			break;
		hostile_sum += work(200);
		memset(&response, 0, sizeof(response));
		response.id = request.id;
		response.val = 1234;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response))
			break;
	}
	return 0;
}

/* A system call that another thread of the process answers. */
static void run_notify(void)
{
	pid_t child = fork();

	if (!child) {
		int listener = install_notifier();
		pthread_t thread;
		long sum = 0;

		if (listener < 0) {
			puts("no notification");
			_exit(0);
		}
		pthread_create(&thread, 0, answer, &listener);
		for (int i = 0; i < 20; i++) {
			sum += syscall(SYS_getppid);
			hostile_sum += work(300);
		}
		pthread_join(thread, 0);
		printf("%ld\n", sum);
		_exit(0);
	}
	wait_for(child);
}

static pid_t observed;
static int observed_threads[8];
static int pipes[2];

/* In the child of a crash reporter: stops each thread of its parent, and looks. */
static int reports(void *argument)
{
	char go;
	int seen = 0;

	(void)argument;
	if (read(pipes[0], &go, 1) != 1)
		return 1;
	for (int i = 0; i < 4; i++) {
		int status;
		long regs[64];

		hostile_sum += work(300);
		if (ptrace(PTRACE_ATTACH, observed_threads[i], 0, 0))
			continue;
		if (waitpid(observed_threads[i], &status, __WALL) != observed_threads[i])
			continue;
		memset(regs, 0, sizeof(regs));
		if (!ptrace(PTRACE_GETREGS, observed_threads[i], 0, regs))
			seen++;
		hostile_sum += work(300);
	}
	for (int i = 0; i < 4; i++)
		ptrace(PTRACE_DETACH, observed_threads[i], 0, 0);
	printf("seen %d\n", seen);
	fflush(stdout);
	hostile_sum += work(300);
	return 0;
}

static int observe_flags;

static void on_crash(int number)
{
	static char stack[65536] __attribute__((aligned(16)));
	int status = 0;
	pid_t child;

	(void)number;
	hostile_sum += work(300);
	observed_threads[0] = (int)syscall(SYS_gettid);
	if (pipe(pipes))
		puts("no pipe");
	child = clone(reports, stack + sizeof(stack), observe_flags, 0);
	if (child < 0)
		puts("no clone");
	prctl(PR_SET_PTRACER, child, 0, 0, 0);
	if (write(pipes[1], "x", 1) != 1 || waitpid(child, &status, __WALL) != child)
		puts("no child");
	if (child > 0)
		printf("child %x\n", (unsigned)status);
	close(pipes[0]);
	close(pipes[1]);
	stop = 1;
}

static void *observed_thread(void *place)
{
	*(int *)place = (int)syscall(SYS_gettid);
	while (!stop)
		hostile_sum += work(100);
	return 0;
}

/* As breakpad and the leak sanitizer do, in a copy of the memory and in the memory itself. */
static void observe(int flags)
{
	pthread_t threads[3];
	char *room = malloc(65536);
	stack_t stack = {.ss_sp = room, .ss_size = 65536};

	observe_flags = flags;
	observed = getpid();
	stop = 0;
	memset(observed_threads, 0, sizeof(observed_threads));
	sigaltstack(&stack, 0);
	handle(SIGUSR1, on_crash, SA_ONSTACK);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, observed_thread, &observed_threads[i + 1]);
	for (int i = 0; i < 3; i++)
		while (!*(volatile int *)&observed_threads[i + 1])
			usleep(1000);
	hostile_sum += work(20000);
	raise(SIGUSR1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	hostile_sum += work(20000);
}

static void run_minidump(void)
{
	for (int i = 0; i < 5; i++)
		observe(i & 1 ? SIGCHLD : CLONE_FS | CLONE_UNTRACED);
}

static void run_leaks(void)
{
	for (int i = 0; i < 5; i++)
		observe(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED);
}

static void run_uring(void)
{
	struct io_uring_params params;
	int ring;

	memset(&params, 0, sizeof(params));
	ring = (int)syscall(SYS_io_uring_setup, 8, &params);
	if (ring < 0) {
		puts("no ring");
		return;
	}
	for (int i = 0; i < 20; i++) {
		hostile_sum += work(3000);
		printf("%ld\n",
		       syscall(SYS_io_uring_enter, ring, 0, 0, IORING_ENTER_GETEVENTS, 0, 0));
	}
	run_forks(2, 2000);
	close(ring);
}

static void run_secret(void)
{
	char *room;
	int file = -1;

#ifdef SYS_memfd_secret
	file = (int)syscall(SYS_memfd_secret, 0);
#endif
	if (file < 0 || ftruncate(file, 65536)) {
		puts("no secret");
		return;
	}
	room = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (room == MAP_FAILED) {
		puts("no room");
		return;
	}
	memset(room, 1, 65536);
	hostile_sum += work(50000);
	run_forks(2, 3000);
}

/* What the kernel says of the process is changed: the places of its stack, arguments, heap. */
static void run_setmm(void)
{
	static const int what[] = {PR_SET_MM_ARG_START, PR_SET_MM_ARG_END, PR_SET_MM_ENV_START,
				   PR_SET_MM_ENV_END, PR_SET_MM_START_STACK};
	char *words = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		printf("%d\n", prctl(PR_SET_MM, what[i], (unsigned long)words + i * 16, 0, 0));
		hostile_sum += work(20000);
		run_forks(2, 3000);
	}
	run_threads(3, 3000, 0);
}

/* Each clock that can be set is set back; only where the machine is the test's. */
static void run_clocks(void)
{
	struct timespec time;

	for (int i = 0; i < 5; i++) {
		hostile_sum += work(20000);
		clock_gettime(CLOCK_REALTIME, &time);
		time.tv_sec -= 3600;
		printf("%d\n", clock_settime(CLOCK_REALTIME, &time));
		hostile_sum += work(20000);
		run_forks(1, 3000);
	}
}

static KEEP unsigned grow(unsigned n)
{
	volatile char room[600];

	room[n % sizeof(room)] = 1;
	return n ? grow(n - 1) + work(1) + (unsigned)room[n % sizeof(room)] : 0;
}

static void *grows(void *nothing)
{
	hostile_sum += grow(600);
	return nothing;
}

/* A thread whose stack grows downwards into nothing. */
static void run_grows(void)
{
	size_t first = 256 << 10;

	for (int i = 0; i < 10; i++) {
		pthread_attr_t attributes;
		pthread_t thread;
		char *room = mmap(0, 8 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		char *stack = room + (8 << 20) - first;

		munmap(room, 8 << 20);
		stack = mmap(stack, first, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_STACK | MAP_FIXED,
			     -1, 0);
		pthread_attr_init(&attributes);
		if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, first) ||
		    pthread_create(&thread, &attributes, grows, 0)) {
			puts("no thread");
			return;
		}
		pthread_join(thread, 0);
		munmap(stack, first);
	}
}

const struct hostile_case kernel_cases[] = {
	{"userfault", run_userfault}, {"notify", run_notify},
	{"minidump", run_minidump},   {"leaks", run_leaks},
	{"uring", run_uring},         {"secret", run_secret},
	{"setmm", run_setmm},         {"clocks", run_clocks},
	{"grows", run_grows},         {NULL, NULL},
};
