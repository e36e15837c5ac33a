#!/bin/sh
# LITIFUT_MODE=counts: a counter for each call site, exactly what the oracle sees, with threads and a
# timer's handler, in a library that is linked in and one that is opened, of parent and child, and
# of a process that is killed. A counter carries beyond 2^32.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mips

program_source()
{
	cat >main.c <<-'END'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/time.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		static volatile int sink, ticks;
		static jmp_buf place;
		int from_library(int);
		KEEP int leaf(int x) { return x + 1; }
		KEEP int again(int d) { return d ? again(d - 1) + leaf(d) : leaf(0); }
		KEEP int tail(int x) { return leaf(x + 1); }
		KEEP int pointed(int (*f)(int), int x) { int r = f(x); return r + x; }
		KEEP int pointed_tail(int (*f)(int), int x) { return f(x + 1); }
		KEEP void leave(int d) { if (d) leave(d - 1); longjmp(place, 1); }
		KEEP int maybe(int x) { if (x & 1) x = leaf(x); if (x & 2) x = tail(x); return x; }
		KEEP void of_handler(int n) { sink = leaf(n); }
		static void handler(int n) { of_handler(n); ticks++; }
		KEEP void of_child(int n) { sink = leaf(n); }
		KEEP void start_timer(void)
		{
			struct itimerval often = {{0, 500}, {0, 500}};
			signal(SIGALRM, handler);
			setitimer(ITIMER_REAL, &often, 0);
		}
		KEEP void wait_for_ticks(void)
		{
			while (ticks < 3)
				sink = leaf(sink);
			signal(SIGALRM, SIG_IGN);
			fprintf(stderr, "%d\n", ticks);
		}
		static void *work(void *argument)
		{
			int sum = 0;
			for (int i = 0; i < 300; i++)
				sum += leaf(i) + tail(i) + pointed(i & 1 ? leaf : tail, i) + maybe(i);
			return argument ? 0 : (void *)(long)sum;
		}
		static void all(int rounds)
		{
			volatile int sum = 0;
			for (volatile int i = 0; i < rounds; i++) {
				sum += again(i) + pointed_tail(tail, i) + from_library(i);
				if (!setjmp(place))
					leave(i & 3);
			}
			printf("%d\n", sum);
		}
		int main(int argc, char **argv)
		{
			if (argc > 2) {
				pthread_t threads[8];
				void *opened = dlopen(argv[2], RTLD_NOW);
				int (*function)(int) = opened ? (int (*)(int))dlsym(opened, "opened") : 0;
				if (*argv[1] == 'o')
					start_timer();
				for (int i = 0; i < 8; i++)
					if (pthread_create(&threads[i], 0, work, argv))
						return 1;
				for (int i = 0; i < 8; i++)
					pthread_join(threads[i], 0);
				if (*argv[1] == 'o')
					wait_for_ticks();
				printf("%d\n", function ? function(3) : -1);
				if (opened)
					dlclose(opened);
			}
			all(20);
			fflush(stdout);
			if (argc > 1 && *argv[1] == 'f') {
				int id = fork(), status;
				if (!id) {
					for (volatile int i = 0; i < 5; i++)
						of_child(i);
					_exit(7);
				}
				waitpid(id, &status, 0);
				printf("%d\n", WEXITSTATUS(status));
			}
			if (argc > 1 && *argv[1] == 'k')
				kill(getpid(), SIGKILL);
			return 0;
		}
	END
	cat >library.c <<-'END'
		__attribute__((noipa)) static int within(int x) { return x * 2; }
		int from_library(int x) { return within(x) + within(x + 1); }
	END
	cat >opened.c <<-'END'
		__attribute__((noipa)) static int deeper(int x) { return x * 2; }
		int opened(int x) { return deeper(x) + deeper(x + 1); }
	END
}

# Without what the timer is about
without_timer()
{
	grep -v 'handler\|ticks\|start_timer' out.csv | sort
}

# The handler comes at any instruction, and no count of the calls it interrupts is another. (The
# oracle may miss a tail call between whose halves it comes.)
with_timer()
{
	without_timer >quiet.csv
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced program often libopened.so
	guest_environment=
	# shellcheck disable=SC2046
	"$BUILD/bin/litifut-post" -q -f csv -o out.csv data $(traced_files)
	without_timer >interrupted.csv
	ok "a timer's handler at any time changes no count" diff quiet.csv interrupted.csv
	is "its own calls are counted" \
		"$(awk -F , '/"handler".*"of_handler"/ { print $7 }' out.csv)" "$(cat traced.err)"
}

# How often the child's function was called, of each trace.
of_each_process()
{
	for trace in data/trace/*.trace; do
		"$BUILD/bin/litifut-post" -q -f csv "$trace" data/maps traced/program |
			awk -F , '$0 ~ /of_child/ && $0 ~ /main/ { print $1; found = 1 }
				END { if (!found) print "none" }' | wc -l
	done
}

wraps()
{
	cat >wraps.c <<-'END'
		#include <stdint.h>
		#include <stdio.h>
		extern uint32_t litifut_flags[] __attribute__((weak, visibility("hidden")));
		__attribute__((noipa)) static int counted(int x) { return x; }
		int main(void)
		{
			for (int i = 0; i < 777 + 5; i++) {
				int at = 1024;
				counted(i);
				if (i != 776 || !litifut_flags)
					continue;
				/* the one counter that has this value */
				while (litifut_flags[at] != 777 || litifut_flags[at + 1])
					at++;
				litifut_flags[at] = 0xfffffffe;
			}
			puts("done");
			return 0;
		}
	END
	link wraps ../wraps.c || return
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced wraps
	guest_environment=
	is "a counter carries beyond 2^32" "$("$BUILD/bin/litifut-post" -q -f edges data traced/wraps |
		awk '/counted/ { print $1 }')" 4294967299
}

