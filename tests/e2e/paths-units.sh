#!/bin/sh
# LITIFUT_MODE=units: units start and end, and interrupt each other, as QEMU executes them in the same program
# without patches; signal handlers, recursion, longjmp, and threads.
. "$(dirname "$0")/../lib.sh"
# as paths: not for CPUs before ARMv7
few_targets armhf armhf-arm mipsel

program_source()
{
	cat >main.c <<-'END'
		#include <pthread.h>
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>

		#define UNIT __attribute__((noipa))

		static volatile int sum;
		static jmp_buf back;

		UNIT static void on_signal(int number)
		{
			sum += number;
			if (number == SIGUSR1 && sum % 2)
				raise(SIGUSR2);
			sum++;
		}
		UNIT static int leaf(int x) { return x ^ 3; }
		UNIT static int last_task(int x)
		{
			if (x > 2)
				return leaf(x) + 1;
			return leaf(x + 1); /* the unit ends where it jumps there */
		}
		UNIT static int deep_task(int x)
		{
			if (x % 3 == 0)
				raise(SIGUSR1);
			return x ? deep_task(x - 1) + leaf(x) : 1;
		}
		UNIT static int loop_task(int x)
		{
			int total = 0;

			for (int i = 0; i < x; i++) {
				if (i == 7)
					return total;
				total += leaf(i) & 1 ? i : last_task(i);
			}
			return total;
		}
		UNIT static void jump_task(int x)
		{
			if (x == 2)
				longjmp(back, 1);
			sum += leaf(x);
		}
		static int compare(const void *left, const void *right)
		{
			return *(const int *)left - *(const int *)right;
		}
		static int (*const tasks[])(int) = {deep_task, loop_task, last_task};
		static void *work(void *argument)
		{
			for (int i = 0; i < 900; i++)
				sum += tasks[i % 3](i % 5 + (int)(long)argument);
			return NULL;
		}
		int main(int argc, char **argv)
		{
			int values[6] = {4, 1, 5, 9, 2, 6};
			pthread_t threads[3];

			(void)argv;
			signal(SIGUSR1, on_signal);
			signal(SIGUSR2, on_signal);
			for (int i = 0; i < 9; i++)
				sum += tasks[i % 3](i);
			qsort(values, 6, sizeof(*values), compare);
			for (int i = 0; i < 4; i++)
				if (!setjmp(back))
					jump_task(i);
			for (int i = 0; i < 3 && argc > 1; i++)
				pthread_create(&threads[i], NULL, work, (void *)(long)i);
			for (int i = 0; i < 3 && argc > 1; i++)
				pthread_join(threads[i], NULL);
			if (argc == 1)
				printf("%d %d\n", sum, values[0]);
			return 0;
		}
	END
}

shown()
{
	"$BUILD/bin/litifut-post" -q -f units -o "$1" data traced/program 2>post.log && ! grep . post.log
}

# The program without patches, an instruction at a time.
units_are_executed()
{
	cp -r data recorded && mkdir unpatched &&
		python3 "$root/tests/oracle/edges.py" plain traced/program unpatched/program &&
		OBJDUMP=$triplet-objdump python3 "$root/tests/oracle/units.py" plain traced/program \
			unpatched/program watched || return
	low=$(sort watched | sed -n '1s/ .*//p')
	qemu_options="-singlestep -d exec,nochain -dfilter 0x$low+0x2000 -D $(pwd)/log"
	run unpatched program
	qemu_options=
	grep ^Trace log >order
	python3 "$root/tests/oracle/units.py" compare watched order alone >&2
}

behaviour()
{
	case $target in
	armel*)
		skip "units of $target" "they need ARMv7"
		return
		;;
	esac
	program_source
	export BUILD LITIFUT_MODE=units LITIFUT_UNITS='*_task,on_signal,leaf,compare'
	flags='-O2 -no-pie'
	link program ../main.c -lpthread || return
	is "litifut info says so" "$("$BUILD/bin/litifut" info traced/program |
		sed -n 's/^  mode  *//p')" units
	same_run program
	ok "units can be shown" shown alone
	ok "units are those that are executed" units_are_executed
	is "signal handlers interrupt a task and each other" \
		"$(grep -c '^      <on_signal> start' alone)" "$(grep -c '^      <on_signal> end' alone)"
	ok "a unit that longjmp() leaves has no end" grep -q '<jump_task> start' alone
	flags='-O2 -fPIE -pie'
	rm -rf data recorded
	link program ../main.c -lpthread || return
	same_run program threads
	ok "threads: units can be shown" shown threads
	is "threads: each is shown" "$(grep -c '^thread' threads)" 4
	ok "threads: no unit ends in another one" sh -c "python3 '$root/tests/oracle/units.py' threads threads 4"
	for each in path lcov; do
		"$BUILD/bin/litifut-post" -q -f $each -o none data traced/program 2>post.log
		ok "$each says that there are units only" grep -q 'use -f units' post.log
	done
	unset LITIFUT_MODE LITIFUT_UNITS
}

for_targets behaviour
