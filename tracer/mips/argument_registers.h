/* Where a call has its arguments, from struct litifut_call. o32: a0 to a3, for which the stack has
 * room as well; v0 stands two registers before a0. */
#ifndef LITIFUT_TRACER_ARGUMENT_REGISTERS_H
#define LITIFUT_TRACER_ARGUMENT_REGISTERS_H

#define LITIFUT_PORT_REGISTER_ARGUMENTS 4u
/* In bytes, from the stack pointer at the call, of one that is not in a register. */
#define LITIFUT_PORT_STACK_ARGUMENT(number) (4 * (number))
/* In words from the register of the first argument, at a return point. */
#define LITIFUT_PORT_RETURN_VALUE -2

#endif
