#!/bin/sh
# A device's file that has lost its list of call sites: the instruction DB that
# the program runs with tells the same of every call but a tail call, whose
# place only the list has. (The thunk engine needs no DB and leaves it empty.)
. "$(dirname "$0")/../lib.sh"

export LITIFUT_ENGINE=db

events()
{
	"$BUILD/bin/litifut-post" -q -f tsv "$@" | awk -F '\t' '$11 == "call" && $4 ~ /program/'
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		static KEEP int leaf(int x) { return x * 3; }
		static KEEP int fib(int n) { return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }
		static KEEP int last(int x) { return leaf(x + 1); } /* a tail call */
		static int by_leaf(const void *a, const void *b)
		{
			return leaf(*(const int *)a) - leaf(*(const int *)b);
		}
		static int (*volatile chosen)(int) = fib;
		int main(void)
		{
			int numbers[16];
			for (int i = 0; i < 16; i++)
				numbers[i] = i * 37 % 64;
			qsort(numbers, 16, sizeof(int), by_leaf);
			printf("%d %d %d\n", chosen(7), numbers[10], last(2));
			return 0;
		}
	END
	link program ../main.c || return
	same_run program
	mkdir without && "$triplet-objcopy" -R .litifut.sites traced/program without/program
	events data traced/program >with.tsv
	events data without/program >without.tsv
	ok "there is something to compare" [ "$(grep -c leaf with.tsv)" -gt 60 ]
	ok "the DB gives the same for all calls" cmp with.tsv without.tsv
	is "tail calls still have their callee" \
		"$("$BUILD/bin/litifut-post" -q -f report data without/program | grep ' leaf ')" \
		"$("$BUILD/bin/litifut-post" -q -f report data traced/program | grep ' leaf ')"
	"$triplet-objcopy" -R .litifut.sites -R .litifut.db traced/program without/program
	"$BUILD/bin/litifut-post" -q data without/program >none.txt 2>&1
	ok "without both the callees are unknown" grep -q -- '-> ? ' none.txt
	ok "which has its reason" grep -q 'without/program: has no list of call sites' none.txt
	"$BUILD/bin/litifut-post" -q --no-maps-paths data >nothing.txt 2>&1
	ok "and so has a file that is not there" \
		grep -q 'no ELF file with build-id .*, and where its direct calls lead is not known' \
		nothing.txt
	"$BUILD/bin/litifut-post" -q data traced/program >all.txt 2>&1
	ok "with all of them nothing is reported" sh -c "! grep -e 'call sites' -e 'is not known' all.txt"
}
for_targets behaviour
