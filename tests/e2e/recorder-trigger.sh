#!/bin/sh
# LITIFUT_TRIGGER: recording starts and stops at calls of functions. The program prints
# the other calls that lie between those, which have to be recorded.
. "$(dirname "$0")/../lib.sh"
few_targets armhf-arm mips

recorded_leaves()
{
	sort traced.out >want
	"$BUILD/bin/litifut-post" -q data traced/longer 2>post.err |
		sed -n 's/^.* [-=]> leaf .*\((x=.*\)$/\1/p' | sort >got
}

# `stop:f>T`: the program calls it for a short and for a long time, by the clock of the oracle, and
# prints the calls of leaf() that are to be recorded.
longer_calls()
{
	cat >longer.c <<-'END'
		#include <pthread.h>
		#include <semaphore.h>
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		enum { SHORT = 10, LONG = 200000 };
		static volatile int sink;
		static int on;
		static jmp_buf out;
		static sem_t inside, go;
		KEEP int leaf(int x) { return sink += x; }
		#define CALL(x) do { if (on) printf("(x=%d)\n", x); leaf(x); } while (0)
		KEEP void work(int n) { while (n--) sink++; }
		KEEP int parse(int n) { work(n); return 0; }
		/* parse calls parse: the inner one is short, the outer one long, before it or behind it */
		KEEP int before(int n) { work(LONG); parse(SHORT); CALL(n); return 0; }
		KEEP int behind(int n) { parse(SHORT); CALL(n); work(LONG); return 0; }
		/* many that are open; one of them is long, and none of those in it */
		KEEP int parse_deep(int n)
		{
			if (n == 1000)
				work(LONG);
			if (n)
				parse_deep(n - 1);
			leaf(n);
			return n;
		}
		/* another number of arguments, so that leave() has two calls, and none through a register */
		KEEP int parse_left(int n, int value) { work(n); longjmp(out, value); return 0; }
		KEEP void leave(int n) { if (setjmp(out)) sink += parse(SHORT); else sink += parse_left(n, 1); }
		KEEP void handler(int n) { CALL(n); sink += parse(SHORT); }
		KEEP int parse_raise(int n) { work(LONG); raise(n); CALL(n); return 0; }
		KEEP int parse_wait(int n)
		{
			sem_post(&inside);
			sem_wait(&go);
			work(n);
			CALL(4);
			return 0;
		}
		static void *thread(void *nothing) { parse_wait(LONG); on = 0; CALL(5); return nothing; }
		int main(int argc, char **argv)
		{
			static char stack[65536];
			const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
			struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
			pthread_t id;
			const char *how = argc > 1 ? argv[1] : "";
			const int start = !strcmp(how, "start");
			on = !start;
			parse(SHORT);
			CALL(1);
			if (!strcmp(how, "plain") || !strcmp(how, "killed"))
				sink += parse(LONG);
			if (!strcmp(how, "before"))
				sink += before(2);
			if (!strcmp(how, "behind"))
				sink += behind(2);
			if (!strcmp(how, "deep")) {
				for (int i = 0; i <= 1000; i++)
					printf("(x=%d)\n", i);
				sink += parse_deep(1500);
			}
			if (!strcmp(how, "left")) {
				leave(LONG);
				CALL(2);
				sink += parse(LONG);
			}
			if (!strcmp(how, "signal") || !strcmp(how, "stack")) {
				if (*how == 's' && how[1] == 't')
					sigaltstack(&other, NULL);
				sigaction(SIGUSR1, &action, NULL);
				sink += parse_raise(SIGUSR1);
			}
			if (!strcmp(how, "thread")) {
				pthread_create(&id, NULL, thread, NULL);
				sem_wait(&inside);
				for (int i = 0; i < 3; i++)
					sink += parse(SHORT);
				CALL(2);
				sem_post(&go);
				pthread_join(id, NULL);
			}
			on = 0;
			parse(SHORT);
			CALL(6);
			parse(LONG);
			on = start;
			CALL(7);
			if (!strcmp(how, "killed"))
				raise(SIGKILL);
			return sink == 1;
		}
	END
	LITIFUT_TRIGGER='stop:parse*>100us;stop:before>100us;stop:behind>100us'
	export LITIFUT_MODE=spans LITIFUT_CLOCK=page LITIFUT_ARGS='leaf:i0' LITIFUT_TRIGGER
	if [ "$target" = armel ]; then
		(front="$BUILD/bin/litifut build -q" && compiler -pthread -o longer longer.c) 2>longer.log
		is "where returns are not recorded, a line says so" \
			"$(sed -n 's/.*\(LITIFUT_[A-Z]*: .*\):.*/\1/p' longer.log)" \
			"LITIFUT_MODE: returns are not recorded"
		unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_ARGS LITIFUT_TRIGGER
		return
	fi
	link longer ../longer.c -pthread || return
	for how in plain before behind deep left signal stack thread; do
		run_timed longer $how
		recorded_leaves
		ok "stop at a call that took too long: $how" sh -c 'test -s got && diff got want'
	done
	LITIFUT_TRIGGER='start:parse>100us'
	link longer ../longer.c -pthread
	settings=LITIFUT_START=off
	run_timed longer start
	recorded_leaves
	ok "start at a call that took too long" sh -c 'test -s got && diff got want'
	LITIFUT_TRIGGER='snapshot:parse>100us#2'
	link longer ../longer.c -pthread
	rm -rf copy && mkdir copy
	settings="LITIFUT_COPY_TO=$(pwd)/copy"
	run_timed longer killed
	settings=
	is "a snapshot at the second one" \
		"$("$BUILD/bin/litifut-post" -q copy traced/longer | grep -c '> leaf')" 2
	LITIFUT_MODE=calls LITIFUT_TRIGGER='stop:parse>1ms;stop:parse>1m'
	(cd traced && front="$BUILD/bin/litifut build -q" && compiler -o wrong ../longer.c -pthread) >traced.log 2>&1
	is "wrong settings of times: a line each" "$(sed -n 's/.*\(LITIFUT_TRIGGER: .*\);.*/\1/p' traced.log)" \
'LITIFUT_TRIGGER: stop:parse>1ms: how long calls take is known with LITIFUT_MODE=spans only
LITIFUT_TRIGGER: stop:parse>1m: behind the > is not a time from 1ns to 4294967295s, a whole number with ns, us, ms or s'
	cat >tail.c <<-'END'
		#define KEEP __attribute__((noipa))
		static volatile int sink;
		KEEP int inner(int n) { return sink += n; }
		KEEP int last(int n) { return inner(n + 1); }
		int main(int argc, char **argv)
		{
			sink += inner(argc);
			sink += last(argc);
			return argv == 0;
		}
	END
	LITIFUT_MODE=spans LITIFUT_TRIGGER='stop:inner>1ms' LITIFUT_ARGS='inner:i0,r'
	(cd traced && front="$BUILD/bin/litifut build -q" && compiler -o tail ../tail.c) >traced.log 2>&1
	is "a tail call is not measured: a line" \
		"$(sed -n 's/.*\(LITIFUT_TRIGGER: .*\) (.*/\1/p' traced.log)" \
		"LITIFUT_TRIGGER: 1 of 2 calls are not measured: their returns are not recorded"
	is "and its value is not recorded: a line" \
		"$(sed -n 's/.*\(LITIFUT_ARGS: .*\): they.*/\1/p' traced.log)" \
		"LITIFUT_ARGS: what 1 of 2 calls return is not recorded"
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_ARGS LITIFUT_TRIGGER
}

