#!/bin/sh
# LITIFUT_MODE=table: nothing but a table of calls for each thread, made on the device while the
# program runs. It has the numbers that a recording of all calls and returns gives, and both are
# what the oracle saw, to the instruction.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# traced_csv NAME ARGUMENTS...: runs it under the oracle; what litifut-post says is in out.csv
traced_csv()
{
	run_timed "$@"
	# shellcheck disable=SC2046
	"$BUILD/bin/litifut-post" -f csv -o out.csv data $(traced_files) 2>post.err || cat post.err >&2
}

# equals_oracle WHAT HOW: HOW as in table.py
equals_oracle()
{
	# shellcheck disable=SC2046,SC2086
	ok "$1" python3 "$root/tests/oracle/table.py" ${2:-} oracle out.csv $(traced_files)
}

# table_of PROGRAM SOURCE FLAGS...: links it, compares what it does, and its times
table_of()
{
	export LITIFUT_CLOCK=page LITIFUT_MODE=table
	link "$@" || return
	unset LITIFUT_CLOCK LITIFUT_MODE
	same_run "$1"
	traced_csv "$1"
	equals_oracle "$1: the table is what the oracle saw" "${how:-}"
}

kind_of_chunks()
{
	python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
order = "<" if data[8:12] == b"\4\3\2\1" else ">"
first, size = struct.unpack_from(order + "II", data, 16)
print(*sorted(struct.unpack_from(order + "H", data, at + 4)[0] for at in range(first, len(data), size)))
' data/trace/*.trace
}

