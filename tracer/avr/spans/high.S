; What records the calls of 256 sites whose numbers have LITIFUT_HIGH as their upper byte (recorder.inc).
#include "tracer/avr/spans/recorder.inc"

#define JOINED(name, number) name##_##number
#define NUMBERED(name, number) JOINED(name, number)

#ifdef LITIFUT_STREAM
#define CALL_NAME NUMBERED(SWITCHED_NAME(litifut_span_note), LITIFUT_HIGH)
#define POINTER_NAME NUMBERED(litifut_span_note_pointer, LITIFUT_HIGH)
#else
#define CALL_NAME NUMBERED(SWITCHED_NAME(litifut_span_call), LITIFUT_HIGH)
#define POINTER_NAME NUMBERED(litifut_span_pointer, LITIFUT_HIGH)
#endif

	recorder CALL_NAME
	pointer_recorder POINTER_NAME
	JUMP	litifut_span_pointer_number
	.size	POINTER_NAME, . - POINTER_NAME