behaviour()
{
	cat >main.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		static volatile int sink;
		static int on;
		KEEP int leaf(int x) { return sink += x; }
		KEEP int begin(int x) { return sink += x; }
		KEEP int end(int x) { return sink += x; }
		#define CALL(function, x) do { if (on) printf("%s (x=%d)\n", #function, x); function(x); } while (0)
		int main(int argc, char **argv)
		{
			int rounds = argc > 1 ? atoi(argv[1]) : 10;
			on = argc > 2;
			for (int i = 0; i < rounds; i++) {
				CALL(leaf, i);
				on |= i == 2 || i == 7;
				CALL(begin, i);
				CALL(leaf, 100 + i);
				CALL(end, i);
				if (i == 4)
					on = 0;
				CALL(leaf, 200 + i);
			}
			if (argc > 3)
				raise(SIGKILL);
			return sink == 1;
		}
	END
	LITIFUT_ARGS='leaf:i0;end:i0;begin:i0'
	LITIFUT_TRIGGER='start:begin#3;stop:en[d]#5;start:begin#8'
	case $target in
	armhf | mipsel) LITIFUT_MODE=spans ;;
	*) LITIFUT_MODE=calls ;;
	esac
	export LITIFUT_ARGS LITIFUT_TRIGGER LITIFUT_MODE
	link program ../main.c
	linked=$?
	unset LITIFUT_ARGS LITIFUT_TRIGGER LITIFUT_MODE
	[ "$linked" = 0 ] || return
	for what in "off 10" "off 3000" "on 20 on"; do
		rm -rf data
		guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_START=${what%% *} LITIFUT_BULK_KB=16"
		# shellcheck disable=SC2086
		run traced program ${what#* }
		guest_environment=
		"$BUILD/bin/litifut-post" -q data traced/program 2>post.err |
			sed -n 's/^.* [-=]> \(.*\) \[program\]\( (x=.*\)$/\1\2/p' >got
		ok "$what: what lies between is recorded, and no more" \
			sh -c 'test -s got && diff got traced.out && ! grep . post.err'
	done
	rm -rf traced && mkdir traced
	(cd traced && front="$BUILD/bin/litifut build -q" LITIFUT_TRIGGER='snapshot:end#2;go:f;start:nosuch' &&
		export LITIFUT_TRIGGER && compiler -o program ../main.c) >traced.log 2>&1
	is "wrong settings: a line each" "$(sed -n 's/.*\(LITIFUT_[A-Z, _]*: .*\)[;(].*/\1/p' traced.log)" \
'LITIFUT_TRIGGER: go:f: is not start:, stop: or snapshot: with a function, or with FUNCTION#N for its Nth call
LITIFUT_TRIGGER: no call is found of a function named nosuch '
	rm -rf data
	(cd traced && front="$BUILD/bin/litifut build -q" LITIFUT_TRIGGER='stop:end' LITIFUT_ARGS='end:i0,i1,i2,i3,i4,i5,i6,i7,i8,i9,i10,i11;e*d:x0' &&
		export LITIFUT_TRIGGER LITIFUT_ARGS && compiler -o crowded ../main.c) >crowded.log 2>&1
	is "more values than there is room for: one line" \
		"$(sed -n 's/.*\(LITIFUT_[A-Z, _]*: .*\):.*/\1/p' crowded.log)" \
		"LITIFUT_ARGS: more than 12 values of a function that e*d names"
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced crowded 3
	guest_environment=
	"$BUILD/bin/litifut-post" -q data traced/crowded >got
	is "and the trigger is there" "$(grep -c '> leaf' got) $(grep -c '> end .*x=0, arg1=.*arg10=' got)" "2 1"
	rm -rf data copy && mkdir copy
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_COPY_TO=$(pwd)/copy"
	run traced program 3 on kill
	guest_environment=
	is "a snapshot has what was called by then" \
		"$("$BUILD/bin/litifut-post" -q copy traced/program | grep -c '> leaf')" 5
	is "and the rest is recorded" "$("$BUILD/bin/litifut-post" -q data traced/program | grep -c '> leaf')" 9
}

both()
{
	behaviour
	longer_calls
}

for_targets both
