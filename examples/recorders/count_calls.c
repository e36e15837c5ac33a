/* A user's recorder: counts the calls of one function and says at exit how
 * many there were. Nothing else is kept, no file is written.
 *
 *   arm-linux-gnueabihf-gcc -O2 -fPIC -I/usr/local/include -DCOUNTED=compare -c count_calls.c
 *   LITIFUT_RECORDER=$PWD/count_calls.o litifut build make
 *
 * /usr/local is the PREFIX of LITIFUT. COUNTED is the name of a global function of
 * the program. */
#include <stdint.h>
#include <stdio.h>

#include <litifut/litifut.h>

#ifndef COUNTED
#error "say which function to count: -DCOUNTED=name"
#endif
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name

extern char COUNTED[] __attribute__((weak));

static uint32_t count;

void litifut_record_trace(const struct litifut_call *call)
{
	/* bit 0 says that it is Thumb code, not where it is */
	if ((call->callee ^ (uint32_t)(uintptr_t)COUNTED) >> 1)
		return;
	__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void report(void)
{
	fprintf(stderr, "%s: %u calls\n", TEXT(COUNTED), (unsigned)count);
}
