/* What the recorder needs of a 32-bit ARM CPU, ARMv5TE and later, whatever runs on it. */
#ifndef LITIFUT_TRACER_CPU_H
#define LITIFUT_TRACER_CPU_H

#include <stdbool.h>
#include <stdint.h>

#define LITIFUT_PORT_MACHINE 40 /* EM_ARM */

/* What is special in traces of this CPU: enum litifut_trace_flags. */
#define LITIFUT_PORT_TRACE_FLAGS 0
#define LITIFUT_PORT_BITS (__ARM_ARCH >= 7) /* there is a bits.S for it */
/* Only T32 code says which instructions are conditional. */
#ifdef __thumb__
#define LITIFUT_PORT_IT(instruction) instruction "\n\t"
#else
#define LITIFUT_PORT_IT(instruction)
#endif

#if __ARM_ARCH >= 7
/* Of <litifut/fold_words.h>. A compiler does not store one register twice, */
#define LITIFUT_FOLD_EMPTY_TWO(slot, at)                                                           \
	__asm__ volatile("strd %1, %1, [%0, %2]" : : "r"(slot), "r"(0), "I"(4 * (at)) : "memory")
/* and takes six instructions for this. */
#define LITIFUT_FOLD_ADD(of, member, more)                                                         \
	do {                                                                                       \
		uint32_t low_;                                                                     \
		uint32_t high_;                                                                    \
                                                                                                   \
		__asm__("ldrd %0, %1, [%3, %4]\n\t"                                                \
			"adds %0, %0, %5\n\t"                                                      \
			"adc %1, %1, #0\n\t"                                                       \
			"strd %0, %1, [%3, %4]"                                                    \
			: "=&r"(low_), "=&r"(high_), "+m"((of)->member)                            \
			: "r"(of), "I"(__builtin_offsetof(__typeof__(*(of)), member)),             \
			  "rI"((uint32_t)(more))                                                   \
			: "cc");                                                                   \
	} while (0)
#endif

/* TPIDRURO, from ARMv6K on. Volatile, or the compiler may do it before it asks. */
static inline uint32_t litifut_port_thread_pointer_fast(void)
{
	uint32_t pointer;

	__asm__ volatile("mrc p15, 0, %0, c13, c0, 3" : "=r"(pointer));
	return pointer;
}

/* One attempt, from ARMv6K on: false as well when an interrupt came between. */
static inline bool litifut_port_compare_exchange_fast(uint32_t *word, uint32_t expected,
						      uint32_t desired)
{
	uint32_t seen;
	uint32_t failed = 1;

#if __ARM_ARCH >= 7
	__asm__ volatile("ldrex %0, [%2]\n\t"
			 "cmp %0, %4\n\t" LITIFUT_PORT_IT("it eq") "strexeq %1, %3, [%2]"
			 : "=&r"(seen), "+&r"(failed)
			 : "r"(word), "r"(desired), "r"(expected)
			 : "cc", "memory");
#else
	/* spelled as words, because the object is for ARMv5TE:
	 * ldrex r2, [r0]; strex r3, r1, [r0] */
	register uint32_t *r0 __asm__("r0") = word;
	register uint32_t r1 __asm__("r1") = desired;
	register uint32_t r2 __asm__("r2");
	register uint32_t r3 __asm__("r3") = failed;

	__asm__ volatile(".inst 0xe1902f9f\n\t"
			 "cmp r2, %4\n\t"
			 ".inst 0x01803f91"
			 : "=&r"(r2), "+r"(r3)
			 : "r"(r0), "r"(r1), "r"(expected)
			 : "cc", "memory");
	seen = r2;
	failed = r3;
#endif
	return seen == expected && !failed;
}

/* Orders all memory accesses before it against all after it. From ARMv6 on; later CPUs
 * or their kernels still take this form. */
static inline void litifut_port_barrier_fast(void)
{
	__asm__ volatile("mcr p15, 0, %0, c7, c10, 5" : : "r"(0) : "memory");
}

/* Compares registers with 0, until one is. */
#define LITIFUT_PORT_FOUR_NONZERO(a, b, c, d)                                                      \
	LITIFUT_PORT_IT("itttt ne")                                                                \
	"cmpne " a ", #0\n\tcmpne " b ", #0\n\tcmpne " c ", #0\n\tcmpne " d ", #0\n\t"
#define LITIFUT_PORT_THREE_NONZERO(a, b, c)                                                        \
	LITIFUT_PORT_IT("ittt ne")                                                                 \
	"cmpne " a ", #0\n\tcmpne " b ", #0\n\tcmpne " c ", #0\n\t"

/* Is any of the words in [word, end) 0? Little more than an instruction a word: this
 * is done for all that was recorded. */
