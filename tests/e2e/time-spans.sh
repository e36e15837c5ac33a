#!/bin/sh
# LITIFUT_MODE=spans: the returns of calls are recorded as well, each where and when the oracle
# sees it; what is not certain is left and listed. Nothing that unwinds sees any of it.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mips

# spans_equal_oracle PROGRAM HOW: its events are those of the oracle; HOW as in returns.py
spans_equal_oracle()
{
	run_timed "$1"
	# shellcheck disable=SC2046
	ok "$1: calls, returns and their times are those of the oracle" \
		python3 "$root/tests/oracle/returns.py" "$2" oracle data $(traced_files)
}

# returns_patched FILE SHARE: of the calls in FILE so many in a hundred, at least
returns_patched()
{
	ok "$1: at least $2 % of the returns are patched" sh -c '
		"$1" info --json "$2" |
			sed "s/.*\"returns\": \([0-9]*\), \"returns_patched\": \([0-9]*\).*/\1 \2/" |
			awk "{ print; exit !(NF == 2 && 100 * \$2 >= \$1 * $3) }"' sh \
		"$BUILD/bin/litifut" "$1" "$2"
}

# Each return that is not patched is listed with its reason, as text and as JSON.
lists_returns()
{
	"$BUILD/bin/litifut" info --skipped "$1" | awk '$1 == "returns" { left = $5 - $3 }
		/^0x/ && $2 == "return" && $5 != "patched" && NF == 7 { n++ } END { print n, left; exit !n || n != left }' &&
		"$BUILD/bin/litifut" info --skipped --json "$1" | python3 -c 'if True:
			import json, sys
			file = json.load(sys.stdin)[0]
			left = [site for site in file["sites"] if "return_reason" in site]
			assert len(left) == file["returns"] - file["returns_patched"], left
			assert all(site["reason"] == "patched" for site in left)'
}

# Why returns of calls are not recorded that make a child or end the program.
names_reasons()
{
	cat >ends.c <<-'END'
		#include <stdlib.h>
		#include <unistd.h>
		__attribute__((noipa)) void give_up(int x) { if (x > 100) abort(); }
		__attribute__((noipa)) int replace(char **a) { return execv(*a, a) + 1; }
		__attribute__((noipa)) int child(void) { return vfork() ? 1 : replace(NULL); }
		int main(int n, char **a) { give_up(n); return n > 100 ? child() + replace(a) : 0; }
	END
	LITIFUT_MODE=spans "$BUILD/bin/litifut" build -q "$triplet-gcc" -O1 ends.c -o ends &&
		"$BUILD/bin/litifut" info --skipped ends >ends.info &&
		equal "$(sed -n '/- stuck/d; s/^0x.* - \(.*\) in \(give_up\|replace\|child\)$/\2 \1/p' ends.info | sort | tr '\n' ' ')" \
			"child special give_up ends-program replace ends-program "
}

check()
{
	export LITIFUT_CLOCK=page LITIFUT_MODE=spans
	link "$@" || return
	unset LITIFUT_CLOCK LITIFUT_MODE
	same_run "$1"
	spans_equal_oracle "$1" "${how:-times}"
}

