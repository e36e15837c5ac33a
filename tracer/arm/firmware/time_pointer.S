/* Finds the record of a call through a pointer, by callee, and times the call (time.S):
 *
 *	push {r0, lr}; mov r0, rN; bl litifut_time_pointer; .hword number of its record
 *
 * As count_pointer.S, with records that have times. */
#define LITIFUT_TIMES
#include "count_pointer.S"