behaviour()
{
	cat >main.c <<-'END'
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		static volatile int sink;
		static jmp_buf place;
		static sigjmp_buf out;
		KEEP int leaf(int x) { sink++; return x + 1; }
		KEEP int again(int d)
		{
			int r = leaf(d);
			if (d) { r += again(d - 1); r += leaf(r & 3); }
			return r & 0xff;
		}
		KEEP void leave(int d) { leaf(d); if (d) leave(d - 1); else longjmp(place, 1); sink++; }
		KEEP int jumps(int d)
		{
			volatile int k = d;
			if (d) k += jumps(d - 1);
			if (!setjmp(place)) leave(k & 3);
			k += leaf(2);
			return k & 7;
		}
		KEEP int tail(int x) { sink++; return leaf(x); }
		KEEP int tails(int x) { sink += leaf(x); return tail(x); }
		KEEP int pointed(int (*f)(int), int x) { int r = f(x); sink += r; return r; }
		KEEP int pointed_tail(int (*f)(int), int x) { sink += leaf(1); return f(x); }
		KEEP int total(const char *room, int n) { return leaf(room[n - 1]); }
		/* the stack pointer is given back right behind the last call */
		KEEP int variable(int n) { char room[n]; memset(room, n, n); return total(room, n); }
		static int compare(const void *a, const void *b)
		{
			return leaf(*(const int *)a) - tail(*(const int *)b);
		}
		KEEP void handler(int n) { sink += leaf(n) + again(2); }
		KEEP void leaves(int n) { leaf(n); siglongjmp(out, 1); }
		int main(int argc, char **argv)
		{
			int rounds = argc > 1 ? atoi(argv[1]) : 100;
			signal(SIGUSR1, handler);
			signal(SIGUSR2, leaves);
			for (int i = 0; i < rounds; i++) {
				int numbers[32];
				for (int k = 0; k < 32; k++)
					numbers[k] = k * 37 % 32;
				sink += leaf(i) + tail(i) + pointed(leaf, i) + pointed(tails, i);
				sink += pointed_tail(tails, i) + pointed_tail(leaf, i) + again(i % 7) + jumps(i % 3);
				sink += variable(i % 50 + 1);
				if (i % 50 == 0) qsort(numbers, 32, sizeof(int), compare);
				if (i % 20 == 0) raise(SIGUSR1);
				if (i % 30 == 0 && !sigsetjmp(out, 1)) { again(2); raise(SIGUSR2); }
			}
			printf("%d\n", sink);
			fflush(stdout);
			if (argc > 2)
				raise(SIGKILL);
			return 0;
		}
	END
	if [ "$target" = armel ]; then
		# its thunks need a CPU that armel programs do not
		ok "without thunks the link warns" sh -c '
			LITIFUT_MODE=table "$@" 2>&1 | grep "LITIFUT_MODE.*returns"' sh \
			"$BUILD/bin/litifut" build -q "$triplet-gcc" -O2 main.c -o main
		return
	fi
	table_of program ../main.c || return
	cp out.csv table.csv
	export LITIFUT_CLOCK=page LITIFUT_MODE=spans
	link program ../main.c || return
	unset LITIFUT_CLOCK LITIFUT_MODE
	traced_csv program
	equals_oracle "program: so are the spans"
	# a call through the GOT that came the long way has its callee, and a row of its own
	for which in table out; do
		awk -F, -v OFS=, '{ key = $1 OFS $2 OFS $4 OFS $5 OFS $6; calls[key] += $7; timed[key] += $8 }
			END { for (key in calls) print key, calls[key], timed[key] }' $which.csv | sort >$which.counts
	done
	ok "both have the same calls, and as many with times" diff table.counts out.counts

	table_of program-Os ../main.c -Os || return
	# shellcheck disable=SC2046
	"$BUILD/bin/litifut-post" -q -F nosuch -f csv -o filtered.csv data $(traced_files) 2>filtered
	is "what filters leave nothing out of is said" "$(grep -c 'leave nothing out of sums' filtered)" 1
	table_of static ../main.c -static || return

	# whole at any moment, and of bounded size
	traced_csv static 50 killed
	is "killed by SIGKILL" "$(cat traced.status)" 137
	equals_oracle "killed: the table is what the oracle saw"
	traced_csv static 60
	short=$(wc -c <"$(echo data/trace/*.trace)")
	kind_of_chunks >short.kinds
	traced_csv static 600
	is "ten times the calls need no more room" "$(wc -c <"$(echo data/trace/*.trace)")" "$short"
	ok "nor other chunks" sh -c 'diff short.kinds - && grep -qx "1 3 4" short.kinds' <<-END
		$(kind_of_chunks)
	END
	equals_oracle "and are what the oracle saw"
	settings=LITIFUT_FILE=write
	traced_csv program-Os
	settings=
	ok "written, not mapped: a table" sh -c 'kinds=$(cat) && [ "${kinds#* 3}" != "$kinds" ]' <<-END
		$(kind_of_chunks)
	END
	equals_oracle "and the same"

	for format in report edges dot callgrind sqlite json; do
		# shellcheck disable=SC2046
		ok "litifut-post -f $format takes a table" "$BUILD/bin/litifut-post" -f $format \
			-o "out.$format" data $(traced_files)
	done
	# shellcheck disable=SC2046
	ok "litifut-post -f graph says that it can't show one" sh -c \
		'"$@" 2>&1 >/dev/null | grep "sums only.*graph can.t show it"' sh \
		"$BUILD/bin/litifut-post" -f graph data $(traced_files)
	# shellcheck disable=SC2046
	is "callers-of without a result prints no heading" \
		"$("$BUILD/bin/litifut-post" -q callers-of nobody data $(traced_files) 2>/dev/null)" ""
	ok "callgrind has the calls of main" grep -q '^calls=' out.callgrind

	# calls from a library and into it
	sed 's/main(int argc, char \*\*argv)/work(int argc, char **argv)/' main.c >library.c
	# what the first call of `ending` goes through does not return, before the tail call in it
	echo 'KEEP int ending(int x) { sink += x; return leaf(x); }' >>library.c
	cat >caller.c <<-'END'
		int work(int, char **);
		int ending(int);
		int main(int c, char **v)
		{
			int r = work(c, v);
			return ending(c) ? r : 0;
		}
	END
	export LITIFUT_CLOCK=page LITIFUT_MODE=table
	link libwork.so ../library.c -shared -fPIC || return
	table_of with-library ../caller.c -L. -lwork

	# a library of another family, which is started before the program and so fixes that
	unset LITIFUT_MODE LITIFUT_CLOCK
	rm -rf other && mkdir other
	(cd other && LITIFUT_MODE=calls LITIFUT_CLOCK=page "$BUILD/bin/litifut" build \
		"$triplet-gcc" -O2 -shared -fPIC ../library.c -o libwork.so) 2>other.err
	rm -rf data
	ok "it runs with a library of another mode" env -i LITIFUT_CLOCK=page LITIFUT_DIR="$(pwd)/data" \
		"qemu-$cpu" -L "$sysroot" -plugin "$BUILD/tests/oracle.so,clock=1" \
		-E LD_LIBRARY_PATH="$(pwd)/other" traced/with-library 20
	ok "the calls of the program are counted then, and not recorded" sh -c '
		"$1" -f csv -o other.csv data traced/with-library other/libwork.so 2>&1 |
			grep "[0-9][0-9]* calls are not recorded.*foreign-mode.*litifut info MODULE says why" &&
			grep -q "\"tail\".*\"leaf\"" other.csv && ! grep "^\"main\"" other.csv' sh \
		"$BUILD/bin/litifut-post"

	cat >reset.c <<-'END'
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		KEEP int early(int x) { __asm__ volatile(""); return x + 1; }
		KEEP int late(int x) { __asm__ volatile(""); return x + 2; }
		int main(int argc, char **argv)
		{
			int sum = 0;
			for (int i = 0; i < 11000; i++)
				sum += early(i);
			if (argc > 1)
				sum += system(argv[1]);
			for (int i = 0; i < 5000; i++)
				sum += late(i);
			return sum == 1;
		}
	END
	table_of reset ../reset.c || return
	traced_csv reset "$BUILD/bin/litifut control $(pwd)/data reset"
	ok "litifut control reset: what was before is gone, what comes then is counted" sh -c '
		! grep "\"early\"" out.csv && grep "\"late\".*call,[1-9][0-9][0-9]" out.csv'

	cat >threads.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/time.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		static volatile sig_atomic_t ticks;
		KEEP int leaf(int x) { __asm__ volatile(""); return x + 1; }
		KEEP int work(int n) { int r = 0; while (n--) r += leaf(n) - leaf(r); return r; }
		KEEP void tick(int number) { (void)number; ticks += work(ticks % 8 ? 3 : 1500) * 0 + 1; }
		KEEP void *thread(void *argument) { work(700); return argument; }
		KEEP void deep(int n) { if (n) deep(n - 1); leaf(n); if (!n) pthread_exit(0); leaf(n); }
		KEEP void *brief(void *argument) { work(20); deep(5); return argument; }
		int main(void)
		{
			struct itimerval every = {{0, 2000}, {0, 2000}};
			signal(SIGALRM, tick);
			setitimer(ITIMER_REAL, &every, 0);
			for (int round = 0; round < 3; round++) {
				pthread_t threads[4];
				for (int i = 0; i < 4; i++)
					pthread_create(&threads[i], 0, thread, 0);
				for (int i = 0; i < 4; i++)
					pthread_join(threads[i], 0);
			}
			for (int i = 0; i < 150; i++) {
				pthread_t one;
				pthread_create(&one, 0, brief, 0);
				pthread_join(one, 0);
			}
			while (ticks < 20)
				work(100);
			puts("done");
			return 0;
		}
	END
	how=calls
	table_of threads ../threads.c -pthread
	how=

	cat >throws.cc <<-'END'
		#include <cstdio>
		#include <stdexcept>
		#define KEEP __attribute__((noipa))
		static volatile int sink;
		struct noisy { const char *name; ~noisy() { sink += name[1]; } };
		KEEP int throws(int n)
		{
			noisy here{"throws"};
			if (!n)
				throw std::runtime_error("from the bottom");
			return throws(n - 1) + 1;
		}
		KEEP int catches(int n)
		{
			try {
				return throws(n) + 1;
			} catch (const std::exception &e) {
				sink += e.what()[0];
				return n;
			}
		}
		int main()
		{
			int sum = 0;
			for (int i = 0; i < 200; i++)
				sum += catches(i % 5);
			std::printf("%d %d\n", sum, sink);
			return 0;
		}
	END
	language=g++
	table_of throws ../throws.cc
	language=gcc
}

# Events are folded later than they are recorded: the library of a call may be gone by then, and
# the clock may have gone on by more than the 32 bits that an event has of it.
later()
{
	[ "$target" != armel ] || return 0 # it has no thunks
	cat >plugin.c <<-'END'
		#include <stdlib.h>
		__attribute__((noipa)) static int inner(int n) { return n + 1; }
		__attribute__((noipa)) static int outer(int n) { return inner(n) + inner(n); }
		int run(int n) { int sum = getenv("NOTHING") ? 1 : 0; while (n--) sum += outer(n); return sum; }
	END
	cat >loads.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <unistd.h>
		__attribute__((noipa)) static void nap(void) { sleep(5); }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 200; i++) {
				void *plugin = dlopen("./traced/libplugin.so", RTLD_NOW);
				int (*run)(int) = (int (*)(int))dlsym(plugin, "run");
				sum += run(4);
				dlclose(plugin);
			}
			nap();
			printf("%d\n", sum);
			return 0;
		}
	END
	export LITIFUT_MODE=table
	link libplugin.so ../plugin.c -shared -fPIC || return
	link loads ../loads.c -ldl || return
	unset LITIFUT_MODE
	rm -rf data
	guest_environment="LITIFUT_CLOCK=mono LITIFUT_DIR=$(pwd)/data"
	run traced loads
	guest_environment=
	is "a library that is loaded 200 times: exit status" "$(cat traced.status)" 0
	"$BUILD/bin/litifut-post" -q -f csv -o out.csv data traced/loads traced/libplugin.so
	is "each call of it is counted" \
		"$(awk -F, '$4 == "\"inner\"" { calls += $7 } END { print calls }' out.csv)" 1600
	ok "a call of five seconds took that long" \
		awk -F, '$4 == "\"nap\"" && $9 >= 5e9 { found = 1 } END { exit !found }' out.csv
}

# In the same place there are libraries by turns, and their calls are folded when they have long
# gone: each has its own, in every mode, and the table does not grow with the loading.
in_turns()
{
	[ "$target" != armel ] || return 0
	cat >turn.c <<-'END'
		#include <stdlib.h>
		/* in MIPS code at a multiple of 64 KB the words of the GOT name what looks like a label */
		#define KEEP __attribute__((noipa, aligned(256)))
		KEEP static int INNER(int n) { return n + 1; }
		KEEP static int OUTER(int n) { return INNER(n) + INNER(n); }
		int run(int n, int (*back)(int))
		{
			int sum = getenv("NOTHING") ? 1 : 0;
			while (n--)
				sum += OUTER(n) + back(n);
			return sum;
		}
		int (*volatile pointed)(int) = INNER;
		int (*given(void))(int) { return pointed; }
	END
	cat >turns.c <<-'END'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		__attribute__((noipa)) static int back(int n) { return n; }
		static void *turns(void *rounds)
		{
			long sum = 0;
			for (int i = 0; i < (int)(long)rounds; i++) {
				void *turn = dlopen(i % 2 ? "./traced/libodd.so" : "./traced/libeven.so", RTLD_NOW);
				int (*run)(int, int (*)(int)) = (int (*)(int, int (*)(int)))dlsym(turn, "run");
				int (*(*given)(void))(int) = (int (*(*)(void))(int))dlsym(turn, "given");
				sum += run((i % 2 ? 3 : 2) * (int)((long)rounds / 60), back) + given()(1);
				dlclose(turn);
				if (i % 10 == 0)
					sum += back(i);
			}
			return (void *)sum;
		}
		int main(int argc, char **argv)
		{
			long rounds = argc > 1 ? atoi(argv[1]) : 60;
			pthread_t thread;
			void *sum;
			pthread_create(&thread, 0, turns, (void *)rounds);
			pthread_join(thread, &sum);
			printf("%ld\n", (long)sum + (long)turns((void *)rounds));
			return 0;
		}
	END
	for mode in table spans; do
		export LITIFUT_MODE=$mode LITIFUT_CLOCK=page
		link libeven.so ../turn.c -shared -fPIC -DINNER=inner_0 -DOUTER=outer_0 || return
		link libodd.so ../turn.c -shared -fPIC -DINNER=inner_1 -DOUTER=outer_1 || return
		link turns ../turns.c -ldl -pthread || return
		unset LITIFUT_MODE LITIFUT_CLOCK
		rm -rf data
		guest_environment="LITIFUT_DIR=$(pwd)/data"
		qemu_options="-plugin $BUILD/tests/oracle.so,clock=1"
		run traced turns
		is "$mode: two libraries by turns: each has its own calls" \
			"$("$BUILD/bin/litifut-post" -q -f csv data traced/turns traced/lib*.so | tr -d '"' |
				awk -F, '$4 ~ /_[01]$|^back$/ { calls[$4] += $7; timed[$4] += $8 }
					END { for (name in calls) print name, calls[name], timed[name] }' |
				sort | tr '\n' ';')" \
			"back 312 312;inner_0 300 300;inner_1 420 420;outer_0 120 120;outer_1 180 180;"
	done
	export LITIFUT_MODE=table
	link libeven.so ../turn.c -shared -fPIC -DINNER=inner_0 -DOUTER=outer_0 || return
	link libodd.so ../turn.c -shared -fPIC -DINNER=inner_1 -DOUTER=outer_1 || return
	link turns ../turns.c -ldl -pthread || return
	unset LITIFUT_MODE
	rm -rf data
	run traced turns 60
	kind_of_chunks | tr ' ' '\n' | grep -c '^3$' >short.tables
	ok "there are chunks of a table" test "$(cat short.tables)" -gt 0
	rm -rf data
	run traced turns 240
	guest_environment='' qemu_options=''
	ok "four times the loading, and 16 times the calls, take no larger table" \
		test "$(kind_of_chunks | tr ' ' '\n' | grep -c '^3$')" -le "$(cat short.tables)"
}