static inline bool litifut_port_has_zero(const uint32_t *word, const uint32_t *end)
{
	register const uint32_t *at __asm__("r12") = word;
	bool found = false;

	for (const uint32_t *last = end - 16; at <= last && !found;)
		/* clang-format off */
		__asm__ volatile("ldmia %0!, {r0-r7}\n\t"
				 "cmp r0, #0\n\t"
				 LITIFUT_PORT_FOUR_NONZERO("r1", "r2", "r3", "r4")
				 LITIFUT_PORT_THREE_NONZERO("r5", "r6", "r7")
				 "ldmia %0!, {r0-r7}\n\t"
				 LITIFUT_PORT_FOUR_NONZERO("r0", "r1", "r2", "r3")
				 LITIFUT_PORT_FOUR_NONZERO("r4", "r5", "r6", "r7")
				 : "+r"(at), "=@cceq"(found)
				 :
				 : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "memory");
	/* clang-format on */
	for (; at < end && !found; at++)
		found = !*at;
	return found;
}

/* How many of the words in [word, word + 8 * eights) are addresses: 0x10000 and above? Two
 * instructions a word. */
static inline uint32_t litifut_port_addresses(const uint32_t *word, uint32_t eights)
{
	register const uint32_t *at __asm__("r12") = word;
	uint32_t count = 0;

	for (; eights; eights--)
		__asm__ volatile("ldmia %0!, {r0-r7}\n\t"
				 "cmp r0, #0x10000\n\tadc %1, %1, #0\n\t"
				 "cmp r1, #0x10000\n\tadc %1, %1, #0\n\t"
				 "cmp r2, #0x10000\n\tadc %1, %1, #0\n\t"
				 "cmp r3, #0x10000\n\tadc %1, %1, #0\n\t"
				 "cmp r4, #0x10000\n\tadc %1, %1, #0\n\t"
				 "cmp r5, #0x10000\n\tadc %1, %1, #0\n\t"
				 "cmp r6, #0x10000\n\tadc %1, %1, #0\n\t"
				 "cmp r7, #0x10000\n\tadc %1, %1, #0"
				 : "+r"(at), "+r"(count)
				 :
				 : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "cc", "memory");
	return count;
}

/* The events in these words, of a stream without a clock and without anything but events:
 * one of three words has two addresses. */
static inline uint32_t litifut_port_events(const uint32_t *word, uint32_t eights)
{
	return 2 * litifut_port_addresses(word, eights) - 8 * eights;
}

/* The virtual counter of the generic timer, where the kernel lets programs read it. */
static inline uint64_t litifut_port_counter(void)
{
	uint32_t low;
	uint32_t high;

	__asm__ volatile("mrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high));
	return (uint64_t)high << 32 | low;
}

#if __ARM_ARCH >= 7 && defined(__thumb__)
#define LITIFUT_PROBE_LOOP(clock)                                                                  \
	__asm__ volatile("1:\n\t"                                                                  \
			 "push {r0-r2, lr}\n\t"                                                    \
			 "mrc p15, 0, r1, c13, c0, 3\n\t"                                          \
			 "ldr r1, [r1]\n\t"                                                        \
			 "ldrex r0, [%1]\n\t"                                                      \
			 "add r0, r0, #8\n\t"                                                      \
			 "ubfx r2, r0, #4, #10\n\t"                                                \
			 "cbz r2, 2f\n\t"                                                          \
			 "strex r2, r0, [%1]\n\t"                                                  \
			 "cbnz r2, 2f\n\t" clock "strd lr, r2, [%2]\n"                             \
			 "2:\tpop.w {r0-r2, lr}\n\t"                                               \
			 "nop\n\t"                                                                 \
			 "subs %0, %0, #1\n\t"                                                     \
			 "bne 1b"                                                                  \
			 : "+r"(count)                                                             \
			 : "r"(cursor), "r"(place)                                                 \
			 : "r0", "r1", "r2", "lr", "cc", "memory")

#define LITIFUT_PROBE_PAGE "mov.w r2, #0x2f000000\n\tldr.w r2, [r2]\n\t"
#define LITIFUT_PROBE_CYCLE "mrrc p15, 1, r2, r1, c14\n\t"
#define LITIFUT_PROBE_TABLE "add.w r2, sp, #16\n\tstrd r2, lr, [%2]\n\t"

/* What thunks do (rewriter/arm/thunk.c) and, with the branches in the code of returns, `count`
 * times; false: there are none for this CPU. */
static inline bool litifut_port_probe(uint32_t *cursor, uint32_t *place, uint32_t count, bool page,
				      bool table)
{
	if (page && table)
		LITIFUT_PROBE_LOOP(LITIFUT_PROBE_TABLE LITIFUT_PROBE_PAGE);
	else if (page)
		LITIFUT_PROBE_LOOP(LITIFUT_PROBE_PAGE);
	else if (table)
		LITIFUT_PROBE_LOOP(LITIFUT_PROBE_TABLE LITIFUT_PROBE_CYCLE);
	else
		LITIFUT_PROBE_LOOP(LITIFUT_PROBE_CYCLE);
	return true;
}
#else
static inline bool litifut_port_probe(uint32_t *cursor, uint32_t *place, uint32_t count, bool page,
				      bool table)
{
	(void)cursor, (void)place, (void)count, (void)page, (void)table;
	return false;
}
#endif

static inline uint32_t litifut_port_counter_hertz(void)
{
	uint32_t hertz;

	__asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(hertz));
	return hertz;
}

#endif
