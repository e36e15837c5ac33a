#!/bin/sh
# LITIFUT_MODE=paths: a function to which pointers lead records its start when one of these calls it, and not when
# a direct call or jump leads there; so does a label to which a table and a branch lead. All blocks are those
# that are executed, in order.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

behind_source()
{
	cat >behind.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))

		static volatile int sum;

		KEEP int leaf(int n) { return n > 5 ? n - 1 : n + sum; }
		KEEP int tail(int n) { return n & 1 ? leaf(n + 1) : leaf(n ^ 3) + 1; }
		KEEP int jump(int n)
		{
			sum += n;
			return leaf(n + 2);
		}
		KEEP int maybe(int n)
		{
			if (n & 4)
				leaf(n);
			if (n & 2)
				return tail(n);
			return n;
		}
		/* behind each call of abs() something is recorded */
		KEEP int between(int n, int (*absolute)(int))
		{
			absolute(n);
			leaf(n);
			absolute(n + 1);
			return jump(n);
		}
		KEEP int again(int n) { return n ? again(n - 1) + (n & 1) : leaf(n); }
		KEEP void handler(int number)
		{
			sum += leaf(number & 3);
			if (sum > 1000)
				sum = 0;
		}
		/* a label that a table and branches lead to */
		KEEP int machine(const unsigned char *code)
		{
			static void *const table[] = {&&stop, &&add, &&twice, &&back};
			int value = 1;

			goto *table[*code++];
		add:
			value += leaf(3);
			if (value > 40)
				goto twice;
			goto *table[*code++];
		twice:
			value *= 2;
			sum ^= value;
			if (value & 64)
				goto add;
			goto *table[*code++];
		back:
			value -= 3;
			if (value < 0)
				goto twice;
			goto *table[*code++];
		stop:
			return value;
		}
		/* the same, in a loop whose branch has a condition: one without that may have two bytes (T32),
		 * which can't lead elsewhere */
		KEEP int wheel(int n)
		{
			static void *const table[] = {&&first, &&next};

			goto *table[n & 1];
		first:
			sum++;
		next:
			sum ^= n;
			n -= 1;
			if (n > 0)
				goto next;
			return n;
		}
		#ifdef __thumb__
		__attribute__((noipa, target("arm"))) int other(int n) { return n > 7 ? leaf(n) : maybe(n); }
		#else
		KEEP int other(int n) { return n > 7 ? leaf(n) : maybe(n); }
		#endif
		int (*const pointers[])(int) = {leaf, tail, jump, maybe, again, other};

		int main(int argc, char **argv)
		{
			static const unsigned char code[] = {1, 1, 2, 1, 3, 3, 3, 3, 1, 2, 2, 3, 0};
			const int rounds = argc > 1 ? atoi(argv[1]) : 2;

			signal(SIGUSR1, handler);
			for (int i = 0; i < rounds; i++) {
				sum += leaf(i & 7) + tail(i) + jump(i & 3) + maybe(i);
				sum += between(i, abs) + again(i & 7) + other(i & 15);
				handler(i);
		#ifdef __OPTIMIZE__
				sum += wheel(i);
		#endif
				if (i < 12) {
					sum += pointers[i % 6](i) + machine(code + i);
					raise(SIGUSR1);
				}
			}
			printf("%d\n", sum);
			return 0;
		}
	END
}

# Far more blocks without a decision between them than the program has, and a loop without one.
straight_source()
{
	cat >straight.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <sys/time.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		#define CALLS(name, other) KEEP void name(void) { other(); other(); other(); sum++; }

		static volatile int sum;

		KEEP void f0(void) { sum++; }
		CALLS(f1, f0)
		CALLS(f2, f1)
		CALLS(f3, f2)
		CALLS(f4, f3)
		CALLS(f5, f4)
		CALLS(f6, f5)
		CALLS(f7, f6)
		CALLS(f8, f7)
		KEEP void waits(void)
		{
			for (;;)
				f0();
		}
		KEEP void on_alarm(int number)
		{
			if (number != SIGALRM)
				f8();
			f2();
			_exit(0);
		}
		void (*const pointers[])(void) = {f0, f1, f2, f3, f4, f5, f6, f7, f8};

		int main(int argc, char **argv)
		{
			const struct itimerval soon = {.it_value.tv_usec = 50000};

			(void)argv;
			f8();
			if (argc > 1)
				pointers[argc]();
			f8();
			printf("%d\n", sum);
			if (argc < 3)
				return 0;
			fflush(stdout);
			signal(SIGALRM, on_alarm);
			setitimer(ITIMER_REAL, &soon, NULL);
			waits();
		}
	END
}

# The loop is left after a few rounds, and the handler is in the trace.
waits_shortly()
{
	# shellcheck disable=SC2046
	trace_followed $(traced_files) && [ "$(wc -l <blocks.tsv)" -lt 50000 ] &&
		cut -f 6 blocks.tsv | grep -q on_alarm
}

straight()
{
	straight_source
	for flags in "-O1 -Wl,-E" "-O1 -fno-pie -no-pie"; do
		rm -rf plain traced
		link straight ../straight.c || continue
		same_run straight 1
		blocks_equal "" straight 1
		same_run straight 1 2
		ok "$flags: a loop without a decision" waits_shortly
	done
}

# at_most MOST: so many records are in the trace, some at least
at_most()
{
	records=$(python3 "$root/tests/oracle/records.py" data)
	[ "$records" -gt 12 ] && [ "$records" -le "$1" ]
}

behind()
{
	behind_source
	export LITIFUT_MODE=paths
	for flags in -O2 "-O2 -fno-pie -no-pie" "-Os -static" "-O1 -Wl,-E" "-O0 -fno-pie -no-pie" \
		"-O2 -fno-pie -no-pie -Wl,-Ttext-segment=0x800000"; do
		rm -rf plain traced
		link behind ../behind.c || continue
		same_run behind 50
		case $flags in
		*-static*) # with its library; the last blocks of exit() are possible
			blocks_equal --killed behind 50
			most=700
			;;
		*)
			blocks_equal "" behind 50
			most=400
			;;
		esac
		ok "$flags: direct calls are not recorded" at_most $most
		# addresses of calls on MIPS have bits where other instructions have the number of a register
		is "$flags: no register is taken for one that the tracer needs" \
			"$("$BUILD/bin/litifut" info --skipped traced/behind | grep -c 'special-callee in')" 0
	done
	straight
	unset LITIFUT_MODE
}

for_targets behind
