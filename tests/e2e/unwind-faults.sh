#!/bin/sh
# The runtimes of Go and Ada throw an exception out of the handler of a fault, and so may C++ that was
# compiled with -fnon-call-exceptions, which its exception tables or its debugging information show. An
# unwinder finds nothing about code that was moved, so their programs keep theirs where it is: modes that
# move code say in one line that they leave it, and the program catches what it catches untraced.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

source_of_faults()
{
	cat >main.cc <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		#ifdef OF_GO /* what the runtime of Go has, by which its programs are known */
		extern "C" KEEP int __gccgo_personality_v0() { return 0; }
		#endif
		struct node { int x, y; node *next; };
		struct noisy { int *count; KEEP ~noisy() { ++*count; } };
		static node nodes[2] = {{1, 2, nodes + 1}, {3, 4, nullptr}};
		static int undone;
		static void on_fault(int number) { throw number; }
		KEEP static node *get(int i) { return i < 2 ? nodes + i : nullptr; }
		KEEP static int sum(int a, int b) { return a + b; }
		#ifdef BARE /* nothing is there to be done when an exception passes */
		KEEP static int behind_call(int i) { return get(i)->x + sum(i, 2); }
		KEEP static int caught(int i) { return behind_call(i) + 1; }
		#else
		KEEP static int behind_call(int i)
		{
			noisy here{&undone};
			node *p = get(i);
			return p->x + sum(p->y, i);
		}
		#endif
		KEEP static int at_start(node *p) { return p->x; }
		KEEP static int in_loop(node *p)
		{
			int total = 0;
			for (; p->x < 100; p = p->next)
				total += p->x;
			return total;
		}
		#ifndef BARE
		KEEP static int caught(int i)
		{
			try {
				return get(i)->x + sum(i, 1);
			} catch (int number) {
				return -number;
			}
		}
		#endif
		int main()
		{
			struct sigaction action;
			memset(&action, 0, sizeof(action));
			action.sa_handler = on_fault;
			action.sa_flags = SA_NODEFER;
			sigaction(SIGSEGV, &action, nullptr);
			for (int i = 0; i < 4; i++)
				for (int way = 0; way < 4; way++)
					try {
						printf("%d: ", way);
						printf("%d\n", way == 0   ? behind_call(i)
							       : way == 1 ? at_start(get(i))
							       : way == 2 ? in_loop(get(i))
									  : caught(i));
					} catch (int number) {
						printf("fault %d, %d undone\n", number, undone);
					}
			return 0;
		}
	END
}

# The only line of the wrapper, which says that something is left.
says_what_is_left()
{
	own_words traced.log >words
	grep -q ': program: LITIFUT_MODE: returns are not recorded: \|: program: left untraced: branches are not recorded: ' words &&
		[ "$(grep -c 'litifut-ld: ' words)" = 1 ]
}

# leaves_it FLAGS: the program behaves as untraced, and is left where code would be moved
leaves_it()
{
	flags=$*
	mkdir -p plain traced
	ok "$*: a program that throws out of a handler" eval '(cd plain && compiler -o program ../main.cc)'
	for LITIFUT_MODE in $modes; do
		export LITIFUT_MODE
		(cd traced && front="$BUILD/bin/litifut build -q" compiler -o program ../main.cc) >traced.log 2>&1
		is "$*, $LITIFUT_MODE: the link succeeds" $? 0
		case $LITIFUT_MODE in
		counts | calls) ok "$*, $LITIFUT_MODE: it is recorded" rewritten traced/program ;;
		*) ok "$*, $LITIFUT_MODE: one line says what is left" says_what_is_left ;;
		esac
		same_run program
	done
}

behaviour()
{
	source_of_faults
	language=g++
	modes="counts calls spans coverage"
	leaves_it -fnon-call-exceptions -DOF_GO -g0
	modes="table paths"
	leaves_it -fnon-call-exceptions -g0
	leaves_it -fnon-call-exceptions -DBARE
	flags=
	[ "$target" != armel ] || modes=coverage # CPUs before ARMv7 have neither `table` nor `paths`
	for LITIFUT_MODE in $modes; do
		(cd traced && front="$BUILD/bin/litifut build -q" compiler -o program ../main.cc) >traced.log 2>&1
		ok "$LITIFUT_MODE: C++ without that option is recorded" rewritten traced/program
	done
	unset LITIFUT_MODE
}

for_targets behaviour
