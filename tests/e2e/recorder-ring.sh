#!/bin/sh
# LITIFUT_RING_KB: the newest events are kept, in a file that does not grow.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

header()
{
	od -An -tu4 -j "$1" -N 4 --endian="$([ "$cpu" = mips ] && echo big || echo little)" \
		data/trace/*.trace | tr -d ' '
}

post()
{
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/* 2>post.err
	post_status=$?
	[ $post_status = 0 ] || cat post.err >&2
	return $post_status
}

bytes()
{
	stat -c %s data/trace/*.trace
}

behaviour()
{
	cat >library.c <<-'END'
		__attribute__((noipa)) static int inside(int n) { return n + 1; }
		int NAME(int n)
		{
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum += inside(i);
			return sum;
		}
	END
	cat >work.c <<-'END'
		#include <dlfcn.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#include <unistd.h>
		#define STAGE(n) __attribute__((noipa)) static int stage##n(int a) { return a + n; }
		STAGE(0) STAGE(1) STAGE(2) STAGE(3) STAGE(4) STAGE(5) STAGE(6) STAGE(7)
		#define RUN(n) for (int i = 0; i < 30000; i++) sum += stage##n(i)
		static int call(const char *file, const char *name, int n)
		{
			void *library = dlopen(file, RTLD_NOW);
			int (*function)(int) = library ? dlsym(library, name) : NULL;
			int sum = function ? function(n) : -1;
			if (library)
				dlclose(library);
			return sum;
		}
		int main(int argc, char **argv)
		{
			int sum = 0;
			if (argc > 1 && !strcmp(argv[1], "libraries")) {
				sum += call("libone.so", "one", 60000);
				sum += call("libtwo.so", "two", 60000);
			}
			RUN(0);
			RUN(1);
			RUN(2);
			RUN(3);
			RUN(4);
			RUN(5);
			RUN(6);
			RUN(7);
			if (argc > 1 && !strcmp(argv[1], "kill"))
				kill(getpid(), SIGKILL);
			if (argc > 1 && !strcmp(argv[1], "libraries"))
				sum += call("libtwo.so", "two", 20000);
			printf("%d\n", sum & 1);
			return 0;
		}
	END
	flags="-fPIC -shared -DNAME=one"
	link libone.so ../library.c || return 0
	flags="-fPIC -shared -DNAME=two"
	link libtwo.so ../library.c || return 0
	flags=-ldl
	link work ../work.c || return 0

	for way in LITIFUT_COMPACT=0 LITIFUT_COMPACT=1 "LITIFUT_COMPACT=0 LITIFUT_CLOCK=mono"; do
		guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=map $way LITIFUT_RING_KB=256"
		same_run work
		ok "$way: the trace is read" post
		is "$way: the header says that it is a ring" "$(($(header 44) & 4))" 4
		ok "$way: the file has no more than 256 KB and a header: $(bytes)" \
			test "$(bytes)" -le $((16384 + 256 * 1024))
		is "$way: the last stage is whole" "$(recorded stage7)" 30000
		if [ "$way" != LITIFUT_COMPACT=1 ]; then
			is "$way: the start is not" "$(recorded stage0)" 0
			ok "$way: chunks that are gone are counted" test "$(header 112)" -ge 8
			ok "$way: and litifut-post says so" \
				grep "$(header 112) chunks of the ring were overwritten" post.err
		fi
	done
	guest_environment="LITIFUT_CLOCK=none LITIFUT_COMPACT=0 LITIFUT_FILE=map LITIFUT_RING_KB=256"
	same_run work kill
	post
	is "killed: the last stage is there" "$(recorded stage7)" 30000
	# what was loaded before belongs to an epoch whose word is not there any more
	same_run work libraries
	post
	is "libraries that come and go: the names are right" \
		"$(recorded inside) $(grep -c 'libone' events.tsv)" "20000 0"
	# where a mapping could bring a SIGBUS there is no ring, but the bound holds
	guest_environment="LITIFUT_CLOCK=none LITIFUT_COMPACT=0 LITIFUT_FILE=write LITIFUT_RING_KB=256"
	same_run work
	ok "written: the trace is read" post
	is "written: the header does not say that it is a ring" "$(($(header 44) & 4))" 0
	ok "written: the file has no more than 256 KB and a header: $(bytes)" \
		test "$(bytes)" -le $((16384 + 256 * 1024))
	is "written: the first stage is whole" "$(recorded stage0)" 30000
	guest_environment=
}

# Handlers that are left by siglongjmp, and handlers that fill the ring and return, each between
# any two instructions of a recorded call.
interrupted()
{
	cat >jumps.c <<-'END'
		#include <pthread.h>
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/time.h>
		#define KEEP __attribute__((noipa))
		static sigjmp_buf place;
		static volatile int ticks, limit, holds;
		static volatile unsigned sum;
		static KEEP unsigned step(unsigned x) { return x + 1; }
		static KEEP unsigned last(unsigned x) { return x + 2; }
		static KEEP unsigned inside(unsigned x) { return x + 3; }
		/* of processor time, so that the program gets on in between */
		static KEEP void again(void)
		{
			struct itimerval once = {{0, 0}, {0, 500}};
			ticks++;
			if (ticks < limit)
				setitimer(ITIMER_VIRTUAL, &once, 0);
		}
		static void jump(int number) { (void)number; siglongjmp(place, 1); }
		static void stay(int number)
		{
			for (int i = 0; i < 20000; i++)
				sum += inside((unsigned)number);
			again();
		}
		/* Has the stack name all that is mapped of the trace, at each second time. */
		static KEEP void hold(volatile unsigned *words, int count)
		{
			FILE *maps = fopen("/proc/self/maps", "r");
			char line[512];
			unsigned at, end;
			int i = 0;
			while (fgets(line, sizeof(line), maps))
				if (strstr(line, ".trace") && sscanf(line, "%x-%x", &at, &end) == 2)
					for (; at < end && i < count; at += 16384)
						words[i++] = ticks & 8 ? at : 0;
			fclose(maps);
		}
		static KEEP void *work(void *unused)
		{
			volatile unsigned words[128] = {0};
			sigset_t set;
			sigfillset(&set);
			sigsetjmp(place, 1);
			if (holds)
				hold(words, 128);
			again();
			pthread_sigmask(SIG_UNBLOCK, &set, 0);
			while (ticks < limit)
				sum += step((unsigned)ticks);
			for (int i = 0; i < 30000; i++)
				sum += last((unsigned)i);
			return unused;
		}
		int main(int argc, char **argv)
		{
			static char alternate[65536];
			stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
			struct sigaction action;
			sigset_t set;
			pthread_t thread;
			limit = atoi(argv[2]);
			holds = argc > 3 && *argv[3] == 'h';
			memset(&action, 0, sizeof(action));
			action.sa_handler = *argv[1] == 'j' ? jump : stay;
			if (argc > 3 && *argv[3] == 'a') {
				sigaltstack(&stack, 0);
				action.sa_flags = SA_ONSTACK;
			}
			sigaction(SIGVTALRM, &action, 0);
			if (argc > 3 && *argv[3] == 't') {
				sigfillset(&set);
				pthread_sigmask(SIG_BLOCK, &set, 0);
				pthread_create(&thread, 0, work, 0);
				pthread_join(thread, 0);
			} else {
				work(0);
			}
			puts("done");
			return 0;
		}
	END
	flags=-pthread
	link jumps ../jumps.c || return 0
	guest_environment="LITIFUT_CLOCK=none LITIFUT_COMPACT=0 LITIFUT_FILE=map LITIFUT_RING_KB=256 LITIFUT_DIR=$(pwd)/data"
	for way in "jump 60" "jump 60 thread" "stay 20 alternate" "stay 20 thread"; do
		rm -rf data
		# shellcheck disable=SC2086
		run traced jumps $way
		is "$way: the program ends as ever" "$(cat traced.out traced.status)" "done
0"
		"$BUILD/bin/litifut-post" -f tsv -o events.tsv data traced/jumps 2>post.err
		is "$way: the newest calls are there" "$(recorded last)" 30000
		ok "$way: and none is lost" grep -q ', 0 lost,' post.err
		# a late store to a chunk of newer events would be one of these
		ok "$way: calls of a handler are together" unbroken
	done
	guest_environment=
	tables
}

