#!/bin/sh
# fork, vfork and exec: each process has a trace of its own, and none disturbs
# its parent's.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#define _GNU_SOURCE
		#include <sched.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		static KEEP int parent_work(int x) { return x + 1; }
		static KEEP int child_work(int x) { return x + 2; }
		static KEEP int exec_work(int x) { return x + 3; }
		static KEEP void wait_for(pid_t child)
		{
			int status;
			waitpid(child, &status, 0);
			printf("status %d\n", WEXITSTATUS(status));
			fflush(stdout);
		}
		int main(int count, char **words)
		{
			pid_t child;
			if (count == 2)
				return exec_work(1);
			/* the first process of a PID namespace makes that of another one */
			if (count == 3) {
				parent_work(1);
				if (unshare(CLONE_NEWPID))
					return 1;
				if (!(child = fork())) {
					child_work(1);
					child_work(2);
					_exit(getpid() == 1 ? 3 : 4);
				}
				wait_for(child);
				parent_work(2);
				return getpid() != 1;
			}
			parent_work(1);
			child = fork();
			if (!child) {
				child_work(1);
				child_work(2);
				_exit(3);
			}
			wait_for(child);
			child = vfork();
			if (!child) {
				child_work(3);
				_exit(5);
			}
			wait_for(child);
			child = fork();
			if (!child) {
				/* qemu, sysroot, this program: exec needs no binfmt_misc then */
				execl(words[1], words[1], "-L", words[2], words[3], "exec", (char *)0);
				_exit(127);
			}
			wait_for(child);
			parent_work(2);
			parent_work(3);
			return 0;
		}
	END
	link program ../main.c || return
	qemu=$(command -v "qemu-$cpu")
	rm -rf data
	run plain program "$qemu" "$sysroot" plain/program
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced program "$qemu" "$sysroot" traced/program
	guest_environment=
	ok "prints the same when traced" diff plain.out traced.out
	is "exit status" "$(cat traced.status)" 0
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/program
	is "calls of the parent, of children and after exec" \
		"$(recorded parent_work) $(recorded child_work) $(recorded exec_work)" "3 3 1"
	is "processes" "$(awk -F '\t' 'NR > 1 { print $1 }' events.tsv | sort -u | wc -l)" 4

	# there libc's own calls in fork() are the first of a child
	flags=-static
	if link static ../main.c; then
		rm -rf data
		guest_environment="LITIFUT_DIR=$(pwd)/data"
		run traced static "$qemu" "$sysroot" plain/program
		guest_environment=
		ok "static: prints the same when traced" diff plain.out traced.out
		is "static: one trace for each process" "$(find data/trace -name '*.2.trace')" ""
		"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/static
		is "static: calls of the parent and of children" "$(recorded parent_work) $(recorded child_work)" "3 3"
		is "static: processes" "$(awk -F '\t' 'NR > 1 { print $1 }' events.tsv | sort -u | wc -l)" 4
	fi
	flags=

	if ! unshare -p -f true 2>/dev/null; then
		skip "processes with the same number" "it takes the right to make PID namespaces"
		return
	fi
	if [ "${ENGINE:-}" = db ]; then
		skip "processes with the same number" "fork handlers, which detect them, come with thunks"
		return
	fi
	# a device that has started many times, and gives the program the same number each time
	rm -rf data
	mkdir -p data/trace
	touch data/trace/program.1.trace
	for number in $(seq 2 130); do
		touch "data/trace/program.1.$number.trace"
	done
	is "the first process of a namespace, and its child of the same number, exit" \
		"$(LITIFUT_DIR=$(pwd)/data unshare -p -f "$qemu" -L "$sysroot" traced/program two words)" "status 3"
	is "each has a trace, behind those of other runs" \
		"$(find data/trace -name '*.trace' -size +0 | sort | tr '\n' ' ')" \
		"data/trace/program.1.131.trace data/trace/program.1.132.trace "
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace/program.1.13[12].trace data/maps traced/program
	is "and all of its calls" "$(recorded parent_work) $(recorded child_work)" "2 2"
}

for_targets behaviour
