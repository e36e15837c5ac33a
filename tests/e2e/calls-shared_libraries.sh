#!/bin/sh
# A traced executable that uses a traced library: one recorder, and the calls of
# both in one trace. A library opened, closed and opened again at run time.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mips

# How many calls of this function are recorded as those of the entry that leads to it.
by_entry()
{
	awk -F '\t' -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["site_module"] == "program" && $column["callee"] == name && $column["plt"] != "" { n++ }
		END { print n + 0 }
	' events.tsv
}

behaviour()
{
	cat >library.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		static KEEP int hidden(int x) { return x + 1; }
		KEEP int exported(int x) { return hidden(x) * 2; }
		KEEP int call_back(int (*function)(int), int x) { return function(x) + exported(x); }
		__attribute__((constructor)) static void arrive(void) { printf("arrive %d\n", exported(1)); }
		__attribute__((destructor)) static void leave(void) { printf("leave %d\n", exported(2)); }
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int exported(int x);
		int call_back(int (*function)(int), int x);
		static __attribute__((noipa)) int mine(int x) { return x - 1; }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 3; i++)
				sum += exported(i) + call_back(mine, i) + call_back(exported, i);
			printf("%d\n", sum);
			return 0;
		}
	END
	cat >opens.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		static __attribute__((noipa)) int mine(int x) { return x - 1; }
		int main(void)
		{
			for (int i = 0; i < 3; i++) {
				void *library = dlopen("libours.so", RTLD_NOW);
				int (*call_back)(int (*)(int), int);
				if (!library)
					return puts(dlerror()), 1;
				call_back = (int (*)(int (*)(int), int))dlsym(library, "call_back");
				printf("%d\n", call_back(mine, i));
				dlclose(library);
			}
			return 0;
		}
	END
	link libours.so -fPIC -shared ../library.c || return
	link program ../main.c -L. -lours || return
	same_run program
	events_equal_calls program
	is "calls inside the library" "$(recorded hidden)" 14
	is "calls back into the executable" "$(recorded mine)" 3
	is "one trace" "$(find data/trace -type f | wc -l)" 1
	# on MIPS the db engine records what $t9 holds: the stub's address once, and then the function's
	case $cpu${ENGINE:-} in
	mips*db) by_stub=1 ;;
	*) by_stub=6 ;;
	esac
	is "calls of the entry that names the callee" "$(by_entry call_back)" $by_stub

	link opens ../opens.c -ldl || return
	same_run opens
	events_equal_calls opens
	is "one trace for all lives" "$(find data/trace -type f | wc -l)" 1
	is "calls in each of three lives of the library" "$(recorded hidden)" 9

	# the same library, with a version script that hides all but its interface
	echo 'OURS_1 { global: exported; call_back; local: *; };' >versions
	link libours.so -fPIC -shared ../library.c -Wl,--version-script=../versions || return
	same_run opens
	events_equal_calls opens
	is "one trace with a version script" "$(find data/trace -type f | wc -l)" 1
	is "calls in the library with a version script" "$(recorded hidden)" 9
	link program ../main.c -L. -lours || return
	same_run program
	events_equal_calls program
	is "one trace with a version script, linked" "$(find data/trace -type f | wc -l)" 1

	# an executable that is not traced, with the traced library
	cp plain/program traced/program
	same_run program
	events_equal_calls program
	is "calls inside the library, executable not traced" "$(recorded hidden)" 14

	# On MIPS the dynamic linker is asked at the first call, and later ones do not use the entry.
	export LITIFUT_EXACT=1
	link libours.so -fPIC -shared ../library.c || return
	link program ../main.c -L. -lours || return
	unset LITIFUT_EXACT
	same_run program
	oracle_compare=compare-exact
	events_equal_calls program
	oracle_compare=
	case $cpu in mips*) entry_calls=1 ;; *) entry_calls=6 ;; esac
	is "calls of the entry, callees as they are called" "$(by_entry call_back)" "$entry_calls"
}

for_targets behaviour
