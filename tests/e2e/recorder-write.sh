#!/bin/sh
# LITIFUT_FILE=write: what is recorded is the same as with map, whatever the program does;
# what is lost when it is killed is at most a chunk.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# header OFFSET: a word of the header of the one trace
header()
{
	od -An -tu4 -j "$1" -N 4 --endian="$([ "$cpu" = mips ] && echo big || echo little)" \
		data/trace/*.trace | tr -d ' '
}

post()
{
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/work 2>post.err ||
		cat post.err >&2
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
}

# sum_is NUMBER NUMBER: what main() and libc call, or a handful of words of the recorder, makes no difference
sum_is()
{
	cat post.err
	[ "$1" -ge "$2" ] && [ "$1" -le $(($2 + 20)) ]
}

# What a file system is mapped on when nothing is asked for
way_of()
{
	case $(stat -f -c %T "$1") in
	ext2/ext3 | tmpfs | ramfs | xfs) echo 0 ;;
	*) echo 8 ;;
	esac
}

behaviour()
{
	cat >work.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/resource.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>
		__attribute__((noipa)) static int leaf(int n) { return n + 1; }
		__attribute__((noipa)) static int inner(int n) { return n + 2; }
		int (*volatile pointer)(int) = inner;
		static void *work(void *count)
		{
			long sum = 0;
			for (int i = 0; i < *(int *)count; i++) {
				sum += leaf(i);
				if (i % 4 == 0)
					sum += pointer(i);
			}
			return (void *)sum;
		}
		int main(int argc, char **argv)
		{
			const char *mode = argc > 1 ? argv[1] : "";
			int count = strcmp(mode, "short") ? 40000 : 40;
			pthread_t thread;
			if (pthread_create(&thread, NULL, work, &count))
				return 1;
			if (!strcmp(mode, "turns"))
				pthread_join(thread, NULL);
			work(&count);
			if (strcmp(mode, "turns"))
				pthread_join(thread, NULL);
			if (!strcmp(mode, "fork")) {
				pid_t child = fork();
				work(&count);
				if (child)
					waitpid(child, NULL, 0);
			}
			if (!strcmp(mode, "kill"))
				kill(getpid(), SIGKILL);
			if (!strcmp(mode, "limit")) {
				struct rlimit small = {20000, 20000};
				setrlimit(RLIMIT_FSIZE, &small);
				leaf(1);
			}
			puts("done");
			fflush(stdout);
			if (!strcmp(mode, "child") && !fork()) {
				work(&count);
				_exit(0);
			}
			if (!strcmp(mode, "child"))
				wait(NULL);
			if (!strcmp(mode, "_exit"))
				_exit(3);
			if (!strcmp(mode, "quick_exit"))
				quick_exit(4);
			if (!strcmp(mode, "abort"))
				abort();
			if (!strcmp(mode, "syscall"))
				syscall(SYS_exit_group, 5);
			if (!strcmp(mode, "execl")) {
				execl("./not there", "a", NULL);
				work(&count);
				execlp("true", "true", NULL);
			}
			if (!strcmp(mode, "execv"))
				execv("/bin/true", argv);
			return 0;
		}
	END
	flags=-pthread
	link work ../work.c || return 0

	guest_environment=LITIFUT_CLOCK=none
	same_run work short
	is "what this file system can be trusted with is taken" "$(($(header 44) & 8))" \
		"$(way_of data/trace)"
	for way in "" LITIFUT_CLOCK=mono LITIFUT_COMPACT=1 LITIFUT_BULK_KB=0 "LITIFUT_BULK_KB=16 LITIFUT_SUM=1 LITIFUT_COMPACT=0"; do
		guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=write $way"
		same_run work short
		post
		is "write $way: the header says so" "$(($(header 44) & 8))" 8
		is "write $way: few calls" "$(recorded leaf) $(recorded inner) $lost" "80 20 0"
		same_run work
		post
		is "write $way: all calls" "$(recorded leaf) $(recorded inner) $lost" "80000 20000 0"
	done
	guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=write LITIFUT_DEDUP=1"
	same_run work turns
	post
	is "dedup" "$(recorded leaf)" 1
	same_run work
	post
	leaves=$(recorded leaf)
	ok "dedup: both threads may make their first call at the same time: $leaves" test "$leaves" -ge 1 -a "$leaves" -le 2
	guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=write"
	same_run work fork
	post
	is "a child as well" "$(recorded leaf) $lost" "160000 0"
	same_run work kill
	post
	ok "killed: at most a chunk of 16,000 words for each thread is lost: $(recorded leaf)" \
		test "$(($(recorded leaf) + $(recorded inner)))" -ge $((100000 - 2 * 16384))
	for mode in _exit quick_exit abort syscall execv; do
		same_run work "$mode"
		post
		is "$mode: all calls" "$(recorded leaf) $(recorded inner) $lost" "80000 20000 0"
	done
	same_run work execl
	post
	is "an execl() that fails, and one that does not: all calls" "$(recorded leaf) $lost" "120000 0"
	same_run work child
	post
	is "a child that ends by _exit(): all calls" "$(recorded leaf) $lost" "120000 0"
	# where libc is traced, and its functions may be local
	link static ../work.c -static || return
	same_run static abort
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/static 2>post.err
	is "static, abort: all calls" "$(recorded leaf) $(recorded inner)" "80000 20000"
	# no SIGXFSZ when what is left is written
	same_run work limit
	post
	ok "a limit in the way of what is left: $(recorded leaf) and $(recorded inner) calls are there, $lost are counted" \
		sum_is "$(($(recorded leaf) + $(recorded inner) + lost))" 100001
	guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=write LITIFUT_START=off"
	same_run work
	post
	is "off" "$(recorded leaf) $lost" "0 0"
	guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=write LITIFUT_MAX_MB=1 LITIFUT_COMPACT=0 LITIFUT_BULK_KB=256"
	same_run work
	post
	# but for what a thread that has ended had in its scratch chunk
	ok "full: what is not there is counted" \
		test "$(($(recorded leaf) + $(recorded inner) + lost))" -ge $((100000 - 4096))
	guest_environment=
}

for_targets behaviour