# Chunks that follow each other have numbers, and so have others between them.
cut_at_end()
{
	rm -rf cut data
	guest_environment="LITIFUT_CLOCK=mono LITIFUT_DIR=$(pwd)/data"
	run traced program >/dev/null
	guest_environment=
	cp -r data cut && truncate -s -1 cut/trace/*.trace || return
	"$BUILD/bin/litifut-post" -q -f csv -o whole.csv data traced/program
	"$BUILD/bin/litifut-post" -f csv -o cut.csv cut traced/program 2>cut.words
	grep -q 'ends inside a chunk' cut.words && [ -s whole.csv ] && cmp whole.csv cut.csv
}

behaviour()
{
	cat >main.c <<-'END'
		#include <setjmp.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		static volatile int sink;
		static jmp_buf place;
		struct pair { int a, b; double c; };
		KEEP int leaf(int x) { sink++; return x + 1; }
		KEEP int down(int d) { if (d) { int r = down(d - 1); return leaf(r) + 1; } return sink; }
		KEEP void leave(int d) { if (d) leave(d - 1); else longjmp(place, 1); sink++; }
		KEEP int jumps(void) { if (!setjmp(place)) leave(3); return leaf(2); }
		KEEP struct pair *get(void) { static struct pair v = {1, 2, 3.5}; return &v; }
		KEEP int tail(int x) { sink++; return leaf(x); }
		KEEP int pointed(int (*function)(int), int x) { int r = function(x); sink += r; return r; }
		KEEP double floating(double x) { double r = get()->c; return r * x + leaf(1); }
		KEEP long long wide(int x) { return ((long long)leaf(x) << 32) + leaf(x); }
		KEEP int conditional(int x) { if (x > 3) leaf(x); if (x & 1) leaf(x); else tail(x); return x; }
		KEEP int branches(int x) { int r = leaf(x); return r > 5 ? r : leaf(r) ? r + 2 : 7; }
		KEEP const char *of(int x)
		{
			switch (leaf(x)) {
			case 1: leaf(1); return "one"; case 2: return "two"; case 3: leaf(2); return "three";
			case 4: return "four"; case 5: return "five"; case 6: leaf(3); break; case 7: return "seven";
			}
			return "other";
		}
		KEEP int loop(int n) { int i = 0; do { i += 1 + (leaf(i) & 1); } while (i < n); return i; }
		static int compare(const void *a, const void *b)
		{
			return leaf(*(const int *)a) - leaf(*(const int *)b);
		}
		int main(void)
		{
			int numbers[64];
			for (int i = 0; i < 64; i++)
				numbers[i] = i * 37 % 64;
			qsort(numbers, 64, sizeof(int), compare);
			printf("%d %d %d %d\n", down(5), jumps(), get()->b, numbers[3]);
			for (int i = 0; i < 200; i++) {
				sink += leaf(i) * get()->a + tail(i) + pointed(leaf, i) + pointed(tail, i);
				sink += conditional(i % 5) + branches(i % 9) + loop(i % 7) + (int)strlen(of(i % 9));
				sink += (int)wide(i) + (int)floating(i);
			}
			printf("%d %g\n", sink, floating(2));
			return 0;
		}
	END
	if [ "$target" = armel ]; then
		# its thunks need a CPU that armel programs do not
		ok "without thunks a warning says so" sh -c '
			LITIFUT_MODE=spans "$@" 2>&1 | grep "LITIFUT_MODE.*returns"' sh \
			"$BUILD/bin/litifut" build -q "$triplet-gcc" -O2 main.c -o main
		return
	fi
	check program ../main.c || return
	returns_patched traced/program 75
	ok "returns that were left are listed" lists_returns traced/program
	ok "calls that end the program are named so" names_reasons
	rm -rf data
	guest_environment="LITIFUT_CLOCK=none LITIFUT_DIR=$(pwd)/data"
	run traced program
	guest_environment=
	ok "without a clock: a line says how to get times" sh -c \
		'"$1" -f report data traced/program 2>&1 >/dev/null | grep "without times.*LITIFUT_CLOCK=mono"' \
		sh "$BUILD/bin/litifut-post"
	ok "a trace without its last byte has the same times" cut_at_end
	for flags in -O0 -O3 -Os; do
		check "program$flags" ../main.c || return
	done
	flags=
	check static ../main.c -static || return
	case $target in
	mips*) returns_patched traced/static 75 ;;
	*) returns_patched traced/static 85 ;;
	esac

	# calls from a library and into it
	sed 's/main(void)/work(void)/' main.c >library.c
	echo 'int work(void); int other(int x) { return x + work(); } int main(void) { return other(1) - 1; }' >caller.c
	export LITIFUT_CLOCK=page LITIFUT_MODE=spans
	link libwork.so ../library.c -shared -fPIC || return
	check with-library ../caller.c -L. -lwork
	"$BUILD/bin/litifut-post" -q report --by-module data traced/with-library traced/libwork.so >modules.text
	is "a table of each module has its functions only" \
		"$(awk 'NF == 1 { module = "[" $1 "]"; modules++ }
			$NF ~ /^\[/ && $NF != "[module]" { rows++; wrong += ($NF != module) }
			END { print wrong + 0, (rows > 2), (modules > 1) }' modules.text)" "0 1 1"

	# calls that are open while recording is off have no time: one may have returned meanwhile
	cat >pause.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		void litifut_stop(void) __attribute__((weak));
		void litifut_start(void) __attribute__((weak));
		KEEP int leaf(int x) { __asm__ volatile(""); return x + 1; }
		KEEP int work(int i)
		{
			if (i == 1 && litifut_stop)
				litifut_stop();
			if (i == 5 && litifut_start)
				litifut_start();
			return leaf(i);
		}
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 8; i++)
				sum += work(i);
			printf("%d\n", sum);
			return 0;
		}
	END
	export LITIFUT_CLOCK=page LITIFUT_MODE=spans
	link pause ../pause.c || return
	unset LITIFUT_CLOCK LITIFUT_MODE
	run_timed pause
	is "a pause gives no call a time: 4 are recorded, 3 with both ends" \
		"$("$BUILD/bin/litifut-post" -q -f csv data traced/pause |
			awk -F, '$4 == "\"work\"" { print $7, $8 }')" "4 3"
	"$BUILD/bin/litifut-post" -q report data traced/pause >pause.report
	is "the report says of how many calls the times are" \
		"$(grep -c '^# (N timed)' pause.report) $(grep -c ' work \[pause\] (3 timed)$' pause.report)" "1 1"
	ok "main, whose total is known, stands before what has no time at all" awk '
		/ main \[pause\]/ { of_main = NR } / __libc_start_main \[/ { of_start = NR }
		END { exit !(of_main && of_main < of_start) }' pause.report
	ok "callers-of has the times of the edge, for the caller and for its only site" sh -c '
		"$1" -q report --per edge data traced/pause |
			awk -v OFS=" " "/ main -> work / { print \$1, \$2, \$3, \$4 }" >edge.times
		"$1" -q callers-of work data traced/pause | sed "s/ *[0-9.]*%//" |
			awk -v OFS=" " "/ main[ +]/ { print \$2, \$3, \$4, \$5 }" >caller.times
		grep -q "^[0-9]" edge.times && cat edge.times edge.times | diff - caller.times' sh "$BUILD/bin/litifut-post"

	# far from the tracer, where an island records what a thunk can't store
	echo '.text; .space 0x60000' >space.S
	cat >far.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		KEEP int leaf(int x) { __asm__ volatile(""); return x + 1; }
		KEEP int pointed(int (*function)(int), int n) { int r = 0; while (n--) r += function(leaf(n)); return r; }
		int main(void) { printf("%d\n", pointed(leaf, 6000)); return 0; }
	END
	check far ../space.S ../far.c
	totals='/ (main|pointed) \[/ { print $2, $3, $NF }'
	"$BUILD/bin/litifut-post" -q -f graph data traced/far | awk "$totals" >totals.all
	is "two functions are compared" "$(wc -l <totals.all)" 2
	is "what is too deep to be shown stays in the time of what calls it" \
		"$("$BUILD/bin/litifut-post" -q -f graph -D 4 data traced/far | tee deep.graph | awk "$totals" | diff - totals.all; grep -c leaf deep.graph)" 0
	is "so does what is too short" \
		"$("$BUILD/bin/litifut-post" -q -f graph -t 1us data traced/far | tee short.graph | awk "$totals" | diff - totals.all; grep -c leaf short.graph)" 0

	# assembly code without .size, as the division of 64-bit numbers in libgcc
	cat >sizeless.S <<-'END'
			.text
			.globl	sizeless
		#ifdef __mips__
			.set	noreorder
			.type	sizeless, @function
			.type	inner, @function
		sizeless:
			addiu	$sp, $sp, -32
			sw	$ra, 28($sp)
			bal	inner
			nop
			addiu	$2, $2, 1
			lw	$ra, 28($sp)
			jr	$ra
			addiu	$sp, $sp, 32
		inner:
			jr	$ra
			addiu	$2, $4, 5
		#else
			.syntax	unified
		#ifdef __thumb__
			.thumb
		#else
			.arm
		#endif
			.type	sizeless, %function
			.type	inner, %function
		sizeless:
			push	{r4, lr}
			bl	inner
			add	r0, r0, #1
			pop	{r4, pc}
		inner:
			add	r0, r0, #5
			bx	lr
		#endif
			.size	inner, . - inner
			.section .note.GNU-stack, "", %progbits
	END
	cat >hand.c <<-'END'
		#include <stdio.h>
		int sizeless(int n);
		int main(void) { printf("%d\n", sizeless(1) + sizeless(2)); return 0; }
	END
	check hand ../hand.c ../sizeless.S
	is "returns of a function without a size are recorded" \
		"$("$BUILD/bin/litifut" info --skipped traced/hand | grep -c ' return .* in sizeless')" 0

	cat >threads.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/time.h>
		#define KEEP __attribute__((noipa))
		static volatile sig_atomic_t ticks;
		KEEP int leaf(int x) { __asm__ volatile(""); return x + 1; }
		KEEP int work(int n) { int r = 0; while (n--) r += leaf(n) - leaf(r); return r; }
		KEEP void tick(int number) { (void)number; ticks += work(3) * 0 + 1; }
		KEEP void *thread(void *argument) { work(2000); return argument; }
		int main(void)
		{
			struct itimerval every = {{0, 2000}, {0, 2000}};
			signal(SIGALRM, tick);
			setitimer(ITIMER_REAL, &every, 0);
			for (int round = 0; round < 5; round++) {
				pthread_t threads[4];
				for (int i = 0; i < 4; i++)
					pthread_create(&threads[i], 0, thread, 0);
				for (int i = 0; i < 4; i++)
					pthread_join(threads[i], 0);
			}
			while (ticks < 20)
				work(100);
			puts("done");
			return 0;
		}
	END
	how=any-order
	check threads ../threads.c -pthread
	how=

	cat >throws.cc <<-'END'
		#include <csetjmp>
		#include <cstdio>
		#include <execinfo.h>
		#include <stdexcept>
		#define KEEP __attribute__((noipa))
		struct noisy { const char *name; ~noisy() { std::printf("~%s\n", name); } };
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
				std::printf("caught %s\n", e.what());
				return n;
			}
		}
		static volatile int landed;
		KEEP void last() { landed++; }
		KEEP void lands(int n)
		{
			try {
				throws(n);
			} catch (const std::exception &) {
				landed++;
			}
			last(); // a tail call: all calls that the exception has left have ended
		}
		KEEP int frames(int n)
		{
			void *addresses[64];
			int depth = n ? frames(n - 1) : backtrace(addresses, 64);
			__asm__ volatile("" : : "r"(addresses) : "memory");
			return depth;
		}
		int main()
		{
			for (int i = 0; i < 4; i++)
				std::printf("%d\n", catches(i));
			lands(3);
			lands(1);
			std::printf("frames %d\n", frames(5) - frames(2));
			return 0;
		}
	END
	language=g++
	check throws ../throws.cc
	language=gcc
}

for_targets behaviour
