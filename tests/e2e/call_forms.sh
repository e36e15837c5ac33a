#!/bin/sh
# Calls that compilers and linkers make by themselves, and code in unusual places:
# IFUNC resolvers, TLS helpers, helpers of the ABI, weak callees that are not there,
# sections with names of their own, parts of a function far from it, .init and .fini,
# conditional calls. Tail calls, and all of it again with LITIFUT_TAIL=0.
. "$(dirname "$0")/../lib.sh"

sources()
{
	cat >library.c <<-'END'
		#define KEEP __attribute__((noipa))
		__thread int counter = 5;
		static __thread int hidden = 7;
		KEEP int library_count(int x) { counter += x; return counter; }
		KEEP int library_hidden(int x) { hidden += x; return hidden + counter; }
		KEEP int *library_where(void) { return &counter; }
	END
	cat >parts.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		KEEP int leaf(int x) { return x + 1; }
		KEEP __attribute__((section("own_text"))) int in_own_section(int x) { return leaf(x) * 2; }
		KEEP __attribute__((section("own_text"))) int own_tail(int x) { return leaf(x + 5); }
		/* the compiler puts what is unlikely into another section */
		KEEP __attribute__((cold)) void rare(int x) { printf("rare %d\n", leaf(x)); }
		KEEP int splits(int x)
		{
			if (__builtin_expect(x > 2, 0)) {
				rare(x);
				rare(leaf(x));
				return leaf(x) + 3;
			}
			return leaf(x) + 1;
		}
		int absent(int) __attribute__((weak));
		int sometimes(int) __attribute__((weak));
		__attribute__((weak)) int replaced(int x) { return x - 1; }
		KEEP int weak_calls(int x)
		{
			int r = replaced(x);
			if (absent)
				r += absent(x);
			if (x > 1000) /* not asked, but never called */
				r += sometimes(x);
			return r;
		}
		/* helpers of the ABI: __aeabi_ldivmod, __aeabi_dmul, __divdi3, ... */
		KEEP long long divides(long long a, long long b) { return a / b + a % b; }
		KEEP unsigned long long divides_unsigned(unsigned long long a, unsigned b) { return a / b + a % b; }
		KEEP int divides_int(int a, int b) { return a / b + a % b; }
		KEEP double floats(double a, float b) { return a * b + a / b - (double)(long long)a; }
		KEEP int compares(double a, double b) { return (a < b) + 2 * (a == b) + 4 * (a > b); }
		struct block { int words[40]; };
		KEEP struct block copies(const struct block *from) { struct block to = *from; to.words[3]++; return to; }
		KEEP int tail_direct(int x) { return leaf(x * 2); }
		KEEP int tail_pointer(int (*function)(int), int x) { return function(x + 1); }
		KEEP int tail_library(const char *text) { return atoi(text); }
		KEEP int tail_condition(int x) { return x & 1 ? leaf(x) : x; }
		KEEP int tail_after_calls(int x) { return leaf(leaf(leaf(x)) + 1); }
		KEEP int conditional(int x) { if (x == 3) leaf(x); if (x > 1) x += leaf(x); return x; }
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		int library_count(int), library_hidden(int), *library_where(void);
		int in_own_section(int), own_tail(int), splits(int), weak_calls(int), divides_int(int, int);
		long long divides(long long, long long);
		unsigned long long divides_unsigned(unsigned long long, unsigned);
		double floats(double, float);
		int compares(double, double);
		struct block { int words[40]; };
		struct block copies(const struct block *);
		int tail_direct(int), tail_pointer(int (*)(int), int), tail_library(const char *);
		int tail_condition(int), tail_after_calls(int), conditional(int);
		extern __thread int counter;
		static __thread int mine = 3;
		int started, initialised;
		KEEP void init_hook(void) { initialised++; }
		KEEP void fini_hook(void) { (void)!write; }
		KEEP static int *where(void) { return &mine; }
		#ifdef IFUNC
		static int fast(int x) { return x * 10; }
		static int slow(int x) { return x * 10 + 1; }
		static KEEP int asks(void) { return 1; }
		static int (*resolve(void))(int) { return asks() ? fast : slow; }
		int chosen(int x) __attribute__((ifunc("resolve")));
		#else
		KEEP int chosen(int x) { return x * 10; }
		#endif
		#include "init.h"
		__asm__(INIT);
		int main(void)
		{
			struct block block = {{1, 2, 3, 4}};
			int (*volatile pointer)(int) = chosen;
			for (int i = 1; i < 5; i++) {
				printf("%d %d %d\n", chosen(i), pointer(i), chosen == pointer);
				printf("%d %d %d\n", library_count(i), library_hidden(i), *library_where());
				printf("%d %d %d %d\n", in_own_section(i), own_tail(i), splits(i), weak_calls(i));
				printf("%lld %llu %d\n", divides(-1000000000007LL * i, 97 + i),
				       divides_unsigned(1000000000007ULL * i, 10), divides_int(1000 * i, 7));
				printf("%g %d\n", floats(i * 1.5, 2.5f), compares(i, 2));
				block = copies(&block);
				printf("%d %d\n", tail_direct(i), tail_pointer(tail_direct, i));
				printf("%d %d %d %d\n", tail_library("12"), tail_condition(i),
				       tail_after_calls(i), conditional(i));
			}
			counter += *where();
			printf("%d %d %d %d\n", counter, block.words[3], initialised, *library_where());
			return 0;
		}
	END
	sed -i '/write/s/(void)!write;/initialised--;/' main.c
}