# Where signals can't be blocked, a handler may come in the middle of folding, and fill chunks.
unblocked()
{
	[ "$target" != armel ] || return 0
	cat >handler.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <sys/time.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned ticks, sum;
		KEEP int in_main(int n) { return n + 1; }
		KEEP int in_handler(int n) { return n + 2; }
		KEEP static void tick(int number)
		{
			for (int i = 0; i < 11000; i++)
				sum += in_handler(number);
			ticks++;
		}
		int main(void)
		{
			struct itimerval soon = {{0, 0}, {0, 1500}};
			unsigned calls = 0;
			signal(SIGALRM, tick);
			for (unsigned armed = 0; armed < 30; armed++) {
				setitimer(ITIMER_REAL, &soon, 0);
				while (ticks == armed) {
					sum += in_main(1);
					calls++;
				}
			}
			printf("in_handler %u\nin_main %u\n", 11000 * ticks, calls);
			return 0;
		}
	END
	export LITIFUT_MODE=table LITIFUT_CLOCK=page
	link handler ../handler.c || return
	unset LITIFUT_MODE LITIFUT_CLOCK
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_SYSCALLS=never LITIFUT_MAX_MB=4"
	qemu_options="-plugin $BUILD/tests/oracle.so,clock=1"
	run traced handler
	guest_environment='' qemu_options=''
	"$BUILD/bin/litifut-post" -q -f csv data traced/handler | tr -d '"' >out.plain
	# a call that is interrupted while it is stored is given up if a handler makes 10,000; in a
	# process that must not block signals, each of the 30 handlers may leave one without its time
	ok "no system calls, and a handler during folding: the calls are counted, and have their times" \
		awk -F '[, ]' 'FNR == NR { made[$1] = $2; next }
			{ calls[$4] += $7; timed[$4] += $8 }
			END {
				for (name in made) {
					print name, made[name], calls[name], timed[name]
					failed += calls[name] > made[name] || timed[name] < made[name] - 30
				}
				exit failed || length(made) != 2
			}' traced.out out.plain
}

# MIPS: no branch reaches the trampolines, so that those of return points lead to islands. After
# longjmp() the return point of setjmp() is not that of the call that was left.
far_from_room()
{
	[ "$target" != armel ] || return 0 # it has no thunks
	printf '\t.text\n\t.space 200000\n' >before.s
	cp before.s behind.s
	table_of far ../before.s ../main.c ../behind.s
}

both()
{
	behaviour
	far_from_room
	later
	in_turns
	unblocked
}

for_targets both
