#!/bin/sh
# Where there is no room, no right, or no descriptor: the program does not notice,
# what fits is recorded, what does not is counted as lost or (without any file)
# given up.
#
#   STRESS=20 tests/e2e/recorder-bounds.sh      so many other limits as well
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# bounded DESCRIPTION SETTINGS...: `before` is run in the shell before the program
bounded()
{
	bounded_description=$1
	shift
	rm -rf data
	(
		eval "${before:-:}"
		guest_environment="LITIFUT_DIR=${directory:-$(pwd)/data} $*"
		run traced work "${mode:-}"
	)
	ok "$bounded_description: same output" diff plain.out traced.out
	ok "$bounded_description: same errors" diff plain.err traced.err
	ok "$bounded_description: same exit" diff plain.status traced.status
}

# "EVENTS LOST" of the trace
counts()
{
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/work 2>post.err ||
		cat post.err >&2
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
	step=$(recorded step)
	echo "$step events of step(), $lost lost" >&2
}

all_or_lost()
{
	counts
	[ "$((step + lost))" -ge 900000 ] && [ "$((step + lost))" -le 900200 ]
}

all()
{
	counts
	[ "$step" = 900000 ] && [ "$lost" = 0 ]
}

# Whoever can write to the folder may have put something there under the name that
# the trace will have. The shell has the program's process id before it.
existing()
{
	rm -rf data
	mkdir -p data/trace data/maps
	echo precious >victim
	env -i LITIFUT_DIR="$(pwd)/data" sh -c '
		ln -s ../../victim data/trace/work.$$.trace
		ln -s ../../victim data/maps/work.$$.2.maps.tmp
		exec "$@"' sh "qemu-$cpu" -L "$sysroot" traced/work >traced.out 2>traced.err
	is "a link of that name: what it leads to is untouched" "$(cat victim)" precious
	is "a link of that name: the trace has the next" \
		"$(find data -type f | sed 's/\.[0-9]*\././' | sort | tr '\n' ' ')" \
		"data/maps/work.2.maps data/trace/work.2.trace "
	rm -rf data/trace/*[0-9].trace.tmp
	find data -type l -exec rm {} +
	ok "a link of that name: all is recorded" all
}

behaviour()
{
	cat >work.c <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/stat.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static volatile unsigned sum;
		__attribute__((noipa)) void step(unsigned n) { sum += n; }
		static void work(unsigned from, unsigned to)
		{
			for (unsigned i = from; i < to; i++)
				step(i);
		}
		int main(int count, char **arguments)
		{
			const char *mode = count > 1 ? arguments[1] : "";
			errno = 77;
			work(0, 1000);
			if (errno != 77)
				return 77;
			if (!strcmp(mode, "close")) {
				for (int i = 3; i < 1024; i++)
					close(i);
			} else if (!strcmp(mode, "reuse")) {
				/* every number is another file now: none may be written to */
				int file = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600);
				for (int i = 3; i < 1000; i++)
					if (i != file)
						dup2(file, i);
			} else if (!strcmp(mode, "directory")) {
				if (chdir("/"))
					return 2;
			} else if (!strcmp(mode, "wander")) {
				if (chdir("/"))
					return 4;
				if (!fork()) {
					work(0, 1000);
					_exit(0);
				}
				wait(0);
			} else if (!strcmp(mode, "user")) {
				mkdir("jail", 0700);
				if (chroot("jail") || chdir("/") || setgid(65534) || setuid(65534))
					return 3;
			}
			errno = 78;
			work(1000, 900000);
			if (errno != 78)
				return 78;
			if (!strcmp(mode, "reuse")) {
				struct stat own;
				int file = open("own", O_RDONLY);
				fstat(file, &own);
				printf("own file: %ld\n", (long)own.st_size);
			}
			printf("%u\n", sum);
			return 0;
		}
	END
	link work ../work.c || return
	before='' directory='' mode=''
	run plain work ""

	bounded "LITIFUT_MAX_MB" LITIFUT_CLOCK=mono LITIFUT_MAX_MB=1
	ok "LITIFUT_MAX_MB: what does not fit is counted" all_or_lost
	ok "LITIFUT_MAX_MB: something is lost ($lost) and something recorded" \
		test "$lost" -gt 0 -a "$step" -gt 1000
	ok "LITIFUT_MAX_MB: the file stays below" test "$(stat -c %s data/trace/*.trace)" -le 1048576

	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_CLOCK=none LITIFUT_MAX_MB=1 LITIFUT_COMPACT=0"
	qemu_options=-strace
	run traced work ""
	qemu_options=
	guest_environment=
	is "LITIFUT_MAX_MB: prints the same" "$(cat traced.out)" "$(cat plain.out)"
	ok "LITIFUT_MAX_MB: a lost call costs no system call ($(wc -l <traced.err) in all)" \
		test "$(wc -l <traced.err)" -lt 5000

	before='ulimit -f 512'
	bounded "RLIMIT_FSIZE" LITIFUT_CLOCK=mono
	ok "RLIMIT_FSIZE: what does not fit is counted" all_or_lost
	ok "RLIMIT_FSIZE: something is lost ($lost)" test "$lost" -gt 0
	is "RLIMIT_FSIZE: the report does not blame LITIFUT_MAX_MB" \
		"$("$BUILD/bin/litifut-post" -q report data traced/work | sed -n 's/.*were lost.*: //p')" \
		"there was no room for them (the file could not be made longer)."
	before=''

	# shellcheck disable=SC2013
	for limit in $(awk -v times="${STRESS:-0}" -v seed="$$" 'BEGIN {
		srand(seed)
		for (; times > 1; times--)
			print 40 + int(rand() * 4000)
	}'); do
		before="ulimit -f $limit"
		bounded "RLIMIT_FSIZE of $limit" LITIFUT_CLOCK=mono LITIFUT_BULK_KB=16
		ok "RLIMIT_FSIZE of $limit: what does not fit is counted" all_or_lost
	done
	before=''

	mkdir -p small
	if mount -t tmpfs -o size=256k none small 2>/dev/null; then
		directory=$(pwd)/small
		bounded "full disk" LITIFUT_CLOCK=mono
		mkdir -p data
		cp -r small/* data
		umount small
		ok "full disk: what does not fit is counted" all_or_lost
		ok "full disk: something is lost ($lost)" test "$lost" -gt 0
		mount -t tmpfs -o ro none small
		bounded "a directory that can't be written"
		umount small
	else
		skip "full disk" "no right to mount"
	fi

	directory=/proc/no/such/place
	bounded "a directory that can't be made"
	touch file
	directory=$(pwd)/file
	bounded "a directory that is a file"
	directory=$(pwd)/data/a/b/c
	bounded "a directory that is missing is made"
	ok "a directory that is missing is made: the trace is in it" test -s data/a/b/c/trace/*.trace
	directory=''

	before='exec 3>&- 4>&-'
	for mode in close directory; do
		run plain work $mode
		bounded "mode $mode"
		ok "mode $mode: all is recorded" all
	done
	before=''
	mode=wander
	directory=./data
	run plain work wander
	bounded "a relative folder, and a child elsewhere"
	directory=''
	counts 2>counts.log
	is "a relative folder, and a child elsewhere: all is recorded" "$step $lost" "901000 0"
	is "a relative folder, and a child elsewhere: two traces" "$(find data/trace -type f | wc -l)" 2
	existing
	mode=reuse
	run plain work reuse
	bounded "descriptors used again"
	ok "descriptors used again: all is recorded" all
	is "descriptors used again: the program's file is untouched" "$(head -n 1 traced.out)" \
		"own file: 0"
	mode=user
	if [ "$(id -u)" = 0 ]; then
		run plain work user
		bounded "another root and user"
		ok "another root and user: all is recorded" all
	else
		skip "another root and user" "not root"
	fi
}

for_targets behaviour
