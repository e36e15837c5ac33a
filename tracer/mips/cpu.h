/* What the recorder needs of a 32-bit MIPS CPU, MIPS32 release 1 and later, both byte
 * orders, whatever runs on it. */
#ifndef LITIFUT_TRACER_CPU_H
#define LITIFUT_TRACER_CPU_H

#include <stdbool.h>
#include <stdint.h>

#define LITIFUT_PORT_MACHINE 8 /* EM_MIPS */

/* What is special in traces of this CPU: enum litifut_trace_flags. */
#define LITIFUT_PORT_TRACE_FLAGS LITIFUT_TRACE_MARKED
#define LITIFUT_PORT_BITS 1 /* there is a bits.S for it */

/* Hardware register 29. CPUs that lack it trap, fastest in this form. */
static inline uint32_t litifut_port_thread_pointer_fast(void)
{
	register uint32_t pointer __asm__("$3");

	__asm__(".set push\n\t"
		".set mips32r2\n\t"
		"rdhwr %0, $29\n\t"
		".set pop"
		: "=r"(pointer));
	return pointer;
}

/* One attempt: false as well when an interrupt came between. */
static inline bool litifut_port_compare_exchange_fast(uint32_t *word, uint32_t expected,
						      uint32_t desired)
{
	uint32_t seen;
	uint32_t done = desired;

	__asm__ volatile(".set push\n\t"
			 ".set noreorder\n\t"
			 "ll %0, %2\n\t"
			 "bne %0, %3, 1f\n\t"
			 "nop\n\t"
			 "sc %1, %2\n\t"
			 "1:\n\t"
			 ".set pop"
			 : "=&r"(seen), "+&r"(done), "+m"(*word)
			 : "r"(expected)
			 : "memory");
	return seen == expected && done;
}

/* Orders all memory accesses before it against all after it. */
static inline void litifut_port_barrier_fast(void)
{
	__asm__ volatile("sync" : : : "memory");
}

/* Is any of the words in [word, end) 0? Two instructions a word: this is done for
 * all that was recorded. */
static inline bool litifut_port_has_zero(const uint32_t *word, const uint32_t *end)
{
	bool found = false;

	for (const uint32_t *last = end - 16; word <= last && !found; word += 16)
		__asm__ volatile("lw $8, 0(%1)\n\t"
				 "lw $9, 4(%1)\n\t"
				 "movz %0, %2, $8\n\t"
				 "lw $8, 8(%1)\n\t"
				 "movz %0, %2, $9\n\t"
				 "lw $9, 12(%1)\n\t"
				 "movz %0, %2, $8\n\t"
				 "lw $8, 16(%1)\n\t"
				 "movz %0, %2, $9\n\t"
				 "lw $9, 20(%1)\n\t"
				 "movz %0, %2, $8\n\t"
				 "lw $8, 24(%1)\n\t"
				 "movz %0, %2, $9\n\t"
				 "lw $9, 28(%1)\n\t"
				 "movz %0, %2, $8\n\t"
				 "lw $8, 32(%1)\n\t"
				 "movz %0, %2, $9\n\t"
				 "lw $9, 36(%1)\n\t"
				 "movz %0, %2, $8\n\t"
				 "lw $8, 40(%1)\n\t"
				 "movz %0, %2, $9\n\t"
				 "lw $9, 44(%1)\n\t"
				 "movz %0, %2, $8\n\t"
				 "lw $8, 48(%1)\n\t"
				 "movz %0, %2, $9\n\t"
				 "lw $9, 52(%1)\n\t"
				 "movz %0, %2, $8\n\t"
				 "lw $8, 56(%1)\n\t"
				 "movz %0, %2, $9\n\t"
				 "lw $9, 60(%1)\n\t"
				 "movz %0, %2, $8\n\t"
				 "movz %0, %2, $9"
				 : "+r"(found)
				 : "r"(word), "r"(true)
				 : "$8", "$9", "memory");
	for (; word < end && !found; word++)
		found = !*word;
	return found;
}

/* The events in [word, word + 8 * eights), words of a stream without a clock and without
 * anything but events. Those of two words have a mark in the lowest bits of the first.
 * Those of three, which C code has stored, begin with a control word whose kind is 2 or
 * 3, so that they count as two; there are few of them. */
static inline uint32_t litifut_port_events(const uint32_t *word, uint32_t eights)
{
	uint32_t marked = 0;

	for (const uint32_t *end = word + 8 * eights; word < end; word += 8) {
		marked += (word[0] & 3) != 0;
		marked += (word[1] & 3) != 0;
		marked += (word[2] & 3) != 0;
		marked += (word[3] & 3) != 0;
		marked += (word[4] & 3) != 0;
		marked += (word[5] & 3) != 0;
		marked += (word[6] & 3) != 0;
		marked += (word[7] & 3) != 0;
	}
	return 8 * eights - marked;
}

static inline uint64_t litifut_port_counter(void)
{
	return 0;
}

static inline uint32_t litifut_port_counter_hertz(void)
{
	return 0;
}

/* What thunks do (rewriter/mips/thunk.c) and, with the branches in the code of returns, `count`
 * times; false: not with this clock. As words, `ll` and `sc` get no `sync` from an assembler that
 * works around CPUs' bugs. */
#define LITIFUT_PROBE_LOOP(table)                                                                  \
	__asm__ volatile(".set push\n\t.set noreorder\n\t.set noat\n\t.set mips32r2\n"             \
			 "1:\tsw $8, 0(%2)\n\t"                                                    \
			 "sw $3, 4(%2)\n\t"                                                        \
			 "rdhwr $3, $29\n\t"                                                       \
			 "lw $3, -0x7008($3)\n\t"                                                  \
			 ".word 0xc0810000\n\t" /* ll $1, 0($4) */                                 \
			 "addiu $8, $1, 8\n\t"                                                     \
			 "andi $8, $8, 0x3ff0\n\t"                                                 \
			 "beqz $8, 2f\n\t"                                                         \
			 "addiu $8, $1, 8\n\t"                                                     \
			 ".word 0xe0880000\n\t" /* sc $8, 0($4) */                                 \
			 "beqz $8, 2f\n\t"                                                         \
			 "lui $8, 0x2f00\n\t" table "lw $8, 0($8)\n\t"                             \
			 "sw $31, 8(%2)\n\t"                                                       \
			 "sw $8, 12(%2)\n"                                                         \
			 "2:\tlw $8, 0(%2)\n\t"                                                    \
			 "lw $3, 4(%2)\n\t"                                                        \
			 "nop\n\t"                                                                 \
			 "nop\n\t"                                                                 \
			 "addiu %0, %0, -1\n\t"                                                    \
			 "bnez %0, 1b\n\t"                                                         \
			 "nop\n\t"                                                                 \
			 ".set pop"                                                                \
			 : "+r"(count)                                                             \
			 : "r"(at), "r"(place)                                                     \
			 : "$1", "$3", "$8", "memory")

static inline bool litifut_port_probe(uint32_t *cursor, uint32_t *place, uint32_t count, bool page,
				      bool table)
{
	register uint32_t *at __asm__("$4") = cursor;

	if (!page)
		return false;
	if (table)
		LITIFUT_PROBE_LOOP("addiu $3, $29, 16\n\tsw $3, 12(%2)\n\t");
	else
		LITIFUT_PROBE_LOOP("");
	return true;
}

#endif
