#!/bin/sh
# Another libc than glibc: musl, whose threads hold their ids elsewhere, and whose
# start-up file for static PIE programs relocates the program itself, so that
# calls are made before that. Dynamic, static and static PIE; threads,
# signal handlers, and forked children.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

programs()
{
	cat >work.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned sum;
		KEEP void leaf(unsigned n) { sum ^= n; }
		KEEP void twice(unsigned n) { leaf(n); leaf(n + 1); __asm__ volatile(""); }
		KEEP void in_child(void) { sum++; }
		KEEP void in_handler(void) { sum++; }
		static void on_signal(int number) { (void)number; in_handler(); __asm__ volatile(""); }
		static void *worker(void *argument)
		{
			for (unsigned i = 0; i < 3000; i++)
				twice(i);
			return argument;
		}
		static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
		int main(void)
		{
			pthread_t thread[3];
			int numbers[] = { 5, 3, 9, 1 };
			int status = 1;
			qsort(numbers, 4, sizeof(int), compare);
			for (int i = 0; i < 3; i++)
				pthread_create(&thread[i], 0, worker, 0);
			for (int i = 0; i < 3; i++)
				pthread_join(thread[i], 0);
			for (int i = 0; i < 40; i++) {
				pthread_create(&thread[0], 0, worker + 0, 0);
				pthread_join(thread[0], 0);
				i += 9;
			}
			signal(SIGUSR1, on_signal);
			for (int i = 0; i < 100; i++)
				raise(SIGUSR1);
			for (int i = 0; i < 5; i++) {
				fflush(stdout);
				if (!fork()) {
					for (int j = 0; j < 100; j++)
						in_child();
					_exit(0);
				}
				wait(&status);
				printf("%d", status);
			}
			twice(1);
			printf(" %d %d\n", numbers[0], numbers[3]);
			return 3;
		}
	END
}

# linked KIND START-FILE FLAGS...: with musl in the place of glibc
linked()
{
	kind=$1
	start=$2
	shift 2
	flags="$* -nostdinc -isystem $musl/include -isystem $(compiler -print-file-name=include)
		-nostartfiles -nodefaultlibs $musl/lib/$start $musl/lib/crti.o"
	# what musl's own gcc wrapper gives
	flags=$(echo "$flags" | tr -s '\n\t' '  ')
	# shellcheck disable=SC2086
	link "$kind" ../work.c -L"$musl/lib" $libraries "$musl/lib/crtn.o"
}

# one KIND: what the libc itself calls is the program's too where it is static
one()
{
	same_run "$1"
	ok "$1: a trace for each process" test "$(find data/trace -name '*.trace' | wc -l)" = 6
	# shellcheck disable=SC2046
	ok "$1: litifut-post reads them" "$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace \
		data/maps $(traced_files)
	is "$1: the children's calls" "$(recorded in_child)" 500
	is "$1: the handler's calls" "$(recorded in_handler)" 100
	is "$1: the threads' calls" "$(recorded leaf)" $((2 * (3000 * 7 + 1)))
	is "$1: each thread has its own" \
		"$(awk -F '\t' '$9 == "leaf" || $10 == "leaf" { print $2 }' events.tsv | sort -u | wc -l)" 8
	oracle_compare=compare-any-order
	events_equal_calls "$1"
	oracle_compare=compare
}

# _Fork's calls, of which the child makes some before it has an id, are the only ones left.
only_fork_is_left()
{
	calls=$("$BUILD/bin/litifut" info --skipped traced/static | grep -c '^0x.* excluded ')
	# shellcheck disable=SC2046
	set -- $("$triplet-nm" -S traced/static | awk '$4 == "_Fork" { print $1, $2 }')
	echo "$calls calls; _Fork at $1, $2 bytes"
	"$triplet-objdump" -d --start-address=0x"$1" --stop-address=$((0x$1 + 0x$2)) traced/static |
		awk -F '\t' '$3 ~ /^(bl|blx|bal|jal|jalr)$/' >fork.calls
	cat fork.calls
	[ "$calls" -gt 0 ] && [ "$calls" = "$(wc -l <fork.calls)" ]
}

behaviour()
{
	if ! musl=$("$root/tests/musl" "${target%-arm}" 2>musl.log); then
		skip "musl" "can't be had: $(tail -n 1 musl.log)"
		return
	fi
	programs
	# a tail call in the first instruction of a function is one too much for the oracle
	export LITIFUT_TAIL=0
	libraries="-Wl,--start-group -lc -lgcc -lgcc_eh -Wl,--end-group"
	linked static crt1.o -static -no-pie && one static
	ok "static: _Fork is left as it is, and nothing else" only_fork_is_left
	linked static-pie rcrt1.o -pie -fPIE -Wl,-static,--no-dynamic-linker,-z,text && one static-pie
	is "static-pie: it is one" "$(readelf -hlW traced/static-pie | grep -c 'Type:.*DYN\|INTERP')" 1
	is "static-pie: the call before its relocation" "$(recorded _start_c)" 1
	is "static-pie: start-up code that asks where it is makes no call" \
		"$(awk -F '\t' '$6 ~ /^_start/ && $10 ~ /^_start/ && $10 !~ /^_start_c/' events.tsv | wc -l)" 0
	sysroot=$musl/root
	libraries="-lc -lgcc"
	linked dynamic Scrt1.o -pie -fPIE "-Wl,-dynamic-linker,/lib/$(ls "$musl/root/lib")" && one dynamic
}

for_targets behaviour