# Reasons of the calls that were left.
left()
{
	"$BUILD/bin/litifut" info --skipped "$1" | awk '/^0x/ && $5 != "not-a-call" { print $5 }' |
		sort | uniq -c
}

# How many events are tail calls.
tails()
{
	awk -F '\t' 'NR > 1 && $11 ~ /^tail/' events.tsv | wc -l
}

# check PROGRAM LIBRARY: links, runs and compares with the oracle.
check()
{
	link "$1" @../options ../main.c ../parts.c "$2" || return
	same_run "$1"
	events_equal_calls "$1"
	is "$1: no call is left" "$(left "traced/$1")" ""
	is "$1: own sections, .init, code before relocation" \
		"$(recorded in_own_section) $(recorded init_hook) $(recorded asks)" "4 1 $resolved"
}

behaviour()
{
	sources
	resolved=0
	case $cpu in
	arm)
		resolved=1
		init='bl init_hook\n .section .fini\n bl fini_hook\n .text'
		echo -DIFUNC >options
		;;
	*)
		skip "IFUNC" "MIPS o32 has none"
		init='.set push\n .set noreorder\n lw $25, %call16(init_hook)($gp)\n jalr $25\n nop\n lw $gp, 16($sp)\n .set pop\n .text'
		: >options
		;;
	esac
	printf '#define INIT ".section .init\\n %s"\n' "$init" >init.h
	flags="-fPIC -shared"
	link libours.so ../library.c || return
	cut='-freorder-blocks-and-partition -ffunction-sections'
	flags="-fPIE -pie $cut -L."
	check pie -lours
	ok "pie: the thread's variables are asked for by a call" test \
		$(($(recorded __tls_get_addr@plt) + $(recorded __tls_get_addr))) -gt 3
	ok "pie: tail calls are recorded ($(tails))" test "$(tails)" -gt 20
	flags="-fno-pic -no-pie -Os $cut -L."
	check fixed -lours
	# tail calls off: all that was executed as a call is there, and no tail call
	mv traced/libours.so libours.so.kept
	cp plain/libours.so traced
	flags="-fPIE -pie $cut -L."
	export LITIFUT_TAIL=0
	link calls-only @../options ../main.c ../parts.c -lours
	unset LITIFUT_TAIL
	same_run calls-only
	events_equal_calls calls-only
	is "calls-only: tail calls are left" "$(tails) $(left traced/calls-only | awk '{ print $2 }')" \
		"0 tail-off"
	mv libours.so.kept traced/libours.so
	flags="-fno-pic -static $cut"
	check static ../library.c
	[ "$cpu" = arm ] || return
	flags="-fPIE -pie -mtp=soft -L."
	check soft-thread-pointer -lours
	ok "__aeabi_read_tp is recorded" test "$(recorded __aeabi_read_tp)" -gt 0
}

for_targets behaviour
