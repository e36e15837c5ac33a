#!/bin/sh
# However a link hides its symbols, a process has one recorder: libraries with an
# anonymous and with a named version script, one that binds to itself, one that
# is only loaded at run time; all in one trace.
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
}

# A library that dlmopen() loads finds no recorder but its own. Threads have one word for both.
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
	is "two namespaces: the program's calls" "$("$BUILD/bin/litifut-post" -q -f csv data/trace \
		data/maps traced/namespaces | awk -F, '$4 == "\"own\"" { sum += $7 } END { print sum }')" 80001
	# 40,000 of leaf, 400 of work and of getenv, 80,001; the rest starts and ends the program
	ok "two namespaces: no call is lost" sh -c "'$BUILD/bin/litifut-post' -f report data/trace \
		data/maps 2>&1 | sed -n 's/.*litifut-post: \([0-9]*\) calls, 0 lost.*/\1/p' |
		awk '{ exit !(\$1 >= 120801) }'"
}
for_targets behaviour
