#!/bin/sh
# However a link hides its symbols, a process has one recorder: libraries with an
# anonymous and with a named version script, one that binds to itself, one that
# is only loaded at run time; all in one trace. It has one, too, where libraries find their own
# recorder first: opened with RTLD_DEEPBIND, or in another namespace of the dynamic linker.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

behaviour()
{
	for name in anonymous named symbolic loaded; do
		cat >$name.c <<-END
			static __attribute__((noipa)) int inside_$name(int x) { return x + 1; }
			int call_$name(int x) { return inside_$name(x) + 1; }
		END
	done
	cat >main.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		int call_anonymous(int), call_named(int), call_symbolic(int);
		int main(void)
		{
			void *library = dlopen("libloaded.so", RTLD_NOW | RTLD_GLOBAL);
			int (*call_loaded)(int) = library ? (int (*)(int))dlsym(library, "call_loaded") : 0;
			if (!call_loaded)
				return puts(dlerror()), 1;
			printf("%d\n", call_anonymous(1) + call_named(2) + call_symbolic(3) + call_loaded(4));
			return 0;
		}
	END
	printf '/* a comment */ { global: call_*; local: *; };\n' >anonymous.version
	printf 'NAMED_1 { global: call_*; local: *; };\n' >named.version
	link libanonymous.so -fPIC -shared ../anonymous.c -Wl,--version-script=../anonymous.version || return
	link libnamed.so -fPIC -shared ../named.c -Wl,--version-script,../named.version || return
	link libsymbolic.so -fPIC -shared ../symbolic.c -Wl,-Bsymbolic || return
	link libloaded.so -fPIC -shared ../loaded.c || return
	# as -static-libstdc++ has it
	link program ../main.c -L. -lanonymous -lnamed -lsymbolic -ldl -Wl,-Bstatic,-Bdynamic || return
	same_run program
	is "with a static library: one trace" "$(find data/trace -type f | wc -l)" 1
	link program ../main.c -L. -lanonymous -lnamed -lsymbolic -ldl || return
	same_run program
	is "one trace" "$(find data/trace -type f | wc -l)" 1
	for name in anonymous named symbolic loaded; do
		# shellcheck disable=SC2046
		is "the call inside lib$name.so" "$("$BUILD/bin/litifut-post" -f tsv data/trace data/maps \
			$(traced_files) 2>post.err | cut -f 10 | grep -cx "inside_$name")" 1
		ok "lib$name.so still exports its own" sh -c "'$triplet-nm' -D traced/lib$name.so | grep -q 'T call_$name'"
	done
	is "nothing else is exported by the version scripts" \
		"$("$triplet-nm" -D traced/libanonymous.so | grep -c inside_)" 0
	two_namespaces
	deep_bound calls
	deep_bound counts
	# the others need ARMv7
	[ "$target" = armel ] || for mode in spans table paths; do
		deep_bound $mode
	done
}

# One that prefers its own functions: each time another loading, with a thread and a child in it.
deep_bound()
{
	cat >deep.c <<-'END'
		static __thread int here;
		__attribute__((noipa)) static int step(int n) { return here += n; }
		int work(int n, int (*back)(int)) { int sum = 0; while (n--) sum += step(n & 1) + back(n); return sum; }
	END
	cat >binding.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static int (*work)(int, int (*)(int));
		static __attribute__((noipa)) int back(int n) { return n & 3; }
		static void *thread(void *none) { return (void *)(long)work(9000, back); }
		int main(void)
		{
			for (int i = 0; i < 2; i++) {
				void *library = dlopen("libdeep.so", RTLD_NOW | RTLD_DEEPBIND), *sum;
				pthread_t other;
				if (!library || !(work = (int (*)(int, int (*)(int)))dlsym(library, "work")))
					return puts(dlerror()), 1;
				pthread_create(&other, 0, thread, 0);
				pthread_join(other, &sum);
				printf("%ld %d\n", (long)sum, work(1000, back));
				fflush(stdout);
				if (!fork())
					exit(work(10, back) & 0);
				wait(0);
				dlclose(library);
			}
			return 0;
		}
	END
	export LITIFUT_MODE="$1"
	link libdeep.so -fPIC -shared ../deep.c && link binding ../binding.c -pthread -ldl
	linked=$?
	unset LITIFUT_MODE
	[ $linked = 0 ] || return
	same_run binding
	is "deep-bound, $1: a trace for each process" "$(find data/trace -type f -name '*.trace' | wc -l)" 3
	if [ "$1" = paths ]; then
		ok "deep-bound, paths: the trace is followed" trace_followed traced/binding traced/libdeep.so
		is "deep-bound, paths: each call of back" "$(cut -f 6 blocks.tsv | grep -cx back)" 20020
		return
	fi
	"$BUILD/bin/litifut-post" -q -f csv -o post.csv data traced/binding traced/libdeep.so
	is "deep-bound, $1: each call of step" "$(calls_of step)" 20020
	# where a pointer leads is not counted
	[ "$1" = counts ] || is "deep-bound, $1: each call of back" "$(calls_of back)" 20020
}

# calls_of NAME: as often as post.csv says that it was called
calls_of()
{
	awk -F, -v name="\"$1\"" '$4 == name { sum += $7 } END { print sum + 0 }' post.csv
}

# A library that dlmopen() loads finds no recorder but its own, and no other can be found by name.
two_namespaces()
{
	cat >apart.c <<-'END'
		#include <stdlib.h>
		static __attribute__((noipa)) int leaf(int n) { return n + 1; }
		int work(int n)
		{
			int sum = getenv("NOTHING") ? 1 : 0;
			while (n--)
				sum += leaf(n);
			return sum;
		}
	END
	cat >namespaces.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>
		static __attribute__((noipa)) int own(int n) { return n + 2; }
		int main(void)
		{
			int sum = own(0);
			void *library = dlmopen(LM_ID_NEWLM, "libapart.so", RTLD_NOW);
			int (*work)(int) = library ? (int (*)(int))dlsym(library, "work") : 0;
			if (!work)
				return puts(dlerror()), 1;
			for (int i = 0; i < 40000; i++)
				sum += own(i) + (i % 100 ? 0 : work(100));
			dlclose(library);
			for (int i = 0; i < 40000; i++)
				sum += own(i);
			printf("%d\n", sum);
			return 0;
		}
	END
	link libapart.so -fPIC -shared ../apart.c || return
	link namespaces ../namespaces.c -ldl || return
	same_run namespaces
	"$BUILD/bin/litifut-post" -q -f csv -o post.csv data traced/namespaces traced/libapart.so
	is "two namespaces: the program's calls" "$(calls_of own)" 80001
	is "two namespaces: the library's calls" "$(calls_of leaf) $(calls_of getenv)" "40000 400"
	is "two namespaces: one trace" "$(find data/trace -type f | wc -l)" 1
	# 40,000 of leaf, 400 of work and of getenv, 80,001; the rest starts and ends the program
	ok "two namespaces: no call is lost" sh -c "'$BUILD/bin/litifut-post' -f report data/trace \
		data/maps 2>&1 | sed -n 's/.*litifut-post: \([0-9]*\) calls, 0 lost.*/\1/p' |
		awk '{ exit !(\$1 >= 120801) }'"
}
for_targets behaviour
