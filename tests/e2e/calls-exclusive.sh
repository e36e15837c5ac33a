#!/bin/sh
# Calls and branches between an exclusive load and its store, which are in functions of their own or not, or in others around
# these: the tracer stores nothing there, so that the program's own store does not fail for ever.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mips

behaviour()
{
	cat >main.c <<-'END'
		#include <stdint.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		#if defined __mips__
		#define MODE ".set push\n\t.set mips32r2\n\t.set noreorder\n\t"
		#define LOAD(value, from) \
			__asm__ volatile(MODE "ll %0, 0(%1)\n\t.set pop" : "=&r"(value) : "r"(from) : "memory")
		#define STORE(failed, value, to) \
			__asm__ volatile(MODE "move %0, %1\n\tsc %0, 0(%2)\n\txori %0, %0, 1\n\t.set pop" \
					 : "=&r"(failed) : "r"(value), "r"(to) : "memory")
		#elif defined __thumb__
		#define LOAD(value, from) \
			__asm__ volatile("ldrex %0, [%1]" : "=&r"(value) : "r"(from) : "memory")
		#define STORE(failed, value, to) \
			__asm__ volatile("strex %0, %1, [%2]" : "=&r"(failed) : "r"(value), "r"(to) : "memory")
		#else /* as numbers: ldrex r2, [r3]; strex r1, r2, [r3] */
		#define LOAD(value, from) \
			do { \
				register uint32_t r2 __asm__("r2"); \
				register volatile uint32_t *r3 __asm__("r3") = (from); \
				__asm__ volatile(".inst 0xe1932f9f" : "=r"(r2) : "r"(r3) : "memory"); \
				(value) = r2; \
			} while (0)
		#define STORE(failed, value, to) \
			do { \
				register uint32_t r1 __asm__("r1"); \
				register uint32_t r2 __asm__("r2") = (value); \
				register volatile uint32_t *r3 __asm__("r3") = (to); \
				__asm__ volatile(".inst 0xe1831f92" : "=&r"(r1) : "r"(r2), "r"(r3) : "memory"); \
				(failed) = r1; \
			} while (0)
		#endif
		#define MOST 1000 /* tries; else a failure would be an endless loop */

		static volatile uint32_t word, sink;

		KEEP uint32_t load_exclusive(volatile uint32_t *from)
		{
			uint32_t value;

			LOAD(value, from);
			return value;
		}
		KEEP uint32_t store_exclusive(uint32_t value, volatile uint32_t *to)
		{
			uint32_t failed;

			STORE(failed, value, to);
			return failed;
		}
		/* around these, as a class has them */
		KEEP uint32_t load_linked(volatile uint32_t *from)
		{
			uint32_t value = load_exclusive(from);

			return value & 0xffffff;
		}
		KEEP uint32_t is_stored(uint32_t value, volatile uint32_t *to)
		{
			return !store_exclusive(value, to);
		}
		KEEP uint32_t leaf(uint32_t value) { sink = value; return value + 1; }
		KEEP uint32_t plain_leaf(uint32_t value) { return value + 1; }
		KEEP uint32_t next(uint32_t value)
		{
			return value & 1 ? plain_leaf(value) : plain_leaf(value + 2) - 2;
		}

		/* Both of them are functions, and there is a branch between. */
		KEEP uint32_t add_apart(uint32_t least)
		{
			uint32_t value, tries = 0;

			do {
				value = load_exclusive(&word);
				value = value < least ? least : next(value);
			} while (store_exclusive(value, &word) && ++tries < MOST);
			return tries;
		}
		KEEP uint32_t add_wrapped(uint32_t least)
		{
			uint32_t value, tries = 0;

			do {
				value = load_linked(&word);
				value = value < least ? least : value + 1;
			} while (!is_stored(value, &word) && ++tries < MOST);
			return tries;
		}
		/* The store is not made each time. */
		KEEP uint32_t is_stored_below(uint32_t value, volatile uint32_t *to)
		{
			uint32_t failed;

			if (value > 0xffffff)
				return 0;
			STORE(failed, value, to);
			return !failed;
		}
		KEEP uint32_t add_below(uint32_t least)
		{
			uint32_t value, tries = 0;

			do {
				value = load_exclusive(&word);
				value = value < least ? least : next(value);
			} while (!is_stored_below(value, &word) && ++tries < MOST);
			return tries;
		}
		/* Neither is. */
		KEEP uint32_t add_within(uint32_t least)
		{
			uint32_t value, failed, tries = 0;

			do {
				LOAD(value, &word);
				value = value < least ? least : next(value);
				STORE(failed, value, &word);
			} while (failed && ++tries < MOST);
			return tries;
		}
		/* One of them is. */
		KEEP uint32_t add_loaded(void)
		{
			uint32_t value, failed, tries = 0;

			do {
				value = load_exclusive(&word);
				STORE(failed, value + 1, &word);
			} while (failed && ++tries < MOST);
			return tries;
		}
		KEEP uint32_t add_stored(void)
		{
			uint32_t value, tries = 0;

			do
				LOAD(value, &word);
			while (store_exclusive(value + 1, &word) && ++tries < MOST);
			return tries;
		}
		/* A load that is never followed by its store keeps no call from being recorded. */
		KEEP uint32_t look(void)
		{
			uint32_t value;

			LOAD(value, &word);
			return leaf(value) + leaf(value + 1);
		}

		int main(void)
		{
			uint32_t tries[7] = {0};

			for (uint32_t i = 0; i < 30; i++) {
				tries[0] += add_apart(2 * i);
				tries[1] += add_wrapped(3 * i);
				tries[2] += add_within(4 * i);
				tries[3] += add_loaded();
				tries[4] += add_stored();
				tries[5] += look() == 0;
				tries[6] += add_below(5 * i);
			}
			printf("%u: %u %u %u %u %u %u %u\n", (unsigned)word, (unsigned)tries[0], (unsigned)tries[1],
			       (unsigned)tries[2], (unsigned)tries[3], (unsigned)tries[4], (unsigned)tries[5],
			       (unsigned)tries[6]);
			return 0;
		}
	END
	flags=-O2
	modes="calls db counts spans table coverage paths units"
	case $target in
	mips*) modes="$modes db-by-t9 paths-by-t9" ;; # the linker makes no branches of the calls, as where they are far
	esac
	for mode in $modes; do
		case $target-$mode in
		armel-spans | armel-table | armel-paths | armel-units) continue ;;
		esac
		export LITIFUT_MODE="${mode%-by-t9}" LITIFUT_ENGINE=thunk
		case $mode in
		db*) export LITIFUT_MODE=calls LITIFUT_ENGINE=db ;;
		spans | table) export LITIFUT_CLOCK=mono ;;
		units) export LITIFUT_UNITS='next,plain_leaf,add_*' ;;
		esac
		case $mode in
		*-by-t9) flags="-O2 -mno-relax-pic-calls" ;;
		esac
		link "$mode" ../main.c
		unset LITIFUT_MODE LITIFUT_ENGINE LITIFUT_CLOCK LITIFUT_UNITS
		same_run "$mode"
		is "$mode: without the tracer each store succeeds" "$(sed 's/.*: //' plain.out)" "0 0 0 0 0 0 0"
	done
	"$BUILD/bin/litifut" info --skipped traced/calls >skipped
	is "the calls that are left" "$(sed -n 's/^0x.* exclusive in //p' skipped | sort -u | tr '\n' ' ')" \
		"add_apart add_below add_stored add_within add_wrapped is_stored next "
	is "those behind a load without a store are not" "$(grep -c ' in look$' skipped)" 0
	events_equal_calls calls
	[ "$target" != armhf ] || many_functions # the same on all
}

# A call that leads to very many functions, each of which makes a call
many_functions()
{
	awk 'BEGIN {
		many = 20000
		print ".syntax unified\n.arm\n.arch armv7-a\n.section .note.GNU-stack,\"\",%progbits\n.text"
		for (i = 0; i <= many; i++) {
			name = i < many ? "f" i : "between"
			printf ".globl %s\n.type %s, %%function\n%s:\npush {r4, lr}\n", name, name, name
			if (i < many - 1)
				printf "bl f%d\n", i + 1
			else if (i == many)
				print "bl f0\nldrex r1, [r0]\nbl f0\nstrex r2, r1, [r0]"
			printf "pop {r4, pc}\n.size %s, . - %s\n", name, name
		}
	}' >many.s
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >none.c
	link many ../none.c ../many.s || return
	"$BUILD/bin/litifut" info --skipped traced/many >skipped
	is "the calls that are left behind a call of very many functions" "$(grep -c '^0x.* exclusive in ' skipped)" 20000
}

for_targets behaviour
