#!/bin/sh
# A program with a personality routine of its own, as the runtime of Rust has: only the tables for the unwinder lead to it.
. "$(dirname "$0")/../lib.sh"

sources()
{
	cat >main.cc <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		struct watched {
			int id;
			KEEP ~watched() { printf("gone %d\n", id); }
		};
		KEEP static int risky(int n)
		{
			if (n % 3 == 2)
				throw n;
			return n + 1;
		}
		KEEP static int middle(int n)
		{
			watched one = {n};
			int result = risky(n);

			return result + one.id;
		}
		int main()
		{
			int sum = 0;

			for (int i = 0; i < 6; i++)
				try {
					sum += middle(i);
				} catch (int n) {
					sum += n & 1 ? 100 : 1000;
				}
			printf("%d\n", sum);
			return 0;
		}
	END
	cat >routine.c <<-'END'
		struct context;
		struct exception;
		#ifdef __ARM_EABI__
		#define PARAMETERS int state, struct exception *exception, struct context *context
		#define ARGUMENTS state, exception, context
		#define STATE state
		#else
		#define PARAMETERS int version, int state, unsigned long long of, struct exception *exception, \
			struct context *context
		#define ARGUMENTS version, state, of, exception, context
		#define STATE state
		#endif
		int __gxx_personality_v0(PARAMETERS);
		__attribute__((visibility("hidden"))) int own_routine(PARAMETERS);
		unsigned routine_calls[2];

		int own_routine(PARAMETERS)
		{
			int result;

			routine_calls[(STATE & 1) != 0]++;
			result = __gxx_personality_v0(ARGUMENTS);
			if (result > 6)
				routine_calls[0] = 0;
			return result;
		}
	END
}

behaviour()
{
	[ "$target" != armel ] || return 0 # its CPUs may be older: there is no such mode
	sources
	# shellcheck disable=SC2086
	"$triplet-g++" $machine_flags -O2 -S main.cc -o compiled.s
	sed 's/__gxx_personality_v0/own_routine/g' compiled.s >main.s
	export LITIFUT_MODE=paths
	flags=-O2
	link own ../main.s ../routine.c -lstdc++ || return
	same_run own
	is "exceptions are caught" "$(tail -n 1 plain.out)" 1120
	blocks_equal "" own
	is "the routine is executed" "$(grep -c own_routine blocks.tsv | sed 's/^[1-9].*/yes/')" yes
}

for_targets behaviour
