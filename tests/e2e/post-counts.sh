#!/bin/sh
# What report, edges and json count is what tsv lists one by one.
. "$(dirname "$0")/../lib.sh"

# A library whose counters have no place in the recorder of its program: its counts alone are missing, and the
# cause is named. The calls of the program are there, in order, though the library is the first module.
mixed()
{
	mkdir -p mixed && cd mixed || return
	cat >library.c <<-'END'
		__attribute__((noipa)) int inner(int x) { return x + 1; }
		__attribute__((noipa)) int outer(int x) { return inner(x) + inner(x); }
	END
	cat >user.c <<-'END'
		int outer(int x);
		__attribute__((noipa)) int mine(int x) { return outer(x) * 2; }
		int main(void) { return mine(1) + mine(2) != 20; }
	END
	LITIFUT_MODE=counts
	export LITIFUT_MODE
	link libcounted.so -fPIC -shared ../library.c
	LITIFUT_MODE=calls
	link user ../user.c -L. -lcounted -Wl,-rpath,'$ORIGIN'
	unset LITIFUT_MODE
	same_run user
	"$BUILD/bin/litifut-post" -q calls data traced >calls.out 2>calls.err
	is "a library in counts below a program in calls: the calls of the program" \
		"$(sed -n 's/^[0-9]* \(main\|mine\)+.* -> \(.*\) \[.*/\1 \2/p' calls.out | xargs)" \
		"main mine mine outer main mine mine outer"
	is "the cause is named, and nothing else" "$(sed 's/data.*trace: //' calls.err)" \
		"litifut-post: it has no counts of traced/libcounted.so, as traced/user was linked with LITIFUT_MODE=calls: link both with counts"
	cd ..
}

behaviour()
{
	[ "$target" != armhf ] || mixed
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		static KEEP int leaf(int x) { return x * 3; }
		static KEEP int fib(int n) { return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }
		static int by_leaf(const void *a, const void *b)
		{
			return leaf(*(const int *)a) - leaf(*(const int *)b);
		}
		int main(void)
		{
			int numbers[64];
			for (int i = 0; i < 64; i++)
				numbers[i] = i * 37 % 64;
			qsort(numbers, 64, sizeof(int), by_leaf);
			printf("%d %d\n", fib(15), numbers[10]);
			return 0;
		}
	END
	link program ../main.c || return
	same_run program
	post="$BUILD/bin/litifut-post -q"
	$post -f tsv -o events.tsv data traced/program
	is "edges" "$($post -f edges data traced/program | awk '{ print $1, $2, $4 }' | sort)" \
		"$(awk -F '\t' 'NR > 1 { print $6, $10 }' events.tsv | sort | uniq -c |
			awk '{ print $1, $2, $3 }' | sort)"
	is "report" "$($post -f report data traced/program |
		awk '$1 + 0 { print $1, $6 }' | sort)" \
		"$(awk -F '\t' 'NR > 1 { print $10 }' events.tsv | sort | uniq -c |
			awk '{ print $1, $2 }' | sort)"
	is "json" "$($post -f json data traced/program |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["calls"])')" \
		"$(($(wc -l <events.tsv) - 1))"
	is "tree and folded" "$($post -f folded data traced/program | awk '{ n += $NF } END { print n }')" \
		"$($post -f tree data traced/program | grep -vc '^process\|^ *\*\|^$')"
}
for_targets behaviour
