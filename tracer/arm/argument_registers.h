/* Where a call has its arguments, from struct litifut_call. AAPCS: r0 to r3, then the stack from
 * its top on. */
#ifndef LITIFUT_TRACER_ARGUMENT_REGISTERS_H
#define LITIFUT_TRACER_ARGUMENT_REGISTERS_H

#define LITIFUT_PORT_REGISTER_ARGUMENTS 4u
/* In bytes, from the stack pointer at the call, of one that is not in a register. */
#define LITIFUT_PORT_STACK_ARGUMENT(number) (4 * ((number)-4))
/* In words from the register of the first argument, at a return point. */
#define LITIFUT_PORT_RETURN_VALUE 0

#endif
