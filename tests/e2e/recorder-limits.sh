#!/bin/sh
# The limits that a process lives under: size of files, number of descriptors, and the
# recorder's own tables. The program does not notice, and nothing is lost.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

# A limit of 3 GiB is a limit also where a file offset of 32 bits has a sign. Lines of the
# recorder's go to stderr, which is a sparse file that has reached it.
file_size()
{
	cat >work.c <<-'END'
		#include <stdio.h>
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		int main(void)
		{
			for (int i = 0; i < 1000; i++)
				step();
			puts("done");
			return 3;
		}
	END
	link work ../work.c || return
	rm -rf data
	truncate -s 3221225472 stderr
	(
		ulimit -f 6291456 # blocks of 512 bytes
		# shellcheck disable=SC2086
		env -i LITIFUT_DIR="$(pwd)/data" LITIFUT_VERBOSE=1 timeout 120 "qemu-$cpu" -L "$sysroot" \
			traced/work >traced.out 2>>stderr
		echo $? >traced.status
	)
	is "RLIMIT_FSIZE of 3 GiB: the program ends as ever" "$(cat traced.out traced.status)" "done
3"
	is "RLIMIT_FSIZE of 3 GiB: nothing is written beyond it" "$(stat -c %s stderr)" 3221225472
	rm -f stderr
	ok "RLIMIT_FSIZE of 3 GiB: the trace is read" "$BUILD/bin/litifut-post" -f tsv -o events.tsv \
		data/trace data/maps traced/work
	is "RLIMIT_FSIZE of 3 GiB: every call" "$(recorded step)" 1000
}

# Few descriptors, and one or all of the standard ones closed: what the program writes to
# these numbers, and what it opens under them, is not the recorder's.
descriptors()
{
	cat >closed.c <<-'END'
		#include <errno.h>
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <string.h>
		#include <unistd.h>
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		static char report[400];
		static void try(int number)
		{
			int result = (int)write(number, "precious\n", 9);
			char *at = report + strlen(report);
			sprintf(at, "%d: %d %d\n", number, result, result < 0 ? errno : 0);
		}
		int main(int count, char **arguments)
		{
			int file;
			for (int i = 0; i < 1000; i++)
				step();
			try(0), try(1), try(2);
			file = open(arguments[count - 1], O_RDWR | O_CREAT | O_TRUNC, 0600);
			sprintf(report + strlen(report), "open: %d\n", file);
			write(file, report, strlen(report));
			for (int i = 0; i < 50000; i++)
				step();
			return 3;
		}
	END
	link closed ../closed.c || return
	for closing in '' '0<&-' '1>&-' '2>&-' '0<&- 1>&- 2>&-'; do
		for folder in plain traced; do
			rm -rf data
			(
				# shellcheck disable=SC3045 # dash has it, and so have others
				ulimit -n 40
				eval "exec </dev/null $closing"
				exec env -i LITIFUT_DIR="$(pwd)/data" LITIFUT_COPY_TO="$(pwd)/usb" \
					LITIFUT_VERBOSE=1 "qemu-$cpu" -L "$sysroot" "$folder/closed" "$folder.report"
			) >"$folder.out" 2>"$folder.err"
			echo $? >"$folder.status"
		done
		ok "40 descriptors${closing:+ and }$closing: the program finds its numbers as ever" \
			diff plain.report traced.report
		ok "40 descriptors${closing:+ and }$closing: same output" diff plain.out traced.out
		ok "40 descriptors${closing:+ and }$closing: same exit" diff plain.status traced.status
		ok "40 descriptors${closing:+ and }$closing: the trace is read" "$BUILD/bin/litifut-post" -f tsv \
			-o events.tsv data/trace data/maps traced/closed
		is "40 descriptors${closing:+ and }$closing: every call" "$(recorded step)" 51000
		is "40 descriptors${closing:+ and }$closing: nothing foreign in the files" \
			"$(grep -rl precious data usb)" ""
		ok "40 descriptors${closing:+ and }$closing: the copy is whole" \
			sh -c 'for copy in data/trace/* data/maps/*; do cmp "$copy" "usb/${copy#data/}" || exit; done'
		rm -rf usb
	done
}

