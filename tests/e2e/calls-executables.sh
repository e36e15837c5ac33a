#!/bin/sh
# Executables of every kind: position-independent, at a fixed address, static,
# static and position-independent. All kinds of call in each.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mipsel

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		KEEP int twice(int x) { return 2 * x; }
		KEEP int thrice(int x) { return 3 * x; }
		static KEEP int apply(int (*function)(int), int x) { return function(x) + 1; }
		static KEEP void maybe(int really) { if (really) puts("really"); __asm__ volatile(""); }
		static KEEP int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
		static KEEP int deep(int n) { int r = n ? deep(n - 1) : 0; __asm__ volatile(""); return r + 1; }
		int main(int count, char **words)
		{
			int numbers[] = {5, 3, 9, 1}, sum = 0;
			for (int i = 0; i < 3; i++)
				sum += apply(i & 1 ? twice : thrice, i);
			maybe(0);
			maybe(1);
			qsort(numbers, 4, sizeof(int), compare);
			for (int i = 1; i < count; i++)
				sum += (int)strlen(words[i]);
			printf("%d %d %d\n", numbers[0], sum, deep(20));
			return sum & 31;
		}
	END
	for kind in -pie -no-pie -static -static-pie; do
		case $kind in
		-pie) flags="-fPIE -pie" ;;
		-no-pie) flags="-fno-pie -no-pie" ;;
		-static) flags="-fno-pie -static" ;;
		-static-pie) flags="-fPIE -static-pie" ;;
		esac
		link "program$kind" ../main.c || continue
		same_run "program$kind" one two
		events_equal_calls "program$kind" one two
		is "program$kind: twice is recorded once, thrice twice" "$(recorded twice) $(recorded thrice)" "1 2"
		is "program$kind: deep calls are all there" "$(recorded deep)" 21
		rm -rf plain traced
	done
}

for_targets behaviour
