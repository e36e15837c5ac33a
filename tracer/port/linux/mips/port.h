/* What the recorder needs of Linux on 32-bit MIPS (o32), MIPS32 release 1 and
 * later, both byte orders. The thread pointer is hardware register 29, which
 * the kernel emulates on CPUs that lack it, fastest in the form `rdhwr $3, $29`. */
#ifndef LITIFUT_TRACER_PORT_H
#define LITIFUT_TRACER_PORT_H

#include <asm/unistd.h>
#include <stdbool.h>
#include <stdint.h>

#include <litifut/thunk_abi.h>

#include "cpu.h"

/* Where libc's thread structure ends, relative to the thread pointer, which
 * points 0x7000 bytes behind it. */
#define LITIFUT_PORT_THREAD_STRUCTURE_END (-0x7000)

#define LITIFUT_PORT_VECTOR LITIFUT_THUNK_VECTOR_MIPS

#define LITIFUT_PORT_THUNKS_ASK 0

#define LITIFUT_PORT_GETEUID __NR_geteuid
#define LITIFUT_PORT_GETRLIMIT __NR_getrlimit
/* Its RLIM_INFINITY. */
#define LITIFUT_PORT_NO_LIMIT 0x7fffffff
/* 64-bit arguments go in even register pairs, in the order of memory. */
#ifdef __MIPSEB__
#define LITIFUT_PORT_OFFSET(offset) (long)((uint64_t)(offset) >> 32), (long)(uint32_t)(offset)
#else
#define LITIFUT_PORT_OFFSET(offset) (long)(uint32_t)(offset), (long)((uint64_t)(offset) >> 32)
#endif

/* The vDSO makes a system call where there is no counter. */
#define LITIFUT_PORT_VDSO_IS_QUIET 0

/* seccomp(), which headers before Linux 3.17 do not have. */
#define LITIFUT_PORT_SECCOMP 4352
/* clone3(), of Linux 5.3. */
#define LITIFUT_PORT_CLONE3 4435
/* Changes the thread pointer of the calling thread. */
#define LITIFUT_PORT_SET_POINTER __NR_set_thread_area
/* What was stored there is to be executed. */
#define LITIFUT_PORT_FLUSH_CODE(start, bytes)                                                      \
	litifut_system_call3(__NR_cacheflush, (long)(start), (long)(bytes), 3)

#define LITIFUT_SIGSET_BYTES 16

#ifdef __NR_fallocate
#define LITIFUT_PORT_FALLOCATE(descriptor, offset, size)                                           \
	litifut_system_call(__NR_fallocate, descriptor, 0, LITIFUT_PORT_OFFSET(offset),            \
			    LITIFUT_PORT_OFFSET((uint64_t)(size)))
#endif

/* struct sigaction as the kernel has it. */
struct litifut_port_signal_action {
	uint32_t flags;
	uint32_t handler;
	uint32_t mask[4];
};

struct litifut_port_features {
	bool modern;  /* always */
	bool counter; /* never: the counter has 32 bits and goes round in seconds */
};

/* Both go through system_call.S: written out each time, the recorder's text would
 * be an eighth larger. What the kernel may change is lost at the `bal`. */
#define LITIFUT_PORT_SYSTEM_CALL_LOST                                                              \
	"$1", "$3", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "$31", "hi", "lo",     \
		"memory"

static inline long litifut_system_call3(long number, long a, long b, long c)
{
	register long v0 __asm__("$2") = number;
	register long a0 __asm__("$4") = a;
	register long a1 __asm__("$5") = b;
	register long a2 __asm__("$6") = c;

	__asm__ volatile("bal litifut_system_call_go"
			 : "+r"(v0)
			 : "r"(a0), "r"(a1), "r"(a2)
			 : "$7", "$8", "$9", LITIFUT_PORT_SYSTEM_CALL_LOST);
	return v0;
}

static inline long litifut_system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long v0 __asm__("$2") = number;
	register long a0 __asm__("$4") = a;
	register long a1 __asm__("$5") = b;
	register long a2 __asm__("$6") = c;
	register long a3 __asm__("$7") = d;
	register long t0 __asm__("$8") = e;
	register long t1 __asm__("$9") = f;

	__asm__ volatile("bal litifut_system_call_go"
			 : "+r"(v0), "+r"(a3), "+r"(t0), "+r"(t1)
			 : "r"(a0), "r"(a1), "r"(a2)
			 : LITIFUT_PORT_SYSTEM_CALL_LOST);
	return v0;
}

static inline struct litifut_port_features litifut_port_detect(uint32_t hwcap)
{
	(void)hwcap;
	return (struct litifut_port_features){.modern = true};
}

/* From what uname() calls the machine. */
static inline struct litifut_port_features litifut_port_guess(const char *machine)
{
	(void)machine;
	return litifut_port_detect(0);
}

static inline uint32_t litifut_port_thunks(struct litifut_port_features features)
{
	(void)features;
	return 0;
}

static inline uint32_t litifut_port_thread_pointer(struct litifut_port_features features)
{
	(void)features;
	return litifut_port_thread_pointer_fast();
}

static inline bool litifut_port_compare_exchange(struct litifut_port_features features,
						 uint32_t *word, uint32_t expected,
						 uint32_t desired)
{
	(void)features;
	return litifut_port_compare_exchange_fast(word, expected, desired);
}

/* Orders all memory accesses before it against all after it. */
static inline void litifut_port_barrier(struct litifut_port_features features)
{
	(void)features;
	litifut_port_barrier_fast();
}

/* The identity of a file in a struct stat64: device and inode. */
static inline void litifut_port_file_identity(const uint32_t *stat, uint32_t identity[3])
{
	identity[0] = stat[0];
	identity[1] = stat[4];
	identity[2] = stat[5];
}

/* The size of the file of a struct stat64, which has it at a multiple of 8 bytes. */
static inline uint64_t litifut_port_file_size(const uint32_t *stat)
{
	return *(const uint64_t __attribute__((may_alias)) *)(stat + 14);
}

#endif