# The same, where full chunks are folded and used again: the file does not grow with the jumps, nor
# with words that happen to be on the stack for a while and look as if a store were pending. Then 16
# chunks wait at most and 16 with a slot that was given up, besides the header, the table and those
# in use: 37. Each chunk that is not used again would be one more for some 40 jumps, which are more with LONG.
tables()
{
	[ "$target" != armel ] || return 0 # it has no such mode
	export LITIFUT_MODE=table
	link jumps ../jumps.c
	unset LITIFUT_MODE
	guest_environment="LITIFUT_CLOCK=none LITIFUT_FILE=map LITIFUT_DIR=$(pwd)/data"
	while read -r chunks way; do
		rm -rf data
		# shellcheck disable=SC2086
		run traced jumps $way </dev/null
		is "table, $way: the program ends as ever" "$(cat traced.out traced.status)" "done
0"
		ok "table, $way: the file stays small: $(bytes)" test "$(bytes)" -le $((chunks * 16384))
	done <<-END
		22 jump 300
		37 jump $([ -n "${LONG:-}" ] && echo 2400 || echo 1200) hold
	END
	guest_environment=
}

unbroken()
{
	awk -F '\t' '
		$10 == "inside" && before == "step" && run == 1 && first == "inside" { print NR; wrong = 1 }
		{ run++ }
		$10 != before { run = 1; first = before; before = $10 }
		END { exit wrong }' events.tsv
}

everything()
{
	behaviour
	interrupted
}

for_targets everything
