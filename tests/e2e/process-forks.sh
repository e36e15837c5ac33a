#!/bin/sh
# fork, vfork and exec: each process has a trace of its own, and none disturbs
# its parent's.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#define _GNU_SOURCE
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
}

for_targets behaviour
