/* What the recorder needs of Linux on 32-bit ARM (EABI), ARMv5TE and later.
 *
 * Two kinds of CPU are served by one object. From ARMv6K on the thread pointer
 * is a register (TPIDRURO) and LDREX/STREX exist; the kernel says so with
 * HWCAP_TLS. Before that the kernel helper page has both
 * (Documentation/arm/kernel_user_helpers.rst); kernels without that page run
 * only on CPUs that have HWCAP_TLS. */
#ifndef LITIFUT_TRACER_PORT_H
#define LITIFUT_TRACER_PORT_H

#include <asm/unistd.h>
#include <stdbool.h>
#include <stdint.h>

#define LITIFUT_PORT_MACHINE 40 /* EM_ARM */

/* What is special in traces of this CPU: enum litifut_trace_flags. */
#define LITIFUT_PORT_TRACE_FLAGS 0
#define LITIFUT_PORT_HWCAP_TLS (1u << 15)
#define LITIFUT_PORT_HWCAP_EVENT_STREAM (1u << 21)

/* Where libc's thread structure ends, relative to the thread pointer: glibc and
 * musl both put it just below. */
#define LITIFUT_PORT_THREAD_STRUCTURE_END 0

/* From the thread pointer to the pointer to libc's vector of thread-local blocks. */
#define LITIFUT_PORT_VECTOR 0

/* Only T32 code says which instructions are conditional. */
#ifdef __thumb__
#define LITIFUT_PORT_IT(instruction) instruction "\n\t"
#else
#define LITIFUT_PORT_IT(instruction)
#endif

/* System calls that differ between the ports in more than their number. */
#define LITIFUT_PORT_GETRLIMIT __NR_ugetrlimit
/* Its RLIM_INFINITY. */
#define LITIFUT_PORT_NO_LIMIT 0xffffffff
/* 64-bit arguments go in even register pairs, low word first. */
#define LITIFUT_PORT_OFFSET(offset) (long)(uint32_t)(offset), (long)((uint64_t)(offset) >> 32)

#define LITIFUT_SIGSET_BYTES 8

#ifdef __NR_fallocate
#define LITIFUT_PORT_FALLOCATE(descriptor, offset, size)                                           \
	litifut_system_call(__NR_fallocate, descriptor, 0, LITIFUT_PORT_OFFSET(offset),            \
			    LITIFUT_PORT_OFFSET((uint64_t)(size)))
#endif

/* struct sigaction as the kernel has it. */
struct litifut_port_signal_action {
	uint32_t handler;
	uint32_t flags;
	uint32_t restorer;
	uint32_t mask[2];
};

struct litifut_port_features {
	bool modern;  /* TPIDRURO, LDREX and STREX can be used */
	bool counter; /* the virtual counter of the generic timer can be read */
};

static inline long litifut_system_call3(long number, long a, long b, long c)
{
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;
	register long r7 __asm__("r7") = number;

	__asm__ volatile("svc 0" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r7) : "memory");
	return r0;
}

static inline long litifut_system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;
	register long r3 __asm__("r3") = d;
	register long r4 __asm__("r4") = e;
	register long r5 __asm__("r5") = f;
	register long r7 __asm__("r7") = number;

	__asm__ volatile("svc 0"
			 : "+r"(r0)
			 : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(r7)
			 : "memory");
	return r0;
}

static inline struct litifut_port_features litifut_port_detect(uint32_t hwcap)
{
	return (struct litifut_port_features){
		.modern = (hwcap & LITIFUT_PORT_HWCAP_TLS) != 0,
		.counter = (hwcap & LITIFUT_PORT_HWCAP_EVENT_STREAM) != 0};
}

/* Only on a modern CPU. Volatile, or the compiler may do it before it asks. */
static inline uint32_t litifut_port_thread_pointer_fast(void)
{
	uint32_t pointer;

	__asm__ volatile("mrc p15, 0, %0, c13, c0, 3" : "=r"(pointer));
	return pointer;
}

static inline uint32_t litifut_port_thread_pointer(struct litifut_port_features features)
{
	if (features.modern)
		return litifut_port_thread_pointer_fast();
	return ((uint32_t(*)(void))0xffff0fe0)();
}

/* One attempt on a modern CPU: false as well when an interrupt came between. */
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

static inline bool litifut_port_compare_exchange(struct litifut_port_features features,
						 uint32_t *word, uint32_t expected,
						 uint32_t desired)
{
	if (features.modern)
		return litifut_port_compare_exchange_fast(word, expected, desired);
	return !((int (*)(uint32_t, uint32_t, uint32_t *))0xffff0fc0)(expected, desired, word);
}

/* Orders all memory accesses before it against all after it. The CP15 form of
 * ARMv6 is emulated or allowed on every later kernel. */
static inline void litifut_port_barrier(struct litifut_port_features features)
{
	if (features.modern)
		__asm__ volatile("mcr p15, 0, %0, c7, c10, 5" : : "r"(0) : "memory");
	else
		((void (*)(void))0xffff0fa0)();
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

/* Only with features.counter. */
static inline uint64_t litifut_port_counter(void)
{
	uint32_t low;
	uint32_t high;

	__asm__ volatile("mrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high));
	return (uint64_t)high << 32 | low;
}

static inline uint32_t litifut_port_counter_hertz(void)
{
	uint32_t hertz;

	__asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(hertz));
	return hertz;
}

/* The identity of a file in a struct stat64: device and inode. */
static inline void litifut_port_file_identity(const uint32_t *stat, uint32_t identity[3])
{
	identity[0] = stat[0];
	identity[1] = stat[1];
	identity[2] = stat[3];
}

/* The size of the file of a struct stat64, which has it at a multiple of 8 bytes. */
static inline uint64_t litifut_port_file_size(const uint32_t *stat)
{
	return *(const uint64_t __attribute__((may_alias)) *)(stat + 12);
}

#endif
