#!/bin/sh
# LITIFUT_MODE=paths: a signal may come at any instruction, also of the code that records a bit, and then no
# bit is lost or there twice: the blocks of the program are the same with a handler that comes
# often and with none, but for those of the handler.
. "$(dirname "$0")/../lib.sh"

program_source()
{
	cat >main.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/time.h>

		static volatile int handled, work;

		__attribute__((noipa)) static int twice(int x) { return x > 3 ? 2 * x : x; }
		static void handler(int number)
		{
			for (int i = 0; i < number; i++)
				if (i % 3 == 1)
					handled += twice(i);
		}
		static int compare(const void *left, const void *right)
		{
			int a = *(const int *)left, b = *(const int *)right;

			return a < b ? -1 : a > b;
		}
		__attribute__((noipa)) static int step(int number)
		{
			int sum = 0;

			for (int i = 0; i < number % 17; i++)
				if ((i ^ number) & 3)
					sum += i;
				else
					sum--;
			return sum;
		}
		/* where its jump leads is several bits */
		__attribute__((noipa)) static int turn(int number)
		{
			int sum = 0;

			for (int i = 0; i < number % 13; i++)
				switch ((number + i) % 11) {
				case 0: sum += twice(i); break;
				case 1: sum ^= 5; break;
				case 2: sum *= 3; break;
				case 3: sum -= twice(sum); break;
				case 4: sum += i; /* fall through */
				case 5: sum <<= 1; break;
				case 6: return twice(sum);
				case 7: sum |= 1; break;
				case 8: sum /= 7; break;
				}
			return sum;
		}
		int main(int argc, char **argv)
		{
			struct itimerval often = {{0, 1000}, {0, 1000}};
			int values[32];

			signal(SIGALRM, handler);
			if (argc > 1)
				setitimer(ITIMER_REAL, &often, NULL);
			for (int i = 0; i < 4000; i++) {
				work += step(i) + turn(i);
				for (int j = 0; j < 32; j++)
					values[j] = (j * 7 + i) % 32;
				if (i % 64 == 0)
					qsort(values, 32, sizeof(*values), compare);
			}
			return work == argc;
		}
	END
}

# blocks_of OUTPUT OPTIONS ARGUMENTS...: executed blocks of step(), turn() and compare(); OPTIONS are QEMU's.
blocks_of()
{
	blocks_output=$1
	qemu_options=$2
	shift 2
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced program "$@"
	guest_environment=
	qemu_options=
	"$BUILD/bin/litifut-post" -q -f blocks -o all.tsv data traced/program 2>post.log &&
		! grep . post.log && awk -F '\t' '$6 == "step" || $6 == "turn" || $6 == "compare" { print $4 }
			$4 == "gap" { print }' all.tsv >"$blocks_output"
}

# What is full is not kept for longer than code that a handler has interrupted may store to it, and
# that long it is: here handlers fill several chunks each, wherever they come.
kept()
{
	cat >kept.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/time.h>

		static volatile int ticks, work;

		__attribute__((noipa)) static void fill(int times)
		{
			for (int i = 0; i < times; i++)
				if (i & 1)
					work += i;
		}
		/* of processor time, so that the program gets on in between */
		static void again(void)
		{
			struct itimerval once = {{0, 0}, {0, 500}};

			if (++ticks < 16)
				setitimer(ITIMER_VIRTUAL, &once, NULL);
		}
		static void handler(int number)
		{
			fill(number * 50000); /* 2.6 million branches: 20 chunks */
			again();
		}
		int main(int argc, char **argv)
		{
			char line[400];
			unsigned long bytes = 0, from, to;
			FILE *maps;

			signal(SIGVTALRM, handler);
			again();
			while (ticks < 16)
				if (ticks & 1)
					work++;
			maps = fopen("/proc/self/maps", "r");
			while (maps && fgets(line, sizeof(line), maps))
				if (strstr(line, ".trace") && sscanf(line, "%lx-%lx", &from, &to) == 2)
					bytes += to - from;
			printf("%lu\n", bytes / 1024);
			return argc == 7 && argv;
		}
	END
	link kept ../kept.c || return
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_BULK_KB=16 LITIFUT_FILE=map"
	run traced kept
	guest_environment=
	is "handlers that fill chunks return" "$(cat traced.status)" 0
	ok "the chunks are not kept" not_kept
}

not_kept()
{
	echo "$(cat traced.out) KB of the trace are mapped, it has $(du -k --apparent-size data/trace | tail -n 1)"
	[ "$(cat traced.out)" -le 256 ] && [ "$(stat -c %s data/trace/*.trace)" -gt 2000000 ]
}

# same_blocks OPTIONS: with signals and without
same_blocks()
{
	# shellcheck disable=SC2086
	link program ../main.c $1 || return
	ok "$1 without signals" blocks_of calm ""
	ok "$1 with signals, at any instruction" blocks_of often -singlestep often
	ok "$1 there were signals" awk -F '\t' '$6 == "handler" { found = 1 } END { exit !found }' all.tsv
	ok "$1 the same blocks" cmp calm often
	ok "$1 they are many" test "$(wc -l <calm)" -gt 50000
}

behaviour()
{
	if [ "$target" = armel ]; then
		skip "signals" "LITIFUT_MODE=paths is not there for ARM before ARMv7"
		return
	fi
	export LITIFUT_MODE=paths
	program_source
	same_blocks ""
	# the code of a branch is another where jumps reach anything, and where branches do not
	case $cpu in
	mips*)
		for many in $(seq 1500); do
			echo "int other_$many(int x) { if (x > $many) x ^= 5; if (x < -$many) x--; return x & 1 ? x : $many; }"
		done >many.c
		same_blocks "-O2 -no-pie"
		same_blocks "-O2 -no-pie -static"
		same_blocks "-O2 ../many.c"
		;;
	esac
	kept
}

for_targets behaviour
