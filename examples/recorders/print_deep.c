/* A user's recorder: prints each call that is made more than DEEP calls
 * below the outermost one, as "DEPTH CALLER -> CALLEE". These are addresses of the
 * running program: addr2line finds them when it is linked with -no-pie, else
 * the address where it was loaded has to be taken off. For programs with one thread.
 *
 *   mipsel-linux-gnu-gcc -O2 -fPIC -I/usr/local/include -DDEEP=8 -c print_deep.c
 *   LITIFUT_RECORDER=$PWD/print_deep.o litifut build make
 *
 * /usr/local is the PREFIX of LITIFUT.
 *
 * There is no event for a return. The stack shows it: a call made at a stack pointer
 * that is not below the one of an earlier call comes after that one's return. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <litifut/litifut.h>

#ifndef DEEP
#define DEEP 8
#endif
#define MOST 1024

void litifut_record_trace(const struct litifut_call *call)
{
	static uint32_t stack_pointers[MOST];
	static unsigned depth;
	char line[64];
	int length;

	while (depth && stack_pointers[depth - 1] <= call->stack_pointer)
		depth--;
	if (depth < MOST)
		stack_pointers[depth++] = call->stack_pointer;
	if (depth <= DEEP)
		return;
	length = snprintf(line, sizeof(line), "%u 0x%x -> 0x%x\n", depth,
			  (unsigned)call->return_address, (unsigned)call->callee);
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		depth = 0; /* the output has no reader */
}
