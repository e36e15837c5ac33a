#!/bin/sh
# The oracle itself, on plain programs: it sees each kind of call that executes,
# in order and for each thread, and nothing that is none.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		KEEP void leaf(void) { }
		KEEP void other(void) { }
		KEEP void maybe(int really) { if (really) leaf(); __asm__ volatile(""); }
		KEEP void through(void (*pointer)(void)) { pointer(); __asm__ volatile(""); }
		KEEP void on_signal(int number) { (void)number; leaf(); __asm__ volatile(""); }
		KEEP void *thread(void *argument) { for (int i = 0; i < 2; i++) other(); return argument; }
		KEEP void in_child(void) { other(); __asm__ volatile(""); }
		int main(void)
		{
			pthread_t one;
			pid_t child;
			maybe(0);
			maybe(1);
			through(other);
			signal(SIGUSR1, on_signal);
			raise(SIGUSR1);
			pthread_create(&one, 0, thread, 0);
			pthread_join(one, 0);
			child = fork();
			if (!child) {
				in_child();
				_exit(0);
			}
			waitpid(child, 0, 0);
			leaf();
			return 0;
		}
	END
	ok "compile" compiler -o program main.c -pthread || return
	mkdir -p plain && mv program plain/
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,count=count"
	run plain program
	is "exit status" "$(cat plain.status)" 0

	# numbers of threads become letters by their first calls, as that of a child may be
	# less than its parent's; PLT entries and the calls of the start-up files are left out
	# shellcheck disable=SC2094
	python3 "$root/tests/oracle/oracle.py" calls oracle plain/program | awk '
		$2 ~ /^(main|maybe|through|on_signal|thread|in_child)\+/ && $4 !~ /@plt/ && $4 !~ /[.]so/ {
			sub(/[+].*/, "", $2)
			if ($4 !~ /^(main|leaf|other|maybe|through|on_signal|thread|in_child)$/)
				next
			if (!($1 in letter))
				letter[$1] = $2 == "thread" ? "b" : $4 == "in_child" ? "c" : "a"
			print letter[$1], $2, $4
		}' >calls
	cat >expected <<-'END'
		a main maybe
		a main maybe
		a maybe leaf
		a main through
		a through other
		a on_signal leaf
		a main leaf
		b thread other
		b thread other
		c main in_child
		c in_child other
	END
	sort calls >calls.sorted
	sort expected >expected.sorted
	ok "the calls are those of the source" diff expected.sorted calls.sorted
	ok "those of the first thread are in order" sh -c \
		'grep ^a expected >e; grep ^a calls >c; diff e c'

	run plain program
	cp count first
	ok "instructions are counted" test "$(cut -d' ' -f1 first)" -gt 10000

	rm -rf plain data
	link program ../main.c -pthread || return
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=again"
	run plain program
	qemu_options=
	run traced program
	ok "litifut-post reads the trace" \
		"$BUILD/bin/litifut-post" -f tsv --plt -o events.tsv data/trace data/maps traced/program
	ok "the plain run's calls are the traced one's" same_calls events.tsv
	# numbers of processes begin anew some time
	awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = 100000 - $1 } { print }' events.tsv >renumbered.tsv
	ok "also when the child's number is the lower one" same_calls renumbered.tsv
	sed '$d' events.tsv >lost.tsv
	ok "an event that is missing is found" sh -c '! "$@"' sh python3 "$root/tests/oracle/oracle.py" \
		same again lost.tsv traced/program -- plain/program
}

same_calls()
{
	python3 "$root/tests/oracle/oracle.py" same again "$1" traced/program -- plain/program
}

for_targets behaviour
