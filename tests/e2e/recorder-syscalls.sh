#!/bin/sh
# An event takes no system call, whatever the state of the recorder: with one for each, a
# handler of a timer can last longer than the timer's period, and then the program itself
# never runs again.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mipsel

# system_calls WAY COUNT SETTINGS...: how many a run makes
system_calls()
{
	system_calls_way=$1 system_calls_count=$2
	shift 2
	rm -rf data calls.log
	same_environment=$guest_environment
	guest_environment="$same_environment LITIFUT_DIR=$(pwd)/data LITIFUT_CLOCK=none $*"
	qemu_options="-strace -D $(pwd)/calls.log"
	run traced work "$system_calls_way" "$system_calls_count"
	guest_environment=$same_environment qemu_options=
	wc -l <calls.log
}

# Chunks that change in between take some.
few()
{
	echo "$1 system calls with less calls, $2 with 8000 more"
	[ "$1" -gt 10 ] && [ $(($2 - $1)) -lt 200 ]
}

# takes_none WAY COUNT SETTINGS...
takes_none()
{
	way=$1 calls=$2
	shift 2
	ok "$way $*: events take no system calls" few "$(system_calls "$way" "$calls" "$@")" \
		"$(system_calls "$way" $((calls + 8000)) "$@")"
}

every_way()
{
	takes_none main 4000
	takes_none main 4000 LITIFUT_COMPACT=0
	takes_none main 4000 LITIFUT_START=off
	takes_none main 300000 LITIFUT_MAX_MB=1
	takes_none stopped 4000
	takes_none handler 4000
	takes_none thread 4000
	takes_none child 4000
}

behaviour()
{
	cat >work.c <<-'END'
		#include <litifut/litifut.h>
		#include <pthread.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static int count;
		static volatile int sum;
		__attribute__((noipa)) static void leaf(int n) { sum += n; }
		static void work(int number)
		{
			(void)number;
			for (int i = 0; i < count; i++)
				leaf(i);
		}
		static void *thread(void *nothing)
		{
			work(0);
			return nothing;
		}
		int main(int argc, char **argv)
		{
			pthread_t one;
			int status = 0;
			count = argc > 2 ? atoi(argv[2]) : 0;
			switch (argc > 1 ? *argv[1] : 'm') {
			case 'h':
				signal(SIGUSR1, work);
				raise(SIGUSR1);
				break;
			case 't':
				if (!pthread_create(&one, NULL, thread, NULL))
					pthread_join(one, NULL);
				break;
			case 'c':
				if (!fork()) {
					work(0);
					exit(0);
				}
				wait(&status);
				break;
			case 's':
				if (litifut_stop)
					litifut_stop();
				/* fall through */
			default:
				work(0);
			}
			return status;
		}
	END
	flags="-pthread -I$root/include"
	link work ../work.c || return 0
	every_way
	if [ "$target" = armel ]; then
		target="armel on an ARM926" guest_environment=QEMU_CPU=arm926
		every_way
		guest_environment='' target=armel
	fi
	rm -rf plain traced
	LITIFUT_ENGINE=db link work ../work.c || return 0
	every_way
}

for_targets behaviour
