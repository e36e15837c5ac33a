/* The same as jump_gate.S where calls are events, whose entries in the pool have no record. */
#define LITIFUT_SPANS
#include "jump_gate.S"