# What can't be counted is said.
without_counts()
{
	cat >ends.c <<-'END'
		#include <unistd.h>
		__attribute__((noipa)) static void step(void) { __asm__ volatile(""); }
		int main(void) { for (int i = 0; i < 9; i++) step(); _exit(0); }
	END
	link ends ../ends.c || return
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_FILE=write"
	run traced ends
	"$BUILD/bin/litifut-post" -f edges -o edges.txt data traced/ends 2>post.err
	ok "written at an end that is not seen: said" grep -q 'it has no counts of ' post.err
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	(ulimit -f 60 && run traced ends)
	guest_environment=
	"$BUILD/bin/litifut-post" -f edges -o edges.txt data traced/ends 2>post.err
	ok "no room in the file: said" grep -q 'it has no counts of ' post.err
	ok "no room in the file: a loss" grep -q ' 0 calls, [1-9][0-9]* lost' post.err
	printf 'void step(void) { }\nvoid first(void) { step(); for (;;); }\n' >alone.c
	LITIFUT_MODE=coverage "$BUILD/bin/litifut" build -q "$triplet-gcc" -nostdlib -static -Wl,-e,first \
		-o alone alone.c 2>alone.log
	ok "no libc: left untraced, and said" grep -q 'left untraced: .*runs constructors' alone.log
	"$BUILD/bin/litifut" build -q "$triplet-gcc" -nostdlib -static -Wl,-e,first -o alone alone.c 2>alone.log
	ok "no libc: counts as well" grep -q 'left untraced: .*runs constructors' alone.log
}

# A program that opens a library for each request does not grow.
opens_often()
{
	cat >opens.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		static unsigned long mapped(void)
		{
			FILE *maps = fopen("/proc/self/maps", "r");
			unsigned long from, to, sum = 0;
			char line[512];
			while (fgets(line, sizeof(line), maps))
				if (sscanf(line, "%lx-%lx", &from, &to) == 2)
					sum += to - from;
			fclose(maps);
			return sum;
		}
		int main(int argc, char **argv)
		{
			unsigned long before = 0;
			for (int i = 0; i < 60; i++) {
				void *opened = dlopen(argv[1], RTLD_NOW);
				((int (*)(int))dlsym(opened, "opened"))(i);
				dlclose(opened);
				if (i == 20)
					before = mapped();
			}
			puts(mapped() - before > (1 << 20) ? "grown" : "not grown");
			return argc - 2;
		}
	END
	link opens ../opens.c -ldl || return
	for guest_environment in LITIFUT_FILE=write LITIFUT_FILE=map; do
		same_run opens libopened.so
		is "$guest_environment: memory after 60 loadings" "$(cat traced.out)" "not grown"
	done
	guest_environment=
}

behaviour()
{
	export LITIFUT_MODE=counts
	program_source
	for library in library opened; do
		link "lib$library.so" -shared -fPIC "../$library.c" || return
	done
	link program ../main.c -L. -llibrary -lpthread -ldl || return
	link fixed ../main.c ../library.c -no-pie -lpthread -ldl
	same_run program fork libopened.so
	counts_equal_calls '' program threads libopened.so
	with_timer
	counts_equal_calls '' program fork
	is "the child's calls are its own" "$(of_each_process | sort | paste -s -d ' ')" "1 1"
	counts_equal_calls least program killed
	settings="LITIFUT_FILE=write LITIFUT_CLOCK=mono"
	counts_equal_calls '' fixed
	settings=
	is "a clock gives counts no times: report has every counted call" "$("$BUILD/bin/litifut-post" -q \
		report data traced/fixed | awk 'NR == 1 && $1 == "calls" { head = 1 } head && NR > 1 { n += $1 } END { print n }')" \
		"$("$BUILD/bin/litifut-post" -q edges data traced/fixed | awk '{ n += $1 } END { print n }')"
	is "the summary does not say 0 threads" "$("$BUILD/bin/litifut-post" -f report -o report data traced/fixed 2>&1 |
		grep -o ' 1 process, .*module')" " 1 process, 1 module"
	is "it says how many calls led where counts do not record" \
		"$("$BUILD/bin/litifut-post" -f report -o report data traced/fixed 2>&1 |
			sed -n 's/^litifut-post: \([0-9]*\) calls led through a pointer, .*/\1/p')" \
		"$("$BUILD/bin/litifut-post" -q -f edges data traced/fixed | awk '$NF == "?" { n += $1 } END { print n }')"
	if link static ../main.c ../library.c -static -lpthread; then
		counts_equal_calls '' static
	fi
	wraps
	opens_often
	without_counts
}

for_targets behaviour
