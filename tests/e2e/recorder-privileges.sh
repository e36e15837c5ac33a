#!/bin/sh
# A program that gives up its rights, as daemons do, before or after it makes children:
# what can't be recorded any more is counted in the parent's trace, and the copy at the
# end reads what the recorder has open.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# dropped MODE: the program gives up MODE and then makes a child of 1000 calls
dropped()
{
	rm -rf data usb
	mkdir -m 777 usb jail 2>/dev/null
	run plain drop "$1"
	guest_environment="LITIFUT_DIR=$(pwd)/data ${copy:-}"
	run traced drop "$1"
	guest_environment=
	ok "$1: same output" diff plain.out traced.out
	ok "$1: same errors" diff plain.err traced.err
	ok "$1: same exit" diff plain.status traced.status
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/drop 2>post.err
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
}

of_child()
{
	awk -F '\t' '$10 == "in_child" { count[$1]++ } END { for (pid in count) print count[pid] }' events.tsv
}

behaviour()
{
	cat >drop.c <<-'END'
		#define _GNU_SOURCE
		#include <stdio.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		__attribute__((noipa)) void in_child(void) { __asm__ volatile(""); }
		__attribute__((noipa)) void in_grandchild(void) { __asm__ volatile(""); }
		static void child(int grandchild)
		{
			if (fork()) {
				wait(0);
				return;
			}
			for (int i = 0; i < 1000; i++)
				in_child();
			if (grandchild && !fork()) {
				for (int i = 0; i < 1000; i++)
					in_grandchild();
				_exit(0);
			}
			wait(0);
			_exit(0);
		}
		int main(int count, char **arguments)
		{
			const char *mode = arguments[count - 1];
			step();
			if (strstr(mode, "root") && (chroot("jail") || chdir("/")))
				return 1;
			if (strstr(mode, "user") && (setgroups_none() || setgid(65534) || setuid(65534)))
				return 2;
			for (int i = 0; i < (strstr(mode, "many") ? 12 : 1); i++)
				child(!!strstr(mode, "grandchild"));
			step();
			puts("done");
			return 3;
		}
	END
	sed -i 's/setgroups_none() || //' drop.c
	if [ "$(id -u)" != 0 ]; then
		skip "a program that gives up its rights" "not root"
		return
	fi
	link drop ../drop.c || return

	dropped root
	is "root: the child has a trace" "$(of_child)" 1000
	is "root: nothing is lost" "$lost" 0
	is "root: nothing in the new root" "$(find jail -mindepth 1)" ""
	# An emulator has an empty /proc/self/maps there, a kernel has none.
	is "root: the maps from before name the libraries" \
		"$(grep -l 'libc\.so' data/maps/* | wc -l) $(find data -size 0)" "1 "

	copy=LITIFUT_COPY_TO=$(pwd)/usb
	dropped user
	is "user: the parent's calls" "$(recorded step)" 2
	ok "user: the child's are counted ($lost)" test "$lost" -ge 1000 -a "$lost" -le 1020
	is "user: one trace" "$(find data -name '*.trace' | wc -l)" 1
	ok "user: the copy of the trace is whole" cmp data/trace/*.trace usb/trace/*.trace
	ok "user: the copy is read" "$BUILD/bin/litifut-post" -f tsv -o copy.tsv usb traced/drop
	ok "user: and has the same events" cmp events.tsv copy.tsv
	copy=

	dropped user-grandchild
	ok "user, and a grandchild: counted ($lost)" test "$lost" -ge 2000 -a "$lost" -le 2040

	dropped user-many
	ok "user, and twelve children: counted ($lost)" test "$lost" -ge 12000 -a "$lost" -le 12240
}

for_targets behaviour