# No descriptor is free when the program starts: a library that is not traced sees to
# that. It can be recorded later, and what was called meanwhile is counted.
late()
{
	cat >greedy.c <<-'END'
		#include <sys/resource.h>
		__attribute__((constructor)) static void take_all(void)
		{
			struct rlimit limit;
			getrlimit(RLIMIT_NOFILE, &limit);
			limit.rlim_cur = 3;
			setrlimit(RLIMIT_NOFILE, &limit);
		}
		int greedy(void) { return 1; }
	END
	cat >late.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <sys/resource.h>
		int greedy(void);
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		static void give(void)
		{
			struct rlimit limit;
			getrlimit(RLIMIT_NOFILE, &limit);
			limit.rlim_cur = 100;
			setrlimit(RLIMIT_NOFILE, &limit);
		}
		int main(int count, char **arguments)
		{
			greedy();
			for (int i = 0; i < 1000; i++)
				step();
			if (!strcmp(arguments[count - 1], "soon"))
				give();
			for (int i = 0; i < 10000; i++)
				step();
			puts("done");
			if (!strcmp(arguments[count - 1], "at the end"))
				give();
			return 3;
		}
	END
	compiler -shared -fPIC -o libgreedy.so greedy.c
	mkdir -p plain traced
	cp libgreedy.so plain
	cp libgreedy.so traced
	link late ../late.c -L. -lgreedy || return
	for when in soon "at the end" never; do
		rm -rf data
		run plain late "$when"
		guest_environment="LITIFUT_DIR=$(pwd)/data"
		run traced late "$when"
		guest_environment=
		ok "descriptors are there $when: same output" diff plain.out traced.out
		ok "descriptors are there $when: same errors" diff plain.err traced.err
		ok "descriptors are there $when: same exit" diff plain.status traced.status
		if [ "$when" = never ]; then
			is "descriptors are there $when: no file" "$(find data 2>/dev/null)" ""
			continue
		fi
		"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/late 2>post.err
		lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
		recorded=$(recorded step)
		ok "descriptors are there $when: all is recorded or counted ($recorded, $lost)" \
			test "$((recorded + lost))" -ge 11000 -a "$((recorded + lost))" -le 11100
		[ "$when" = soon ] || continue
		ok "descriptors are there $when: recording has begun by the next power of two" \
			test "$recorded" -gt 7000
	done
}

# More libraries than the recorder has room for at its start, then a child.
libraries()
{
	cat >library.c <<-'END'
		__attribute__((noipa)) static int inner(int n) { return n + 3; }
		int outer(int n) { return inner(n) + 1; }
	END
	cat >loader.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define COUNT 300
		static int (*function[COUNT])(int);
		int main(int count, char **arguments)
		{
			int sum = 0, status;
			for (int i = 0; i < COUNT; i++) {
				char name[400];
				void *library;
				sprintf(name, "%s/%d.so", arguments[count - 1], i);
				library = dlopen(name, RTLD_NOW);
				if (!library)
					return puts(dlerror());
				function[i] = (int (*)(int))dlsym(library, "outer");
				sum += function[i](i);
			}
			if (!fork()) {
				for (int i = 0; i < COUNT; i++)
					sum += function[i](i);
				_exit(sum & 63);
			}
			wait(&status);
			printf("%d %d\n", sum, status);
			return 3;
		}
	END
	flags="-shared -fPIC"
	link library.so ../library.c || return
	flags=
	link loader ../loader.c -ldl || return
	for folder in plain traced; do
		mkdir -p "many-$folder"
		for number in $(seq 0 299); do
			cp "$folder/library.so" "many-$folder/$number.so"
		done
	done
	run plain loader many-plain
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced loader many-traced
	guest_environment=
	ok "300 libraries: same output" diff plain.out traced.out
	# nothing but the child's trace names them
	rm -rf data/maps
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace traced/loader traced/library.so \
		2>post.err
	is "300 libraries: calls in them, of parent and child" "$(awk -F '\t' \
		'$10 == "inner" { count[$1]++ } END { for (pid in count) print count[pid] }' events.tsv)" \
		"300
300"
	rm -rf many-plain many-traced
}

behaviour()
{
	file_size
	descriptors
	late
	libraries
}

for_targets behaviour
